//! Features: what the core works without. Each is one file or folder with its tools and with what it does at the events of a session; a
//! feature is taken out by removing it and its lines here.

mod audit;
mod export;
mod har;
mod journal;
mod pdf;
mod profiling;
mod recording;
mod styles;
mod tracing;
mod video;

use crate::sessions::session::feature::SessionFeature;
use crate::tools::tool::ToolDef;
use std::sync::Arc;

/// The tools of the features, each with the tool of the core after which `tools/list` has them, as that of `@playwright/mcp`.
pub(crate) const TOOLS: &[(&str, &[ToolDef])] = &[
    ("browser_hide_highlight", styles::TOOLS),
    ("browser_network_state_set", pdf::TOOLS),
    ("browser_network_state_set", recording::TOOLS),
    ("browser_network_state_set", profiling::VITALS),
    ("browser_network_state_set", profiling::PERFORMANCE),
    ("browser_throttle", profiling::HEAP),
    ("browser_throttle", profiling::COVERAGE),
    ("browser_generate_locator", har::TOOLS),
    ("browser_tabs", tracing::TOOLS),
    ("browser_verify_value", video::TOOLS),
    ("browser_webmcp_call", audit::TOOLS),
    ("browser_webmcp_call", export::TOOLS),
];

/// Returns the features of a browser context, in the order in which they are called.
pub(crate) fn of_session() -> Vec<Arc<dyn SessionFeature>> {
    vec![
        Arc::<har::Har>::default(),
        Arc::<tracing::Tracing>::default(),
        Arc::<video::Videos>::default(),
        Arc::<recording::UserActions>::default(),
        Arc::<export::Statements>::default(),
        Arc::<journal::Journal>::default(),
    ]
}
