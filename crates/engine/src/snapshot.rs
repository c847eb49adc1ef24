//! Snapshots of pages: trees with refs, generated from facts of the page's documents.
//!
//! `injected/src/snapshot.ts` reads a document's facts; these modules combine them into one tree across frames, prune it, write it in one of
//! two layouts, and search it.

mod changes;
mod compact;
mod described;
mod facts;
mod find;
mod fold;
mod full;
mod key;
mod label;
mod line;
mod nearest;
mod outline;
mod prune;
mod render;
mod scalar;
mod surroundings;
#[cfg(test)]
mod tests;
mod visible;

pub(crate) use changes::{Observed, Restyled, Side, Transient, changes};
pub(crate) use described::Descriptions;
pub use facts::Layout;
pub(crate) use facts::{Facts, FrameSnapshot, RenderOptions};
pub use find::{Found, Pattern};
pub use fold::LineRange;
pub(crate) use line::Rendered;
pub use line::{Line, LineKind, Lines, Ref};
pub(crate) use nearest::{Wanted, nearest};
pub(crate) use visible::Candidate;
pub use visible::VisibleRef;
