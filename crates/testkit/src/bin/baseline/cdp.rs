//! The baseline for Chromium, with the Chrome DevTools Protocol: a browser and its pages, each but the first in its own browser context.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Child;
use tokio::task::JoinSet;
use wire::Connection;
use wire::cdp::target;

use crate::tools::{self, text};
use page::Page;

mod page;

/// A browser, which ends with its pipe.
pub(crate) struct Browser {
    connection: Connection,
    /// The pages by the id of their context, which is empty for the first.
    pages: Mutex<HashMap<String, Arc<Page>>>,
    _tasks: JoinSet<()>,
    _process: Child,
    _profile: TempDir,
}

const SWITCHES: [&str; 8] = [
    "--headless",
    "--no-sandbox",
    "--remote-debugging-pipe",
    "--no-startup-window",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-dev-shm-usage",
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
];

impl Browser {
    pub(crate) async fn launch(program: &str) -> Self {
        let profile = tempfile::Builder::new()
            .prefix("testkit-floor-")
            .tempdir()
            .expect("a temporary folder");
        #[expect(
            clippy::disallowed_methods,
            reason = "it ends with the pipe that we hold"
        )]
        let mut process = tokio::process::Command::new("sh")
            .args([
                "-c",
                "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1",
                program,
            ])
            .args(SWITCHES)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("a shell");
        let writer = process.stdin.take().expect("stdin is piped");
        let reader = process.stdout.take().expect("stdout is piped");
        let (connection, mut events) = Connection::pipe(
            reader.into_owned_fd().expect("a pipe"),
            writer.into_owned_fd().expect("a pipe"),
        )
        .expect("pipes can be read and written");
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { while events.next().await.is_some() {} });
        let first = Page::open(&connection, None).await.expect("a page");
        Self {
            connection,
            pages: Mutex::new(HashMap::from([(String::new(), Arc::new(first))])),
            _tasks: tasks,
            _process: process,
            _profile: profile,
        }
    }

    /// Runs the operation of a tool in the page of its `context`; returns one content item.
    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> wire::Result<Value> {
        let name = arguments["context"].as_str().unwrap_or_default();
        match tool {
            "open" => self.open().await,
            "close" => self.close(name).await,
            _ => {
                let page = self.pages().get(name).cloned();
                match page {
                    Some(page) => tools::call(&*page, tool, arguments).await,
                    None => Ok(text(&format!("no context {name}"))),
                }
            }
        }
    }

    /// Opens a page in a new context, and returns the context's id.
    async fn open(&self) -> wire::Result<Value> {
        let root = self.connection.root();
        let context = root.call(&target::CreateBrowserContext::default()).await?;
        let name = context.browser_context_id;
        let page = Page::open(&self.connection, Some(name.clone())).await?;
        let value = text(&name);
        self.pages().insert(name, Arc::new(page));
        Ok(value)
    }

    async fn close(&self, name: &str) -> wire::Result<Value> {
        let page = self.pages().remove(name);
        if let Some(context) = page.and_then(|page| page.context.clone()) {
            let gone = target::DisposeBrowserContext {
                browser_context_id: context,
            };
            self.connection.root().call(&gone).await?;
        }
        Ok(text("ok"))
    }

    fn pages(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Page>>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
