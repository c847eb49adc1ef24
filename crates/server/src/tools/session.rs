//! The `session` toolset: sessions that clients create, and tools on their pages with JSON answers.

mod batch;
mod compare;
mod content;
mod cookies;
mod elements;
mod evaluate;
mod extract;
mod files;
mod forms;
mod handover;
mod keyboard;
mod lifecycle;
mod login;
mod navigation;
mod network;
mod pages;
mod pointer;
mod reading;
mod requests;
mod screenshot;
mod state;

pub(crate) use elements::element;
pub(super) use lifecycle::{SessionGuard, storage_state};
pub(crate) use requests::network_log;

use crate::tools::tool::Toolset;
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) const TOOLSET: Toolset = Toolset::new(
    "session",
    "Work in isolated sessions, and read pages as data: each tool answers with one JSON object.",
    &[
        lifecycle::TOOLS,
        navigation::TOOLS,
        pages::TOOLS,
        pointer::TOOLS,
        keyboard::TOOLS,
        forms::TOOLS,
        files::TOOLS,
        handover::TOOLS,
        reading::TOOLS,
        content::TOOLS,
        screenshot::TOOLS,
        compare::TOOLS,
        extract::TOOLS,
        evaluate::TOOLS,
        cookies::TOOLS,
        state::TOOLS,
        network::TOOLS,
        requests::TOOLS,
        elements::TOOLS,
        batch::TOOLS,
    ],
);

/// An answer without other data than a message.
#[derive(Debug, Serialize, JsonSchema)]
struct Done {
    message: String,
}

impl Done {
    fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}
