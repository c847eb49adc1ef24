//! The options of browser contexts, screenshots and PDFs.

use super::scripts::BLOCK_SERVICE_WORKERS;
use super::{Headers, Proxy, TlsOptions};
use crate::addresses::AddressRules;
use crate::injected::timers;
use crate::origins::OriginRules;
use crate::routes::Routes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// A width and a height, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// CSS pixels.
    pub width: u32,
    /// CSS pixels.
    pub height: u32,
}

/// The screen and the window that a page sees.
#[derive(Debug, Clone, PartialEq)]
pub struct Viewport {
    /// The inner size of the window.
    pub size: Size,
    /// The size of the screen; `None`: that of the window.
    pub screen: Option<Size>,
    /// Device pixels per CSS pixel.
    pub device_scale_factor: f64,
    /// Whether the viewport meta tag is applied and scroll bars are overlays.
    pub is_mobile: bool,
    /// Whether the page sees a touch screen.
    pub has_touch: bool,
}

impl Viewport {
    /// Returns the viewport of a desktop window of this size.
    pub fn desktop(width: u32, height: u32) -> Self {
        Self {
            size: Size { width, height },
            screen: None,
            device_scale_factor: 1.0,
            is_mobile: false,
            has_touch: false,
        }
    }
}

/// The user name and password for HTTP authentication.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpCredentials {
    /// User name.
    pub username: String,
    /// Password.
    pub password: String,
    /// The only origin that receives them; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

impl HttpCredentials {
    /// Returns the user name and password, if they are for this origin.
    pub(crate) fn for_origin(&self, origin: &str) -> Option<(String, String)> {
        let only = self.origin.as_ref();
        let is_meant = only.is_none_or(|only| only.trim_end_matches('/') == origin);
        is_meant.then(|| (self.username.clone(), self.password.clone()))
    }
}

/// A geographic position.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Geolocation {
    /// Degrees, −90 to 90.
    pub latitude: f64,
    /// Degrees, −180 to 180.
    pub longitude: f64,
    /// Metres.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub accuracy: f64,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// `prefers-color-scheme`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::Display, strum::EnumString,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ColorScheme {
    /// Light.
    Light,
    /// Dark.
    Dark,
    /// Neither.
    NoPreference,
}

/// Media features to emulate; `None` leaves the browser's own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MediaFeatures {
    /// `screen` or `print`.
    pub media: Option<String>,
    /// `light`, `dark` or `no-preference`.
    pub color_scheme: Option<String>,
    /// `reduce` or `no-preference`.
    pub reduced_motion: Option<String>,
    /// `active` or `none`.
    pub forced_colors: Option<String>,
    /// `more`, `less` or `no-preference`.
    pub contrast: Option<String>,
}

/// The options of a browser context.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextOptions {
    /// Whether the browser is not one that Playhouse started. Its settings remain unless an option changes them.
    pub is_anothers: bool,
    /// The viewport; `None`: the size of the window.
    pub viewport: Option<Viewport>,
    /// The `User-Agent` header and `navigator.userAgent`.
    pub user_agent: Option<String>,
    /// The locale as a BCP 47 tag, e.g. `de-DE`.
    pub locale: Option<String>,
    /// The time zone by its IANA name, e.g. `Europe/Berlin`.
    pub timezone: Option<String>,
    /// The initial media features.
    pub media: MediaFeatures,
    /// The position that pages see.
    pub geolocation: Option<Geolocation>,
    /// The permissions that every origin is granted.
    pub permissions: Vec<String>,
    /// Whether other permissions are denied without a prompt. Chromium applies it here; for Firefox it is a preference.
    pub deny_other_permissions: bool,
    /// Headers of every request.
    pub extra_headers: Headers,
    /// The credentials for HTTP authentication.
    pub http_credentials: Option<HttpCredentials>,
    /// Whether invalid certificates are accepted.
    pub ignore_https_errors: bool,
    /// Certificates of authorities and for clients. The browser must have been launched with some.
    pub tls: TlsOptions,
    /// Whether the context starts in offline mode.
    pub offline: bool,
    /// The initial throttling of the network.
    pub throttling: Throttling,
    /// Whether [`BrowserContext::set_throttling`](crate::BrowserContext::set_throttling) can be called later.
    pub can_throttle: bool,
    /// How many times slower the processor of the pages is; `None`: its own speed.
    pub cpu_throttling: Option<f64>,
    /// Whether each document observes its performance from its beginning.
    pub observe_vitals: bool,
    /// The initial routes.
    pub routes: Routes,
    /// Whether Content-Security-Policy is ignored.
    pub bypass_csp: bool,
    /// `Some(false)`: pages run no scripts.
    pub java_script_enabled: Option<bool>,
    /// Whether pages cannot register service workers.
    pub block_service_workers: bool,
    /// The upstream proxy of the context.
    pub proxy: Option<Proxy>,
    /// The folder in which downloads are saved under unique names. `None`: downloads are cancelled.
    pub downloads: Option<PathBuf>,
    /// The origins that may be requested. They apply to the whole browser, because workers belong to no context.
    pub origins: OriginRules,
    /// The IP addresses and ports that may be connected to.
    pub addresses: AddressRules,
    /// Scripts that run in each new document before the document's own.
    pub init_scripts: Vec<String>,
    /// The longest delay of the timers that are recorded, so that actions wait for those that they cause. `None`: none are recorded.
    pub timers: Option<Duration>,
    /// The timeouts for unresponsive pages.
    pub timeouts: PageTimeouts,
}

/// An option of a context that can be changed while the context is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmulatedOption {
    /// [`ContextOptions::viewport`].
    Viewport,
    /// [`ContextOptions::user_agent`].
    UserAgent,
    /// [`ContextOptions::locale`].
    Locale,
    /// [`ContextOptions::timezone`].
    TimeZone,
    /// [`MediaFeatures::color_scheme`].
    ColorScheme,
    /// [`MediaFeatures::reduced_motion`].
    ReducedMotion,
    /// [`MediaFeatures::forced_colors`].
    ForcedColors,
    /// [`MediaFeatures::contrast`].
    Contrast,
    /// [`ContextOptions::geolocation`].
    Geolocation,
    /// [`ContextOptions::permissions`].
    Permissions,
    /// [`ContextOptions::extra_headers`].
    ExtraHeaders,
    /// [`ContextOptions::http_credentials`].
    HttpCredentials,
    /// [`ContextOptions::offline`].
    Offline,
}

impl MediaFeatures {
    /// Copies an option from other features, if it is one of media.
    pub(crate) fn copy_from(&mut self, other: &Self, option: EmulatedOption) {
        match option {
            EmulatedOption::ColorScheme => self.color_scheme.clone_from(&other.color_scheme),
            EmulatedOption::ReducedMotion => self.reduced_motion.clone_from(&other.reduced_motion),
            EmulatedOption::ForcedColors => self.forced_colors.clone_from(&other.forced_colors),
            EmulatedOption::Contrast => self.contrast.clone_from(&other.contrast),
            _ => {}
        }
    }
}

/// The timeouts for unresponsive pages. Tests shorten them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageTimeouts {
    /// The time that a script may run when its page is to be replaced or closed, before its execution is terminated.
    pub response: Duration,
}

impl Default for PageTimeouts {
    fn default() -> Self {
        Self {
            response: Duration::from_secs(1),
        }
    }
}

impl ContextOptions {
    /// Copies these options from others.
    pub(crate) fn copy_from(&mut self, other: &Self, options: &[EmulatedOption]) {
        for &option in options {
            match option {
                EmulatedOption::Viewport => self.viewport.clone_from(&other.viewport),
                EmulatedOption::UserAgent => self.user_agent.clone_from(&other.user_agent),
                EmulatedOption::Locale => self.locale.clone_from(&other.locale),
                EmulatedOption::TimeZone => self.timezone.clone_from(&other.timezone),
                EmulatedOption::ColorScheme
                | EmulatedOption::ReducedMotion
                | EmulatedOption::ForcedColors
                | EmulatedOption::Contrast => self.media.copy_from(&other.media, option),
                EmulatedOption::Geolocation => self.geolocation = other.geolocation,
                EmulatedOption::Permissions => self.permissions.clone_from(&other.permissions),
                EmulatedOption::ExtraHeaders => self.extra_headers.clone_from(&other.extra_headers),
                EmulatedOption::HttpCredentials => {
                    self.http_credentials.clone_from(&other.http_credentials);
                }
                EmulatedOption::Offline => self.offline = other.offline,
            }
        }
    }

    /// Returns the script that records timers, which precedes all others.
    pub(crate) fn timers_script(&self) -> Option<String> {
        self.timers.map(timers)
    }

    /// Returns the scripts that run in each new document before its own scripts, including those that options imply.
    pub(crate) fn all_init_scripts(&self) -> impl Iterator<Item = &str> {
        let blocker = self.block_service_workers.then_some(BLOCK_SERVICE_WORKERS);
        self.init_scripts.iter().map(String::as_str).chain(blocker)
    }
}

/// Limits of the network.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Throttling {
    /// Bytes per second; `None`: no limit.
    pub download: Option<f64>,
    /// Bytes per second; `None`: no limit.
    pub upload: Option<f64>,
    /// The added latency of each request, in milliseconds.
    pub latency: f64,
}

/// The `SameSite` attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::Display)]
#[expect(missing_docs, reason = "their names are those of HTTP")]
pub enum SameSite {
    Strict,
    Lax,
    None,
}

/// A cookie in the format of storage state files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cookie {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
    /// With a leading dot: subdomains too.
    pub domain: String,
    /// Path.
    pub path: String,
    /// Unix seconds; −1 for a session cookie.
    #[serde(default = "session_cookie", serialize_with = "as_javascript")]
    pub expires: f64,
    /// Hidden from scripts.
    #[serde(default)]
    pub http_only: bool,
    /// Only over TLS.
    #[serde(default)]
    pub secure: bool,
    /// Cross-site rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_site: Option<SameSite>,
}

/// Serializes a number as JavaScript does: without a fraction if it is an integer.
fn as_javascript<S: serde::Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    #[expect(clippy::cast_possible_truncation, reason = "whole, and in range")]
    if number.fract() == 0.0 && number.abs() < 9e15 {
        serializer.serialize_i64(*number as i64)
    } else {
        serializer.serialize_f64(*number)
    }
}

fn session_cookie() -> f64 {
    -1.0
}

/// The options of a screenshot.
#[derive(Debug, Clone, PartialEq)]
pub struct Screenshot {
    /// The image format.
    pub format: ScreenshotFormat,
    /// 0–100, for jpeg and webp.
    pub quality: Option<u8>,
    /// The part of the page.
    pub area: ScreenshotArea,
    /// Whether the image has one pixel per CSS pixel, independently of the device scale factor.
    pub css_scale: bool,
    /// The factor by which the image is smaller; 1 for none.
    pub shrink: f64,
}

impl Default for Screenshot {
    /// Returns the options of a PNG of the viewport with one pixel per CSS pixel.
    fn default() -> Self {
        Self {
            format: ScreenshotFormat::Png,
            quality: None,
            area: ScreenshotArea::Viewport,
            css_scale: true,
            shrink: 1.0,
        }
    }
}

/// The part of a page in a screenshot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScreenshotArea {
    /// The viewport.
    Viewport,
    /// The whole document.
    FullPage,
    /// A rectangle in CSS pixels of the main frame's viewport.
    Clip {
        /// Left.
        x: f64,
        /// Top.
        y: f64,
        /// Width.
        width: f64,
        /// Height.
        height: f64,
    },
}

/// An image format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ScreenshotFormat {
    /// Lossless.
    #[default]
    Png,
    /// Small, lossy.
    Jpeg,
    /// Smaller, lossy.
    Webp,
}

/// The options of a PDF. Sizes are in inches.
#[derive(Debug, Clone, PartialEq)]
pub struct PdfOptions {
    /// Paper width.
    pub width: f64,
    /// Paper height.
    pub height: f64,
    /// Whether backgrounds are printed.
    pub background: bool,
    /// Whether the orientation is landscape.
    pub landscape: bool,
}
