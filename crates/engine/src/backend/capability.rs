//! What not every browser can do, and which one cannot: asked before anything is half done.

use super::{Alternative, ContextOptions, Feature, MediaFeatures};
use crate::error::{Error, Result};

/// What a browser cannot do, and what to do instead.
#[derive(Debug, Clone, Copy)]
pub struct Capabilities {
    /// The browser as people call it.
    pub browser: &'static str,
    /// What it lacks.
    pub lacks: &'static [(Feature, Alternative)],
    /// What it lacks because it runs elsewhere.
    pub lacks_elsewhere: &'static [(Feature, Alternative)],
    /// It has a command that throttles the network of pages. For others the engine does it, on the way to the network.
    pub throttles: bool,
}

impl Capabilities {
    /// Whether the browser can do it.
    pub fn has(&self, feature: Feature) -> bool {
        self.alternative(feature).is_none()
    }

    /// What to do instead, if the browser cannot do it.
    pub fn alternative(&self, feature: Feature) -> Option<Alternative> {
        let mut lacks = self.lacks.iter().chain(self.lacks_elsewhere);
        let (_, alternative) = lacks.find(|(lacked, _)| *lacked == feature)?;
        Some(*alternative)
    }

    /// Fails with [`Error::UnsupportedByBrowser`] if the browser cannot do it.
    pub fn require(&self, feature: Feature) -> Result<()> {
        match self.alternative(feature) {
            None => Ok(()),
            Some(alternative) => Err(Error::UnsupportedByBrowser {
                browser: self.browser,
                feature,
                alternative,
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
            lacks: &[(Feature::BypassCsp, Alternative::Chromium)],
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
            "Bypassing the Content-Security-Policy is not supported by Firefox. Use Chromium for it."
        );
        assert_eq!(refused.code(), "UNSUPPORTED_BY_BROWSER");
    }
}
