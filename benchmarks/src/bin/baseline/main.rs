//! The baseline of the benchmark: the minimum between a client and a Chromium. It implements enough of MCP over stdio to be called like a
//! server, and uses the Chrome DevTools Protocol directly. It retries nothing, and waits only for what a command itself waits for.
//!
//! `baseline BROWSER` is for comparisons only.
#![expect(clippy::print_stdout, reason = "it carries the protocol")]

mod page;

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;
use tokio::sync::{Mutex, OnceCell};
use tokio::task::JoinSet;
use wire::Connection;
use wire::cdp::target::{CreateBrowserContext, DisposeBrowserContext};

use page::Page;

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
/// Runs a browser whose pipes are standard input and output.
const SHELL: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";

/// A browser, which ends with its pipe.
struct Browser {
    connection: Connection,
    /// The pages by the id of their context, which is empty for the first.
    pages: Mutex<HashMap<String, Arc<Page>>>,
    _tasks: JoinSet<()>,
    _process: Child,
    _profile: TempDir,
}

#[tokio::main]
async fn main() {
    let program = std::env::args().nth(1).expect("usage: baseline BROWSER");
    let (program, browser) = (Arc::new(program), Arc::new(OnceCell::new()));
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut tasks = JoinSet::new();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).expect("a line is JSON");
        if message.get("id").is_none() {
            continue;
        }
        let (browser, program) = (Arc::clone(&browser), Arc::clone(&program));
        tasks.spawn(async move {
            let params = &message["params"];
            let result = match message["method"].as_str() {
                Some("initialize") => json!({
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": { "tools": {} },
                    "serverInfo": { "name": "baseline", "version": "0" },
                }),
                Some("tools/list") => json!({ "tools": [] }),
                _ => {
                    let browser = browser.get_or_init(|| Browser::launch(&program)).await;
                    let tool = params["name"].as_str().unwrap_or_default();
                    let done = browser.call(tool, &params["arguments"]).await;
                    let is_error = done.is_err();
                    let text = |text: String| json!({ "type": "text", "text": text });
                    let content = done.unwrap_or_else(|error| text(error.to_string()));
                    json!({ "content": [content], "isError": is_error })
                }
            };
            let message = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            println!("{message}");
        });
    }
}

impl Browser {
    async fn launch(program: &str) -> Self {
        let profile = tempfile::tempdir().expect("a temporary folder");
        #[expect(clippy::disallowed_methods, reason = "it ends with its pipe")]
        let mut command = tokio::process::Command::new("sh");
        command.args(["-c", SHELL, program]).args(SWITCHES);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.kill_on_drop(true).spawn().expect("a shell");
        let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
        let (stdin, stdout) = stdin.zip(stdout).expect("both are piped");
        let writer = stdin.into_owned_fd().expect("a pipe");
        let reader = stdout.into_owned_fd().expect("a pipe");
        let connection = Connection::pipe(reader, writer);
        let (connection, mut events) = connection.expect("pipes can be read and written");
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

    /// Runs the operation of a tool in the page of its session, a browser context; returns one content item.
    async fn call(&self, tool: &str, arguments: &Value) -> wire::Result<Value> {
        let id = arguments["sessionId"].as_str().unwrap_or_default();
        let root = self.connection.root();
        let text = |text: &str| json!({ "type": "text", "text": text });
        match tool {
            "create_session" => {
                let create = CreateBrowserContext::default();
                let id = root.call(&create).await?.browser_context_id;
                let page = Page::open(&self.connection, Some(id.clone())).await?;
                let answer = text(&id);
                self.pages.lock().await.insert(id, Arc::new(page));
                Ok(answer)
            }
            "close_session" => {
                self.pages.lock().await.remove(id);
                let browser_context_id = id.to_owned();
                let close = DisposeBrowserContext { browser_context_id };
                root.call(&close).await?;
                Ok(text("ok"))
            }
            _ => {
                let page = self.pages.lock().await.get(id).cloned();
                page.expect("a session").call(tool, arguments).await
            }
        }
    }
}
