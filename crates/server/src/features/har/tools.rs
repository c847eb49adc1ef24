//! The tools that start and stop a recording.

use super::{Har, HarOptions, HarRecording};
use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::config::{Capability, HarContent};
use crate::error::{Error, Problem, Result};
use crate::tools::scope::TabInAnyState;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::{Feature, UrlPattern};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<StartHar>(), ToolDef::of::<StopHar>()];

/// Record requests to a HAR file.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StartHar {
    /// File to write.
    filename: Option<String>,
    /// Response bodies; default: embed.
    content: Option<HarContent>,
    /// Glob of URLs to record.
    pattern: Option<String>,
}

impl Tool for StartHar {
    const NAME: &'static str = "browser_har_start";
    const TITLE: &'static str = "Start HAR";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Network);
    type Scope = TabInAnyState;
    type Output = Reply;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Reply> {
        let url = self.pattern.as_deref().map(UrlPattern::glob);
        let url = url.transpose().map_err(|message| Error::InvalidArguments {
            tool: Self::NAME,
            problems: vec![Problem {
                parameter: "pattern".to_owned(),
                message,
                missing: false,
            }],
        })?;
        let content = self.content.unwrap_or_default();
        let tabs = tab.session.open_tabs();
        let tabs = tabs.ok_or(engine::Error::PageClosed {})?;
        let har = tab.session.feature::<Har>();
        if content == HarContent::Embed {
            tabs.open()
                .browser
                .capabilities()
                .require(Feature::Bodies)?;
        }
        if har.called().is_some() {
            return Err(state_error(
                "A HAR is being recorded already; stop it with browser_har_stop",
            ));
        }
        let files = tab.files(call).await;
        let file = files
            .file(self.filename.as_deref(), "requests", "har")
            .await?;
        let options = HarOptions {
            content,
            url,
            minimal: false,
        };
        let recording = HarRecording::start(&tabs.open().context, &files, file, options)?;
        *har.called() = Some(recording);
        Ok(Reply::text("HAR recording started"))
    }
}

/// Stop recording and write the HAR.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StopHar {}

impl Tool for StopHar {
    const NAME: &'static str = "browser_har_stop";
    const TITLE: &'static str = "Stop HAR";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Network);
    type Scope = TabInAnyState;
    type Output = Reply;

    async fn run(self, tab: TabInAnyState, _: &Call) -> Result<Reply> {
        let recording = tab.session.feature::<Har>().called().take();
        let Some(recording) = recording else {
            return Err(state_error(
                "No HAR is being recorded; start with browser_har_start",
            ));
        };
        let summary = recording.stop().await?;
        let mut text = match summary.requests {
            1 => "1 request".to_owned(),
            count => format!("{count} requests"),
        };
        if summary.left_out > 0 {
            text += &format!(
                "; {} left out, because the HAR is too large",
                summary.left_out
            );
        }
        Ok(Reply::text(text).and(Part::File {
            title: "HAR".to_owned(),
            link: summary.file.link,
        }))
    }
}

fn state_error(reason: &'static str) -> Error {
    Error::Arguments {
        reason: reason.into(),
        parameters: &[],
        missing: &[],
        bare: true,
    }
}
