//! The `Emulation` domain: overrides of device metrics, locale, time zone, location and media features.

use serde::Serialize;

use super::{Empty, command, page};

/// [`Emulation.setDeviceMetricsOverride`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setDeviceMetricsOverride)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetDeviceMetricsOverride {
    pub width: i64,
    pub height: i64,
    pub device_scale_factor: f64,
    pub mobile: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screen_width: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screen_height: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position_x: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position_y: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dont_set_visible_size: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screen_orientation: Option<ScreenOrientation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viewport: Option<page::Viewport>,
}
command!(
    SetDeviceMetricsOverride,
    "Emulation.setDeviceMetricsOverride",
    Empty
);

/// [`Emulation.setTouchEmulationEnabled`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setTouchEmulationEnabled)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetTouchEmulationEnabled {
    pub enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_touch_points: Option<i64>,
}
command!(
    SetTouchEmulationEnabled,
    "Emulation.setTouchEmulationEnabled",
    Empty
);

/// [`Emulation.setEmulatedMedia`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setEmulatedMedia)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetEmulatedMedia {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features: Option<Vec<MediaFeature>>,
}
command!(SetEmulatedMedia, "Emulation.setEmulatedMedia", Empty);

/// [`Emulation.setUserAgentOverride`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setUserAgentOverride)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetUserAgentOverride {
    pub user_agent: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept_language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent_metadata: Option<UserAgentMetadata>,
}
command!(
    SetUserAgentOverride,
    "Emulation.setUserAgentOverride",
    Empty
);

/// [`Emulation.setLocaleOverride`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setLocaleOverride)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetLocaleOverride {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
}
command!(SetLocaleOverride, "Emulation.setLocaleOverride", Empty);

/// [`Emulation.setTimezoneOverride`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setTimezoneOverride)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetTimezoneOverride {
    pub timezone_id: String,
}
command!(SetTimezoneOverride, "Emulation.setTimezoneOverride", Empty);

/// [`Emulation.clearGeolocationOverride`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-clearGeolocationOverride)
#[derive(Debug, Clone, Default, Serialize)]
pub struct ClearGeolocationOverride {}
command!(
    ClearGeolocationOverride,
    "Emulation.clearGeolocationOverride",
    Empty
);

/// [`Emulation.clearDeviceMetricsOverride`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-clearDeviceMetricsOverride)
#[derive(Debug, Clone, Default, Serialize)]
pub struct ClearDeviceMetricsOverride {}
command!(
    ClearDeviceMetricsOverride,
    "Emulation.clearDeviceMetricsOverride",
    Empty
);

/// [`Emulation.setGeolocationOverride`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setGeolocationOverride)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetGeolocationOverride {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latitude: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longitude: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub altitude: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub altitude_accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
}
command!(
    SetGeolocationOverride,
    "Emulation.setGeolocationOverride",
    Empty
);

/// [`Emulation.setScriptExecutionDisabled`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setScriptExecutionDisabled)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetScriptExecutionDisabled {
    pub value: bool,
}
command!(
    SetScriptExecutionDisabled,
    "Emulation.setScriptExecutionDisabled",
    Empty
);

/// [`Emulation.setFocusEmulationEnabled`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setFocusEmulationEnabled)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetFocusEmulationEnabled {
    pub enabled: bool,
}
command!(
    SetFocusEmulationEnabled,
    "Emulation.setFocusEmulationEnabled",
    Empty
);

/// [`Emulation.ScreenOrientation`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#type-ScreenOrientation)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScreenOrientation {
    #[serde(rename = "type")]
    pub kind: ScreenOrientationType,
    pub angle: i64,
}

/// [`Emulation.MediaFeature`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#type-MediaFeature)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MediaFeature {
    pub name: String,
    pub value: String,
}

/// [`Emulation.UserAgentBrandVersion`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#type-UserAgentBrandVersion)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UserAgentBrandVersion {
    pub brand: String,
    pub version: String,
}

/// [`Emulation.UserAgentMetadata`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#type-UserAgentMetadata)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UserAgentMetadata {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brands: Option<Vec<UserAgentBrandVersion>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_version_list: Option<Vec<UserAgentBrandVersion>>,
    pub platform: String,
    pub platform_version: String,
    pub architecture: String,
    pub model: String,
    pub mobile: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bitness: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wow64: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form_factors: Option<Vec<String>>,
}

/// The values of `type` in `Emulation.ScreenOrientation`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ScreenOrientationType {
    #[default]
    PortraitPrimary,
    PortraitSecondary,
    LandscapePrimary,
    LandscapeSecondary,
}

/// Slows the processor of the page's process down; 1 is its own speed.
/// [`Emulation.setCPUThrottlingRate`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setCPUThrottlingRate)
#[derive(Debug, Clone, Default, Serialize)]
pub struct SetCPUThrottlingRate {
    pub rate: f64,
}
command!(
    SetCPUThrottlingRate,
    "Emulation.setCPUThrottlingRate",
    Empty
);
