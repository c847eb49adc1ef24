//! What a context, a picture or a print can be asked to be.

use super::scripts::BLOCK_SERVICE_WORKERS;
use super::{Headers, Proxy};
use crate::addresses::AddressRules;
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

/// What the page believes of its screen.
#[derive(Debug, Clone, PartialEq)]
pub struct Viewport {
    /// Inner size of the window.
    pub size: Size,
    /// Size of the screen around it; the same if none.
    pub screen: Option<Size>,
    /// Device pixels per CSS pixel.
    pub device_scale_factor: f64,
    /// Honours the viewport meta tag, overlays scroll bars.
    pub is_mobile: bool,
    /// Has a touch screen.
    pub has_touch: bool,
}

impl Viewport {
    /// A desktop window of that size.
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

/// User and password for HTTP authentication.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpCredentials {
    /// User name.
    pub username: String,
    /// Password.
    pub password: String,
    /// Only for this origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

impl HttpCredentials {
    /// User and password, if they are for this origin.
    pub(crate) fn for_origin(&self, origin: &str) -> Option<(String, String)> {
        let only = self.origin.as_ref();
        let is_meant = only.is_none_or(|only| only.trim_end_matches('/') == origin);
        is_meant.then(|| (self.username.clone(), self.password.clone()))
    }
}

/// A place on earth.
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

/// What a context is made like.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextOptions {
    /// The browser is somebody else's: what nobody asked for stays as its owner has it.
    pub is_anothers: bool,
    /// `None`: the window's own size.
    pub viewport: Option<Viewport>,
    /// The `User-Agent` header and `navigator.userAgent`.
    pub user_agent: Option<String>,
    /// A BCP 47 tag, e.g. `de-DE`.
    pub locale: Option<String>,
    /// An IANA name, e.g. `Europe/Berlin`.
    pub timezone: Option<String>,
    /// Media features from the start.
    pub media: MediaFeatures,
    /// Where the pages believe to be.
    pub geolocation: Option<Geolocation>,
    /// Permissions granted to every origin.
    pub permissions: Vec<String>,
    /// Deny the other permissions that pages ask for, instead of asking somebody. Browsers of the Chromium family take it here, Firefox as preferences.
    pub deny_other_permissions: bool,
    /// Headers that go with every request.
    pub extra_headers: Headers,
    /// Answer to HTTP authentication.
    pub http_credentials: Option<HttpCredentials>,
    /// Accept any certificate.
    pub ignore_https_errors: bool,
    /// Start without network.
    pub offline: bool,
    /// How slow the network is.
    pub throttling: Throttling,
    /// [`BrowserContext::set_throttling`](crate::BrowserContext::set_throttling) may be called later.
    pub can_throttle: bool,
    /// Requests that are refused or answered without a server.
    pub routes: Routes,
    /// Ignore Content-Security-Policy.
    pub bypass_csp: bool,
    /// `Some(false)`: pages run no scripts.
    pub java_script_enabled: Option<bool>,
    /// Pages register no service workers.
    pub block_service_workers: bool,
    /// A proxy of its own.
    pub proxy: Option<Proxy>,
    /// Where downloads go; they are saved there under a unique name. `None`: they are refused.
    pub downloads: Option<PathBuf>,
    /// What may be requested; for the whole browser, as workers belong to no context.
    pub origins: OriginRules,
    /// Which addresses and ports may be connected to.
    pub addresses: AddressRules,
    /// Scripts that run in each new document before the document's own.
    pub init_scripts: Vec<String>,
    /// How long its pages are waited for.
    pub timeouts: PageTimeouts,
}

/// How long pages are waited for that do not answer. Tests shorten it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageTimeouts {
    /// A page that is to be left may work for so long before its script is terminated.
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
    /// The scripts that run in each new document before the document's own, those that options stand for included.
    pub(crate) fn all_init_scripts(&self) -> impl Iterator<Item = &str> {
        let blocker = self.block_service_workers.then_some(BLOCK_SERVICE_WORKERS);
        self.init_scripts.iter().map(String::as_str).chain(blocker)
    }
}

/// How slow a network is made.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Throttling {
    /// Bytes per second; `None`: as many as there are.
    pub download: Option<f64>,
    /// Bytes per second; `None`: as many as there are.
    pub upload: Option<f64>,
    /// What each request takes more, in milliseconds.
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

/// A cookie as storage state files hold it.
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

/// A number as JavaScript writes it: without a fraction where it has none.
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

/// How to draw a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Screenshot {
    /// The image format.
    pub format: ScreenshotFormat,
    /// 0–100, for jpeg and webp.
    pub quality: Option<u8>,
    /// Which part.
    pub area: ScreenshotArea,
    /// One image pixel per CSS pixel, whatever the device scale factor.
    pub css_scale: bool,
    /// Smaller than that by this factor; 1 for as large as that.
    pub shrink: f64,
}

/// Which part of a page to draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScreenshotArea {
    /// What is in the viewport.
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

/// How to print a page; sizes in inches.
#[derive(Debug, Clone, PartialEq)]
pub struct PdfOptions {
    /// Paper width.
    pub width: f64,
    /// Paper height.
    pub height: f64,
    /// Print backgrounds too.
    pub background: bool,
    /// Wide rather than tall.
    pub landscape: bool,
}
