//! Accepting and dismissing dialogs.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::error::Result;
use crate::tools::scope::DialogTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::javascript;
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<HandleDialog>()];

/// Accept or dismiss the open dialog.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HandleDialog {
    /// Accept it?
    accept: bool,
    /// Text for a prompt.
    #[schemars(length(min = 0))]
    prompt_text: Option<String>,
}

impl Tool for HandleDialog {
    const NAME: &'static str = "browser_handle_dialog";
    const TITLE: &'static str = "Handle a dialog";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = DialogTab;
    type Output = Reply;

    async fn run(self, tab: DialogTab, call: &Call) -> Result<Reply> {
        let text = self.prompt_text.as_deref();
        let progress = call.action();
        let answer = tab.page.answer_dialog(&progress, self.accept, text);
        tab.act(call, answer).await?;
        let handler = match (self.accept, text) {
            (false, _) => "dismiss()".to_owned(),
            (true, None) => "accept()".to_owned(),
            (true, Some(text)) => format!("accept({})", javascript::string(text)),
        };
        let code = format!("page.once('dialog', (dialog) => dialog.{handler});");
        Ok(Reply::default().and_test_code(code).and_changes())
    }
}
