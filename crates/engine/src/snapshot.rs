//! Snapshots of pages: aria YAML with refs, generated from facts of the page's documents.
//!
//! `injected/src/snapshot.ts` reads a document's facts; these modules combine them into one tree across frames, prune it, write it as YAML,
//! and search it.

mod described;
mod facts;
mod find;
mod prune;
mod render;
mod scalar;
#[cfg(test)]
mod tests;

pub(crate) use described::Descriptions;
pub(crate) use facts::{Facts, FrameSnapshot, RenderOptions};
pub use find::{Found, Pattern};
