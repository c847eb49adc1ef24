//! Launching Chromium: its switches, its profile, its pipe.

use super::LaunchOptions;
use super::process::Process;
use super::profile::{ClaimError, Profile};
use super::source::Source;
use crate::backend::BrowserBackend;
use crate::backend::cdp::{CdpBrowser, proxy_bypass_list};
use crate::error::{Error, Result};
use crate::progress::Progress;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};
use tokio::time::Instant;

/// The interval between attempts to use a profile that is in use.
const PROFILE_RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// How long a closing browser may keep its profile, and the interval between checks.
const PROFILE_RELEASE_TIMEOUT: Duration = Duration::from_secs(10);
const PROFILE_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long a browser that has closed its pipe may take to end.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);
/// The exit code, as Unix and Windows report it, and messages of Chromium for a profile in use (`RESULT_CODE_PROFILE_IN_USE`).
const PROFILE_IN_USE: [&str; 6] = [
    "exit status: 21",
    "exit code: 21",
    "Failed to create a ProcessSingleton",
    "SingletonLock: File exists",
    "Opening in existing browser session",
    "The profile appears to be in use",
];

/// Launches the browser and connects to it.
pub(super) async fn launch(
    progress: &Progress,
    options: &LaunchOptions,
) -> Result<Arc<dyn BrowserBackend>> {
    let deadline = Instant::now() + options.profile_lock_timeout;
    loop {
        match attempt(progress, options).await {
            Err(Error::ProfileInUse { .. }) if Instant::now() < deadline => {
                pause(progress, PROFILE_RETRY_INTERVAL).await?;
            }
            done => return done,
        }
    }
}

async fn pause(progress: &Progress, time: Duration) -> Result<()> {
    let pause = async {
        tokio::time::sleep(time).await;
        Ok(())
    };
    progress.run(pause).await
}

/// Returns the configured profile directory after a closing browser has released it; or a temporary one.
pub(super) async fn profile(progress: &Progress, options: &LaunchOptions) -> Result<Profile> {
    let Some(dir) = &options.user_data_dir else {
        return Profile::temporary().map_err(|error| Error::LaunchFailed {
            reason: format!("no temporary profile directory: {error}"),
            log: String::new(),
        });
    };
    let deadline = Instant::now() + PROFILE_RELEASE_TIMEOUT;
    loop {
        match Profile::claim(dir) {
            Ok(profile) => return Ok(profile),
            Err(ClaimError::Ending) if Instant::now() < deadline => {
                pause(progress, PROFILE_POLL_INTERVAL).await?;
            }
            Err(_) => {
                return Err(Error::ProfileInUse {
                    dir: dir.display().to_string(),
                });
            }
        }
    }
}

async fn attempt(progress: &Progress, options: &LaunchOptions) -> Result<Arc<dyn BrowserBackend>> {
    let profile = profile(progress, options).await?;
    let dir = profile.dir().display().to_string();
    if cfg!(not(target_os = "linux")) && profile.is_temporary() {
        block_external_protocols(profile.dir()).map_err(|error| Error::LaunchFailed {
            reason: format!("the preferences of the profile cannot be written: {error}"),
            log: String::new(),
        })?;
    }
    let mut args = switches(options);
    args.push(format!("--user-data-dir={dir}"));
    // Chromium uses the last of each switch.
    if options.is_confined {
        args.push(NO_NAMES.to_owned());
    }
    let (process, pipe) = Process::start(
        "chromium",
        &options.executable,
        &args,
        &options.env,
        profile,
    )
    .await?;
    // Dropping the last reference kills the process, which then could not report why it ended.
    let process = Arc::new(process);
    let owned = process.clone();
    let connected = async {
        let (connection, events) = pipe.connect().await.map_err(|error| Error::LaunchFailed {
            reason: error.to_string(),
            log: String::new(),
        })?;
        CdpBrowser::start(connection, events, Source::Started(owned)).await
    };
    match progress.run(connected).await {
        Ok(browser) => Ok(browser),
        Err(error @ (Error::Timeout { .. } | Error::Cancelled {})) => Err(error),
        Err(_) => {
            // The pipe broke; the exit status explains why.
            let reason = tokio::time::timeout(EXIT_TIMEOUT, process.exit())
                .await
                .unwrap_or_else(|_| "the browser closed its debugging pipe".to_owned());
            let log = process.recent_output().await;
            if options.user_data_dir.is_some()
                && PROFILE_IN_USE
                    .iter()
                    .any(|mark| reason.contains(mark) || log.contains(mark))
            {
                return Err(Error::ProfileInUse { dir });
            }
            Err(Error::LaunchFailed {
                reason: format!("Target page, context or browser has been closed ({reason})"),
                log: format!(
                    "<launching> {} {}\n{log}",
                    options.executable.display(),
                    args.join(" ")
                ),
            })
        }
    }
}

/// The URLs that Chromium opens with another program without asking the user.
const OPENED: [&str; 3] = ["mailto:*", "news:*", "snews:*"];

/// Blocks these URLs in a new profile. On Linux, the programs are hidden instead, which leaves the page as it is.
fn block_external_protocols(profile: &Path) -> io::Result<()> {
    let folder = profile.join("Default");
    fs::create_dir_all(&folder)?;
    let preferences = json!({ "policy": { "url_blocklist": OPENED } });
    fs::write(folder.join("Preferences"), preferences.to_string())
}

/// Switches for automation: no first-run dialogs, no throttling, no background requests.
const SWITCHES: &[&str] = &[
    "--remote-debugging-pipe",
    "--no-startup-window",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-search-engine-choice-screen",
    "--disable-infobars",
    "--disable-prompt-on-repost",
    "--disable-hang-monitor",
    "--disable-ipc-flooding-protection",
    "--disable-popup-blocking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-blink-features=AutomationControlled",
    // A page restored from the cache reports its console messages again and never fires `load`.
    "--disable-back-forward-cache",
    "--disable-background-networking",
    "--disable-component-update",
    // Remaining requests for updates and accounts use a port to which connections fail; pages are not affected.
    "--component-updater=url-source=http://127.0.0.1:9/",
    "--gaia-url=http://127.0.0.1:9/",
    "--disable-client-side-phishing-detection",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-field-trial-config",
    "--disable-sync",
    "--disable-breakpad",
    "--metrics-recording-only",
    "--no-pings",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
    "--force-color-profile=srgb",
    "--export-tagged-pdf",
    "--unsafely-disable-devtools-self-xss-warnings",
];

/// Features that send requests in the background, or need a renderer per context (the two omnibox popups: decision 6).
const DISABLED_FEATURES: &[&str] = &[
    "AcceptCHFrame",
    "AutofillServerCommunication",
    "AutomationControlled",
    "CertificateTransparencyComponentUpdater",
    "DestroyProfileOnBrowserClose",
    "DialMediaRouteProvider",
    "GlobalMediaControls",
    "HttpsUpgrades",
    "InterestFeedContentSuggestions",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "OptimizationGuideModelDownloading",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "Translate",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxPopup",
];

/// Switches that keep a browser from connecting past the proxies of its contexts: WebRTC and QUIC over UDP, and DNS queries.
const CONFINED: &[&str] = &[
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
];

/// The browser connects to nothing but the egress proxy, so it resolves no name, neither by DNS nor by mDNS: a page can put data into a name.
const NO_NAMES: &str = "--host-resolver-rules=MAP * ^NOTFOUND , EXCLUDE 127.0.0.1";

/// Takes screenshots at once, instead of waiting for frames of the window.
const ENABLED_FEATURES: &[&str] = &["CDPScreenshotNewSurface"];

/// Returns the switches for a browser that a driver starts with its own connection.
pub(super) fn switches_under_a_driver(options: &LaunchOptions) -> Vec<String> {
    let mut args = switches(options);
    args.retain(|arg| arg != "--remote-debugging-pipe" && arg != "--no-startup-window");
    args
}

fn switches(options: &LaunchOptions) -> Vec<String> {
    let mut args: Vec<String> = SWITCHES.iter().map(|&switch| switch.to_owned()).collect();
    if options.headless {
        if !options.headless_shell {
            args.push("--headless".to_owned());
        }
        args.extend(["--hide-scrollbars", "--mute-audio"].map(str::to_owned));
        args.push("--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4".to_owned());
    }
    if cfg!(target_os = "linux") {
        // Containers have 64 MB of shared memory, which pages with many images exceed.
        args.push("--disable-dev-shm-usage".to_owned());
    }
    if !options.sandbox.unwrap_or(!options.sandbox_unavailable) {
        args.push("--no-sandbox".to_owned());
    }
    if let Some(proxy) = &options.proxy {
        args.push(format!("--proxy-server={}", proxy.server));
        args.push(format!("--proxy-bypass-list={}", proxy_bypass_list(proxy)));
    }
    if options.is_confined {
        args.extend(CONFINED.iter().map(|&switch| switch.to_owned()));
    }
    let ignored = |arg: &str| {
        let name = arg.split_once('=').map_or(arg, |(name, _)| name);
        options
            .ignore_default_args
            .iter()
            .any(|ignore| ignore == arg || ignore == name)
    };
    args.retain(|arg| !ignored(arg));
    // Chromium uses only the last of each switch, so user and default features are merged.
    let mut features = [
        ("--enable-features=", ENABLED_FEATURES.to_vec()),
        ("--disable-features=", DISABLED_FEATURES.to_vec()),
    ];
    for arg in &options.args {
        let list = features
            .iter_mut()
            .find_map(|(name, list)| Some((list, arg.strip_prefix(*name)?)));
        match list {
            Some((list, more)) => list.extend(more.split(',')),
            None => args.push(arg.clone()),
        }
    }
    args.extend(features.map(|(name, list)| format!("{name}{}", list.join(","))));
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sandbox_is_off_only_where_it_cannot_work_or_was_refused() {
        let off =
            |options: &LaunchOptions| switches(options).iter().any(|arg| arg == "--no-sandbox");
        let mut options = LaunchOptions::default();
        assert!(!off(&options));
        options.sandbox_unavailable = true;
        assert!(off(&options));
        options.sandbox = Some(true);
        assert!(!off(&options));
    }

    #[test]
    fn user_features_are_merged() {
        let options = LaunchOptions {
            args: vec![
                "--disable-features=Mine".into(),
                "--enable-features=Yours".into(),
            ],
            ..LaunchOptions::default()
        };
        let args = switches(&options);
        for (name, ours, users) in [
            ("--disable-features=", "WebUIOmniboxPopup", ",Mine"),
            ("--enable-features=", "CDPScreenshotNewSurface", ",Yours"),
        ] {
            let features: Vec<_> = args.iter().filter(|arg| arg.starts_with(name)).collect();
            assert_eq!(features.len(), 1);
            assert!(features[0].contains(ours) && features[0].ends_with(users));
        }
    }

    #[test]
    fn a_switch_can_be_disabled_by_name() {
        let options = LaunchOptions {
            ignore_default_args: vec!["--password-store".into()],
            ..LaunchOptions::default()
        };
        assert!(
            !switches(&options)
                .iter()
                .any(|arg| arg.starts_with("--password-store"))
        );
    }
}
