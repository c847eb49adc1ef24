//! The `Debugger` domain: scripts and their sources.

use serde::{Deserialize, Serialize};

use super::{Empty, command, event, runtime};

/// Enables the domain: [`ScriptParsed`] is reported for each script that exists.
/// [`Debugger.enable`](https://chromedevtools.github.io/devtools-protocol/tot/Debugger/#method-enable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Enable {}
command!(Enable, "Debugger.enable", EnableResponse);

/// The result of [`Enable`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EnableResponse {
    pub debugger_id: String,
}

/// [`Debugger.disable`](https://chromedevtools.github.io/devtools-protocol/tot/Debugger/#method-disable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Disable {}
command!(Disable, "Debugger.disable", Empty);

/// [`Debugger.setSkipAllPauses`](https://chromedevtools.github.io/devtools-protocol/tot/Debugger/#method-setSkipAllPauses)
#[derive(Debug, Clone, Default, Serialize)]
pub struct SetSkipAllPauses {
    pub skip: bool,
}
command!(SetSkipAllPauses, "Debugger.setSkipAllPauses", Empty);

/// [`Debugger.getScriptSource`](https://chromedevtools.github.io/devtools-protocol/tot/Debugger/#method-getScriptSource)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetScriptSource {
    pub script_id: runtime::ScriptId,
}
command!(
    GetScriptSource,
    "Debugger.getScriptSource",
    GetScriptSourceResponse
);

/// The result of [`GetScriptSource`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetScriptSourceResponse {
    pub script_source: String,
}

/// [`Debugger.scriptParsed`](https://chromedevtools.github.io/devtools-protocol/tot/Debugger/#event-scriptParsed)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScriptParsed {
    pub script_id: runtime::ScriptId,
    pub url: String,
    /// The line of the document in which an inline script begins, from 0.
    pub start_line: u32,
    pub execution_context_id: runtime::ExecutionContextId,
}
event!(ScriptParsed, "Debugger.scriptParsed");
