//! Annotations: areas and elements of the page that the user marks, with notes.

use crate::backend::Screenshot;
use crate::error::{Error, Result};
use crate::locator::{Element, Rect};
use crate::page::Page;
use crate::progress::Progress;
use crate::reading::{self, ElementFacts};
use crate::selector::Selector;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// How often the page is read while the user annotates it.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// What the user submitted.
#[derive(Debug, Clone)]
pub struct Annotations {
    /// The comment on the whole page; empty if there is none.
    pub comment: String,
    /// The marks, in the order in which they were made.
    pub marks: Vec<Annotation>,
    /// The screenshot of the viewport with the numbered marks.
    pub screenshot: Vec<u8>,
}

/// A mark with the user's note.
#[derive(Debug, Clone)]
pub struct Annotation {
    /// The area in CSS pixels of the viewport.
    pub area: Rect,
    /// The note; empty if there is none.
    pub text: String,
    /// The element that was clicked, or the innermost one that covers the area, with its ref and its locator.
    pub element: Option<(ElementFacts, Selector)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Open,
    Submitted,
    Cancelled,
}

#[derive(Deserialize)]
struct Shown {
    state: State,
    comment: String,
    annotations: Vec<Mark>,
}

#[derive(Deserialize)]
struct Mark {
    #[serde(flatten)]
    area: Rect,
    text: String,
    handle: Option<u64>,
}

/// Removes the tools from the page when the call is cancelled.
struct RemoveGuard(Option<Page>);

impl Page {
    /// Shows the user tools to mark areas and elements of the page, and waits until they submit; `None` if they cancel. The tools are
    /// shown again in a document that replaces this one.
    pub async fn annotate(&self, progress: &Progress) -> Result<Option<Annotations>> {
        let mut guard = RemoveGuard(Some(self.clone()));
        let annotated = progress.run(self.annotations(progress)).await;
        guard.0 = None;
        // Of a document that is gone, so are the tools.
        let _ = self.call_annotator::<Value>("removeAnnotations").await;
        annotated
    }

    async fn annotations(&self, progress: &Progress) -> Result<Option<Annotations>> {
        let mut shown = None;
        loop {
            // Between two documents there is nothing to read.
            match self.call_annotator::<Option<Shown>>("annotations").await {
                Ok(Some(submitted)) if matches!(submitted.state, State::Submitted) => {
                    shown = Some(submitted);
                }
                Ok(Some(cancelled)) if matches!(cancelled.state, State::Cancelled) => {}
                Ok(Some(_)) | Err(Error::DocumentGone {}) => {
                    tokio::time::sleep(POLL_INTERVAL).await;
                    continue;
                }
                Ok(None) | Err(Error::Script { .. } | Error::Protocol { .. }) => {
                    match self.show_annotator().await {
                        Ok(()) | Err(Error::DocumentGone {}) => {}
                        Err(error) => return Err(error),
                    }
                    tokio::time::sleep(POLL_INTERVAL).await;
                    continue;
                }
                Err(error) => return Err(error),
            }
            break;
        }
        let Some(shown) = shown else { return Ok(None) };
        let _: Value = self.call_annotator("freezeAnnotations").await?;
        let image = self.screenshot(progress, &Screenshot::default()).await?;
        let mut marks = Vec::new();
        for Mark { area, text, handle } in shown.annotations {
            let element = match handle {
                Some(handle) => self.described(handle).await?,
                None => None,
            };
            marks.push(Annotation {
                area,
                text,
                element,
            });
        }
        Ok(Some(Annotations {
            comment: shown.comment,
            marks,
            screenshot: image,
        }))
    }

    async fn show_annotator(&self) -> Result<()> {
        self.inject_devtools(&self.main_frame()).await?;
        let _: Value = self.call_annotator("annotate").await?;
        Ok(())
    }

    /// Returns the element of the main document with its ref and its locator; `None` if it was removed.
    async fn described(&self, handle: u64) -> Result<Option<(ElementFacts, Selector)>> {
        let element = Element {
            page: self.clone(),
            frame: self.main_frame(),
            handle,
            preview: String::new(),
        };
        let facts = reading::describe(std::slice::from_ref(&element))
            .await?
            .pop();
        match (facts, element.generated().await) {
            (Some(facts), Ok(locator)) => Ok(Some((facts, locator))),
            (None, _) | (_, Err(Error::NotActionable { .. })) => Ok(None),
            (_, Err(error)) => Err(error),
        }
    }

    async fn call_annotator<T: serde::de::DeserializeOwned + Send + 'static>(
        &self,
        function: &str,
    ) -> Result<T> {
        self.call(&self.main_frame(), function, &json!({})).await
    }
}

impl Drop for RemoveGuard {
    fn drop(&mut self) {
        if let Some(page) = self.0.take() {
            // The undo runs in the background when the guard is dropped.
            drop(task::Undo::by("removing annotations", async move {
                let removed = page.call_annotator::<Value>("removeAnnotations");
                tokio::time::timeout(Duration::from_secs(2), removed).await
            }));
        }
    }
}
