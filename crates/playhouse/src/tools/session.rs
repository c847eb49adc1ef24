//! The `session` toolset: sessions that clients create, and plain tools on their pages that answer with objects.

mod elements;
mod evaluate;
mod forms;
mod keyboard;
mod lifecycle;
mod navigation;
mod pointer;
mod reading;

use crate::call::Call;
use crate::error::Error;
use crate::tool::Toolset;
use schemars::JsonSchema;
use serde::Serialize;

pub(super) const TOOLSET: Toolset = Toolset::new(
    "session",
    "Work in isolated sessions, and read pages as data: each tool answers with one JSON object.",
    &[
        lifecycle::TOOLS,
        navigation::TOOLS,
        pointer::TOOLS,
        keyboard::TOOLS,
        forms::TOOLS,
        reading::TOOLS,
        evaluate::TOOLS,
        elements::TOOLS,
    ],
);

/// What was done.
#[derive(Debug, Serialize, JsonSchema)]
struct Done {
    message: String,
}

impl Done {
    fn saying(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}

/// A page answered what its own script cannot have answered.
fn unexpected(call: &Call) -> impl FnOnce(serde_json::Error) -> Error {
    let tool = call.tool;
    move |error| Error::Internal {
        tool,
        reason: error.to_string(),
    }
}
