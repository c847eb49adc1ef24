//! Recording the user's own actions as code.

use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::config::{Capability, Secrets};
use crate::error::{Error, Result};
use crate::sessions::session::Session;
use crate::sessions::session::feature::SessionFeature;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use async_trait::async_trait;
use engine::codegen::{Language, Typed};
use engine::{Page, Progress, Recorded, Recording};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<StartRecording>(),
    ToolDef::of::<StopRecording>(),
];

/// How long a document may take to start its recorder before an action.
const RECORDER_TIMEOUT: Duration = Duration::from_secs(2);

/// The recording of the user's actions, if one is running.
#[derive(Default)]
pub(super) struct UserActions(Mutex<Option<Arc<Recording>>>);

impl UserActions {
    /// Starts to record the actions of the user in the pages of the context.
    async fn start(&self, session: &Session, progress: &Progress) -> Result<()> {
        let tabs = session.open_tabs().ok_or(engine::Error::PageClosed {})?;
        let recording = tabs.open().context.record(progress).await?;
        *self.recording() = Some(Arc::new(recording));
        Ok(())
    }

    /// Stops the recording and returns it; `None` without a recording.
    async fn stop(&self, session: &Session) -> Option<Recorded> {
        let recording = self.recording().take()?;
        let tabs = session.open_tabs()?;
        Some(recording.stop(&tabs.open().context).await)
    }

    fn recording(&self) -> MutexGuard<'_, Option<Arc<Recording>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SessionFeature for UserActions {
    /// Waits until a running recording includes the documents of a page.
    async fn before_use(&self, call: &Call, page: &Page) {
        let recording = self.recording().clone();
        if let Some(recording) = recording {
            // A page that does not respond is not recorded.
            let progress = call.within(RECORDER_TIMEOUT);
            let _ = recording.prepare(&progress, page).await;
        }
    }

    fn closed(&self) {
        self.recording().take();
    }
}

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
        let actions = tab.session.feature::<UserActions>();
        if actions.recording().is_some() {
            return Err(Error::NotInProgress {
                reason: "Recording is already in progress.",
            });
        }
        actions.start(&tab.session, &call.action()).await?;
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
        let actions = session.feature::<UserActions>();
        let Some(mut recorded) = actions.stop(&session).await else {
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
