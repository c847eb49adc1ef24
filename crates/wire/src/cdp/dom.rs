//! The `DOM` domain: nodes by handle, with their frames and files.

use serde::{Deserialize, Serialize};

pub use super::id::BackendNodeId;
use super::id::FrameId;
use super::{Empty, command, runtime};

/// Describes a node; the domain need not be enabled.
/// [`DOM.describeNode`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-describeNode)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DescribeNode {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_node_id: Option<BackendNodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<runtime::RemoteObjectId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pierce: Option<bool>,
}
command!(DescribeNode, "DOM.describeNode", DescribeNodeResponse);

/// The result of [`DescribeNode`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DescribeNodeResponse {
    pub node: Node,
}

/// Returns a JavaScript handle of a node in any execution context.
/// [`DOM.resolveNode`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-resolveNode)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResolveNode {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_node_id: Option<BackendNodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_group: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_context_id: Option<runtime::ExecutionContextId>,
}
command!(ResolveNode, "DOM.resolveNode", ResolveNodeResponse);

/// The result of [`ResolveNode`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResolveNodeResponse {
    pub object: runtime::RemoteObject,
}

/// [`DOM.getFrameOwner`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-getFrameOwner)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetFrameOwner {
    pub frame_id: FrameId,
}
command!(GetFrameOwner, "DOM.getFrameOwner", GetFrameOwnerResponse);

/// The result of [`GetFrameOwner`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetFrameOwnerResponse {
    pub backend_node_id: BackendNodeId,
    pub node_id: Option<NodeId>,
}

/// Sets the files of an input; paths refer to the browser's machine.
/// [`DOM.setFileInputFiles`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-setFileInputFiles)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetFileInputFiles {
    pub files: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_node_id: Option<BackendNodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<runtime::RemoteObjectId>,
}
command!(SetFileInputFiles, "DOM.setFileInputFiles", Empty);

/// [`DOM.NodeId`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#type-NodeId)
pub type NodeId = i64;

/// [`DOM.Node`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#type-Node)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Node {
    pub node_id: NodeId,
    pub parent_id: Option<NodeId>,
    pub backend_node_id: BackendNodeId,
    pub node_type: i64,
    pub node_name: String,
    pub local_name: String,
    pub node_value: String,
    pub child_node_count: Option<i64>,
    pub children: Option<Vec<Node>>,
    pub attributes: Option<Vec<String>>,
    #[serde(rename = "documentURL")]
    pub document_url: Option<String>,
    pub frame_id: Option<FrameId>,
    pub content_document: Option<Box<Node>>,
    pub shadow_roots: Option<Vec<Node>>,
    /// `user-agent`, `open` or `closed`, if it is a shadow root.
    pub shadow_root_type: Option<String>,
}

/// [`DOM.Rect`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#type-Rect)
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// [`DOM.enable`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-enable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Enable {}
command!(Enable, "DOM.enable", Empty);

/// [`DOM.disable`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-disable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Disable {}
command!(Disable, "DOM.disable", Empty);

/// Returns the document, whose nodes have node ids afterwards.
/// [`DOM.getDocument`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-getDocument)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetDocument {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<i64>,
}
command!(GetDocument, "DOM.getDocument", Empty);

/// Returns the node id of a node, after [`GetDocument`].
/// [`DOM.requestNode`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-requestNode)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestNode {
    pub object_id: runtime::RemoteObjectId,
}
command!(RequestNode, "DOM.requestNode", RequestNodeResponse);

/// The result of [`RequestNode`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RequestNodeResponse {
    pub node_id: NodeId,
}

/// Returns the boxes of a node; an error if it has none.
/// [`DOM.getBoxModel`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-getBoxModel)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetBoxModel {
    pub node_id: NodeId,
}
command!(GetBoxModel, "DOM.getBoxModel", GetBoxModelResponse);

/// The result of [`GetBoxModel`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct GetBoxModelResponse {
    pub model: BoxModel,
}

/// [`DOM.BoxModel`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#type-BoxModel)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct BoxModel {
    /// The width of the border box, in CSS pixels.
    pub width: i64,
    /// The height of the border box, in CSS pixels.
    pub height: i64,
}
