//! The machine as an installer sees it.

use std::{fs, path::PathBuf};

/// What decides how a browser is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Platform {
    /// How Chrome for Testing calls it; `None`: there is no build for it.
    pub(super) download: Option<&'static str>,
    /// What installs packages.
    pub(super) packages: Option<Packages>,
    /// Who may install packages.
    pub(super) privilege: Privilege,
    /// Ubuntu's Chromium is a snap, which cannot be driven.
    pub(super) ubuntu: bool,
    /// Debian's libraries have names for 64-bit time.
    pub(super) t64: bool,
    /// The processor as Debian calls it.
    pub(super) processor: &'static str,
}

/// A package manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packages {
    /// Debian, Ubuntu.
    Apt,
    /// Fedora.
    Dnf,
    /// Arch.
    Pacman,
    /// macOS.
    Brew,
    /// Windows.
    Winget,
}

/// Who may install packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Privilege {
    /// We may.
    Own,
    /// Root; `sudo` makes us that, if it is there.
    Sudo,
}

impl Platform {
    /// This machine; programs are looked for in the folders of `path`.
    pub(super) fn here(path: &[PathBuf]) -> Platform {
        let has = |program: &str| path.iter().any(|folder| folder.join(program).is_file());
        let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
        let field = |name: &str| {
            let value = release.lines().find_map(|line| line.strip_prefix(name));
            value.unwrap_or_default().trim_matches('"').to_owned()
        };
        let ubuntu = field("ID=") == "ubuntu" || field("ID_LIKE=").contains("ubuntu");
        let version: f32 = field("VERSION_ID=").parse().unwrap_or_default();
        let packages = if cfg!(target_os = "macos") {
            has("brew").then_some(Packages::Brew)
        } else if cfg!(windows) {
            has("winget.exe").then_some(Packages::Winget)
        } else {
            let known = [
                ("apt-get", Packages::Apt),
                ("dnf", Packages::Dnf),
                ("pacman", Packages::Pacman),
            ];
            known
                .iter()
                .find(|(program, _)| has(program))
                .map(|(_, packages)| *packages)
        };
        let privilege = match cfg!(target_os = "linux") && !is_root() {
            true => Privilege::Sudo,
            false => Privilege::Own,
        };
        Platform {
            download: download(),
            packages,
            privilege,
            ubuntu,
            t64: if ubuntu {
                version >= 24.0
            } else {
                version >= 13.0
            },
            processor: if cfg!(target_arch = "aarch64") {
                "arm64"
            } else {
                "amd64"
            },
        }
    }
}

fn download() -> Option<&'static str> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Some("linux64"),
        ("macos", "aarch64") => Some("mac-arm64"),
        ("macos", "x86_64") => Some("mac-x64"),
        ("windows", "x86") => Some("win32"),
        ("windows", _) => Some("win64"),
        _ => None,
    }
}

#[cfg(unix)]
pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
pub(super) fn is_root() -> bool {
    false
}
