//! What a test needs of the machine. What is missing skips a test loudly on a laptop and fails it
//! under `CI`.

use std::env;
use std::path::PathBuf;

/// Whether a Chromium is installed. Under `CI` a missing one panics.
pub fn browser_is_there() -> bool {
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
    let found = NAMES.iter().any(|name| on_path(name))
        || PLACES.iter().any(|place| PathBuf::from(place).exists());
    found || missing("a Chromium (install one with `playhouse install`)")
}

/// Whether Node and the page-side package's dependencies are installed. Under `CI` a missing one panics.
pub fn node_is_there(node_modules: impl Into<PathBuf>) -> bool {
    (on_path("node") && node_modules.into().is_dir())
        || missing("Node and `npm ci` in crates/engine/injected")
}

#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
fn missing(what: &str) -> bool {
    assert!(variable("CI").is_none(), "this test needs {what}");
    eprintln!("\n*** SKIPPED: this test needs {what}\n");
    false
}

fn on_path(program: &str) -> bool {
    let path = variable("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// A variable of the environment.
#[expect(
    clippy::disallowed_methods,
    reason = "testkit has no configuration of its own; these few variables are it"
)]
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}
