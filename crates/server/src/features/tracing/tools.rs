//! The tools that start and stop a trace.

use super::Tracing;
use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::config::{AnswerStyle, Capability};
use crate::error::Result;
use crate::sessions::session::Session;
use crate::tools::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<StartTracing>(), ToolDef::of::<StopTracing>()];

/// Record a trace for `npx playwright show-trace`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StartTracing {}

impl Tool for StartTracing {
    const NAME: &'static str = "browser_start_tracing";
    const TITLE: &'static str = "Start tracing";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Devtools);
    type Scope = Arc<Session>;
    type Output = Reply;

    async fn run(self, session: Arc<Session>, call: &Call) -> Result<Reply> {
        let tracing = session.feature::<Tracing>();
        let links = tracing.start(&session, call).await?;
        let reply = Reply::text("Trace recording started");
        if call.settings.answers.style == AnswerStyle::Compact {
            return Ok(reply);
        }
        let reply = reply.and(file("Action log", links.trace));
        let reply = reply.and(file("Network log", links.network));
        Ok(reply.and(file("Resources", links.resources)))
    }
}

/// Stop the trace.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StopTracing {}

impl Tool for StopTracing {
    const NAME: &'static str = "browser_stop_tracing";
    const TITLE: &'static str = "Stop tracing";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Devtools);
    const EXTRA_TIME: Duration = Duration::from_secs(30);
    type Scope = Arc<Session>;
    type Output = Reply;

    async fn run(self, session: Arc<Session>, call: &Call) -> Result<Reply> {
        let links = session.feature::<Tracing>().stop().await?;
        let reply = Reply::text("Trace recording stopped.");
        if call.settings.answers.style == AnswerStyle::Compact {
            return Ok(reply.and(file("Trace", links.archive)));
        }
        let reply = reply.and(file("Trace", links.trace));
        let reply = reply.and(file("Network log", links.network));
        Ok(reply.and(file("Resources", links.resources)))
    }
}

fn file(title: &str, link: String) -> Part {
    Part::File {
        title: title.to_owned(),
        link,
    }
}
