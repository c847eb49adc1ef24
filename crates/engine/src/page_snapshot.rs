//! Taking the snapshot of a page: the documents of all frames are read and combined into one text.

use crate::backend::{FrameId, Handle};
use crate::error::{Error, Result};
use crate::locator::Locator;
use crate::memory;
use crate::page::Page;
use crate::progress::Progress;
use crate::snapshot::{Facts, FrameSnapshot, Layout, RenderOptions};
use futures_util::future::{BoxFuture, join_all};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use task::compute;

/// How long a child frame may take; the content of an unresponsive one is omitted.
const FRAME_TIMEOUT: Duration = Duration::from_secs(3);
/// How many times a document may be replaced while it is read.
const MAX_ATTEMPTS: u32 = 5;

/// The approximate largest size of a document's tree, in characters; the rest is omitted. Child frames share the same size again.
const MAX_SNAPSHOT_SIZE: usize = 4_000_000;
/// The largest size of a tree that is searched.
const MAX_SEARCHED_SIZE: usize = 16_000_000;
/// The size of facts above which they are formatted and dropped on another thread, in bytes.
const LARGE: usize = 64 * 1024;
/// The smallest part of the size for a frame.
const MIN_FRAME_SIZE: usize = 20_000;

/// The options of a snapshot.
#[derive(Debug, Clone, Copy, Default)]
pub struct SnapshotOptions<'a> {
    /// The root element; default: the document.
    pub target: Option<&'a Locator>,
    /// How the snapshot is written.
    pub layout: Layout,
    /// The number of levels; default: all.
    pub depth: Option<u32>,
    /// Whether to include bounding boxes.
    pub boxes: bool,
    /// Whether the snapshot is for a search, which permits a larger size.
    pub searched: bool,
}

/// The snapshot of a page.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The tree with refs in the requested layout, without a final line break.
    pub text: String,
    /// The document's title, if the complete document was read.
    pub title: Option<String>,
}

/// The facts of the main document.
#[derive(Deserialize)]
struct TitledDocument {
    title: String,
    tree: Option<Facts>,
}

impl Page {
    /// Takes a snapshot of the page.
    pub async fn snapshot(
        &self,
        progress: &Progress,
        options: &SnapshotOptions<'_>,
    ) -> Result<Snapshot> {
        let render = RenderOptions {
            layout: options.layout,
            depth: options.depth,
        };
        let room = if options.searched {
            MAX_SEARCHED_SIZE
        } else {
            MAX_SNAPSHOT_SIZE
        };
        progress.log("reading the page, which is busy or very large");
        progress
            .run(async {
                let (root, title) = match options.target {
                    Some(target) => {
                        let element = target.find().await?;
                        let root = Some(element.handle);
                        let part = self.document(element.frame, root, options.boxes, room);
                        (part.await?, None)
                    }
                    None => {
                        let (root, title) = self.main_document(options.boxes, room).await?;
                        (root, Some(title))
                    }
                };
                let text = match root.size() > LARGE {
                    true => {
                        compute(move || {
                            let text = root.render(&render);
                            drop(root);
                            memory::release_free_memory();
                            text
                        })
                        .await
                    }
                    false => root.render(&render),
                };
                Ok(Snapshot { text, title })
            })
            .await
    }

    /// Reads the main document with all frames, and its title. A document that is replaced meanwhile is read again.
    async fn main_document(&self, boxes: bool, room: usize) -> Result<(FrameSnapshot, String)> {
        let mut tries = 1;
        loop {
            self.backend.prepare_frames();
            match self.titled_document(boxes, room).await {
                Err(Error::DocumentGone {}) if tries < MAX_ATTEMPTS => tries += 1,
                done => return done,
            }
        }
    }

    async fn titled_document(&self, boxes: bool, room: usize) -> Result<(FrameSnapshot, String)> {
        let main = self.main_frame();
        let question = self.snapshot_arguments(None, boxes, room);
        let TitledDocument { title, tree } = self.call(&main, "titled", &question).await?;
        let tree = tree.ok_or(Error::DocumentGone {})?;
        let whole = self.with_frames(main, tree, true, boxes, room).await?;
        Ok((whole, title))
    }

    /// Reads a document and its frames, the latter concurrently.
    fn document(
        &self,
        frame: FrameId,
        root: Option<Handle>,
        boxes: bool,
        room: usize,
    ) -> BoxFuture<'_, Result<FrameSnapshot>> {
        Box::pin(async move {
            let question = self.snapshot_arguments(root, boxes, room);
            let facts: Option<Facts> = self.call(&frame, "snapshot", &question).await?;
            let facts = facts.ok_or(Error::DocumentGone {})?;
            self.with_frames(frame, facts, root.is_none(), boxes, room)
                .await
        })
    }

    /// Reads a document's frames. `is_whole` is false if the facts are those of a part of the document.
    fn with_frames(
        &self,
        frame: FrameId,
        facts: Facts,
        is_whole: bool,
        boxes: bool,
        room: usize,
    ) -> BoxFuture<'_, Result<FrameSnapshot>> {
        Box::pin(async move {
            let prefix = self.prefix_of(&frame);
            let mut document = FrameSnapshot::new(prefix, facts);
            let refs = document.descriptions();
            let owners: Vec<_> = {
                let mut state = self.state();
                state.frames.describe_refs(&frame, refs, is_whole);
                if let Some(frame) = state.frames.get(&frame) {
                    document = document.with_url(&frame.url);
                }
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
            // The browser is queried only for frames that did not identify themselves.
            let unknown = owners.iter().filter(|(_, frame)| frame.is_none());
            let unknown: Vec<Handle> = unknown.map(|(owner, _)| *owner).collect();
            let mut asked = match unknown.as_slice() {
                [] => Vec::new(),
                unknown => self.backend.content_frames(&frame, unknown).await?,
            }
            .into_iter();
            let room = (room / owners.len()).max(MIN_FRAME_SIZE);
            let below = owners.into_iter().filter_map(|(owner, known)| {
                let (frame, facts) = match known {
                    Some(known) => known,
                    None => (asked.next().flatten()?, None),
                };
                let content = match facts {
                    Some(facts) => self.with_frames(frame, facts, true, boxes, room),
                    None => self.document(frame, None, boxes, room),
                };
                Some(async move { (owner, tokio::time::timeout(FRAME_TIMEOUT, content).await) })
            });
            for (owner, content) in join_all(below).await {
                // A removed or unresponsive frame is shown as empty.
                if let Ok(Ok(content)) = content {
                    document.insert_frame(owner, content);
                }
            }
            Ok(document)
        })
    }

    /// Returns the arguments of the page function: the document, or the subtree of `root`.
    fn snapshot_arguments(&self, root: Option<Handle>, boxes: bool, room: usize) -> Value {
        let mut question = json!({ "boxes": boxes, "room": room, "frameRoom": MIN_FRAME_SIZE });
        if let Some(root) = root {
            question["root"] = root.into();
        }
        question
    }
}
