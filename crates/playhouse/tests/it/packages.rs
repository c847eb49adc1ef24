//! Packages: the installer, the launcher of the npm packages, and the manifests of registries.

mod release;

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::cli::run;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).expect(path)
}

fn json(path: &str) -> Value {
    serde_json::from_str(&read(path)).expect(path)
}

/// Returns the column of `packaging/targets.json`, without the targets that have no value.
fn targets(column: &str) -> Vec<String> {
    let targets = json("packaging/targets.json");
    let targets = targets.as_array().expect("a list").iter();
    targets
        .filter_map(|target| target[column].as_str())
        .map(str::to_owned)
        .collect()
}

/// Returns the lowest version of glibc on which the builds for glibc run, as the number after `2.`.
fn lowest_glibc() -> u32 {
    let versions = targets("glibc");
    assert!(
        versions.iter().all(|version| *version == versions[0]),
        "{versions:?}"
    );
    let minor = versions[0].strip_prefix("2.").expect("glibc 2");
    minor.parse().expect("a number")
}

fn write_program(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, format!("#!/bin/sh\n{script}\n")).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test runs the program that it tests"
)]
fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

/// A folder with releases, a home, and programs that report a platform.
struct Machine(TempDir);

impl Machine {
    /// Creates a machine: the answers of `uname -s`, `uname -m` and `getconf GNU_LIBC_VERSION`.
    fn new(system: &str, processor: &str, libc: Option<&str>) -> Machine {
        // On the file system of the program, for hard links.
        let machine = Machine(TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder"));
        let uname = format!("case $1 in -s) echo {system};; *) echo {processor};; esac");
        machine.program("uname", &uname);
        machine.program(
            "getconf",
            &libc.map_or("exit 1".to_owned(), |libc| format!("echo '{libc}'")),
        );
        machine.program("sysctl", "echo 0");
        // The last argument is the URL of a file, the one before it the output.
        machine.program(
            "curl",
            "while [ $# -gt 2 ]; do shift; done; case $2 in file://*) cp \"${2#file://}\" \"$1\";; *) exit 22;; esac",
        );
        machine
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn program(&self, name: &str, script: &str) {
        write_program(&self.path("bin").join(name), script);
    }

    /// Adds a release for the target to the folder, and returns the name of the archive.
    fn release(&self, folder: &str, target: &str) -> String {
        let program = format!("{folder}/playhouse-{target}/playhouse");
        write_program(&self.path(&program), &format!("echo {target}"));
        self.pack(folder, target)
    }

    /// Packs the program of a release, writes its checksum, and returns the name of the archive.
    fn pack(&self, folder: &str, target: &str) -> String {
        let folder = self.path(folder);
        let name = format!("playhouse-{target}");
        let archive = format!("{name}.tar.gz");
        let packed = command("tar")
            .args(["-czf", &archive, &name])
            .current_dir(&folder)
            .status();
        assert!(packed.expect("it runs").success());
        let sums = command("sha256sum")
            .arg(&archive)
            .current_dir(&folder)
            .output();
        fs::write(folder.join("SHA256SUMS"), sums.expect("it runs").stdout).expect("a file");
        archive
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the installer needs the programs in PATH"
    )]
    fn install(&self, arguments: &[&str]) -> Output {
        let path = std::env::var("PATH").expect("a PATH");
        let releases = format!("file://{}", self.path("releases").display());
        command("sh")
            .arg(repository().join("packaging/install.sh"))
            .args(arguments)
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("HOME", self.path("home"))
            .env_remove("XDG_DATA_HOME")
            .env("PLAYHOUSE_RELEASES", releases)
            .output()
            .expect("it runs")
    }
}

#[testkit::test]
fn the_installer_selects_the_archive_of_the_platform() {
    let mut installed = Vec::new();
    let glibc = |minor: u32| format!("glibc 2.{minor}");
    let (lowest, newer, older) = (
        glibc(lowest_glibc()),
        glibc(lowest_glibc() + 1),
        glibc(lowest_glibc() - 1),
    );
    for (system, processor, libc) in [
        ("Linux", "x86_64", Some(&*newer)),
        ("Linux", "aarch64", Some(&*lowest)),
        ("Linux", "x86_64", None),
        ("Linux", "arm64", Some(&*older)),
        ("Darwin", "x86_64", None),
        ("Darwin", "arm64", None),
    ] {
        let machine = Machine::new(system, processor, libc);
        for target in targets("target") {
            machine.release(&format!("releases/{target}"), &target);
        }
        // One folder with all archives.
        let latest = machine.path("releases/latest/download");
        fs::create_dir_all(&latest).expect("a folder");
        let mut sums = String::new();
        for target in targets("target") {
            let own = machine.path("releases").join(&target);
            let archive = format!("playhouse-{target}.tar.gz");
            fs::rename(own.join(&archive), latest.join(&archive)).expect("a file");
            sums += &fs::read_to_string(own.join("SHA256SUMS")).expect("a file");
        }
        fs::write(latest.join("SHA256SUMS"), sums).expect("a file");
        let output = machine.install(&[]);
        assert!(output.status.success(), "{output:?}");
        let program = command(machine.path("home/.local/bin/playhouse")).output();
        installed.push(text(&program.expect("it runs").stdout).trim().to_owned());
    }
    let mut expected = targets("target");
    // Windows has its own installation.
    expected.retain(|target| !target.contains("windows"));
    assert_eq!(installed, expected);
    for (system, processor) in [("Linux", "riscv64"), ("FreeBSD", "x86_64")] {
        let refused = Machine::new(system, processor, None).install(&[]);
        assert!(!refused.status.success());
        assert!(text(&refused.stderr).contains("there is no build for"));
    }
}

#[testkit::test]
fn the_installer_installs_nothing_with_a_wrong_checksum() {
    let target = "x86_64-unknown-linux-gnu";
    let machine = Machine::new("Linux", "x86_64", Some("glibc 2.36"));
    let folder = "releases/download/v0.1.0";
    let archive = machine.release(folder, target);
    let program = machine.path("opt/playhouse");
    let directory = machine.path("opt");
    let directory = directory.to_str().expect("UTF-8");
    let install = || machine.install(&["--version", "v0.1.0", "--dir", directory]);
    let sums = machine.path(folder).join("SHA256SUMS");
    let right = fs::read_to_string(&sums).expect("a file");

    fs::write(&sums, format!("{}  {archive}\n", "0".repeat(64))).expect("a file");
    let refused = install();
    assert!(!refused.status.success());
    assert!(
        text(&refused.stderr).contains("the checksum of"),
        "{refused:?}"
    );
    fs::write(&sums, right.replace(&archive, "other.tar.gz")).expect("a file");
    let refused = install();
    assert!(
        text(&refused.stderr).contains("has no checksum of"),
        "{refused:?}"
    );
    assert!(!program.exists());

    fs::write(&sums, right).expect("a file");
    assert!(install().status.success());
    assert!(program.is_file());
    // A program that does not start does not replace the other one.
    let installed = fs::read_to_string(&program).expect("a file");
    let name = format!("playhouse-{target}/playhouse");
    write_program(&machine.path(folder).join(&name), "exit 127");
    machine.pack(folder, target);
    let refused = install();
    assert!(!refused.status.success());
    assert!(
        text(&refused.stderr).contains("does not run here"),
        "{refused:?}"
    );
    assert_eq!(fs::read_to_string(&program).expect("a file"), installed);
    assert_eq!(fs::read_dir(directory).expect("a folder").count(), 1);
    let missing = machine.install(&["--version", "9.9.9"]);
    assert!(
        text(&missing.stderr).contains("cannot download"),
        "{missing:?}"
    );
}

#[testkit::test]
fn upgrade_names_the_command_of_the_installer() {
    let machine = Machine::new("Linux", "x86_64", Some("glibc 2.36"));
    machine.release("releases/latest/download", "x86_64-unknown-linux-gnu");
    assert!(machine.install(&[]).status.success());
    let program = machine.path("home/.local/bin/playhouse");
    fs::remove_file(&program).expect("a file");
    fs::hard_link(env!("CARGO_BIN_EXE_playhouse"), &program).expect("a link");
    let output = command(&program)
        .arg("upgrade")
        .env(
            "HOME",
            machine.path("home").canonicalize().expect("a folder"),
        )
        .env_remove("XDG_DATA_HOME")
        .env_remove("CARGO_HOME")
        .output()
        .expect("it runs");
    let report = text(&output.stdout);
    assert!(report.contains("installed by install.sh in "), "{report}");
    assert!(
        report.contains("/releases/latest/download/install.sh | sh\n"),
        "{report}"
    );
    let built = run(&["upgrade"]);
    assert!(
        text(&built.stdout).contains("installed by cargo build in "),
        "{built:?}"
    );
}

#[testkit::test(node)]
fn the_npm_launcher_starts_the_package_that_is_installed() {
    let folder = TempDir::new().expect("a folder");
    let launcher = folder
        .path()
        .join("node_modules/playhouse-mcp/bin/playhouse.js");
    fs::create_dir_all(launcher.parent().expect("a folder")).expect("a folder");
    fs::write(&launcher, read("npm/playhouse/bin/playhouse.js")).expect("a file");
    let launch = || {
        command("node")
            .arg(&launcher)
            .arg("a b")
            .output()
            .expect("it runs")
    };
    let missing = launch();
    assert_eq!(missing.status.code(), Some(1));
    assert!(
        text(&missing.stderr).contains("--include=optional"),
        "{missing:?}"
    );
    let own = |suffix: &str| {
        let names = targets("npm").into_iter();
        let mut names = names.filter(|name| match std::env::consts::OS {
            "macos" => name.starts_with("darwin"),
            _ => name.starts_with("linux"),
        });
        let processor = match std::env::consts::ARCH {
            "aarch64" => "arm64",
            _ => "x64",
        };
        names.find(|name| name.ends_with(&format!("{processor}{suffix}")))
    };
    // Builds of other C libraries run too, if they are the only ones.
    for suffix in ["-musl", ""] {
        let Some(name) = own(suffix) else { continue };
        let program = folder
            .path()
            .join(format!("node_modules/playhouse-mcp-{name}/bin/playhouse"));
        write_program(&program, &format!("echo \"{name}:$1\"; exit 3"));
        let output = launch();
        assert_eq!(text(&output.stdout), format!("{name}:a b\n"));
        assert_eq!(output.status.code(), Some(3));
    }
    // Both are installed: the one for glibc needs a version.
    let (Some(musl), Some(gnu)) = (own("-musl"), own("")) else {
        return;
    };
    let report = folder.path().join("report.cjs");
    let lowest = lowest_glibc();
    for (version, expected) in [
        (&*format!("'2.{}'", lowest - 1), &musl),
        ("'2.4'", &musl),
        ("undefined", &musl),
        (&*format!("'2.{lowest}'"), &gnu),
        ("'2.100'", &gnu),
        ("'3.0'", &gnu),
    ] {
        let script = format!(
            "process.report.getReport = () => ({{ header: {{ glibcVersionRuntime: {version} }} }});"
        );
        fs::write(&report, script).expect("a file");
        let output = command("node")
            .arg("--require")
            .arg(&report)
            .arg(&launcher)
            .output()
            .expect("it runs");
        assert_eq!(text(&output.stdout), format!("{expected}:\n"), "{version}");
    }
}

#[testkit::test]
fn manifests_have_the_version_of_the_program_and_name_each_other() {
    let version = env!("CARGO_PKG_VERSION");
    let server = json("server.json");
    let package = json("npm/playhouse/package.json");
    let plugin = json("plugin/.claude-plugin/plugin.json");
    assert_eq!(server["version"], version);
    assert_eq!(server["packages"][0]["version"], version);
    assert_eq!(plugin["version"], version);
    assert_eq!(server["name"], package["mcpName"]);
    assert_eq!(server["packages"][0]["identifier"], package["name"]);
    let marketplace = json(".claude-plugin/marketplace.json");
    let source = marketplace["plugins"][0]["source"].as_str();
    assert!(
        repository()
            .join(source.expect("a path"))
            .join(".claude-plugin/plugin.json")
            .is_file()
    );
    assert_eq!(marketplace["plugins"][0]["name"], plugin["name"]);
    // The limit of the registry.
    let description = server["description"].as_str().expect("a text");
    assert!(description.chars().count() <= 100, "{description}");
    // The options that registries show exist.
    let config = read("docs/config.md");
    let package = &server["packages"][0];
    let arguments = package["packageArguments"].as_array().expect("a list");
    let variables = package["environmentVariables"].as_array().expect("a list");
    for option in arguments.iter().chain(variables) {
        let name = option["name"].as_str().expect("a name");
        let flag = match name.strip_prefix("PLAYHOUSE_") {
            Some(variable) => format!("--{}", variable.to_lowercase().replace('_', "-")),
            None => name.to_owned(),
        };
        let is_listed = [" ", "`"].map(|end| config.contains(&format!("`{flag}{end}")));
        assert!(is_listed.contains(&true), "{name}");
    }
}

#[testkit::test]
fn the_plugin_has_the_skill_and_starts_the_npm_package() {
    let skill = run(&["skill"]);
    assert_eq!(
        read("plugin/skills/playhouse/SKILL.md"),
        text(&skill.stdout)
    );
    let server = &json("plugin/.mcp.json")["mcpServers"]["playhouse"];
    assert_eq!(server["command"], "npx");
    let package = json("npm/playhouse/package.json");
    let name = package["name"].as_str().expect("a text");
    assert_eq!(
        server["args"],
        serde_json::json!(["-y", format!("{name}@latest"), "--headless"])
    );
}

/// The constant of the program, the launcher and the release workflow have the name of the package.
#[testkit::test]
fn the_npm_package_has_one_name() {
    let package = json("npm/playhouse/package.json");
    let name = package["name"].as_str().expect("a text");
    assert!(package["bin"]["playhouse"].is_string());
    let constant = format!("const NPM_PACKAGE: &str = \"{name}\";");
    assert!(read("crates/server/src/cli/installation.rs").contains(&constant));
    let launcher = format!("require.resolve(`{name}-${{name}}/bin/");
    assert!(read("npm/playhouse/bin/playhouse.js").contains(&launcher));
    let workflow = read(".github/workflows/release.yml");
    assert!(workflow.contains(&format!("npm/{name}-\"$version\".tgz")));
}

#[testkit::test]
fn the_crates_require_each_other_in_this_version() {
    let manifest = read("Cargo.toml");
    let version = format!("version = \"={}\"", env!("CARGO_PKG_VERSION"));
    let own = manifest
        .lines()
        .filter(|line| line.contains("package = \"playhouse-"));
    let own: Vec<_> = own.collect();
    assert_eq!(own.len(), 7);
    for line in own {
        assert!(line.contains(&version), "{line}");
    }
}

#[testkit::test]
fn the_documents_name_the_lowest_version_of_glibc() {
    let installation = read("docs/installation.md");
    let named: Vec<_> = installation.match_indices("glibc 2.").collect();
    let expected = format!("glibc 2.{} ", lowest_glibc());
    assert_eq!(named.len(), installation.matches(&expected).count());
    assert!(!named.is_empty());
}

/// Another test shows that archives have these names.
#[testkit::test]
fn cargo_binstall_finds_the_archives() {
    let manifest = read("crates/playhouse/Cargo.toml");
    let value = |key: &str| {
        let line = manifest.lines().find_map(|line| line.strip_prefix(key));
        line.expect(key).trim_matches([' ', '=', '"']).to_owned()
    };
    assert_eq!(
        value("pkg-url"),
        "{ repo }/releases/download/v{ version }/playhouse-{ target }.tar.gz"
    );
    assert_eq!(
        value("bin-dir"),
        "playhouse-{ target }/{ bin }{ binary-ext }"
    );
}
