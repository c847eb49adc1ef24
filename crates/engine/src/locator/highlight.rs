//! Highlights: outlines in the page that follow their elements until they are hidden or the document is replaced.

use super::{Locator, MAX_MATCHES};
use crate::backend::FrameId;
use crate::error::Result;
use crate::injected::DEVTOOLS;
use crate::page::Page;
use crate::progress::Progress;
use serde_json::{Value, json};

impl Locator {
    /// Highlights all matching elements, with additional CSS declarations. Fails with `ElementNotFound` if none matches.
    pub async fn highlight(&self, progress: &Progress, style: Option<&str>) -> Result<()> {
        let argument = json!({ "style": style });
        self.call_for_highlights(progress, "highlight", argument)
            .await
    }

    /// Hides the highlights of all matching elements. Fails with `ElementNotFound` if none matches.
    pub async fn hide_highlight(&self, progress: &Progress) -> Result<()> {
        self.call_for_highlights(progress, "hideHighlights", json!({}))
            .await
    }

    async fn call_for_highlights(
        &self,
        progress: &Progress,
        function: &str,
        mut argument: Value,
    ) -> Result<()> {
        let highlighted = async {
            let (frame, found) = self.find_all(MAX_MATCHES).await?;
            if found.elements.is_empty() {
                return Err(self.not_found());
            }
            let handles = found.elements.iter().map(|element| element.handle);
            argument["handles"] = handles.collect();
            argument["target"] = self.to_string().into();
            self.page.inject_devtools(&frame).await?;
            let _: Value = self.page.call(&frame, function, &argument).await?;
            Ok(())
        };
        progress.run(highlighted).await
    }
}

impl Page {
    /// Hides all highlights.
    pub async fn hide_highlights(&self, progress: &Progress) -> Result<()> {
        let hidden = async {
            for frame in self.frames() {
                let hidden = async {
                    self.inject_devtools(&frame.id).await?;
                    self.call::<Value>(&frame.id, "hideHighlights", &json!({}))
                        .await
                };
                match hidden.await {
                    // A frame that was detached or navigates has no highlights.
                    Ok(_) | Err(crate::error::Error::DocumentGone {}) => {}
                    Err(error) if frame.parent.is_none() => return Err(error),
                    Err(error) => tracing::debug!(%error, "no highlights in a frame"),
                }
            }
            Ok(())
        };
        progress.run(hidden).await
    }

    /// Adds the functions of highlights, annotations and the recorder to the injected script of a frame.
    pub(crate) async fn inject_devtools(&self, frame: &FrameId) -> Result<()> {
        // The script extends the core, which a new document may not have yet.
        let _: Value = self.call(frame, "origin", &Value::Null).await?;
        self.unless_interrupted(self.backend.inject_script(frame, DEVTOOLS))
            .await
    }
}
