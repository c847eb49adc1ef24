//! What is generated from the code and committed. `UPDATE_EXPECT=1 cargo test` writes it anew.

use std::collections::BTreeSet;
use std::path::Path;

use expect_test::expect_file;

/// Compares a file of the repository with what the code says today.
fn check(path: &str, generated: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path);
    expect_file![path].assert_eq(generated);
}

#[test]
fn the_reference_of_options_is_fresh() {
    check("docs/config.md", &playhouse::config_reference());
}

#[test]
fn the_schema_of_the_configuration_file_is_fresh() {
    check(
        "docs/config.schema.json",
        &format!("{:#}\n", playhouse::config_schema()),
    );
}

#[test]
fn the_reference_of_tools_is_fresh() {
    check("docs/tools.md", &playhouse::tool_reference());
}

#[test]
fn the_reference_of_code_is_fresh() {
    check("docs/run-code.md", &playhouse::code_reference());
}

#[test]
fn the_reference_of_errors_is_fresh() {
    check("docs/errors.md", &playhouse::error_reference());
}

#[test]
fn each_tool_is_as_clients_see_it() {
    for tool in playhouse::all_tools() {
        let path = format!("crates/playhouse/tests/tools/{}.json", tool.name);
        check(&path, &format!("{:#}\n", tool.to_json(false)));
    }
}

/// A tool without a spec is a tool nobody has tried.
#[test]
fn each_tool_stands_in_a_spec() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spec");
    let mut called = BTreeSet::new();
    calls_below(&folder, &mut called);
    let without: Vec<_> = playhouse::all_tools()
        .map(|tool| tool.name)
        .filter(|name| !called.contains(*name))
        .collect();
    assert!(without.is_empty(), "no spec calls {without:?}");
}

/// The first words of the lines in the specs of a folder: where a tool is called, its name.
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

/// The part of the README between the markers `<!-- tools:begin -->` and `<!-- tools:end -->`.
#[test]
fn the_table_of_tools_in_the_readme_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(path).expect("the README can be read");
    let (start, end) = ("<!-- tools:begin -->\n", "<!-- tools:end -->");
    let (before, rest) = readme.split_once(start).expect("the README has a table");
    let (_, after) = rest.split_once(end).expect("the table has an end");
    let table = playhouse::tool_table();
    check("README.md", &format!("{before}{start}{table}{end}{after}"));
}
