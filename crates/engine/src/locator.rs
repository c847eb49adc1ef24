//! A lazy description of an element: looked up when something is done with it, in the frame it names, and strictly one.

use crate::backend::{FrameId, Handle};
use crate::page::Page;

/// An element that was found. Dies with its document.
#[derive(Debug, Clone)]
pub struct Element {
    /// Its page.
    pub(crate) page: Page,
    /// The frame whose document holds it.
    pub(crate) frame: FrameId,
    /// Its number in that document.
    pub(crate) handle: Handle,
    /// The element in short, e.g. `<button id="go">Go</button>`.
    pub(crate) preview: String,
}
