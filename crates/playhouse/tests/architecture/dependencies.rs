//! The crates of the program: their number, and second versions.

use crate::{assert_none, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;
use toml_edit::{DocumentMut, Value};

/// The largest number of crates of the program, with their procedural macros (decision 23).
const MAX_CRATES: usize = 225;

fn read(file: &str) -> DocumentMut {
    let text = fs::read_to_string(root().join(file)).expect("a file of the repository");
    text.parse().expect("TOML")
}

/// Returns the versions of each crate in Cargo.lock.
fn locked_versions() -> BTreeMap<String, BTreeSet<String>> {
    let lock = read("Cargo.lock");
    let packages = lock["package"].as_array_of_tables().expect("packages");
    let mut versions = BTreeMap::<_, BTreeSet<_>>::new();
    for package in packages {
        let text = |key: &str| package[key].as_str().expect("a text").to_owned();
        versions
            .entry(text("name"))
            .or_default()
            .insert(text("version"));
    }
    versions
}

/// Returns the versions that deny.toml permits beside another one, such as `base64:0.22`.
fn permitted_versions() -> Vec<(String, String)> {
    let deny = read("deny.toml");
    let bans = &deny["bans"];
    assert_eq!(bans["multiple-versions"].as_str(), Some("deny"));
    let skip = bans["skip"].as_array().expect("a list");
    let text = |entry: &Value, key| {
        let table = entry.as_inline_table().expect("a table");
        let text = table.get(key).and_then(Value::as_str);
        text.filter(|text| !text.is_empty())
            .unwrap_or_else(|| panic!("{table}: {key} is missing"))
            .to_owned()
    };
    let split = |entry: &Value| {
        text(entry, "reason");
        let spec = text(entry, "crate");
        let (name, version) = spec.split_once(':').expect("NAME:VERSION");
        (name.to_owned(), version.to_owned())
    };
    skip.iter().map(split).collect()
}

#[test]
fn second_versions_of_crates_are_listed_with_a_reason() {
    let mut versions = locked_versions();
    versions.retain(|_, versions| versions.len() > 1);
    let mut broken = Vec::new();
    for (name, permitted) in permitted_versions() {
        let matches = |version: &String| version.starts_with(&format!("{permitted}."));
        let found = versions
            .get_mut(&name)
            .and_then(|versions| versions.extract_if(.., matches).next());
        if found.is_none() {
            broken.push(format!("{name}:{permitted} is no second version"));
        }
    }
    for (name, versions) in versions {
        if versions.len() != 1 {
            broken.push(format!("{name}: {versions:?}"));
        }
    }
    assert_none(
        broken,
        "Avoid the second version, or add it to `skip` in deny.toml and give the reason.",
    );
}

#[test]
fn the_program_has_few_crates() {
    #[expect(clippy::disallowed_methods, reason = "it ends by itself")]
    let mut cargo = Command::new(env!("CARGO"));
    let tree = cargo
        .args(["tree", "--locked", "--package=playhouse", "--edges=normal"])
        .args(["--prefix=none", "--no-dedupe", "--format={p}"])
        .arg("--target=x86_64-unknown-linux-gnu")
        .current_dir(root())
        .output()
        .expect("cargo");
    let errors = String::from_utf8_lossy(&tree.stderr);
    assert!(tree.status.success(), "{errors}");
    let text = String::from_utf8(tree.stdout).expect("UTF-8");
    let crates: BTreeSet<_> = text
        .lines()
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>())
        .collect();
    let count = crates.len();
    assert!(
        (100..=MAX_CRATES).contains(&count),
        "The program has {count} crates, at most {MAX_CRATES} are allowed (decision 23)."
    );
}
