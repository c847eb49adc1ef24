//! Launching WebKit: its browser, its driver, and the relay between them.

use super::LaunchOptions;
use super::display::Display;
use super::port::ReservedPort;
use super::process::Process;
use super::profile::Profile;
use super::source::Source;
use crate::backend::webkit::{InspectorChannel, Started, Starter, WebKitBrowser};
use crate::backend::{BrowserBackend, ContextOptions};
use crate::error::{Error, Result};
use crate::progress::Progress;
use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::select_ok;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wire::inspector::{Inspector, Relay};
use wire::webdriver::RemoteEnd;

/// The driver, a command of WebKit's package.
const DRIVER: &str = "WebKitWebDriver";
/// How long a start may take before another one is tried in parallel; it takes one second, and four on a busy machine.
const SLOW_START_TIMEOUT: Duration = Duration::from_secs(10);
/// Invisible scroll bars fade for seconds after each load and scroll, and each step repaints the page without a graphics card: three
/// quarters of a core. This feature of WebKit's own tests prevents that.
const MOCK_SCROLLBARS: &str = "MockScrollbarsController";
/// Switches that keep a browser from connecting past its proxy: WebRTC, and DNS queries.
const CONFINED: &[&str] = &[
    "--enable-webrtc=false",
    "--enable-media-stream=false",
    "--enable-dns-prefetching=false",
];

pub(super) async fn launch(
    progress: &Progress,
    options: &LaunchOptions,
) -> Result<Arc<dyn BrowserBackend>> {
    let starter = WebKit {
        options: options.clone(),
        display: Mutex::default(),
        fading: AtomicBool::new(false),
    };
    progress.run(WebKitBrowser::start(starter)).await
}

struct WebKit {
    options: LaunchOptions,
    /// The virtual display, if one is needed.
    display: Mutex<Option<Arc<Display>>>,
    /// Whether scroll bars fade, because this browser does not support the feature.
    fading: AtomicBool,
}

#[async_trait]
impl Starter for WebKit {
    async fn start(&self, context: &ContextOptions) -> Result<Started> {
        let asked = self.disables_scrollbar_animation();
        match self.start_with_timeout(context).await {
            // A browser exits at once if it does not know a feature.
            Err(Error::LaunchFailed { log, .. }) if asked && log.contains(MOCK_SCROLLBARS) => {
                self.fading.store(true, Relaxed);
                self.start_with_timeout(context).await
            }
            started => started,
        }
    }

    async fn end(&self) {
        let display = self.display().take();
        if let Some(display) = display {
            display.leave().await;
        }
    }
}

impl WebKit {
    async fn start_with_timeout(&self, context: &ContextOptions) -> Result<Started> {
        let mut first = self.attempt(context).boxed();
        if let Ok(started) = tokio::time::timeout(SLOW_START_TIMEOUT, &mut first).await {
            return started;
        }
        // Occurs once in a hundred starts; which of the programs causes it is not known.
        tracing::warn!("WebKit does not get ready: another one is started beside it");
        let (started, _) = select_ok([first, self.attempt(context).boxed()]).await?;
        Ok(started)
    }

    async fn attempt(&self, context: &ContextOptions) -> Result<Started> {
        let screen = self.screen().await?;
        tracing::debug!(?screen, "a browser starts");
        let port = ReservedPort::new()?;
        let inspected = port.address();
        let relay = Relay::start(inspected).await?;
        // The profile is removed with the browser: nothing is awaited in between.
        let profile = temporary()?;
        let home = profile.dir().to_owned();
        let downloads = prepare(&home)?;
        let args = self.arguments(context);
        let env = self.environment(&home, inspected, context, screen);
        let browser = Process::start("webkit", &self.options.executable, &args, &env, profile);
        let driven = self.driver(relay.address());
        let ((browser, _), (driver, remote)) = tokio::try_join!(browser, driven)?;
        port.wait_for_listener(&browser, "the browser").await?;
        tracing::debug!(%inspected, "a browser and its driver listen");
        let capabilities = self.capabilities(context);
        let made = remote.new_session(&capabilities).await;
        let (session, created) = match made {
            Ok(made) => made,
            Err(error) => {
                return Err(Error::LaunchFailed {
                    reason: error.to_string(),
                    log: format!(
                        "<launching> {}\n{}{}",
                        self.options.executable.display(),
                        browser.recent_output().await,
                        driver.recent_output().await
                    ),
                });
            }
        };
        tracing::debug!(session = session.id(), "a driver has its browser");
        let text = |name: &str| {
            let value = created.capabilities.get(name).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        Ok(Started {
            channel: connect_inspector(inspected, relay).await?,
            session,
            sources: [browser, driver]
                .map(|process| Source::Started(Arc::new(process)))
                .into(),
            downloads,
            product: format!("WebKit/{}", text("browserVersion")),
        })
    }

    fn display(&self) -> MutexGuard<'_, Option<Arc<Display>>> {
        self.display.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the browser has a visible window.
    fn is_headed(&self) -> bool {
        self.options.display && !self.options.headless
    }

    fn disables_scrollbar_animation(&self) -> bool {
        !self.is_headed() && !self.fading.load(Relaxed)
    }

    /// Returns the name of the virtual display, if one is needed.
    async fn screen(&self) -> Result<Option<String>> {
        if self.is_headed() {
            return Ok(None);
        }
        let display = Display::shared().await?;
        let name = display.name.clone();
        *self.display() = Some(display);
        Ok(Some(name))
    }

    /// Starts a driver that connects to the relay instead of the browser.
    async fn driver(&self, relay: SocketAddr) -> Result<(Process, RemoteEnd)> {
        let port = ReservedPort::new()?;
        let address = port.address();
        let args = [
            // By default, it also listens on ::1, where the port may be in use.
            format!("--host={}", address.ip()),
            format!("--port={}", address.port()),
            format!("--target={relay}"),
        ];
        let (driver, _) = Process::start(DRIVER, Path::new(DRIVER), &args, &[], temporary()?)
            .await
            .map_err(|error| {
                launch_error(&format!(
                    "{error}\nWebKit needs its driver, {DRIVER}: run `playhouse install webkit`."
                ))
            })?;
        port.wait_for_listener(&driver, "the driver").await?;
        tracing::debug!(%address, "a driver listens");
        let remote = RemoteEnd::new(&format!("http://{address}"), &[])?;
        Ok((driver, remote))
    }

    fn arguments(&self, context: &ContextOptions) -> Vec<String> {
        // Popups are allowed as for other browsers with a driver.
        let mut args = vec![
            "--automation".to_owned(),
            "--javascript-can-open-windows-automatically=true".to_owned(),
            // A document in the back/forward cache does not respond to the driver, not even with an error.
            "--enable-page-cache=false".to_owned(),
        ];
        if self.disables_scrollbar_animation() {
            args.push(format!("--features=+{MOCK_SCROLLBARS}"));
        }
        // Not as a capability of the session, which makes https requests fail and does not support SOCKS.
        if let Some(proxy) = context.proxy.as_ref().or(self.options.proxy.as_ref()) {
            args.push(format!("--proxy={}", proxy.server));
        }
        if self.options.is_confined {
            args.extend(CONFINED.iter().map(|&switch| switch.to_owned()));
        }
        args.retain(|arg| !self.options.ignore_default_args.contains(arg));
        args.extend(self.options.args.iter().cloned());
        args
    }

    fn environment(
        &self,
        home: &Path,
        inspected: SocketAddr,
        context: &ContextOptions,
        display: Option<String>,
    ) -> Vec<(String, String)> {
        let below = |name: &str| home.join(name).display().to_string();
        let mut env: Vec<(String, String)> = [
            ("WEBKIT_INSPECTOR_SERVER", inspected.to_string()),
            ("XDG_CONFIG_HOME", below("config")),
            ("XDG_DATA_HOME", below("data")),
            ("XDG_CACHE_HOME", below("cache")),
            ("XDG_STATE_HOME", below("state")),
            // No requests to a desktop environment.
            ("NO_AT_BRIDGE", "1".to_owned()),
            ("GTK_A11Y", "none".to_owned()),
            ("GIO_USE_VFS", "local".to_owned()),
            ("GSETTINGS_BACKEND", "memory".to_owned()),
            ("GDK_BACKEND", "x11".to_owned()),
            ("DBUS_SESSION_BUS_ADDRESS", "disabled:".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let mut set = |name: &str, value: String| env.push((name.to_owned(), value));
        if let Some(display) = display {
            set("DISPLAY", display);
            // A virtual display has no GPU, and emulating one is slower than painting in the thread of the page.
            set("WEBKIT_SKIA_ENABLE_CPU_RENDERING", "1".to_owned());
            set("WEBKIT_SKIA_CPU_PAINTING_THREADS", "0".to_owned());
        }
        let locale = context.locale.as_deref().unwrap_or("en-US");
        set("LANGUAGE", locale.replace('-', "_"));
        set("LANG", format!("{}.UTF-8", locale.replace('-', "_")));
        if let Some(zone) = &context.timezone {
            set("TZ", zone.clone());
        }
        env.extend(self.options.env.iter().cloned());
        env
    }

    fn capabilities(&self, context: &ContextOptions) -> Value {
        let mut wanted = json!({
            "unhandledPromptBehavior": "ignore",
            "pageLoadStrategy": "none",
            "timeouts": { "script": null, "pageLoad": 300_000, "implicit": 0 },
            "webkitgtk:browserOptions": {
                "binary": self.options.executable.display().to_string(),
                "args": self.arguments(context),
            },
        });
        if context.ignore_https_errors {
            wanted["acceptInsecureCerts"] = true.into();
        }
        json!({ "alwaysMatch": wanted })
    }
}

/// Connects to the inspector of the browser.
async fn connect_inspector(inspected: SocketAddr, relay: Relay) -> Result<InspectorChannel> {
    let (inspector, events) = Inspector::connect(inspected).await.map_err(|error| {
        launch_error(&format!(
            "{error}\nPlayhouse drives WebKit with its remote inspector, which does not respond. Install the WebKit of your distribution \
             with `playhouse install webkit`, or use another browser."
        ))
    })?;
    Ok(InspectorChannel {
        inspector,
        events,
        relay,
    })
}

/// Creates the user folders for the browser; returns the one for downloads.
fn prepare(home: &Path) -> Result<PathBuf> {
    let downloads = home.join("downloads");
    let config = home.join("config");
    let made = || -> std::io::Result<()> {
        for folder in [&downloads, &config] {
            std::fs::create_dir_all(folder)?;
        }
        let line = format!("XDG_DOWNLOAD_DIR=\"{}\"\n", downloads.display());
        std::fs::write(config.join("user-dirs.dirs"), line)
    };
    made().map_err(|error| Error::File {
        path: home.display().to_string(),
        reason: error.to_string(),
    })?;
    Ok(downloads)
}

fn temporary() -> Result<Profile> {
    Profile::temporary().map_err(|error| launch_error(&error))
}

fn launch_error(error: &dyn std::fmt::Display) -> Error {
    Error::LaunchFailed {
        reason: error.to_string(),
        log: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn an_inspector_that_does_not_respond_is_a_launch_error() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let relay = Relay::start(address).await.expect("a relay");
        let closing = async { drop(listener.accept().await) };
        let (connected, ()) = tokio::join!(connect_inspector(address, relay), closing);
        let error = connected.err().expect("no inspector");
        let is_explained = matches!(&error, Error::LaunchFailed { reason, .. } if reason.contains("remote inspector"));
        assert!(is_explained, "{error:?}");
    }
}
