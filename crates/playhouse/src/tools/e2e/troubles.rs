//! What went wrong in a session that tests an app.

use super::E2eSession;
use crate::call::Call;
use crate::error::Result;
use crate::session::app::Trouble;
use crate::tool::{Effect, ObjectTool, Outcome, ToolDef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::object::<E2eErrors>()];

/// List all errors of the session in order: of tools, the page, its console, requests, and the server.
#[derive(Deserialize, JsonSchema)]
pub(super) struct E2eErrors {
    /// Only so many, the last.
    limit: Option<usize>,
}

/// All that went wrong.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Troubles {
    errors: Vec<Trouble>,
    /// Earlier ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<usize>,
}

impl ObjectTool for E2eErrors {
    const NAME: &'static str = "e2e_errors";
    const TITLE: &'static str = "Errors of the session";
    const EFFECT: Effect = Effect::Reads;
    const WAITS: bool = false;
    type Scope = E2eSession;
    type Output = Troubles;

    async fn run(self, session: E2eSession, _: &Call) -> Result<Outcome<Troubles>> {
        let (mut errors, mut left_out) = session.app().troubles();
        let surplus = errors
            .len()
            .saturating_sub(self.limit.unwrap_or(usize::MAX));
        left_out += surplus;
        errors.drain(..surplus);
        Ok(Troubles {
            errors,
            left_out: (left_out > 0).then_some(left_out),
        }
        .into())
    }
}
