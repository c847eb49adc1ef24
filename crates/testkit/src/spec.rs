//! Specs: Markdown files that hold pages, calls, and the replies we expect. CONTRIBUTING.md
//! describes the format; this reads, runs, compares and rewrites them.

mod compare;
mod document;
mod expectations;
mod part;
mod runner;
mod schema;

pub(crate) use compare::matches;
pub use compare::{Placeholders, difference};
pub use runner::{Report, Runner};
