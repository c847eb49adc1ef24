//! Finding the program of a browser, only in the given locations of the file system.

mod locations;

use super::BrowserKind;
use crate::error::{Error, Result};
use locations::Location;
use std::path::{Path, PathBuf};

/// A browser with its channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[expect(missing_docs, reason = "their names are their meaning")]
pub enum Channel {
    Chrome,
    ChromeBeta,
    ChromeDev,
    ChromeCanary,
    Msedge,
    MsedgeBeta,
    MsedgeDev,
    MsedgeCanary,
    #[strum(to_string = "chromium", serialize = "chrome-for-testing")]
    Chromium,
    ChromiumHeadlessShell,
    Firefox,
    Webkit,
}

impl Channel {
    /// Returns the name, such as `msedge-beta`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the browser kind.
    pub fn kind(self) -> BrowserKind {
        match self {
            Self::Firefox => BrowserKind::Firefox,
            Self::Webkit => BrowserKind::Webkit,
            _ => BrowserKind::Chromium,
        }
    }

    /// Returns whether the name is also that of the browser kind.
    pub fn is_default_channel(self) -> bool {
        self.name() == <&str>::from(self.kind())
    }
}

/// The requested browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrowserChoice {
    /// Not specified: Chrome, or any other Chromium.
    Any,
    /// Exactly this channel.
    Channel(Channel),
    /// This program of a browser of this kind.
    Program(BrowserKind, PathBuf),
}

/// The locations to search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Search {
    /// Whether a headless shell suffices, which has neither windows nor extensions.
    pub headless_shell: bool,
    /// The user's home folder.
    pub home: PathBuf,
    /// The folders of `PATH`.
    pub path: Vec<PathBuf>,
    /// The program folders of Windows, for all users and for this one.
    pub program_folders: Vec<PathBuf>,
    /// Playwright's browsers.
    pub playwright: PathBuf,
    /// Puppeteer's browsers.
    pub puppeteer: PathBuf,
    /// The browsers that Playhouse installed, in `NAME/VERSION/…`.
    pub ours: PathBuf,
}

/// The program of a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundBrowser {
    /// The program.
    pub path: PathBuf,
    /// The channel; `None` for a configured program.
    pub channel: Option<Channel>,
    /// Whether it has no headed mode.
    pub headless_shell: bool,
}

/// Finds the requested browser. Fails with `BrowserNotFound`, which names the searched locations and the command that installs one.
pub fn find(want: &BrowserChoice, search: &Search) -> Result<FoundBrowser> {
    #[cfg(any(test, feature = "testing"))]
    if crate::testing::is_installed() && !matches!(want, BrowserChoice::Program(..)) {
        return Ok(FoundBrowser {
            path: PathBuf::from("fake-browser"),
            channel: None,
            headless_shell: true,
        });
    }
    find_on(want, search, &Disk)
}

/// Returns all installed browsers in the order of preference.
pub fn find_all(search: &Search) -> Vec<FoundBrowser> {
    let mut all: Vec<FoundBrowser> = Vec::new();
    for channel in preference(search.headless_shell) {
        for found in installed(channel, search, &Disk) {
            let same = |other: &FoundBrowser| is_same(&other.path, &found.path);
            if !all.iter().any(same) {
                all.push(found);
            }
        }
    }
    all
}

/// Returns whether two paths resolve to one program, as below `/bin` and `/usr/bin`.
fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// The file system operations of a search.
trait Files {
    /// Returns whether there is a program at this path.
    fn is_program(&self, path: &Path) -> bool;
    /// Returns the names in a folder, in any order; none if it does not exist.
    fn names(&self, folder: &Path) -> Vec<String>;
}

struct Disk;

impl Files for Disk {
    fn is_program(&self, path: &Path) -> bool {
        let Ok(metadata) = path.metadata() else {
            return false;
        };
        #[cfg(unix)]
        let executable =
            std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
        #[cfg(not(unix))]
        let executable = true;
        metadata.is_file() && executable
    }

    fn names(&self, folder: &Path) -> Vec<String> {
        let entries = folder.read_dir().into_iter().flatten().flatten();
        entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect()
    }
}

fn find_on(want: &BrowserChoice, search: &Search, files: &dyn Files) -> Result<FoundBrowser> {
    match want {
        BrowserChoice::Program(_, path) if files.is_program(path) => Ok(FoundBrowser {
            path: path.clone(),
            channel: None,
            headless_shell: is_headless_shell(path),
        }),
        BrowserChoice::Program(kind, path) => Err(Error::BrowserNotFound {
            message: format!(
                "Failed to launch {kind} because executable doesn't exist at {}",
                path.display()
            ),
            tried: vec![path.display().to_string()],
            install: "playhouse install".to_owned(),
        }),
        BrowserChoice::Channel(channel) => installed(*channel, search, files)
            .next()
            .ok_or_else(|| not_found(*channel, &[*channel], search)),
        BrowserChoice::Any => {
            let channels = preference(search.headless_shell);
            channels
                .iter()
                .find_map(|channel| installed(*channel, search, files).next())
                .ok_or_else(|| not_found(Channel::Chrome, &channels, search))
        }
    }
}

/// Returns the default order of preference: the headless shell if it suffices; Chrome; then the others.
fn preference(headless_shell: bool) -> Vec<Channel> {
    let mut channels = Vec::new();
    if headless_shell {
        channels.push(Channel::ChromiumHeadlessShell);
    }
    channels.extend([
        Channel::Chrome,
        Channel::Chromium,
        Channel::Msedge,
        Channel::ChromeBeta,
        Channel::MsedgeBeta,
        Channel::ChromeDev,
        Channel::MsedgeDev,
        Channel::ChromeCanary,
        Channel::MsedgeCanary,
    ]);
    channels
}

fn locations(channel: Channel, search: &Search) -> Vec<Location> {
    // Headless Chromium is the headless shell if it is installed, which needs half of the memory.
    let shell = channel == Channel::Chromium && search.headless_shell;
    let shells = shell.then(|| locations::of(Channel::ChromiumHeadlessShell, search));
    let own = locations::of(channel, search);
    shells.into_iter().flatten().chain(own).collect()
}

fn installed<'a>(
    channel: Channel,
    search: &Search,
    files: &'a dyn Files,
) -> impl Iterator<Item = FoundBrowser> + 'a {
    let locations = locations(channel, search).into_iter();
    let folders = search.path.clone();
    let paths = locations.flat_map(move |place| expand(&place, &folders, files));
    paths.map(move |path| FoundBrowser {
        headless_shell: is_headless_shell(&path),
        path,
        channel: Some(channel),
    })
}

/// Returns the programs at a location: itself, or the matches of its pattern, the newest version first.
fn expand(place: &Location, folders: &[PathBuf], files: &dyn Files) -> Vec<PathBuf> {
    let (base, steps) = match place {
        Location::Path { base, steps } => (base, steps),
        Location::Command(name) => {
            let paths = folders.iter().map(|folder| folder.join(name));
            return paths.filter(|path| files.is_program(path)).collect();
        }
    };
    let mut paths = vec![base.clone()];
    for step in steps {
        let Some((start, end)) = step.split_once('*') else {
            for path in &mut paths {
                path.push(step);
            }
            continue;
        };
        let below = |folder: &PathBuf| {
            let mut names = files.names(folder);
            names.retain(|name| {
                name.len() >= start.len() + end.len()
                    && name.starts_with(start)
                    && name.ends_with(end)
            });
            names.sort_by_key(|name| std::cmp::Reverse(version(name)));
            let folder = folder.clone();
            names.into_iter().map(move |name| folder.join(name))
        };
        paths = paths.iter().flat_map(below).collect();
    }
    paths.retain(|path| files.is_program(path));
    paths
}

/// Returns the numbers in a name, so that 1200 is greater than 999.
fn version(name: &str) -> Vec<u64> {
    let digits = name.split(|letter: char| !letter.is_ascii_digit());
    digits.filter_map(|digits| digits.parse().ok()).collect()
}

fn is_headless_shell(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.contains("headless-shell") || name.contains("headless_shell")
}

fn not_found(want: Channel, channels: &[Channel], search: &Search) -> Error {
    let locations = channels
        .iter()
        .flat_map(|channel| locations(*channel, search));
    let mut tried: Vec<String> = Vec::new();
    for place in locations {
        let text = place.to_string();
        if !tried.contains(&text) {
            tried.push(text);
        }
    }
    if tried.is_empty() {
        return Error::BrowserNotFound {
            message: format!(
                "Browser '{}' does not exist for this operating system. Choose another one with --browser: chromium, firefox, webkit.",
                want.name()
            ),
            tried,
            install: "playhouse install chromium".to_owned(),
        };
    }
    let first = locations::of(want, search).first().map(Location::to_string);
    let install = match channels {
        [one] => format!("playhouse install {}", one.name()),
        _ => "playhouse install".to_owned(),
    };
    let message = format!(
        "{} '{}' is not found at {}\nRun `{install}` to install it. Every place that was tried:\n{}",
        match want.kind() {
            BrowserKind::Chromium => "Chromium distribution",
            BrowserKind::Firefox | BrowserKind::Webkit => "Browser",
        },
        want.name(),
        first.unwrap_or_default(),
        tried
            .iter()
            .map(|path| format!("  {path}"))
            .collect::<Vec<_>>()
            .join("\n"),
    );
    Error::BrowserNotFound {
        message,
        tried,
        install,
    }
}

#[cfg(test)]
mod tests;
