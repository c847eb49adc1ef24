//! The proofs that docs/requirements.md and docs/security.md name exist.

use std::fs;

use crate::{assert_none, files, root};

const HINT: &str = "Name the test that proves it now in docs/requirements.md.";

#[test]
fn proofs_named_by_the_requirements_exist() {
    let text = fs::read_to_string(root().join("docs/requirements.md")).expect("the requirements");
    let proofs: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with('|'))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .filter(|quoted| quoted.contains(['#', '§']) && quoted.contains('/'))
        .collect();
    assert!(proofs.len() > 50, "only {} proofs were found", proofs.len());
    let missing = proofs.into_iter().filter_map(missing).collect();
    assert_none(missing, HINT);
}

/// Each row of a criterion has a proof: a test, or a target of the Makefile.
#[test]
fn each_criterion_has_a_proof() {
    let text = fs::read_to_string(root().join("docs/requirements.md")).expect("the requirements");
    let makefile = fs::read_to_string(root().join("Makefile")).expect("the Makefile");
    let is_target = |quoted: &str| {
        let rule = quoted
            .strip_prefix("make ")
            .map(|name| format!("\n{name}:"));
        rule.is_some_and(|rule| makefile.contains(&rule))
    };
    let is_proof = |quoted: &str| is_target(quoted) || quoted.contains(['#', '§']);
    let rows: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| |"))
        .collect();
    assert!(rows.len() > 100, "only {} rows were found", rows.len());
    let empty = rows.into_iter().filter(|row| {
        let row = row.trim_end().trim_end_matches('|');
        let cell = row.rsplit_once(" | ").map_or("", |(_, cell)| cell);
        !cell.split('`').skip(1).step_by(2).any(is_proof)
    });
    assert_none(empty.map(str::to_owned).collect(), HINT);
}

/// The second cell of a row of promises has names of tests and of files with tests.
#[test]
fn promises_of_security_name_tests_that_exist() {
    let text = fs::read_to_string(root().join("docs/security.md")).expect("the promises");
    let paths = files(&root().join("crates"), &["rs", "md"]);
    let sources: String = paths
        .iter()
        .map(|path| fs::read_to_string(path).expect("text"))
        .collect();
    let tables = text
        .split("\n\n")
        .filter(|block| block.starts_with("| promise |"));
    let cells = tables.flat_map(|table| {
        let rows = table.lines().skip(2);
        rows.filter_map(|row| row.split(" | ").nth(1))
    });
    let proofs: Vec<&str> = cells
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    assert!(proofs.len() > 50, "only {} proofs were found", proofs.len());
    let exists = |proof: &str| match proof.contains('.') {
        true => paths.iter().any(|path| path.ends_with(proof)),
        false => sources.contains(&format!("fn {proof}(")),
    };
    let missing = proofs.into_iter().filter(|proof| !exists(proof));
    assert_none(
        missing
            .map(|proof| format!("there is no test `{proof}`"))
            .collect(),
        "Name the test that proves it now in docs/security.md.",
    );
}

/// Returns why a proof is invalid; `None` if it exists.
fn missing(proof: &str) -> Option<String> {
    let (path, line) = match proof.split_once('#') {
        Some((path, function)) => (path, format!("fn {function}(")),
        None => {
            let (path, heading) = proof.split_once('§')?;
            (path, format!("## {heading}\n"))
        }
    };
    let Ok(text) = fs::read_to_string(root().join("crates").join(path)) else {
        return Some(format!("`{proof}`: there is no such file"));
    };
    (!text.contains(&line)).then(|| format!("`{proof}` is not in it"))
}
