//! The `Browser` domain: the process, its downloads, permissions and windows.

use serde::{Deserialize, Serialize};

use super::{Empty, command, event, page};

/// [`Browser.getVersion`](https://chromedevtools.github.io/devtools-protocol/tot/Browser/#method-getVersion)
#[derive(Debug, Clone, Default, Serialize)]
pub struct GetVersion {}
command!(GetVersion, "Browser.getVersion", GetVersionResponse);

/// The result of [`GetVersion`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetVersionResponse {
    pub protocol_version: String,
    pub product: String,
    pub revision: String,
    pub user_agent: String,
    pub js_version: String,
}

/// [`Browser.close`](https://chromedevtools.github.io/devtools-protocol/tot/Browser/#method-close)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Close {}
command!(Close, "Browser.close", Empty);

/// Sets the folder of downloads. With `events_enabled`, downloads are reported as [`DownloadWillBegin`] and [`DownloadProgress`].
/// [`Browser.setDownloadBehavior`](https://chromedevtools.github.io/devtools-protocol/tot/Browser/#method-setDownloadBehavior)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetDownloadBehavior {
    pub behavior: DownloadBehavior,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_context_id: Option<BrowserContextId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub download_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events_enabled: Option<bool>,
}
command!(SetDownloadBehavior, "Browser.setDownloadBehavior", Empty);

/// [`Browser.grantPermissions`](https://chromedevtools.github.io/devtools-protocol/tot/Browser/#method-grantPermissions)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GrantPermissions {
    pub permissions: Vec<PermissionType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_context_id: Option<BrowserContextId>,
}
command!(GrantPermissions, "Browser.grantPermissions", Empty);

/// [`Browser.resetPermissions`](https://chromedevtools.github.io/devtools-protocol/tot/Browser/#method-resetPermissions)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResetPermissions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_context_id: Option<BrowserContextId>,
}
command!(ResetPermissions, "Browser.resetPermissions", Empty);

/// [`Browser.downloadWillBegin`](https://chromedevtools.github.io/devtools-protocol/tot/Browser/#event-downloadWillBegin)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DownloadWillBegin {
    pub frame_id: page::FrameId,
    pub guid: String,
    pub url: String,
    pub suggested_filename: String,
}
event!(DownloadWillBegin, "Browser.downloadWillBegin");

/// [`Browser.downloadProgress`](https://chromedevtools.github.io/devtools-protocol/tot/Browser/#event-downloadProgress)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DownloadProgress {
    pub guid: String,
    pub total_bytes: f64,
    pub received_bytes: f64,
    pub state: DownloadState,
    pub file_path: Option<String>,
}
event!(DownloadProgress, "Browser.downloadProgress");

/// [`Browser.BrowserContextID`](https://chromedevtools.github.io/devtools-protocol/tot/Browser/#type-BrowserContextID)
pub type BrowserContextId = String;

/// [`Browser.WindowState`](https://chromedevtools.github.io/devtools-protocol/tot/Browser/#type-WindowState)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WindowState {
    #[default]
    Normal,
    Minimized,
    Maximized,
    Fullscreen,
    /// An unknown value.
    #[serde(other)]
    Unknown,
}

/// [`Browser.Bounds`](https://chromedevtools.github.io/devtools-protocol/tot/Browser/#type-Bounds)
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Bounds {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_state: Option<WindowState>,
}

/// [`Browser.PermissionType`](https://chromedevtools.github.io/devtools-protocol/tot/Browser/#type-PermissionType)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionType {
    #[default]
    Ar,
    AudioCapture,
    AutomaticFullscreen,
    BackgroundFetch,
    BackgroundSync,
    CameraPanTiltZoom,
    CapturedSurfaceControl,
    ClipboardReadWrite,
    ClipboardSanitizedWrite,
    DisplayCapture,
    DurableStorage,
    Geolocation,
    HandTracking,
    IdleDetection,
    KeyboardLock,
    LocalFonts,
    LocalNetwork,
    LocalNetworkAccess,
    LoopbackNetwork,
    Midi,
    MidiSysex,
    Nfc,
    Notifications,
    PaymentHandler,
    PeriodicBackgroundSync,
    PointerLock,
    ProtectedMediaIdentifier,
    Sensors,
    SmartCard,
    SpeakerSelection,
    StorageAccess,
    VideoCapture,
    Vr,
    WakeLockScreen,
    WakeLockSystem,
    WebAppInstallation,
    WebPrinting,
    WindowManagement,
}

/// The values of `behavior` in `Browser.setDownloadBehavior`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum DownloadBehavior {
    #[default]
    Deny,
    Allow,
    AllowAndName,
    Default,
}

/// The values of `state` in `Browser.downloadProgress`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DownloadState {
    #[default]
    InProgress,
    Completed,
    Canceled,
    /// An unknown value.
    #[serde(other)]
    Unknown,
}
