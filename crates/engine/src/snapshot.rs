//! What a page shows, as the text a model reads: aria YAML with refs. Pure: facts of the page's documents in, text out.
//!
//! A document's facts come from `injected/src/snapshot.ts`; here they are grafted into one tree over frames,
//! freed of what says nothing, written as YAML, and searched.

mod facts;
mod find;
mod prune;
mod render;
mod scalar;
#[cfg(test)]
mod tests;

pub(crate) use facts::{Facts, FrameSnapshot, RenderOptions};
pub use find::{Found, Pattern};
