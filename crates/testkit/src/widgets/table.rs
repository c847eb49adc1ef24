//! docs/widgets.md, from the results of all browsers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::results;

use super::judge::{Counts, Judgement};

/// The results of a page on one browser.
#[derive(Serialize, Deserialize)]
struct Row {
    counts: Counts,
    /// The calls of the task.
    calls: usize,
    is_done: bool,
}

/// The name of the results.
const RESULTS: &str = "widgets";

type Rows = BTreeMap<String, Row>;

/// Stores the results of a browser. Those of pages that were not judged stay.
pub(super) fn save(engine: Engine, judgements: &BTreeMap<String, Judgement>, names: &[String]) {
    let mut rows = read(engine);
    rows.retain(|name, _| names.contains(name));
    for (name, judgement) in judgements {
        let row = Row {
            counts: judgement.counts,
            calls: judgement.task.as_ref().map_or(0, |task| task.calls),
            is_done: judgement
                .task
                .as_ref()
                .is_some_and(|task| task.failure.is_none()),
        };
        rows.insert(name.clone(), row);
    }
    results::save(RESULTS, engine, &rows);
}

/// Writes the document, if each browser has the results of all pages.
pub(super) fn write(names: &[String]) {
    let runs: Vec<Rows> = Engine::ALL.into_iter().map(read).collect();
    if !runs
        .iter()
        .all(|rows| names.iter().all(|name| rows.contains_key(name)))
    {
        return;
    }
    let versions = versions();
    let total = |count: fn(&Counts) -> usize| {
        runs[0]
            .values()
            .map(|row| count(&row.counts))
            .sum::<usize>()
    };
    let done = |rows: &Rows| rows.values().filter(|row| row.is_done).count();
    let mut text = format!(
        "# Widgets\n\nWritten by `make widgets`. {} pages of widget libraries that others wrote (`crates/testkit/widgets`, npm packages with pinned versions) are judged by a script that shares no code with the server. It lists the elements that a person can act on (native controls, written roles, editing hosts, what can get the focus, labels that draw a control, draggable elements, listeners, the pointer cursor; each with hit testing), their names (npm `dom-accessibility-api`), and the visible texts. Each element must have a ref, its own or that of an element which acts for it, on a line with its role, name, states and value; each name and text must be shown; nothing visible may be marked as hidden. The controls in the snapshot of `@playwright/mcp` must be there with the same role and name. `crates/playhouse/tests/widgets/` lists the differences with their reasons.\n\nThe last columns are tasks, which `crates/testkit/widgets/tasks.md` describes: done with default answers alone, by the refs that they show.\n\n**On Chromium: {} elements, {} names, {} texts. Tasks: {} on Chromium, {} on Firefox, {} on WebKit, of {}.**\n\nMissing in compact snapshots: elements, names, roles or states, texts, false marks of hidden text, controls of the peer.\n\n",
        names.len(),
        total(|it| it.elements),
        total(|it| it.names),
        total(|it| it.texts),
        done(&runs[0]),
        done(&runs[1]),
        done(&runs[2]),
        names.len(),
    );
    text += "| page | elements | names | texts | missing on Chromium | on Firefox | on WebKit | task (calls) | Firefox | WebKit |\n|---|---:|---:|---:|---|---|---|:---:|:---:|:---:|\n";
    for name in names {
        let of_engine: Vec<&Row> = runs.iter().map(|rows| &rows[name]).collect();
        let missing: Vec<_> = of_engine.iter().map(|row| missing(&row.counts)).collect();
        let tasks: Vec<_> = of_engine
            .iter()
            .map(|row| if row.is_done { "✓" } else { "–" })
            .collect();
        let Counts {
            elements,
            names,
            texts,
            ..
        } = of_engine[0].counts;
        text += &format!(
            "| {name} | {elements} | {names} | {texts} | {} | {} ({}) | {} | {} |\n",
            missing.join(" | "),
            tasks[0],
            of_engine[0].calls,
            tasks[1],
            tasks[2],
        );
    }
    text += &format!("\nVersions: {versions}.\n");
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/widgets.md");
    fs::write(document, text).expect("docs can be written");
}

fn missing(counts: &Counts) -> String {
    let kinds = [
        (counts.missing_elements, "elements"),
        (counts.missing_names, "names"),
        (counts.missing_states, "roles or states"),
        (counts.missing_texts, "texts"),
        (counts.false_marks, "marks"),
        (counts.missing_peers, "of the peer"),
    ];
    let found: Vec<_> = kinds
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, kind)| format!("{count} {kind}"))
        .collect();
    found.join(", ")
}

/// Returns the pinned versions of the libraries.
fn versions() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("widgets/package.json");
    let package = fs::read_to_string(path).expect("package.json");
    let package: serde_json::Value = serde_json::from_str(&package).expect("JSON");
    let packages = package["dependencies"].as_object().expect("dependencies");
    let packages: Vec<_> = packages
        .iter()
        .map(|(name, version)| format!("{name} {}", version.as_str().unwrap_or_default()))
        .collect();
    packages.join(", ")
}

fn read(engine: Engine) -> Rows {
    results::read(RESULTS, engine)
}
