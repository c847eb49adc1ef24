//! A snapshot as lines with their indentation, in either style.

use crate::snapshot::{Node, Part, parse_compact, parse_full};

/// The style of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Compact,
    Playwright,
}

/// A snapshot.
pub(super) struct Lines {
    lines: Vec<Line>,
    /// The lines that cannot be read.
    pub(super) faults: Vec<String>,
}

struct Line {
    indent: usize,
    text: String,
    parts: Vec<Part>,
}

/// An element of a snapshot.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) node: &'a Node,
    lines: &'a [Line],
    line: usize,
    part: usize,
}

impl Style {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Playwright => "playwright",
        }
    }
}

impl Lines {
    pub(super) fn read(text: &str, style: Style) -> Self {
        let mut lines = Vec::new();
        let mut faults = Vec::new();
        for line in text.lines() {
            let indent = line.len() - line.trim_start().len();
            let trimmed = line.trim_start();
            let parsed = match style {
                Style::Compact => parse_compact(trimmed),
                Style::Playwright if is_property(trimmed) => Ok(Vec::new()),
                Style::Playwright => Ok(parse_full(trimmed)),
            };
            match parsed {
                Ok(parts) => lines.push(Line {
                    indent,
                    text: trimmed.to_owned(),
                    parts,
                }),
                Err(fault) => faults.push(fault),
            }
        }
        Self { lines, faults }
    }

    /// Returns the elements with refs.
    pub(super) fn shown(&self) -> impl Iterator<Item = Shown<'_>> {
        self.lines.iter().enumerate().flat_map(move |(line, it)| {
            it.parts
                .iter()
                .enumerate()
                .filter_map(move |(part, it)| match it {
                    Part::Node(node) if node.reference.is_some() => Some(Shown {
                        node,
                        lines: &self.lines,
                        line,
                        part,
                    }),
                    _ => None,
                })
        })
    }

    /// Returns the element with a ref.
    pub(super) fn find(&self, reference: &str) -> Option<Shown<'_>> {
        self.shown()
            .find(|shown| shown.node.reference.as_deref() == Some(reference))
    }

    /// Returns all names, texts, values and placeholders, one a line.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for part in self.lines.iter().flat_map(|line| &line.parts) {
            add(&mut text, part);
        }
        text
    }

    /// Returns all names and texts that are not marked as hidden, one a line.
    pub(super) fn unmarked_text(&self) -> String {
        let mut text = String::new();
        for part in self.lines.iter().flat_map(|line| &line.parts) {
            let is_marked = match part {
                Part::Text(text) => text.contains("[hidden-text]"),
                Part::Node(node) => node.states.contains("hidden-text"),
            };
            if !is_marked {
                add(&mut text, part);
            }
        }
        text
    }

    /// Returns the texts that are marked as hidden.
    pub(super) fn marked_texts(&self) -> Vec<&str> {
        let parts = self.lines.iter().flat_map(|line| &line.parts);
        let texts = parts.filter_map(|part| match part {
            Part::Text(text) => text.strip_prefix("[hidden-text] "),
            Part::Node(_) => None,
        });
        texts.collect()
    }
}

impl Shown<'_> {
    /// Returns the names, texts and placeholders of the line and of the lines below it.
    pub(super) fn content(&self) -> String {
        let own = &self.lines[self.line];
        let mut text = String::new();
        add(&mut text, &Part::Node(self.node.clone()));
        for part in &own.parts[self.part + 1..] {
            add(&mut text, part);
        }
        let below = self.lines[self.line + 1..]
            .iter()
            .take_while(|line| line.indent > own.indent);
        for line in below {
            for part in &line.parts {
                add(&mut text, part);
            }
            // Properties have no parts.
            if line.parts.is_empty() {
                text += &line.text;
                text.push('\n');
            }
        }
        text
    }
}

fn is_property(line: &str) -> bool {
    line.starts_with("- /")
}

fn add(text: &mut String, part: &Part) {
    let mut push = |part: &str| {
        text.push_str(part);
        text.push('\n');
    };
    match part {
        Part::Text(text) => push(&text.replace("[hidden-text] ", "")),
        Part::Node(node) => {
            node.name.iter().for_each(|name| push(name));
            for state in &node.states {
                if let Some(placeholder) = state.strip_prefix("placeholder=") {
                    push(
                        &serde_json::from_str(placeholder)
                            .unwrap_or_else(|_| placeholder.to_owned()),
                    );
                }
            }
        }
    }
}
