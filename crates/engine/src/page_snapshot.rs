//! Taking the snapshot of a page: the documents of all frames are read and combined into one text.

use crate::backend::{FrameId, Handle};
use crate::error::{Error, Result};
use crate::locator::Locator;
use crate::memory;
use crate::page::Page;
use crate::progress::Progress;
use crate::snapshot::{
    Candidate, Facts, FrameSnapshot, Layout, LineRange, Lines, Observed, RenderOptions, Rendered,
    Restyled, Side, Transient, Wanted, changes, nearest,
};
use futures_util::future::{BoxFuture, join_all};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use task::compute;

/// How long a child frame may take; the content of an unresponsive one is omitted.
const FRAME_TIMEOUT: Duration = Duration::from_secs(3);
/// How long documents may take to report their event listeners.
const LISTENERS_TIMEOUT: Duration = Duration::from_secs(1);
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

/// The height of the viewport where it is that of the window, in CSS pixels.
const DEFAULT_HEIGHT: u32 = 720;

/// The options of a snapshot.
#[derive(Debug, Clone, Copy, Default)]
pub struct SnapshotOptions<'a> {
    /// The root element; default: the document.
    pub target: Option<&'a Locator>,
    /// The only lines of the snapshot of the document; default: all.
    pub range: Option<&'a LineRange>,
    /// How the snapshot is written.
    pub layout: Layout,
    /// The number of levels; default: all.
    pub depth: Option<u32>,
    /// Whether to include bounding boxes.
    pub boxes: bool,
    /// Whether the snapshot is for a search, which permits a larger size.
    pub searched: bool,
    /// The size above which there is an outline, in tokens; default: no limit.
    pub max_tokens: Option<usize>,
    /// Whether to report the texts that were shown since the last snapshot with this option and are gone.
    pub transients: bool,
    /// Whether the page reads only what has changed since the last snapshot of the document, as far as it can tell.
    pub incremental: bool,
}

/// The snapshot of a page.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The tree with refs in the requested layout, without a final line break.
    pub text: String,
    /// What each line of the text shows.
    pub lines: Lines,
    /// The outline, if the text is larger than permitted: lines of the text, and folds, which stand for the others. A fold ends in
    /// `[ref=e5]` or `[ref=e5..e9]`, the target of a snapshot of what is folded.
    pub outline: Option<String>,
    /// The document's title, if the complete document was read.
    pub title: Option<String>,
    /// Whether the document indicates that a part of it is loading.
    pub is_busy: bool,
    layout: Layout,
    observed: Observed,
}

impl Snapshot {
    /// Returns the lines of the texts that were shown since the last snapshot and are gone.
    #[must_use]
    pub fn gone(&self) -> Vec<String> {
        self.observed
            .transients
            .iter()
            .map(Transient::line)
            .collect()
    }

    /// Returns the size in memory, in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.text.len() + self.lines.size()
    }

    /// Returns what changed since an earlier snapshot of the same document in the same layout: lines with `+` (appeared), `-` (disappeared) or
    /// `~` (changed). With a limit, the most useful ones have at most `max_tokens` together.
    #[must_use]
    pub fn changes_since(&self, before: &Self, max_tokens: Option<usize>) -> Vec<String> {
        changes(
            before.side(),
            self.side(),
            &self.observed,
            self.layout,
            max_tokens,
        )
    }

    fn side(&self) -> Side<'_> {
        Side {
            text: &self.text,
            lines: &self.lines,
        }
    }
}

/// What is read of documents.
#[derive(Debug, Clone, Copy)]
struct Extent {
    /// Whether to include bounding boxes.
    boxes: bool,
    /// Whether to include those of the elements in the viewport, which an outline prefers.
    view: bool,
    /// Whether to include everything that a person can act on, also where `@playwright/mcp` does not show it.
    complete: bool,
    /// The approximate largest size of a tree, in characters.
    room: usize,
}

/// The facts of the main document.
#[derive(Deserialize)]
struct TitledDocument {
    title: String,
    tree: Option<Facts>,
    /// The elements that may be hosts of closed shadow roots.
    hosts: Option<Vec<Handle>>,
    transients: Option<Vec<Transient>>,
    restyled: Option<Vec<Restyled>>,
    busy: bool,
    pending: bool,
}

/// What is read without a snapshot.
#[derive(Debug, Clone)]
pub struct Overview {
    /// The document's title.
    pub title: String,
    /// The lines of the texts that were shown since the last snapshot and are gone, as in a list of changes.
    pub gone: Vec<String>,
}

#[derive(Deserialize)]
struct ReadOverview {
    title: String,
    transients: Vec<Transient>,
    pending: bool,
}

/// What is read of the document or of the root element.
struct Reading {
    root: FrameSnapshot,
    title: Option<String>,
    observed: Observed,
    is_busy: bool,
}

impl Page {
    /// Reads what an answer without a snapshot shows; with `transients`, also the texts that are gone. With `causes`, returns `None` if
    /// something that input caused runs within that time.
    pub async fn overview(
        &self,
        progress: &Progress,
        transients: bool,
        causes: Option<Duration>,
    ) -> Result<Option<Overview>> {
        let main = self.main_frame();
        let question = json!({ "transients": transients, "causes": causes.map(milliseconds) });
        let read: ReadOverview = progress
            .run(self.call(&main, "overview", &question))
            .await?;
        Ok((!read.pending).then(|| Overview {
            title: read.title,
            gone: read.transients.iter().map(Transient::line).collect(),
        }))
    }

    /// Takes a snapshot of the page.
    pub async fn snapshot(
        &self,
        progress: &Progress,
        options: &SnapshotOptions<'_>,
    ) -> Result<Snapshot> {
        let taken = self.snapshot_if_quiet(progress, options, None).await?;
        taken.ok_or(Error::DocumentGone {})
    }

    /// Takes a snapshot of the page; with `causes` none if something that input caused runs within that time.
    pub async fn snapshot_if_quiet(
        &self,
        progress: &Progress,
        options: &SnapshotOptions<'_>,
        causes: Option<Duration>,
    ) -> Result<Option<Snapshot>> {
        let prefix = self.state().ref_prefix.clone();
        let render = Render {
            layout: options.layout,
            depth: options.depth,
            range: options.range.map(|range| (range.clone(), prefix)),
            max_tokens: options.max_tokens,
        };
        let layout = options.layout;
        progress.log("reading the page, which is busy or very large (a target reads a part of it)");
        progress
            .run(async {
                for reference in options.range.iter().flat_map(|range| range.references()) {
                    self.locator(reference)?.find().await?;
                }
                let height = self.viewport().map_or(DEFAULT_HEIGHT, |it| it.size.height);
                let visible = 0.0..f64::from(height);
                let read = self.read(options, causes).await?;
                let Some(mut read) = read else {
                    return Ok(None);
                };
                read.root.mark_in_view(visible, options.boxes);
                let (rendered, outline) = render.tree(read.root).await?;
                Ok(Some(Snapshot {
                    text: rendered.text,
                    lines: rendered.lines,
                    outline,
                    title: read.title,
                    is_busy: read.is_busy,
                    layout,
                    observed: read.observed,
                }))
            })
            .await
    }

    /// Returns the lines of a snapshot that are nearest to what a selector describes, nearest first. Returns none for a ref.
    pub async fn nearest(
        &self,
        progress: &Progress,
        target: &str,
        layout: Layout,
    ) -> Result<Vec<String>> {
        let wanted = self.locator(target)?.wanted();
        if wanted == Wanted::default() {
            return Ok(Vec::new());
        }
        let options = SnapshotOptions {
            layout,
            ..SnapshotOptions::default()
        };
        let snapshot = self.snapshot(progress, &options).await?;
        Ok(compute(move || nearest(&snapshot.text, &snapshot.lines, &wanted)).await)
    }

    /// Returns the elements that may be visible and that a person can act on, and those of frames.
    pub(crate) async fn candidates(&self) -> Result<Vec<Candidate>> {
        let options = SnapshotOptions {
            layout: Layout::Compact,
            ..SnapshotOptions::default()
        };
        let read = self.read(&options, None).await?;
        let root = read.ok_or(Error::DocumentGone {})?.root;
        let is_large = root.size() > LARGE;
        Ok(task::compute_if_large(is_large, move || root.candidates()).await)
    }

    /// Reads the tree of the document or of the root element; if all of the document is read, its title too, and with
    /// [`SnapshotOptions::transients`] the texts that are gone.
    async fn read(
        &self,
        options: &SnapshotOptions<'_>,
        causes: Option<Duration>,
    ) -> Result<Option<Reading>> {
        let extent = Extent {
            boxes: options.boxes,
            view: options.max_tokens.is_some(),
            complete: options.layout == Layout::Compact,
            room: match options.searched {
                true => MAX_SEARCHED_SIZE,
                false => MAX_SNAPSHOT_SIZE,
            },
        };
        let Some(target) = options.target else {
            let mut question = snapshot_arguments(None, extent);
            question["transients"] = options.transients.into();
            question["incremental"] = options.incremental.into();
            question["causes"] = causes.map(milliseconds).into();
            return self.main_document(&question, extent).await;
        };
        let element = target.find().await?;
        if extent.complete {
            self.update_listeners().await;
        }
        let part = self.document(element.frame, Some(element.handle), extent);
        Ok(Some(Reading {
            root: part.await?,
            title: None,
            observed: Observed::default(),
            is_busy: false,
        }))
    }

    /// Reads the main document with all frames, its title, and with `transients` the texts that are gone. A document that is replaced
    /// meanwhile is read again.
    async fn main_document(&self, question: &Value, extent: Extent) -> Result<Option<Reading>> {
        let mut tries = 1;
        loop {
            self.backend.prepare_frames();
            if extent.complete {
                self.update_listeners().await;
            }
            match self.titled_document(question, extent).await {
                Err(Error::DocumentGone {}) if tries < MAX_ATTEMPTS => tries += 1,
                done => return done,
            }
        }
    }

    /// Reports the event listeners of all documents to their injected scripts. A snapshot without them is less complete.
    async fn update_listeners(&self) {
        let frames: Vec<_> = self.state().frames.facts();
        let frames: Vec<_> = frames.into_iter().map(|frame| frame.id).collect();
        let update = self.backend.update_listeners(&frames);
        drop(tokio::time::timeout(LISTENERS_TIMEOUT, update).await);
    }

    async fn titled_document(&self, question: &Value, extent: Extent) -> Result<Option<Reading>> {
        let main = self.main_frame();
        let mut read: TitledDocument = self.call(&main, "titled", question).await?;
        if let Some(hosts) = &read.hosts
            && self.backend.find_closed_roots(&main, hosts).await?
        {
            let facts: Option<Facts> = self.call(&main, "snapshot", question).await?;
            read.tree = facts;
        }
        let TitledDocument {
            title,
            tree,
            transients,
            restyled,
            busy,
            pending,
            ..
        } = read;
        if pending {
            return Ok(None);
        }
        let tree = tree.ok_or(Error::DocumentGone {})?;
        let observed = Observed {
            transients: transients.unwrap_or_default(),
            restyled: restyled.unwrap_or_default(),
            prefix: self.prefix_of(&main),
        };
        let root = self.with_frames(main, tree, true, extent).await?;
        Ok(Some(Reading {
            root,
            title: Some(title),
            observed,
            is_busy: busy,
        }))
    }

    /// Reads a document and its frames, the latter concurrently.
    fn document(
        &self,
        frame: FrameId,
        root: Option<Handle>,
        extent: Extent,
    ) -> BoxFuture<'_, Result<FrameSnapshot>> {
        Box::pin(async move {
            let question = snapshot_arguments(root, extent);
            let facts: Option<Facts> = self.call(&frame, "snapshot", &question).await?;
            let facts = facts.ok_or(Error::DocumentGone {})?;
            self.with_frames(frame, facts, root.is_none(), extent).await
        })
    }

    /// Reads a document's frames. `is_whole` is false if the facts are those of a part of the document.
    fn with_frames(
        &self,
        frame: FrameId,
        facts: Facts,
        is_whole: bool,
        extent: Extent,
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
            let room = (extent.room / owners.len()).max(MIN_FRAME_SIZE);
            let extent = Extent { room, ..extent };
            let below = owners.into_iter().filter_map(|(owner, known)| {
                let (frame, facts) = match known {
                    Some(known) => known,
                    None => (asked.next().flatten()?, None),
                };
                let content = match facts {
                    Some(facts) => self.with_frames(frame, facts, true, extent),
                    None => self.document(frame, None, extent),
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
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the arguments of the page function: the document, or the subtree of `root`.
fn snapshot_arguments(root: Option<Handle>, extent: Extent) -> Value {
    let mut question = json!({
        "boxes": extent.boxes,
        "view": extent.view,
        "complete": extent.complete,
        "room": extent.room,
        "frameRoom": MIN_FRAME_SIZE,
    });
    if let Some(root) = root {
        question["root"] = root.into();
    }
    question
}

/// How a tree is rendered.
struct Render {
    layout: Layout,
    depth: Option<u32>,
    /// The only lines, and the part of all refs that targets are without.
    range: Option<(LineRange, Arc<str>)>,
    max_tokens: Option<usize>,
}

impl Render {
    /// Renders and drops a tree, on another thread if it is large. Returns the outline too if the text is larger than permitted.
    async fn tree(self, root: FrameSnapshot) -> Result<(Rendered, Option<String>)> {
        match root.size() > LARGE {
            true => {
                compute(move || {
                    let rendered = self.render(&root);
                    drop(root);
                    memory::release_free_memory();
                    rendered
                })
                .await
            }
            false => self.render(&root),
        }
    }

    fn render(&self, root: &FrameSnapshot) -> Result<(Rendered, Option<String>)> {
        let layout = self.layout;
        let to_depth = |depth| root.render(&RenderOptions { layout, depth });
        let surplus = |shown: &Rendered| self.max_tokens.filter(|most| shown.is_larger_than(*most));
        if let Some((range, prefix)) = &self.range {
            let whole = to_depth(None);
            let part = whole.find(range, prefix, self.depth);
            let part = part.ok_or_else(|| Error::InvalidSelector {
                selector: range.to_string(),
                reason: format!(
                    "{range} is not a range of lines of the current page snapshot. Use the target of a fold (…), or take a new snapshot without a target."
                ),
            })?;
            let shown = whole.part(&part, layout);
            let outline = surplus(&shown).map(|most| whole.outline(&part, layout, most));
            return Ok((shown, outline));
        }
        let shown = to_depth(self.depth);
        let outline = surplus(&shown).map(|most| {
            // The targets of folds count all lines.
            let whole = self.depth.map(|_| to_depth(None));
            let whole = whole.as_ref().unwrap_or(&shown);
            whole.outline(&whole.all(self.depth), layout, most)
        });
        Ok((shown, outline))
    }
}
