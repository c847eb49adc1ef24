//! docs/apps.md, from the results of all browsers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::results;
use crate::tasks::{Outcome, Task, Tasks};

use super::{folder, installation};

/// The result of a task on one browser.
#[derive(Serialize, Deserialize)]
struct Row {
    calls: usize,
    tokens: usize,
    seconds: f64,
    is_done: bool,
}

/// The name of the results.
const RESULTS: &str = "applications";
const PEER: &str = "applications-peer";

type Rows = BTreeMap<String, Row>;

/// Stores the results of a browser. Those of applications that were not used stay.
pub(super) fn save(engine: Engine, outcomes: &BTreeMap<String, Outcome>, tasks: &Tasks) {
    save_as(RESULTS, engine, outcomes, tasks);
}

/// Stores the results of `@playwright/mcp` on Chromium.
pub(super) fn save_peer(outcomes: &BTreeMap<String, Outcome>, tasks: &Tasks) {
    save_as(PEER, Engine::Chromium, outcomes, tasks);
}

fn save_as(results: &str, engine: Engine, outcomes: &BTreeMap<String, Outcome>, tasks: &Tasks) {
    let mut rows: Rows = results::read(results, engine);
    rows.retain(|name, _| tasks.contains_key(name));
    for (name, outcome) in outcomes {
        let row = Row {
            calls: outcome.calls,
            tokens: tokens(&outcome.answers.join("\n")),
            seconds: outcome.time.as_secs_f64(),
            is_done: outcome.failure.is_none(),
        };
        rows.insert(name.clone(), row);
    }
    results::save(results, engine, &rows);
}

/// Writes the document, if each browser has the results of all tasks.
pub(super) fn write(tasks: &Tasks) {
    let mut runs: Vec<Rows> = Engine::ALL
        .map(|engine| results::read(RESULTS, engine))
        .into();
    runs.push(results::read(PEER, Engine::Chromium));
    let has_all = |rows: &Rows| tasks.keys().all(|name| rows.contains_key(name));
    if !runs.iter().all(has_all) {
        return;
    }
    let both: Vec<&String> = tasks
        .keys()
        .filter(|name| runs[0][*name].is_done && runs[3][*name].is_done)
        .collect();
    let tokens = [0, 3].map(|run| both.iter().map(|it| runs[run][*it].tokens).sum::<usize>());
    let seconds = [0, 3].map(|run| both.iter().map(|it| runs[run][*it].seconds).sum::<f64>());
    let done = |rows: &Rows| rows.values().filter(|row| row.is_done).count();
    let mut text = format!(
        "# Applications\n\nWritten by `make apps`. {} applications of programs and frameworks of npm and PyPI (`crates/testkit/applications`, with pinned versions) are started with new data. In each, a task is done that a person does there, with default answers alone: `tasks.md` has its calls, which name elements by the roles and names that the answers have shown so far. A call that fails ends the task. The end state is read from the application's own data: its API, its files or its database.\n\n**Tasks done: {} on Chromium, {} on Firefox, {} on WebKit, of {}.**\n\nThe same calls are made with `@playwright/mcp` on Chromium, with the refs of its snapshots, whose files count as read; where it has no such element, or a call fails, the task is not done. On the {} tasks that both have done: {} tokens, and {} of `@playwright/mcp`; {:.0} s, and {:.0} s.\n\nCalls, tokens of all answers (o200k), and seconds; – is not done.\n\n| application | task | calls | tokens | seconds | Firefox: tokens | seconds | WebKit: tokens | seconds | `@playwright/mcp`: tokens | seconds |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        tasks.len(),
        done(&runs[0]),
        done(&runs[1]),
        done(&runs[2]),
        tasks.len(),
        both.len(),
        tokens[0],
        tokens[1],
        seconds[0],
        seconds[1],
    );
    for (name, Task { title, .. }) in tasks {
        let figures: Vec<_> = runs.iter().map(|rows| figures(&rows[name])).collect();
        let calls = runs[0][name].calls;
        text += &format!("| {name} | {title} | {calls} | {} |\n", figures.join(" | "));
    }
    let excluded: Vec<String> = tasks
        .iter()
        .flat_map(|(name, task)| {
            let reasons = Engine::ALL.into_iter().filter_map(|engine| {
                let reason = task.exclusion(engine)?;
                Some(format!("- {name} on {}: {reason}\n", engine.name()))
            });
            reasons.collect::<Vec<_>>()
        })
        .collect();
    if !excluded.is_empty() {
        text += &format!("\nNot done:\n\n{}", excluded.concat());
    }
    text += &format!("\nVersions: {}.\n", versions());
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/apps.md");
    fs::write(document, text).expect("docs can be written");
}

fn figures(row: &Row) -> String {
    match row.is_done {
        true => format!("{} | {:.1}", row.tokens, row.seconds),
        false => "– | –".to_owned(),
    }
}

/// Returns the pinned versions of the packages.
fn versions() -> String {
    let package = fs::read_to_string(folder().join("package.json")).expect("package.json");
    let package: serde_json::Value = serde_json::from_str(&package).expect("JSON");
    let npm = package["dependencies"].as_object().expect("dependencies");
    let npm = npm
        .iter()
        .map(|(name, version)| format!("{name} {}", version.as_str().unwrap_or_default()));
    let pypi = fs::read_to_string(folder().join("requirements.txt")).expect("requirements.txt");
    let pypi = pypi.lines().map(|line| line.replace("==", " "));
    npm.chain(pypi).collect::<Vec<_>>().join(", ")
}

/// Returns the number of tokens of a text by the encoding o200k.
fn tokens(text: &str) -> usize {
    const SCRIPT: &str = "const { encode } = require(process.cwd() + '/node_modules/gpt-tokenizer/cjs/encoding/o200k_base.js');
         console.log(encode(require('fs').readFileSync(process.argv[1], 'utf8')).length)";
    let file = installation().join("answers.txt");
    fs::write(&file, text).expect("the folder is ours");
    #[expect(clippy::disallowed_methods, reason = "it is waited for right below")]
    let mut command = Command::new("node");
    command.current_dir(installation()).stdin(Stdio::null());
    let output = command.args(["-e", SCRIPT]).arg(&file).output();
    let output = output.expect("Node is installed");
    let count = String::from_utf8_lossy(&output.stdout);
    count.trim().parse().expect("a number of tokens")
}
