//! Recording the user's own actions as code.

use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::config::{Capability, Secrets};
use crate::error::{Error, Result};
use crate::sessions::session::Session;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::{Language, Typed};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<StartRecording>(),
    ToolDef::of::<StopRecording>(),
];

/// Record what the user does in the browser, until browser_stop_recording.
#[derive(Deserialize, JsonSchema)]
pub(super) struct StartRecording {}

/// Stop the recording; returns the user's actions as Playwright code.
#[derive(Deserialize, JsonSchema)]
pub(super) struct StopRecording {}

impl Tool for StartRecording {
    const NAME: &'static str = "browser_start_recording";
    const TITLE: &'static str = "Start recording user actions";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Devtools);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        if tab.session.is_recording() {
            return Err(Error::NotInProgress {
                reason: "Recording is already in progress.",
            });
        }
        tab.session.start_recording(&call.action()).await?;
        tab.page.activate(&call.action()).await?;
        Ok(Reply::text(
            "Recording started. Call browser_stop_recording to retrieve the recorded actions.",
        ))
    }
}

impl Tool for StopRecording {
    const NAME: &'static str = "browser_stop_recording";
    const TITLE: &'static str = "Stop recording user actions";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Devtools);
    type Scope = Arc<Session>;
    type Output = Reply;

    async fn run(self, session: Arc<Session>, call: &Call) -> Result<Reply> {
        let Some(mut recorded) = session.stop_recording().await else {
            return Err(Error::NotInProgress {
                reason: "No recording in progress, use browser_start_recording to start one.",
            });
        };
        if recorded.is_empty() {
            return Ok(Reply::text("Recording stopped. No actions were recorded.").and_snapshot());
        }
        recorded.replace_texts(|text| secret(&call.settings.secrets, text));
        // The user requests the code, so it has a language even if other answers have no code.
        let language = match call.language() {
            Language::None => Language::Typescript,
            language => language,
        };
        let code = recorded.code(language).join("\n");
        Ok(Reply::text("Recording stopped. Recorded actions:\n")
            .and(Part::Code {
                language: language.fence().unwrap_or_default(),
                code,
            })
            .and_snapshot())
    }
}

/// Returns the name of the secret that a text is.
fn secret(secrets: &Secrets, text: &str) -> Option<Typed> {
    let masked = secrets.redacted(text.to_owned());
    let name = masked.strip_prefix("<secret>")?.strip_suffix("</secret>")?;
    secrets
        .names()
        .any(|known| known == name)
        .then(|| Typed::Variable(name.to_owned()))
}
