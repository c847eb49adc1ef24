//! Printing.

use crate::call::Call;
use crate::config::Capability;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<PdfSave>()];

/// Save the page as PDF.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PdfSave {
    /// File to write.
    filename: Option<String>,
}

impl Tool for PdfSave {
    const NAME: &'static str = "browser_pdf_save";
    const TITLE: &'static str = "Save as PDF";
    const EFFECT: Effect = Effect::Reads;
    const CAPABILITY: Option<Capability> = Some(Capability::Pdf);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
