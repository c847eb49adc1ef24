//! Starting a browser, or reaching one that runs elsewhere. The only place that names a concrete backend.

mod chromium;
mod display;
mod endpoint;
mod find;
mod firefox;
pub(crate) mod process;
pub(crate) mod profile;
mod remote;
mod safari;
pub(crate) mod source;
mod upload;
mod webkit;

pub use endpoint::{AUTO, CdpEndpoint};
pub use find::{BrowserChoice, Channel, FoundBrowser, Search, find, find_all};
pub use profile::remove_stale_profiles;
pub use remote::WebDriverEndpoint;

use crate::addresses::AddressRules;
use crate::backend::{BrowserBackend, Capabilities, Feature, Proxy, bidi, cdp, webdriver};
use crate::error::{Error, Result};
use crate::origins::OriginRules;
use crate::progress::Progress;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A family of browsers, each driven in its own way.
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
    /// Chromium, Chrome, Edge: over the Chrome DevTools Protocol.
    #[default]
    Chromium,
    /// Firefox: over WebDriver BiDi.
    Firefox,
    /// WebKitGTK: over W3C WebDriver, and its inspector.
    Webkit,
    /// Safari: over W3C WebDriver.
    Safari,
}

impl BrowserKind {
    /// What browsers of this family can do.
    pub fn capabilities(self) -> &'static Capabilities {
        match self {
            Self::Chromium => &cdp::CAPABILITIES,
            Self::Firefox => &bidi::CAPABILITIES,
            Self::Webkit => &webdriver::CAPABILITIES,
            Self::Safari => &webdriver::CLASSIC,
        }
    }

    /// What browsers of this family can do that run elsewhere ([`ConnectOptions`]).
    pub fn remote_capabilities(self) -> &'static Capabilities {
        match self {
            Self::Chromium => &cdp::REMOTE,
            Self::Firefox => &bidi::REMOTE,
            Self::Webkit | Self::Safari => &webdriver::CLASSIC,
        }
    }
}

/// How a browser is started.
#[derive(Debug, Clone, Default)]
pub struct LaunchOptions {
    /// What the program is.
    pub kind: BrowserKind,
    /// The program.
    pub executable: PathBuf,
    /// It is a headless shell, which has no other mode.
    pub headless_shell: bool,
    /// Without windows.
    pub headless: bool,
    /// Chromium's own sandbox; `None` turns it off only where it cannot work.
    pub sandbox: Option<bool>,
    /// The profile's directory; `None` for one that goes with the browser.
    pub user_data_dir: Option<PathBuf>,
    /// How long a profile that somebody else uses is waited for, in the hope that they leave.
    pub profile_patience: Duration,
    /// For all contexts that have none of their own.
    pub proxy: Option<Proxy>,
    /// Which origins the context that the browser starts with may connect to.
    pub origins: OriginRules,
    /// Which IP addresses and ports it may connect to.
    pub addresses: AddressRules,
    /// Accept any certificate of a proxy.
    pub ignore_https_errors: bool,
    /// [`BrowserContext::set_throttling`](crate::BrowserContext::set_throttling) may be called later.
    pub can_throttle: bool,
    /// The contexts have rules about the network, or a proxy: the browser may not connect past it (WebRTC, QUIC, DNS). It is set where the
    /// launch itself has such rules or a proxy.
    pub is_confined: bool,
    /// More command-line switches.
    pub args: Vec<String>,
    /// Switches of ours to leave out, as written or by name.
    pub ignore_default_args: Vec<String>,
    /// More preferences, if it is a Firefox: booleans, whole numbers and texts. They go over ours.
    pub preferences: Vec<(String, serde_json::Value)>,
    /// More environment variables.
    pub env: Vec<(String, String)>,
    /// There is a screen for windows.
    pub display: bool,
    /// Runs as root or in a container without user namespaces; decided by whoever reads the environment.
    pub sandbox_unavailable: bool,
}

impl LaunchOptions {
    /// Fails if the browser cannot be led through a proxy as they say.
    pub(crate) fn check_network(&self, capabilities: &Capabilities) -> Result<()> {
        let asked = [
            (Feature::OriginRules, !self.origins.is_empty()),
            (Feature::AddressRules, !self.addresses.is_empty()),
            (Feature::Proxy, self.proxy.is_some()),
        ];
        let mut asked = asked.into_iter().filter(|(_, asked)| *asked);
        asked.try_for_each(|(feature, _)| capabilities.require(feature))
    }

    /// Fails if the browser would look for a display in vain, which its log says less clearly. WebKit brings its own.
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

/// A browser that is not started by us.
#[derive(Debug, Clone)]
pub enum ConnectOptions {
    /// One that runs, and is only left when nobody needs it any more.
    Cdp(CdpEndpoint),
    /// One that a WebDriver end makes for us, and ends when nobody needs it any more.
    WebDriver(Box<WebDriverEndpoint>),
}

/// Starts a browser; it ends when the returned backend is dropped, or when this process does.
pub(crate) async fn launch(
    progress: &Progress,
    options: &LaunchOptions,
) -> Result<Arc<dyn BrowserBackend>> {
    options.check_display()?;
    match options.kind {
        BrowserKind::Chromium => chromium::launch(progress, options).await,
        BrowserKind::Firefox => firefox::launch(progress, options).await,
        BrowserKind::Webkit => webkit::launch(progress, options).await,
        BrowserKind::Safari => safari::launch(progress, options).await,
    }
}

/// Reaches a browser that runs elsewhere.
pub(crate) async fn connect(
    progress: &Progress,
    options: &ConnectOptions,
) -> Result<Arc<dyn BrowserBackend>> {
    match options {
        ConnectOptions::Cdp(endpoint) => endpoint::connect(progress, endpoint).await,
        ConnectOptions::WebDriver(end) => remote::open(progress, end).await,
    }
}

/// Whether Chromium's sandbox cannot work here: it refuses root, and needs user namespaces.
pub fn sandbox_unavailable() -> bool {
    #[cfg(target_os = "linux")]
    {
        if rustix::process::geteuid().is_root() {
            return true;
        }
        let zero = |path| std::fs::read_to_string(path).is_ok_and(|text| text.trim() == "0");
        zero("/proc/sys/user/max_user_namespaces")
            || zero("/proc/sys/kernel/unprivileged_userns_clone")
    }
    #[cfg(not(target_os = "linux"))]
    false
}
