//! Launching Firefox: its preferences, its profile, and its port.

use super::LaunchOptions;
use super::process::Process;
use super::profile::StartupCache;
use super::source::Source;
use crate::backend::bidi::BidiBrowser;
use crate::backend::{BrowserBackend, Proxy};
use crate::error::{Error, Result};
use crate::progress::Progress;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::watch;

/// The line that Firefox prints when it listens, before the address.
const LISTENS: &str = "WebDriver BiDi listening on ";
/// How long a listening Firefox may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a browser that ended may take to report why.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) async fn launch(
    progress: &Progress,
    options: &LaunchOptions,
) -> Result<Arc<dyn BrowserBackend>> {
    let mut profile = super::chromium::profile(progress, options).await?;
    let dir = profile.dir().to_owned();
    write_preferences(profile.dir(), options)?;
    if let Some(cache_dir) = &options.cache_dir {
        profile.set_startup_cache(StartupCache::new(cache_dir, &options.executable));
    }
    let args = switches(options, &dir.display().to_string());
    let env = environment(options, &dir);
    // Firefox ignores the pipe: it is killed with its process group.
    let (process, _pipe) =
        Process::start("firefox", &options.executable, &args, &env, profile).await?;
    let process = Arc::new(process);
    let owned = process.clone();
    let connected = async {
        let listens =
            process.wait_for_output(|line| line.split_once(LISTENS).map(|(_, url)| url.to_owned()));
        let Some(url) = listens.await else {
            return Err(Error::BrowserClosed {
                reason: String::new(),
            });
        };
        let url = format!("{}/session", url.trim().trim_end_matches('/'));
        let (connection, events) = wire::Connection::websocket(&url, &[], CONNECT_TIMEOUT)
            .await
            .map_err(|error| Error::LaunchFailed {
                reason: error.to_string(),
                log: String::new(),
            })?;
        let over = wait_for_exit(connection.closed(), Arc::downgrade(&owned));
        task::spawn("profile", over).detach();
        let source = Source::Started(owned);
        BidiBrowser::start(connection, events, None, source, options.headless).await
    };
    match progress.run(connected).await {
        Ok(browser) => Ok(browser),
        Err(error @ (Error::Timeout { .. } | Error::Cancelled {})) => Err(error),
        Err(error) => {
            let reason = tokio::time::timeout(EXIT_TIMEOUT, process.exit())
                .await
                .unwrap_or_else(|_| error.to_string());
            let log = process.recent_output().await;
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

/// Waits for the end of the process after its connection has ended, because the profile is in use until then.
async fn wait_for_exit(mut gone: watch::Receiver<Option<String>>, process: Weak<Process>) {
    // An error is also an end.
    let _ = gone.wait_for(Option::is_some).await;
    if let Some(process) = process.upgrade() {
        process.leave();
    }
}

fn switches(options: &LaunchOptions, profile: &str) -> Vec<String> {
    let mut args = vec![
        "--remote-debugging-port=0".to_owned(),
        "--no-remote".to_owned(),
        "--new-instance".to_owned(),
        "--profile".to_owned(),
        profile.to_owned(),
    ];
    if options.headless {
        args.push("--headless".to_owned());
    }
    args.retain(|arg| !options.ignore_default_args.contains(arg));
    args.extend(options.args.iter().cloned());
    args
}

fn environment(options: &LaunchOptions, profile: &Path) -> Vec<(String, String)> {
    let below = |name: &str| profile.join(name).display().to_string();
    let own = [
        ("MOZ_CRASHREPORTER_DISABLE", "1".to_owned()),
        ("MOZ_NO_REMOTE", "1".to_owned()),
        // Otherwise a release build requests remote settings, regardless of the preference.
        ("MOZ_REMOTE_SETTINGS_DEVTOOLS", "1".to_owned()),
        // Otherwise it creates folders in the home of the user, and does not start if it cannot.
        ("XDG_CONFIG_HOME", below("config")),
        ("XDG_CACHE_HOME", below("cache")),
    ];
    let mut env: Vec<_> = own.map(|(name, value)| (name.to_owned(), value)).into();
    env.extend(options.env.iter().cloned());
    env
}

/// Writes the preferences of this launch. Firefox keeps preferences in the profile: those of the launch before, such as its egress proxy,
/// are removed.
fn write_preferences(profile: &Path, options: &LaunchOptions) -> Result<()> {
    let mut text = String::new();
    for (name, value) in preferences(options) {
        text += &format!("user_pref({}, {value});\n", json!(name));
    }
    let write = |path: &Path, text: &str| {
        std::fs::write(path, text).map_err(|error| Error::File {
            path: path.display().to_string(),
            reason: error.to_string(),
        })
    };
    let (own, kept) = (profile.join("user.js"), profile.join("prefs.js"));
    if let (Ok(before), Ok(all)) = (
        std::fs::read_to_string(&own),
        std::fs::read_to_string(&kept),
    ) {
        let before: HashSet<&str> = before.lines().collect();
        let rest: String = all
            .split_inclusive('\n')
            .filter(|line| !before.contains(line.trim_end()))
            .collect();
        if rest.len() < all.len() {
            write(&kept, &rest)?;
        }
    }
    write(&own, &text)
}

/// Returns the preferences that differ from the defaults.
pub(super) fn preferences(options: &LaunchOptions) -> Vec<(String, Value)> {
    let mut all: Vec<_> = preference_values(PREFERENCES).collect();
    for name in ADDRESSES {
        all.push(((*name).to_owned(), json!("")));
    }
    all.extend(options.preferences.iter().cloned());
    // These override preferences of the user that could bypass the egress proxy.
    if let Some(proxy) = &options.proxy {
        all.extend(proxied(proxy));
    }
    if options.is_confined {
        all.extend(preference_values(CONFINED));
    }
    all
}

fn preference_values(preferences: &[(&str, Preference)]) -> impl Iterator<Item = (String, Value)> {
    let preferences = preferences.iter();
    preferences.map(|(name, value)| ((*name).to_owned(), value.as_json()))
}

/// Returns the preferences that use the egress proxy for all connections.
fn proxied(proxy: &Proxy) -> Vec<(String, Value)> {
    let address = proxy.server.trim_start_matches("http://");
    let (host, port) = address.rsplit_once(':').unwrap_or((address, "80"));
    let port = port.parse::<u16>().unwrap_or(80);
    let mut all = vec![
        ("network.proxy.type".to_owned(), json!(1)),
        ("network.proxy.no_proxies_on".to_owned(), json!("")),
    ];
    for name in ["http", "ssl"] {
        all.push((format!("network.proxy.{name}"), json!(host)));
        all.push((format!("network.proxy.{name}_port"), json!(port)));
    }
    all
}

/// The value of a constant preference.
enum Preference {
    Flag(bool),
    Number(i64),
    Text(&'static str),
}

use Preference::{Flag, Number, Text};

impl Preference {
    fn as_json(&self) -> Value {
        match self {
            Flag(flag) => json!(flag),
            Number(number) => json!(number),
            Text(text) => json!(text),
        }
    }
}

/// Preferences with URLs of Mozilla's services.
const ADDRESSES: &[&str] = &[
    "app.normandy.api_url",
    "app.update.url",
    "browser.region.network.url",
    "browser.safebrowsing.provider.google.gethashURL",
    "browser.safebrowsing.provider.google.updateURL",
    "browser.safebrowsing.provider.google4.gethashURL",
    "browser.safebrowsing.provider.google4.updateURL",
    "browser.safebrowsing.provider.mozilla.gethashURL",
    "browser.safebrowsing.provider.mozilla.updateURL",
    "browser.search.geoSpecificDefaults.url",
    "captivedetect.canonicalURL",
    "datareporting.policy.firstRunURL",
    "extensions.blocklist.detailsURL",
    "extensions.getAddons.get.url",
    "extensions.systemAddon.update.url",
    "extensions.update.background.url",
    "extensions.update.url",
    "geo.provider.network.url",
    "media.gmp-manager.url",
    "startup.homepage_welcome_url",
    "startup.homepage_welcome_url.additional",
    "toolkit.telemetry.server",
];

/// Preferences that keep a browser from connecting past the proxies of its contexts: WebRTC and QUIC over UDP, DNS queries, and direct
/// connections after a proxy error.
const CONFINED: &[(&str, Preference)] = &[
    ("media.peerconnection.ice.proxy_only", Flag(true)),
    ("network.dns.disabled", Flag(true)),
    ("network.http.http3.enable", Flag(false)),
    ("network.proxy.allow_bypass", Flag(false)),
    ("network.proxy.failover_direct", Flag(false)),
    ("network.webtransport.enabled", Flag(false)),
];

const PREFERENCES: &[(&str, Preference)] = &[
    // No background activity, and no requests to services.
    ("app.normandy.enabled", Flag(false)),
    ("app.shield.optoutstudies.enabled", Flag(false)),
    ("app.update.auto", Flag(false)),
    ("app.update.checkInstallTime", Flag(false)),
    ("app.update.disabledForTesting", Flag(true)),
    ("app.update.enabled", Flag(false)),
    ("browser.aboutwelcome.enabled", Flag(false)),
    ("browser.cache.disk.enable", Flag(false)),
    ("browser.discovery.enabled", Flag(false)),
    ("browser.dom.window.dump.enabled", Flag(false)),
    ("browser.ml.enable", Flag(false)),
    (
        "browser.newtabpage.activity-stream.feeds.system.topstories",
        Flag(false),
    ),
    ("browser.newtab.preload", Flag(false)),
    ("browser.newtabpage.enabled", Flag(false)),
    ("browser.pagethumbnails.capturing_disabled", Flag(true)),
    ("browser.ping-centre.telemetry", Flag(false)),
    ("browser.places.speculativeConnect.enabled", Flag(false)),
    ("browser.region.update.enabled", Flag(false)),
    ("browser.safebrowsing.blockedURIs.enabled", Flag(false)),
    ("browser.safebrowsing.downloads.enabled", Flag(false)),
    ("browser.safebrowsing.malware.enabled", Flag(false)),
    ("browser.safebrowsing.phishing.enabled", Flag(false)),
    ("browser.safebrowsing.update.enabled", Flag(false)),
    ("browser.search.update", Flag(false)),
    ("browser.sessionstore.resume_from_crash", Flag(false)),
    ("browser.shell.checkDefaultBrowser", Flag(false)),
    ("browser.startup.blankWindow", Flag(false)),
    ("browser.startup.couldRestoreSession.count", Number(-1)),
    ("browser.startup.homepage", Text("about:blank")),
    ("browser.startup.homepage_override.mstone", Text("ignore")),
    ("browser.startup.page", Number(0)),
    ("browser.tabs.closeWindowWithLastTab", Flag(true)),
    ("browser.tabs.unloadOnLowMemory", Flag(false)),
    ("browser.tabs.warnOnClose", Flag(false)),
    ("browser.topsites.contile.enabled", Flag(false)),
    ("browser.translations.enable", Flag(false)),
    ("browser.uitour.enabled", Flag(false)),
    ("browser.urlbar.merino.endpointURL", Text("")),
    ("browser.urlbar.suggest.searches", Flag(false)),
    ("browser.warnOnQuit", Flag(false)),
    ("datareporting.healthreport.uploadEnabled", Flag(false)),
    ("datareporting.policy.dataSubmissionEnabled", Flag(false)),
    ("datareporting.usage.uploadEnabled", Flag(false)),
    ("devtools.console.stdout.chrome", Flag(false)),
    ("dom.push.connection.enabled", Flag(false)),
    ("extensions.autoDisableScopes", Number(0)),
    ("extensions.getAddons.cache.enabled", Flag(false)),
    ("extensions.installDistroAddons", Flag(false)),
    ("extensions.systemAddon.update.enabled", Flag(false)),
    ("extensions.update.enabled", Flag(false)),
    ("extensions.update.notifyUser", Flag(false)),
    ("identity.fxaccounts.enabled", Flag(false)),
    ("media.gmp-manager.updateEnabled", Flag(false)),
    ("messaging-system.rsexperimentloader.enabled", Flag(false)),
    ("network.captive-portal-service.enabled", Flag(false)),
    ("network.connectivity-service.enabled", Flag(false)),
    ("network.dns.disablePrefetch", Flag(true)),
    ("network.http.speculative-parallel-limit", Number(0)),
    ("network.manage-offline-status", Flag(false)),
    ("network.prefetch-next", Flag(false)),
    // No program is started for an external protocol.
    ("network.protocol-handler.external-default", Flag(false)),
    ("network.protocol-handler.external.mailto", Flag(false)),
    ("network.trr.mode", Number(5)),
    ("security.certerrors.mitm.priming.enabled", Flag(false)),
    (
        "security.remote_settings.crlite_filters.enabled",
        Flag(false),
    ),
    (
        "security.remote_settings.intermediates.enabled",
        Flag(false),
    ),
    (
        "services.settings.server",
        Text("data:,#remote-settings-dummy/v1"),
    ),
    ("signon.autofillForms", Flag(false)),
    ("signon.rememberSignons", Flag(false)),
    ("toolkit.telemetry.enabled", Flag(false)),
    ("toolkit.telemetry.reportingpolicy.firstRun", Flag(false)),
    ("toolkit.telemetry.unified", Flag(false)),
    ("trailhead.firstrun.didSeeAboutWelcome", Flag(true)),
    // Pages behave as in a visible window.
    ("browser.link.open_newwindow", Number(2)),
    ("browser.link.open_newwindow.restriction", Number(0)),
    ("devtools.jsonview.enabled", Flag(false)),
    ("dom.disable_open_during_load", Flag(false)),
    ("dom.ipc.processPrelaunch.enabled", Flag(true)),
    ("dom.ipc.reportProcessHangs", Flag(false)),
    ("dom.ipc.tabs.shutdownTimeoutSecs", Number(1)),
    ("dom.max_chrome_script_run_time", Number(0)),
    ("dom.max_script_run_time", Number(0)),
    ("dom.popup_maximum", Number(-1)),
    ("dom.require_user_interaction_for_beforeunload", Flag(true)),
    ("dom.security.https_first", Flag(false)),
    ("dom.security.https_first_schemeless", Flag(false)),
    ("focusmanager.testmode", Flag(true)),
    ("geo.provider.testing", Flag(true)),
    ("geo.wifi.scan", Flag(false)),
    // The stack of an error does not show who scheduled its function: that would be the recorder of timers.
    ("javascript.options.asyncstack", Flag(false)),
    ("network.auth.subresource-http-auth-allow", Number(2)),
    ("network.cookie.cookieBehavior", Number(0)),
    ("network.http.prompt-temp-redirect", Flag(false)),
    ("network.proxy.allow_hijacking_localhost", Flag(true)),
    // There is no user to grant the geolocation: without a permission it is denied at once.
    ("permissions.default.geo", Number(2)),
    ("privacy.trackingprotection.enabled", Flag(false)),
    ("privacy.trackingprotection.pbmode.enabled", Flag(false)),
    ("ui.systemUsesDarkTheme", Number(0)),
    (
        "layout.css.prefers-color-scheme.content-override",
        Number(1),
    ),
    ("ui.useOverlayScrollbars", Number(1)),
    // A page restored from the cache reports its console messages again and never fires `load`.
    ("browser.sessionhistory.max_total_viewers", Number(0)),
    ("fission.bfcacheInParent", Flag(false)),
    // Input is handled when the page is ready for it.
    ("remote.experimental.enabled", Flag(true)),
    ("remote.active-protocols", Number(1)),
    ("remote.prefs.recommended", Flag(true)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_preferences_override_defaults() {
        let own = ("browser.startup.page".to_owned(), json!(1));
        let options = LaunchOptions {
            preferences: vec![own.clone()],
            ..LaunchOptions::default()
        };
        let all = preferences(&options);
        let mut said = all.iter().rev();
        assert_eq!(said.find(|(name, _)| *name == own.0), Some(&own));
    }

    #[test]
    fn preferences_of_the_launch_before_are_removed() {
        let profile = tempfile::tempdir().unwrap();
        let with_proxy = LaunchOptions {
            proxy: Some(Proxy {
                server: "http://127.0.0.1:4711".to_owned(),
                ..Proxy::default()
            }),
            ..LaunchOptions::default()
        };
        let read = |name: &str| std::fs::read_to_string(profile.path().join(name)).unwrap();
        write_preferences(profile.path(), &with_proxy).unwrap();
        // Firefox writes them into its own file, with those that the user sets.
        let of_user = "user_pref(\"browser.theme\", \"dark\");\n";
        let kept = read("user.js") + of_user;
        std::fs::write(profile.path().join("prefs.js"), kept).unwrap();
        write_preferences(profile.path(), &LaunchOptions::default()).unwrap();
        assert!(!read("user.js").contains("network.proxy.http"));
        assert_eq!(read("prefs.js"), of_user);
    }

    #[test]
    fn an_egress_is_the_proxy_for_everything() {
        let options = LaunchOptions {
            preferences: vec![("network.proxy.no_proxies_on".to_owned(), json!("a.org"))],
            proxy: Some(Proxy {
                server: "http://127.0.0.1:4711".to_owned(),
                ..Proxy::default()
            }),
            ..LaunchOptions::default()
        };
        let all = preferences(&options);
        for (name, value) in [
            ("network.proxy.http", json!("127.0.0.1")),
            ("network.proxy.ssl_port", json!(4711)),
            ("network.proxy.no_proxies_on", json!("")),
        ] {
            let found = all.iter().rev().find(|(known, _)| known == name);
            assert_eq!(found.map(|(_, value)| value), Some(&value), "{name}");
        }
    }
}
