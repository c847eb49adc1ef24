//! The reference document of browsers: the support of features, as the backends report it, and the cases of the specs that each browser
//! passes.

use crate::error::instead;
use engine::{BrowserKind, Feature};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A browser with its results in the specs.
#[derive(Debug, Clone)]
pub struct BrowserColumn {
    /// The name for readers.
    pub name: &'static str,
    /// The kind of the browser.
    pub kind: BrowserKind,
    /// For each tool, the number of cases of the specs about it, and how many of them pass.
    pub tools: BTreeMap<String, (usize, usize)>,
    /// The cases that the browser does not pass, as `FILE > TITLE`, with the reason.
    pub differences: BTreeMap<String, String>,
    /// The number of all cases.
    pub cases: usize,
}

impl BrowserColumn {
    /// Returns `✓` if all cases about a tool pass, `–` if none, and otherwise their share, such as `5/6`.
    pub(super) fn cell(&self, tool: &str) -> String {
        match self.tools.get(tool) {
            Some((cases, passed)) if passed == cases => "✓".to_owned(),
            None | Some((_, 0)) => "–".to_owned(),
            Some((cases, passed)) => format!("{passed}/{cases}"),
        }
    }
}

/// Returns the text of `docs/browsers.md`: the features that browsers do not support, and the cases that they do not pass.
pub fn browser_reference(browsers: &[BrowserColumn]) -> String {
    let mut text = String::from(
        "# Browsers\n\nThis file is generated from the code and from the specs, which run on every browser: `UPDATE_EXPECT=1 cargo test -p playhouse --test generated`. A case that fails and is not listed here fails the tests, and so does one that is listed and passes.\n\n",
    );
    text.push_str("| browser | cases passed | of all |\n|---|---|---|\n");
    for browser in browsers {
        let passed = browser.cases - browser.differences.len();
        let percent = 100 * passed / browser.cases.max(1);
        let _ = writeln!(
            text,
            "| {} | {passed} of {} | {percent} % |",
            browser.name, browser.cases
        );
    }
    text.push_str("\n## What a browser cannot do\n\nA call that needs one of these features fails with `UNSUPPORTED_BY_BROWSER` before it changes anything.\n\n| feature |");
    for browser in browsers {
        let _ = write!(text, " {} |", browser.name);
    }
    let _ = writeln!(text, "\n|---|{}", "---|".repeat(browsers.len()));
    for feature in Feature::all() {
        let _ = write!(text, "| {} |", feature.name());
        for browser in browsers {
            let alternative = browser.kind.capabilities().alternative(*feature);
            let _ = write!(text, " {} |", alternative.map_or("✓", instead));
        }
        text.push('\n');
    }
    text.push_str("\nVideos have every change of a page of Chromium. Pages of Firefox and WebKit are polled, at most 10 times each second ([recording.md](recording.md#video)).\n");
    text.push_str("\n### In a browser that runs elsewhere\n\nA browser that is reached with `--cdp-endpoint` or `--webdriver-endpoint` lacks more, because Playhouse cannot lead it through a proxy on this machine. Domains and origins hold there for the requests of a Chromium, but not for WebRTC and DNS ([decision 16](decisions/0016-egress.md)).\n\n| feature | browser | |\n|---|---|---|\n");
    for browser in browsers {
        let (here, elsewhere) = (
            browser.kind.capabilities(),
            browser.kind.remote_capabilities(),
        );
        for feature in Feature::all() {
            if let (true, Some(alternative)) = (here.has(*feature), elsewhere.alternative(*feature))
            {
                let hint = instead(alternative);
                let _ = writeln!(text, "| {} | {} | {hint} |", feature.name(), browser.name);
            }
        }
    }
    let _ = write!(
        text,
        "\n### In your own Chrome\n\nTabs that the browser's extension gives ([your own Chrome](installation.md#your-own-chrome)) lack more, because Playhouse does not set up the browser.\n\n| feature | |\n|---|---|\n"
    );
    for feature in Feature::all() {
        if let Some(alternative) = engine::extension_capabilities().alternative(*feature) {
            let _ = writeln!(text, "| {} | {} |", feature.name(), instead(alternative));
        }
    }
    for browser in browsers {
        if browser.differences.is_empty() {
            continue;
        }
        let _ = write!(
            text,
            "\n## What {} does otherwise\n\nCases of the specs that it does not pass, and why.\n\n| case | why |\n|---|---|\n",
            browser.name
        );
        for (case, reason) in &browser.differences {
            let _ = writeln!(text, "| {case} | {reason} |");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_has_a_mark_or_a_note_about_its_support() {
        let tools = [("whole", (3, 3)), ("part", (6, 5)), ("none", (2, 0))];
        let column = BrowserColumn {
            name: "Some",
            kind: BrowserKind::Firefox,
            tools: tools
                .into_iter()
                .map(|(name, tally)| (name.to_owned(), tally))
                .collect(),
            differences: BTreeMap::new(),
            cases: 11,
        };
        let cells = ["whole", "part", "none", "untried"].map(|tool| column.cell(tool));
        assert_eq!(cells, ["✓", "5/6", "–", "–"]);
    }
}
