//! Compares ARCHITECTURE.md with the source: layers, unlisted modules, sizes, and named tests.

mod bundles;
mod cycles;
mod dependencies;
mod document;
mod modules;
mod names;
mod paths;
mod protocols;
mod requirements;
mod source;
mod writers;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use document::Document;
use modules::Crate;

/// The crates, lowest first: each uses only those before it.
const CRATES: [&str; 7] = [
    "job",
    "wire",
    "task",
    "engine",
    "script",
    "supervisor",
    "server",
];
/// A crate that only one module may use.
const RMCP: &str = "rmcp";

/// Returns the crates that a layer of `krate` must list to use.
fn watched(krate: &str) -> BTreeSet<&'static str> {
    let below = CRATES.into_iter().take_while(|name| *name != krate);
    below.chain([RMCP]).collect()
}

const HINT: &str = "Either move the code, or change the table in ARCHITECTURE.md and say why.";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the repository")
}

fn document() -> Document {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    Document::parse(&text)
}

fn our_crates() -> Vec<Crate> {
    CRATES
        .map(|name| Crate::read(name, &root().join("crates").join(name).join("src")))
        .into()
}

#[track_caller]
fn assert_none(broken: Vec<String>, hint: &str) {
    assert!(broken.is_empty(), "\n\n{}\n\n{hint}\n", broken.join("\n"));
}

#[test]
fn rows_name_only_rows_above_them() {
    let (document, mut broken) = (document(), Vec::new());
    for name in CRATES {
        let tables = document.tables(name);
        for table in &tables {
            // Modules of a folder may use what the folder may use, and their parent modules.
            let folder = table.folder.as_deref();
            let outside = tables[0]
                .layers
                .iter()
                .find(|it| Some(&*it.module) == folder);
            let mut above: BTreeSet<&str> = match outside {
                Some(outside) => outside.may_use.iter().map(String::as_str).collect(),
                None => watched(name),
            };
            for layer in &table.layers {
                let unknown = layer
                    .may_use
                    .iter()
                    .filter(|used| !above.contains(used.as_str()));
                broken.extend(unknown.map(|used| {
                    format!(
                        "{name}: `{}` names `{used}`, which is not above it",
                        table.path_of(layer)
                    )
                }));
                above.insert(&layer.module);
            }
        }
    }
    assert_none(broken, HINT);
}

#[test]
fn every_module_has_a_row_and_every_row_a_module() {
    let (document, mut broken) = (document(), Vec::new());
    for krate in our_crates() {
        let modules: BTreeSet<String> = krate
            .files
            .iter()
            .map(|file| file.module.join("/"))
            .collect();
        let tables = document.tables(&krate.name);
        for file in krate
            .files
            .iter()
            .filter(|file| !file.is_test && file.module.len() == 1)
        {
            if tables[0].row_of(&file.module).is_none() {
                broken.push(format!("{}: `{}` has no row", krate.name, file.module[0]));
            }
        }
        let rows = tables
            .iter()
            .flat_map(|table| table.layers.iter().map(|layer| table.path_of(layer)));
        broken.extend(
            rows.filter(|row| !modules.contains(row))
                .map(|row| format!("{}: there is no module `{row}`", krate.name)),
        );
    }
    assert_none(broken, HINT);
}

#[test]
fn modules_use_only_what_their_row_allows() {
    let (document, mut broken) = (document(), Vec::new());
    for krate in our_crates() {
        let (tables, watched) = (document.tables(&krate.name), watched(&krate.name));
        for file in krate
            .files
            .iter()
            .filter(|file| !file.module.is_empty() && !file.is_test)
        {
            let used = krate.used_by(file);
            let rows = tables
                .iter()
                .filter_map(|table| Some((table, table.row_of(&file.module)?)));
            for (table, own) in rows {
                let targets = used.iter().filter_map(|used| match used {
                    paths::Used::Crate(name) => {
                        watched.contains(name.as_str()).then_some(name.as_str())
                    }
                    paths::Used::Module(path) => table.name_of(path),
                });
                let denied = targets
                    .filter(|target| *target != own.module && !own.may_use.contains(*target));
                broken.extend(denied.map(|target| {
                    format!(
                        "{}: `{}` may not use `{target}`",
                        shown(&file.path),
                        table.path_of(own)
                    )
                }));
            }
        }
    }
    broken.dedup();
    assert_none(broken, HINT);
}

/// Files that may use each other, and the reasons.
const ALLOWED_CYCLES: [(&str, &str, &str); 3] = [
    (
        "server",
        "cli/arguments cli/completions cli/manual",
        "`arguments` lists the commands; some of them describe it",
    ),
    (
        "server",
        "config/options config/table",
        "a macro of `table` declares `options`, and its table reads them",
    ),
    (
        "server",
        "transport/auth/oauth/issuer transport/auth/oauth/token",
        "tokens are verified by keys of their issuer",
    ),
];

#[test]
fn files_do_not_use_each_other() {
    let mut broken = Vec::new();
    let mut allowed: BTreeSet<_> = ALLOWED_CYCLES
        .iter()
        .map(|(name, files, _)| ((*name).to_owned(), (*files).to_owned()))
        .collect();
    for krate in our_crates() {
        for group in cycles::cycles(&krate) {
            let cycle = (krate.name.clone(), group.join(" "));
            if !allowed.remove(&cycle) {
                broken.push(format!("{}: {}", cycle.0, cycle.1));
            }
        }
    }
    let stale = allowed
        .iter()
        .map(|(name, files)| format!("{name}: no longer a cycle: {files}"));
    broken.extend(stale);
    assert_none(broken, "Move what both need to a file below them.");
}

/// The trait that a file of each protocol implements.
const BACKEND_FILES: [(&str, &str); 16] = [
    ("browser.rs", "BrowserBackend"),
    ("context.rs", "ContextBackend"),
    ("context/cookies.rs", "Cookies"),
    ("context/permissions.rs", "Permissions"),
    ("page.rs", "PageBackend"),
    ("page/dialogs.rs", "Dialogs"),
    ("page/emulation.rs", "Emulation"),
    ("page/evaluation.rs", "Evaluation"),
    ("page/frames.rs", "Frames"),
    ("page/input.rs", "Input"),
    ("page/interception.rs", "Interception"),
    ("page/navigation.rs", "Navigation"),
    ("page/requests.rs", "Requests"),
    ("page/screencast.rs", "Screencast"),
    ("page/screenshot.rs", "Capture"),
    ("page/unresponsive.rs", "Unresponsive"),
];

#[test]
fn protocols_implement_each_trait_in_the_same_file() {
    let mut broken = Vec::new();
    for protocol in ["cdp", "bidi", "webkit"] {
        let folder = root().join("crates/engine/src/backend").join(protocol);
        for (file, implemented) in BACKEND_FILES {
            let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
            let implementation = format!(" {implemented} for ");
            let mut lines = text.lines();
            if !lines.any(|line| line.starts_with("impl") && line.contains(&implementation)) {
                broken.push(format!(
                    "{protocol}/{file} does not implement `{implemented}`"
                ));
            }
        }
    }
    assert_none(broken, "The three backends are read side by side.");
}

#[test]
fn every_command_is_sent_and_every_event_handled() {
    let protocols = ["cdp", "bidi", "webdriver"];
    let (mut declared, mut users) = (Vec::new(), Vec::new());
    let krate = |name: &str| Crate::read(name, &root().join("crates").join(name).join("src"));
    for file in krate("wire").files {
        // The domain exports its submodules.
        let module = file.module.get(1).cloned().unwrap_or_default();
        match file.module.first() {
            Some(first) if protocols.contains(&first.as_str()) => {
                let of_file = protocols::declared(&module, file.code());
                if of_file.is_empty() {
                    users.push(file.code().to_owned());
                }
                declared.extend(of_file);
            }
            _ => users.push(file.code().to_owned()),
        }
    }
    for name in ["engine", "testkit"] {
        let files = krate(name).files;
        users.extend(files.iter().map(|file| file.code().to_owned()));
    }
    // The baseline sends bare commands.
    let benchmarks = rust_files(&root().join("benchmarks/src"));
    users.extend(benchmarks.iter().map(|path| {
        let text = fs::read_to_string(path).expect("a source file is text");
        source::code_of(&text)
    }));
    assert!(declared.len() > 150, "{declared:?}");
    let unused = protocols::unused(&declared, &users);
    let unused = unused
        .iter()
        .map(|(module, name)| format!("{module}::{name}"));
    assert_none(unused.collect(), "Delete it, or use it.");
}

#[test]
fn names_use_the_terms_of_the_specifications() {
    let crates = CRATES.into_iter().chain(["testkit"]);
    let sources = crates.map(|name| root().join("crates").join(name).join("src"));
    let sources = sources.chain([root().join("benchmarks/src")]);
    let mut broken = Vec::new();
    for path in sources.flat_map(|source| rust_files(&source)) {
        let text = fs::read_to_string(&path).expect("a source file is text");
        let code = source::code_of(&text);
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let names = names::declared(&code).into_iter().chain(stem);
        let denied = names.filter(|name| {
            let words = names::words(name);
            words.iter().any(|word| names::DENIED.contains(&&**word))
        });
        broken.extend(denied.map(|name| format!("{}: `{name}`", shown(&path))));
    }
    assert_none(broken, "docs/glossary.md has the standard term.");
}

#[test]
fn every_source_file_is_reached_by_a_mod_line() {
    let mut broken = Vec::new();
    for krate in our_crates() {
        let reached: BTreeSet<_> = krate.files.iter().map(|file| file.path.clone()).collect();
        let orphans = rust_files(&krate.source)
            .into_iter()
            .filter(|path| !reached.contains(path));
        broken.extend(orphans.map(|path| format!("{}: no `mod` line leads here", shown(&path))));
    }
    assert_none(broken, "rustc ignores such files without a word.");
}

#[test]
fn no_file_is_too_long() {
    const LONG: usize = 600;
    const TOO_LONG: usize = 800;
    let mut broken = Vec::new();
    let others = [
        "testkit/src",
        "engine/injected/src",
        "script/api/src",
        "server/dashboard/src",
        "playhouse/tests",
        "../benchmarks/src",
    ];
    let folders = CRATES.map(|name| format!("{name}/src")).into_iter();
    let files = folders.chain(others.map(str::to_owned)).flat_map(|folder| {
        let found = files(&root().join("crates").join(&folder), &["rs", "ts"]);
        assert!(!found.is_empty(), "{folder} has no files");
        found
    });
    for path in files {
        let lines = fs::read_to_string(&path)
            .expect("a source file is text")
            .lines()
            .count();
        if lines > TOO_LONG {
            broken.push(format!("{}: {lines} lines", shown(&path)));
        } else if lines > LONG {
            eprintln!(
                "{}: {lines} lines; which idea is hiding in it?",
                shown(&path)
            );
        }
    }
    assert_none(broken, "Split by idea, never into parts.");
}

#[test]
fn invariants_name_tests_that_exist() {
    let sources: String = files(&root().join("crates"), &["rs"])
        .iter()
        .map(|path| fs::read_to_string(path).expect("text"))
        .collect();
    let document = document();
    assert!(
        !document.tests.is_empty(),
        "ARCHITECTURE.md has a table of invariants"
    );
    let missing = document
        .tests
        .iter()
        .filter(|name| !sources.contains(&format!("fn {name}(")));
    assert_none(
        missing
            .map(|name| format!("there is no test `{name}`"))
            .collect(),
        "An invariant without a test is a wish.",
    );
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    files(folder, &["rs"])
}

fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("a readable folder").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if path.is_dir() && name != "node_modules" && name != "target" {
            found.extend(files(&path, extensions));
        } else if path
            .extension()
            .and_then(|it| it.to_str())
            .is_some_and(|it| extensions.contains(&it))
        {
            found.push(path);
        }
    }
    found.sort();
    found
}
