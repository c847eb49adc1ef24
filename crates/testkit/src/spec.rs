//! Specs: Markdown files with pages, calls, and expected replies. docs/testing.md describes the format; this module reads, runs, compares
//! and rewrites them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::site::{Resource, Site};

mod compare;
mod document;
mod expectations;
mod part;
mod queue;
mod report;
mod runner;
mod schema;
mod selection;

pub(crate) use compare::matches;
pub use compare::{Placeholders, difference};
pub use report::Report;
pub use runner::Runner;
pub use schema::misfit;
pub use selection::SAME_ON_EACH_ENGINE;

/// A case of a spec.
#[derive(Debug, Clone)]
pub struct SpecCase {
    /// The name, `FILE > TITLE`, as in lists of known failures.
    pub name: String,
    /// The tools that it calls.
    pub tools: BTreeSet<String>,
    /// The path of the page that is opened first.
    pub start: Option<String>,
    resources: Vec<(String, Resource)>,
}

impl SpecCase {
    /// Adds the pages of the case to a site.
    pub fn add_pages(&self, site: &Site) {
        let names = Placeholders::new(site, Path::new(""), false);
        for (path, resource) in &self.resources {
            let body = names.fill(&String::from_utf8_lossy(&resource.body));
            let body = body.into_bytes();
            site.add(
                path,
                Resource {
                    body,
                    ..resource.clone()
                },
            );
        }
    }
}

/// Returns the cases of all specs below a folder, without running them.
pub fn spec_cases(folder: impl AsRef<Path>) -> Vec<SpecCase> {
    let mut all = Vec::new();
    for (file, document) in runner::documents_in(folder.as_ref()) {
        let document = document.unwrap_or_else(|fault| panic!("{fault}"));
        all.extend(document.cases.iter().map(|case| SpecCase {
            name: format!("{file} > {}", case.title),
            tools: case.tools(),
            start: case.start.clone(),
            resources: case.resources.clone(),
        }));
    }
    all
}

/// Why a case is expected to fail.
#[derive(Debug, Clone)]
pub struct KnownFailure {
    /// The reason.
    pub reason: String,
    /// The tools whose effect differs; empty if only texts or figures differ, and `None` if not specified.
    pub tools: Option<BTreeSet<String>>,
}

/// Reads a list of known failures by case, such as `firefox.txt`. All other cases must pass.
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
