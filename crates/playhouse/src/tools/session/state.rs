//! All that a session remembers, taken along and brought back.

use super::Done;
use crate::call::Call;
use crate::error::{Error, Problem, Result};
use crate::output;
use crate::scope::FreeTab;
use crate::tool::{Effect, ObjectTool, Outcome, ToolDef};
use engine::StorageState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::object::<SaveState>(),
    ToolDef::object::<RestoreState>(),
];

/// Save cookies, local and session storage, and IndexedDB.
#[derive(Deserialize, JsonSchema)]
pub(super) struct SaveState {
    /// File to write; without it the answer has the state.
    path: Option<String>,
}

/// What was saved, or where.
#[derive(Serialize, JsonSchema)]
pub(super) struct Saved {
    /// cookies, and origins with their localStorage, sessionStorage, indexedDB.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

impl ObjectTool for SaveState {
    const NAME: &'static str = "save_state";
    const TITLE: &'static str = "Save state";
    const EFFECT: Effect = Effect::Reads;
    type Scope = FreeTab;
    type Output = Saved;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Outcome<Saved>> {
        let progress = call.navigation();
        let mut state = tab.context()?.whole_state(&progress).await?;
        state.add_session_storage(tab.page.session_storage(&progress).await?);
        let state = serde_json::to_value(state).unwrap_or_default();
        let (state, path) = match &self.path {
            Some(path) => {
                let output = tab.output(call).await;
                let file = output.named(path)?;
                let text = serde_json::to_string_pretty(&state).unwrap_or_default();
                output.write(&file, text).await?;
                (None, Some(file.link))
            }
            None => (state.as_object().cloned(), None),
        };
        Ok(Saved { state, path }.into())
    }
}

/// Put a saved state in the place of what the session remembers. The page is loaded anew.
#[derive(Deserialize, JsonSchema)]
pub(super) struct RestoreState {
    /// As save_state gave it.
    state: Option<Map<String, Value>>,
    /// Or the file that has it.
    path: Option<String>,
}

impl ObjectTool for RestoreState {
    const NAME: &'static str = "restore_state";
    const TITLE: &'static str = "Restore state";
    const EFFECT: Effect = Effect::Acts;
    type Scope = FreeTab;
    type Output = Done;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Outcome<Done>> {
        let state: StorageState = match (self.state, &self.path) {
            (Some(state), None) => {
                serde_json::from_value(Value::Object(state)).map_err(|error| {
                    Error::InvalidArguments {
                        tool: call.tool,
                        problems: vec![Problem {
                            parameter: "state".to_owned(),
                            message: format!("This is no state: {error}"),
                            missing: false,
                        }],
                    }
                })?
            }
            (None, Some(path)) => {
                output::storage_state(&tab.output(call).await.allowed(path)?).await?
            }
            (state, _) => {
                const BOTH: &[&str] = &["state", "path"];
                let (parameters, missing): (&[_], &[_]) = match state {
                    Some(_) => (BOTH, &[]),
                    None => (&[], BOTH),
                };
                return Err(Error::Arguments {
                    reason: "Give either a state or a path",
                    parameters,
                    missing,
                    bare: false,
                });
            }
        };
        let progress = call.navigation();
        let url = tab.page.url();
        // What it has open must not be in the way, nor write over what comes.
        tab.go_to(call, "about:blank", engine::LoadState::Loaded)
            .await?;
        tab.context()?.restore_whole(&progress, &state).await?;
        tab.page
            .restore_session_storage(&progress, &state, &url)
            .await?;
        if url.starts_with("http") {
            tab.go_to(call, &url, engine::LoadState::Loaded).await?;
        }
        let (cookies, origins) = (state.cookies.len(), state.origins.len());
        Ok(Done::saying(format!(
            "Restored {cookies} cookies, and the storage of {origins} origins"
        ))
        .into())
    }
}
