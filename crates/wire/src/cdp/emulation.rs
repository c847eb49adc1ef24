//! The `Emulation` domain: other devices, places, languages and preferences.

use serde::Serialize;

use super::{Empty, command, dom, page};

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

/// [`Emulation.clearDeviceMetricsOverride`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-clearDeviceMetricsOverride)
#[derive(Debug, Clone, Default, Serialize)]
pub struct ClearDeviceMetricsOverride {}
command!(
    ClearDeviceMetricsOverride,
    "Emulation.clearDeviceMetricsOverride",
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

/// [`Emulation.setEmitTouchEventsForMouse`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setEmitTouchEventsForMouse)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetEmitTouchEventsForMouse {
    pub enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<TouchConfiguration>,
}
command!(
    SetEmitTouchEventsForMouse,
    "Emulation.setEmitTouchEventsForMouse",
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

/// [`Emulation.setEmulatedVisionDeficiency`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setEmulatedVisionDeficiency)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetEmulatedVisionDeficiency {
    #[serde(rename = "type")]
    pub kind: VisionDeficiency,
}
command!(
    SetEmulatedVisionDeficiency,
    "Emulation.setEmulatedVisionDeficiency",
    Empty
);

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

/// [`Emulation.clearGeolocationOverride`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-clearGeolocationOverride)
#[derive(Debug, Clone, Default, Serialize)]
pub struct ClearGeolocationOverride {}
command!(
    ClearGeolocationOverride,
    "Emulation.clearGeolocationOverride",
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

/// [`Emulation.setDefaultBackgroundColorOverride`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setDefaultBackgroundColorOverride)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetDefaultBackgroundColorOverride {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<dom::RGBA>,
}
command!(
    SetDefaultBackgroundColorOverride,
    "Emulation.setDefaultBackgroundColorOverride",
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

/// [`Emulation.setScrollbarsHidden`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setScrollbarsHidden)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetScrollbarsHidden {
    pub hidden: bool,
}
command!(SetScrollbarsHidden, "Emulation.setScrollbarsHidden", Empty);

/// [`Emulation.setCPUThrottlingRate`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setCPUThrottlingRate)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetCPUThrottlingRate {
    pub rate: f64,
}
command!(
    SetCPUThrottlingRate,
    "Emulation.setCPUThrottlingRate",
    Empty
);

/// [`Emulation.setHardwareConcurrencyOverride`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setHardwareConcurrencyOverride)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetHardwareConcurrencyOverride {
    pub hardware_concurrency: i64,
}
command!(
    SetHardwareConcurrencyOverride,
    "Emulation.setHardwareConcurrencyOverride",
    Empty
);

/// [`Emulation.setIdleOverride`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setIdleOverride)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetIdleOverride {
    pub is_user_active: bool,
    pub is_screen_unlocked: bool,
}
command!(SetIdleOverride, "Emulation.setIdleOverride", Empty);

/// [`Emulation.clearIdleOverride`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-clearIdleOverride)
#[derive(Debug, Clone, Default, Serialize)]
pub struct ClearIdleOverride {}
command!(ClearIdleOverride, "Emulation.clearIdleOverride", Empty);

/// [`Emulation.setAutomationOverride`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setAutomationOverride)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetAutomationOverride {
    pub enabled: bool,
}
command!(
    SetAutomationOverride,
    "Emulation.setAutomationOverride",
    Empty
);

/// [`Emulation.setPageScaleFactor`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setPageScaleFactor)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetPageScaleFactor {
    pub page_scale_factor: f64,
}
command!(SetPageScaleFactor, "Emulation.setPageScaleFactor", Empty);

/// [`Emulation.resetPageScaleFactor`](https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-resetPageScaleFactor)
#[derive(Debug, Clone, Default, Serialize)]
pub struct ResetPageScaleFactor {}
command!(
    ResetPageScaleFactor,
    "Emulation.resetPageScaleFactor",
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

/// What `type` may be in `Emulation.ScreenOrientation`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ScreenOrientationType {
    #[default]
    PortraitPrimary,
    PortraitSecondary,
    LandscapePrimary,
    LandscapeSecondary,
}

/// What `configuration` may be in `Emulation.setEmitTouchEventsForMouse`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TouchConfiguration {
    #[default]
    Mobile,
    Desktop,
}

/// What `type` may be in `Emulation.setEmulatedVisionDeficiency`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum VisionDeficiency {
    #[default]
    None,
    BlurredVision,
    ReducedContrast,
    Achromatopsia,
    Deuteranopia,
    Protanopia,
    Tritanopia,
}
