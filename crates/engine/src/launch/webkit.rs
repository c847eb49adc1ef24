//! Starting a WebKit: its browser, the driver beside it, and between the two us, so that we hear what the driver is told.

use super::LaunchOptions;
use super::display::Display;
use super::process::Process;
use super::profile::Profile;
use super::source::Source;
use crate::backend::webdriver::{InspectorChannel, Started, Starter, WebDriverBrowser};
use crate::backend::{BrowserBackend, ContextOptions};
use crate::error::{Error, Result};
use crate::progress::Progress;
use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::select_ok;
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use wire::inspector::{Inspector, Relay};
use wire::webdriver::{RemoteEnd, WebDriverSession};

/// The driver, a command of the same package.
const DRIVER: &str = "WebKitWebDriver";
/// How often something that starts is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// How long a start may take before another one is tried beside it; it takes one second, and four on a busy machine.
const SLOW_START_TIMEOUT: Duration = Duration::from_secs(10);
/// Scroll bars that nobody sees fade for seconds after each load and scroll, and each step paints the page anew, without a graphics card:
/// three quarters of a core. With this feature of WebKit's own tests they stay as they are.
const MOCK_SCROLLBARS: &str = "MockScrollbarsController";
/// What keeps a browser from connecting past its proxy: WebRTC, and queries of DNS servers.
const CONFINED: &[&str] = &[
    "--enable-webrtc=false",
    "--enable-media-stream=false",
    "--enable-dns-prefetching=false",
];
/// How long a browser or a driver may take to listen.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) async fn launch(
    progress: &Progress,
    options: &LaunchOptions,
) -> Result<Arc<dyn BrowserBackend>> {
    let starter = WebKit {
        options: options.clone(),
        display: Mutex::default(),
        fading: AtomicBool::new(false),
    };
    progress
        .run(WebDriverBrowser::start(Box::new(starter)))
        .await
}

struct WebKit {
    options: LaunchOptions,
    /// A screen of ours, if there is none to be seen.
    display: Mutex<Option<Arc<Display>>>,
    /// Scroll bars fade: this browser has no way to keep them from it.
    fading: AtomicBool,
}

#[async_trait]
impl Starter for WebKit {
    async fn start(&self, context: &ContextOptions) -> Result<Started> {
        let asked = self.disables_scrollbar_animation();
        match self.start_with_timeout(context).await {
            // A browser ends at once when it is told of a feature that it does not have.
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
        // Seen once in a hundred times; which of the programs it was is not known.
        tracing::warn!("WebKit does not get ready: another one is started beside it");
        let (started, _) = select_ok([first, self.attempt(context).boxed()]).await?;
        Ok(started)
    }

    async fn attempt(&self, context: &ContextOptions) -> Result<Started> {
        let screen = self.screen().await?;
        tracing::debug!(?screen, "a browser starts");
        let inspected = free_address().await?;
        let relay = Relay::start(inspected).await?;
        // It goes with the browser: nothing is waited for in between.
        let profile = temporary()?;
        let home = profile.dir().to_owned();
        let downloads = prepare(&home)?;
        let args = self.arguments(context);
        let env = self.environment(&home, inspected, context, screen);
        let browser = Process::start(&self.options.executable, &args, &env, profile);
        let driven = self.driver(relay.address());
        let ((browser, _), (driver, remote)) = tokio::try_join!(browser, driven)?;
        listens(inspected, &browser, "the browser").await?;
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
            inspector_channel: connect_inspector(inspected, relay, &session).await,
            session,
            sources: [browser, driver]
                .map(|process| Source::Started(Arc::new(process)))
                .into(),
            downloads: Some(downloads),
            product: format!("WebKit/{}", text("browserVersion")),
        })
    }

    fn display(&self) -> MutexGuard<'_, Option<Arc<Display>>> {
        self.display.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it has a window that a user can see.
    fn is_headed(&self) -> bool {
        self.options.display && !self.options.headless
    }

    fn disables_scrollbar_animation(&self) -> bool {
        !self.is_headed() && !self.fading.load(Relaxed)
    }

    /// The name of the screen of ours, where there is to be one.
    async fn screen(&self) -> Result<Option<String>> {
        if self.is_headed() {
            return Ok(None);
        }
        let display = Display::shared().await?;
        let name = display.name.clone();
        *self.display() = Some(display);
        Ok(Some(name))
    }

    /// A driver that takes us for the browser.
    async fn driver(&self, relay: SocketAddr) -> Result<(Process, RemoteEnd)> {
        let address = free_address().await?;
        let args = [
            format!("--port={}", address.port()),
            format!("--target={relay}"),
        ];
        let (driver, _) = Process::start(Path::new(DRIVER), &args, &[], temporary()?)
            .await
            .map_err(|error| {
                launch_error(&format!(
                    "{error}\nWebKit needs its driver, {DRIVER}: run `playhouse install webkit`."
                ))
            })?;
        listens(address, &driver, "the driver").await?;
        tracing::debug!(%address, "a driver listens");
        let remote = RemoteEnd::new(&format!("http://{address}"), &[])?;
        Ok((driver, remote))
    }

    fn arguments(&self, context: &ContextOptions) -> Vec<String> {
        // Whether a window may open is the page's business, as it is with other browsers under a driver.
        let mut args = vec![
            "--automation".to_owned(),
            "--javascript-can-open-windows-automatically=true".to_owned(),
            // A document that goes into the browser's memory answers nothing any more, not even that it is gone.
            "--enable-page-cache=false".to_owned(),
        ];
        if self.disables_scrollbar_animation() {
            args.push(format!("--features=+{MOCK_SCROLLBARS}"));
        }
        // Not as a capability of the session: that one makes requests of https fail, and leaves SOCKS out.
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
            // Nothing that asks a desktop, or starts a part of one.
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

/// Begins to hear of the browser's pages. Where that fails there is the driver still.
async fn connect_inspector(
    inspected: SocketAddr,
    relay: Relay,
    session: &WebDriverSession,
) -> Option<InspectorChannel> {
    match Inspector::connect(inspected).await {
        Ok((inspector, events)) => Some(InspectorChannel {
            inspector,
            events,
            relay,
        }),
        Err(error) => {
            tracing::warn!(%error, session = session.id(), "WebKit's inspector cannot be used");
            None
        }
    }
}

/// Makes the folders that the browser is to take for its user's; answers the one for downloads.
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

/// An address that nobody listens at.
pub(super) async fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.map_err(|error| launch_error(&error))?;
    listener.local_addr().map_err(|error| launch_error(&error))
}

/// Waits until a process listens.
pub(super) async fn listens(address: SocketAddr, process: &Process, name: &str) -> Result<()> {
    let listening = async {
        while TcpStream::connect(address).await.is_err() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    let gone = |reason: String, log: String| Error::LaunchFailed {
        reason: format!("{name} does not start ({reason})"),
        log,
    };
    tokio::select! {
        biased;
        listening = tokio::time::timeout(LISTEN_TIMEOUT, listening) => match listening {
            Ok(()) => Ok(()),
            Err(_) => Err(gone("it does not listen".to_owned(), process.recent_output().await)),
        },
        reason = process.exit() => Err(gone(reason, process.recent_output().await)),
    }
}
