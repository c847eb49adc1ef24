//! What calls cost, what many of them leave behind, and demonstrations, with the `playhouse` beside this program: `make bench`, `make soak`,
//! `make grid`, `make demo` and `make screenshot`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it reports")]

#[cfg(target_os = "linux")]
mod bench;
mod demo;
#[cfg(target_os = "linux")]
mod grid;
mod markdown;
mod samples;
mod script;
mod sessions;
mod soak;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use testkit::Launch;

const USAGE: &str = "usage: benchmarks demo [--e2e | SESSIONS]
       benchmarks bench [--rounds N] [--only METRIC,…] [--servers NAME,…] [--browser chromium|firefox|webkit|PATH]… [--output FILE]
       benchmarks soak [CALLS | --sessions SESSIONS] [--output FILE]
       benchmarks grid
       benchmarks screenshot FILE";

#[tokio::main]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        ["demo"] => demo::run_shop().await,
        ["demo", "--e2e"] => demo::run_app().await,
        ["demo", count] => sessions::run_demo(count.parse().unwrap_or(8)).await,
        #[cfg(target_os = "linux")]
        ["bench", ref args @ ..] => bench::run(args).await,
        ["soak", ref args @ ..] => soak::run(args).await,
        #[cfg(target_os = "linux")]
        ["grid"] => grid::run().await,
        ["screenshot", file] => demo::take_screenshot(file).await,
        _ => Err(USAGE.to_owned()),
    };
    let Err(why) = done else {
        return ExitCode::SUCCESS;
    };
    eprintln!("{why}");
    ExitCode::FAILURE
}

/// Returns the path of a program that was built with this one.
fn beside(program: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a program has a path");
    own.with_file_name(program)
}

/// Returns the server, headless and isolated, with these arguments, and a timeout that is longer than the slowest call.
fn server(args: &[&str]) -> Launch {
    let server = Launch::new(beside("playhouse")).args(["--headless", "--isolated"]);
    server.args(args).limit(Duration::from_secs(60))
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}
