//! Planning the steps that install a browser, without executing them.

use std::fmt;

use engine::Channel;

use crate::cli::platform::{Packages, Platform, Privilege};

/// A step of an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Step {
    /// Run a program.
    Run {
        /// The program.
        program: String,
        /// Its arguments.
        args: Vec<String>,
    },
    /// Download a package and give its path to a program, as its last argument.
    RunWithFile {
        /// The URL of the package.
        url: String,
        /// The program.
        program: String,
        /// Its arguments.
        args: Vec<String>,
    },
    /// An optional step, whose failure is ignored.
    Welcome(Box<Step>),
    /// Download a build of Chrome for Testing and unpack it into the browsers folder.
    Unpack {
        /// The product in the index: `chrome`, `chrome-headless-shell`.
        product: &'static str,
        /// The platform in the index.
        platform: &'static str,
    },
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Run { program, args } => write!(f, "{program} {}", args.join(" ")),
            Step::RunWithFile { url, program, args } => {
                write!(f, "{program} {} <download of {url}>", args.join(" "))
            }
            Step::Welcome(step) => write!(f, "{step}"),
            Step::Unpack { product, platform } => {
                write!(f, "download {product} for {platform} (Chrome for Testing)")
            }
        }
    }
}

/// The browser cannot be installed on this platform.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} cannot be installed from here: {reason}", channel.name())]
pub(super) struct NoWay {
    channel: Channel,
    reason: &'static str,
}

/// Returns the steps that install these browsers, Chromium with its headless shell, and with `dependencies` the libraries of downloaded
/// builds.
pub(super) fn plan(
    channels: &[Channel],
    dependencies: bool,
    platform: &Platform,
) -> Result<Vec<Step>, NoWay> {
    let mut steps = Vec::new();
    for channel in channels {
        steps.extend(install(*channel, platform)?);
    }
    let shell = Channel::ChromiumHeadlessShell;
    if channels.contains(&Channel::Chromium) && !channels.contains(&shell) {
        let shell = install(shell, platform).unwrap_or_default();
        steps.extend(shell.into_iter().map(|step| Step::Welcome(Box::new(step))));
    }
    let unpacks = steps.iter().any(|step| matches!(step, Step::Unpack { .. }));
    if dependencies && unpacks {
        let libraries = libraries(platform);
        if let Some(install) = packages(platform, &libraries).filter(|_| !libraries.is_empty()) {
            steps.push(install);
        }
    }
    let is_apt = |step: &Step| step.to_string().contains("apt-get install");
    if let Some(first) = steps.iter().position(is_apt) {
        steps.insert(first, privileged(platform, "apt-get", &["update"]));
    }
    Ok(steps)
}

/// Returns another source of the same browser, for a failed download.
pub(super) fn alternative(product: &str, platform: &Platform) -> Option<Step> {
    let shell = product == "chrome-headless-shell";
    packages(platform, &[chromium_package(shell, platform)?])
}

fn install(channel: Channel, platform: &Platform) -> Result<Vec<Step>, NoWay> {
    match channel {
        Channel::Chromium => chromium(channel, "chrome", platform),
        Channel::ChromiumHeadlessShell => chromium(channel, "chrome-headless-shell", platform),
        Channel::Firefox => firefox(platform).map(|step| vec![step]),
        Channel::Webkit => webkit(platform).map(|step| vec![step]),
        _ => branded(channel, platform).map(|step| vec![step]),
    }
}

/// Prefers a package if it can be installed, because it brings its libraries and updates; otherwise a download, which needs no privileges.
fn chromium(
    channel: Channel,
    product: &'static str,
    platform: &Platform,
) -> Result<Vec<Step>, NoWay> {
    let package = chromium_package(product != "chrome", platform);
    let package = package.and_then(|package| packages(platform, &[package]));
    let download = platform
        .download
        .map(|platform| Step::Unpack { product, platform });
    let as_root = is_linux(platform) && platform.privilege == Privilege::Own;
    let step = if as_root {
        package.or(download)
    } else {
        download.or(package)
    };
    step.map(|step| vec![step]).ok_or(NoWay {
        channel,
        reason: "there is no download for this processor and no package manager that we know",
    })
}

fn is_linux(platform: &Platform) -> bool {
    matches!(
        platform.packages,
        Some(Packages::Apt | Packages::Dnf | Packages::Pacman)
    )
}

fn chromium_package(shell: bool, platform: &Platform) -> Option<&'static str> {
    match (platform.packages?, shell) {
        (Packages::Apt, _) if platform.ubuntu => None,
        (Packages::Apt, true) => Some("chromium-headless-shell"),
        (Packages::Dnf, true) => Some("chromium-headless"),
        (Packages::Apt | Packages::Dnf | Packages::Pacman, false) => Some("chromium"),
        (Packages::Pacman | Packages::Brew | Packages::Winget, _) => None,
    }
}

/// Installs Firefox from the system's packages.
fn firefox(platform: &Platform) -> Result<Step, NoWay> {
    let no_way = |reason| NoWay {
        channel: Channel::Firefox,
        reason,
    };
    let step = match platform.packages {
        None => return Err(no_way("no package manager that we know")),
        // Ubuntu's package is a snap, which cannot be automated like other programs.
        Some(Packages::Apt) if platform.ubuntu => {
            return Err(no_way(
                "Ubuntu's own is a snap; install the package of packages.mozilla.org",
            ));
        }
        Some(Packages::Apt) => packages(platform, &["firefox-esr"]),
        Some(Packages::Dnf | Packages::Pacman) => packages(platform, &["firefox"]),
        Some(Packages::Brew) => Some(run("brew", &["install", "--cask", "firefox"])),
        Some(Packages::Winget) => Some(run(
            "winget",
            &["install", "--exact", "--id", "Mozilla.Firefox"],
        )),
    };
    step.ok_or_else(|| no_way("there is no package for this system"))
}

/// Installs WebKit with a virtual display.
fn webkit(platform: &Platform) -> Result<Step, NoWay> {
    let names: &[&str] = match platform.packages {
        Some(Packages::Apt) => &["libwebkit2gtk-4.1-0", "xvfb", "fonts-dejavu-core"],
        Some(Packages::Dnf) => &["webkit2gtk4.1", "xorg-x11-server-Xvfb"],
        Some(Packages::Pacman) => &["webkit2gtk-4.1", "xorg-server-xvfb"],
        _ => &[],
    };
    let step = if names.is_empty() {
        None
    } else {
        packages(platform, names)
    };
    step.ok_or(NoWay {
        channel: Channel::Webkit,
        reason: "WebKit is driven on Linux only",
    })
}

/// Installs Chrome or Edge from the vendor.
fn branded(channel: Channel, platform: &Platform) -> Result<Step, NoWay> {
    let no_way = |reason| NoWay { channel, reason };
    let packages = platform
        .packages
        .ok_or_else(|| no_way("no package manager that we know"))?;
    let step = match packages {
        Packages::Apt => linux_package(channel, platform, "deb").map(|url| Step::RunWithFile {
            url,
            program: privileged_program(platform, "apt-get"),
            args: privileged_args(platform, "apt-get", &["install", "-y"]),
        }),
        Packages::Dnf => linux_package(channel, platform, "rpm")
            .map(|url| privileged(platform, "dnf", &["install", "-y", &url])),
        Packages::Pacman => return Err(no_way("Arch has it in the AUR only; try chromium")),
        Packages::Brew => cask(channel).map(|cask| run("brew", &["install", "--cask", cask])),
        Packages::Winget => {
            winget(channel).map(|id| run("winget", &["install", "--exact", "--id", id]))
        }
    };
    step.ok_or_else(|| no_way("its maker offers no build for this system"))
}

fn linux_package(channel: Channel, platform: &Platform, kind: &str) -> Option<String> {
    if platform.processor != "amd64" {
        return None;
    }
    let google = |name: &str| {
        let file = match kind {
            "deb" => format!("{name}_current_amd64.deb"),
            _ => format!("{name}_current_x86_64.rpm"),
        };
        format!("https://dl.google.com/linux/direct/{file}")
    };
    let microsoft = |deb: &str, rpm: &str| {
        let link = if kind == "deb" { deb } else { rpm };
        format!("https://go.microsoft.com/fwlink?linkid={link}")
    };
    match channel {
        Channel::Chrome => Some(google("google-chrome-stable")),
        Channel::ChromeBeta => Some(google("google-chrome-beta")),
        Channel::ChromeDev => Some(google("google-chrome-unstable")),
        Channel::Msedge => Some(microsoft("2149051", "2149137")),
        _ => None,
    }
}

fn cask(channel: Channel) -> Option<&'static str> {
    match channel {
        Channel::Chrome => Some("google-chrome"),
        Channel::ChromeBeta => Some("google-chrome@beta"),
        Channel::ChromeDev => Some("google-chrome@dev"),
        Channel::ChromeCanary => Some("google-chrome@canary"),
        Channel::Msedge => Some("microsoft-edge"),
        Channel::MsedgeBeta => Some("microsoft-edge@beta"),
        Channel::MsedgeDev => Some("microsoft-edge@dev"),
        Channel::MsedgeCanary => Some("microsoft-edge@canary"),
        Channel::Chromium | Channel::ChromiumHeadlessShell | Channel::Firefox | Channel::Webkit => {
            None
        }
    }
}

fn winget(channel: Channel) -> Option<&'static str> {
    match channel {
        Channel::Chrome => Some("Google.Chrome"),
        Channel::ChromeBeta => Some("Google.Chrome.Beta"),
        Channel::ChromeDev => Some("Google.Chrome.Dev"),
        Channel::ChromeCanary => Some("Google.Chrome.Canary"),
        Channel::Msedge => Some("Microsoft.Edge"),
        Channel::MsedgeBeta => Some("Microsoft.Edge.Beta"),
        Channel::MsedgeDev => Some("Microsoft.Edge.Dev"),
        Channel::MsedgeCanary => Some("Microsoft.Edge.Canary"),
        Channel::Chromium | Channel::ChromiumHeadlessShell | Channel::Firefox | Channel::Webkit => {
            None
        }
    }
}

/// Returns the step that installs packages; `None` if this system has none of them.
pub(in crate::cli) fn packages(platform: &Platform, names: &[&str]) -> Option<Step> {
    let (program, verb): (&str, &[&str]) = match platform.packages? {
        Packages::Apt => ("apt-get", &["install", "-y"]),
        Packages::Dnf => ("dnf", &["install", "-y"]),
        Packages::Pacman => ("pacman", &["-S", "--needed", "--noconfirm"]),
        Packages::Brew | Packages::Winget => return None,
    };
    Some(privileged(platform, program, &[verb, names].concat()))
}

fn run(program: &str, args: &[&str]) -> Step {
    Step::Run {
        program: program.to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
    }
}

fn privileged(platform: &Platform, program: &str, args: &[&str]) -> Step {
    Step::Run {
        program: privileged_program(platform, program),
        args: privileged_args(platform, program, args),
    }
}

fn privileged_program(platform: &Platform, program: &str) -> String {
    match platform.privilege {
        Privilege::Own => program.to_owned(),
        Privilege::Sudo => "sudo".to_owned(),
    }
}

fn privileged_args(platform: &Platform, program: &str, args: &[&str]) -> Vec<String> {
    let own = platform.privilege == Privilege::Own;
    let program = (!own).then_some(program);
    program
        .into_iter()
        .chain(args.iter().copied())
        .map(str::to_owned)
        .collect()
}

/// Returns the packages with the libraries and fonts of a downloaded Chromium.
pub(in crate::cli) fn libraries(platform: &Platform) -> Vec<&'static str> {
    match platform.packages {
        Some(Packages::Apt) => {
            let renamed: &[&str] = if platform.t64 {
                &[
                    "libasound2t64",
                    "libatk-bridge2.0-0t64",
                    "libatk1.0-0t64",
                    "libatspi2.0-0t64",
                    "libcups2t64",
                    "libglib2.0-0t64",
                ]
            } else {
                &[
                    "libasound2",
                    "libatk-bridge2.0-0",
                    "libatk1.0-0",
                    "libatspi2.0-0",
                    "libcups2",
                    "libglib2.0-0",
                ]
            };
            let stable = [
                "fonts-liberation",
                "libcairo2",
                "libdbus-1-3",
                "libdrm2",
                "libgbm1",
                "libnspr4",
                "libnss3",
                "libpango-1.0-0",
                "libx11-6",
                "libxcb1",
                "libxcomposite1",
                "libxdamage1",
                "libxext6",
                "libxfixes3",
                "libxkbcommon0",
                "libxrandr2",
            ];
            stable.iter().chain(renamed).copied().collect()
        }
        Some(Packages::Dnf) => vec![
            "alsa-lib",
            "at-spi2-atk",
            "at-spi2-core",
            "atk",
            "cups-libs",
            "dbus-libs",
            "liberation-fonts",
            "libX11",
            "libXcomposite",
            "libXdamage",
            "libXext",
            "libXfixes",
            "libXrandr",
            "libdrm",
            "libxcb",
            "libxkbcommon",
            "mesa-libgbm",
            "nspr",
            "nss",
            "pango",
        ],
        Some(Packages::Pacman) => vec![
            "alsa-lib",
            "at-spi2-core",
            "libcups",
            "libxcomposite",
            "libxdamage",
            "libxkbcommon",
            "libxrandr",
            "mesa",
            "nss",
            "pango",
            "ttf-liberation",
        ],
        Some(Packages::Brew | Packages::Winget) | None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn debian() -> Platform {
        Platform {
            download: Some("linux64"),
            packages: Some(Packages::Apt),
            privilege: Privilege::Own,
            ubuntu: false,
            t64: false,
            processor: "amd64",
        }
    }

    fn check(channels: &[Channel], dependencies: bool, platform: &Platform, expected: Expect) {
        let text = match plan(channels, dependencies, platform) {
            Ok(steps) => steps.iter().map(|step| format!("{step}\n")).collect(),
            Err(no_way) => format!("{no_way}\n"),
        };
        expected.assert_eq(&text);
    }

    #[test]
    fn root_gets_packages_and_others_a_download() {
        let chromium = [Channel::Chromium];
        check(
            &chromium,
            true,
            &debian(),
            expect![[r#"
            apt-get update
            apt-get install -y chromium
            apt-get install -y chromium-headless-shell
        "#]],
        );
        let user = Platform {
            privilege: Privilege::Sudo,
            ..debian()
        };
        check(
            &chromium,
            false,
            &user,
            expect![[r#"
            download chrome for linux64 (Chrome for Testing)
            download chrome-headless-shell for linux64 (Chrome for Testing)
        "#]],
        );
    }

    #[test]
    fn chromium_is_had_without_the_headless_shell_where_there_is_none() {
        let arch = Platform {
            packages: Some(Packages::Pacman),
            download: None,
            ..debian()
        };
        check(
            &[Channel::Chromium],
            false,
            &arch,
            expect![[r#"
            pacman -S --needed --noconfirm chromium
        "#]],
        );
        let steps = plan(&[Channel::Chromium], false, &debian()).expect("a way");
        assert!(matches!(steps.last(), Some(Step::Welcome(_))), "{steps:?}");
        let both = [Channel::Chromium, Channel::ChromiumHeadlessShell];
        let steps = plan(&both, false, &debian()).expect("a way");
        assert!(!steps.iter().any(|step| matches!(step, Step::Welcome(_))));
    }

    #[test]
    fn the_chromium_of_ubuntu_is_a_snap_so_it_is_downloaded() {
        let ubuntu = Platform {
            ubuntu: true,
            t64: true,
            ..debian()
        };
        check(
            &[Channel::Chromium],
            true,
            &ubuntu,
            expect![[r#"
                download chrome for linux64 (Chrome for Testing)
                download chrome-headless-shell for linux64 (Chrome for Testing)
                apt-get update
                apt-get install -y fonts-liberation libcairo2 libdbus-1-3 libdrm2 libgbm1 libnspr4 libnss3 libpango-1.0-0 libx11-6 libxcb1 libxcomposite1 libxdamage1 libxext6 libxfixes3 libxkbcommon0 libxrandr2 libasound2t64 libatk-bridge2.0-0t64 libatk1.0-0t64 libatspi2.0-0t64 libcups2t64 libglib2.0-0t64
            "#]],
        );
    }

    #[test]
    fn chrome_and_edge_come_from_their_makers() {
        let user = Platform {
            privilege: Privilege::Sudo,
            ..debian()
        };
        check(
            &[Channel::Chrome, Channel::Msedge],
            false,
            &user,
            expect![[r#"
            sudo apt-get update
            sudo apt-get install -y <download of https://dl.google.com/linux/direct/google-chrome-stable_current_amd64.deb>
            sudo apt-get install -y <download of https://go.microsoft.com/fwlink?linkid=2149051>
        "#]],
        );
        let fedora = Platform {
            packages: Some(Packages::Dnf),
            ..debian()
        };
        check(
            &[Channel::Chrome],
            false,
            &fedora,
            expect![[r#"
            dnf install -y https://dl.google.com/linux/direct/google-chrome-stable_current_x86_64.rpm
        "#]],
        );
        let mac = Platform {
            packages: Some(Packages::Brew),
            download: Some("mac-arm64"),
            ..debian()
        };
        check(
            &[Channel::MsedgeBeta, Channel::Chromium],
            true,
            &mac,
            expect![[r#"
                brew install --cask microsoft-edge@beta
                download chrome for mac-arm64 (Chrome for Testing)
                download chrome-headless-shell for mac-arm64 (Chrome for Testing)
            "#]],
        );
        let windows = Platform {
            packages: Some(Packages::Winget),
            download: Some("win64"),
            ..debian()
        };
        check(
            &[Channel::Chrome],
            false,
            &windows,
            expect![[r#"
            winget install --exact --id Google.Chrome
        "#]],
        );
    }

    #[test]
    fn an_unsupported_installation_has_a_reason() {
        let arch = Platform {
            packages: Some(Packages::Pacman),
            ..debian()
        };
        check(
            &[Channel::Chrome],
            false,
            &arch,
            expect![[r#"
            chrome cannot be installed from here: Arch has it in the AUR only; try chromium
        "#]],
        );
        let arm = Platform {
            download: None,
            processor: "arm64",
            ..debian()
        };
        check(
            &[Channel::Chrome],
            false,
            &arm,
            expect![[r#"
            chrome cannot be installed from here: its maker offers no build for this system
        "#]],
        );
        let bare = Platform {
            packages: None,
            download: None,
            ..debian()
        };
        check(
            &[Channel::Chromium],
            false,
            &bare,
            expect![[r#"
            chromium cannot be installed from here: there is no download for this processor and no package manager that we know
        "#]],
        );
    }
}
