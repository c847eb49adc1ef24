//! Tasks: what a person does on a page, by the elements that the answers show.
//!
//! A file has one below each heading `## page: title`. The first block has its steps, lines of three kinds: `tool {arguments}`, where
//! `@role name` stands for the ref of an element in the answers so far (`@* name`: of any role); `+ text`, which the last answer must have,
//! with `…` for anything between its parts; `- text`, which it must not have.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::{CallResult, Client};
use crate::engine::Engine;
use crate::snapshot::{Part, parse_compact, parse_full};

/// The tasks by page.
pub(crate) type Tasks = BTreeMap<String, Task>;

/// A task.
pub(crate) struct Task {
    pub(crate) title: String,
    steps: Vec<Step>,
    /// What is below the steps: each block, with its info string.
    pub(crate) blocks: Vec<(String, String)>,
    /// The browsers on which it cannot be done: lines `Not on firefox: reason` below the heading.
    excluded: Vec<(String, String)>,
}

enum Step {
    Call { tool: String, arguments: String },
    Shows(String),
    Hides(String),
}

/// A server that does tasks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    Playhouse,
    /// `@playwright/mcp`, whose answers link to snapshots. Its texts are not compared.
    Playwright,
}

/// A task that was done, or how far it came.
#[derive(Debug)]
pub struct Outcome {
    /// The number of calls.
    pub calls: usize,
    /// The answers, without one that was given.
    pub answers: Vec<String>,
    /// The time of the calls.
    pub time: Duration,
    /// Why the next step was not possible, and below it the last answer.
    pub failure: Option<String>,
}

/// Reads the tasks of a file.
///
/// # Panics
/// If it has another format.
pub(crate) fn read_tasks(path: &Path) -> Tasks {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let sections = text.split("\n## ").skip(1);
    sections.map(task).collect()
}

fn task(section: &str) -> (String, Task) {
    let (heading, body) = section.split_once('\n').expect("a heading has a body");
    let (page, title) = heading
        .split_once(": ")
        .unwrap_or_else(|| panic!("`page: title`, not {heading:?}"));
    let mut fenced = body.split("```");
    let above = fenced.next().unwrap_or_default();
    let excluded = above.lines().filter_map(|line| {
        let (browser, reason) = line.strip_prefix("Not on ")?.split_once(": ")?;
        Some((browser.to_owned(), reason.to_owned()))
    });
    let mut blocks = fenced.step_by(2).map(|block| {
        let (info, text) = block.split_once('\n').unwrap_or((block, ""));
        (info.to_owned(), text.to_owned())
    });
    let (_, steps) = blocks
        .next()
        .unwrap_or_else(|| panic!("no steps below {heading:?}"));
    let steps = steps
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(step);
    let task = Task {
        title: title.to_owned(),
        steps: steps.collect(),
        blocks: blocks.collect(),
        excluded: excluded.collect(),
    };
    (page.to_owned(), task)
}

fn step(line: &str) -> Step {
    if let Some(text) = line.strip_prefix("+ ") {
        return Step::Shows(text.to_owned());
    }
    if let Some(text) = line.strip_prefix("- ") {
        return Step::Hides(text.to_owned());
    }
    let (tool, arguments) = line.split_once(' ').unwrap_or((line, "{}"));
    Step::Call {
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
    }
}

impl Task {
    /// Returns why the task cannot be done on a browser, if it is known.
    pub(crate) fn exclusion(&self, engine: Engine) -> Option<&str> {
        let mut excluded = self.excluded.iter();
        excluded
            .find(|(browser, _)| browser == engine.name())
            .map(|(_, reason)| reason.as_str())
    }

    /// Does the task. `opened` is the answer with which the client has opened the page, if the steps do not; `url` is `{url}` in arguments.
    pub(crate) async fn perform(
        &self,
        client: &Client,
        server: Server,
        opened: Option<String>,
        url: &str,
    ) -> Outcome {
        let mut calls = usize::from(opened.is_some());
        let given = calls;
        let mut answers: Vec<String> = opened.into_iter().collect();
        let started = Instant::now();
        let mut failed = None;
        for step in &self.steps {
            let last = answers.last().map(String::as_str).unwrap_or_default();
            failed = match step {
                Step::Shows(_) | Step::Hides(_) if server == Server::Playwright => None,
                Step::Shows(text) if !has_in_order(last, text) => {
                    Some(format!("the answer has no {text:?}"))
                }
                Step::Hides(text) if last.contains(text) => {
                    Some(format!("the answer has {text:?}"))
                }
                Step::Shows(_) | Step::Hides(_) => None,
                Step::Call { tool, arguments } => {
                    let given = serde_json::from_str(&arguments.replace("{url}", url))
                        .unwrap_or_else(|error| panic!("{arguments}: {error}"));
                    match resolved(given, &answers, server) {
                        Err(missing) => Some(format!("no answer has {missing}")),
                        Ok(given) => {
                            calls += 1;
                            let answer = client.call(tool, given).await;
                            let is_error = answer.is_error;
                            answers.push(server.read(answer));
                            is_error.then(|| format!("{tool} {arguments} fails"))
                        }
                    }
                }
            };
            if failed.is_some() {
                break;
            }
        }
        let time = started.elapsed();
        let last = answers.last().map(String::as_str).unwrap_or_default();
        let failure = failed.map(|why| format!("task: {}: {why}\n{last}", self.title));
        answers.drain(..given);
        Outcome {
            calls,
            answers,
            time,
            failure,
        }
    }
}

impl Server {
    /// Returns what an agent reads of an answer, with the snapshot to which it links.
    fn read(self, answer: CallResult) -> String {
        match (self, answer.snapshot()) {
            (Self::Playwright, Some(snapshot)) if !answer.text.contains(&snapshot) => {
                format!("{}\n{FILE}\n{snapshot}", answer.text)
            }
            _ => answer.text,
        }
    }

    fn parts(self, answer: &str) -> Vec<Vec<Part>> {
        match self {
            Self::Playhouse => {
                let lines = answer
                    .lines()
                    .map(|line| line.trim_start_matches(['+', '~']));
                lines
                    .filter_map(|line| parse_compact(line.trim_start()).ok())
                    .collect()
            }
            Self::Playwright => {
                let snapshot = answer.split_once(FILE).map(|(_, snapshot)| snapshot);
                let parts = parse_full(snapshot.unwrap_or_default().trim());
                let elements = parts.chunk_by(|_, next| matches!(next, Part::Text(_)));
                elements.map(<[Part]>::to_vec).collect()
            }
        }
    }
}

/// What stands between an answer and the file to which it links.
const FILE: &str = "-- file --";

/// Returns whether a text has the parts between `…`, in this order.
fn has_in_order(text: &str, parts: &str) -> bool {
    let mut rest = Some(text);
    for part in parts.split('…').map(str::trim) {
        rest = rest
            .and_then(|rest| rest.split_once(part))
            .map(|(_, rest)| rest);
    }
    rest.is_some()
}

/// Replaces `@role name` by refs.
fn resolved(value: Value, answers: &[String], server: Server) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => match text.strip_prefix('@') {
            Some(element) => {
                Value::String(find(element, answers, server).ok_or_else(|| element.to_owned())?)
            }
            None => Value::String(text),
        },
        Value::Array(items) => {
            let items = items
                .into_iter()
                .map(|item| resolved(item, answers, server));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Object(fields) => {
            let fields = fields
                .into_iter()
                .map(|(key, value)| Ok((key, resolved(value, answers, server)?)));
            Value::Object(fields.collect::<Result<_, String>>()?)
        }
        other => other,
    })
}

/// Returns the ref of an element in the newest answer that has it: one with this name, or else with this text on its line.
fn find(element: &str, answers: &[String], server: Server) -> Option<String> {
    let (role, name) = element.split_once(' ').unwrap_or((element, ""));
    answers
        .iter()
        .rev()
        .find_map(|answer| find_in(&server.parts(answer), role, name))
}

/// Looks for an element in the lines of an answer, or in its elements with their texts.
fn find_in(lines: &[Vec<Part>], role: &str, name: &str) -> Option<String> {
    let mut by_text = None;
    for parts in lines {
        for (index, part) in parts.iter().enumerate() {
            let Part::Node(node) = part else { continue };
            let is_wanted = (role == "*" || node.role == role) && node.reference.is_some();
            if !is_wanted {
                continue;
            }
            let text = match parts.get(index + 1) {
                Some(Part::Text(text)) => Some(text.as_str()),
                _ => None,
            };
            if name.is_empty() || node.name.as_deref() == Some(name) || text == Some(name) {
                return node.reference.clone();
            }
            if by_text.is_none() && parts.iter().any(|part| contains(part, name)) {
                by_text = node.reference.clone();
            }
        }
    }
    by_text
}

fn contains(part: &Part, text: &str) -> bool {
    match part {
        Part::Text(shown) => shown.contains(text),
        Part::Node(node) => {
            let shown = [&node.name, &node.value].into_iter().flatten();
            shown.into_iter().any(|shown| shown.contains(text))
        }
    }
}
