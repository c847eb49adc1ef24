//! Resolves which browser is used.

use std::{path::Path, time::Duration};

use engine::{BrowserChoice, BrowserKind, Channel};
use serde_json::Value;

use super::required;
use crate::config::{
    endpoints::ExtensionSettings,
    environment::Environment,
    error::ConfigError,
    layered::{Layered, Source},
    options::{OPTIONS, Options},
    paths::profiles,
    value::BrowserName,
};

/// Returns the channel. `--browser` and `channel` are two spellings: the stronger layer wins; in the same layer,
/// `channel` does, because it is more specific.
pub(super) fn channel(options: &mut Options) -> Result<Option<&'static str>, ConfigError> {
    let BrowserName(browser) = options.browser.value().unwrap_or(BrowserName("chromium"));
    let other = match browser_kind(browser) {
        BrowserKind::Chromium => None,
        BrowserKind::Firefox => Some("Firefox"),
        BrowserKind::Webkit => Some("WebKit"),
    };
    if let Some(other) = other {
        if options.mobile.get() == Some(&true) {
            return Err(ConfigError::NotMobile { browser: other });
        }
        if options.cdp_endpoint.get().is_some() {
            return Err(ConfigError::NotOverCdp { browser: other });
        }
        if options.webdriver_endpoint.get().is_some() && other == "WebKit" {
            return Err(ConfigError::NotOverWebDriver);
        }
        if options.extension.get() == Some(&true) {
            return Err(ConfigError::NoExtension { browser: other });
        }
        return Ok(Some(browser));
    }
    // In a file, `browserName: chromium` is the browser kind. Only as a flag or a variable is it the channel.
    let family = matches!(options.browser.source(), Some(Source::File(_))) && browser == "chromium";
    if let Some(source) = options.browser.source().filter(|_| !family).cloned() {
        options.channel.imply(&source, BrowserName(browser));
        options.browser = Layered::default();
        options.browser.apply(source, BrowserName("chromium"));
    }
    let chosen = options.channel.value().map(|name| name.0);
    options
        .browser
        .apply(Source::Default, BrowserName("chromium"));
    if options.executable_path.get().is_none() {
        options
            .channel
            .apply(Source::Default, BrowserName("chrome"));
    }
    Ok(chosen)
}

/// The longest time to wait until the user allows a connection.
const APPROVAL_TIMEOUT: Duration = Duration::from_secs(120);
/// How much longer than the extension the browser may take, so that the reason is reported.
const REPORT_TIMEOUT: Duration = Duration::from_secs(5);

/// The options that tabs of the user's own browser cannot fulfil.
const NOT_WITH_EXTENSION: [&str; 18] = [
    "isolated",
    "cdp_endpoint",
    "webdriver_endpoint",
    "proxy_server",
    "device",
    "mobile",
    "storage_state",
    "ignore_https_errors",
    "ca_cert",
    "use_system_ca",
    "grant_permissions",
    "deny_permissions",
    "allowed_origins",
    "blocked_origins",
    "allowed_domains",
    "blocked_domains",
    "allowed_ports",
    "block_private_addresses",
];

/// Fails if the options require what tabs of the user's own browser cannot fulfil.
pub(super) fn check_extension(options: &Options) -> Result<(), ConfigError> {
    for def in OPTIONS
        .iter()
        .filter(|def| NOT_WITH_EXTENSION.contains(&def.name))
    {
        match (def.get)(options) {
            None | Some((Value::Bool(false), _)) => {}
            Some((Value::Array(list), _)) if list.is_empty() => {}
            Some(_) => {
                let option = format!("--{}", def.long());
                return Err(ConfigError::NotWithExtension { option });
            }
        }
    }
    Ok(())
}

/// Returns the settings of the extension, if it is used.
pub(super) fn extension(options: &Options, environment: &Environment) -> Option<ExtensionSettings> {
    let token = options.extension_token.value();
    let timeout = options.cdp_timeout.value().map(Duration::from)?;
    let is_chosen = options.cdp_timeout.source() != Some(&Source::Default);
    required(&options.extension).then(|| ExtensionSettings {
        id: options.extension_id.value(),
        profile: options.profile_dir_name.value(),
        profiles: profiles(environment),
        background: required(&options.background),
        tab_group: required(&options.tab_group),
        timeout: match is_chosen || token.is_some() {
            true => timeout,
            false => APPROVAL_TIMEOUT,
        },
        token,
    })
}

/// Returns the longest time that launching the browser or connecting to it may take.
pub(super) fn launch_timeout(options: &Options, extension: Option<&ExtensionSettings>) -> Duration {
    let launch: Duration = required(&options.launch_timeout).into();
    let approval = extension.map(|extension| extension.timeout + REPORT_TIMEOUT);
    approval.map_or(launch, |approval| approval.max(launch))
}

/// Returns the browser kind of a name.
pub(super) fn browser_kind(browser: &str) -> BrowserKind {
    match browser {
        "firefox" => BrowserKind::Firefox,
        "webkit" => BrowserKind::Webkit,
        _ => BrowserKind::Chromium,
    }
}

/// Whether the arguments load extensions, which a headless shell does not support.
pub(super) fn has_extensions(args: &[String]) -> bool {
    let loads = ["--load-extension", "--disable-extensions-except"];
    args.iter()
        .any(|arg| loads.iter().any(|load| arg.starts_with(load)))
}

pub(super) fn choice(
    options: &Options,
    kind: BrowserKind,
    channel: Option<&str>,
    cwd: &Path,
) -> BrowserChoice {
    if let Some(path) = options.executable_path.value() {
        return BrowserChoice::Program(kind, cwd.join(path));
    }
    let channel = channel.and_then(|name| name.parse::<Channel>().ok());
    channel.map_or(BrowserChoice::Any, BrowserChoice::Channel)
}

/// Whether a browser of this channel runs without its sandbox by default.
pub(super) fn unsandboxed(channel: Option<&str>) -> bool {
    cfg!(target_os = "linux") && matches!(channel, Some("chromium" | "chrome-for-testing"))
}
