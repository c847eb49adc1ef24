//! Resolves which browser is used.

use std::path::Path;

use engine::{BrowserChoice, BrowserKind, Channel};

use crate::config::{
    error::ConfigError,
    layered::{Layered, Source},
    options::Options,
    value::BrowserName,
};

/// Returns the channel. `--browser` and `channel` are two spellings: the stronger layer wins; in the same layer,
/// `channel` does, because it is more specific.
pub(super) fn channel(options: &mut Options) -> Result<Option<&'static str>, ConfigError> {
    let BrowserName(browser) = options.browser.value().unwrap_or(BrowserName("chromium"));
    let other = match kind(browser) {
        BrowserKind::Chromium => None,
        BrowserKind::Firefox => Some("Firefox"),
        BrowserKind::Webkit => Some("WebKit"),
        BrowserKind::Safari => Some("Safari"),
    };
    if let Some(other) = other {
        if options.mobile.get() == Some(&true) {
            return Err(ConfigError::NotMobile { browser: other });
        }
        if options.cdp_endpoint.get().is_some() {
            return Err(ConfigError::NotOverCdp { browser: other });
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

/// Returns the browser kind of a name.
pub(super) fn kind(browser: &str) -> BrowserKind {
    match browser {
        "firefox" => BrowserKind::Firefox,
        "webkit" => BrowserKind::Webkit,
        "safari" => BrowserKind::Safari,
        _ => BrowserKind::Chromium,
    }
}

/// Whether the arguments load extensions, which a headless shell does not support.
pub(super) fn has_extensions(args: &[String]) -> bool {
    let loads = ["--load-extension", "--disable-extensions-except"];
    args.iter()
        .any(|arg| loads.iter().any(|load| arg.starts_with(load)))
}

pub(super) fn choice(options: &Options, channel: Option<&str>, cwd: &Path) -> BrowserChoice {
    if let Some(path) = options.executable_path.value() {
        return BrowserChoice::Program(cwd.join(path));
    }
    let channel = channel.and_then(|name| name.parse::<Channel>().ok());
    channel.map_or(BrowserChoice::Any, BrowserChoice::Channel)
}

/// Whether a browser of this channel runs without its sandbox by default.
pub(super) fn unsandboxed(channel: Option<&str>) -> bool {
    cfg!(target_os = "linux") && matches!(channel, Some("chromium" | "chrome-for-testing"))
}
