//! The locations of each browser by operating system.

use super::{Channel, Search};
use std::fmt;
use std::path::{Path, PathBuf};

/// A possible location of a program.
pub(super) enum Location {
    /// A path, with components below it, each of which may contain one `*`.
    Path { base: PathBuf, steps: Vec<String> },
    /// A command in one of the folders of `PATH`.
    Command(&'static str),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Path { base, steps } => {
                let path = steps
                    .iter()
                    .fold(base.clone(), |path, step| path.join(step));
                path.display().fmt(f)
            }
            Location::Command(name) => write!(f, "{name} in PATH"),
        }
    }
}

/// Returns the locations of a browser in the order of preference.
pub(super) fn of(channel: Channel, search: &Search) -> Vec<Location> {
    let mut locations = Vec::new();
    if channel != Channel::Chromium && channel != Channel::ChromiumHeadlessShell {
        locations.extend(system(channel, search));
        return locations;
    }
    // Builds that Playhouse installed have priority.
    locations.extend(downloaded(channel, &search.ours));
    locations.extend(system(channel, search));
    locations.extend(playwright(channel, &search.playwright));
    locations.extend(downloaded(channel, &search.puppeteer));
    locations
}

fn location(base: &Path, steps: &[&str]) -> Location {
    Location::Path {
        base: base.to_owned(),
        steps: steps.iter().map(|step| (*step).to_owned()).collect(),
    }
}

/// Returns the locations of an unpacked Chrome for Testing, from Playhouse and Puppeteer: `NAME/VERSION/FOLDER/PROGRAM`.
fn downloaded(channel: Channel, base: &Path) -> Vec<Location> {
    match channel {
        Channel::ChromiumHeadlessShell => vec![location(
            base,
            &[
                "chrome-headless-shell",
                "*",
                "chrome-headless-shell-*",
                &program("chrome-headless-shell"),
            ],
        )],
        _ => with_chrome(base, &["chrome", "*"]),
    }
}

fn playwright(channel: Channel, base: &Path) -> Vec<Location> {
    match channel {
        Channel::ChromiumHeadlessShell => vec![
            location(
                base,
                &[
                    "chromium_headless_shell-*",
                    "chrome-headless-shell-*",
                    &program("chrome-headless-shell"),
                ],
            ),
            location(
                base,
                &[
                    "chromium_headless_shell-*",
                    "chrome-*",
                    &program("headless_shell"),
                ],
            ),
        ],
        _ => with_chrome(base, &["chromium-*"]),
    }
}

/// Returns the full browser in an unpacked folder.
fn with_chrome(base: &Path, steps: &[&str]) -> Vec<Location> {
    let below = |rest: &[&str]| location(base, &[steps, rest].concat());
    if cfg!(target_os = "macos") {
        let app = |name: &str| {
            below(&[
                "chrome-mac*",
                &format!("{name}.app"),
                "Contents",
                "MacOS",
                name,
            ])
        };
        vec![app("Google Chrome for Testing"), app("Chromium")]
    } else {
        let folder = if cfg!(windows) {
            "chrome-win*"
        } else {
            "chrome-linux*"
        };
        vec![below(&[folder, &program("chrome")])]
    }
}

fn program(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

/// Returns the locations of installers and package managers.
fn system(channel: Channel, search: &Search) -> Vec<Location> {
    if cfg!(target_os = "macos") {
        mac(channel, search)
    } else if cfg!(windows) {
        windows(channel, search)
    } else {
        linux(channel)
    }
}

/// Returns the locations of `MiniBrowser`, WebKitGTK's test browser, in the folders for internal programs.
fn mini_browsers() -> Vec<Location> {
    let below = |base: &str, steps: &[&str]| location(Path::new(base), steps);
    let mut locations = Vec::new();
    for version in ["webkit2gtk-4.1", "webkit2gtk-4.0"] {
        locations.push(below("/usr/lib", &["*-linux-gnu", version, "MiniBrowser"]));
        locations.push(below("/usr/libexec", &[version, "MiniBrowser"]));
        locations.push(below("/usr/lib", &[version, "MiniBrowser"]));
    }
    locations
}

fn linux(channel: Channel) -> Vec<Location> {
    if channel == Channel::Webkit {
        return mini_browsers();
    }
    let (fixed, commands): (&[&str], &[&'static str]) = match channel {
        Channel::Chrome => (
            &["/opt/google/chrome/chrome"],
            &["google-chrome", "google-chrome-stable"],
        ),
        Channel::ChromeBeta => (&["/opt/google/chrome-beta/chrome"], &["google-chrome-beta"]),
        Channel::ChromeDev => (
            &["/opt/google/chrome-unstable/chrome"],
            &["google-chrome-unstable"],
        ),
        Channel::ChromeCanary => (
            &["/opt/google/chrome-canary/chrome"],
            &["google-chrome-canary"],
        ),
        Channel::Msedge => (
            &["/opt/microsoft/msedge/msedge"],
            &["microsoft-edge", "microsoft-edge-stable"],
        ),
        Channel::MsedgeBeta => (
            &["/opt/microsoft/msedge-beta/msedge"],
            &["microsoft-edge-beta"],
        ),
        Channel::MsedgeDev => (
            &["/opt/microsoft/msedge-dev/msedge"],
            &["microsoft-edge-dev"],
        ),
        Channel::MsedgeCanary => (
            &["/opt/microsoft/msedge-canary/msedge"],
            &["microsoft-edge-canary"],
        ),
        Channel::Chromium => (
            &["/usr/bin/chromium", "/snap/bin/chromium"],
            &["chromium", "chromium-browser"],
        ),
        Channel::ChromiumHeadlessShell => (
            &["/usr/bin/chromium-headless-shell"],
            &[
                "chromium-headless-shell",
                "chrome-headless-shell",
                "headless_shell",
            ],
        ),
        Channel::Firefox => (
            &["/usr/bin/firefox-esr", "/usr/bin/firefox"],
            &["firefox-esr", "firefox"],
        ),
        Channel::Webkit => (&[], &[]),
    };
    let fixed = fixed.iter().map(|path| location(Path::new(path), &[]));
    let on_path = commands.iter().map(|command| Location::Command(command));
    fixed.chain(on_path).collect()
}

fn mac(channel: Channel, search: &Search) -> Vec<Location> {
    let name = match channel {
        Channel::Chrome => "Google Chrome",
        Channel::ChromeBeta => "Google Chrome Beta",
        Channel::ChromeDev => "Google Chrome Dev",
        Channel::ChromeCanary => "Google Chrome Canary",
        Channel::Msedge => "Microsoft Edge",
        Channel::MsedgeBeta => "Microsoft Edge Beta",
        Channel::MsedgeDev => "Microsoft Edge Dev",
        Channel::MsedgeCanary => "Microsoft Edge Canary",
        Channel::Chromium => "Chromium",
        Channel::ChromiumHeadlessShell => return vec![Location::Command("chrome-headless-shell")],
        Channel::Firefox => {
            let program = |folder: &str| {
                location(
                    Path::new(folder),
                    &["Firefox.app", "Contents", "MacOS", "firefox"],
                )
            };
            return vec![program("/Applications")];
        }
        Channel::Webkit => return Vec::new(),
    };
    let folders = [
        PathBuf::from("/Applications"),
        search.home.join("Applications"),
    ];
    let app =
        |folder: &PathBuf| location(folder, &[&format!("{name}.app"), "Contents", "MacOS", name]);
    folders.iter().map(app).collect()
}

fn windows(channel: Channel, search: &Search) -> Vec<Location> {
    let steps: &[&str] = match channel {
        Channel::Chrome => &["Google", "Chrome", "Application", "chrome.exe"],
        Channel::ChromeBeta => &["Google", "Chrome Beta", "Application", "chrome.exe"],
        Channel::ChromeDev => &["Google", "Chrome Dev", "Application", "chrome.exe"],
        Channel::ChromeCanary => &["Google", "Chrome SxS", "Application", "chrome.exe"],
        Channel::Msedge => &["Microsoft", "Edge", "Application", "msedge.exe"],
        Channel::MsedgeBeta => &["Microsoft", "Edge Beta", "Application", "msedge.exe"],
        Channel::MsedgeDev => &["Microsoft", "Edge Dev", "Application", "msedge.exe"],
        Channel::MsedgeCanary => &["Microsoft", "Edge SxS", "Application", "msedge.exe"],
        Channel::Chromium => &["Chromium", "Application", "chrome.exe"],
        Channel::ChromiumHeadlessShell => {
            return vec![Location::Command("chrome-headless-shell.exe")];
        }
        Channel::Firefox => &["Mozilla Firefox", "firefox.exe"],
        Channel::Webkit => return Vec::new(),
    };
    search
        .program_folders
        .iter()
        .map(|folder| location(folder, steps))
        .collect()
}
