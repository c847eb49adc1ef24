//! Folders of the machine that depend on the environment.

use std::{
    env,
    path::{Path, PathBuf},
};

use engine::Search;

use super::environment::Environment;

/// Returns where to search for browsers, and whether a headless shell is acceptable.
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
        ours: playhouse_cache(environment).join("browsers"),
        home,
    }
}

/// Whether a window can be opened.
pub(super) fn has_display(environment: &Environment) -> bool {
    let set = |name| environment.get(name).is_some();
    !cfg!(target_os = "linux") || ["DISPLAY", "WAYLAND_DISPLAY"].into_iter().any(set)
}

/// Returns the folder of Playhouse for data that may be deleted at any time.
pub(super) fn playhouse_cache(environment: &Environment) -> PathBuf {
    cache(environment, &home(environment)).join("playhouse")
}

/// Returns the folder with the state of apps under test, which has one folder for each project.
#[cfg(unix)]
pub(crate) fn apps(environment: &Environment) -> PathBuf {
    state(environment)
        .unwrap_or_else(|| playhouse_cache(environment))
        .join("apps")
}

/// Returns the folders that may hold sockets, the preferred one first: that of the login session, otherwise one in the temporary folder.
#[cfg(unix)]
pub(crate) fn runtime_folders(environment: &Environment) -> Vec<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let session = environment.path("XDG_RUNTIME_DIR");
    let session = session.filter(|folder| folder.is_absolute());
    session
        .map(|folder| folder.join("playhouse"))
        .into_iter()
        .chain([env::temp_dir().join(format!("playhouse-{user}"))])
        .collect()
}

/// Returns the folder for data that must not be deleted while it is used; `None` if the system has none.
pub(super) fn state(environment: &Environment) -> Option<PathBuf> {
    let state = environment.path("XDG_STATE_HOME").or_else(|| {
        let home = home(environment);
        match () {
            () if cfg!(target_os = "macos") => Some(home.join("Library/Application Support")),
            () if cfg!(windows) => None,
            () => Some(home.join(".local/state")),
        }
    });
    Some(state?.join("playhouse"))
}

/// Returns the profile folders of the user's Chromium-based browsers, the most common first.
pub(super) fn profiles(environment: &Environment) -> Vec<(String, PathBuf)> {
    let home = home(environment);
    let (base, folders): (_, &[(&str, &str)]) = if cfg!(target_os = "macos") {
        (home.join("Library/Application Support"), PROFILES_ON_MACOS)
    } else if cfg!(windows) {
        (cache(environment, &home), PROFILES_ON_WINDOWS)
    } else {
        let config = environment.path("XDG_CONFIG_HOME");
        (
            config.unwrap_or_else(|| home.join(".config")),
            PROFILES_ON_LINUX,
        )
    };
    let folders = folders.iter();
    let mut found: Vec<_> = folders
        .map(|(name, folder)| ((*name).to_owned(), base.join(folder)))
        .collect();
    if cfg!(target_os = "linux") {
        for (name, folder) in PACKAGED {
            found.push(((*name).to_owned(), home.join(folder)));
        }
    }
    found
}

const PROFILES_ON_LINUX: &[(&str, &str)] = &[
    ("Chrome", "google-chrome"),
    ("Chrome Beta", "google-chrome-beta"),
    ("Chrome Dev", "google-chrome-unstable"),
    ("Chrome Canary", "google-chrome-canary"),
    ("Chrome for Testing", "google-chrome-for-testing"),
    ("Chromium", "chromium"),
    ("Edge", "microsoft-edge"),
    ("Edge Beta", "microsoft-edge-beta"),
    ("Edge Dev", "microsoft-edge-dev"),
];

/// The profile folders, below the home folder, of browsers from Snap and Flatpak.
const PACKAGED: &[(&str, &str)] = &[
    ("Chromium (snap)", "snap/chromium/common/chromium"),
    (
        "Chrome (flatpak)",
        ".var/app/com.google.Chrome/config/google-chrome",
    ),
    (
        "Chromium (flatpak)",
        ".var/app/org.chromium.Chromium/config/chromium",
    ),
];

const PROFILES_ON_MACOS: &[(&str, &str)] = &[
    ("Chrome", "Google/Chrome"),
    ("Chrome Beta", "Google/Chrome Beta"),
    ("Chrome Dev", "Google/Chrome Dev"),
    ("Chrome Canary", "Google/Chrome Canary"),
    ("Chrome for Testing", "Google/Chrome for Testing"),
    ("Chromium", "Chromium"),
    ("Edge", "Microsoft Edge"),
    ("Edge Beta", "Microsoft Edge Beta"),
    ("Edge Dev", "Microsoft Edge Dev"),
];

const PROFILES_ON_WINDOWS: &[(&str, &str)] = &[
    ("Chrome", "Google/Chrome/User Data"),
    ("Chrome Beta", "Google/Chrome Beta/User Data"),
    ("Chrome Dev", "Google/Chrome Dev/User Data"),
    ("Chrome Canary", "Google/Chrome SxS/User Data"),
    ("Chrome for Testing", "Google/Chrome for Testing/User Data"),
    ("Chromium", "Chromium/User Data"),
    ("Edge", "Microsoft/Edge/User Data"),
    ("Edge Beta", "Microsoft/Edge Beta/User Data"),
    ("Edge Dev", "Microsoft/Edge Dev/User Data"),
];

pub(crate) fn home(environment: &Environment) -> PathBuf {
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
