//! Compares generated files with the committed ones. `UPDATE_EXPECT=1 cargo test -p playhouse --test generated` updates them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use engine::BrowserKind;
use expect_test::expect_file;
use server::{BrowserColumn, SessionNaming};
use testkit::{Engine, SpecCase};

/// Compares a file of the repository with the generated text.
fn check(path: &str, generated: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path);
    expect_file![path].assert_eq(generated);
}

#[test]
fn the_reference_of_options_is_fresh() {
    check("docs/config.md", &server::config_reference());
}

#[test]
fn the_schema_of_the_configuration_file_is_fresh() {
    check(
        "docs/config.schema.json",
        &format!("{:#}\n", server::config_schema()),
    );
}

#[test]
fn the_reference_of_tools_is_fresh() {
    let browsers = browsers();
    check("docs/tools.md", &server::tool_reference(&browsers));
}

#[test]
fn the_links_for_clients_are_fresh() {
    const BEGIN: &str = "<!-- links: written by a test -->\n";
    const END: &str = "\n<!-- end of links -->";
    for path in ["README.md", "docs/installation.md"] {
        let whole = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(path);
        let text = std::fs::read_to_string(whole).expect(path);
        let (before, rest) = text.split_once(BEGIN).expect(BEGIN);
        let (_, after) = rest.split_once(END).expect(END);
        let links = server::client_links();
        check(path, &format!("{before}{BEGIN}{links}{END}{after}"));
    }
}

#[test]
fn the_reference_of_code_is_fresh() {
    check("docs/run-code.md", &server::code_reference());
}

#[test]
fn the_reference_of_errors_is_fresh() {
    check("docs/errors.md", &server::error_reference());
}

#[test]
fn the_reference_of_browsers_is_fresh() {
    let browsers = browsers();
    check("docs/browsers.md", &server::browser_reference(&browsers));
}

/// Returns the results of each browser by the cases of the specs and the known failures, which the spec runs verify.
fn browsers() -> Vec<BrowserColumn> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cases = testkit::spec_cases(here.join("tests/spec"));
    cases.extend(testkit::spec_cases(here.join("../engine/tests/spec")));
    let column = |engine: Engine| {
        let list = here.join(format!("tests/expectations/{}.txt", engine.name()));
        let differences = match list.exists() {
            true => testkit::known_failures(list),
            false => BTreeMap::new(),
        };
        let mut tools: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for case in &cases {
            let known = differences.get(&case.name);
            let concerned = known.map(|known| known.tools.as_ref());
            let strangers = concerned
                .flatten()
                .map(|tools| tools.difference(&case.tools));
            let strangers: Vec<_> = strangers.into_iter().flatten().collect();
            assert!(strangers.is_empty(), "{} calls no {strangers:?}", case.name);
            for tool in about(case) {
                let (all, passed) = tools.entry(tool.clone()).or_default();
                *all += 1;
                *passed += usize::from(match concerned {
                    None => true,
                    Some(None) => false,
                    Some(Some(tools)) => !tools.contains(tool),
                });
            }
        }
        let (name, kind) = match engine {
            Engine::Chromium => ("Chromium", BrowserKind::Chromium),
            Engine::Firefox => ("Firefox", BrowserKind::Firefox),
            Engine::Webkit => ("WebKit", BrowserKind::Webkit),
        };
        BrowserColumn {
            name,
            kind,
            tools,
            differences: differences
                .into_iter()
                .map(|(case, known)| (case, known.reason))
                .collect(),
            cases: cases.len(),
        }
    };
    Engine::ALL.map(column).into()
}

/// Returns the tools that a case tests, without those that only open a page or read its state, unless there are no others.
fn about(case: &SpecCase) -> Vec<&String> {
    const BESIDES: [&str; 5] = [
        "browser_navigate",
        "browser_snapshot",
        "browser_evaluate",
        "navigate",
        "evaluate",
    ];
    let besides = |tool: &&String| BESIDES.contains(&tool.as_str());
    let own: Vec<_> = case.tools.iter().filter(|tool| !besides(tool)).collect();
    match own.is_empty() {
        true => case.tools.iter().collect(),
        false => own,
    }
}

#[test]
fn each_tool_is_as_clients_see_it() {
    for tool in server::all_tools() {
        let path = format!("crates/playhouse/tests/tools/{}.json", tool.name);
        // Tools of @playwright/mcp keep their name if there are no others.
        let naming = match tool.name.starts_with("browser_") {
            true => SessionNaming::Impossible,
            false => SessionNaming::Optional,
        };
        check(&path, &format!("{:#}\n", tool.to_json(naming)));
    }
}

/// Every tool needs a spec.
#[test]
fn each_tool_stands_in_a_spec() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spec");
    let mut called = BTreeSet::new();
    calls_below(&folder, &mut called);
    let without: Vec<_> = server::all_tools()
        .map(|tool| tool.name)
        .filter(|name| !called.contains(*name))
        .collect();
    assert!(without.is_empty(), "no spec calls {without:?}");
}

/// Collects the first words of the lines in the specs of a folder, which include the names of called tools.
fn calls_below(folder: &Path, called: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            calls_below(&path, called);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let text = std::fs::read_to_string(&path).expect("the spec can be read");
            let words = text.lines().filter_map(|line| line.split(' ').next());
            called.extend(words.map(str::to_owned));
        }
    }
}
