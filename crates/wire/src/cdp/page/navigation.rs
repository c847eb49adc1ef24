//! Navigations: their commands, and the events of frames.

use serde::{Deserialize, Serialize};

use super::{Frame, FrameId};
use crate::cdp::{Empty, command, event, network};

/// Navigates; the command returns when the navigation is committed or has failed.
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

/// The result of [`Navigate`].
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

/// The result of [`GetNavigationHistory`].
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

/// [`Page.frameNavigated`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-frameNavigated)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FrameNavigated {
    pub frame: Frame,
    #[serde(rename = "type")]
    pub kind: NavigationType,
}
event!(FrameNavigated, "Page.frameNavigated");

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

/// The event is also sent after an aborted navigation: a download, a 204.
/// [`Page.frameStoppedLoading`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#event-frameStoppedLoading)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FrameStoppedLoading {
    pub frame_id: FrameId,
}
event!(FrameStoppedLoading, "Page.frameStoppedLoading");

/// `init`, `commit`, `DOMContentLoaded`, `load`, `networkIdle`, paints; only after
/// [`SetLifecycleEventsEnabled`].
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

/// [`Page.ClientNavigationDisposition`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-ClientNavigationDisposition)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ClientNavigationDisposition {
    #[default]
    CurrentTab,
    NewTab,
    NewWindow,
    Download,
    /// An unknown value.
    #[serde(other)]
    Unknown,
}

/// [`Page.NavigationType`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-NavigationType)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
pub enum NavigationType {
    #[default]
    Navigation,
    BackForwardCacheRestore,
    /// An unknown value.
    #[serde(other)]
    Unknown,
}

/// The values of `navigationType` in `Page.navigatedWithinDocument`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SameDocumentNavigationKind {
    #[default]
    Fragment,
    HistoryApi,
    #[serde(other)]
    Other,
}

/// The values of `navigationType` in `Page.frameStartedNavigating`.
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
    /// An unknown value.
    #[serde(other)]
    Unknown,
}
