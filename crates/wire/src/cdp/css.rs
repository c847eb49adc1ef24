//! The `CSS` domain: style sheets, and which of their rules are used.

use serde::{Deserialize, Serialize};

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
    /// The line of the document in which an inline style sheet begins, from 0.
    pub start_line: f64,
    pub is_inline: bool,
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
