//! Launching WebKit, with a virtual display if needed.

use super::LaunchOptions;
use super::display::Display;
use super::port::ReservedPort;
use super::process::Process;
use super::profile::Profile;
use crate::backend::webkit::{Started, Starter, WebKitBrowser};
use crate::backend::{BrowserBackend, ContextOptions};
use crate::error::{Error, Result};
use crate::progress::Progress;
use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::select_ok;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use wire::webkit::{Automation, Event};

/// How long a start may take before another one is tried in parallel; it takes one second, and four on a busy machine.
const SLOW_START_TIMEOUT: Duration = Duration::from_secs(10);
/// Invisible scroll bars fade for seconds after each load and scroll, and each step repaints the page without a graphics card: three
/// quarters of a core. This feature of WebKit's own tests prevents that.
const MOCK_SCROLLBARS: &str = "MockScrollbarsController";
/// The style of the bar in which the browser lists downloads. It would take 50 pixels of each page for each download.
const STYLE: &str = "infobar { margin: -16000px 0; }";
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
    // The browsers have temporary ones.
    let profile = match options.user_data_dir {
        Some(_) => Some(super::chromium::profile(progress, options).await?),
        None => None,
    };
    let starter = WebKit {
        options: options.clone(),
        profile: Mutex::new(profile),
        display: Mutex::default(),
        fading: AtomicBool::new(false),
    };
    progress.run(WebKitBrowser::start(starter)).await
}

struct WebKit {
    options: LaunchOptions,
    /// The persistent profile, which belongs to this process alone until the browsers have ended.
    profile: Mutex<Option<Profile>>,
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

    fn profile(&self) -> Option<PathBuf> {
        self.options.user_data_dir.clone()
    }

    async fn end(&self) {
        let profile = self.profile.lock();
        drop(profile.unwrap_or_else(PoisonError::into_inner).take());
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
        let address = port.address();
        // The profile is removed with the browser: nothing is awaited in between.
        let profile = temporary()?;
        let home = profile.dir().to_owned();
        let downloads = prepare(&home)?;
        let args = self.arguments(context);
        let env = self.environment(&home, address, context, screen.as_deref());
        let executable = &self.options.executable;
        let (process, _) = Process::start("webkit", executable, &args, &env, profile).await?;
        let connection = port.connect(&process, "the browser").await?;
        tracing::debug!(%address, "a browser listens");
        let client = connection.local_addr();
        let (automation, events) = match automate(connection).await {
            Ok(connected) => connected,
            Err(Error::LaunchFailed { reason, .. }) => {
                return Err(Error::LaunchFailed {
                    reason,
                    log: format!(
                        "<launching> {}\n{}",
                        executable.display(),
                        process.recent_output().await
                    ),
                });
            }
            Err(error) => return Err(error),
        };
        // The browser itself connects to the inspector before it has a session.
        self.check_closed(client.and_then(|client| port.close(&process, client)))?;
        Ok(Started {
            automation,
            events,
            process,
            downloads,
        })
    }

    /// Checks that the inspector, which is closed now, has no connections but that of this process and those of the browser. Without
    /// restrictions, a browser is used even if the system does not permit to close it.
    fn check_closed(&self, is_alone: std::io::Result<bool>) -> Result<()> {
        let open = "other users of this machine can read and drive WebKit, because its inspector cannot be closed to them";
        match is_alone {
            Ok(true) => Ok(()),
            Ok(false) => Err(launch_error(
                &"another program connected to the inspector of WebKit while it started",
            )),
            Err(error) if self.options.is_confined => Err(launch_error(&format!(
                "{open} ({error}). Permit the system call, or use another browser: with `--safe`, rules about the network or a proxy, \
                 WebKit is refused."
            ))),
            Err(error) => {
                tracing::warn!("{open} ({error})");
                Ok(())
            }
        }
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

    /// Returns the virtual display, if one is needed.
    async fn screen(&self) -> Result<Option<Arc<Display>>> {
        if self.is_headed() {
            return Ok(None);
        }
        let display = Display::shared().await?;
        *self.display() = Some(display.clone());
        Ok(Some(display))
    }

    fn arguments(&self, context: &ContextOptions) -> Vec<String> {
        // Popups are allowed as in other browsers under automation.
        let mut args = vec![
            "--automation".to_owned(),
            "--javascript-can-open-windows-automatically=true".to_owned(),
            // A document in the back/forward cache does not respond, not even with an error.
            "--enable-page-cache=false".to_owned(),
        ];
        if self.disables_scrollbar_animation() {
            args.push(format!("--features=+{MOCK_SCROLLBARS}"));
        }
        // Not as a capability of the session, which makes https requests fail and does not support SOCKS.
        if let Some(proxy) = context.proxy.as_ref().or(self.options.proxy.as_ref()) {
            args.push(format!("--proxy={}", proxy.server));
        }
        if context.ignore_https_errors {
            args.push("--ignore-tls-errors".to_owned());
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
        address: SocketAddr,
        context: &ContextOptions,
        display: Option<&Display>,
    ) -> Vec<(String, String)> {
        let below = |name: &str| home.join(name).display().to_string();
        let mut env: Vec<(String, String)> = [
            ("WEBKIT_INSPECTOR_SERVER", address.to_string()),
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
            for (name, value) in display.environment() {
                set(name, value);
            }
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
}

/// Starts the automation session of the browser.
async fn automate(connection: TcpStream) -> Result<(Automation, mpsc::Receiver<Event>)> {
    Automation::start(connection).await.map_err(|error| {
        launch_error(&format!(
            "{error}\nPlayhouse drives WebKit with its automation session, which this browser does not start. Install the WebKit of your \
             distribution with `playhouse install webkit`, or use another browser."
        ))
    })
}

/// Creates the user folders for the browser; returns the one for downloads.
fn prepare(home: &Path) -> Result<PathBuf> {
    let downloads = home.join("downloads");
    let config = home.join("config");
    let style = config.join("gtk-3.0");
    let made = || -> std::io::Result<()> {
        for folder in [&downloads, &style] {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(style.join("gtk.css"), STYLE)?;
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
    async fn a_browser_without_an_automation_session_is_a_launch_error() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let connection = TcpStream::connect(address).await.expect("it listens");
        drop(listener.accept().await);
        let connected = automate(connection).await;
        let error = connected.err().expect("no session");
        let is_explained = matches!(&error, Error::LaunchFailed { reason, .. } if reason.contains("automation session"));
        assert!(is_explained, "{error:?}");
    }
}
