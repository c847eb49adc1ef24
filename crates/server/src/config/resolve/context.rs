//! Resolves the options of browser contexts, and those that a device sets.

use engine::{AddressRules, ContextOptions, MediaFeatures, OriginRules, Size};

use super::required;
use crate::config::{
    error::ConfigError,
    layered::{Layered, Source},
    options::Options,
    value::{OptionValue, Viewport},
};
use crate::error::nearest::nearest;
use std::time::Duration;

/// The default viewport of a headless browser.
pub(super) const VIEWPORT: Size = Size {
    width: 1280,
    height: 720,
};

/// The device that `--mobile` emulates.
const MOBILE_DEVICE: &str = "Pixel 10";

/// Returns the settings of browser contexts.
pub(super) fn context(
    options: &Options,
    user_agent_of_device: Option<String>,
    origins: OriginRules,
    addresses: AddressRules,
    can_throttle: bool,
    settle: Duration,
) -> ContextOptions {
    let size = match required(&options.viewport_size) {
        Viewport::Fixed(size) => size,
        Viewport::Window => VIEWPORT,
    };
    ContextOptions {
        viewport: Some(engine::Viewport {
            size,
            screen: options.screen.value(),
            device_scale_factor: options.device_scale_factor.value().unwrap_or(1.0),
            is_mobile: options.is_mobile.or_empty(),
            has_touch: options.has_touch.or_empty(),
        }),
        user_agent: options.user_agent.value().or(user_agent_of_device),
        locale: options.locale.value(),
        timezone: options.timezone_id.value(),
        media: MediaFeatures {
            media: None,
            color_scheme: word(&options.color_scheme),
            reduced_motion: word(&options.reduced_motion),
            forced_colors: word(&options.forced_colors),
            contrast: word(&options.contrast),
        },
        geolocation: options.geolocation.value(),
        permissions: options.grant_permissions.or_empty().0,
        deny_other_permissions: required(&options.deny_permissions),
        extra_headers: options.extra_http_headers.or_empty().0,
        http_credentials: options.http_credentials.value(),
        ignore_https_errors: required(&options.ignore_https_errors),
        offline: options.offline.or_empty(),
        can_throttle,
        bypass_csp: options.bypass_csp.or_empty(),
        java_script_enabled: Some(options.java_script_enabled.value().unwrap_or(true)),
        block_service_workers: options.block_service_workers.get().is_some_and(|b| b.0),
        origins,
        addresses,
        timers: (!settle.is_zero()).then_some(settle),
        ..ContextOptions::default()
    }
}

/// Returns the CSS keyword of a choice.
fn word<T: OptionValue + Into<&'static str>>(choice: &Layered<T>) -> Option<String> {
    choice.value().map(|choice| choice.into().to_owned())
}

/// Applies the device to the options that are not set. Returns the user agent of the device.
pub(super) fn device(
    options: &mut Options,
    notices: &mut Vec<String>,
) -> Result<Option<String>, ConfigError> {
    let mobile = options.mobile.get() == Some(&true);
    let (name, source) = match (options.device.value(), mobile) {
        (Some(_), true) => return Err(ConfigError::MobileAndDevice),
        (Some(name), false) => (name, options.device.source().cloned()),
        (None, true) => (MOBILE_DEVICE.to_owned(), options.mobile.source().cloned()),
        (None, false) => return Ok(None),
    };
    if options.cdp_endpoint.get().is_some() {
        return Err(ConfigError::DeviceOverCdp);
    }
    let Some(device) = engine::device(&name) else {
        let names = engine::device_names();
        let nearest = nearest(&name, names.iter().map(String::as_str));
        let suggestion = nearest
            .map(|name| format!(" Did you mean \"{name}\"?"))
            .unwrap_or_default();
        notices.push(format!("unknown device \"{name}\" is ignored.{suggestion}"));
        return Ok(None);
    };
    let source = source.unwrap_or(Source::Default);
    let viewport = device.viewport;
    options
        .viewport_size
        .imply(&source, Viewport::Fixed(viewport.size));
    options
        .device_scale_factor
        .imply(&source, viewport.device_scale_factor);
    options.is_mobile.imply(&source, viewport.is_mobile);
    options.has_touch.imply(&source, viewport.has_touch);
    if let Some(screen) = device.screen {
        options.screen.imply(&source, screen);
    }
    options.user_agent.imply(&source, device.user_agent);
    Ok(options.user_agent.value())
}
