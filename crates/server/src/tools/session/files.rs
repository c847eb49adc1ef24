//! Setting the files of file inputs.

use crate::access::principal::Permission;
use crate::calls::Call;
use crate::config::Risk;
use crate::error::{Error, Problem, Result};
use crate::tools::scope::FreeTab;
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::InputFile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<UploadFile>()];

/// Set the files of a file input; an empty list clears it.
#[derive(Deserialize, JsonSchema)]
pub(super) struct UploadFile {
    /// The input, or its label.
    selector: String,
    /// Paths in the workspace, or contents.
    #[schemars(schema_with = "paths_or_contents")]
    files: Vec<Upload>,
}

/// A file.
#[derive(Deserialize)]
#[serde(untagged)]
enum Upload {
    Path(String),
    #[serde(rename_all = "camelCase")]
    Inline {
        name: String,
        mime_type: Option<String>,
        base64: String,
    },
}

fn paths_or_contents(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "array",
        "items": { "anyOf": [
            { "type": "string" },
            {
                "type": "object",
                "properties": {
                    "name": { "type": "string" },
                    "mimeType": { "type": "string" },
                    "base64": { "type": "string" },
                },
                "required": ["name", "base64"],
            },
        ] },
    })
}

/// The files of the input after the call.
#[derive(Serialize, JsonSchema)]
pub(super) struct Uploaded {
    /// The names of the files.
    files: Vec<String>,
}

impl Tool for UploadFile {
    const NAME: &'static str = "upload_file";
    const TITLE: &'static str = "Upload file";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const RISK: Option<Risk> = Some(Risk::Upload);
    type Scope = FreeTab;
    type Output = Object<Uploaded>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Uploaded>> {
        let access = tab.files(call).await;
        let (mut files, mut names) = (Vec::new(), Vec::new());
        for (index, upload) in self.files.into_iter().enumerate() {
            files.push(match upload {
                Upload::Path(path) => {
                    let path = access.upload(&path, call.tool.name).await?;
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    names.push(name.into_owned());
                    InputFile::Path(path)
                }
                Upload::Inline {
                    name,
                    mime_type,
                    base64,
                } => {
                    let bytes = BASE64_STANDARD.decode(base64.trim());
                    let bytes = bytes.map_err(|error| Error::InvalidArguments {
                        tool: call.tool.name,
                        problems: vec![Problem {
                            parameter: format!("files[{index}].base64"),
                            message: format!("Invalid base64: {error}"),
                            missing: false,
                        }],
                    })?;
                    names.push(name.clone());
                    InputFile::Inline {
                        name,
                        mime_type: mime_type
                            .unwrap_or_else(|| "application/octet-stream".to_owned()),
                        bytes,
                    }
                }
            });
        }
        let locator = tab.locator_with_wait(&self.selector)?;
        if tab.page.file_chooser().is_some() {
            // The file chooser that a click has opened is cancelled, because the files are set without it.
            let progress = call.action();
            tab.page.answer_file_chooser(&progress, None).await?;
        }
        tab.act(call, locator.set_input(&call.action(), &files))
            .await?;
        Ok(Uploaded { files: names }.into())
    }
}
