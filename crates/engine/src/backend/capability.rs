//! What not every browser can do, and which one cannot: asked before anything is half done.

use super::{ContextOptions, MediaFeatures};
use crate::error::{Error, Result};

/// Something that not every browser can do; its text begins a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::IntoStaticStr, strum::VariantArray)]
pub enum Feature {
    /// [`ContextOptions::throttling`].
    #[strum(to_string = "A slow network")]
    Throttling,
    /// [`ContextOptions::media`] and later changes of it.
    #[strum(to_string = "Emulating media features")]
    MediaFeatures,
    /// [`super::Viewport::is_mobile`].
    #[strum(to_string = "A mobile viewport")]
    MobileViewport,
    /// [`super::Viewport::has_touch`].
    #[strum(to_string = "A touch screen")]
    TouchScreen,
    /// [`ContextOptions::bypass_csp`].
    #[strum(to_string = "Ignoring Content-Security-Policy")]
    BypassCsp,
    /// [`ContextOptions::java_script_enabled`].
    #[strum(to_string = "Pages without scripts")]
    WithoutScripts,
    /// [`ContextOptions::ignore_https_errors`] in the context that the browser begins with.
    #[strum(to_string = "Ignoring the errors of certificates in a persistent profile")]
    IgnoreCertificatesInProfile,
    /// A [`super::Verdict::Continue`] with another URL or body.
    #[strum(to_string = "Sending a request with another URL or body")]
    RewriteRequest,
    /// [`super::PageBackend::fetch`].
    #[strum(to_string = "Looking at an answer before the page gets it")]
    HoldResponse,
    /// Permissions of other names.
    #[strum(to_string = "Granting this permission")]
    Permission,
    /// Recording what the browser does, by its own means.
    #[strum(to_string = "Tracing inside the browser")]
    Tracing,
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
}

impl Capabilities {
    /// Whether the browser can do it.
    pub fn has(&self, feature: Feature) -> bool {
        self.lacks.iter().all(|(lacked, _)| *lacked != feature)
    }

    /// Fails with [`Error::UnsupportedByBrowser`] if the browser cannot do it.
    pub fn require(&self, feature: Feature) -> Result<()> {
        match self.lacks.iter().find(|(lacked, _)| *lacked == feature) {
            None => Ok(()),
            Some((_, hint)) => Err(Error::UnsupportedByBrowser {
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
            (Feature::BypassCsp, options.bypass_csp),
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
    fn what_a_context_asks_for_is_refused_by_name() {
        let browser = Capabilities {
            browser: "Firefox",
            lacks: &[(Feature::BypassCsp, "Use Chromium.")],
        };
        assert!(browser.require_for(&ContextOptions::default()).is_ok());
        let options = ContextOptions {
            bypass_csp: true,
            ..ContextOptions::default()
        };
        let refused = browser.require_for(&options).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "Ignoring Content-Security-Policy is not supported by Firefox. Use Chromium."
        );
        assert_eq!(refused.code(), "UNSUPPORTED_BY_BROWSER");
    }
}
