//! The errors of a session that tests an app.

use super::E2eSession;
use crate::access::principal::Permission;
use crate::calls::Call;
use crate::error::Result;
use crate::sessions::session::app::SessionError;
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest size of the errors in one answer, in bytes.
const MAX_ANSWER_BYTES: usize = 24_000;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<E2eErrors>()];

/// List all errors of the session in order: of tools, the page, its console, requests, and the server.
#[derive(Deserialize, JsonSchema)]
pub(super) struct E2eErrors {
    /// Only so many, the last.
    limit: Option<usize>,
}

/// The errors of the session.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ErrorList {
    errors: Vec<SessionError>,
    /// The number of earlier errors that are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<usize>,
}

impl Tool for E2eErrors {
    const NAME: &'static str = "e2e_errors";
    const TITLE: &'static str = "Errors of the session";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const WAITS: bool = false;
    type Scope = E2eSession;
    type Output = Object<ErrorList>;

    async fn run(self, session: E2eSession, _: &Call) -> Result<Object<ErrorList>> {
        let (mut errors, mut left_out) = session.app().errors();
        session.app().take_unattributed();
        let mut room = MAX_ANSWER_BYTES;
        let sizes = errors.iter().rev().map(SessionError::size);
        let fitting = sizes.take_while(|size| {
            let fits = *size <= room;
            room = room.saturating_sub(*size);
            fits
        });
        let surplus = errors
            .len()
            .saturating_sub(self.limit.unwrap_or(usize::MAX).min(fitting.count()));
        left_out += surplus;
        errors.drain(..surplus);
        Ok(ErrorList {
            errors,
            left_out: (left_out > 0).then_some(left_out),
        }
        .into())
    }
}
