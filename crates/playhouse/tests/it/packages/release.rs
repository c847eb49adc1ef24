//! The scripts that pack releases, with a stand-in for the program.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use tempfile::TempDir;

use super::{command, repository, targets, text, write_program};

/// A copy of the files from which releases are packed, so that the scripts write into its `target`.
struct ReleaseFolder(TempDir);

impl ReleaseFolder {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        fs::create_dir(folder.path().join("packaging")).expect("a folder");
        for file in [
            "Cargo.toml",
            "README.md",
            "LICENSE",
            "NOTICE",
            "CHANGELOG.md",
            "packaging/archive.mjs",
            "packaging/debian.sh",
            "packaging/homebrew.mjs",
            "packaging/release.mjs",
            "packaging/targets.json",
        ] {
            fs::copy(repository().join(file), folder.path().join(file)).expect(file);
        }
        Self(folder)
    }

    /// Returns the folder into which the scripts write.
    fn output(&self) -> PathBuf {
        self.0.path().join("target/release-files")
    }

    /// Writes a stand-in for the program, which prints that version for all arguments.
    fn program(&self, version: &str) -> PathBuf {
        let program = self.0.path().join("program");
        write_program(&program, &format!("echo Version {version}"));
        program
    }

    fn run(&self, script: &str, arguments: &[&str]) -> Output {
        command("node")
            .arg(self.0.path().join("packaging").join(script))
            .args(arguments)
            .output()
            .expect("it runs")
    }

    /// Packs the program for a target.
    fn archive(&self, target: &str, program: &Path) -> Output {
        let program = program.to_str().expect("UTF-8");
        self.run("archive.mjs", &[target, program])
    }
}

#[testkit::test(node)]
fn archives_have_the_program_and_the_licenses() {
    let release = ReleaseFolder::new();
    let program = release.program(env!("CARGO_PKG_VERSION"));
    for target in targets("target") {
        let packed = release.archive(&target, &program);
        assert!(packed.status.success(), "{packed:?}");
        let archive = release.output().join(format!("playhouse-{target}.tar.gz"));
        assert_eq!(text(&packed.stdout).trim(), archive.display().to_string());
        let unpacked = TempDir::new().expect("a folder");
        let tar = command("tar")
            .arg("-xzf")
            .arg(&archive)
            .current_dir(&unpacked)
            .status();
        assert!(tar.expect("it runs").success());
        // The installer, Homebrew and cargo-binstall expect this folder.
        let folder = unpacked.path().join(format!("playhouse-{target}"));
        let names = fs::read_dir(&folder).expect("a folder").flatten();
        let mut names: Vec<_> = names.map(|entry| entry.file_name()).collect();
        names.sort();
        let name = match target.contains("windows") {
            true => "playhouse.exe",
            false => "playhouse",
        };
        assert_eq!(names, ["LICENSE", "NOTICE", "README.md", name]);
        let packed = folder.join(name);
        assert_eq!(
            fs::read(&packed).expect("a file"),
            fs::read(&program).expect("a file")
        );
        let mode = packed.metadata().expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }
    // The version is compared where the program runs.
    let wrong = release.program("0.0.1");
    let refused = targets("target")
        .iter()
        .filter(|target| !release.archive(target, &wrong).status.success())
        .count();
    assert_eq!(refused, 1);
    let unknown = release.archive("riscv64gc-unknown-linux-gnu", &program);
    assert!(
        text(&unknown.stderr).contains("no release for riscv64gc-unknown-linux-gnu"),
        "{unknown:?}"
    );
}

#[testkit::test(node)]
fn the_homebrew_formula_has_the_checksums_of_the_archives() {
    let release = ReleaseFolder::new();
    let program = release.program(env!("CARGO_PKG_VERSION"));
    let names = [
        "aarch64-apple-darwin",
        "x86_64-apple-darwin",
        "aarch64-unknown-linux-gnu",
        "x86_64-unknown-linux-gnu",
    ];
    for name in names {
        assert!(release.archive(name, &program).status.success());
    }
    let archives = names.map(|name| format!("playhouse-{name}.tar.gz"));
    let sums = command("sha256sum")
        .args(&archives)
        .current_dir(release.output())
        .output();
    let sums = sums.expect("it runs").stdout;
    let sums_file = release.output().join("SHA256SUMS");
    fs::write(&sums_file, &sums).expect("a file");
    let written = release.run("homebrew.mjs", &[]);
    assert!(written.status.success(), "{written:?}");
    let formula = fs::read_to_string(release.output().join("playhouse.rb")).expect("a formula");
    let values = |key: &str| -> Vec<String> {
        let lines = formula.lines().map(str::trim);
        let values = lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(" \""));
        values
            .map(|value| value.trim_end_matches('"').to_owned())
            .collect()
    };
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(values("version"), [version]);
    let releases = concat!(env!("CARGO_PKG_REPOSITORY"), "/releases/download/v");
    let urls = archives
        .each_ref()
        .map(|archive| format!("{releases}{version}/{archive}"));
    assert_eq!(values("url"), urls);
    let sums = text(&sums).lines().map(|line| &line[..64]);
    assert_eq!(values("sha256"), sums.collect::<Vec<_>>());
    let sum_of_other = fs::read_to_string(&sums_file).expect("a file");
    let sum_of_other = sum_of_other.replace(&archives[0], "other.tar.gz");
    fs::write(&sums_file, sum_of_other).expect("a file");
    let refused = release.run("homebrew.mjs", &[]);
    let expected = format!("SHA256SUMS has no checksum of {}", archives[0]);
    assert!(text(&refused.stderr).contains(&expected), "{refused:?}");
}

/// A stand-in for `dpkg-deb` copies the control file.
#[cfg(target_os = "linux")]
#[testkit::test]
fn the_debian_package_depends_on_the_lowest_version_of_glibc() {
    let release = ReleaseFolder::new();
    let program = release.program(env!("CARGO_PKG_VERSION"));
    let program = program.to_str().expect("UTF-8");
    let bin = release.0.path().join("bin");
    write_program(&bin.join("dpkg-deb"), "cp \"$3/DEBIAN/control\" \"$4\"");
    let pack = |architecture: &str| {
        command("sh")
            .args(["-c", "PATH=$0:$PATH exec sh \"$@\""])
            .arg(&bin)
            .arg(release.0.path().join("packaging/debian.sh"))
            .args([program, architecture])
            .output()
            .expect("it runs")
    };
    for architecture in targets("deb") {
        let packed = pack(&architecture);
        assert!(packed.status.success(), "{packed:?}");
        let control = release
            .output()
            .join(format!("playhouse_{architecture}.deb"));
        let control = fs::read_to_string(control).expect("a control file");
        let depends = format!("Depends: libc6 (>= 2.{}), libgcc-s1", super::lowest_glibc());
        for field in [
            format!("Version: {}", env!("CARGO_PKG_VERSION")),
            format!("Architecture: {architecture}"),
            depends,
        ] {
            assert!(control.lines().any(|line| line == field), "{control}");
        }
    }
    let refused = pack("i386");
    assert!(!refused.status.success());
    assert!(
        text(&refused.stderr).contains("no Debian package for i386"),
        "{refused:?}"
    );
}
