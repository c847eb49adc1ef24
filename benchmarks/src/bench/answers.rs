//! The tokens of answers: the same tasks and pages with the tools of each server, with its default options.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use testkit::{Site, Website};

use super::servers::{Running, Server, View};
use super::steps::TASK;
use super::workloads::rows;
use crate::markdown::{head, row, verdict};

const INTRODUCTION: &str = "## Tokens\n\nOf answers (o200k), measured in one run, with the default options of each server. A task starts with a new browser; \
a snapshot is the answer of the tool that takes one. Calls are in parentheses. Playhouse needs no snapshot where its answers show the page. A snapshot of agent-browser has no texts by default.\n\n";

/// Serves the websites that are installed.
fn add_websites(site: &Site) {
    let root = super::report::output_of("rustc", &["--print", "sysroot"]);
    let kitchensink = Website::Kitchensink.folder();
    site.add_folder("/todo/", Website::TodoMvc.folder());
    site.add_folder("/assets/", kitchensink.join("assets"));
    site.add_folder("/kitchensink/", kitchensink);
    site.add_folder("/doc/", Path::new(&root).join("share/doc/rust/html"));
}

/// Returns the table of the servers on one browser.
pub(super) async fn measure(site: &Site, servers: &[Server]) -> String {
    add_websites(site);
    let titles = servers.iter().map(|server| server.title.to_owned());
    let mut text = INTRODUCTION.to_owned() + &head(titles);
    let mut failures = String::new();
    for task in rows(include_str!("tasks.txt")) {
        let [title, goal, proof, steps] = task[..].try_into().expect("four cells");
        eprintln!("tokens: {title}");
        let goals: Vec<usize> = goal.split(' ').flat_map(str::parse).collect();
        let (mut cells, mut is_reached) = (vec![title.to_owned()], None);
        for server in servers {
            let running = server.start().await;
            let cost = cost(&running, steps, proof).await;
            running.end().await;
            cells.push(match &cost {
                Ok(cost) if steps.is_empty() || is_snapshot(steps) => cost[0].to_string(),
                Ok([tokens, calls]) => format!("{tokens} ({calls})"),
                Err(why) => {
                    let server = server.title;
                    failures += &format!("\nNo figure for {title} of {server}: {why}.\n");
                    "–".to_owned()
                }
            });
            if let ("ours", Ok(cost)) = (server.key, cost) {
                is_reached = Some(goals.iter().zip(cost).all(|(max, cost)| cost <= *max));
            }
        }
        cells.extend(match goals[..] {
            [] => [String::new(), String::new()],
            [tokens] => [format!("≤ {tokens}"), verdict(is_reached)],
            _ => [
                format!("≤ {} ({})", goals[0], goals[1]),
                verdict(is_reached),
            ],
        });
        text += &row(&cells);
    }
    text + &failures
}

/// Returns whether only the last answer counts, a snapshot.
fn is_snapshot(steps: &str) -> bool {
    steps.ends_with(" ; snapshot") || steps.contains(" ; outline ")
}

/// Returns the tokens of the answers and the number of calls; without steps, the tokens of the list of tools.
async fn cost(running: &Running, steps: &str, proof: &str) -> Result<[usize; 2], String> {
    let count = |text: &str| tokens(text).ok_or("no tokenizer is installed");
    if steps.is_empty() {
        return Ok([count(&running.tools_text())?, 0]);
    }
    let view = &mut View::default();
    let (_, mut answers) = running.run(view, &steps.replace("TASK", TASK), 1).await?;
    if is_snapshot(steps) {
        answers = answers.split_off(answers.len() - 1);
    }
    let texts: Vec<&str> = answers.iter().map(|answer| &*answer.text).collect();
    let text = texts.join("\n");
    match text.contains(proof) || view.snapshot.contains(proof) {
        true => Ok([count(&text)?, answers.len()]),
        false => Err(format!("the page does not show {proof:?}")),
    }
}

/// Returns the number of tokens of a text by the encoding o200k, with the tokenizer from npm that is installed with the other servers;
/// `None` without it.
pub(super) fn tokens(text: &str) -> Option<usize> {
    const SCRIPT: &str = "const { encode } = require(process.cwd() + '/target/bench/peers/node_modules/gpt-tokenizer/cjs/encoding/o200k_base.js');
         console.log(encode(require('fs').readFileSync(0, 'utf8')).length)";
    #[expect(clippy::disallowed_methods, reason = "it is waited for right below")]
    let mut command = std::process::Command::new("node");
    command.args(["-e", SCRIPT]).stderr(Stdio::null());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().ok()?;
    // Without a tokenizer, the process has exited.
    drop(child.stdin.take()?.write_all(text.as_bytes()));
    let output = child.wait_with_output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
