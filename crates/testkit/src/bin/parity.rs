//! `make parity`: runs the scenarios of a folder on two servers, and reports what clients see differently. Exits with 1 if a difference is
//! not on the scenario's list.
//!
//! `parity FOLDER -- OURS… -- THEIRS…`. Both get the same browser, headless and isolated, besides the arguments of a scenario.
//! `PARITY=text` runs the scenarios whose file or title contains the text; `UPDATE_EXPECT=1` writes the differences, whose reasons you then
//! add.
#![expect(clippy::print_stdout, reason = "it reports")]

use std::process::ExitCode;

use testkit::{Engine, Parity};

#[tokio::main]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let parts: Vec<&[String]> = args.split(|arg| arg == "--").collect();
    let [[folder], ours, theirs] = parts.as_slice() else {
        println!("usage: parity FOLDER -- OURS… -- THEIRS…");
        return ExitCode::from(2);
    };
    let browser = format!(
        "--executable-path={}",
        Engine::Chromium.executable().display()
    );
    let with_flags = |command: &[String]| {
        let flags = ["--headless", "--isolated", "--no-sandbox", &browser];
        command
            .iter()
            .map(String::as_str)
            .chain(flags)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let report = Parity::new(&with_flags(ours), &with_flags(theirs), folder)
        .run()
        .await;
    println!("{report}");
    ExitCode::from(u8::from(!report.failures.is_empty()))
}
