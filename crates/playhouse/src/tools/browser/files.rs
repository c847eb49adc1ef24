//! Files that go into the page.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::{FileChooserTab, Tab};
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::collections::BTreeMap;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<FileUpload>(), ToolDef::of::<Drop>()];

/// Give files to the open file chooser.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileUpload {
    /// Absolute paths; without any the chooser is cancelled.
    paths: Option<Vec<String>>,
}

impl Tool for FileUpload {
    const NAME: &'static str = "browser_file_upload";
    const TITLE: &'static str = "Upload files";
    const EFFECT: Effect = Effect::Acts;
    type Scope = FileChooserTab;

    async fn run(self, _on: FileChooserTab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Drop files or data onto an element, as from outside the page.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Drop {
    /// What the element is, for people.
    element: Option<String>,
    /// Ref from the snapshot, or a selector that matches one element.
    target: String,
    /// Absolute paths of files.
    paths: Option<Vec<String>>,
    /// Data by MIME type.
    #[serde(default)]
    #[schemars(schema_with = "text_by_type")]
    data: Option<BTreeMap<String, String>>,
}

fn text_by_type(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "propertyNames": { "type": "string" },
        "additionalProperties": { "type": "string" },
    })
}

impl Tool for Drop {
    const NAME: &'static str = "browser_drop";
    const TITLE: &'static str = "Drop files or data onto an element";
    const EFFECT: Effect = Effect::Acts;
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
