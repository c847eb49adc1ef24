//! Specs: Markdown files that hold pages, calls, and the replies we expect. docs/testing.md
//! describes the format; this reads, runs, compares and rewrites them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

mod compare;
mod document;
mod expectations;
mod part;
mod report;
mod runner;
mod schema;

pub(crate) use compare::matches;
pub use compare::{Placeholders, difference};
pub use report::Report;
pub use runner::Runner;

/// One case of the specs.
#[derive(Debug, Clone)]
pub struct SpecCase {
    /// `FILE > TITLE`, as in lists of known failures.
    pub name: String,
    /// The tools that it calls.
    pub tools: BTreeSet<String>,
}

/// The cases of all specs below a folder, without running any.
pub fn spec_cases(folder: impl AsRef<Path>) -> Vec<SpecCase> {
    let mut all = Vec::new();
    for (file, document) in runner::documents_in(folder.as_ref()) {
        let document = document.unwrap_or_else(|fault| panic!("{fault}"));
        all.extend(document.cases.iter().map(|case| SpecCase {
            name: format!("{file} > {}", case.title),
            tools: case.tools(),
        }));
    }
    all
}

/// Why a case fails that may.
#[derive(Debug, Clone)]
pub struct KnownFailure {
    /// The reason.
    pub reason: String,
    /// The tools that do not do there what they do elsewhere; none if only words or figures differ, and `None` if nobody said.
    pub tools: Option<BTreeSet<String>>,
}

/// A list of known failures by their cases, such as `firefox.txt`. What is not in it passes, or the tests do not.
pub fn known_failures(path: impl AsRef<Path>) -> BTreeMap<String, KnownFailure> {
    let reasons = expectations::Expectations::read(path.as_ref()).into_reasons();
    let read = |reason: String| match reason
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        None => KnownFailure {
            reason,
            tools: None,
        },
        Some((tools, reason)) => KnownFailure {
            reason: reason.trim().to_owned(),
            tools: Some(tools.split_whitespace().map(str::to_owned).collect()),
        },
    };
    reasons
        .into_iter()
        .map(|(case, reason)| (case, read(reason)))
        .collect()
}
