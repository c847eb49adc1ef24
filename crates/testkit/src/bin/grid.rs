//! Measures the cost of a Selenium Grid: the same calls with browsers that the server launches, and with browsers of a local grid of two
//! nodes. Prints a table in Markdown, and the distribution of sessions.
#![expect(clippy::print_stdout, reason = "it is a table")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Client, Grid, Launch, Site};

/// The number of rounds, each with its own session.
const ROUNDS: usize = 5;
/// The number of calls of each kind in a round.
const CALLS: usize = 10;

/// The metrics, in the order of the table.
const ROWS: [&str; 4] = ["session", "navigate", "click", "snapshot"];

#[tokio::main]
async fn main() -> ExitCode {
    let grid = Grid::start(2).await;
    let site = Site::start().await;
    let url = site.add_page(
        "/",
        "<!doctype html><title>Here</title><h1>Counter</h1><button onclick=\"this.textContent = +this.textContent + 1\">0</button>",
    );
    println!("| | here | on a grid | |\n|---|--:|--:|--:|");
    for browser in ["chromium", "firefox"] {
        let mut samples: [[Vec<f64>; ROWS.len()]; 2] = Default::default();
        for _ in 0..ROUNDS {
            for (place, samples) in samples.iter_mut().enumerate() {
                let endpoint = (place == 1).then(|| grid.endpoint());
                round(browser, endpoint, &url, samples).await;
            }
        }
        let [here, there] = samples.map(|samples| samples.map(median));
        for (row, (here, there)) in ROWS.iter().zip(here.into_iter().zip(there)) {
            println!(
                "| {browser}: {row} | {here:.1} ms | {there:.1} ms | {:.1} × |",
                there / here
            );
        }
    }
    let client = server(Some(grid.endpoint())).await;
    for _ in 0..4 {
        client.success("create_session", json!({})).await;
    }
    println!("\nFour sessions on two nodes: {:?}.", grid.sessions().await);
    client.end().await;
    ExitCode::SUCCESS
}

/// Measures one session: its start with the launch of its browser, then calls.
async fn round(browser: &str, endpoint: Option<String>, url: &str, samples: &mut [Vec<f64>; 4]) {
    let client = server(endpoint).await;
    let began = Instant::now();
    let session = client
        .success("create_session", json!({ "browser": browser }))
        .await;
    samples[0].push(milliseconds(began));
    let id = session["sessionId"].clone();
    for _ in 0..CALLS {
        let began = Instant::now();
        client
            .success("navigate", json!({ "sessionId": id, "url": url }))
            .await;
        samples[1].push(milliseconds(began));
    }
    for _ in 0..CALLS {
        let began = Instant::now();
        let click = json!({ "sessionId": id, "selector": "button" });
        client.success("click", click).await;
        samples[2].push(milliseconds(began));
    }
    for _ in 0..CALLS {
        let began = Instant::now();
        let snapshot = client.call("browser_snapshot", json!({ "sessionId": id }));
        assert!(!snapshot.await.is_error);
        samples[3].push(milliseconds(began));
    }
    client.end().await;
}

async fn server(endpoint: Option<String>) -> Client {
    let beside = std::env::current_exe().expect("a program knows where it is");
    let mut args = vec![
        "--headless",
        "--isolated",
        "--no-sandbox",
        "--toolsets",
        "browser,session",
    ];
    let endpoint = endpoint.unwrap_or_default();
    if !endpoint.is_empty() {
        args.extend(["--webdriver-endpoint", &endpoint]);
    }
    Launch::new(beside.with_file_name("playhouse"))
        .args(args)
        .limit(Duration::from_secs(60))
        .start()
        .await
}

fn milliseconds(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1000.0
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
