//! `playhouse upgrade`: prints how this program was installed and how to upgrade it. It downloads and changes nothing.

use std::{path::Path, process::ExitCode};

use clap::Command;

use super::{
    installation::{Installation, NPM_PACKAGE, NpmClient},
    print,
};
use crate::config::{Environment, home};

pub(super) const NAME: &str = "upgrade";

const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

pub(super) fn command() -> Command {
    Command::new(NAME).about(
        "Print how Playhouse was installed and the command that upgrades it; download nothing",
    )
}

pub(super) fn run(environment: &Environment) -> ExitCode {
    let installation = Installation::of_this(environment);
    let usual = home(environment).join(".local/bin");
    print(&format!(
        "playhouse {}, installed {}.\nTo upgrade:\n\n    {}\n",
        env!("CARGO_PKG_VERSION"),
        origin(&installation),
        upgrade(&installation, &usual)
    ))
}

/// Returns how the program was installed: the end of a sentence.
fn origin(installation: &Installation) -> String {
    match installation {
        Installation::Npx => "by npx".to_owned(),
        Installation::NpmGlobal => "with npm for all projects".to_owned(),
        Installation::NpmProject(folder, _) => {
            format!("as an npm package in {}", folder.display())
        }
        Installation::Cargo => "with cargo install".to_owned(),
        Installation::CargoSource(source) => format!("with cargo install from {source}"),
        Installation::CargoBinstall => "with cargo binstall".to_owned(),
        Installation::Homebrew => "with Homebrew".to_owned(),
        Installation::Debian => "with the Debian package".to_owned(),
        Installation::Script(folder) => format!("by install.sh in {}", folder.display()),
        Installation::Build(folder) => format!("by cargo build in {}", folder.display()),
        Installation::Unknown => "in an unknown way".to_owned(),
    }
}

/// Returns the command that upgrades the program, or what to do if it is not known. `usual` is the folder that `install.sh` uses by default.
fn upgrade(installation: &Installation, usual: &Path) -> String {
    match installation {
        Installation::Npx => format!("npx {NPM_PACKAGE}@latest --version"),
        Installation::NpmGlobal => format!("npm install --global {NPM_PACKAGE}@latest"),
        Installation::NpmProject(folder, client) => {
            let folder = quoted(folder);
            let command = match client {
                NpmClient::Npm => format!("npm install --prefix {folder}"),
                NpmClient::Pnpm => format!("pnpm add --dir {folder}"),
                NpmClient::Yarn => format!("yarn --cwd {folder} add"),
                NpmClient::Bun => format!("bun add --cwd {folder}"),
            };
            format!("{command} {NPM_PACKAGE}@latest")
        }
        Installation::Cargo => "cargo install --locked playhouse".to_owned(),
        Installation::CargoSource(source) => cargo_install(source),
        Installation::CargoBinstall => "cargo binstall playhouse".to_owned(),
        Installation::Homebrew => format!(
            "copy {REPOSITORY}/releases/latest/download/playhouse.rb into your tap, then: brew upgrade playhouse"
        ),
        Installation::Debian => {
            let package = format!("playhouse_{}.deb", debian_architecture());
            format!(
                "curl -fLO {REPOSITORY}/releases/latest/download/{package} && sudo apt install ./{package}"
            )
        }
        Installation::Script(folder) => {
            let script =
                format!("curl -fsSL {REPOSITORY}/releases/latest/download/install.sh | sh");
            match folder == usual {
                true => script,
                false => format!("{script} -s -- --dir {}", quoted(folder)),
            }
        }
        Installation::Build(folder) => format!(
            "cd {} && git pull && cargo build --locked --release",
            quoted(folder)
        ),
        Installation::Unknown => {
            format!("download the newest release from {REPOSITORY}/releases/latest")
        }
    }
}

/// Returns the command for a source as cargo records it: `path+file:///src`, `git+https://example.com/p?branch=main#0123`.
/// <https://doc.rust-lang.org/cargo/reference/pkgid-spec.html>
fn cargo_install(source: &str) -> String {
    let (kind, url) = source.split_once('+').unwrap_or_default();
    let url = url::Url::parse(url);
    match (kind, url) {
        ("path", Ok(url)) if url.to_file_path().is_ok() => {
            let path = url.to_file_path().unwrap_or_default();
            format!("cargo install --locked --path {}", quoted(&path))
        }
        ("git", Ok(mut url)) => {
            let reference = url
                .query_pairs()
                .find(|(key, _)| matches!(&**key, "branch" | "tag" | "rev"))
                .map(|(key, value)| format!(" --{key} {}", word(&value)))
                .unwrap_or_default();
            url.set_query(None);
            url.set_fragment(None);
            format!(
                "cargo install --locked --git {}{reference} playhouse",
                word(url.as_str())
            )
        }
        _ => "cargo install --locked playhouse".to_owned(),
    }
}

fn debian_architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Returns a path as one word of a shell.
fn quoted(path: &Path) -> String {
    word(&path.display().to_string())
}

/// Returns a text as one word of a shell.
fn word(text: &str) -> String {
    shlex::try_quote(text).map_or(text.to_owned(), |quoted| quoted.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_installation_has_a_command() {
        let command = |installation| upgrade(&installation, Path::new("/home/a/.local/bin"));
        for (installation, expected) in [
            (Installation::Npx, "npx playhouse-mcp@latest --version"),
            (
                Installation::NpmGlobal,
                "npm install --global playhouse-mcp@latest",
            ),
            (
                Installation::NpmProject("/my work".into(), NpmClient::Npm),
                "npm install --prefix '/my work' playhouse-mcp@latest",
            ),
            (
                Installation::NpmProject("/work".into(), NpmClient::Pnpm),
                "pnpm add --dir /work playhouse-mcp@latest",
            ),
            (Installation::Cargo, "cargo install --locked playhouse"),
            (
                Installation::CargoSource("path+file:///src/crates/playhouse".to_owned()),
                "cargo install --locked --path /src/crates/playhouse",
            ),
            (
                Installation::CargoSource("git+https://example.com/p?branch=main#0123".to_owned()),
                "cargo install --locked --git https://example.com/p --branch main playhouse",
            ),
            (
                Installation::CargoSource("git+ssh://git@example.com/p.git?tag=v1#0123".to_owned()),
                "cargo install --locked --git ssh://git@example.com/p.git --tag v1 playhouse",
            ),
            (
                Installation::CargoSource("path+file:///my%20work/playhouse".to_owned()),
                "cargo install --locked --path '/my work/playhouse'",
            ),
            (Installation::CargoBinstall, "cargo binstall playhouse"),
            (
                Installation::Homebrew,
                "copy https://github.com/playhouse-dev/playhouse/releases/latest/download/playhouse.rb into your tap, then: brew upgrade playhouse",
            ),
            (
                Installation::Script("/home/a/.local/bin".into()),
                "curl -fsSL https://github.com/playhouse-dev/playhouse/releases/latest/download/install.sh | sh",
            ),
            (
                Installation::Script("/opt/bin".into()),
                "curl -fsSL https://github.com/playhouse-dev/playhouse/releases/latest/download/install.sh | sh -s -- --dir /opt/bin",
            ),
            (
                Installation::Build("/src".into()),
                "cd /src && git pull && cargo build --locked --release",
            ),
            (
                Installation::Unknown,
                "download the newest release from https://github.com/playhouse-dev/playhouse/releases/latest",
            ),
        ] {
            assert_eq!(command(installation), expected);
        }
        let debian = command(Installation::Debian);
        let package = format!("playhouse_{}.deb", debian_architecture());
        assert!(debian.ends_with(&format!("sudo apt install ./{package}")));
    }
}
