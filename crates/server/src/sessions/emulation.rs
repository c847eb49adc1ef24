//! The emulation options of a session: a device, the locale, the position, permissions and headers.

use crate::config::ContextSettings;
use crate::error::nearest::nearest;
use crate::error::{Error, Result};
use engine::{Size, Viewport};
use schemars::JsonSchema;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a session emulates. The names are those of Playwright's context options.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EmulationOptions {
    /// Such as iPhone 15: size, touch, user agent.
    device: Option<String>,
    /// User agent.
    user_agent: Option<String>,
    /// Size of pages.
    viewport: Option<ViewportOption>,
    /// Language, such as de-DE.
    pub(super) locale: Option<String>,
    /// IANA time zone, such as Europe/Berlin.
    pub(super) timezone: Option<String>,
    /// Color scheme.
    color_scheme: Option<ColorSchemeOption>,
    /// Needs the permission geolocation.
    geolocation: Option<GeolocationOption>,
    /// Such as geolocation, notifications.
    pub(super) permissions: Option<Vec<String>>,
    /// For HTTP authentication.
    http_credentials: Option<CredentialsOption>,
    /// No network.
    offline: Option<bool>,
    /// Headers of each request.
    extra_headers: Option<BTreeMap<String, String>>,
}

/// A size in CSS pixels.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
struct ViewportOption {
    /// CSS pixels.
    #[schemars(range(min = 1, max = 10_000_000))]
    width: u32,
    /// CSS pixels.
    #[schemars(range(min = 1, max = 10_000_000))]
    height: u32,
}

/// `prefers-color-scheme`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
enum ColorSchemeOption {
    Light,
    Dark,
    NoPreference,
}

/// A position.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
struct GeolocationOption {
    /// Degrees.
    #[schemars(range(min = -90, max = 90))]
    latitude: f64,
    /// Degrees.
    #[schemars(range(min = -180, max = 180))]
    longitude: f64,
    /// Metres, 0 by default.
    #[schemars(range(min = 0))]
    accuracy: Option<f64>,
}

/// Credentials for HTTP authentication.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct CredentialsOption {
    /// User name.
    username: String,
    /// Password.
    password: String,
    /// Only for this origin.
    origin: Option<String>,
}

impl EmulationOptions {
    /// Applies the options to the settings of a context. An option overrides what the device implies.
    pub(crate) fn apply(&self, context: &mut ContextSettings) -> Result<()> {
        self.apply_screen(context)?;
        let options = &mut context.options;
        if let Some(user_agent) = &self.user_agent {
            if http::HeaderValue::try_from(user_agent).is_err() {
                return Err(invalid(
                    &["userAgent"],
                    "userAgent must be text that fits into a header: no line breaks or control characters",
                ));
            }
            options.user_agent = Some(user_agent.clone());
        }
        if let Some(locale) = &self.locale {
            options.locale = Some(locale.clone());
        }
        if let Some(timezone) = &self.timezone {
            options.timezone = Some(timezone.clone());
        }
        if let Some(scheme) = self.color_scheme {
            let keyword: &str = scheme.into();
            options.media.color_scheme = Some(keyword.to_owned());
        }
        if let Some(position) = self.geolocation {
            options.geolocation = Some(engine::Geolocation {
                latitude: position.latitude,
                longitude: position.longitude,
                accuracy: position.accuracy.unwrap_or_default(),
            });
        }
        if let Some(permissions) = &self.permissions {
            let is_granted = |name: &String| options.permissions.contains(name);
            if options.deny_other_permissions && !permissions.iter().all(is_granted) {
                return Err(Error::ParameterSwitchedOff {
                    parameter: "permissions",
                    reason: "the server was started with --deny-permissions, and --grant-permissions does not name them",
                });
            }
            options.permissions.clone_from(permissions);
        }
        if let Some(CredentialsOption {
            username,
            password,
            origin,
        }) = self.http_credentials.clone()
        {
            options.http_credentials = Some(engine::HttpCredentials {
                username,
                password,
                origin,
            });
        }
        if let Some(offline) = self.offline {
            options.offline = offline;
        }
        for (name, value) in self.extra_headers.iter().flatten() {
            let is_valid = http::HeaderName::try_from(name).is_ok()
                && http::HeaderValue::try_from(value).is_ok();
            if !is_valid {
                return Err(invalid(
                    &["extraHeaders"],
                    format!("extraHeaders: \"{name}\" is not a valid header name and value"),
                ));
            }
            let headers = &mut options.extra_headers;
            headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            headers.push((name.clone(), value.clone()));
        }
        Ok(())
    }

    /// Applies the device and the viewport.
    fn apply_screen(&self, context: &mut ContextSettings) -> Result<()> {
        let options = &mut context.options;
        if let Some(name) = &self.device {
            let device = engine::device(name).ok_or_else(|| unknown_device(name))?;
            options.viewport = Some(Viewport {
                screen: device.screen,
                ..device.viewport
            });
            options.user_agent = Some(device.user_agent);
            context.fills_window = false;
        }
        if let Some(ViewportOption { width, height }) = self.viewport {
            let desktop = Viewport::desktop(width, height);
            let viewport = options.viewport.get_or_insert(desktop);
            viewport.size = Size { width, height };
            context.fills_window = false;
        }
        Ok(())
    }
}

fn unknown_device(name: &str) -> Error {
    let names = engine::device_names();
    let suggestion = nearest(name, names.iter().map(String::as_str)).map_or_else(
        || " Use a name of Playwright's list, such as \"iPhone 15\" or \"Pixel 7\".".to_owned(),
        |name| format!(" Did you mean \"{name}\"?"),
    );
    invalid(
        &["device"],
        format!("unknown device \"{name}\".{suggestion}"),
    )
}

fn invalid(parameters: &'static [&'static str], reason: impl Into<Cow<'static, str>>) -> Error {
    Error::Arguments {
        reason: reason.into(),
        parameters,
        missing: &[],
        bare: false,
    }
}
