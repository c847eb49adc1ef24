//! Storage states as files.

use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::config::Capability;
use crate::error::Result;
use crate::tools::scope::TabInAnyState;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::javascript::string as quote;
use engine::codegen::{Argument, Receiver, Statement};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<SaveStorageState>(),
    ToolDef::of::<SetStorageState>(),
];

/// Save cookies and local storage to a file.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SaveStorageState {
    /// File to write.
    filename: Option<String>,
}

impl Tool for SaveStorageState {
    const NAME: &'static str = "browser_storage_state";
    const TITLE: &'static str = "Save storage state";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = TabInAnyState;
    type Output = Reply;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Reply> {
        let state = tab.context()?.storage_state(&call.navigation()).await?;
        let files = tab.files(call).await;
        let file = files
            .file(self.filename.as_deref(), "storage-state", "json")
            .await?;
        let text = task::pretty(state).await;
        files.write_state(&file, text).await?;
        let code = format!(
            "await page.context().storageState({{ path: {} }});",
            quote(&file.link)
        );
        let path = Argument::Path(file.link.clone());
        let statement =
            Statement::new(Receiver::Context, "storageState").option("path", Some(path));
        let reply = Reply::statements(call.language(), code, [statement]);
        Ok(reply.and(Part::File {
            title: "Storage state".to_owned(),
            link: file.link,
        }))
    }
}

/// Replace cookies and local storage by those of a file.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetStorageState {
    /// File to read.
    filename: String,
}

impl Tool for SetStorageState {
    const NAME: &'static str = "browser_set_storage_state";
    const TITLE: &'static str = "Restore storage state";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = TabInAnyState;
    type Output = Reply;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Reply> {
        let name = &self.filename;
        let state = tab.files(call).await.storage_state(name).await?;
        tab.context()?.restore(&call.navigation(), &state).await?;
        let code = format!("await page.context().setStorageState({});", quote(name));
        let statement = Statement::new(Receiver::Context, "setStorageState")
            .argument(Argument::Path(name.clone()));
        let reply = Reply::text(format!("Storage state restored from {name}"));
        Ok(reply.and_statements(call.language(), code, [statement]))
    }
}
