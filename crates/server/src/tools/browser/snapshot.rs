//! The page snapshot.

use crate::access::principal::Permission;
use crate::answers::reply::{Reply, SnapshotRequest};
use crate::calls::Call;
use crate::config::AnswerSettings;
use crate::error::Result;
use crate::sessions::session::changes::Comparison;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::{LineRange, SnapshotOptions};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Snapshot>()];

/// Show the page as an accessibility tree with refs.
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
    /// Only changes since then.
    #[schemars(extend("x-addition" = true))]
    since: Option<Since>,
}

/// With which snapshot the page is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Since {
    Last,
}

impl Tool for Snapshot {
    const NAME: &'static str = "browser_snapshot";
    const TITLE: &'static str = "Page snapshot";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const HAS_LARGE_ANSWERS: bool = true;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let range = self.target.as_deref().and_then(LineRange::parse);
        let target = match &self.target {
            Some(target) if range.is_none() => Some(tab.attached(call, target).await?),
            _ => None,
        };
        let has_boxes = call.settings.answers.snapshot_boxes;
        let is_whole = self.target.is_none()
            && self.depth.and_then(levels).is_none()
            && self.boxes.is_none_or(|boxes| boxes == has_boxes);
        let options = SnapshotOptions {
            target: target.as_ref(),
            range: range.as_ref(),
            max_tokens: self
                .filename
                .is_none()
                .then(|| call.max_snapshot_tokens(&tab.page.url())),
            layout: call.settings.answers.layout(),
            depth: self.depth.and_then(levels),
            boxes: self.boxes.unwrap_or(has_boxes),
            searched: false,
            transients: self.target.is_none(),
            incremental: false,
        };
        let mut result = tab.tab.snapshot(call, &options).await?;
        if is_whole {
            let most = match self.filename {
                Some(_) => AnswerSettings::MAX_TOKENS,
                None => call.max_snapshot_tokens(&tab.page.url()),
            };
            let compared = tab.tab.compare(call, &result, most).await;
            match (self.since, compared) {
                (Some(Since::Last), Comparison::Lines(lines)) if self.filename.is_some() => {
                    result.text = lines.join("\n");
                }
                (Some(Since::Last), Comparison::Lines(lines)) => {
                    return Ok(Reply {
                        title: result.title,
                        changes: Some(lines),
                        ..Reply::default()
                    });
                }
                _ => {}
            }
        }
        let gone =
            Some(result.gone()).filter(|gone| call.settings.answers.changes && !gone.is_empty());
        let snapshot = match &self.filename {
            Some(name) => {
                let files = tab.files(call).await;
                let file = files.writable(name)?;
                files.write(&file, result.text).await?;
                SnapshotRequest::File(file.link)
            }
            None => match result.outline {
                Some(outline) => SnapshotRequest::Outline {
                    outline,
                    whole: result.text,
                },
                None => SnapshotRequest::Inline(result.text),
            },
        };
        Ok(Reply {
            snapshot,
            title: result.title,
            changes: gone,
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
