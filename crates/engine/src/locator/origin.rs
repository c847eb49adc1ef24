//! The origin of the document that holds an element.

use super::Locator;
use crate::error::Result;
use crate::progress::Progress;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use url::Url;

/// An opaque origin, as it is serialized.
const OPAQUE: &str = "null";

impl Locator {
    /// The [origin](https://html.spec.whatwg.org/#ascii-serialisation-of-an-origin) of the document that holds the element, such as
    /// `https://example.com:8443`; `null` for an opaque one. A document without an address of its own (`about:blank`, `about:srcdoc`)
    /// has the origin of the document around it.
    pub async fn origin(&self, progress: &Progress) -> Result<String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Origin {
            is_opaque: bool,
        }
        let element = self.resolve(progress).await?;
        let asked = element.call("origin", json!({}));
        let Origin { is_opaque } = progress.run(asked).await?;
        if is_opaque {
            return Ok(OPAQUE.to_owned());
        }
        // As the browser tells it: scripts of the page have no say.
        let frames = self.page.frames();
        let mut id = Some(&element.frame);
        while let Some(frame) = id.and_then(|id| frames.iter().find(|frame| frame.id == *id)) {
            match Url::parse(&frame.url) {
                Ok(url) if url.scheme() != "about" => {
                    return Ok(url.origin().ascii_serialization());
                }
                _ => id = frame.parent.as_ref(),
            }
        }
        Ok(OPAQUE.to_owned())
    }

    /// The same, which gets no text in documents of other origins: [`Locator::fill`] and [`Locator::press_sequentially`] find no element there.
    #[must_use]
    pub fn on_origin(mut self, origin: &str) -> Self {
        self.origin = Some(Arc::from(origin));
        self
    }
}
