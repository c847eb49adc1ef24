//! A resolved element, and queries about it.

use crate::backend::{FrameId, Handle, Point};
use crate::error::{Error, Obstacle, Result};
use crate::page::Page;
use crate::selector::Selector;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A resolved element, which is valid while its document exists.
#[derive(Debug, Clone)]
pub struct Element {
    /// The page.
    pub(crate) page: Page,
    /// The frame of its document.
    pub(crate) frame: FrameId,
    /// The handle in that document.
    pub(crate) handle: Handle,
    /// A short description, e.g. `<button id="go">Go</button>`.
    pub(crate) preview: String,
}

/// A rectangle in CSS pixels of the main frame's viewport.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// The current states of an element; a label has the states of its control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct States {
    /// Whether it has a box and is painted.
    pub visible: bool,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Whether its value can be edited; `None` for an element without a value.
    pub editable: Option<bool>,
    /// `None` for an element that cannot be checked.
    pub checked: Option<Checked>,
    /// Whether it is a radio button.
    pub radio: bool,
    /// Whether it has the focus.
    pub focused: bool,
}

/// Checked, unchecked, or mixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Checked {
    /// Checked or unchecked.
    Is(bool),
    /// Mixed.
    Mixed(Mixed),
}

/// The value of the mixed state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mixed {
    /// Partially checked.
    Mixed,
}

impl Checked {
    /// Returns whether it is checked, and not mixed.
    pub fn is_checked(self) -> bool {
        self == Self::Is(true)
    }
}

/// The text and value of an element.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Content {
    pub(crate) text: String,
    pub(crate) inner_text: String,
    pub(crate) value: Option<String>,
    pub(crate) is_expected: bool,
}

impl Element {
    /// Returns a short description, e.g. `<button id="go">Go</button>`.
    pub fn preview(&self) -> &str {
        &self.preview
    }

    /// Returns a locator that matches only this element, including frames.
    pub(crate) async fn generated(&self) -> Result<Selector> {
        let own = generate(std::slice::from_ref(self)).await?.pop();
        self.in_its_frames(own.flatten()).await
    }

    /// Returns the locator of the element in its own document, extended by the frames around it. Without one, the element was removed.
    pub(crate) async fn in_its_frames(&self, own: Option<Selector>) -> Result<Selector> {
        let gone = |element: &Self| element.not_actionable(Obstacle::Detached);
        let mut selector = own.ok_or_else(|| gone(self))?;
        let mut frame = self.frame.clone();
        while let Some((parent, owner)) = self.page.backend.frame_owner(&frame).await? {
            let owner = self.sibling(parent.clone(), owner);
            let outer = generate(std::slice::from_ref(&owner)).await?.pop();
            selector = outer
                .flatten()
                .ok_or_else(|| gone(&owner))?
                .in_frame(selector);
            frame = parent;
        }
        Ok(selector)
    }

    pub(crate) async fn evaluate(&self, function: &str) -> Result<Option<Value>> {
        self.page
            .run_script(&self.frame, function, Some(self.handle))
            .await
    }

    pub(crate) async fn states(&self) -> Result<States> {
        self.call("states", json!({})).await
    }

    pub(crate) async fn content(&self) -> Result<Content> {
        self.call("content", json!({})).await
    }

    pub(crate) async fn attribute(&self, name: &str) -> Result<Option<String>> {
        #[derive(Deserialize)]
        struct Attribute {
            value: Option<String>,
        }
        let attribute: Attribute = self.call("attribute", json!({ "name": name })).await?;
        Ok(attribute.value)
    }

    pub(crate) async fn bounds(&self) -> Result<Option<Rect>> {
        #[derive(Deserialize)]
        struct Bounds {
            #[serde(rename = "box")]
            rect: Option<Rect>,
        }
        let bounds: Bounds = self.call("bounds", json!({})).await?;
        let Some(rect) = bounds.rect else {
            return Ok(None);
        };
        let start = Point {
            x: rect.x,
            y: rect.y,
        };
        let start = self.page.to_main(&self.frame, start).await?;
        let end = Point {
            x: rect.x + rect.width,
            y: rect.y + rect.height,
        };
        let end = self.page.to_main(&self.frame, end).await?;
        Ok(Some(Rect {
            x: start.x,
            y: start.y,
            width: end.x - start.x,
            height: end.y - start.y,
        }))
    }

    /// Calls an injected function on this element. For a removed element, fails with `NotActionable`.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        function: &str,
        argument: Value,
    ) -> Result<T> {
        let mut argument = argument;
        argument["handle"] = self.handle.into();
        let answer = self.page.call(&self.frame, function, &argument).await?;
        self.read(function, answer)
    }

    /// Parses the result of an injected function about this element.
    pub(super) fn read<T: DeserializeOwned>(&self, function: &str, answer: Value) -> Result<T> {
        if answer.get("gone").is_some() {
            return Err(self.not_actionable(Obstacle::Detached));
        }
        read(function, answer)
    }

    pub(crate) fn not_actionable(&self, obstacle: Obstacle) -> Error {
        Error::NotActionable {
            selector: self.preview.clone(),
            obstacle,
        }
    }

    pub(crate) fn sibling(&self, frame: FrameId, handle: Handle) -> Self {
        Self {
            page: self.page.clone(),
            frame,
            handle,
            preview: String::from("<iframe>"),
        }
    }
}

impl Page {
    /// Converts a point from a frame to the main frame's viewport.
    pub(crate) async fn to_main(&self, frame: &FrameId, point: Point) -> Result<Point> {
        let mut point = point;
        let mut frame = frame.clone();
        while let Some((parent, handle)) = self.backend.frame_owner(&frame).await? {
            #[derive(Deserialize)]
            struct At {
                point: Point,
            }
            let owner = Element {
                page: self.clone(),
                frame: parent.clone(),
                handle,
                preview: String::from("<iframe>"),
            };
            let at: At = owner
                .call("aimThrough", json!({ "point": point, "hit": false }))
                .await?;
            point = at.point;
            frame = parent;
        }
        Ok(point)
    }
}

/// Parses the result of an injected function.
pub(super) fn read<T: DeserializeOwned>(function: &str, answer: Value) -> Result<T> {
    serde_json::from_value(answer).map_err(|error| Error::protocol(function, error))
}

/// Returns a locator for each of these elements of one document, unique in that document; `None` for a removed one.
pub(crate) async fn generate(elements: &[Element]) -> Result<Vec<Option<Selector>>> {
    let Some(first) = elements.first() else {
        return Ok(Vec::new());
    };
    let argument = json!({
        "handles": elements.iter().map(|element| element.handle).collect::<Vec<_>>(),
        "testIdAttribute": first.page.state().test_id.as_ref(),
    });
    first.page.call(&first.frame, "generate", &argument).await
}
