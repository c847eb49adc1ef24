//! The baseline for WebKit, with WebDriver: its driver, a virtual display, and the one window of its browser.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::RwLock;
use wire::webdriver::action::PerformActions;
use wire::webdriver::element::{ElementClick, FindElement};
use wire::webdriver::navigation::NavigateTo;
use wire::webdriver::screenshot::TakeScreenshot;
use wire::webdriver::script::ExecuteScript;
use wire::webdriver::session::SetTimeouts;
use wire::webdriver::window::SetWindowRect;
use wire::webdriver::{RemoteEnd, WebDriverSession};

use crate::tools;

/// The window of a browser, which is replaced when a navigation finds it closed: the driver crashes occasionally.
pub(crate) struct Page {
    program: String,
    window: RwLock<Arc<Window>>,
}

/// A window. The browser ends with its driver, and the driver with this.
struct Window {
    session: WebDriverSession,
    _driver: Child,
    _screen: Child,
    _home: TempDir,
}

/// The interval between checks whether a starting driver listens.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

impl Page {
    /// Launches the browser `program` with the driver in the `PATH`.
    pub(crate) async fn launch(program: &str) -> Self {
        Self {
            program: program.to_owned(),
            window: RwLock::new(Arc::new(Window::launch(program).await)),
        }
    }

    async fn window(&self) -> Arc<Window> {
        Arc::clone(&*self.window.read().await)
    }
}

impl Window {
    async fn launch(program: &str) -> Self {
        let home = tempfile::Builder::new()
            .prefix("testkit-floor-")
            .tempdir()
            .expect("a temporary folder");
        let (screen, display) = screen().await;
        let port = testkit::unused_port();
        let driver = quiet("WebKitWebDriver")
            .args(["--host=127.0.0.1", &format!("--port={port}")])
            .env("DISPLAY", display)
            .env("XDG_CONFIG_HOME", home.path())
            .env("XDG_DATA_HOME", home.path())
            .env("XDG_CACHE_HOME", home.path())
            .env("NO_AT_BRIDGE", "1")
            .env("GTK_A11Y", "none")
            .env("GDK_BACKEND", "x11")
            .stdout(Stdio::null())
            .spawn()
            .expect("a WebKitWebDriver");
        let remote = RemoteEnd::new(&format!("http://127.0.0.1:{port}"), &[]).expect("a URL");
        while remote.status().await.is_err() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        let session = open(&remote, program).await.expect("a session");
        Self {
            session,
            _driver: driver,
            _screen: screen,
            _home: home,
        }
    }

    async fn open(&self, url: &str) -> wire::Result<()> {
        let url = url.to_owned();
        self.session.call(&NavigateTo { url }).await.map(drop)
    }

    async fn run(&self, script: String) -> wire::Result<Value> {
        let args = Vec::new();
        let answer = self.session.call(&ExecuteScript { script, args }).await?;
        Ok(serde_json::from_str(answer.get()).unwrap_or_default())
    }
}

/// Starts a virtual X display, and returns its name.
async fn screen() -> (Child, String) {
    let mut server = quiet("Xvfb")
        .args(["-displayfd", "1", "-screen", "0", "1920x1200x24"])
        .args(["-nolisten", "tcp", "-noreset"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("an Xvfb");
    let output = server.stdout.take().expect("it is piped");
    let number = BufReader::new(output).lines().next_line().await;
    let number = number.ok().flatten().expect("Xvfb says its number");
    (server, format!(":{number}"))
}

fn quiet(program: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "it ends when we do")]
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    command.kill_on_drop(true);
    command
}

async fn open(remote: &RemoteEnd, program: &str) -> wire::Result<WebDriverSession> {
    let args = [
        "--automation",
        // The driver treats a page in the back/forward cache as unresponsive, and ends the session.
        "--enable-page-cache=false",
        // As Playhouse sets it, so that the browser does the same work for both.
        "--features=+MockScrollbarsController",
    ];
    let options = json!({ "binary": program, "args": args });
    let wanted = json!({ "alwaysMatch": { "webkitgtk:browserOptions": options } });
    let (session, _) = remote.new_session(&wanted).await?;
    session.call(&SetTimeouts::default()).await?;
    let size = SetWindowRect {
        width: Some(1280),
        height: Some(758),
        ..Default::default()
    };
    session.call(&size).await?;
    Ok(session)
}

impl tools::Page for Page {
    async fn navigate(&self, url: &str) -> wire::Result<()> {
        if self.window().await.open(url).await.is_ok() {
            return Ok(());
        }
        *self.window.write().await = Arc::new(Window::launch(&self.program).await);
        self.window().await.open(url).await
    }

    async fn text(&self, expression: String) -> wire::Result<String> {
        // The result of several statements is that of the last one.
        let window = self.window().await;
        let output = window.run(format!("return eval({})", json!(expression)));
        Ok(output.await?.as_str().unwrap_or_default().to_owned())
    }

    /// The driver scrolls the element into view, and clicks unless another element covers it.
    async fn click(&self, selector: &str) -> wire::Result<()> {
        let found = FindElement {
            using: "css selector",
            value: selector.to_owned(),
        };
        let session = &self.window().await.session;
        let element = session.call(&found).await?;
        session.call(&ElementClick { element }).await.map(drop)
    }

    async fn key(&self, key: &str) -> wire::Result<()> {
        let actions = vec![tools::pressed(key)];
        let session = &self.window().await.session;
        session.call(&PerformActions { actions }).await.map(drop)
    }

    async fn screenshot(&self) -> wire::Result<Vec<u8>> {
        let session = &self.window().await.session;
        Ok(session.call(&TakeScreenshot {}).await?.0)
    }
}
