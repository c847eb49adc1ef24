//! Calls that are printed, with summaries of their answers and their durations.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{CallResult, Client, Launch};

/// A client, and the results of its calls so far.
pub(crate) struct Show {
    client: Client,
    calls: u32,
    failures: u32,
    busy: Duration,
}

impl Show {
    /// Starts the server.
    pub(crate) async fn begin(server: Launch) -> Self {
        let start = Instant::now();
        let client = server.start().await;
        println!("{:>9}  initialize", milliseconds(start.elapsed()));
        let start = Instant::now();
        let tools = client.list_tools().await;
        println!(
            "{:>9}  tools/list                {} tools",
            milliseconds(start.elapsed()),
            tools.len()
        );
        Self {
            client,
            calls: 0,
            failures: 0,
            busy: Duration::ZERO,
        }
    }

    /// Prints the title of the next part.
    pub(crate) fn part(&self, title: &str) {
        println!("\n{title}");
    }

    /// Calls a tool; its answer (or the snapshot that it links) must contain each of `expected`.
    pub(crate) async fn call(
        &mut self,
        tool: &str,
        arguments: Value,
        expected: &[&str],
    ) -> CallResult {
        let start = Instant::now();
        let answer = self.client.call(tool, arguments.clone()).await;
        let took = start.elapsed();
        self.calls += 1;
        self.busy += took;
        println!(
            "{:>9}  {tool:<25} {}",
            milliseconds(took),
            in_short(&arguments, &answer)
        );
        if answer.is_error {
            self.expect(
                false,
                &format!("{tool} succeeds, but it says:\n{}", answer.text),
            );
        }
        let seen = format!("{}\n{}", answer.text, answer.snapshot().unwrap_or_default());
        for text in expected {
            self.expect(
                seen.contains(text),
                &format!("the answer holds `{text}`, but it is:\n{seen}"),
            );
        }
        answer
    }

    /// Returns the ref in the line of a new snapshot that contains this text.
    pub(crate) async fn ref_of(&mut self, text: &str) -> String {
        let answer = self.call("browser_snapshot", json!({}), &[text]).await;
        let snapshot = answer.snapshot().unwrap_or_default();
        let line = snapshot
            .lines()
            .find(|line| line.contains(text))
            .unwrap_or_default();
        let found = line
            .split_once("[ref=")
            .and_then(|(_, rest)| rest.split_once(']'));
        found.map_or_else(String::new, |(name, _)| name.to_owned())
    }

    /// Records a failed expectation.
    pub(crate) fn expect(&mut self, is_true: bool, what: &str) {
        if !is_true {
            self.failures += 1;
            println!("         ✗ expected that {what}");
        }
    }

    /// Ends the server; returns whether all expectations were met.
    pub(crate) async fn end(mut self) -> ExitCode {
        self.expect(
            self.client.stray_lines().is_empty(),
            "stdout carries nothing but messages",
        );
        let Self {
            client,
            calls,
            mut failures,
            busy,
        } = self;
        let start = Instant::now();
        if !client.end().await.success() {
            failures += 1;
            println!("✗ the server did not exit well");
        }
        println!(
            "{calls} calls in {}; server and browser gone after {}",
            milliseconds(busy),
            milliseconds(start.elapsed())
        );
        match failures {
            0 => ExitCode::SUCCESS,
            _ => {
                println!("{failures} expectations failed");
                ExitCode::FAILURE
            }
        }
    }
}

/// Returns the first significant argument and the most significant line of the answer.
fn in_short(arguments: &Value, answer: &CallResult) -> String {
    let asked = [
        "target",
        "startTarget",
        "url",
        "text",
        "function",
        "action",
        "filename",
        "key",
    ]
    .iter()
    .find_map(|name| arguments[name].as_str())
    .map_or_else(|| arguments.to_string(), str::to_owned);
    let shown = [
        answer.section("Error"),
        answer.section("Modal state"),
        answer.section("Result"),
        answer.section("Events"),
        answer.section("Page"),
    ]
    .into_iter()
    .flatten()
    // An answer in JSON has no sections.
    .chain([&*answer.text])
    .flat_map(str::lines)
    .find(|line| !line.trim().is_empty())
    .unwrap_or_default();
    let shown = match answer.snapshot() {
        Some(snapshot) => format!("{shown}  [{} lines of snapshot]", snapshot.lines().count()),
        None => shown.to_owned(),
    };
    format!("{}  →  {}", cut(&asked, 60), cut(&shown, 90))
}

fn cut(text: &str, length: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= length {
        return text;
    }
    text.chars().take(length - 1).chain(['…']).collect()
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}
