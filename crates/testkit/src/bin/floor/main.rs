//! The floor of the benchmark: the least that can stand between a client and a browser. It speaks
//! just enough MCP over stdio to be driven like a server, and the Chrome DevTools Protocol raw,
//! without waiting for anything, retrying anything, or checking anything.
//!
//! `floor BROWSER`: nobody should use it for more than comparing with it.

mod browser;

use std::io::Write as _;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

use browser::Browser;

#[tokio::main]
async fn main() {
    let program = std::env::args().nth(1).expect("usage: floor BROWSER");
    let mut browser = None;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).expect("a line is JSON");
        let Some(id) = message.get("id") else {
            continue;
        };
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "floor", "version": "0" },
            }),
            Some("tools/list") => json!({ "tools": [] }),
            _ => {
                if browser.is_none() {
                    browser = Some(Browser::launch(&program).await);
                }
                let browser = browser.as_ref().expect("was launched just now");
                let params = &message["params"];
                let name = params["name"].as_str().unwrap_or_default();
                let content = match browser.call(name, &params["arguments"]).await {
                    Ok(content) => content,
                    Err(error) => json!({ "type": "text", "text": error.to_string() }),
                };
                json!({ "content": [content] })
            }
        };
        let mut line = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
        line.push('\n');
        let mut stdout = std::io::stdout().lock();
        // A client that has gone closes stdin too.
        drop(stdout.write_all(line.as_bytes()));
        drop(stdout.flush());
    }
}
