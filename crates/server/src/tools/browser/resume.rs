//! Resuming client code that `page.pause()` has paused.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::{Capability, Risk};
use crate::error::{Error, Result};
use crate::tools::browser::run_code;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use script::Stops;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Resume>()];

/// Resume code that page.pause() paused.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Resume {
    /// Pause again before the next action.
    step: Option<bool>,
    /// Pause again at this FILE:LINE.
    location: Option<String>,
}

impl Tool for Resume {
    const NAME: &'static str = "browser_resume";
    const TITLE: &'static str = "Resume paused script execution";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Devtools);
    const RISK: Option<Risk> = Some(Risk::Evaluation);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let stops = self.stops()?;
        let Some(mut script) = tab.session.scripts().take_paused() else {
            return Err(Error::NotInProgress {
                reason: "Debugger is not paused",
            });
        };
        let watch = tab.page.watch(&call.action()).await;
        script.resume(stops);
        run_code::finish(&tab, call, script, watch).await
    }
}

impl Resume {
    /// Returns where the code pauses again. A location takes precedence, as in `@playwright/mcp`.
    fn stops(&self) -> Result<Stops> {
        let Some(location) = self.location.as_deref().filter(|text| !text.is_empty()) else {
            return Ok(Stops {
                step: self.step == Some(true),
                ..Stops::default()
            });
        };
        let (file, line) = match location.split_once(':') {
            Some((file, line)) => (file, Some(line)),
            None => (location, None),
        };
        let line = line.filter(|line| !line.is_empty()).map(str::parse);
        let line = line.transpose().map_err(|_| Error::Arguments {
            reason: format!(
                "Invalid location \"{location}\", expected format is <file>:<line>, e.g. \"example.spec.ts:42\""
            )
            .into(),
            parameters: &["location"],
            missing: &[],
            bare: false,
        })?;
        Ok(Stops {
            step: false,
            file: Some(file.to_owned()),
            line,
        })
    }
}
