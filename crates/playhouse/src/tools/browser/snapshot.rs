//! The page snapshot.

use crate::access::principal::Permission;
use crate::answers::reply::{Reply, SnapshotRequest};
use crate::calls::Call;
use crate::error::Result;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::SnapshotOptions;
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Snapshot>()];

/// Show the page as an accessibility tree with refs to act on.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Snapshot {
    /// Ref from the snapshot, or a selector that matches one element.
    target: Option<String>,
    /// Save to this file instead.
    filename: Option<String>,
    /// Levels to show.
    depth: Option<f64>,
    /// Add [box=x,y,width,height].
    boxes: Option<bool>,
}

impl Tool for Snapshot {
    const NAME: &'static str = "browser_snapshot";
    const TITLE: &'static str = "Page snapshot";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let target = match &self.target {
            Some(target) => Some(tab.page.locator(target)?),
            None => None,
        };
        let options = SnapshotOptions {
            target: target.as_ref(),
            layout: call.settings.answers.layout(),
            depth: self.depth.and_then(levels),
            boxes: self.boxes.unwrap_or(call.settings.answers.snapshot_boxes),
            searched: false,
        };
        let result = tab.page.snapshot(&call.action(), &options).await?;
        let snapshot = match &self.filename {
            Some(name) => {
                let files = tab.files(call).await;
                let file = files.writable(name)?;
                files.write(&file, result.text).await?;
                SnapshotRequest::File(file.link)
            }
            None => SnapshotRequest::Inline(result.text),
        };
        Ok(Reply {
            snapshot,
            title: result.title,
            ..Reply::default()
        })
    }
}

/// Returns a number of levels. 0 means all of them, because some clients send 0 for parameters that they leave out.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and no tree is that deep"
)]
fn levels(depth: f64) -> Option<u32> {
    (depth >= 1.0).then_some(depth as u32)
}
