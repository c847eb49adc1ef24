//! The cases that run on Firefox and WebKit in each run of CI; `make nightly` runs all.
//!
//! A case runs there if it needs something of a backend that few cases before it in the same folder need: a tool, or a feature of its page.
//! Tools of [`SAME_ON_EACH_ENGINE`] do not count, so a case that calls no others runs only as the first one of its file.

use std::collections::HashMap;

use super::document::{Case, Document};

/// The number of cases in a folder that run for each tool and feature.
const MAX_CASES: usize = 2;

/// Tools that reach a backend only by evaluating the injected script, which is the same on each engine, or not at all. What is not listed,
/// such as a new tool, may differ.
pub const SAME_ON_EACH_ENGINE: [&str; 27] = [
    "browser_audit_accessibility",
    "browser_check_page",
    "browser_evaluate",
    "browser_find",
    "browser_generate_locator",
    "browser_get_config",
    "browser_hide_highlight",
    "browser_highlight",
    "browser_snapshot",
    "browser_verify_element_visible",
    "browser_verify_list_visible",
    "browser_verify_text_visible",
    "browser_verify_value",
    "browser_wait_for",
    "element_exists",
    "evaluate",
    "extract_links",
    "extract_table",
    "find_element",
    "find_elements",
    "get_all_text",
    "get_attribute",
    "get_content",
    "get_text",
    "get_value",
    "is_enabled",
    "is_visible",
];

/// Features of a page that each engine has its own code for, and the texts by which a case is recognized.
const FEATURES: [(&str, &[&str]); 9] = [
    (
        "dialogs",
        &["alert(", "confirm(", "prompt(", "beforeunload"],
    ),
    ("downloads", &["download"]),
    ("file choosers", &["type=file", "showOpenFilePicker"]),
    ("frames", &["<iframe", "<frame"]),
    ("navigation", &["href=", "location", "action=", "history."]),
    (
        "network",
        &["fetch(", "XMLHttpRequest", "WebSocket", "EventSource"],
    ),
    ("shadow trees", &["closed"]),
    ("windows", &["open(", "_blank"]),
    ("workers", &["Worker("]),
];

/// Keeps the cases that run on Firefox and WebKit. Cases that are known to fail there prove nothing about others.
pub(super) fn select(
    documents: &mut Vec<(String, Document)>,
    is_known_to_fail: impl Fn(&str) -> bool,
) {
    let mut counts: HashMap<(String, String), usize> = HashMap::new();
    for (name, document) in &mut *documents {
        let folder = name.split('/').next().unwrap_or_default().to_owned();
        let mut is_first = true;
        document.cases.retain(|case| {
            let needs: Vec<_> = needs(case)
                .into_iter()
                .map(|need| (folder.clone(), need))
                .collect();
            let mut needs_count = needs.iter().map(|need| counts.get(need).copied());
            let is_rare = needs_count.any(|count| count.unwrap_or_default() < MAX_CASES);
            let runs = is_rare || is_first;
            if runs && !is_known_to_fail(&format!("{name} > {}", case.title)) {
                is_first = false;
                for need in needs {
                    *counts.entry(need).or_default() += 1;
                }
            }
            runs
        });
    }
    documents.retain(|(_, document)| !document.cases.is_empty());
}

/// Returns the tools and features of a case that reach a backend.
fn needs(case: &Case) -> Vec<String> {
    let tools = case.tools().into_iter();
    let tools = tools.filter(|tool| !SAME_ON_EACH_ENGINE.contains(&tool.as_str()));
    let pages = case.resources.iter();
    let pages = pages.map(|(_, resource)| String::from_utf8_lossy(&resource.body).into_owned());
    let calls = case.steps.iter().map(|step| step.arguments.clone());
    let text: String = pages.chain(calls).collect();
    let has = |texts: &[&str]| texts.iter().any(|it| text.contains(it));
    let features = FEATURES.iter().filter(|(_, texts)| has(texts));
    tools
        .chain(features.map(|(name, _)| (*name).to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the titles of the selected cases of two files.
    fn selected(one: &str, other: &str, known: &str) -> Vec<String> {
        let parsed = [("a/one.md", one), ("a/other.md", other)];
        let mut documents: Vec<_> = parsed
            .iter()
            .map(|(name, text)| {
                let document = Document::parse(name.as_ref(), text).expect("a spec");
                ((*name).to_owned(), document)
            })
            .collect();
        select(&mut documents, |case| case.ends_with(known));
        let cases = documents.iter().flat_map(|(_, document)| &document.cases);
        cases.map(|case| case.title.clone()).collect()
    }

    fn case(title: &str, tool: &str, page: &str) -> String {
        format!("## {title}\n```html\n{page}\n```\n```call\n{tool}\n```\n")
    }

    #[test]
    fn each_tool_and_feature_of_a_backend_has_some_cases() {
        let one: String = (1..=5)
            .map(|number| case(&format!("new {number}"), "browser_of_tomorrow", ""))
            .chain([case("same", "browser_snapshot", "<p>")])
            .chain([case("frame", "browser_snapshot", "<iframe>")])
            .collect();
        let other = case("first", "browser_snapshot", "") + &case("second", "browser_find", "");
        assert_eq!(
            selected(&one, &other, "none"),
            ["new 1", "new 2", "frame", "first"]
        );
        // A failure does not count.
        assert_eq!(
            selected(&one, &other, "new 2"),
            ["new 1", "new 2", "new 3", "frame", "first"]
        );
    }
}
