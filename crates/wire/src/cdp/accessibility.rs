//! The `Accessibility` domain: the browser's own accessibility tree.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Empty, command, dom, page};

/// [`Accessibility.enable`](https://chromedevtools.github.io/devtools-protocol/tot/Accessibility/#method-enable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Enable {}
command!(Enable, "Accessibility.enable", Empty);

/// [`Accessibility.disable`](https://chromedevtools.github.io/devtools-protocol/tot/Accessibility/#method-disable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Disable {}
command!(Disable, "Accessibility.disable", Empty);

/// [`Accessibility.getFullAXTree`](https://chromedevtools.github.io/devtools-protocol/tot/Accessibility/#method-getFullAXTree)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetFullAXTree {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<page::FrameId>,
}
command!(
    GetFullAXTree,
    "Accessibility.getFullAXTree",
    GetFullAXTreeResponse
);

/// The answer to [`GetFullAXTree`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetFullAXTreeResponse {
    pub nodes: Vec<AXNode>,
}

/// [`Accessibility.AXNodeId`](https://chromedevtools.github.io/devtools-protocol/tot/Accessibility/#type-AXNodeId)
pub type AXNodeId = String;

/// [`Accessibility.AXValueSource`](https://chromedevtools.github.io/devtools-protocol/tot/Accessibility/#type-AXValueSource)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AXValueSource {
    #[serde(rename = "type")]
    pub kind: String,
    pub value: Option<AXValue>,
    pub attribute: Option<String>,
    pub attribute_value: Option<AXValue>,
    pub superseded: Option<bool>,
    pub native_source: Option<String>,
    pub native_source_value: Option<AXValue>,
    pub invalid: Option<bool>,
    pub invalid_reason: Option<String>,
}

/// [`Accessibility.AXRelatedNode`](https://chromedevtools.github.io/devtools-protocol/tot/Accessibility/#type-AXRelatedNode)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AXRelatedNode {
    #[serde(rename = "backendDOMNodeId")]
    pub backend_dom_node_id: dom::BackendNodeId,
    pub idref: Option<String>,
    pub text: Option<String>,
}

/// [`Accessibility.AXProperty`](https://chromedevtools.github.io/devtools-protocol/tot/Accessibility/#type-AXProperty)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AXProperty {
    pub name: String,
    pub value: AXValue,
}

/// [`Accessibility.AXValue`](https://chromedevtools.github.io/devtools-protocol/tot/Accessibility/#type-AXValue)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AXValue {
    #[serde(rename = "type")]
    pub kind: String,
    pub value: Option<Value>,
    pub related_nodes: Option<Vec<AXRelatedNode>>,
    pub sources: Option<Vec<AXValueSource>>,
}

/// [`Accessibility.AXNode`](https://chromedevtools.github.io/devtools-protocol/tot/Accessibility/#type-AXNode)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AXNode {
    pub node_id: AXNodeId,
    pub ignored: bool,
    pub ignored_reasons: Option<Vec<AXProperty>>,
    pub role: Option<AXValue>,
    pub chrome_role: Option<AXValue>,
    pub name: Option<AXValue>,
    pub description: Option<AXValue>,
    pub value: Option<AXValue>,
    pub properties: Option<Vec<AXProperty>>,
    pub parent_id: Option<AXNodeId>,
    pub child_ids: Option<Vec<AXNodeId>>,
    #[serde(rename = "backendDOMNodeId")]
    pub backend_dom_node_id: Option<dom::BackendNodeId>,
    pub frame_id: Option<page::FrameId>,
}
