//! The platform, as far as installing browsers depends on it.

use std::{fs, path::PathBuf};

/// The facts that decide how a browser is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Platform {
    /// The platform name of Chrome for Testing; `None`: there is no build.
    pub(super) download: Option<&'static str>,
    /// The package manager.
    pub(super) packages: Option<Packages>,
    /// The privilege that installing packages requires.
    pub(super) privilege: Privilege,
    /// Ubuntu's Chromium is a snap, which cannot be automated.
    pub(super) ubuntu: bool,
    /// Debian's libraries have the suffix of 64-bit time.
    pub(super) t64: bool,
    /// The architecture in Debian's words.
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

/// The privilege that installing packages requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Privilege {
    /// The current user has it.
    Own,
    /// Root, with `sudo` if it is installed.
    Sudo,
}

impl Platform {
    /// Detects the platform; programs are searched for in the folders of `path`.
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
