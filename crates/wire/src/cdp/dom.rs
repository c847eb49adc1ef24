//! The `DOM` domain: nodes by handle; where they are and what they belong to.

use serde::{Deserialize, Serialize};

use super::{Empty, command, event, page, runtime};

/// [`DOM.enable`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-enable)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Enable {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_whitespace: Option<String>,
}
command!(Enable, "DOM.enable", Empty);

/// [`DOM.disable`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-disable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Disable {}
command!(Disable, "DOM.disable", Empty);

/// [`DOM.getDocument`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-getDocument)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetDocument {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pierce: Option<bool>,
}
command!(GetDocument, "DOM.getDocument", GetDocumentResponse);

/// The answer to [`GetDocument`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetDocumentResponse {
    pub root: Node,
}

/// Tells of a node without the need to enable the domain.
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

/// The answer to [`DescribeNode`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DescribeNodeResponse {
    pub node: Node,
}

/// Gives a JavaScript handle of a node, in any world.
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

/// The answer to [`ResolveNode`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResolveNodeResponse {
    pub object: runtime::RemoteObject,
}

/// [`DOM.requestNode`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-requestNode)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestNode {
    pub object_id: runtime::RemoteObjectId,
}
command!(RequestNode, "DOM.requestNode", RequestNodeResponse);

/// The answer to [`RequestNode`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RequestNodeResponse {
    pub node_id: NodeId,
}

/// [`DOM.getFrameOwner`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-getFrameOwner)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetFrameOwner {
    pub frame_id: page::FrameId,
}
command!(GetFrameOwner, "DOM.getFrameOwner", GetFrameOwnerResponse);

/// The answer to [`GetFrameOwner`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetFrameOwnerResponse {
    pub backend_node_id: BackendNodeId,
    pub node_id: Option<NodeId>,
}

/// Paths are of the browser's machine.
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

/// Where a node is, in CSS pixels of the viewport; an inline node may have several quads.
/// [`DOM.getContentQuads`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-getContentQuads)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetContentQuads {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_node_id: Option<BackendNodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<runtime::RemoteObjectId>,
}
command!(
    GetContentQuads,
    "DOM.getContentQuads",
    GetContentQuadsResponse
);

/// The answer to [`GetContentQuads`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetContentQuadsResponse {
    pub quads: Vec<Quad>,
}

/// [`DOM.getBoxModel`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-getBoxModel)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetBoxModel {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_node_id: Option<BackendNodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<runtime::RemoteObjectId>,
}
command!(GetBoxModel, "DOM.getBoxModel", GetBoxModelResponse);

/// The answer to [`GetBoxModel`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetBoxModelResponse {
    pub model: BoxModel,
}

/// [`DOM.scrollIntoViewIfNeeded`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-scrollIntoViewIfNeeded)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScrollIntoViewIfNeeded {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_node_id: Option<BackendNodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<runtime::RemoteObjectId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rect: Option<Rect>,
}
command!(ScrollIntoViewIfNeeded, "DOM.scrollIntoViewIfNeeded", Empty);

/// [`DOM.focus`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-focus)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Focus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_node_id: Option<BackendNodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<runtime::RemoteObjectId>,
}
command!(Focus, "DOM.focus", Empty);

/// [`DOM.getNodeForLocation`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-getNodeForLocation)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetNodeForLocation {
    pub x: i64,
    pub y: i64,
    #[serde(
        rename = "includeUserAgentShadowDOM",
        skip_serializing_if = "Option::is_none"
    )]
    pub include_user_agent_shadow_dom: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_pointer_events_none: Option<bool>,
}
command!(
    GetNodeForLocation,
    "DOM.getNodeForLocation",
    GetNodeForLocationResponse
);

/// The answer to [`GetNodeForLocation`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetNodeForLocationResponse {
    pub backend_node_id: BackendNodeId,
    pub frame_id: page::FrameId,
    pub node_id: Option<NodeId>,
}

/// [`DOM.getFileInfo`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-getFileInfo)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetFileInfo {
    pub object_id: runtime::RemoteObjectId,
}
command!(GetFileInfo, "DOM.getFileInfo", GetFileInfoResponse);

/// The answer to [`GetFileInfo`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetFileInfoResponse {
    pub path: String,
}

/// [`DOM.querySelector`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#method-querySelector)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QuerySelector {
    pub node_id: NodeId,
    pub selector: String,
}
command!(QuerySelector, "DOM.querySelector", QuerySelectorResponse);

/// The answer to [`QuerySelector`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct QuerySelectorResponse {
    pub node_id: NodeId,
}

/// [`DOM.documentUpdated`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#event-documentUpdated)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct DocumentUpdated {}
event!(DocumentUpdated, "DOM.documentUpdated");

/// [`DOM.NodeId`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#type-NodeId)
pub type NodeId = i64;

/// [`DOM.BackendNodeId`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#type-BackendNodeId)
pub type BackendNodeId = i64;

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
    pub frame_id: Option<page::FrameId>,
    pub content_document: Option<Box<Node>>,
    pub shadow_roots: Option<Vec<Node>>,
}

/// [`DOM.RGBA`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#type-RGBA)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RGBA {
    pub r: i64,
    pub g: i64,
    pub b: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<f64>,
}

/// Four corners, x and y by turns, clockwise from the top left.
/// [`DOM.Quad`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#type-Quad)
pub type Quad = Vec<f64>;

/// [`DOM.BoxModel`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#type-BoxModel)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BoxModel {
    pub content: Quad,
    pub padding: Quad,
    pub border: Quad,
    pub margin: Quad,
    pub width: i64,
    pub height: i64,
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
