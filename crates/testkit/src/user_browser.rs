//! A user with a browser of their own, in which Playhouse's extension is installed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use wire::cdp::{runtime, target};
use wire::{Connection, Session};

use crate::eventually;
use crate::remote::RemoteBrowser;

/// How long the browser may take to accept a connection.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A program that takes the place of a browser: it records the pages that it is to open.
pub struct BrowserOpener {
    folder: TempDir,
}

/// A user's browser with Playhouse's extension. It is killed when this is dropped.
pub struct UserBrowser {
    connection: Connection,
    _browser: RemoteBrowser,
}

impl Default for BrowserOpener {
    fn default() -> Self {
        Self::new()
    }
}

impl BrowserOpener {
    /// Creates the program, which ends at once.
    pub fn new() -> Self {
        Self::with_end("exit")
    }

    /// Creates a program that runs for minutes.
    pub fn staying() -> Self {
        Self::with_end("exec sleep 300")
    }

    fn with_end(end: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let opener = Self { folder };
        let pages = opener.folder.path().display();
        let script = format!(
            "#!/bin/sh\nfor page; do :; done\nprintf %s \"$page\" > {pages}/$$.new && mv {pages}/$$.new {pages}/$$.page\n{end}\n"
        );
        fs::write(opener.program(), script).expect("it can be written");
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(opener.program(), executable).expect("it is ours");
        opener
    }

    /// Returns the path of the program.
    pub fn program(&self) -> PathBuf {
        self.folder.path().join("browser")
    }

    /// Returns the number of pages that are to be opened.
    pub fn count(&self) -> usize {
        self.paths().len()
    }

    fn paths(&self) -> Vec<PathBuf> {
        let entries = self.folder.path().read_dir().expect("it can be listed");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths
            .filter(|path| path.extension().is_some_and(|name| name == "page"))
            .collect()
    }

    /// Waits until a page is to be opened, and returns its URL.
    pub async fn page(&self) -> String {
        self.page_and_process().await.0
    }

    /// Like [`Self::page`], with the number of the process.
    pub async fn page_and_process(&self) -> (String, u32) {
        let path = eventually(async || self.paths().pop()).await;
        let page = fs::read_to_string(&path).expect("it can be read");
        fs::remove_file(&path).expect("it can be removed");
        let process = path.file_stem().and_then(|name| name.to_str());
        let process = process.and_then(|number| number.parse().ok());
        (page, process.expect("the name is the number"))
    }
}

impl UserBrowser {
    /// The identifier of Playhouse's extension.
    pub const EXTENSION: &str = "iikfcfnjnlhkghcdknhannpglcpmcpmi";

    /// Starts a browser with the extension.
    pub async fn start() -> Self {
        let browser = RemoteBrowser::with_extension(&Self::folder()).await;
        Self {
            connection: connect(&browser.web_socket()).await,
            _browser: browser,
        }
    }

    fn folder() -> String {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../extension");
        let folder = folder.canonicalize().expect("it is in the repository");
        folder.display().to_string()
    }

    /// Opens a page.
    pub async fn open(&self, url: &str) -> Session {
        let create = target::CreateTarget {
            url: url.to_owned(),
            ..Default::default()
        };
        let created = self.connection.root().call(&create).await;
        self.attach(created.expect("it opens").target_id).await
    }

    /// Returns the URLs of all pages.
    pub async fn urls(&self) -> Vec<String> {
        let pages = self.pages().await.into_iter();
        pages.map(|page| page.url).collect()
    }

    async fn pages(&self) -> Vec<target::TargetInfo> {
        let (root, list) = (self.connection.root(), target::GetTargets::default());
        let targets = root.call(&list).await;
        let mut pages = targets.expect("it answers").target_infos;
        pages.retain(|page| page.kind == "page");
        pages
    }

    async fn attach(&self, target_id: String) -> Session {
        let attach = target::AttachToTarget {
            target_id,
            flatten: Some(true),
        };
        let attached = self.connection.root().call(&attach).await;
        self.connection
            .session(attached.expect("it attaches").session_id.as_str())
    }

    /// Returns the value of an expression in a page.
    pub async fn evaluate(&self, page: &Session, expression: &str) -> Value {
        let evaluate = runtime::Evaluate {
            expression: expression.to_owned(),
            return_by_value: Some(true),
            await_promise: Some(true),
            user_gesture: Some(true),
            ..Default::default()
        };
        let answer = page.call(&evaluate).await.expect("it answers");
        assert!(
            answer.exception_details.is_none(),
            "{expression}: {:?}",
            answer.exception_details
        );
        let value = answer.result.value;
        value.map_or(Value::Null, |value| {
            serde_json::from_str(value.get()).expect("it is JSON")
        })
    }

    /// Clicks the first button of a page of the extension with that text, beside a text if one is given.
    pub async fn click(&self, page: &Session, button: &str, beside: &str) {
        let click = format!(
            "(() => {{ const button = [...document.querySelectorAll('button')].find((button) =>
                button.checkVisibility() && button.textContent === {button:?} && button.parentElement.textContent.includes({beside:?}));
                button?.click(); return !!button; }})()"
        );
        eventually(async || self.evaluate(page, &click).await == true).await;
    }

    /// Allows a connection that the extension's page requests: in the tab with that URL, or in a new one.
    pub async fn allow(&self, page: &str, tab: Option<&str>) {
        let page = self.open(page).await;
        match tab {
            Some(url) => self.click(&page, "Allow", url).await,
            None => self.click(&page, "Allow in a new tab", "").await,
        }
    }
}

async fn connect(address: &str) -> Connection {
    let connected = Connection::websocket(address, &[], TIMEOUT).await;
    connected.expect("it listens").0
}
