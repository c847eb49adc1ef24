//! The `Page` domain: frames, scripts, dialogs, file choosers; navigation and screenshots are in submodules.

pub use super::id::FrameId;
use serde::{Deserialize, Serialize};

use crate::cdp::{Empty, command, dom, event, network, runtime};

pub use capture::*;
pub use navigation::*;

mod capture;
mod navigation;

/// [`Page.enable`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-enable)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Enable {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_file_chooser_opened_event: Option<bool>,
}
command!(Enable, "Page.enable", Empty);

/// [`Page.getFrameTree`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-getFrameTree)
#[derive(Debug, Clone, Default, Serialize)]
pub struct GetFrameTree {}
command!(GetFrameTree, "Page.getFrameTree", GetFrameTreeResponse);

/// The result of [`GetFrameTree`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetFrameTreeResponse {
    pub frame_tree: FrameTree,
}

/// Creates an isolated world, which shares the frame's DOM but no variables.
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

/// The result of [`CreateIsolatedWorld`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CreateIsolatedWorldResponse {
    pub execution_context_id: runtime::ExecutionContextId,
}

/// Adds an init script, which runs in each new document before its own scripts; with `run_immediately` also in existing documents.
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

/// The result of [`AddScriptToEvaluateOnNewDocument`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AddScriptToEvaluateOnNewDocumentResponse {
    pub identifier: ScriptIdentifier,
}

/// Reports file choosers as [`FileChooserOpened`] instead of opening them.
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

/// Handles the open dialog.
/// [`Page.handleJavaScriptDialog`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-handleJavaScriptDialog)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HandleJavaScriptDialog {
    pub accept: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_text: Option<String>,
}
command!(HandleJavaScriptDialog, "Page.handleJavaScriptDialog", Empty);

/// [`Page.bringToFront`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-bringToFront)
#[derive(Debug, Clone, Default, Serialize)]
pub struct BringToFront {}
command!(BringToFront, "Page.bringToFront", Empty);

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

/// [`Page.DialogType`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-DialogType)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DialogType {
    #[default]
    Alert,
    Confirm,
    Prompt,
    Beforeunload,
    /// An unknown value.
    #[serde(other)]
    Unknown,
}

/// The values of `reason` in `Page.frameDetached`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FrameDetachedReason {
    #[default]
    Remove,
    Swap,
    /// An unknown value.
    #[serde(other)]
    Unknown,
}

/// The values of `mode` in `Page.fileChooserOpened`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FileChooserMode {
    #[default]
    SelectSingle,
    SelectMultiple,
    /// An unknown value.
    #[serde(other)]
    Unknown,
}

/// The values of `state` in `Page.downloadProgress`.
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
