//! What not every browser can do, and which one cannot: asked before anything is half done.

use super::{ContextOptions, MediaFeatures};
use crate::error::{Error, Result};

/// Something that not every browser can do; its text begins a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::IntoStaticStr, strum::VariantArray)]
pub enum Feature {
    /// [`ContextOptions::throttling`].
    #[strum(to_string = "Network throttling")]
    Throttling,
    /// [`ContextOptions::media`] and later changes of it.
    #[strum(to_string = "Media feature emulation")]
    MediaFeatures,
    /// [`super::Viewport::is_mobile`].
    #[strum(to_string = "Mobile viewport emulation")]
    MobileViewport,
    /// [`super::Viewport::has_touch`].
    #[strum(to_string = "Touch emulation")]
    TouchScreen,
    /// [`ContextOptions::bypass_csp`].
    #[strum(to_string = "Bypassing the Content-Security-Policy")]
    BypassCsp,
    /// [`ContextOptions::java_script_enabled`].
    #[strum(to_string = "Disabling JavaScript")]
    WithoutScripts,
    /// A [`super::Proxy`].
    #[strum(to_string = "A proxy")]
    Proxy,
    /// [`ContextOptions::origins`].
    #[strum(to_string = "Rules about domains and origins")]
    OriginRules,
    /// [`ContextOptions::addresses`].
    #[strum(to_string = "Rules about IP addresses and ports")]
    AddressRules,
    /// [`ContextOptions::locale`].
    #[strum(to_string = "Locale emulation")]
    Locale,
    /// [`ContextOptions::timezone`].
    #[strum(to_string = "Time zone emulation")]
    TimeZone,
    /// [`ContextOptions::ignore_https_errors`] in the context that the browser begins with.
    #[strum(to_string = "Ignoring certificate errors in a persistent profile")]
    IgnoreCertificatesInProfile,
    /// A [`super::Verdict::Continue`] with another URL or body.
    #[strum(to_string = "Rewriting the URL or body of requests")]
    RewriteRequest,
    /// [`super::PageBackend::fetch`].
    #[strum(to_string = "Response interception")]
    HoldResponse,
    /// Permissions of other names.
    #[strum(to_string = "Granting this permission")]
    Permission,
    /// [`super::Viewport::device_scale_factor`] other than 1.
    #[strum(to_string = "Device scale factor emulation")]
    ScaledViewport,
    /// [`super::PageBackend::pdf`].
    #[strum(to_string = "PDF export")]
    Pdf,
    /// [`ContextOptions::geolocation`] and later changes of it.
    #[strum(to_string = "Geolocation emulation")]
    Geolocation,
    /// [`ContextOptions::http_credentials`].
    #[strum(to_string = "HTTP authentication")]
    HttpCredentials,
    /// [`ContextOptions::offline`] and later changes of it.
    #[strum(to_string = "Offline emulation")]
    Offline,
    /// Deciding about requests: routes, [`super::PageBackend::set_interception`].
    #[strum(to_string = "Request interception")]
    Interception,
    /// [`ContextOptions::init_scripts`] and later ones.
    #[strum(to_string = "Init scripts")]
    InitScripts,
    /// [`ContextOptions::extra_headers`] and later changes of them.
    #[strum(to_string = "Extra HTTP headers")]
    ExtraHeaders,
    /// [`ContextOptions::user_agent`].
    #[strum(to_string = "User agent emulation")]
    UserAgent,
    /// [`super::PageBackend::response_body`] and [`super::PageBackend::request_body`].
    #[strum(to_string = "Reading request and response bodies")]
    Bodies,
}

impl Feature {
    /// All of them, in the order of the documentation.
    pub fn all() -> &'static [Self] {
        <Self as strum::VariantArray>::VARIANTS
    }

    /// What it is, as the beginning of a sentence.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What a browser cannot do, and the way out of each.
#[derive(Debug, Clone, Copy)]
pub struct Capabilities {
    /// The browser as people call it.
    pub browser: &'static str,
    /// What it lacks.
    pub lacks: &'static [(Feature, &'static str)],
    /// What it lacks because it runs elsewhere.
    pub lacks_elsewhere: &'static [(Feature, &'static str)],
    /// It has a command that throttles the network of pages. For others the engine does it, on the way to the network.
    pub throttles: bool,
}

/// Why a browser that runs elsewhere cannot do what an egress does.
pub(super) const NEEDS_EGRESS: &str = "A proxy on this machine does it, to which a browser that runs elsewhere cannot connect: let the browser be started here, or restrict its network where it runs.";

impl Capabilities {
    /// Whether the browser can do it.
    pub fn has(&self, feature: Feature) -> bool {
        self.way_out(feature).is_none()
    }

    /// What to do instead, if the browser cannot do it.
    pub fn way_out(&self, feature: Feature) -> Option<&'static str> {
        let mut lacks = self.lacks.iter().chain(self.lacks_elsewhere);
        let (_, way_out) = lacks.find(|(lacked, _)| *lacked == feature)?;
        Some(way_out)
    }

    /// Fails with [`Error::UnsupportedByBrowser`] if the browser cannot do it.
    pub fn require(&self, feature: Feature) -> Result<()> {
        match self.way_out(feature) {
            None => Ok(()),
            Some(hint) => Err(Error::UnsupportedByBrowser {
                browser: self.browser,
                feature: feature.name(),
                hint,
            }),
        }
    }

    /// Fails with the first thing that a context asks for and the browser cannot do.
    pub(crate) fn require_for(&self, options: &ContextOptions) -> Result<()> {
        let viewport = options.viewport.as_ref();
        let throttling = options.throttling;
        let asked = [
            (
                Feature::Throttling,
                throttling != super::Throttling::default(),
            ),
            (
                Feature::MediaFeatures,
                options.media != MediaFeatures::default(),
            ),
            (
                Feature::MobileViewport,
                viewport.is_some_and(|viewport| viewport.is_mobile),
            ),
            (
                Feature::TouchScreen,
                viewport.is_some_and(|viewport| viewport.has_touch),
            ),
            (
                Feature::ScaledViewport,
                viewport.is_some_and(|viewport| viewport.device_scale_factor != 1.0),
            ),
            (Feature::BypassCsp, options.bypass_csp),
            (Feature::Geolocation, options.geolocation.is_some()),
            (Feature::HttpCredentials, options.http_credentials.is_some()),
            (Feature::Offline, options.offline),
            (Feature::Proxy, options.proxy.is_some()),
            (Feature::OriginRules, !options.origins.is_empty()),
            (Feature::AddressRules, !options.addresses.is_empty()),
            (Feature::Interception, !options.routes.is_empty()),
            (Feature::InitScripts, !options.init_scripts.is_empty()),
            (Feature::ExtraHeaders, !options.extra_headers.is_empty()),
            (Feature::UserAgent, options.user_agent.is_some()),
            (Feature::Locale, options.locale.is_some()),
            (Feature::TimeZone, options.timezone.is_some()),
            (
                Feature::WithoutScripts,
                options.java_script_enabled == Some(false),
            ),
        ];
        asked
            .into_iter()
            .filter(|(_, asked)| *asked)
            .try_for_each(|(feature, _)| self.require(feature))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsupported_context_options_are_refused_by_name() {
        let browser = Capabilities {
            browser: "Firefox",
            lacks: &[(Feature::BypassCsp, "Use Chromium.")],
            lacks_elsewhere: &[],
            throttles: false,
        };
        assert!(browser.require_for(&ContextOptions::default()).is_ok());
        let options = ContextOptions {
            bypass_csp: true,
            ..ContextOptions::default()
        };
        let refused = browser.require_for(&options).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "Bypassing the Content-Security-Policy is not supported by Firefox. Use Chromium."
        );
        assert_eq!(refused.code(), "UNSUPPORTED_BY_BROWSER");
    }
}
