//! Finding a browser's program. Looks at the file system only, and only where it is told.

mod locations;

use super::BrowserKind;
use crate::error::{Error, Result};
use locations::Location;
use std::path::{Path, PathBuf};

/// A browser, and of a family that has several of them which.
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
    Safari,
}

impl Channel {
    /// Its name, such as `msedge-beta`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The family that it is of.
    pub fn kind(self) -> BrowserKind {
        match self {
            Self::Firefox => BrowserKind::Firefox,
            Self::Webkit => BrowserKind::Webkit,
            Self::Safari => BrowserKind::Safari,
            _ => BrowserKind::Chromium,
        }
    }

    /// Whether its name is also that of the family.
    pub fn is_default_channel(self) -> bool {
        self.name() == <&str>::from(self.kind())
    }
}

/// Which browser is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrowserChoice {
    /// Nobody said: Chrome, or whatever of the family there is.
    Any,
    /// This one and no other.
    Channel(Channel),
    /// This program.
    Program(PathBuf),
}

/// Where to look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Search {
    /// Whether a headless shell will do: it has neither windows nor extensions.
    pub headless_shell: bool,
    /// The user's home.
    pub home: PathBuf,
    /// The folders of `PATH`.
    pub path: Vec<PathBuf>,
    /// Where Windows keeps programs, for all and for this user.
    pub program_folders: Vec<PathBuf>,
    /// Playwright's browsers.
    pub playwright: PathBuf,
    /// Puppeteer's browsers.
    pub puppeteer: PathBuf,
    /// The browsers that we installed, `NAME/VERSION/…` below it.
    pub ours: PathBuf,
}

/// A browser's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundBrowser {
    /// The program.
    pub path: PathBuf,
    /// What it is; `None` for a program that somebody named.
    pub channel: Option<Channel>,
    /// It has no mode with a window.
    pub headless_shell: bool,
}

/// Finds the browser that is wanted. Fails with `BrowserNotFound`, which names every place that was
/// tried and the command that installs one.
pub fn find(want: &BrowserChoice, search: &Search) -> Result<FoundBrowser> {
    find_on(want, search, &Disk)
}

/// Every browser there is, the ones that would be taken first first.
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

/// Whether two paths lead to one program, as below `/bin` and `/usr/bin`.
fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// The part of a file system that a search needs.
trait Files {
    /// Whether there is a program at this path.
    fn is_program(&self, path: &Path) -> bool;
    /// The names in a folder, in any order; none if there is no such folder.
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
        BrowserChoice::Program(path) if files.is_program(path) => Ok(FoundBrowser {
            path: path.clone(),
            channel: None,
            headless_shell: is_headless_shell(path),
        }),
        BrowserChoice::Program(path) => Err(Error::BrowserNotFound {
            message: format!(
                "Failed to launch chromium because executable doesn't exist at {}",
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

/// Which browser to take where nobody chose: the lightest if it will do; Chrome; then the rest.
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
    // Chromium without a window is the headless shell where there is one: half of the memory.
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

/// The programs at a place: itself, or what its pattern matches, the newest version first.
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

/// The numbers in a name, so that 1200 is above 999.
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
            BrowserKind::Firefox | BrowserKind::Webkit | BrowserKind::Safari => "Browser",
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
