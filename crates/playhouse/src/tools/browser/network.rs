//! What the page requested.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<NetworkRequests>(),
    ToolDef::of::<NetworkRequest>(),
];

/// List requests since the last navigation.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NetworkRequests {
    /// Also images, fonts, scripts and the like that succeeded.
    #[serde(default, rename = "static")]
    include_static: bool,
    /// Only URLs that match this regular expression.
    filter: Option<String>,
    /// Save to this file instead.
    filename: Option<String>,
}

impl Tool for NetworkRequests {
    const NAME: &'static str = "browser_network_requests";
    const TITLE: &'static str = "List network requests";
    const EFFECT: Effect = Effect::Reads;
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Show one request: headers and bodies.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NetworkRequest {
    /// Its number in the list.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    index: usize,
    /// Only this part.
    part: Option<Portion>,
    /// Save to this file instead.
    filename: Option<String>,
}

/// Which part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Portion {
    RequestHeaders,
    RequestBody,
    ResponseHeaders,
    ResponseBody,
}

impl Tool for NetworkRequest {
    const NAME: &'static str = "browser_network_request";
    const TITLE: &'static str = "Show network request details";
    const EFFECT: Effect = Effect::Reads;
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
