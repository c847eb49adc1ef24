//! Folders of the machine that the environment tells.

use std::{
    env,
    path::{Path, PathBuf},
};

use engine::Search;

use super::environment::Environment;

/// Where browsers may be, and whether a headless shell will do.
pub(super) fn search(environment: &Environment, headless_shell: bool) -> Search {
    let home = home(environment);
    let cache = cache(environment, &home);
    let program_folders = ["LOCALAPPDATA", "PROGRAMFILES", "PROGRAMFILES(X86)"];
    Search {
        headless_shell,
        path: environment
            .get("PATH")
            .map(|path| env::split_paths(path).collect())
            .unwrap_or_default(),
        program_folders: program_folders
            .iter()
            .filter_map(|name| environment.path(name))
            .collect(),
        playwright: environment
            .path("PLAYWRIGHT_BROWSERS_PATH")
            .unwrap_or_else(|| cache.join("ms-playwright")),
        puppeteer: environment
            .path("PUPPETEER_CACHE_DIR")
            .unwrap_or_else(|| home.join(".cache/puppeteer")),
        ours: ours(environment).join("browsers"),
        home,
    }
}

/// Whether a window has a place to open.
pub(super) fn has_display(environment: &Environment) -> bool {
    let set = |name| environment.get(name).is_some();
    !cfg!(target_os = "linux") || ["DISPLAY", "WAYLAND_DISPLAY"].into_iter().any(set)
}

/// Where we keep what may be deleted at any time.
pub(super) fn ours(environment: &Environment) -> PathBuf {
    cache(environment, &home(environment)).join("playhouse")
}

/// Where we keep what apps are doing: one folder for each project.
#[cfg(unix)]
pub(crate) fn apps(environment: &Environment) -> PathBuf {
    let home = home(environment);
    let state = if cfg!(target_os = "macos") {
        home.join("Library/Application Support")
    } else {
        environment
            .path("XDG_STATE_HOME")
            .unwrap_or_else(|| home.join(".local/state"))
    };
    state.join("playhouse/apps")
}

fn home(environment: &Environment) -> PathBuf {
    let home = environment
        .path("HOME")
        .or_else(|| environment.path("USERPROFILE"));
    home.unwrap_or_else(env::temp_dir)
}

fn cache(environment: &Environment, home: &Path) -> PathBuf {
    if cfg!(target_os = "macos") {
        home.join("Library/Caches")
    } else if cfg!(windows) {
        environment
            .path("LOCALAPPDATA")
            .unwrap_or_else(|| home.join("AppData/Local"))
    } else {
        environment
            .path("XDG_CACHE_HOME")
            .unwrap_or_else(|| home.join(".cache"))
    }
}
