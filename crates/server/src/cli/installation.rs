//! How this program was installed, by its path and the records of package managers.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::config::{Environment, home};

/// The npm package that starts the program; those with the programs are named after it (`playhouse-mcp-linux-x64`).
pub(super) const NPM_PACKAGE: &str = "playhouse-mcp";

/// The way in which a program was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Installation {
    /// `npx playhouse-mcp`: a package in the cache of npm.
    Npx,
    /// `npm install --global playhouse-mcp`.
    NpmGlobal,
    /// A dependency of the project in this folder.
    NpmProject(PathBuf, NpmClient),
    /// `cargo install playhouse`, from the registry.
    Cargo,
    /// `cargo install`, from something else, such as `path+file:///src/playhouse`.
    CargoSource(String),
    /// `cargo binstall playhouse`.
    CargoBinstall,
    /// With a Homebrew formula.
    Homebrew,
    /// A Debian package.
    Debian,
    /// `install.sh`, into this folder.
    Script(PathBuf),
    /// Compiled in this folder with `cargo build`.
    Build(PathBuf),
    /// None of these.
    Unknown,
}

/// A program that installs npm packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NpmClient {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

impl NpmClient {
    /// Returns the program whose lockfile is in a project. npm if there is none.
    fn of_project(project: &Path) -> NpmClient {
        let lockfiles = [
            ("package-lock.json", NpmClient::Npm),
            ("pnpm-lock.yaml", NpmClient::Pnpm),
            ("yarn.lock", NpmClient::Yarn),
            ("bun.lock", NpmClient::Bun),
            ("bun.lockb", NpmClient::Bun),
        ];
        let found = lockfiles
            .iter()
            .find(|(name, _)| project.join(name).is_file());
        found.map_or(NpmClient::Npm, |(_, client)| *client)
    }
}

impl Installation {
    /// Returns how this process was installed.
    pub(super) fn of_this(environment: &Environment) -> Installation {
        let program = std::env::current_exe().and_then(fs::canonicalize);
        let home = home(environment);
        let folders = RecordFolders {
            cargo: environment
                .path("CARGO_HOME")
                .unwrap_or_else(|| home.join(".cargo")),
            data: environment
                .path("XDG_DATA_HOME")
                .unwrap_or_else(|| home.join(".local/share")),
            dpkg: PathBuf::from("/var/lib/dpkg/info"),
        };
        program.map_or(Installation::Unknown, |program| folders.find(&program))
    }
}

/// The folders in which package managers have their records.
struct RecordFolders {
    cargo: PathBuf,
    data: PathBuf,
    dpkg: PathBuf,
}

impl RecordFolders {
    /// Returns how a program was installed. The path has no symbolic links.
    fn find(&self, program: &Path) -> Installation {
        let folder = program.parent().unwrap_or(program);
        npm(program)
            .or_else(|| self.cargo(folder))
            .or_else(|| has_folder(program, "Cellar").then_some(Installation::Homebrew))
            .or_else(|| self.debian(program))
            .or_else(|| self.script(folder))
            .or_else(|| build(folder))
            .unwrap_or(Installation::Unknown)
    }

    fn cargo(&self, folder: &Path) -> Option<Installation> {
        let cargo = self.cargo.canonicalize().ok()?;
        if folder != cargo.join("bin") {
            return None;
        }
        let binstall = fs::read_to_string(cargo.join("binstall/crates-v1.json"));
        if binstall.is_ok_and(|crates| crates.contains("\"playhouse\"")) {
            return Some(Installation::CargoBinstall);
        }
        // https://doc.rust-lang.org/cargo/guide/cargo-home.html: "playhouse 0.1.0 (registry+https://…)" = ["playhouse"]
        let crates = fs::read_to_string(cargo.join(".crates.toml")).ok()?;
        let own = crates
            .lines()
            .find_map(|line| line.strip_prefix("\"playhouse "))?;
        let source = own.split_once('(')?.1.split_once(')')?.0;
        Some(match source.starts_with("registry+") {
            true => Installation::Cargo,
            false => Installation::CargoSource(source.to_owned()),
        })
    }

    fn debian(&self, program: &Path) -> Option<Installation> {
        let list = fs::read_to_string(self.dpkg.join("playhouse.list")).ok()?;
        let is_listed = list.lines().any(|line| Path::new(line) == program);
        is_listed.then_some(Installation::Debian)
    }

    fn script(&self, folder: &Path) -> Option<Installation> {
        let record = self.data.join("playhouse/installed-by-script");
        let recorded = fs::read_to_string(record).ok()?;
        // One folder on each line.
        let is_recorded = recorded.lines().any(|line| Path::new(line) == folder);
        is_recorded.then(|| Installation::Script(folder.to_owned()))
    }
}

/// Returns the kind of npm package, for programs in `node_modules/playhouse-mcp-PLATFORM/bin`.
fn npm(program: &Path) -> Option<Installation> {
    let package = program.ancestors().nth(2)?;
    let name = package.file_name()?.to_str()?;
    let platform = name.strip_prefix(NPM_PACKAGE)?;
    if !platform.starts_with('-') || !package.parent()?.ends_with("node_modules") {
        return None;
    }
    if has_folder(program, "_npx") {
        return Some(Installation::Npx);
    }
    // The outermost folder: package managers also install into node_modules of the package that depends on it, or into a store below it.
    let outer = program
        .ancestors()
        .filter(|folder| folder.ends_with("node_modules"))
        .last()?;
    let project = outer.parent()?;
    // https://docs.npmjs.com/cli/v11/configuring-npm/folders: PREFIX/lib/node_modules, on Windows PREFIX/node_modules
    let is_global = project.ends_with("lib") || project.ends_with("npm");
    Some(match is_global && !project.join("package.json").is_file() {
        true => Installation::NpmGlobal,
        false => Installation::NpmProject(project.to_owned(), NpmClient::of_project(project)),
    })
}

/// Returns the repository of a program in `target/PROFILE` or `target/TRIPLE/PROFILE`.
fn build(folder: &Path) -> Option<Installation> {
    let target = folder
        .ancestors()
        .take(3)
        .find(|folder| folder.ends_with("target"))?;
    let repository = target.parent()?;
    let is_cargo = repository.join("Cargo.toml").is_file();
    is_cargo.then(|| Installation::Build(repository.to_owned()))
}

fn has_folder(program: &Path, name: &str) -> bool {
    program.ancestors().any(|folder| folder.ends_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty root with the records of package managers.
    struct Root(tempfile::TempDir);

    impl Root {
        fn new() -> Root {
            Root(tempfile::tempdir().expect("a folder"))
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.path().canonicalize().expect("a folder").join(path)
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.path(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }

        fn find(&self, program: &str) -> Installation {
            self.write(program, "");
            let folders = RecordFolders {
                cargo: self.path("home/.cargo"),
                data: self.path("home/.local/share"),
                dpkg: self.path("dpkg"),
            };
            folders.find(&self.path(program))
        }
    }

    #[test]
    fn npm_packages_are_found_by_their_path() {
        let root = Root::new();
        let package = "node_modules/playhouse-mcp-linux-x64/bin/playhouse";
        let nested = format!("node_modules/playhouse-mcp/{package}");
        let pnpm = format!("node_modules/.pnpm/playhouse-mcp-linux-x64@0.1.0/{package}");
        let project = |folder: &str, client| Installation::NpmProject(root.path(folder), client);
        for (folder, expected) in [
            ("home/.npm/_npx/0123456789abcdef", Installation::Npx),
            ("usr/lib", Installation::NpmGlobal),
            ("work", project("work", NpmClient::Npm)),
        ] {
            assert_eq!(root.find(&format!("{folder}/{package}")), expected);
            assert_eq!(root.find(&format!("{folder}/{nested}")), expected);
        }
        for (folder, lockfile, client) in [
            ("a", "package-lock.json", NpmClient::Npm),
            ("b", "pnpm-lock.yaml", NpmClient::Pnpm),
            ("c", "yarn.lock", NpmClient::Yarn),
            ("d", "bun.lock", NpmClient::Bun),
        ] {
            root.write(&format!("{folder}/{lockfile}"), "");
            for path in [package, &pnpm] {
                let found = root.find(&format!("{folder}/{path}"));
                assert_eq!(found, project(folder, client));
            }
        }
        // Packages whose names only begin alike, and programs elsewhere.
        for other in [
            "node_modules/playhouse-mcpx/bin/playhouse",
            "playhouse-mcp-linux-x64/bin/playhouse",
        ] {
            assert_eq!(root.find(&format!("work/{other}")), Installation::Unknown);
        }
        // A project whose folder is called `lib`.
        root.write("work/lib/package.json", "{}");
        assert_eq!(
            root.find(&format!("work/lib/{package}")),
            project("work/lib", NpmClient::Npm)
        );
    }

    #[test]
    fn programs_of_cargo_are_found_by_its_records() {
        let root = Root::new();
        let program = "home/.cargo/bin/playhouse";
        assert_eq!(root.find(program), Installation::Unknown);
        let crates = |source: &str| {
            format!(
                "[v1]\n\"other 1.0.0 (x)\" = [\"playhouse\"]\n\"playhouse 0.1.0 ({source})\" = [\"playhouse\"]\n"
            )
        };
        root.write(
            "home/.cargo/.crates.toml",
            &crates("registry+https://github.com/rust-lang/crates.io-index"),
        );
        assert_eq!(root.find(program), Installation::Cargo);
        assert_eq!(root.find("opt/bin/playhouse"), Installation::Unknown);
        root.write("home/.cargo/.crates.toml", &crates("path+file:///src"));
        assert_eq!(
            root.find(program),
            Installation::CargoSource("path+file:///src".to_owned())
        );
        root.write(
            "home/.cargo/binstall/crates-v1.json",
            "{\"name\":\"playhouse\",\"version_req\":\"*\"}",
        );
        assert_eq!(root.find(program), Installation::CargoBinstall);
    }

    #[test]
    fn other_programs_are_found_by_path_or_record() {
        let root = Root::new();
        assert_eq!(
            root.find("opt/homebrew/Cellar/playhouse/0.1.0/bin/playhouse"),
            Installation::Homebrew
        );
        let debian = root.path("usr/bin/playhouse");
        root.write(
            "dpkg/playhouse.list",
            &format!("/.\n{}\n", debian.display()),
        );
        assert_eq!(root.find("usr/bin/playhouse"), Installation::Debian);
        assert_eq!(root.find("usr/local/bin/playhouse"), Installation::Unknown);
        let folder = root.path("home/.local/bin");
        root.write(
            "home/.local/share/playhouse/installed-by-script",
            &format!("/opt/bin\n{}\n", folder.display()),
        );
        assert_eq!(
            root.find("home/.local/bin/playhouse"),
            Installation::Script(folder)
        );
        root.write("src/Cargo.toml", "");
        for program in [
            "src/target/release/playhouse",
            "src/target/x86_64-unknown-linux-musl/release/playhouse",
        ] {
            assert_eq!(root.find(program), Installation::Build(root.path("src")));
        }
    }
}
