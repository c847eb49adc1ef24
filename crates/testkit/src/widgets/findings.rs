//! The list of differences: by page, below the reason of each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::harness::is_nightly;
use crate::prerequisites::updates_expectations;

use super::judge::Judgement;

/// The reason of a difference that was not listed before.
const NEW: &str = "?";

/// The listed differences. Below the heading of a page, each paragraph is a reason and the differences that it explains.
pub(super) struct Listed {
    intro: String,
    /// The reasons by page and difference.
    reasons: BTreeMap<String, BTreeMap<String, String>>,
}

impl Listed {
    pub(super) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        let (intro, pages) = text.split_once("\n## ").unwrap_or((&text, ""));
        let mut reasons: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for page in pages.split("\n## ") {
            let Some((name, body)) = page.split_once('\n') else {
                continue;
            };
            for paragraph in body.trim().split("\n\n") {
                let mut lines = paragraph.lines();
                let reason = lines.next().unwrap_or_default();
                for line in lines {
                    let difference = line.trim_start_matches("- ").to_owned();
                    let of_page = reasons.entry(name.to_owned()).or_default();
                    of_page.insert(difference, reason.to_owned());
                }
            }
        }
        Self {
            intro: intro.trim_end().to_owned(),
            reasons,
        }
    }

    /// Compares the differences with the list, which is brought up to date when expectations are.
    pub(super) fn compare(&mut self, judgements: &BTreeMap<String, Judgement>) -> Vec<String> {
        let mut failures = Vec::new();
        for (page, judgement) in judgements {
            let listed = self.reasons.remove(page).unwrap_or_default();
            let known: BTreeSet<_> = listed.keys().cloned().collect();
            let found = &judgement.differences;
            if updates_expectations() {
                let bare = |it: &str| {
                    it.split_once(": ")
                        .map_or(String::new(), |(_, rest)| rest.to_owned())
                };
                let reason = |it: &String| {
                    let same = || listed.iter().find(|(known, _)| bare(known) == bare(it));
                    let reason = listed.get(it).or_else(|| same().map(|(_, reason)| reason));
                    reason.map_or(NEW, String::as_str).to_owned()
                };
                let now = found.iter().map(|it| (it.clone(), reason(it))).collect();
                self.reasons.insert(page.clone(), now);
                continue;
            }
            // What is listed for both styles may be right in one of them.
            let is_known = |it: &&String| {
                let in_both = it.split_once(": ").map(|(_, rest)| format!("both: {rest}"));
                known.contains(*it) || in_both.is_some_and(|it| known.contains(&it))
            };
            let new = found.iter().filter(|it| !is_known(it));
            failures.extend(new.map(|it| format!("{page}: {it}")));
            if is_nightly() {
                let gone = known.difference(found);
                failures.extend(
                    gone.map(|it| format!("{page}: listed, but does not occur any more: {it}")),
                );
            }
            let open = listed.iter().filter(|(_, reason)| *reason == NEW);
            failures.extend(open.map(|(it, _)| format!("{page}: listed without a reason: {it}")));
        }
        failures
    }

    pub(super) fn write(&self, path: &Path) {
        let mut text = self.intro.clone();
        for (page, reasons) in self
            .reasons
            .iter()
            .filter(|(_, reasons)| !reasons.is_empty())
        {
            text += &format!("\n\n## {page}\n");
            let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
            for (difference, reason) in reasons {
                by_reason.entry(reason).or_default().push(difference);
            }
            for (reason, differences) in by_reason {
                text += &format!("\n{reason}\n");
                for difference in differences {
                    text += &format!("- {difference}\n");
                }
            }
            text.truncate(text.trim_end().len());
        }
        text.push('\n');
        fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}
