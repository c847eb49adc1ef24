//! `make conformance`: runs the official suite. The scenarios that need no fixtures run against the shipped program, then all scenarios
//! against the one with fixtures. Exits with 1 if a scenario fails.
//!
//! `conformance SHIPPED WITH_FIXTURES`: the two programs.
#![expect(clippy::print_stdout, reason = "it reports")]

use std::process::{ExitCode, Output};

use testkit::{Clients, HttpServer, Launch, clients};

/// The scenarios that need no tool, resource or prompt of the suite.
const NEED_NOTHING: [&str; 9] = [
    "server-initialize",
    "ping",
    "logging-set-level",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-polling",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
];

#[tokio::main]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [shipped, with_fixtures] = args.as_slice() else {
        println!("usage: conformance SHIPPED WITH_FIXTURES");
        return ExitCode::from(2);
    };
    let clients = clients();
    let mut failed = false;
    let server = start(shipped).await;
    for scenario in NEED_NOTHING {
        let output = ask(&clients, &server, &["--scenario", scenario]).await;
        failed |= !run_client(&format!("{scenario}, as shipped"), &output);
    }
    let server = start(with_fixtures).await;
    let expected = clients.folder.join("expected-failures.yml");
    let expected = expected.display().to_string();
    let everything = ["--suite", "all", "--expected-failures", &expected];
    let output = ask(&clients, &server, &everything).await;
    failed |= !run_client("everything, with fixtures", &output);
    ExitCode::from(u8::from(failed))
}

async fn start(program: &str) -> HttpServer {
    let launch = Launch::new(program);
    HttpServer::start(launch.args(["--headless", "--isolated", "--toolsets", "session"])).await
}

/// Runs the suite with these arguments.
async fn ask(clients: &Clients, server: &HttpServer, args: &[&str]) -> Output {
    let suite = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
    #[expect(
        clippy::disallowed_methods,
        reason = "it is a client of another project, and waited for"
    )]
    tokio::process::Command::new(&clients.node)
        .arg(clients.folder.join(suite))
        .args(["server", "--url", &format!("{}/mcp", server.url())])
        .args(args)
        .kill_on_drop(true)
        .output()
        .await
        .expect("the suite runs")
}

/// Prints the summary, or everything after a failure; returns whether all scenarios passed.
fn run_client(what: &str, output: &Output) -> bool {
    let text = String::from_utf8_lossy(&output.stdout);
    let summary = text
        .split_once("=== SUMMARY ===")
        .map(|(_, end)| end.trim());
    match (output.status.success(), summary) {
        (true, Some(summary)) => println!("✓ {what}\n{summary}"),
        (true, None) => println!("✓ {what}"),
        (false, _) => println!(
            "✗ {what}\n{text}{}",
            String::from_utf8_lossy(&output.stderr)
        ),
    }
    output.status.success()
}
