//! The comparison of a snapshot with what a person can act on and read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::snapshot::{CONTROLS, Node};
use crate::tasks::Outcome;

use super::lines::{Lines, Shown, Style};

/// What the judge found on a page, in both styles.
#[derive(Debug, Default)]
pub struct Judgement {
    /// The numbers of the compact style.
    pub counts: Counts,
    /// The differences, each with its style.
    pub differences: BTreeSet<String>,
    /// The task of the page.
    pub task: Option<Outcome>,
}

/// What a page has, and what its compact snapshot does not have.
#[derive(Debug, Default, Clone, Copy, Serialize, Deserialize)]
pub struct Counts {
    /// The elements that a person can act on.
    pub elements: usize,
    /// Those without a ref.
    pub missing_elements: usize,
    /// The names of these elements.
    pub names: usize,
    /// Those that are not shown.
    pub missing_names: usize,
    /// The roles, states and values that their lines do not say.
    pub missing_states: usize,
    /// The texts.
    pub texts: usize,
    /// Those that are not shown.
    pub missing_texts: usize,
    /// Marks on what can be seen.
    pub false_marks: usize,
    /// The elements of the peer's snapshot.
    pub peers: usize,
    /// The controls among them that are missing, or have another role or name.
    pub missing_peers: usize,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            elements,
            missing_elements,
            names,
            missing_names,
            missing_states,
            texts,
            missing_texts,
            false_marks,
            peers,
            missing_peers,
        } = self;
        write!(
            f,
            "{elements} | {missing_elements} | {names} | {missing_names} | {missing_states} | {texts} | {missing_texts} | {false_marks} | {peers} | {missing_peers}"
        )
    }
}

/// What the script in the page reports.
#[derive(Debug, Deserialize)]
pub(super) struct Report {
    targets: Vec<Target>,
    texts: Vec<Run>,
    /// Whether the element of each ref can be seen.
    seen: BTreeMap<String, bool>,
    /// The refs that stand for each element of the peer; `None` where the page does not have it.
    peer: Vec<Option<Vec<String>>>,
}

/// An element that a person can act on.
#[derive(Debug, Deserialize)]
struct Target {
    what: String,
    reason: String,
    roles: Vec<String>,
    name: String,
    states: Vec<String>,
    value: String,
    refs: Vec<String>,
}

/// A text that a person can read.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    text: String,
    is_joined: bool,
}

/// The snapshot of the peer.
pub(super) struct Peer {
    pub(super) elements: Vec<PeerElement>,
}

pub(super) struct PeerElement {
    pub(super) node: Node,
    pub(super) content: String,
    pub(super) path: String,
}

impl Judgement {
    /// Adds the outcome of the task. What the last answer was is no part of the difference.
    pub(super) fn add_task(&mut self, outcome: Outcome) {
        let first = outcome
            .failure
            .iter()
            .filter_map(|failure| failure.lines().next());
        self.differences.extend(first.map(str::to_owned));
        self.task = Some(outcome);
    }

    pub(super) fn compare(&mut self, style: Style, lines: &Lines, report: &Report, peer: &Peer) {
        let mut counts = Counts {
            elements: report.targets.len(),
            texts: report.texts.len(),
            peers: peer.elements.len(),
            ..Counts::default()
        };
        let mut found = Vec::new();
        found.extend(
            lines
                .faults
                .iter()
                .map(|fault| format!("cannot be read: {fault}")),
        );
        for target in &report.targets {
            let faults = target.faults(lines);
            counts.names += usize::from(!target.name.is_empty());
            counts.missing_elements += usize::from(faults.contains(&Fault::NoRef));
            counts.missing_names += usize::from(faults.contains(&Fault::NoName));
            let is_state = |fault: &&Fault| !matches!(fault, Fault::NoRef | Fault::NoName);
            counts.missing_states += faults.iter().filter(is_state).count();
            found.extend(faults.iter().map(|fault| fault.sentence(target)));
        }
        let names = report.targets.iter().map(|target| target.name.as_str());
        let texts = missing_texts(&report.texts, &names.collect(), &lines.text());
        counts.missing_texts = texts.len();
        found.extend(texts);
        let marks = false_marks(lines, report);
        counts.false_marks = marks.len();
        found.extend(marks);
        let peers = missing_peers(lines, report, peer);
        counts.missing_peers = peers.len();
        found.extend(peers);
        if style == Style::Compact {
            self.counts = counts;
        }
        let mut counted: BTreeMap<String, usize> = BTreeMap::new();
        for difference in found {
            *counted.entry(without_numbers(&difference)).or_default() += 1;
        }
        for (difference, count) in counted {
            let times = if count > 1 {
                format!(" (×{count})")
            } else {
                String::new()
            };
            let difference = format!("{difference}{times}");
            let other = format!("{}: {difference}", Style::Compact.name());
            let difference = match self.differences.remove(&other) {
                true => format!("both: {difference}"),
                false => format!("{}: {difference}", style.name()),
            };
            self.differences.insert(difference);
        }
    }
}

/// What is wrong with the line of an element.
#[derive(Debug, Clone, PartialEq)]
enum Fault {
    NoRef,
    Role(String),
    NoName,
    NoState(String),
    NoValue,
}

impl Fault {
    fn sentence(&self, target: &Target) -> String {
        let Target { what, reason, .. } = target;
        match self {
            Self::NoRef => format!("no ref: `{what}` ({reason})"),
            Self::Role(role) => {
                format!(
                    "role: `{what}` ({reason}) is {role}, not {}",
                    target.roles.join(" or ")
                )
            }
            Self::NoName => format!("no name: `{what}` ({reason}): {:?}", target.name),
            Self::NoState(state) => format!("no state: `{what}` ({reason}): {state}"),
            Self::NoValue => format!("no value: `{what}` ({reason}): {:?}", target.value),
        }
    }
}

impl Target {
    /// Returns what is wrong with the line that says most of the element.
    fn faults(&self, lines: &Lines) -> Vec<Fault> {
        let shown = self
            .refs
            .iter()
            .filter_map(|reference| lines.find(reference));
        let best = shown.map(|shown| self.misfits(shown)).min_by_key(Vec::len);
        best.unwrap_or_else(|| {
            let mut faults = vec![Fault::NoRef];
            if !has_text(&lines.text(), &self.name) {
                faults.push(Fault::NoName);
            }
            faults
        })
    }

    fn misfits(&self, shown: Shown<'_>) -> Vec<Fault> {
        let mut faults = Vec::new();
        let Node {
            role,
            states,
            value,
            ..
        } = shown.node;
        if !self.roles.is_empty() && !self.roles.contains(role) {
            faults.push(Fault::Role(role.clone()));
        }
        let content = shown.content();
        if !has_text(&content, &self.name) {
            faults.push(Fault::NoName);
        }
        let missing = self.states.iter().filter(|state| !states.contains(*state));
        faults.extend(missing.map(|state| Fault::NoState(state.clone())));
        let has_value = has_text(&content, &self.value)
            || value
                .as_ref()
                .is_some_and(|value| has_text(value, &self.value));
        if !has_value {
            faults.push(Fault::NoValue);
        }
        faults
    }
}

/// Returns the texts that are shown less often than they can be read, or together with other words. A text that is a name need not be
/// repeated.
fn missing_texts(runs: &[Run], names: &BTreeSet<&str>, shown: &str) -> Vec<String> {
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let letters = without_spaces(shown);
    let mut wanted: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
    for run in runs {
        let entry = wanted.entry(&run.text).or_default();
        entry.0 += 1;
        entry.1 |= run.is_joined;
    }
    let mut missing = Vec::new();
    for (text, (count, is_joined)) in wanted {
        let loose = letters.matches(&*without_spaces(text)).count();
        let strict = occurrences(&words, text);
        let quoted: String = text.chars().take(60).collect();
        if loose == 0 {
            missing.push(format!("no text: {quoted:?}"));
        } else if strict == 0 && !is_joined {
            missing.push(format!("words run together: {quoted:?}"));
        } else if loose < count && !names.contains(text) {
            missing.push(format!("text shown {loose} of {count} times: {quoted:?}"));
        }
    }
    missing
}

/// Counts where a text is not a part of a longer word.
fn occurrences(words: &str, text: &str) -> usize {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let found = words.match_indices(text).filter(|(at, _)| {
        let before = is_word(words[..*at].chars().next_back()) && is_word(text.chars().next());
        let after =
            is_word(words[at + text.len()..].chars().next()) && is_word(text.chars().next_back());
        !before && !after
    });
    found.count()
}

/// Returns the marks of hidden text on what can be seen.
fn false_marks(lines: &Lines, report: &Report) -> Vec<String> {
    let nodes = lines.shown().filter(|shown| {
        let reference = shown.node.reference.as_deref().unwrap_or_default();
        shown.node.states.contains("hidden-text") && report.seen.get(reference) == Some(&true)
    });
    let nodes = nodes.map(|shown| {
        format!(
            "false mark: {} {:?}",
            shown.node.role,
            shown.node.name.as_deref().unwrap_or_default()
        )
    });
    let texts: BTreeSet<_> = report
        .texts
        .iter()
        .map(|run| without_spaces(&run.text))
        .collect();
    let marked = lines.marked_texts().into_iter();
    let unmarked = lines.unmarked_text();
    let is_wrong =
        |text: &&str| texts.contains(&without_spaces(text)) && !has_text(&unmarked, text);
    let marked = marked.filter(is_wrong);
    nodes
        .chain(marked.map(|text| format!("false mark: text {text:?}")))
        .collect()
}

/// Returns the elements of the peer's snapshot that are not in ours: controls and clickable elements by role and name, others by name.
fn missing_peers(lines: &Lines, report: &Report, peer: &Peer) -> Vec<String> {
    let all = lines.text();
    let mut missing = Vec::new();
    for (element, refs) in peer.elements.iter().zip(&report.peer) {
        let Some(refs) = refs else { continue };
        let PeerElement { node, content, .. } = element;
        let name = node.name.as_deref().unwrap_or_default();
        let text: String = content
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .take(40)
            .collect();
        let title = format!("{} {name:?} ({text})", node.role);
        let is_control = CONTROLS.contains(&&*node.role);
        let shown: Vec<_> = refs
            .iter()
            .filter_map(|reference| lines.find(reference))
            .collect();
        if !is_control && !node.is_clickable {
            if !has_text(&all, name) {
                missing.push(format!("peer: no name: {title}"));
            }
        } else if shown.is_empty() {
            missing.push(format!("peer: no ref: {title}"));
        } else if is_control && !shown.iter().any(|it| it.node.role == node.role) {
            missing.push(format!("peer: role: {title} is {}", shown[0].node.role));
        } else if !shown.iter().any(|it| has_text(&it.content(), name)) {
            missing.push(format!("peer: no name: {title}"));
        }
    }
    missing
}

fn has_text(text: &str, part: &str) -> bool {
    without_spaces(text).contains(&without_spaces(part))
}

/// Removes spaces, and characters without a width.
fn without_spaces(text: &str) -> String {
    let is_blank = |c: &char| {
        c.is_whitespace()
            || matches!(
                c,
                '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{2060}' | '\u{ad}'
            )
    };
    text.chars().filter(|c| !is_blank(c)).collect()
}

/// Returns a difference on one line, with `#` for numbers, so that the days of a calendar are one difference.
fn without_numbers(text: &str) -> String {
    let mut masked = String::new();
    for c in text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
    {
        match c.is_ascii_digit() {
            true if masked.ends_with('#') => {}
            true => masked.push('#'),
            false => masked.push(c),
        }
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Run {
        Run {
            text: text.to_owned(),
            is_joined: false,
        }
    }

    fn target(name: &str, refs: &[&str]) -> Target {
        Target {
            what: "<button>".to_owned(),
            reason: "native".to_owned(),
            roles: vec!["button".to_owned()],
            name: name.to_owned(),
            states: vec!["pressed".to_owned()],
            value: String::new(),
            refs: refs.iter().map(|&it| it.to_owned()).collect(),
        }
    }

    #[test]
    fn a_text_is_missing_run_together_or_shown_too_rarely() {
        let runs = ["One", "Two", "Three", "Three"].map(run);
        let missing = missing_texts(&runs, &BTreeSet::new(), "Three Twofold");
        let expected = [
            "no text: \"One\"",
            "text shown 1 of 2 times: \"Three\"",
            "words run together: \"Two\"",
        ];
        assert_eq!(missing, expected);
    }

    #[test]
    fn a_name_may_be_in_the_line_or_below_it() {
        let lines = Lines::read(
            "button [pressed] e1\n Save\n now\nlink \"Other\" e2",
            Style::Compact,
        );
        assert_eq!(target("Save now", &["e1"]).faults(&lines), []);
        let faults = target("Save later", &["e1"]).faults(&lines);
        assert_eq!(faults, [Fault::NoName]);
    }

    #[test]
    fn a_line_has_role_and_state() {
        let lines = Lines::read("- link \"Save\" [ref=e1]", Style::Playwright);
        let faults = target("Save", &["e1"]).faults(&lines);
        let state = Fault::NoState("pressed".to_owned());
        assert_eq!(faults, [Fault::Role("link".to_owned()), state]);
        assert_eq!(target("Save", &["e2"]).faults(&lines), [Fault::NoRef]);
    }
}
