//! Running Playwright code of the client.

use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::config::Risk;
use crate::error::{Error, Result};
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::Watch;
use schemars::JsonSchema;
use script::{End, Script};
use serde::Deserialize;
use std::path::Path;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<RunCode>()];

/// The name of code that is not in a file, in pauses.
const CODE_NAME: &str = "code.js";

/// Run Playwright code.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunCode {
    /// async (page) => {…}; its result is returned.
    code: Option<String>,
    /// File to read the code from.
    filename: Option<String>,
}

impl Tool for RunCode {
    const NAME: &'static str = "browser_run_code_unsafe";
    const TITLE: &'static str = "Run Playwright code (unsafe)";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Admin;
    const RISK: Option<Risk> = Some(Risk::Evaluation);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let code = self.text(&tab, call).await?;
        let shown = format!("await ({code})(page);");
        let context = tab.session.script_context(call, tab.page.clone())?;
        let progress = call.action();
        let watch = tab.page.watch(&progress).await;
        let name = self.filename.as_deref().unwrap_or(CODE_NAME).to_owned();
        let script = Script::function(name, code, context);
        let reply = finish(&tab, call, script, watch).await?;
        Ok(reply.and_code(shown))
    }
}

/// Waits until code has ended or is paused, and returns the result.
pub(super) async fn finish(
    tab: &CurrentTab,
    call: &Call,
    mut script: Script,
    watch: Watch,
) -> Result<Reply> {
    call.set_status("waiting for the code to end");
    let outcome = script.ended().await;
    tab.session.scripts().keep(script);
    let mut reply = Reply::default();
    match outcome.end {
        End::Value(value) => {
            tab.settle_briefly(call, watch).await;
            if let Some(value) = value {
                reply = reply.and(Part::Page(value));
            }
        }
        // The answer shows where the code is paused.
        End::Paused => tab.settle_briefly(call, watch).await,
        // The code does not continue until the dialog is handled.
        End::Dialog => {}
        End::Failed(message) if outcome.unhandled.is_empty() => {
            return Err(failed(message));
        }
        End::Failed(message) => reply.error = Some(failed(message)),
    }
    for line in outcome.printed {
        reply = reply.and(Part::Page(line));
    }
    if !outcome.unhandled.is_empty() {
        let mut lines = outcome.unhandled;
        if let Some(error) = &reply.error {
            lines.insert(0, error.to_string());
        }
        reply.error = Some(failed(lines.join("\n")));
    }
    Ok(reply.and_changes())
}

impl RunCode {
    async fn text(&self, tab: &CurrentTab, call: &Call) -> Result<String> {
        let text = match (&self.filename, &self.code) {
            (Some(name), _) => {
                let code = String::from_utf8(tab.files(call).await.read(name).await?);
                code.map_err(|error| {
                    let error = std::io::Error::other(error.utf8_error());
                    Error::file(Path::new(name), "open", &error)
                })?
            }
            (None, Some(code)) => code.clone(),
            (None, None) => {
                return Err(Error::Arguments {
                    reason: "Either \"code\" or \"filename\" must be provided.".into(),
                    parameters: &[],
                    missing: &["code", "filename"],
                    bare: false,
                });
            }
        };
        // The code is an expression, so it must not end with a semicolon.
        let text = text.trim().trim_end_matches(';').trim_end();
        Ok(text.to_owned())
    }
}

fn failed(message: String) -> Error {
    engine::Error::Script { message }.into()
}
