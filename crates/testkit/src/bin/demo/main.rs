//! Demonstrations: controls an app through MCP tool calls over stdio. Prints each call, a summary of its answer and its duration; fails if
//! an answer is not as expected.
//!
//! `demo [COMMAND…]`: the example shop, with this server, by default the `playhouse` beside this program. `demo --e2e`: an app under test,
//! which the server starts.
#![expect(clippy::print_stdout, reason = "it is a show")]

mod app;
mod shop;
mod show;

use std::path::PathBuf;
use std::process::ExitCode;

use testkit::Launch;

#[tokio::main]
async fn main() -> ExitCode {
    let given: Vec<_> = std::env::args().skip(1).collect();
    if given == ["--e2e"] {
        return app::test(&beside()).await.end().await;
    }
    let server = match given.split_first() {
        Some((program, args)) => Launch::new(program).args(args),
        None => Launch::new(beside()).args(["--headless", "--isolated"]),
    };
    shop::run_demo(server).await.end().await
}

/// Returns the path of the server that was built with this program.
fn beside() -> PathBuf {
    std::env::current_exe()
        .expect("a program knows where it is")
        .with_file_name("playhouse")
}
