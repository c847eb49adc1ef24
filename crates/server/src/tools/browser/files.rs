//! Uploading files to the page.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Risk;
use crate::error::{Error, Result};
use crate::tools::scope::{CurrentTab, FileChooserTab, TabInAnyState};
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::Payload;
use engine::codegen::javascript;
use engine::codegen::{Argument, Receiver, Statement};
use schemars::JsonSchema;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<FileUpload>(), ToolDef::of::<Drop>()];

/// Upload files to the open file chooser.
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
    const PERMISSION: Permission = Permission::Act;
    const RISK: Option<Risk> = Some(Risk::Upload);
    type Scope = FileChooserTab;
    type Output = Reply;

    async fn run(self, tab: FileChooserTab, call: &Call) -> Result<Reply> {
        let paths = match &self.paths {
            Some(paths) => Some(upload_paths(&tab, call, paths).await?),
            None => None,
        };
        let shown = match &paths {
            Some(paths) => serde_json::to_string(paths).unwrap_or_default(),
            None => "undefined".to_owned(),
        };
        let progress = call.action();
        tab.act(
            call,
            tab.page.answer_file_chooser(&progress, paths.as_deref()),
        )
        .await?;
        let shown_paths = paths
            .iter()
            .flatten()
            .map(|path| path.display().to_string());
        let statement = Statement::new(Receiver::FileChooser, "setFiles")
            .argument(Argument::Paths(shown_paths.collect()));
        let code = format!("await fileChooser.setFiles({shown})");
        Ok(Reply::statements(call.language(), code, [statement]).and_snapshot())
    }
}

/// Drop files or data onto an element, as from outside the page.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Drop {
    /// What the element is, for people.
    #[expect(dead_code, reason = "for users who follow the calls")]
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
    const PERMISSION: Permission = Permission::Act;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let data = self.data.unwrap_or_default();
        let paths = self.paths.unwrap_or_default();
        if paths.is_empty() && data.is_empty() {
            return Err(Error::Arguments {
                reason: "At least one of \"paths\" or \"data\" must be provided.".into(),
                parameters: &[],
                missing: &["paths", "data"],
                bare: false,
            });
        }
        let files = upload_paths(&tab, call, &paths).await?;
        let found = tab.find(call, &self.target).await?;
        let code = javascript::drop_onto(&found.shown, &paths, data.clone());
        let payload = Payload {
            files,
            data: data.into_iter().collect(),
        };
        let progress = call.action();
        tab.act(call, found.locator.drop(&progress, &payload))
            .await?;
        Ok(Reply::code(code).and_snapshot())
    }
}

/// Returns the paths of files. Fails if a file does not exist, or if the call must not read it.
async fn upload_paths(tab: &TabInAnyState, call: &Call, names: &[String]) -> Result<Vec<PathBuf>> {
    let files = tab.files(call).await;
    let mut paths = Vec::with_capacity(names.len());
    for name in names {
        paths.push(files.upload(name, call.tool.name).await?);
    }
    Ok(paths)
}
