//! How fast a page is and what it costs: vitals, performance traces, code coverage and heap snapshots.

mod coverage;
mod heap;
mod performance;
mod vitals;

use crate::tools::tool::ToolDef;

pub(super) const VITALS: &[ToolDef] = vitals::TOOLS;
pub(super) const PERFORMANCE: &[ToolDef] = performance::TOOLS;
pub(super) const HEAP: &[ToolDef] = heap::TOOLS;
pub(super) const COVERAGE: &[ToolDef] = coverage::TOOLS;
