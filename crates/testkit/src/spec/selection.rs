//! The cases that run on Firefox and WebKit in each run of CI; `make nightly` runs all.
//!
//! Each tool has one case, and each feature of a page has one in each folder of specs; the cases are those that do it with the fewest calls
//! and browsers. Tools of [`SAME_ON_EACH_ENGINE`] need no case, and a call that must fail is none of its tool.

use std::collections::BTreeSet;

use super::document::{Case, Document, Step};
use super::part::Part;

/// What a browser of its own costs, in calls.
const OWN_BROWSER_COST: usize = 8;
/// The delay of a response, in ms, that costs as much as a call.
const DELAY_OF_CALL: u128 = 250;

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

/// A case that can be selected.
struct Candidate {
    /// The indexes of the document and of the case.
    at: (usize, usize),
    needs: BTreeSet<String>,
    /// About how long it takes, in calls.
    cost: usize,
}

/// Keeps the cases that run on Firefox and WebKit. Cases that are known to fail there prove nothing about others.
pub(super) fn select(
    documents: &mut Vec<(String, Document)>,
    is_known_to_fail: impl Fn(&str) -> bool,
) {
    let mut candidates = Vec::new();
    for (file, (name, document)) in documents.iter().enumerate() {
        let folder = name.split('/').next().unwrap_or_default();
        for (number, case) in document.cases.iter().enumerate() {
            if is_known_to_fail(&format!("{name} > {}", case.title)) {
                continue;
            }
            let browser = usize::from(document.setup.own_browser) * OWN_BROWSER_COST;
            let delays = case.resources.iter();
            let delays = delays.map(|(_, resource)| resource.delay.as_millis());
            let delays = usize::try_from(delays.sum::<u128>() / DELAY_OF_CALL).unwrap_or(0);
            candidates.push(Candidate {
                at: (file, number),
                needs: needs(case, folder),
                cost: 1 + case.steps.len() + browser + delays,
            });
        }
    }
    let selected = cover(&candidates);
    for (file, (_, document)) in documents.iter_mut().enumerate() {
        let mut numbers = 0..;
        let mut is_selected = || numbers.next().map(|number| (file, number));
        document
            .cases
            .retain(|_| is_selected().is_some_and(|at| selected.contains(&at)));
    }
    documents.retain(|(_, document)| !document.cases.is_empty());
}

/// Selects candidates that together have every need: again and again the one that has most of what is left, for its cost.
fn cover(candidates: &[Candidate]) -> BTreeSet<(usize, usize)> {
    let mut left: BTreeSet<&str> = candidates.iter().flat_map(Candidate::needs).collect();
    let mut selected = BTreeSet::new();
    while !left.is_empty() {
        let gain = |it: &Candidate| it.needs().filter(|need| left.contains(need)).count();
        let best = candidates.iter().max_by(|one, other| {
            let (one_gain, other_gain) = (gain(one) * other.cost, gain(other) * one.cost);
            // The first one, if there are several.
            one_gain.cmp(&other_gain).then(other.at.cmp(&one.at))
        });
        let best = best.expect("a candidate has the need");
        left.retain(|need| !best.needs.contains(*need));
        selected.insert(best.at);
    }
    selected
}

impl Candidate {
    fn needs(&self) -> impl Iterator<Item = &str> {
        self.needs.iter().map(String::as_str)
    }
}

/// Returns the tools, and the features with the folder, of a case that reach a backend.
fn needs(case: &Case, folder: &str) -> BTreeSet<String> {
    let steps = case.steps.iter().filter(|step| !fails(step));
    let tools = steps.map(|step| step.tool.clone());
    let tools = tools.filter(|tool| !SAME_ON_EACH_ENGINE.contains(&tool.as_str()));
    let pages = case.resources.iter();
    let pages = pages.map(|(_, resource)| String::from_utf8_lossy(&resource.body).into_owned());
    let calls = case.steps.iter().map(|step| step.arguments.clone());
    let text: String = pages.chain(calls).collect();
    let has = |texts: &[&str]| texts.iter().any(|it| text.contains(it));
    let features = FEATURES.iter().filter(|(_, texts)| has(texts));
    tools
        .chain(features.map(|(name, _)| format!("{folder}: {name}")))
        .collect()
}

/// Returns whether the call must fail.
fn fails(step: &Step) -> bool {
    step.replies.iter().any(|reply| {
        reply.part.expects_error()
            || reply.part == Part::Whole && reply.text.starts_with("### Error")
    })
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
    fn each_tool_and_each_feature_of_a_folder_has_a_case() {
        let one = [
            case("same", "browser_snapshot", "<p>"),
            case("one", "browser_of_tomorrow", ""),
            case("frame", "browser_snapshot", "<iframe>"),
            case(
                "long",
                "browser_click\nbrowser_close\nbrowser_find\nbrowser_find",
                "",
            ),
            case("click", "browser_click", ""),
            case("close", "browser_close", ""),
        ];
        let other = case("again", "browser_of_tomorrow", "");
        assert_eq!(
            selected(&one.concat(), &other, "none"),
            ["one", "frame", "click", "close"]
        );
        // A case that is known to fail does not count.
        assert_eq!(
            selected(&one.concat(), &other, "one"),
            ["frame", "click", "close", "again"]
        );
    }

    #[test]
    fn a_case_in_which_a_tool_must_fail_is_none_of_the_tool() {
        let failing = case("failing", "browser_click", "") + "```reply error\nError\n```\n";
        let passing = case("passing", "browser_click\nbrowser_click", "");
        assert_eq!(selected(&failing, &passing, "none"), ["passing"]);
    }

    #[test]
    fn a_slow_page_is_avoided() {
        let fast = case("fast", "browser_click\nbrowser_click", "");
        let slow = case("slow", "browser_click", "").replace("html", "html delay=800");
        assert_eq!(selected(&slow, &fast, "none"), ["fast"]);
    }

    #[test]
    fn a_browser_of_its_own_is_avoided() {
        let own = "---\nisolation: browser\n---\n".to_owned() + &case("own", "browser_click", "");
        let shared = case("shared", "browser_click\nbrowser_click", "");
        assert_eq!(selected(&own, &shared, "none"), ["shared"]);
    }
}
