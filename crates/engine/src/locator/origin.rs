//! The origin of an element's document.

use super::Locator;
use crate::error::Result;
use crate::progress::Progress;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use url::Url;

/// The serialization of an opaque origin.
const OPAQUE: &str = "null";

impl Locator {
    /// Returns the [origin](https://html.spec.whatwg.org/#ascii-serialisation-of-an-origin) of the element's document, such as
    /// `https://example.com:8443`; `null` for an opaque one. A document without its own URL (`about:blank`, `about:srcdoc`) has the origin
    /// of the parent document.
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
        // The browser reports it, so scripts of the page cannot change it.
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

    /// Returns the locator with a restriction of its origin: [`Locator::fill`] and [`Locator::press_sequentially`] find no element in
    /// documents of other origins.
    #[must_use]
    pub fn on_origin(mut self, origin: &str) -> Self {
        self.origin = Some(Arc::from(origin));
        self
    }
}
