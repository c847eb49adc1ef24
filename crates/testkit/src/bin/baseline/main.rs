//! The baseline of the benchmark: the minimum between a client and a browser. It implements enough of MCP over stdio to be called like a
//! server, and uses the browser's protocol directly: the Chrome DevTools Protocol, WebDriver BiDi, or WebDriver. It retries nothing, and
//! waits only for what a command itself waits for.
//!
//! `baseline BROWSER` is for comparisons only.

mod bidi;
mod cdp;
mod tools;
mod webdriver;

use std::io::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::OnceCell;
use tokio::task::JoinSet;

/// A running browser, by its protocol.
enum Browser {
    Chromium(cdp::Browser),
    Firefox(bidi::Page),
    Webkit(webdriver::Page),
}

impl Browser {
    /// Selects the browser by the name of the program.
    async fn launch(program: &str) -> Self {
        if program.contains("firefox") {
            Self::Firefox(bidi::Page::launch(program).await)
        } else if program.contains("MiniBrowser") {
            Self::Webkit(webdriver::Page::launch(program).await)
        } else {
            Self::Chromium(cdp::Browser::launch(program).await)
        }
    }

    async fn call(&self, tool: &str, arguments: &Value) -> wire::Result<Value> {
        match self {
            Self::Chromium(browser) => browser.call(tool, arguments).await,
            Self::Firefox(page) => tools::call(page, tool, arguments).await,
            Self::Webkit(page) => tools::call(page, tool, arguments).await,
        }
    }
}

#[tokio::main]
async fn main() {
    let program = std::env::args().nth(1).expect("usage: baseline BROWSER");
    let browser = Arc::new(OnceCell::new());
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut answering = JoinSet::new();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).expect("a line is JSON");
        if message.get("id").is_none() {
            continue;
        }
        let (browser, program) = (Arc::clone(&browser), program.clone());
        answering.spawn(async move {
            let result = match message["method"].as_str() {
                Some("initialize") => json!({
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": { "tools": {} },
                    "serverInfo": { "name": "floor", "version": "0" },
                }),
                Some("tools/list") => json!({ "tools": [] }),
                _ => {
                    let browser = browser
                        .get_or_init(|| async { Browser::launch(&program).await })
                        .await;
                    call(browser, &message["params"]).await
                }
            };
            write(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
        });
    }
}

async fn call(browser: &Browser, params: &Value) -> Value {
    let name = params["name"].as_str().unwrap_or_default();
    match browser.call(name, &params["arguments"]).await {
        Ok(content) => json!({ "content": [content] }),
        Err(error) => json!({
            "content": [{ "type": "text", "text": error.to_string() }],
            "isError": true,
        }),
    }
}

fn write(message: &Value) {
    let mut line = message.to_string();
    line.push('\n');
    let mut stdout = std::io::stdout().lock();
    // A client that has disconnected closes stdin too.
    drop(stdout.write_all(line.as_bytes()));
    drop(stdout.flush());
}
