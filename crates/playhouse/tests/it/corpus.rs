//! The attack corpus (`crates/testkit/corpus/`) on each engine with the built server.

mod addresses;
mod combinations;
mod echoes;
mod exfiltration;
mod hidden_texts;
mod principals;
mod proxies;
mod scene;

use serde_json::Value;

/// Parses the calls in a text: a tool and its arguments on each line, repeated for each number up to this one if they contain `{n}`.
fn reads(text: &'static str, numbers: usize) -> impl Iterator<Item = (&'static str, Value)> {
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.flat_map(move |(tool, arguments)| {
        let last = if arguments.contains("{n}") {
            numbers
        } else {
            1
        };
        (1..=last).map(move |number| {
            let arguments = arguments.replace("{n}", &number.to_string());
            let arguments = serde_json::from_str(&arguments);
            (tool, arguments.expect("the arguments are JSON"))
        })
    })
}
