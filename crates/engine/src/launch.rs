//! Launching or connecting to a browser. Only this module names concrete backends.

mod chromium;
mod display;
mod endpoint;
mod extension;
pub(crate) mod ffmpeg;
mod find;
mod firefox;
#[cfg(unix)]
mod openers;
mod port;
pub(crate) mod process;
pub(crate) mod profile;
mod remote;
pub(crate) mod source;
mod upload;
mod webkit;

pub use endpoint::{AUTO, CdpEndpoint};
pub use extension::{EXTENSIONS, ExtensionEndpoint};
pub use ffmpeg::Ffmpeg;
pub use find::{BrowserChoice, Channel, FoundBrowser, Search, find, find_all};
pub use profile::{TemporaryFile, remove_stale_profiles};
pub use remote::WebDriverEndpoint;

use crate::addresses::AddressRules;
use crate::backend::{self, BrowserBackend, Capabilities, Feature, Proxy, TlsOptions, bidi, cdp};
use crate::error::{Error, Result};
use crate::origins::OriginRules;
use crate::progress::Progress;
#[cfg(any(test, feature = "testing"))]
use crate::testing;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A browser kind, which determines the protocol.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
pub enum BrowserKind {
    /// Chromium, Chrome, Edge: with the Chrome DevTools Protocol.
    #[default]
    Chromium,
    /// Firefox: with WebDriver BiDi.
    Firefox,
    /// WebKitGTK: with its automation session, and its inspector.
    Webkit,
}

impl BrowserKind {
    /// Returns the features that browsers of this kind support.
    pub fn capabilities(self) -> &'static Capabilities {
        match self {
            Self::Chromium => &cdp::CAPABILITIES,
            Self::Firefox => &bidi::CAPABILITIES,
            Self::Webkit => &backend::webkit::CAPABILITIES,
        }
    }

    /// Returns the features that remote browsers of this kind support ([`ConnectOptions`]). There is no remote WebKit.
    pub fn remote_capabilities(self) -> &'static Capabilities {
        match self {
            Self::Chromium => &cdp::REMOTE,
            Self::Firefox => &bidi::REMOTE,
            Self::Webkit => &backend::webkit::CAPABILITIES,
        }
    }
}

/// Returns the features that the user's own browser supports ([`ConnectOptions::Extension`]).
pub fn extension_capabilities() -> &'static Capabilities {
    &cdp::EXTENSION
}

/// The launch options of a browser.
#[derive(Debug, Clone, Default)]
pub struct LaunchOptions {
    /// The kind of the program.
    pub kind: BrowserKind,
    /// The program.
    pub executable: PathBuf,
    /// Whether the program is a headless shell, which has no other mode.
    pub headless_shell: bool,
    /// Whether to launch without a visible window.
    pub headless: bool,
    /// Chromium's own sandbox; `None` disables it only if it cannot work.
    pub sandbox: Option<bool>,
    /// The profile's directory; `None` for a temporary profile.
    pub user_data_dir: Option<PathBuf>,
    /// A directory for data of the engine that makes later launches faster: of Firefox its startup cache, about 18 MB for each executable.
    /// `None` keeps nothing.
    pub cache_dir: Option<PathBuf>,
    /// How long to wait for a profile that another process uses.
    pub profile_lock_timeout: Duration,
    /// The proxy of all contexts without one of their own.
    pub proxy: Option<Proxy>,
    /// The rules about origins of the default context.
    pub origins: OriginRules,
    /// The rules about IP addresses and ports.
    pub addresses: AddressRules,
    /// Certificates of authorities and for clients, of the default context. Other contexts may have some only if there are some here.
    pub tls: TlsOptions,
    /// Whether to accept any certificate of a proxy.
    pub ignore_https_errors: bool,
    /// Whether [`BrowserContext::set_throttling`](crate::BrowserContext::set_throttling) may be called later.
    pub can_throttle: bool,
    /// Whether contexts have rules about the network, or a proxy: the browser must not connect past it (WebRTC, QUIC, DNS). Set if the
    /// launch options themselves have such rules or a proxy.
    pub is_confined: bool,
    /// Additional command-line switches.
    pub args: Vec<String>,
    /// Default switches to omit, as written or by name.
    pub ignore_default_args: Vec<String>,
    /// Additional preferences of Firefox: booleans, integers and strings. They override the defaults.
    pub preferences: Vec<(String, serde_json::Value)>,
    /// Additional environment variables.
    pub env: Vec<(String, String)>,
    /// Whether there is a display for windows.
    pub display: bool,
    /// Whether the process runs as root or in a container without user namespaces, which the caller determines.
    pub sandbox_unavailable: bool,
}

impl LaunchOptions {
    /// Returns an error if the browser cannot use a proxy as the options require.
    pub(crate) fn check_network(&self, capabilities: &Capabilities) -> Result<()> {
        let asked = [
            (Feature::OriginRules, !self.origins.is_empty()),
            (Feature::AddressRules, !self.addresses.is_empty()),
            (Feature::Proxy, self.proxy.is_some()),
            (Feature::Certificates, !self.tls.is_empty()),
        ];
        let mut asked = asked.into_iter().filter(|(_, asked)| *asked);
        asked.try_for_each(|(feature, _)| capabilities.require(feature))
    }

    /// Lets Chromium accept the certificates with a public key, whose hash this is, for any host.
    pub(crate) fn accept_public_key(&mut self, hash: &str) {
        self.args
            .push(format!("--ignore-certificate-errors-spki-list={hash}"));
    }

    /// Returns an error if the browser would not find a display, which its log reports less clearly. WebKit uses a virtual one.
    fn check_display(&self) -> Result<()> {
        let variables = ["DISPLAY", "WAYLAND_DISPLAY"];
        let own = self
            .env
            .iter()
            .any(|(name, _)| variables.contains(&&**name));
        let needs_one = matches!(self.kind, BrowserKind::Chromium | BrowserKind::Firefox);
        if !needs_one || self.headless || self.headless_shell || self.display || own {
            return Ok(());
        }
        Err(Error::LaunchFailed {
            reason: "the browser cannot open a window, as there is no display (DISPLAY and WAYLAND_DISPLAY are not set): use --headless, or start the server with `xvfb-run -a`".to_owned(),
            log: String::new(),
        })
    }
}

/// A remote browser.
#[derive(Debug, Clone)]
pub enum ConnectOptions {
    /// A running browser, which is only disconnected when it is no longer needed.
    Cdp(CdpEndpoint),
    /// Tabs of the user's own browser, which its extension gives.
    Extension(Box<ExtensionEndpoint>),
    /// A browser that a WebDriver remote end creates, and closes when it is no longer needed.
    WebDriver(Box<WebDriverEndpoint>),
}

/// Launches a browser, which ends when the returned backend is dropped, or with this process.
pub(crate) async fn launch(
    progress: &Progress,
    options: &LaunchOptions,
) -> Result<Arc<dyn BrowserBackend>> {
    options.check_display()?;
    #[cfg(any(test, feature = "testing"))]
    if testing::is_installed() {
        return Ok(Arc::new(testing::FakeBrowser::new(
            options.kind.capabilities(),
            options.proxy.clone(),
        )));
    }
    let launched = match options.kind {
        BrowserKind::Chromium => chromium::launch(progress, options).await,
        BrowserKind::Firefox => firefox::launch(progress, options).await,
        BrowserKind::Webkit if cfg!(windows) => Err(Error::LaunchFailed {
            reason: "WebKit does not run on Windows: use Chrome, Edge or Firefox".to_owned(),
            log: String::new(),
        }),
        BrowserKind::Webkit => webkit::launch(progress, options).await,
    };
    launched.map_err(|error| match error {
        Error::Timeout { timeout_ms, .. } => Error::LaunchFailed {
            reason: format!(
                "{} was started and did not get ready within {timeout_ms} ms: the machine may be too busy, or {} is not a {} that can be driven",
                options.kind,
                options.executable.display(),
                options.kind
            ),
            log: String::new(),
        },
        error => error,
    })
}

/// Connects to a remote browser.
pub(crate) async fn connect(
    progress: &Progress,
    options: &ConnectOptions,
) -> Result<Arc<dyn BrowserBackend>> {
    match options {
        ConnectOptions::Cdp(endpoint) => endpoint::connect(progress, endpoint).await,
        ConnectOptions::Extension(endpoint) => extension::connect(progress, endpoint).await,
        ConnectOptions::WebDriver(end) => remote::open(progress, end).await,
    }
}

/// Returns whether this process has all permissions, with which Chromium does not start its sandbox.
fn is_root() -> bool {
    #[cfg(unix)]
    return rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    false
}

/// Returns whether Chromium's sandbox cannot work here: it rejects root, and needs user namespaces.
pub fn sandbox_unavailable() -> bool {
    #[cfg(target_os = "linux")]
    {
        if is_root() {
            return true;
        }
        let zero = |path| std::fs::read_to_string(path).is_ok_and(|text| text.trim() == "0");
        zero("/proc/sys/user/max_user_namespaces")
            || zero("/proc/sys/kernel/unprivileged_userns_clone")
    }
    #[cfg(not(target_os = "linux"))]
    false
}
