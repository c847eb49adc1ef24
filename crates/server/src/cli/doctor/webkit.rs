//! Checks of the requirements of WebKit beside its program: a display.

use std::path::{Path, PathBuf};

use super::Finding;
use crate::config::BrowserSettings;

/// The command that installs it.
pub(super) const INSTALL: &str = "playhouse install webkit";
const SCREEN: &str = "Xvfb";

pub(super) fn parts(browser: &BrowserSettings) -> Vec<Finding> {
    if browser.headless || !browser.display {
        vec![screen(&browser.search.path)]
    } else {
        Vec::new()
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
