//! The `Target` domain: targets, and browser contexts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Empty, browser, command, event, page};

/// Attaches to all related targets, existing and future ones.
/// [`Target.setAutoAttach`](https://chromedevtools.github.io/devtools-protocol/tot/Target/#method-setAutoAttach)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetAutoAttach {
    pub auto_attach: bool,
    pub wait_for_debugger_on_start: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flatten: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<TargetFilter>,
}
command!(SetAutoAttach, "Target.setAutoAttach", Empty);

/// [`Target.createTarget`](https://chromedevtools.github.io/devtools-protocol/tot/Target/#method-createTarget)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateTarget {
    pub url: String,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_context_id: Option<browser::BrowserContextId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_window: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub for_tab: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<bool>,
}
command!(CreateTarget, "Target.createTarget", CreateTargetResponse);

/// The result of [`CreateTarget`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CreateTargetResponse {
    pub target_id: TargetId,
}

/// [`Target.closeTarget`](https://chromedevtools.github.io/devtools-protocol/tot/Target/#method-closeTarget)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CloseTarget {
    pub target_id: TargetId,
}
command!(CloseTarget, "Target.closeTarget", Empty);

/// [`Target.attachToTarget`](https://chromedevtools.github.io/devtools-protocol/tot/Target/#method-attachToTarget)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachToTarget {
    pub target_id: TargetId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flatten: Option<bool>,
}
command!(
    AttachToTarget,
    "Target.attachToTarget",
    AttachToTargetResponse
);

/// The result of [`AttachToTarget`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AttachToTargetResponse {
    pub session_id: SessionId,
}

/// [`Target.detachFromTarget`](https://chromedevtools.github.io/devtools-protocol/tot/Target/#method-detachFromTarget)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DetachFromTarget {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}
command!(DetachFromTarget, "Target.detachFromTarget", Empty);

/// [`Target.getTargets`](https://chromedevtools.github.io/devtools-protocol/tot/Target/#method-getTargets)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetTargets {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<TargetFilter>,
}
command!(GetTargets, "Target.getTargets", GetTargetsResponse);

/// The result of [`GetTargets`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetTargetsResponse {
    pub target_infos: Vec<TargetInfo>,
}

/// Creates a browser context with its own cookies, storage and cache.
/// [`Target.createBrowserContext`](https://chromedevtools.github.io/devtools-protocol/tot/Target/#method-createBrowserContext)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateBrowserContext {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispose_on_detach: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy_server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy_bypass_list: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origins_with_universal_network_access: Option<Vec<String>>,
}
command!(
    CreateBrowserContext,
    "Target.createBrowserContext",
    CreateBrowserContextResponse
);

/// The result of [`CreateBrowserContext`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CreateBrowserContextResponse {
    pub browser_context_id: browser::BrowserContextId,
}

/// [`Target.disposeBrowserContext`](https://chromedevtools.github.io/devtools-protocol/tot/Target/#method-disposeBrowserContext)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DisposeBrowserContext {
    pub browser_context_id: browser::BrowserContextId,
}
command!(DisposeBrowserContext, "Target.disposeBrowserContext", Empty);

/// [`Target.getBrowserContexts`](https://chromedevtools.github.io/devtools-protocol/tot/Target/#method-getBrowserContexts)
#[derive(Debug, Clone, Default, Serialize)]
pub struct GetBrowserContexts {}
command!(
    GetBrowserContexts,
    "Target.getBrowserContexts",
    GetBrowserContextsResponse
);

/// The result of [`GetBrowserContexts`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetBrowserContextsResponse {
    pub browser_context_ids: Vec<browser::BrowserContextId>,
    pub default_browser_context_id: Option<browser::BrowserContextId>,
}

/// A session was created. Its queue exists already: see [`take_events`](crate::Connection::take_events).
/// [`Target.attachedToTarget`](https://chromedevtools.github.io/devtools-protocol/tot/Target/#event-attachedToTarget)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AttachedToTarget {
    pub session_id: SessionId,
    pub target_info: TargetInfo,
    pub waiting_for_debugger: bool,
}
event!(AttachedToTarget, "Target.attachedToTarget");

/// A session has ended, with the sessions that were attached within it.
/// [`Target.detachedFromTarget`](https://chromedevtools.github.io/devtools-protocol/tot/Target/#event-detachedFromTarget)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DetachedFromTarget {
    pub session_id: SessionId,
}
event!(DetachedFromTarget, "Target.detachedFromTarget");

/// [`Target.targetCrashed`](https://chromedevtools.github.io/devtools-protocol/tot/Target/#event-targetCrashed)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TargetCrashed {
    pub target_id: TargetId,
    pub status: String,
    pub error_code: i64,
}
event!(TargetCrashed, "Target.targetCrashed");

/// [`Target.TargetID`](https://chromedevtools.github.io/devtools-protocol/tot/Target/#type-TargetID)
pub type TargetId = String;

/// [`Target.SessionID`](https://chromedevtools.github.io/devtools-protocol/tot/Target/#type-SessionID)
pub type SessionId = String;

/// [`Target.TargetInfo`](https://chromedevtools.github.io/devtools-protocol/tot/Target/#type-TargetInfo)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TargetInfo {
    pub target_id: TargetId,
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub url: String,
    pub attached: bool,
    pub parent_id: Option<TargetId>,
    pub opener_id: Option<TargetId>,
    pub can_access_opener: bool,
    pub opener_frame_id: Option<page::FrameId>,
    pub parent_frame_id: Option<page::FrameId>,
    pub browser_context_id: Option<browser::BrowserContextId>,
    pub subtype: Option<String>,
    pub embedder_data: Option<Value>,
}

/// [`Target.TargetFilter`](https://chromedevtools.github.io/devtools-protocol/tot/Target/#type-TargetFilter)
pub type TargetFilter = Vec<FilterEntry>;

/// [`Target.WindowState`](https://chromedevtools.github.io/devtools-protocol/tot/Target/#type-WindowState)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum WindowState {
    #[default]
    Normal,
    Minimized,
    Maximized,
    Fullscreen,
}

/// An entry of a [`TargetFilter`]; the first one that matches a target decides, and an entry without a type matches all.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FilterEntry {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclude: Option<bool>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}
