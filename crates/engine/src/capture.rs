//! Taking the snapshot of a page: each frame's document is asked, and the answers become one text.

use crate::backend::{FrameId, Handle};
use crate::error::{Error, Result};
use crate::locator::Locator;
use crate::memory;
use crate::page::Page;
use crate::progress::Progress;
use crate::snapshot::{Facts, FrameSnapshot, RenderOptions};
use futures_util::future::{BoxFuture, join_all};
use serde_json::json;
use std::time::Duration;

/// How long a frame below the main one may take; one that hangs is shown without its content.
const FRAME_LIMIT: Duration = Duration::from_secs(3);
/// How often a document may be replaced while it is being read.
const TRIES: u32 = 5;

/// How many characters a document's tree may have, roughly; what comes after is cut off. Frames share as many once more.
const ROOM: usize = 4_000_000;
/// The facts behind a text of so many bytes are worth giving back.
const LARGE: usize = 64 * 1024;
/// What a frame has of them at least.
const FRAME_ROOM: usize = 20_000;

/// What a snapshot shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct SnapshotOptions<'a> {
    /// Only this element and what is in it.
    pub target: Option<&'a Locator>,
    /// Levels to show; all if none.
    pub depth: Option<u32>,
    /// With the box of each element.
    pub boxes: bool,
}

impl Page {
    /// The page as aria YAML with refs, without a line break at the end. Its refs are valid until the next one is taken.
    pub async fn snapshot(
        &self,
        progress: &Progress,
        options: &SnapshotOptions<'_>,
    ) -> Result<String> {
        let render = RenderOptions {
            depth: options.depth,
        };
        progress.log("reading the page, which is busy or very large");
        progress
            .run(async {
                let root = match options.target {
                    Some(target) => {
                        let element = target.find().await?;
                        self.document(element.frame, Some(element.handle), options.boxes, ROOM)
                            .await?
                    }
                    None => self.main_document(options.boxes).await?,
                };
                let text = root.render(&render);
                drop(root);
                if text.len() > LARGE {
                    memory::give_back();
                }
                Ok(text)
            })
            .await
    }

    /// A document that is replaced under our hands is read again.
    async fn main_document(&self, boxes: bool) -> Result<FrameSnapshot> {
        let mut tries = 1;
        loop {
            self.backend.prepare_frames();
            match self.document(self.main_frame(), None, boxes, ROOM).await {
                Err(Error::DocumentGone {}) if tries < TRIES => tries += 1,
                done => return done,
            }
        }
    }

    /// A document and all frames in it, those side by side at the same time.
    fn document(
        &self,
        frame: FrameId,
        root: Option<Handle>,
        boxes: bool,
        room: usize,
    ) -> BoxFuture<'_, Result<FrameSnapshot>> {
        Box::pin(async move {
            let mut question = json!({ "boxes": boxes, "room": room, "frameRoom": FRAME_ROOM });
            if let Some(root) = root {
                question["root"] = root.into();
            }
            let facts: Option<Facts> = self.call(&frame, "snapshot", &question).await?;
            let facts = facts.ok_or(Error::DocumentGone {})?;
            self.with_frames(frame, facts, boxes, room).await
        })
    }

    /// The facts of a document, and all frames in it.
    fn with_frames(
        &self,
        frame: FrameId,
        facts: Facts,
        boxes: bool,
        room: usize,
    ) -> BoxFuture<'_, Result<FrameSnapshot>> {
        Box::pin(async move {
            let prefix = self.prefix_of(&frame);
            let mut document = FrameSnapshot::new(prefix, facts);
            let owners: Vec<_> = {
                let state = self.state();
                let known =
                    |id: &str| Some(FrameId::from(id)).filter(|id| state.frames.get(id).is_some());
                document
                    .frame_elements()
                    .map(|owner| {
                        let frame = owner.frame.as_deref().and_then(known);
                        (owner.handle, frame.map(|frame| (frame, owner.content)))
                    })
                    .collect()
            };
            if owners.is_empty() {
                return Ok(document);
            }
            // The browser is asked for those only that could not say themselves.
            let unknown = owners.iter().filter(|(_, frame)| frame.is_none());
            let unknown: Vec<Handle> = unknown.map(|(owner, _)| *owner).collect();
            let mut asked = match unknown.as_slice() {
                [] => Vec::new(),
                unknown => self.backend.content_frames(&frame, unknown).await?,
            }
            .into_iter();
            let room = (room / owners.len()).max(FRAME_ROOM);
            let below = owners.into_iter().filter_map(|(owner, known)| {
                let (frame, facts) = match known {
                    Some(known) => known,
                    None => (asked.next().flatten()?, None),
                };
                let content = match facts {
                    Some(facts) => self.with_frames(frame, facts, boxes, room),
                    None => self.document(frame, None, boxes, room),
                };
                Some(async move { (owner, tokio::time::timeout(FRAME_LIMIT, content).await) })
            });
            for (owner, content) in join_all(below).await {
                // A frame that goes, or hangs, is shown as empty as it is to us.
                if let Ok(Ok(content)) = content {
                    document.graft(owner, content);
                }
            }
            Ok(document)
        })
    }
}
