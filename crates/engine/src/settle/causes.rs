//! What the input of an action caused and has not run yet. The script in the page's world records it (`injected/src/timers.entry.ts`).

use super::{ANSWER_TIMEOUT, Watch, milliseconds};
use crate::backend::{FrameId, Handle};
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

/// What input caused in a document.
#[derive(Debug, Deserialize)]
pub(super) struct Causes {
    /// Whether some of it has not run yet.
    pending: bool,
    /// The frames with the focus or the pointer whose documents were not examined.
    within: Vec<Handle>,
}

impl Watch {
    /// Returns the frames in whose documents input caused something that has not run yet.
    pub(super) async fn pending_frames(&self, limit: Duration) -> Vec<FrameId> {
        let mut found = Vec::new();
        if limit.is_zero() {
            return found;
        }
        let mut next = vec![self.page.main_frame()];
        while let Some(frame) = next.pop() {
            let Some(causes) = self.pending_in(&frame, limit, false).await else {
                continue;
            };
            if !causes.within.is_empty() {
                let inner = self
                    .page
                    .backend
                    .content_frames(&frame, &causes.within)
                    .await;
                next.extend(inner.unwrap_or_default().into_iter().flatten());
            }
            if causes.pending {
                found.push(frame);
            }
        }
        found
    }

    /// Returns what input caused in a document that has not run yet; `None` if it does not respond.
    pub(super) async fn pending_in(
        &self,
        frame: &FrameId,
        limit: Duration,
        holds: bool,
    ) -> Option<Causes> {
        if limit.is_zero() {
            return None;
        }
        let argument = json!({ "limit": milliseconds(limit), "holds": holds });
        let call = self.page.call(frame, "pending", &argument);
        tokio::time::timeout(ANSWER_TIMEOUT, call).await.ok()?.ok()
    }
}
