//! The cost of a Selenium Grid: the same calls with browsers that the server launches, and with browsers of a local grid of two nodes.

use std::time::Instant;

use serde_json::{Value, json};
use testkit::{Client, Grid, Site};

use crate::markdown::figure;
use crate::milliseconds;
use crate::samples::Samples;

/// The number of rounds, each with its own session.
const ROUNDS: usize = 5;
/// The metrics, in the order of the table, their tools, and the number of calls in a round.
const METRICS: [(&str, &str, usize); 4] = [
    ("session", "create_session", 1),
    ("navigate", "navigate", 10),
    ("click", "click", 10),
    ("snapshot", "browser_snapshot", 10),
];
const PAGE: &str = "<!doctype html><title>Counter</title><h1>Counter</h1><button onclick=\"this.textContent = +this.textContent + 1\">0</button>";

/// Prints a table in Markdown, and the distribution of sessions.
pub(crate) async fn run() -> Result<(), String> {
    let grid = Grid::start(2).await;
    let site = Site::start().await;
    let url = site.add_page("/", PAGE);
    println!("| | local | grid | |\n|---|--:|--:|---|");
    for browser in ["chromium", "firefox"] {
        let mut samples = Samples::default();
        for round in 0..ROUNDS {
            for server in ["local", "grid"] {
                let client = start((server == "grid").then(|| grid.endpoint())).await;
                let mut session = Value::Null;
                for (metric, tool, calls) in METRICS {
                    let arguments = match metric {
                        "session" => json!({ "browser": browser }),
                        "navigate" => json!({ "sessionId": session, "url": url }),
                        "click" => json!({ "sessionId": session, "selector": "button" }),
                        _ => json!({ "sessionId": session }),
                    };
                    for _ in 0..calls {
                        let start = Instant::now();
                        let answer = client.call(tool, arguments.clone()).await;
                        samples.add((metric, server), round, milliseconds(start));
                        if answer.is_error {
                            return Err(answer.text);
                        }
                        if metric == "session" {
                            session = answer.raw["structuredContent"]["sessionId"].clone();
                        }
                    }
                }
                client.end().await;
            }
        }
        for (metric, ..) in METRICS {
            let medians = ["local", "grid"].map(|server| samples.median(metric, server));
            let [local, grid] = medians.map(|median| figure(median, "ms"));
            let ratio = samples.ratio(metric, "grid", "local").unwrap_or_default();
            println!("| {browser}: {metric} | {local} | {grid} | {ratio:.1} × |");
        }
    }
    let client = start(Some(grid.endpoint())).await;
    for _ in 0..4 {
        client.create_session(json!({})).await;
    }
    println!("\nFour sessions on two nodes: {:?}.", grid.sessions().await);
    client.end().await;
    Ok(())
}

async fn start(endpoint: Option<String>) -> Client {
    let mut args = vec!["--no-sandbox", "--toolsets", "browser,session"];
    if let Some(endpoint) = &endpoint {
        args.extend(["--webdriver-endpoint", endpoint]);
    }
    crate::server(&args).start().await
}
