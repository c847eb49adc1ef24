//! Saving and restoring the storage state of a session.

use crate::access::principal::Permission;
use crate::calls::Call;
use crate::error::{Error, Problem, Result};
use crate::sessions::check_name;
use crate::sessions::session::Tab;
use crate::tools::scope::{FreeTab, TabInAnyState};
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use engine::{LoadState, StorageState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::sync::Arc;

/// The URL of an empty document.
const BLANK: &str = "about:blank";

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<SaveState>(), ToolDef::of::<RestoreState>()];

/// Save cookies, local and session storage, and IndexedDB.
#[derive(Deserialize, JsonSchema)]
pub(super) struct SaveState {
    /// File to write; without it the answer has the state.
    path: Option<String>,
    /// Or a name, for create_session's restore.
    name: Option<String>,
}

/// The storage state, or the file with it.
#[derive(Serialize, JsonSchema)]
pub(super) struct Saved {
    /// `cookies`, and `origins` with their localStorage, sessionStorage and indexedDB.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    state: Option<StorageState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

impl Tool for SaveState {
    const NAME: &'static str = "save_state";
    const TITLE: &'static str = "Save state";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Admin;
    type Scope = FreeTab;
    type Output = Object<Saved>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Saved>> {
        let files = tab.files(call).await;
        let file = match (&self.path, &self.name) {
            (Some(_), Some(_)) => {
                return Err(Error::Arguments {
                    reason: "Give either a path or a name".into(),
                    parameters: &["path", "name"],
                    missing: &[],
                    bare: false,
                });
            }
            (Some(path), None) => Some(files.writable(path)?),
            (None, Some(name)) => {
                check_name(call.tool.name, "name", name)?;
                Some(files.named_state(name)?)
            }
            (None, None) => None,
        };
        let progress = call.navigation();
        let mut state = tab.context()?.full_storage_state(&progress).await?;
        state.add_session_storage(tab.page.session_storage(&progress).await?);
        let Some(file) = file else {
            let (state, path, name) = (Some(state), None, None);
            return Ok(Saved { state, path, name }.into());
        };
        let text = task::pretty(state).await;
        files.write_state(&file, text).await?;
        let (path, name) = match self.name {
            Some(name) => (None, Some(name)),
            None => (Some(file.link), None),
        };
        let state = None;
        Ok(Saved { state, path, name }.into())
    }
}

/// Restore a saved storage state; pages reload.
#[derive(Deserialize, JsonSchema)]
pub(super) struct RestoreState {
    /// As save_state gave it.
    state: Option<Map<String, Value>>,
    /// Or the file that has it.
    path: Option<String>,
}

/// The outcome.
#[derive(Serialize, JsonSchema)]
pub(super) struct Restored {
    message: String,
    /// Origins that this server blocks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<Skipped>,
}

/// An origin that was skipped, and the rule that blocks it.
#[derive(Serialize, JsonSchema)]
struct Skipped {
    origin: String,
    rule: String,
}

impl Tool for RestoreState {
    const NAME: &'static str = "restore_state";
    const TITLE: &'static str = "Restore state";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Admin;
    type Scope = FreeTab;
    type Output = Object<Restored>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Restored>> {
        let (mut state, parameter) = self.read_state(&tab, call).await?;
        let context = tab.context()?;
        let problems = origins_without_storage(&state, parameter);
        if !problems.is_empty() {
            return Err(Error::InvalidArguments {
                tool: call.tool.name,
                problems,
            });
        }
        let mut skipped = Vec::new();
        state.origins.retain(|origin| {
            let rule = context.options().origins.refusal(&origin.origin);
            skipped.extend(rule.as_ref().map(|rule| Skipped {
                origin: origin.origin.clone(),
                rule: rule.clone(),
            }));
            rule.is_none()
        });
        let progress = call.navigation();
        let url = tab.page.url();
        // Open documents are replaced first, because they can block the restoring of storage and overwrite what is restored.
        let others = replace_others_with_blank(&tab, call).await?;
        let blank_tab = replace_with_blank(&tab, call).await?;
        context.restore_full_state(&progress, &state).await?;
        blank_tab
            .page
            .restore_session_storage(&progress, &state, &url)
            .await?;
        let reloads = others.iter().map(async |(tab, url)| {
            // Pages that do not load again are not an error of this call.
            let _ = tab
                .go_to(&call.navigation(), url, LoadState::Committed)
                .await;
        });
        futures_util::future::join_all(reloads).await;
        let mut message = format!(
            "Restored {} cookies, and the storage of {} origins",
            state.cookies.len(),
            state.origins.len()
        );
        if is_site(&url)
            && let Err(error) = blank_tab
                .go_to(&call.navigation(), &url, LoadState::Loaded)
                .await
        {
            let error = error.to_string();
            let reason = error.lines().next().unwrap_or_default();
            let _ = write!(message, ", but the page was not loaded again: {reason}");
        }
        Ok(Restored { message, skipped }.into())
    }
}

impl RestoreState {
    /// Returns the storage state, and the name of the parameter that has it.
    async fn read_state(self, tab: &FreeTab, call: &Call) -> Result<(StorageState, &'static str)> {
        const BOTH: &[&str] = &["state", "path"];
        match (self.state, &self.path) {
            (Some(state), None) => match serde_json::from_value(Value::Object(state)) {
                Ok(state) => Ok((state, "state")),
                Err(error) => Err(Error::InvalidArguments {
                    tool: call.tool.name,
                    problems: vec![Problem {
                        parameter: "state".to_owned(),
                        message: format!("Not a storage state: {error}"),
                        missing: false,
                    }],
                }),
            },
            (None, Some(path)) => Ok((tab.files(call).await.storage_state(path).await?, "path")),
            (state, _) => {
                let (parameters, missing): (&[_], &[_]) = match state {
                    Some(_) => (BOTH, &[]),
                    None => (&[], BOTH),
                };
                Err(Error::Arguments {
                    reason: "Give either a state or a path".into(),
                    parameters,
                    missing,
                    bare: false,
                })
            }
        }
    }
}

/// Returns the origins of the state that cannot have storage, as problems of the parameter.
fn origins_without_storage(state: &StorageState, parameter: &str) -> Vec<Problem> {
    let origins = state.origins.iter().enumerate();
    let invalid = origins.filter(|(_, origin)| origin.of_site().is_none());
    invalid
        .map(|(index, origin)| Problem {
            parameter: match parameter {
                "state" => format!("state.origins[{index}].origin"),
                other => other.to_owned(),
            },
            message: format!("\"{}\" is not an http or https origin", origin.origin),
            missing: false,
        })
        .collect()
}

fn is_site(url: &str) -> bool {
    url.starts_with("http:") || url.starts_with("https:")
}

/// Navigates the tab to an empty document, and accepts its beforeunload dialog. Returns the tab with the empty document, which is another
/// one if this one was unresponsive.
async fn replace_with_blank(tab: &TabInAnyState, call: &Call) -> Result<Arc<Tab>> {
    if let Some((there, _)) = tab
        .go_to(call, &call.navigation(), BLANK, LoadState::Loaded)
        .await?
    {
        return Ok(there);
    }
    tab.page.answer_dialog(&call.action(), true, None).await?;
    match tab
        .go_to(call, &call.navigation(), BLANK, LoadState::Loaded)
        .await?
    {
        Some((there, _)) => Ok(there),
        None => Err(engine::Error::DialogOpen {}.into()),
    }
}

/// Navigates all other tabs of the context to empty documents. Returns those that had an HTTP URL, with that URL.
async fn replace_others_with_blank(
    tab: &TabInAnyState,
    call: &Call,
) -> Result<Vec<(Arc<Tab>, String)>> {
    let tabs = tab.session.open_tabs();
    let tabs = tabs.map(|tabs| tabs.all()).unwrap_or_default();
    let others = tabs.into_iter().filter(|other| other.page != tab.page);
    let replacing = others.map(async |other| {
        let url = other.page.url();
        let replacing = async {
            let progress = call.navigation();
            let outcome = other.go_to(&progress, BLANK, LoadState::Loaded).await?;
            if outcome.is_none() {
                other.page.answer_dialog(&progress, true, None).await?;
                other.go_to(&progress, BLANK, LoadState::Loaded).await?;
            }
            Ok(())
        };
        match replacing.await {
            Ok(()) => Ok(is_site(&url).then(|| (other.clone(), url))),
            // A closed page writes no storage.
            Err(error) if Error::is_end(&error) => Ok(None),
            Err(error) => Err(error),
        }
    });
    let replaced = futures_util::future::try_join_all(replacing).await?;
    Ok(replaced.into_iter().flatten().collect())
}
