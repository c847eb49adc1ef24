//! The features that not all browsers support, which are checked before an operation begins.

use super::{Alternative, ContextOptions, EmulatedOption, Feature, MediaFeatures};
use crate::error::{Error, Result};
use std::path::PathBuf;

/// The features that a browser does not support, and their alternatives.
#[derive(Debug, Clone, Copy)]
pub struct Capabilities {
    /// The name of the browser for users.
    pub browser: &'static str,
    /// The features that the browser does not support.
    pub lacks: &'static [(Feature, Alternative)],
    /// The features that the browser does not support when it runs on another machine.
    pub lacks_elsewhere: &'static [(Feature, Alternative)],
    /// Whether the browser has a command to throttle the network of pages. For other browsers, the egress proxy throttles.
    pub throttles: bool,
}

impl Capabilities {
    /// Whether the browser supports the feature.
    pub fn has(&self, feature: Feature) -> bool {
        self.alternative(feature).is_none()
    }

    /// Returns the alternative, if the browser does not support the feature.
    pub fn alternative(&self, feature: Feature) -> Option<Alternative> {
        let mut lacks = self.lacks.iter().chain(self.lacks_elsewhere);
        let (_, alternative) = lacks.find(|(lacked, _)| *lacked == feature)?;
        Some(*alternative)
    }

    /// Fails with [`Error::UnsupportedByBrowser`] if the browser does not support the feature.
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

    /// Fails like [`Self::require`] if the feature is used.
    pub(crate) fn require_if(&self, is_used: bool, feature: Feature) -> Result<()> {
        if is_used {
            self.require(feature)
        } else {
            Ok(())
        }
    }

    /// Fails if a file of an input is a folder, and the browser does not support that.
    pub(crate) fn require_for_files(&self, files: &[PathBuf]) -> Result<()> {
        let has_folder = files.iter().any(|path| path.is_dir());
        self.require_if(has_folder, Feature::FolderUpload)
    }

    /// Fails with the first feature that the options of a context require and the browser does not support.
    pub(crate) fn require_for(&self, options: &ContextOptions) -> Result<()> {
        let viewport = options.viewport.as_ref();
        let throttling = options.throttling;
        let required = [
            (
                Feature::Throttling,
                throttling != super::Throttling::default(),
            ),
            (
                Feature::MediaFeatures,
                options.media != MediaFeatures::default(),
            ),
            (Feature::ForcedColors, options.media.forced_colors.is_some()),
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
            (Feature::Certificates, !options.tls.is_empty()),
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
        required
            .into_iter()
            .filter(|(_, is_required)| *is_required)
            .try_for_each(|(feature, _)| self.require(feature))
    }

    /// Fails with the first feature that changes of the options of an open context require and the browser does not support.
    pub(crate) fn require_for_changes(
        &self,
        options: &ContextOptions,
        changed: &[EmulatedOption],
    ) -> Result<()> {
        let mut used = ContextOptions::default();
        used.copy_from(options, changed);
        self.require_for(&used)?;
        let place = [EmulatedOption::Locale, EmulatedOption::TimeZone];
        let is_moved = place.iter().any(|option| changed.contains(option));
        self.require_if(is_moved, Feature::LocaleChange)
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

    #[test]
    fn changes_of_an_open_context_are_refused_where_only_a_new_one_has_them() {
        let browser = Capabilities {
            browser: "WebKit",
            lacks: &[(Feature::LocaleChange, Alternative::NewContext)],
            lacks_elsewhere: &[],
            throttles: false,
        };
        let options = ContextOptions {
            locale: Some("de-DE".to_owned()),
            ..ContextOptions::default()
        };
        assert!(browser.require_for(&options).is_ok());
        let changed = [EmulatedOption::Offline, EmulatedOption::Locale];
        let refused = browser.require_for_changes(&options, &changed).unwrap_err();
        assert_eq!(refused.code(), "UNSUPPORTED_BY_BROWSER");
        let others = [EmulatedOption::Offline, EmulatedOption::UserAgent];
        assert!(browser.require_for_changes(&options, &others).is_ok());
    }
}
