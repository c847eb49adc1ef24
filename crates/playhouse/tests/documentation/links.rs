//! Links between documents.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::document::{Document, documents, files};
use crate::{assert_none, root};

/// All documents, decisions included.
fn all() -> Vec<Document> {
    let root = root();
    let mut all = documents();
    let others = ["ARCHITECTURE.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md"].map(str::to_owned);
    for path in others.into_iter().chain(files(&root, "docs/decisions")) {
        all.push(Document::read(&path));
    }
    all
}

#[testkit::test]
fn links_lead_to_files_and_headings() {
    let documents = all();
    let known: BTreeMap<&str, &Document> = documents.iter().map(|one| (&*one.path, one)).collect();
    let mut wrong = Vec::new();
    for document in &documents {
        for (line, link) in &document.links {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let folder = Path::new(&document.path).parent().expect("a file");
            let target = match path {
                "" => document.path.clone(),
                _ => normal(&folder.join(path)),
            };
            let place = format!("{}:{line}", document.path);
            if !root().join(&target).exists() {
                wrong.push(format!("{place}: {link}: there is no {target}"));
            } else if let Some(found) = known.get(&*target)
                && !anchor.is_empty()
                && !found.anchors.contains(anchor)
            {
                wrong.push(format!("{place}: {link}: no heading has this anchor"));
            }
        }
    }
    assert_none(wrong);
}

/// Resolves `..`.
fn normal(path: &Path) -> String {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::CurDir => {}
            part => parts.push(part),
        }
    }
    parts.to_string_lossy().into_owned()
}

/// mdBook builds only what the summary lists.
#[testkit::test]
fn the_summary_lists_each_page() {
    let summary = Document::read("docs/SUMMARY.md");
    let listed = |name: &str| summary.links.iter().any(|(_, link)| link == name);
    let pages = files(&root(), "docs").into_iter();
    let pages = pages.chain(files(&root(), "docs/decisions"));
    let missing = pages.filter(|path| {
        let name = path.trim_start_matches("docs/");
        name != "SUMMARY.md" && !listed(name)
    });
    assert_none(
        missing
            .map(|path| format!("docs/SUMMARY.md does not list {path}"))
            .collect(),
    );
}

/// The changelog has a section for the version that is built.
#[testkit::test]
fn the_changelog_has_the_version() {
    let changelog = std::fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let heading = format!("## [{}]", env!("CARGO_PKG_VERSION"));
    assert!(
        changelog.lines().any(|line| line.starts_with(&heading)),
        "{heading}"
    );
}

#[testkit::test]
fn the_index_lists_each_document() {
    let index = Document::read("docs/README.md");
    let listed = |name: &str| index.links.iter().any(|(_, link)| link == name);
    let missing = files(&root(), "docs").into_iter().filter(|path| {
        let name = path.trim_start_matches("docs/");
        !matches!(name, "README.md" | "SUMMARY.md") && !listed(name)
    });
    assert_none(
        missing
            .map(|path| format!("docs/README.md does not list {path}"))
            .collect(),
    );
}
