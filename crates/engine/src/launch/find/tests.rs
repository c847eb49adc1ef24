//! Searches of simulated file systems.

use super::*;
use std::collections::BTreeSet;

/// A simulated file system of programs.
struct Programs(BTreeSet<PathBuf>);

fn with<const N: usize>(paths: [&str; N]) -> Programs {
    Programs(paths.iter().map(PathBuf::from).collect())
}

impl Files for Programs {
    fn is_program(&self, path: &Path) -> bool {
        self.0.contains(path)
    }

    fn names(&self, folder: &Path) -> Vec<String> {
        let below = self
            .0
            .iter()
            .filter_map(|path| path.strip_prefix(folder).ok());
        let first = below.filter_map(|path| path.components().next());
        first
            .map(|name| name.as_os_str().to_string_lossy().into_owned())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }
}

fn search(headless_shell: bool) -> Search {
    Search {
        headless_shell,
        home: "/home/me".into(),
        path: vec!["/usr/local/bin".into(), "/usr/bin".into()],
        program_folders: Vec::new(),
        playwright: "/home/me/.cache/ms-playwright".into(),
        puppeteer: "/home/me/.cache/puppeteer".into(),
        ours: "/home/me/.cache/playhouse/browsers".into(),
    }
}

fn path_of(want: BrowserChoice, headless_shell: bool, files: &Programs) -> Option<String> {
    let found = find_on(&want, &search(headless_shell), files).ok()?;
    Some(found.path.display().to_string())
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;

    const EVERYTHING: [&str; 7] = [
        "/opt/google/chrome/chrome",
        "/usr/bin/google-chrome",
        "/usr/bin/chromium",
        "/usr/bin/chromium-headless-shell",
        "/opt/microsoft/msedge/msedge",
        "/home/me/.cache/ms-playwright/chromium-1200/chrome-linux64/chrome",
        "/home/me/.cache/puppeteer/chrome/linux-150.0.1.2/chrome-linux64/chrome",
    ];

    fn without(gone: &[&str]) -> Programs {
        let left = EVERYTHING.iter().filter(|path| !gone.contains(path));
        Programs(left.map(PathBuf::from).collect())
    }

    #[test]
    fn without_a_choice_the_headless_shell_then_chrome_then_other_channels_are_used() {
        let any = |shell, gone: &[&str]| path_of(BrowserChoice::Any, shell, &without(gone));
        assert_eq!(
            any(true, &[]).as_deref(),
            Some("/usr/bin/chromium-headless-shell")
        );
        assert_eq!(
            any(true, &["/usr/bin/chromium-headless-shell"]).as_deref(),
            Some("/opt/google/chrome/chrome")
        );
        assert_eq!(
            any(false, &[]).as_deref(),
            Some("/opt/google/chrome/chrome")
        );
        assert_eq!(
            any(false, &EVERYTHING[..1]).as_deref(),
            Some("/usr/bin/google-chrome")
        );
        assert_eq!(
            any(false, &EVERYTHING[..2]).as_deref(),
            Some("/usr/bin/chromium")
        );
        assert_eq!(any(false, &EVERYTHING[..3]).as_deref(), Some(EVERYTHING[5]));
        assert_eq!(any(false, &EVERYTHING[..6]).as_deref(), Some(EVERYTHING[6]));
        assert_eq!(any(false, &EVERYTHING), None);
    }

    #[test]
    fn a_named_channel_is_never_substituted() {
        let named = |channel, shell| path_of(BrowserChoice::Channel(channel), shell, &without(&[]));
        assert_eq!(
            named(Channel::Chrome, true).as_deref(),
            Some("/opt/google/chrome/chrome")
        );
        assert_eq!(
            named(Channel::Msedge, true).as_deref(),
            Some("/opt/microsoft/msedge/msedge")
        );
        for will_do in [true, false] {
            assert_eq!(
                named(Channel::ChromiumHeadlessShell, will_do).as_deref(),
                Some("/usr/bin/chromium-headless-shell")
            );
        }
    }

    #[test]
    fn a_headless_shell_is_not_used_for_headed_mode() {
        let only = with(["/usr/bin/chromium-headless-shell"]);
        assert_eq!(path_of(BrowserChoice::Any, false, &only), None);
        assert_eq!(
            path_of(BrowserChoice::Channel(Channel::Chromium), false, &only),
            None
        );
        let found = find_on(&BrowserChoice::Any, &search(true), &only).expect("there");
        assert!(found.headless_shell);
        assert_eq!(found.channel, Some(Channel::ChromiumHeadlessShell));
    }

    #[test]
    fn our_own_then_the_newest_cached_version_is_used() {
        let chromium = || BrowserChoice::Channel(Channel::Chromium);
        let cache = with([
            "/home/me/.cache/ms-playwright/chromium-999/chrome-linux/chrome",
            "/home/me/.cache/ms-playwright/chromium-1200/chrome-linux64/chrome",
            "/home/me/.cache/ms-playwright/chromium-1100/chrome-linux/chrome",
        ]);
        let newest = "/home/me/.cache/ms-playwright/chromium-1200/chrome-linux64/chrome";
        assert_eq!(path_of(chromium(), true, &cache).as_deref(), Some(newest));
        let ours = "/home/me/.cache/playhouse/browsers/chrome/156.0.1.2/chrome-linux64/chrome";
        let both = with([newest, ours]);
        assert_eq!(path_of(chromium(), true, &both).as_deref(), Some(ours));
    }

    #[test]
    fn a_chosen_channel_has_no_fallback() {
        let error = find_on(
            &BrowserChoice::Channel(Channel::Msedge),
            &search(true),
            &without(&EVERYTHING[4..5]),
        )
        .expect_err("not there");
        let Error::BrowserNotFound {
            message,
            tried,
            install,
        } = error
        else {
            panic!("{error}");
        };
        expect_test::expect![[r#"
            Chromium distribution 'msedge' is not found at /opt/microsoft/msedge/msedge
            Run `playhouse install msedge` to install it. Every place that was tried:
              /opt/microsoft/msedge/msedge
              microsoft-edge in PATH
              microsoft-edge-stable in PATH"#]]
        .assert_eq(&message);
        assert_eq!(tried.len(), 3);
        assert_eq!(install, "playhouse install msedge");
    }

    #[test]
    fn a_failed_search_lists_every_location_once() {
        let error =
            find_on(&BrowserChoice::Any, &search(true), &with([])).expect_err("nothing is there");
        let Error::BrowserNotFound {
            message,
            tried,
            install,
        } = error
        else {
            panic!("{error}");
        };
        assert!(message.starts_with(
            "Chromium distribution 'chrome' is not found at /opt/google/chrome/chrome\n"
        ));
        assert_eq!(install, "playhouse install");
        let once: BTreeSet<_> = tried.iter().collect();
        assert_eq!(once.len(), tried.len());
        assert!(
            tried.contains(
                &"/home/me/.cache/ms-playwright/chromium-*/chrome-linux*/chrome".to_owned()
            )
        );
    }
}

#[test]
fn an_explicit_executable_is_used_or_reported_missing() {
    let files = with(["/somewhere/browser", "/somewhere/headless_shell"]);
    let of_kind = |kind: BrowserKind, path: &str| {
        let choice = BrowserChoice::Program(kind, path.into());
        find_on(&choice, &search(true), &files)
    };
    let named = |path: &str| of_kind(BrowserKind::Chromium, path);
    assert!(!named("/somewhere/browser").expect("there").headless_shell);
    assert!(
        named("/somewhere/headless_shell")
            .expect("there")
            .headless_shell
    );
    let error = named("/nowhere").expect_err("not there").to_string();
    assert_eq!(
        error,
        "Failed to launch chromium because executable doesn't exist at /nowhere"
    );
    let error = of_kind(BrowserKind::Firefox, "/nowhere").expect_err("not there");
    assert!(error.to_string().starts_with("Failed to launch firefox "));
}

#[test]
fn channels_have_their_names() {
    for name in [
        "chrome",
        "chrome-canary",
        "msedge-dev",
        "chromium",
        "chromium-headless-shell",
        "firefox",
        "webkit",
    ] {
        assert_eq!(name.parse::<Channel>().expect("a channel").name(), name);
    }
    assert_eq!("chrome-for-testing".parse(), Ok(Channel::Chromium));
    assert!("mosaic".parse::<Channel>().is_err());
}
