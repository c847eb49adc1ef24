//! The JavaScript bundles are built from their sources, and the injected ones are within their size budget.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use flate2::read::GzDecoder;
use testkit::node;

use crate::{assert_none, cycles, files, root, shown};

/// The packages whose bundles are committed.
const PACKAGES: [&str; 3] = [
    "crates/engine/injected",
    "crates/script/api",
    "crates/server/dashboard",
];

/// The size limit of the core, which every new document loads, in bytes. The detection of hidden text takes 1,500 of them: clips, filters,
/// scales and clipping boxes are evaluated while the snapshot is taken, so they cannot be a separate bundle. So do the tables of roles,
/// the table model, counters and markers of the specifications (decision 11), which take 8,000, the identity of refs (decision 10), which takes 8,600,
/// the interceptor of hit targets (decision 10), which takes 1,000, the texts that came and went (decision 12), which take 2,400: the
/// observer of settling sees them, the call of functions of other bundles (decision 7), which takes 140, waiting for texts, which takes 500,
/// waiting for what an action causes (decision 8), which takes 2,600, what a person can act on, what draws it and where (decision 11), which takes
/// 19,200, the days of calendars, which take 1,800, what overlays hide and which elements look different (decision 12), which take 3,000,
/// what incremental snapshots use again (decision 11), which takes 8,000, new documents that are blank or busy (decision 8) and the last step
/// of a range, which take 400, and the options and the cursors that WebKit reports otherwise, which take 300.
const CORE_BUDGET: u64 = 146_400;

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
fn script_files_do_not_import_each_other() {
    let edges: BTreeMap<String, BTreeSet<String>> = PACKAGES
        .into_iter()
        .flat_map(|package| files(&root().join(package).join("src"), &["ts"]))
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a source file is text");
            let folder = path.parent().expect("a file has a folder");
            // Types are imported for the compiler only.
            let imports = text.lines().filter(|line| {
                let begins = line.starts_with("import ") && !line.starts_with("import type ");
                begins || line.starts_with("} from ")
            });
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
    node(root());
    let copy = tempfile::tempdir().expect("a temporary folder");
    let sources = PACKAGES.into_iter().flat_map(|package| {
        let package = root().join(package);
        let all = files(&package, &["ts", "json", "mjs"]);
        all.into_iter()
            .filter(move |path| !path.starts_with(package.join("dist")))
    });
    for path in sources.chain(["package.json", "tsconfig.json"].map(|name| root().join(name))) {
        let inside = path.strip_prefix(root()).expect("a file of the repository");
        let target = copy.path().join(inside);
        fs::create_dir_all(target.parent().expect("a file has a folder"))
            .expect("a folder in the copy");
        fs::copy(path, target).expect("a copy");
    }
    std::os::unix::fs::symlink(
        root().join("node_modules"),
        copy.path().join("node_modules"),
    )
    .expect("a link");
    build(copy.path());
    for package in PACKAGES {
        let built = files(&copy.path().join(package).join("dist"), &["js"]);
        assert!(!built.is_empty());
        for bundle in built {
            let inside = bundle.strip_prefix(copy.path()).expect("a bundle");
            let same = fs::read(&bundle).ok() == fs::read(root().join(inside)).ok();
            assert!(same, "{} is stale: run `make update`", inside.display());
        }
    }
}

#[test]
fn axe_core_is_that_of_the_npm_package() {
    node(root());
    let bundle = root().join("crates/engine/injected/dist/axe.js.gz");
    let bundle = fs::File::open(bundle).expect("the bundle is committed");
    let mut embedded = Vec::new();
    let read = GzDecoder::new(bundle).read_to_end(&mut embedded);
    read.expect("the bundle can be decompressed");
    let package = fs::read(root().join("node_modules/axe-core/axe.min.js")).ok();
    assert!(package.as_ref() == Some(&embedded), "run `make update`");
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
