//! The proofs that docs/requirements.md names exist.

use std::fs;

use crate::{assert_none, root};

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
