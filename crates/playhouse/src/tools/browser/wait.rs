//! Waiting.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::error::{Error, Result};
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::WaitFor as Until;
use engine::codegen::javascript;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<WaitFor>()];

/// Wait for text to appear or vanish, or for a time.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WaitFor {
    /// Seconds.
    time: Option<f64>,
    /// Text to appear.
    text: Option<String>,
    /// Text to vanish.
    text_gone: Option<String>,
}

impl Tool for WaitFor {
    const NAME: &'static str = "browser_wait_for";
    const TITLE: &'static str = "Wait for";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        if self.time.is_none() && self.text.is_none() && self.text_gone.is_none() {
            return Err(Error::Arguments {
                reason: "Either time, text or textGone must be provided".into(),
                parameters: &[],
                missing: &["time", "text", "textGone"],
                bare: false,
            });
        }
        let mut waited = String::new();
        let mut reply = Reply::default();
        if let Some(seconds) = self.time {
            let code = format!("await new Promise(f => setTimeout(f, {seconds} * 1000));");
            reply = reply.and_code(code);
            let time = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(MAX_SECONDS);
            let tabs = tab
                .session
                .open_tabs()
                .ok_or(engine::Error::PageClosed {})?;
            call.set_status(format!("waiting {seconds} s"));
            tokio::select! {
                () = tokio::time::sleep(time.min(MAX_SECONDS)) => {}
                gone = tabs.browser_gone() => return Err(gone),
            }
            waited = format!("{seconds} seconds");
        }
        for (text, visible) in [(&self.text_gone, false), (&self.text, true)] {
            let Some(text) = text else { continue };
            reply = reply.and_code(javascript::wait_for_text(text, visible));
            let target = format!("getByText({})", javascript::string(text));
            let locator = tab.page.locator(&target)?.first();
            let until = if visible {
                Until::Visible
            } else {
                Until::Hidden
            };
            let progress = call.action();
            locator.wait_for(&progress, until).await?;
            waited.clone_from(text);
        }
        Ok(reply
            .and_text(format!("Waited for {waited}"))
            .and_snapshot())
    }
}

/// The longest pause.
const MAX_SECONDS: Duration = Duration::from_secs(30);
