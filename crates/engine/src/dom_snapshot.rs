//! DOM snapshots: the documents of all frames in the format of Playwright's traces, from which its viewer renders them.

use crate::backend::{FrameId, Handle, Point, Size};
use crate::error::{Error, Result};
use crate::injected::{Bundle, DOM_SNAPSHOT};
use crate::page::Page;
use crate::progress::Progress;
use futures_util::future::{BoxFuture, join_all};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::time::Duration;

/// The largest size of a document, in characters; the rest is omitted. Child frames have the same limit each.
const MAX_SIZE: usize = 8_000_000;
/// The largest number of documents of a page.
const MAX_DOCUMENTS: usize = 50;
/// How long a child frame may take; an unresponsive one is omitted.
const FRAME_TIMEOUT: Duration = Duration::from_secs(2);

/// The snapshot of one document.
#[derive(Debug)]
pub struct DomSnapshot {
    /// The frame of the document.
    pub frame: FrameId,
    /// Whether the frame is the main frame.
    pub is_main: bool,
    /// The URL of the document.
    pub url: String,
    /// The name of the document type, such as `html`.
    pub doctype: Option<String>,
    /// The root element as JSON: `["HTML", {…}, …]`. The `src` of a frame element is `/snapshot/` and the URL-safe id that `frame_name`
    /// returned for the frame.
    pub html: String,
    /// The number of elements and texts in `html`.
    pub count: usize,
    /// The style sheets that scripts have modified.
    pub overrides: Vec<StyleOverride>,
    /// The size of the frame's viewport.
    pub viewport: Size,
    /// The time that the document needed, in milliseconds.
    pub collection_time: f64,
}

/// A style sheet that scripts have modified.
#[derive(Debug, Deserialize)]
pub struct StyleOverride {
    /// The URL of the style sheet.
    pub url: String,
    /// The current rules.
    pub content: String,
}

/// The point of an action, and the mark of the element there.
#[derive(Debug, Clone, Copy)]
pub struct ActionTarget<'a> {
    /// The point in the main frame's viewport.
    pub point: Point,
    /// The value of the attribute `__playwright_target__`.
    pub mark: &'a str,
}

/// The result of the page function.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    html: Box<RawValue>,
    count: usize,
    frames: Vec<Handle>,
    overrides: Vec<StyleOverride>,
    doctype: Option<String>,
    url: String,
    viewport: FractionalSize,
    collection_time: f64,
}

/// A size that may not be whole in a zoomed page.
#[derive(Deserialize)]
struct FractionalSize {
    width: f64,
    height: f64,
}

impl Page {
    /// Takes a DOM snapshot of each frame, the main frame first. `frame_name` returns the identifier of a frame in `html`.
    pub async fn dom_snapshot(
        &self,
        progress: &Progress,
        target: Option<ActionTarget<'_>>,
        frame_name: &(dyn Fn(&FrameId) -> String + Sync),
    ) -> Result<Vec<DomSnapshot>> {
        let reader = Reader {
            page: self,
            // Pages cannot imitate what they cannot know.
            token: format!("{:016x}-", RandomState::new().hash_one(0)),
            frame_name,
        };
        let target = target
            .map(|target| json!({ "x": target.point.x, "y": target.point.y, "call": target.mark }));
        let mut all = progress
            .run(reader.document(self.main_frame(), target))
            .await?;
        all.truncate(MAX_DOCUMENTS);
        Ok(all)
    }

    /// Calls the function of a bundle in a frame, after injecting its script if the document does not have it.
    pub(crate) async fn call_bundle<T: DeserializeOwned + Send + 'static>(
        &self,
        frame: &FrameId,
        bundle: &Bundle,
        argument: Value,
    ) -> Result<T> {
        let question = json!({ "name": bundle.name, "argument": argument });
        let answer: Option<T> = self.call(frame, "bundle", &question).await?;
        if let Some(answer) = answer {
            return Ok(answer);
        }
        let injected = self.backend.inject_script(frame, bundle.script);
        self.unless_interrupted(injected).await?;
        let answer: Option<T> = self.call(frame, "bundle", &question).await?;
        answer.ok_or(Error::DocumentGone {})
    }
}

struct Reader<'a> {
    page: &'a Page,
    token: String,
    frame_name: &'a (dyn Fn(&FrameId) -> String + Sync),
}

impl Reader<'_> {
    /// Reads a document and those of the frames in it.
    fn document(
        &self,
        frame: FrameId,
        target: Option<Value>,
    ) -> BoxFuture<'_, Result<Vec<DomSnapshot>>> {
        Box::pin(async move {
            let is_main = frame == self.page.main_frame();
            let question = json!({ "token": self.token, "room": MAX_SIZE, "target": target });
            let document: Document = self
                .page
                .call_bundle(&frame, &DOM_SNAPSHOT, question)
                .await?;
            let owners = document.frames;
            let inner = match owners.as_slice() {
                [] => Vec::new(),
                owners => self
                    .page
                    .backend
                    .content_frames(&frame, owners)
                    .await
                    .unwrap_or_default(),
            };
            let mut html = String::from(Box::<str>::from(document.html));
            for (owner, inner) in owners.iter().zip(&inner) {
                let name = inner.as_ref().map(self.frame_name).unwrap_or_default();
                // The placeholder is written once.
                html = html.replacen(&format!("{}{owner}.", self.token), &name, 1);
            }
            let mut all = vec![DomSnapshot {
                frame,
                is_main,
                url: document.url,
                doctype: document.doctype,
                html,
                count: document.count,
                overrides: document.overrides,
                viewport: document.viewport.rounded(),
                collection_time: document.collection_time,
            }];
            let inner = inner.into_iter().flatten();
            let below = inner.map(async |frame| {
                let document = self.document(frame, None);
                tokio::time::timeout(FRAME_TIMEOUT, document).await
            });
            for below in join_all(below).await.into_iter().flatten().flatten() {
                all.extend(below);
            }
            Ok(all)
        })
    }
}

impl FractionalSize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a size in pixels"
    )]
    fn rounded(&self) -> Size {
        Size {
            width: self.width.round() as u32,
            height: self.height.round() as u32,
        }
    }
}
