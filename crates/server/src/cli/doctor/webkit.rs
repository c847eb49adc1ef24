//! Checks of the requirements of WebKit beside its program: a driver and a display.

use std::path::{Path, PathBuf};

use super::Finding;
use crate::config::BrowserSettings;

/// The command that installs all of them.
pub(super) const INSTALL: &str = "playhouse install webkit";
const DRIVER: &str = "WebKitWebDriver";
const SCREEN: &str = "Xvfb";

pub(super) fn parts(browser: &BrowserSettings) -> Vec<Finding> {
    let path = &browser.search.path;
    let mut parts = vec![driver(path)];
    if browser.headless || !browser.display {
        parts.push(screen(path));
    }
    parts
}

fn driver(path: &[PathBuf]) -> Finding {
    match find(DRIVER, path) {
        Some(there) => Finding::good("driver", format!("{DRIVER} at {}", there.display())),
        None => Finding::bad(
            "driver",
            format!("{DRIVER} is in no folder of PATH; nothing else drives WebKit"),
        )
        .repaired_by(INSTALL),
    }
}

fn screen(path: &[PathBuf]) -> Finding {
    match find(SCREEN, path) {
        Some(there) => Finding::good("screen", format!("{SCREEN} at {}", there.display())),
        None => Finding::bad(
            "screen",
            format!("{SCREEN} is in no folder of PATH; WebKit has no mode without a display"),
        )
        .repaired_by(INSTALL),
    }
}

fn find(program: &str, path: &[PathBuf]) -> Option<PathBuf> {
    let mut places = path.iter().map(|folder: &PathBuf| folder.join(program));
    places.find(|place: &PathBuf| Path::is_file(place))
}
