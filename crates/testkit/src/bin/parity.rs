//! The same calls to two servers, on the same pages, one after the other; prints where they differ.
//!
//! `parity CALLS.jsonl -- OURS… -- THEIRS…`: each line of the file is `["tool", {arguments}]`, where `{site}` is the
//! fixture site. Times and paths are made equal before comparing. Exits with 1 where anything differs (`-` theirs, `+` ours).
#![expect(clippy::print_stdout, reason = "it reports")]

use std::process::ExitCode;

use serde_json::Value;
use testkit::{CallResult, Client, Launch, Placeholders, Site, difference};

#[tokio::main]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let parts: Vec<&[String]> = args.split(|arg| arg == "--").collect();
    let [[calls], ours, theirs] = parts.as_slice() else {
        println!("usage: parity CALLS.jsonl -- OURS… -- THEIRS…");
        return ExitCode::from(2);
    };
    let site = Site::start().await;
    let text = std::fs::read_to_string(calls).expect("the file of calls can be read");
    let (ours, theirs) = (start(ours).await, start(theirs).await);
    let (mut count, mut different) = (0, 0);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let line = line.replace("{site}", site.base_url().trim_end_matches('/'));
        let (tool, arguments): (String, Value) =
            serde_json::from_str(&line).expect("a line is [\"tool\", {arguments}]");
        count += 1;
        let own = ours.call(&tool, arguments.clone()).await;
        let other = theirs.call(&tool, arguments).await;
        let (own, other) = (told(&own, &site), told(&other, &site));
        if own != other {
            different += 1;
            println!("── {count}. {line}");
            print!("{}", difference(&other, &own));
        }
    }
    println!("{count} calls, {different} answered differently");
    ExitCode::from(u8::from(different > 0))
}

async fn start(command: &[String]) -> Client {
    let (program, args) = command.split_first().expect("a command has a program");
    Launch::new(program).args(args).start().await
}

/// Everything a client sees, without what differs from run to run.
fn told(result: &CallResult, site: &Site) -> String {
    let mut text = String::new();
    if result.is_error {
        text += "(error)\n";
    }
    text += &result.text;
    if let Some(snapshot) = result.snapshot() {
        text += "\n--- the snapshot's text\n";
        text += &snapshot;
    }
    for image in &result.images {
        text += &format!("\n--- {} {:?}", image.media_type, image.size());
    }
    Placeholders::new(site, result.workspace(), false).mask(&text)
}
