//! Commands: those of blocks are run, and those in sentences are parsed by the program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;
use testkit::Site;

use crate::blocks::{Use, blocks};
use crate::document::documents;
use crate::shell::Shell;
use crate::{assert_none, root};

/// Adds the page of the documents, which stands for `https://example.com` too: its text field is `e5`, and its button `e6`.
pub(crate) fn add_page(site: &Site) -> String {
    site.add_page("/login", include_str!("login.html"))
}

/// Commands that compile, download, install, or run tests for minutes. Their commands are compared with the Makefile and the packages.
const NOT_RUN: [&str; 10] = [
    "make",
    "cargo",
    "npm",
    "npx",
    "playhouse install",
    "docker",
    "kubectl",
    "brew",
    "gh",
    "curl -fsSL",
];

/// Returns the words of a command without variables before it; `None` if the line is no command.
fn words(line: &str) -> Option<Vec<String>> {
    let words = shlex::split(line)?;
    let is_variable = |word: &String| {
        let name = word.split_once('=').map_or("", |(name, _)| name);
        !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    };
    Some(words.into_iter().skip_while(is_variable).collect())
}

fn is_run(line: &str) -> bool {
    let words = words(line).unwrap_or_default().join(" ");
    let starts = |program: &&str| words == **program || words.starts_with(&format!("{program} "));
    NOT_RUN.iter().all(|program| !starts(program))
}

/// The commands of a document run one after the other in one shell, as a reader would enter them.
#[testkit::test(chromium, node)]
async fn commands_of_blocks_work() {
    let site = Site::start().await;
    let page = add_page(&site);
    let mut scripts: BTreeMap<String, String> = BTreeMap::new();
    let mut wrong = Vec::new();
    for block in blocks(|block_use| block_use == Use::Shell) {
        let path = block.place.split(':').next().expect("a path").to_owned();
        let script = scripts.entry(path).or_default();
        for line in block.text.lines() {
            if is_run(line) {
                script.push_str(line);
            } else if let Err(error) = check(line, &Shell::new()) {
                wrong.push(format!("{}: {line}: {error}", block.place));
            }
            script.push('\n');
        }
    }
    assert_none(wrong);
    let runs = scripts.into_iter().map(|(path, script)| {
        let page = page.clone();
        tokio::task::spawn_blocking(move || {
            let shell = Shell::new().replace("https://example.com", &page);
            let outcome = shell.run(&script);
            outcome.err().map(|error| format!("{path}: {error}"))
        })
    });
    let mut wrong = Vec::new();
    for run in runs.collect::<Vec<_>>() {
        wrong.extend(run.await.expect("it does not panic"));
    }
    assert_none(wrong);
}

#[testkit::test(chromium)]
async fn scripts_of_blocks_work() {
    let site = Site::start().await;
    let page = add_page(&site);
    let mut wrong = Vec::new();
    for block in blocks(|block_use| block_use == Use::Script) {
        let shell = Shell::new().replace("https://example.com", &page);
        let text = shell.local(&block.text);
        shell.file("script", &text);
        let outcome = shell.playhouse(&["run", "script"], &[]);
        wrong.extend(
            outcome
                .err()
                .map(|error| format!("{}: {error}", block.place)),
        );
    }
    assert_none(wrong);
}

/// Commands in sentences and tables, without those that have placeholders (`playhouse setup CLIENT`).
#[testkit::test]
fn commands_in_sentences_exist() {
    let shell = Shell::new();
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for document in documents() {
        for (line, span) in document.spans {
            let is_command = [
                "playhouse ",
                "make ",
                "cargo ",
                "npm ",
                "npx ",
                "curl ",
                "gh ",
            ]
            .iter()
            .any(|program| span.starts_with(program));
            if !is_command
                || span.contains('…')
                || has_placeholder(&span)
                || !seen.insert(span.clone())
            {
                continue;
            }
            if let Err(error) = check(&span, &shell) {
                wrong.push(format!("{}:{line}: {span}: {error}", document.path));
            }
        }
    }
    assert!(seen.len() > 30, "{seen:?}");
    assert_none(wrong);
}

fn has_placeholder(command: &str) -> bool {
    let is_upper = |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
    command.split(' ').any(is_upper)
}

/// Options in sentences and tables are options of a command of `playhouse`, or of a program that the list names.
#[testkit::test]
fn options_in_sentences_exist() {
    const OTHERS: [(&str, &str); 11] = [
        ("--enable-remote-extensions", "Chromium"),
        ("--enable-features", "Chromium"),
        ("--automation", "WebKit's MiniBrowser"),
        ("--ignored", "the test harness"),
        ("--include-ignored", "the test harness"),
        ("--modifiers", "`playhouse do click`"),
        ("--security-opt", "Docker"),
        ("--dir", "packaging/install.sh"),
        ("--libc", "packaging/install.sh"),
        // Other spellings, which are accepted.
        ("--sessionTimeout", "playhouse"),
        ("--maxSessions", "playhouse"),
    ];
    let shell = Shell::new();
    let mut texts = helps(&shell, &[]);
    texts.push_str(&fs::read_to_string(root().join("docs/config.md")).unwrap());
    let known = options(&texts);
    assert!(known.len() > 100, "{known:?}");
    let mut wrong = Vec::new();
    for document in documents() {
        for (line, span) in &document.spans {
            // Spans that begin with another word are commands of other programs, or covered by the test above.
            if !span.starts_with("--") {
                continue;
            }
            for option in options(span) {
                let plain = option.replacen("--no-", "--", 1);
                let is_known = [&option, &plain].iter().any(|name| known.contains(*name));
                if !is_known && OTHERS.iter().all(|(other, _)| *other != option) {
                    wrong.push(format!("{}:{line}: {option} in `{span}`", document.path));
                }
            }
        }
    }
    assert_none(wrong);
}

/// Returns the help of a command and of all its subcommands.
fn helps(shell: &Shell, command: &[&str]) -> String {
    let help = shell.playhouse(&[command, &["--help"]].concat(), &[]);
    let mut texts = help.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    for subcommand in subcommands(&texts) {
        texts += &helps(shell, &[command, &[&*subcommand]].concat());
    }
    texts
}

/// Returns the names in the section `Commands` of a help, without `help` itself.
fn subcommands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    // Lines that continue a description are indented further.
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let is_name = |name: &&str| !name.is_empty() && *name != "help";
    names.filter(is_name).map(str::to_owned).collect()
}

#[testkit::test]
fn subcommands_are_those_of_the_help() {
    let shell = Shell::new();
    let help = |command: &[&str]| {
        let help = shell.playhouse(&[command, &["--help"]].concat(), &[]);
        subcommands(&help.expect("a help"))
    };
    let commands = help(&[]);
    for command in ["setup", "upgrade", "skill"] {
        assert!(commands.iter().any(|name| name == command), "{commands:?}");
    }
    assert_eq!(help(&["config"]), ["show"]);
    assert_eq!(help(&["upgrade"]), [""; 0]);
}

/// Returns the words of a text that are options.
fn options(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    let is_option = |word: &&str| {
        let name = word.strip_prefix("--").unwrap_or_default();
        name.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    words.filter(is_option).map(str::to_owned).collect()
}

/// `PLAYHOUSE_` variables in documents and in the files of containers are those of options.
#[testkit::test]
fn variables_exist() {
    // The URLs of servers of an app under test, and a variable of the tests.
    const OTHERS: [&str; 2] = ["PLAYHOUSE_URL", "PLAYHOUSE_SPEC_SERVER"];
    let reference = fs::read_to_string(root().join("docs/config.md")).unwrap();
    let known: BTreeSet<_> = options(&reference)
        .iter()
        .map(|option| option[2..].to_uppercase().replace('-', "_"))
        .collect();
    let deploy = [
        "Dockerfile",
        "compose.yaml",
        "nginx.conf",
        "kubernetes/playhouse.yaml",
    ];
    let mut paths: Vec<String> = documents()
        .into_iter()
        .map(|document| document.path)
        .collect();
    paths.extend(deploy.map(|name| format!("deploy/{name}")));
    let (mut count, mut wrong) = (0, Vec::new());
    for path in paths {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        for word in words.filter(|word| word.len() > "PLAYHOUSE_".len()) {
            let Some(name) = word.strip_prefix("PLAYHOUSE_") else {
                continue;
            };
            count += 1;
            if !known.contains(name) && !OTHERS.iter().any(|other| word.starts_with(other)) {
                wrong.push(format!("{path}: {word}"));
            }
        }
    }
    assert!(count > 30, "only {count} variables were found");
    assert_none(wrong);
}

/// Kubernetes names the variables of a Service `playhouse` like options: `PLAYHOUSE_PORT=tcp://…`.
#[testkit::test]
fn services_of_a_cluster_set_no_options() {
    let manifest = fs::read_to_string(root().join("deploy/kubernetes/playhouse.yaml")).unwrap();
    assert!(manifest.contains("\n      enableServiceLinks: false\n"));
}

/// Checks a command without running it.
fn check(line: &str, shell: &Shell) -> Result<(), String> {
    let words = words(line).ok_or("the quotes do not match")?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some((program, words)) = words.split_first() else {
        return Ok(());
    };
    // Comments.
    let words = words.split(|word| *word == "#").next().unwrap_or_default();
    for word in words {
        check_release_file(word)?;
    }
    match *program {
        "playhouse" => {
            // Clap parses all words before it prints the help.
            let own = words
                .iter()
                .position(|word| *word == "--")
                .unwrap_or(words.len());
            shell
                .playhouse(&[&words[..own], &["--help"]].concat(), &[])
                .map(drop)
        }
        "make" => {
            let targets = words.iter().filter(|word| !word.contains('='));
            let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
            let is_target = |word: &str| {
                let rule = format!("{word}:");
                makefile.lines().any(|line| line.starts_with(&rule))
            };
            let mut unknown = targets.filter(|word| !is_target(word));
            unknown
                .next()
                .map_or(Ok(()), |word| Err(format!("there is no target {word}")))
        }
        "cargo" => check_cargo(words),
        "npx" => check_npm_package(words),
        "npm" if words.first() == Some(&"install") => check_npm_package(&words[1..]),
        "npm" if words.first() == Some(&"run") => {
            // Of this repository, or of an app under test.
            let packages = [
                "package.json",
                "crates/playhouse/tests/documentation/project/package.json",
            ];
            let script = words.get(1).ok_or("no script")?;
            let has = |path: &&&str| {
                let package = fs::read_to_string(root().join(path)).unwrap();
                let package: Value = serde_json::from_str(&package).unwrap();
                package["scripts"].get(script).is_some()
            };
            let found = packages.iter().find(has);
            found
                .map(drop)
                .ok_or_else(|| format!("there is no script {script}"))
        }
        _ => Ok(()),
    }
}

/// Checks the npm package of a command: the first word that is no option, without its version.
fn check_npm_package(words: &[&str]) -> Result<(), String> {
    // Of documents about other programs.
    const OTHERS: [&str; 4] = ["playwright", "playwright-core", "@playwright/mcp", "vite"];
    let manifest = fs::read_to_string(root().join("npm/playhouse/package.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let mut words = words.iter();
    let package = loop {
        match words.next() {
            None => return Ok(()),
            Some(&"--prefix") => drop(words.next()),
            Some(word) if word.starts_with('-') => (),
            Some(word) => break word,
        }
    };
    let version = package.rfind('@').filter(|at| *at > 0);
    let name = &package[..version.unwrap_or(package.len())];
    if manifest["name"] == name || OTHERS.contains(&name) {
        return Ok(());
    }
    Err(format!("there is no npm package {name}"))
}

/// Checks the name of an archive, a Debian package or another file, if the word is a file of the releases.
fn check_release_file(word: &str) -> Result<(), String> {
    let name = word.rsplit('/').next().unwrap_or_default();
    let is_package = name.starts_with("playhouse")
        && [".gz", ".deb", ".rb"].iter().any(|end| name.ends_with(end));
    if !is_package && !word.contains("/playhouse/releases/") {
        return Ok(());
    }
    let targets = fs::read_to_string(root().join("packaging/targets.json")).unwrap();
    let targets: Vec<Value> = serde_json::from_str(&targets).unwrap();
    let mut files = vec![
        "install.sh".to_owned(),
        "SHA256SUMS".to_owned(),
        "playhouse.rb".to_owned(),
    ];
    for target in targets {
        let triple = target["target"].as_str().unwrap();
        files.push(format!("playhouse-{triple}.tar.gz"));
        files.extend(
            target["deb"]
                .as_str()
                .map(|deb| format!("playhouse_{deb}.deb")),
        );
    }
    match files.iter().any(|file| file == name) {
        true => Ok(()),
        false => Err(format!("releases have no file {name}")),
    }
}

/// Checks the packages, tests and paths of a command of cargo.
fn check_cargo(words: &[&str]) -> Result<(), String> {
    let after = |option: &str| {
        let at = words.iter().position(|word| *word == option)?;
        words.get(at + 1).copied()
    };
    let package = after("-p").unwrap_or("playhouse");
    // The folder of `playhouse-engine` is `engine`.
    let folder = package.strip_prefix("playhouse-").unwrap_or(package);
    let folder = root().join("crates").join(folder);
    if !folder.is_dir() {
        return Err(format!("there is no package {package}"));
    }
    if let Some(path) = after("--path")
        && !root().join(path).join("Cargo.toml").exists()
    {
        return Err(format!("there is no package in {path}"));
    }
    if let Some(test) = after("--test") {
        let paths = [format!("tests/{test}.rs"), format!("tests/{test}/main.rs")];
        if !paths.iter().any(|path| folder.join(path).exists()) {
            return Err(format!("{package} has no test {test}"));
        }
    }
    Ok(())
}

#[testkit::test]
fn wrong_commands_are_found() {
    let shell = Shell::new();
    for wrong in [
        "playhouse --heedless",
        "playhouse setup claudius",
        "playhouse setup claude --dry",
        "make everything",
        "cargo test -p playhouse --test its",
        "cargo install --path crates/player",
        "npm run everything",
        "npx playhouse@latest --headless",
        "npm install --global playhouse",
        "curl -fLO https://github.com/playhouse-dev/playhouse/releases/latest/download/playhouse_i386.deb",
        "gh attestation verify playhouse-linux.tar.gz",
    ] {
        assert!(check(wrong, &shell).is_err(), "{wrong}");
    }
    let failed = shell.run("playhouse skill >skill.md\nplayhouse skil\n");
    assert!(failed.is_err_and(|error| error.contains("unknown command")));
}
