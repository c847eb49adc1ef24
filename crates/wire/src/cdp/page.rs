//! The `Page` domain: navigation, frames, dialogs, pictures of a page.

use serde::{Deserialize, Serialize};

use super::{Binary, Empty, command, dom, event, io, network, runtime};

/// [`Page.enable`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-enable)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Enable {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_file_chooser_opened_event: Option<bool>,
}
command!(Enable, "Page.enable", Empty);

/// [`Page.disable`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-disable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Disable {}
command!(Disable, "Page.disable", Empty);

/// [`Page.navigate`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-navigate)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Navigate {
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub referrer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<FrameId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub referrer_policy: Option<String>,
}
command!(Navigate, "Page.navigate", NavigateResponse);

/// The answer to [`Navigate`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NavigateResponse {
    pub frame_id: FrameId,
    pub loader_id: Option<network::LoaderId>,
    pub error_text: Option<String>,
    pub is_download: Option<bool>,
}

/// [`Page.reload`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-reload)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reload {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_cache: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script_to_evaluate_on_load: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loader_id: Option<network::LoaderId>,
}
command!(Reload, "Page.reload", Empty);

/// [`Page.stopLoading`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-stopLoading)
#[derive(Debug, Clone, Default, Serialize)]
pub struct StopLoading {}
command!(StopLoading, "Page.stopLoading", Empty);

/// [`Page.getNavigationHistory`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-getNavigationHistory)
#[derive(Debug, Clone, Default, Serialize)]
pub struct GetNavigationHistory {}
command!(
    GetNavigationHistory,
    "Page.getNavigationHistory",
    GetNavigationHistoryResponse
);

/// The answer to [`GetNavigationHistory`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetNavigationHistoryResponse {
    pub current_index: i64,
    pub entries: Vec<NavigationEntry>,
}

/// [`Page.navigateToHistoryEntry`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-navigateToHistoryEntry)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NavigateToHistoryEntry {
    pub entry_id: i64,
}
command!(NavigateToHistoryEntry, "Page.navigateToHistoryEntry", Empty);

/// [`Page.resetNavigationHistory`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-resetNavigationHistory)
#[derive(Debug, Clone, Default, Serialize)]
pub struct ResetNavigationHistory {}
command!(ResetNavigationHistory, "Page.resetNavigationHistory", Empty);

/// [`Page.getFrameTree`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-getFrameTree)
#[derive(Debug, Clone, Default, Serialize)]
pub struct GetFrameTree {}
command!(GetFrameTree, "Page.getFrameTree", GetFrameTreeResponse);

/// The answer to [`GetFrameTree`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetFrameTreeResponse {
    pub frame_tree: FrameTree,
}

/// [`Page.createIsolatedWorld`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-createIsolatedWorld)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateIsolatedWorld {
    pub frame_id: FrameId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant_univeral_access: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_security_policy: Option<String>,
}
command!(
    CreateIsolatedWorld,
    "Page.createIsolatedWorld",
    CreateIsolatedWorldResponse
);

/// The answer to [`CreateIsolatedWorld`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CreateIsolatedWorldResponse {
    pub execution_context_id: runtime::ExecutionContextId,
}

/// [`Page.addScriptToEvaluateOnNewDocument`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-addScriptToEvaluateOnNewDocument)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AddScriptToEvaluateOnNewDocument {
    pub source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_name: Option<String>,
    #[serde(
        rename = "includeCommandLineAPI",
        skip_serializing_if = "Option::is_none"
    )]
    pub include_command_line_api: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_immediately: Option<bool>,
}
command!(
    AddScriptToEvaluateOnNewDocument,
    "Page.addScriptToEvaluateOnNewDocument",
    AddScriptToEvaluateOnNewDocumentResponse
);

/// The answer to [`AddScriptToEvaluateOnNewDocument`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AddScriptToEvaluateOnNewDocumentResponse {
    pub identifier: ScriptIdentifier,
}

/// [`Page.removeScriptToEvaluateOnNewDocument`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-removeScriptToEvaluateOnNewDocument)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoveScriptToEvaluateOnNewDocument {
    pub identifier: ScriptIdentifier,
}
command!(
    RemoveScriptToEvaluateOnNewDocument,
    "Page.removeScriptToEvaluateOnNewDocument",
    Empty
);

/// [`Page.setLifecycleEventsEnabled`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-setLifecycleEventsEnabled)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetLifecycleEventsEnabled {
    pub enabled: bool,
}
command!(
    SetLifecycleEventsEnabled,
    "Page.setLifecycleEventsEnabled",
    Empty
);

/// [`Page.setInterceptFileChooserDialog`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-setInterceptFileChooserDialog)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetInterceptFileChooserDialog {
    pub enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel: Option<bool>,
}
command!(
    SetInterceptFileChooserDialog,
    "Page.setInterceptFileChooserDialog",
    Empty
);

/// [`Page.handleJavaScriptDialog`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-handleJavaScriptDialog)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HandleJavaScriptDialog {
    pub accept: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_text: Option<String>,
}
command!(HandleJavaScriptDialog, "Page.handleJavaScriptDialog", Empty);

/// [`Page.captureScreenshot`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-captureScreenshot)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CaptureScreenshot {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<ImageFormat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<Viewport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_surface: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture_beyond_viewport: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimize_for_speed: Option<bool>,
}
command!(
    CaptureScreenshot,
    "Page.captureScreenshot",
    CaptureScreenshotResponse
);

/// The answer to [`CaptureScreenshot`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CaptureScreenshotResponse {
    pub data: Binary,
}

/// [`Page.captureSnapshot`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-captureSnapshot)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CaptureSnapshot {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<SnapshotFormat>,
}
command!(
    CaptureSnapshot,
    "Page.captureSnapshot",
    CaptureSnapshotResponse
);

/// The answer to [`CaptureSnapshot`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CaptureSnapshotResponse {
    pub data: String,
}

/// [`Page.printToPDF`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-printToPDF)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PrintToPDF {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landscape: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_header_footer: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub print_background: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper_width: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper_height: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin_top: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin_bottom: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin_left: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin_right: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_ranges: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header_template: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub footer_template: Option<String>,
    #[serde(rename = "preferCSSPageSize", skip_serializing_if = "Option::is_none")]
    pub prefer_css_page_size: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_mode: Option<TransferMode>,
    #[serde(rename = "generateTaggedPDF", skip_serializing_if = "Option::is_none")]
    pub generate_tagged_pdf: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generate_document_outline: Option<bool>,
}
command!(PrintToPDF, "Page.printToPDF", PrintToPDFResponse);

/// The answer to [`PrintToPDF`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PrintToPDFResponse {
    pub data: Binary,
    pub stream: Option<io::StreamHandle>,
}

/// [`Page.startScreencast`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-startScreencast)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StartScreencast {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<ImageFormat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_width: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_height: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_nth_frame: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_frames_in_flight: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_last_frame: Option<bool>,
}
command!(StartScreencast, "Page.startScreencast", Empty);

/// [`Page.stopScreencast`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-stopScreencast)
#[derive(Debug, Clone, Default, Serialize)]
pub struct StopScreencast {}
command!(StopScreencast, "Page.stopScreencast", Empty);

/// [`Page.screencastFrameAck`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-screencastFrameAck)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScreencastFrameAck {
    pub session_id: i64,
}
command!(ScreencastFrameAck, "Page.screencastFrameAck", Empty);

/// [`Page.bringToFront`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-bringToFront)
#[derive(Debug, Clone, Default, Serialize)]
pub struct BringToFront {}
command!(BringToFront, "Page.bringToFront", Empty);

/// [`Page.close`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-close)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Close {}
command!(Close, "Page.close", Empty);

/// [`Page.crash`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-crash)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Crash {}
command!(Crash, "Page.crash", Empty);

/// [`Page.setBypassCSP`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-setBypassCSP)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetBypassCSP {
    pub enabled: bool,
}
command!(SetBypassCSP, "Page.setBypassCSP", Empty);

/// [`Page.setDocumentContent`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-setDocumentContent)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetDocumentContent {
    pub frame_id: FrameId,
    pub html: String,
}
command!(SetDocumentContent, "Page.setDocumentContent", Empty);

/// [`Page.getLayoutMetrics`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-getLayoutMetrics)
#[derive(Debug, Clone, Default, Serialize)]
pub struct GetLayoutMetrics {}
command!(
    GetLayoutMetrics,
    "Page.getLayoutMetrics",
    GetLayoutMetricsResponse
);

/// The answer to [`GetLayoutMetrics`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetLayoutMetricsResponse {
    pub css_layout_viewport: LayoutViewport,
    pub css_visual_viewport: VisualViewport,
    pub css_content_size: dom::Rect,
}

/// [`Page.setWebLifecycleState`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-setWebLifecycleState)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetWebLifecycleState {
    pub state: WebLifecycleState,
}
command!(SetWebLifecycleState, "Page.setWebLifecycleState", Empty);

/// [`Page.frameAttached`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-frameAttached)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FrameAttached {
    pub frame_id: FrameId,
    pub parent_frame_id: FrameId,
}
event!(FrameAttached, "Page.frameAttached");

/// [`Page.frameDetached`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-frameDetached)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FrameDetached {
    pub frame_id: FrameId,
    pub reason: FrameDetachedReason,
}
event!(FrameDetached, "Page.frameDetached");

/// [`Page.frameNavigated`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-frameNavigated)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FrameNavigated {
    pub frame: Frame,
    #[serde(rename = "type")]
    pub kind: NavigationType,
}
event!(FrameNavigated, "Page.frameNavigated");

/// [`Page.documentOpened`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-documentOpened)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DocumentOpened {
    pub frame: Frame,
}
event!(DocumentOpened, "Page.documentOpened");

/// [`Page.navigatedWithinDocument`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-navigatedWithinDocument)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NavigatedWithinDocument {
    pub frame_id: FrameId,
    pub url: String,
    pub navigation_type: SameDocumentNavigationKind,
}
event!(NavigatedWithinDocument, "Page.navigatedWithinDocument");

/// [`Page.frameRequestedNavigation`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-frameRequestedNavigation)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FrameRequestedNavigation {
    pub frame_id: FrameId,
    pub reason: String,
    pub url: String,
    pub disposition: ClientNavigationDisposition,
}
event!(FrameRequestedNavigation, "Page.frameRequestedNavigation");

/// [`Page.frameStartedNavigating`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-frameStartedNavigating)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FrameStartedNavigating {
    pub frame_id: FrameId,
    pub url: String,
    pub loader_id: network::LoaderId,
    pub navigation_type: FrameNavigationKind,
}
event!(FrameStartedNavigating, "Page.frameStartedNavigating");

/// [`Page.frameStartedLoading`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-frameStartedLoading)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FrameStartedLoading {
    pub frame_id: FrameId,
}
event!(FrameStartedLoading, "Page.frameStartedLoading");

/// [`Page.frameStoppedLoading`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-frameStoppedLoading)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FrameStoppedLoading {
    pub frame_id: FrameId,
}
event!(FrameStoppedLoading, "Page.frameStoppedLoading");

/// [`Page.frameScheduledNavigation`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-frameScheduledNavigation)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FrameScheduledNavigation {
    pub frame_id: FrameId,
    pub delay: f64,
    pub reason: String,
    pub url: String,
}
event!(FrameScheduledNavigation, "Page.frameScheduledNavigation");

/// [`Page.frameClearedScheduledNavigation`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-frameClearedScheduledNavigation)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FrameClearedScheduledNavigation {
    pub frame_id: FrameId,
}
event!(
    FrameClearedScheduledNavigation,
    "Page.frameClearedScheduledNavigation"
);

/// [`Page.lifecycleEvent`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-lifecycleEvent)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LifecycleEvent {
    pub frame_id: FrameId,
    pub loader_id: network::LoaderId,
    pub name: String,
    pub timestamp: network::MonotonicTime,
}
event!(LifecycleEvent, "Page.lifecycleEvent");

/// [`Page.loadEventFired`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-loadEventFired)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LoadEventFired {
    pub timestamp: network::MonotonicTime,
}
event!(LoadEventFired, "Page.loadEventFired");

/// [`Page.domContentEventFired`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-domContentEventFired)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DomContentEventFired {
    pub timestamp: network::MonotonicTime,
}
event!(DomContentEventFired, "Page.domContentEventFired");

/// [`Page.javascriptDialogOpening`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-javascriptDialogOpening)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct JavascriptDialogOpening {
    pub url: String,
    pub frame_id: FrameId,
    pub message: String,
    #[serde(rename = "type")]
    pub kind: DialogType,
    pub has_browser_handler: bool,
    pub default_prompt: Option<String>,
}
event!(JavascriptDialogOpening, "Page.javascriptDialogOpening");

/// [`Page.javascriptDialogClosed`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-javascriptDialogClosed)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct JavascriptDialogClosed {
    pub frame_id: FrameId,
    pub result: bool,
    pub user_input: String,
}
event!(JavascriptDialogClosed, "Page.javascriptDialogClosed");

/// [`Page.fileChooserOpened`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-fileChooserOpened)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FileChooserOpened {
    pub frame_id: FrameId,
    pub mode: FileChooserMode,
    pub backend_node_id: Option<dom::BackendNodeId>,
}
event!(FileChooserOpened, "Page.fileChooserOpened");

/// [`Page.windowOpen`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-windowOpen)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WindowOpen {
    pub url: String,
    pub window_name: String,
    pub window_features: Vec<String>,
    pub user_gesture: bool,
}
event!(WindowOpen, "Page.windowOpen");

/// [`Page.downloadWillBegin`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-downloadWillBegin)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DownloadWillBegin {
    pub frame_id: FrameId,
    pub guid: String,
    pub url: String,
    pub suggested_filename: String,
}
event!(DownloadWillBegin, "Page.downloadWillBegin");

/// [`Page.downloadProgress`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-downloadProgress)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DownloadProgress {
    pub guid: String,
    pub total_bytes: f64,
    pub received_bytes: f64,
    pub state: DownloadState,
}
event!(DownloadProgress, "Page.downloadProgress");

/// [`Page.screencastFrame`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-screencastFrame)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScreencastFrame {
    pub data: Binary,
    pub metadata: ScreencastFrameMetadata,
    pub session_id: i64,
}
event!(ScreencastFrame, "Page.screencastFrame");

/// [`Page.FrameId`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-FrameId)
pub type FrameId = String;

/// [`Page.Frame`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-Frame)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Frame {
    pub id: FrameId,
    pub parent_id: Option<FrameId>,
    pub loader_id: network::LoaderId,
    pub name: Option<String>,
    pub url: String,
    pub url_fragment: Option<String>,
    pub domain_and_registry: String,
    pub security_origin: String,
    pub mime_type: String,
    pub unreachable_url: Option<String>,
}

/// [`Page.FrameTree`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-FrameTree)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FrameTree {
    pub frame: Frame,
    pub child_frames: Option<Vec<FrameTree>>,
}

/// [`Page.ScriptIdentifier`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-ScriptIdentifier)
pub type ScriptIdentifier = String;

/// [`Page.NavigationEntry`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-NavigationEntry)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NavigationEntry {
    pub id: i64,
    pub url: String,
    #[serde(rename = "userTypedURL")]
    pub user_typed_url: String,
    pub title: String,
    pub transition_type: String,
}

/// [`Page.ScreencastFrameMetadata`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-ScreencastFrameMetadata)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScreencastFrameMetadata {
    pub offset_top: f64,
    pub page_scale_factor: f64,
    pub device_width: f64,
    pub device_height: f64,
    pub scroll_offset_x: f64,
    pub scroll_offset_y: f64,
    pub timestamp: Option<network::TimeSinceEpoch>,
    pub monotonic_timestamp: Option<network::MonotonicTime>,
}

/// [`Page.DialogType`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-DialogType)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DialogType {
    #[default]
    Alert,
    Confirm,
    Prompt,
    Beforeunload,
    /// One that the specification did not have when this was written.
    #[serde(other)]
    Unknown,
}

/// [`Page.LayoutViewport`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-LayoutViewport)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LayoutViewport {
    pub page_x: i64,
    pub page_y: i64,
    pub client_width: i64,
    pub client_height: i64,
}

/// [`Page.VisualViewport`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-VisualViewport)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VisualViewport {
    pub offset_x: f64,
    pub offset_y: f64,
    pub page_x: f64,
    pub page_y: f64,
    pub client_width: f64,
    pub client_height: f64,
    pub scale: f64,
    pub zoom: Option<f64>,
}

/// [`Page.Viewport`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-Viewport)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Viewport {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    pub scale: f64,
}

/// [`Page.ClientNavigationDisposition`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-ClientNavigationDisposition)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ClientNavigationDisposition {
    #[default]
    CurrentTab,
    NewTab,
    NewWindow,
    Download,
    /// One that the specification did not have when this was written.
    #[serde(other)]
    Unknown,
}

/// [`Page.NavigationType`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-NavigationType)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
pub enum NavigationType {
    #[default]
    Navigation,
    BackForwardCacheRestore,
    /// One that the specification did not have when this was written.
    #[serde(other)]
    Unknown,
}

/// What `format` may be in `Page.captureScreenshot`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ImageFormat {
    #[default]
    Jpeg,
    Png,
    Webp,
}

/// What `format` may be in `Page.captureSnapshot`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SnapshotFormat {
    #[default]
    Mhtml,
}

/// What `transferMode` may be in `Page.printToPDF`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
pub enum TransferMode {
    #[default]
    ReturnAsBase64,
    ReturnAsStream,
}

/// What `state` may be in `Page.setWebLifecycleState`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum WebLifecycleState {
    #[default]
    Frozen,
    Active,
}

/// What `reason` may be in `Page.frameDetached`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FrameDetachedReason {
    #[default]
    Remove,
    Swap,
    /// One that the specification did not have when this was written.
    #[serde(other)]
    Unknown,
}

/// What `navigationType` may be in `Page.navigatedWithinDocument`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SameDocumentNavigationKind {
    #[default]
    Fragment,
    HistoryApi,
    #[serde(other)]
    Other,
}

/// What `navigationType` may be in `Page.frameStartedNavigating`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FrameNavigationKind {
    #[default]
    Reload,
    ReloadBypassingCache,
    Restore,
    RestoreWithPost,
    HistorySameDocument,
    HistoryDifferentDocument,
    SameDocument,
    DifferentDocument,
    /// One that the specification did not have when this was written.
    #[serde(other)]
    Unknown,
}

/// What `mode` may be in `Page.fileChooserOpened`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FileChooserMode {
    #[default]
    SelectSingle,
    SelectMultiple,
    /// One that the specification did not have when this was written.
    #[serde(other)]
    Unknown,
}

/// What `state` may be in `Page.downloadProgress`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DownloadState {
    #[default]
    InProgress,
    Completed,
    Canceled,
    /// One that the specification did not have when this was written.
    #[serde(other)]
    Unknown,
}
