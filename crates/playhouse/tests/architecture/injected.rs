//! The bundles of injected scripts: built from the current sources, and limited in size.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use testkit::node;

use crate::{assert_none, cycles, files, root, shown};

/// The size limit of the core, which every new document loads, in bytes. The detection of hidden text takes 1,500 of them: clips, filters,
/// scales and clipping boxes are evaluated while the snapshot is taken, so they cannot be a separate bundle.
const CORE_BUDGET: u64 = 83_500;

#[test]
fn the_core_bundle_is_within_its_budget() {
    for name in ["core.js", "core.firefox.js"] {
        let core = root().join("crates/engine/injected/dist").join(name);
        let size = fs::metadata(&core).expect("the bundle is committed").len();
        assert!(
            size <= CORE_BUDGET,
            "dist/{name} has {size} bytes; what is rarely used is a bundle of its own"
        );
    }
}

#[test]
fn injected_files_do_not_import_each_other() {
    let sources = root().join("crates/engine/injected/src");
    let edges: BTreeMap<String, BTreeSet<String>> = files(&sources, &["ts"])
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a source file is text");
            let folder = path.parent().expect("a file has a folder");
            let imports = text.lines().filter(|line| line.starts_with("import "));
            let paths = imports.filter_map(|line| line.rsplit('"').nth(1));
            let used =
                paths.filter_map(|path| folder.join(path).with_extension("ts").canonicalize().ok());
            (shown(&path), used.map(|path| shown(&path)).collect())
        })
        .collect();
    assert!(edges.values().any(|used| !used.is_empty()));
    let cycles = cycles::groups(&edges);
    assert_none(
        cycles.iter().map(|group| group.join(" ")).collect(),
        "Move what both need to a file below them.",
    );
}

#[test]
fn bundles_are_built_from_their_sources() {
    let package = root().join("crates/engine/injected");
    node(&package);
    let copy = tempfile::tempdir().expect("a temporary folder");
    for path in files(&package, &["ts", "json", "mjs"])
        .iter()
        .filter(|path| !path.starts_with(package.join("dist")))
    {
        let target = copy
            .path()
            .join(path.strip_prefix(&package).expect("a file of the package"));
        fs::create_dir_all(target.parent().expect("a file has a folder"))
            .expect("a folder in the copy");
        fs::copy(path, target).expect("a copy");
    }
    std::os::unix::fs::symlink(
        package.join("node_modules"),
        copy.path().join("node_modules"),
    )
    .expect("a link");
    build(copy.path());
    for built in files(&copy.path().join("dist"), &["js"]) {
        let committed = package
            .join("dist")
            .join(built.file_name().expect("a file has a name"));
        let same = fs::read(&built).ok() == fs::read(&committed).ok();
        assert!(same, "{} is stale: run `make update`", shown(&committed));
    }
}

#[expect(clippy::disallowed_methods, reason = "a test runs the bundler")]
fn build(package: &Path) {
    let output = Command::new("npm")
        .args(["run", "--silent", "build"])
        .current_dir(package)
        .output()
        .expect("npm starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
