//! Integration tests of the built binary from the perspective of a client, in one test binary with a module per topic.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod accessibility;
mod answer_size;
#[cfg(target_os = "linux")]
mod app;
#[cfg(target_os = "linux")]
mod attacks;
mod audit;
mod auth;
mod bad_elements;
mod bad_input;
mod batch;
mod calls;
mod certificates;
mod cli;
#[cfg(target_os = "linux")]
mod clients;
#[cfg(target_os = "linux")]
mod command_line;
mod contexts;
#[cfg(target_os = "linux")]
mod corpus;
mod dashboard;
mod domains;
#[cfg(target_os = "linux")]
mod e2e;
mod engines;
#[cfg(unix)]
mod exported_tests;
#[cfg(target_os = "linux")]
mod extension;
#[cfg(target_os = "linux")]
mod external_protocols;
mod fake_browser;
#[cfg(target_os = "linux")]
mod faults;
mod files;
mod flags;
#[cfg(target_os = "linux")]
mod grid;
mod handover;
mod har;
mod hostile;
mod http;
mod init_pages;
mod key_server;
mod lifecycle;
#[cfg(target_os = "linux")]
mod names;
mod oauth;
mod origins;
#[cfg(unix)]
mod packages;
#[cfg(target_os = "linux")]
mod passwords;
mod pdf;
#[cfg(target_os = "linux")]
mod performance;
mod policy;
mod pool;
#[cfg(unix)]
mod principals;
mod profiles;
mod prompts;
#[cfg(target_os = "linux")]
mod properties;
mod protocol;
mod resources;
mod restrictions;
mod safe;
#[cfg(target_os = "linux")]
mod second_user;
mod secrets;
mod security;
mod session;
mod sessions;
mod settled;
mod shop;
mod shutdown;
mod side_by_side;
mod source_maps;
mod sse;
#[cfg(target_os = "linux")]
mod stalled;
mod streams;
mod telemetry;
mod tls;
mod traces;
#[cfg(target_os = "linux")]
mod video;
mod web_mcp;
mod web_socket;
#[cfg(target_os = "linux")]
mod webkit;
mod websites;
#[cfg(target_os = "linux")]
mod windows;

use serde_json::{Value, json};
use std::env;
use std::process::ExitCode;
use testkit::{Client, Engine, Launch, PooledClient, Site};

/// The variable with which this program is a server with a fake browser.
const FAKE_BROWSER: &str = "FAKE_BROWSER";

fn main() -> ExitCode {
    if env::vars_os().any(|(name, _)| name == FAKE_BROWSER) {
        engine::testing::install();
        return server::main();
    }
    testkit::harness::main()
}

/// Returns the built server with these arguments, not started, headless and isolated, by default with all tools, and without boundaries
/// around page text.
fn launch(args: &[&str]) -> Launch {
    with_arguments(Launch::new(env!("CARGO_BIN_EXE_playhouse")), args)
}

/// Returns a server like [`launch`], with a fake browser.
fn fake_launch(args: &[&str]) -> Launch {
    let program = env::current_exe().expect("the path of this program");
    with_arguments(Launch::new(program).env(FAKE_BROWSER, "1"), args)
}

fn with_arguments(launch: Launch, args: &[&str]) -> Launch {
    let chosen = args.iter().any(|arg| arg.starts_with("--toolsets"));
    launch
        .args(["--headless", "--isolated", "--content-boundaries", "off"])
        .args((!chosen).then_some("--toolsets=all"))
        .args(args.iter().copied())
}

/// Returns the built server for an engine.
fn launch_on(engine: Engine, args: &[&str]) -> Launch {
    launch(engine.args()).args(args.iter().copied())
}

/// Starts the built server for an engine.
async fn server_on(engine: Engine, args: &[&str]) -> Client {
    launch_on(engine, args).start().await
}

/// Starts the built server with these arguments.
async fn server(args: &[&str]) -> Client {
    launch(args).start().await
}

/// All capabilities, so that tests of different ones share servers.
const CAPABILITIES: &str =
    "config,contexts,network,pdf,performance,storage,testing,vision,devtools,webmcp,audit";

/// Timeouts that suffice for large pages on a busy machine.
const PATIENT: [&str; 4] = ["--timeout-action", "60000", "--timeout-navigation", "60000"];

/// Takes a server for an engine, with all tools, from those that tests share. A test that configures, ends or measures its server starts
/// its own.
async fn shared(engine: Engine, args: &[&str]) -> PooledClient {
    let launch = launch_on(engine, &["--caps", CAPABILITIES]);
    launch.args(args.iter().copied()).pooled().await
}

/// Starts a server like [`server`], with a fake browser.
async fn fake_server(args: &[&str]) -> Client {
    fake_launch(args).start().await
}

/// Returns the result of a function in the current page, as JSON.
async fn evaluated(client: &Client, function: &str) -> String {
    let answer = client
        .call("browser_evaluate", json!({ "function": function }))
        .await;
    assert!(!answer.is_error, "{}", answer.text);
    answer.section("Result").unwrap_or_default().to_owned()
}

/// A page of the site for [`call_until_released`].
fn held_page(site: &Site) -> String {
    site.add_page("/gated", "<title>Gated</title>")
}

/// Returns the parameters of a call that ends with `open` when the site has a page `/gate`.
fn call_until_released() -> Value {
    let function = "async () => {
        while (!(await fetch('/gate')).ok) await new Promise(done => setTimeout(done, 50));
        return 'open';
    }";
    json!({ "name": "browser_evaluate", "arguments": { "function": function } })
}
