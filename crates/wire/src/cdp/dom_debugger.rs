//! The `DOMDebugger` domain: event listeners of nodes.

use serde::{Deserialize, Serialize};

use super::{command, dom, runtime};

/// Returns the event listeners of a node, and of the nodes in it. With `pierce`, those of all execution contexts, also in frames of the
/// same process and in shadow roots. The domain need not be enabled.
/// [`DOMDebugger.getEventListeners`](https://chromedevtools.github.io/devtools-protocol/tot/DOMDebugger/#method-getEventListeners)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetEventListeners {
    pub object_id: runtime::RemoteObjectId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pierce: Option<bool>,
}
command!(
    GetEventListeners,
    "DOMDebugger.getEventListeners",
    GetEventListenersResponse
);

/// The result of [`GetEventListeners`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetEventListenersResponse {
    pub listeners: Vec<EventListener>,
}

/// [`DOMDebugger.EventListener`](https://chromedevtools.github.io/devtools-protocol/tot/DOMDebugger/#type-EventListener)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EventListener {
    #[serde(rename = "type")]
    pub kind: String,
    pub backend_node_id: Option<dom::BackendNodeId>,
}
