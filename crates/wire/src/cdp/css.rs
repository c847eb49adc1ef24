//! The `CSS` domain: style sheets, which of their rules are used, and which match a node.

use serde::{Deserialize, Serialize};

use super::dom::NodeId;
use super::{Empty, command, event};

/// Enables the domain, which requires the `DOM` domain: [`StyleSheetAdded`] is reported for each style sheet that exists.
/// [`CSS.enable`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#method-enable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Enable {}
command!(Enable, "CSS.enable", Empty);

/// [`CSS.disable`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#method-disable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Disable {}
command!(Disable, "CSS.disable", Empty);

/// [`CSS.startRuleUsageTracking`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#method-startRuleUsageTracking)
#[derive(Debug, Clone, Default, Serialize)]
pub struct StartRuleUsageTracking {}
command!(StartRuleUsageTracking, "CSS.startRuleUsageTracking", Empty);

/// [`CSS.stopRuleUsageTracking`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#method-stopRuleUsageTracking)
#[derive(Debug, Clone, Default, Serialize)]
pub struct StopRuleUsageTracking {}
command!(
    StopRuleUsageTracking,
    "CSS.stopRuleUsageTracking",
    StopRuleUsageTrackingResponse
);

/// The result of [`StopRuleUsageTracking`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StopRuleUsageTrackingResponse {
    pub rule_usage: Vec<RuleUsage>,
}

/// [`CSS.RuleUsage`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#type-RuleUsage)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RuleUsage {
    pub style_sheet_id: StyleSheetId,
    pub start_offset: f64,
    pub end_offset: f64,
    pub used: bool,
}

/// [`CSS.getStyleSheetText`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#method-getStyleSheetText)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetStyleSheetText {
    pub style_sheet_id: StyleSheetId,
}
command!(
    GetStyleSheetText,
    "CSS.getStyleSheetText",
    GetStyleSheetTextResponse
);

/// The result of [`GetStyleSheetText`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct GetStyleSheetTextResponse {
    pub text: String,
}

/// [`CSS.styleSheetAdded`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#event-styleSheetAdded)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct StyleSheetAdded {
    pub header: StyleSheetHeader,
}
event!(StyleSheetAdded, "CSS.styleSheetAdded");

/// [`CSS.CSSStyleSheetHeader`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#type-CSSStyleSheetHeader)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StyleSheetHeader {
    pub style_sheet_id: StyleSheetId,
    #[serde(rename = "sourceURL")]
    pub source_url: String,
    #[serde(rename = "sourceMapURL")]
    pub source_map_url: Option<String>,
    /// The line of the document in which an inline style sheet begins, from 0.
    pub start_line: f64,
    /// The column of the document in which an inline style sheet begins, from 0.
    pub start_column: f64,
    pub is_inline: bool,
    /// Whether a script has constructed it.
    pub is_constructed: bool,
}

/// [`CSS.styleSheetRemoved`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#event-styleSheetRemoved)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StyleSheetRemoved {
    pub style_sheet_id: StyleSheetId,
}
event!(StyleSheetRemoved, "CSS.styleSheetRemoved");

/// [`CSS.StyleSheetId`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#type-StyleSheetId)
pub type StyleSheetId = String;

/// Returns the rules that match a node. Requires the domain, and a node that `DOM.requestNode` has returned.
/// [`CSS.getMatchedStylesForNode`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#method-getMatchedStylesForNode)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetMatchedStylesForNode {
    pub node_id: NodeId,
}
command!(
    GetMatchedStylesForNode,
    "CSS.getMatchedStylesForNode",
    GetMatchedStylesForNodeResponse
);

/// The result of [`GetMatchedStylesForNode`]. Rules are in the order of the cascade of normal declarations, the weakest first.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetMatchedStylesForNodeResponse {
    pub inline_style: Option<CssStyle>,
    /// The presentational hints.
    pub attributes_style: Option<CssStyle>,
    #[serde(rename = "matchedCSSRules")]
    pub matched_css_rules: Vec<RuleMatch>,
    /// One entry for each ancestor in the flat tree, the parent first.
    pub inherited: Vec<InheritedStyleEntry>,
}

/// [`CSS.InheritedStyleEntry`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#type-InheritedStyleEntry)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InheritedStyleEntry {
    pub inline_style: Option<CssStyle>,
    #[serde(rename = "matchedCSSRules")]
    pub matched_css_rules: Vec<RuleMatch>,
}

/// [`CSS.RuleMatch`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#type-RuleMatch)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RuleMatch {
    pub rule: CssRule,
    /// The indices of the selectors that match.
    pub matching_selectors: Vec<usize>,
}

/// [`CSS.CSSRule`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#type-CSSRule)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CssRule {
    pub style_sheet_id: Option<StyleSheetId>,
    pub selector_list: SelectorList,
    /// The selectors of the rules around it, the innermost first.
    pub nesting_selectors: Vec<String>,
    pub origin: StyleSheetOrigin,
    pub style: CssStyle,
    /// The media queries, the innermost first; other conditions have the same order.
    pub media: Vec<Condition>,
    pub container_queries: Vec<Condition>,
    pub supports: Vec<Condition>,
    /// The cascade layers, the outermost first.
    pub layers: Vec<Condition>,
    pub scopes: Vec<Condition>,
}

/// [`CSS.StyleSheetOrigin`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#type-StyleSheetOrigin)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StyleSheetOrigin {
    Injected,
    UserAgent,
    Inspector,
    Regular,
    #[default]
    #[serde(other)]
    Unknown,
}

/// [`CSS.SelectorList`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#type-SelectorList)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SelectorList {
    pub selectors: Vec<Value>,
    pub text: String,
}

/// [`CSS.Value`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#type-Value)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Value {
    pub text: String,
    pub range: Option<SourceRange>,
    pub specificity: Option<Specificity>,
}

/// [`CSS.Specificity`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#type-Specificity)
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Specificity {
    pub a: u32,
    pub b: u32,
    pub c: u32,
}

/// A media query, container query, `@supports` condition, layer or scope; they have the same relevant members.
/// [`CSS.CSSMedia`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#type-CSSMedia)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    pub text: String,
    /// The name of a container.
    pub name: Option<String>,
}

/// [`CSS.CSSStyle`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#type-CSSStyle)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CssStyle {
    pub css_properties: Vec<CssProperty>,
}

/// [`CSS.CSSProperty`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#type-CSSProperty)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CssProperty {
    pub name: String,
    pub value: String,
    pub important: bool,
    pub implicit: bool,
    /// The text of the declaration, if it is one of the style sheet.
    pub text: Option<String>,
    pub parsed_ok: Option<bool>,
    pub disabled: bool,
    pub range: Option<SourceRange>,
    /// The longhand properties, if it is a shorthand.
    pub longhand_properties: Vec<CssProperty>,
}

/// [`CSS.SourceRange`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#type-SourceRange)
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SourceRange {
    pub start_line: u32,
    pub start_column: u32,
}

/// Returns the computed values of all longhand properties and custom properties of a node.
/// [`CSS.getComputedStyleForNode`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#method-getComputedStyleForNode)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetComputedStyleForNode {
    pub node_id: NodeId,
}
command!(
    GetComputedStyleForNode,
    "CSS.getComputedStyleForNode",
    GetComputedStyleForNodeResponse
);

/// The result of [`GetComputedStyleForNode`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetComputedStyleForNodeResponse {
    pub computed_style: Vec<ComputedStyleProperty>,
}

/// [`CSS.CSSComputedStyleProperty`](https://chromedevtools.github.io/devtools-protocol/tot/CSS/#type-CSSComputedStyleProperty)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ComputedStyleProperty {
    pub name: String,
    pub value: String,
}
