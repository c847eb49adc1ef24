//! `tools/list`.

use crate::server::Server;
use crate::sessions::Caller;
use crate::sessions::session::document_tools::ListedTool;
use crate::tools::tool::SessionNaming;
use rmcp::model::{ErrorData, Tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Serialized tools, by name and by whether calls name sessions. Serializing a schema takes as long as a hundred calls, and the result
/// never changes.
static MAX_SHOWN: Mutex<BTreeMap<(&'static str, SessionNaming), Tool>> =
    Mutex::new(BTreeMap::new());

/// The WebMCP tools of the last list or notification.
#[derive(Default)]
pub(super) struct ListedDocumentTools(Mutex<Arc<Vec<ListedTool>>>);

impl ListedDocumentTools {
    /// Returns whether the tools of the caller's page differ from those at the last call.
    pub(super) fn have_changed(&self, server: &Server, caller: &Caller) -> bool {
        let now = server.document_tools(caller);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has_changed = !Arc::ptr_eq(&known, &now) && *known != now;
        *known = now;
        has_changed
    }
}

/// Returns the tools that a client sees: those of the server, then those of its page.
pub(super) fn list(server: &Server, caller: &Caller) -> Result<Vec<Tool>, ErrorData> {
    let mut list = of_server(server)?;
    for tool in server.document_tool_entries(caller) {
        list.push(parsed(tool)?);
    }
    Ok(list)
}

fn parsed(tool: Value) -> Result<Tool, ErrorData> {
    serde_json::from_value(tool).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn of_server(server: &Server) -> Result<Vec<Tool>, ErrorData> {
    let naming = server.toolbox().session_naming();
    let mut shown = MAX_SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut list = Vec::new();
    for tool in server.shown_tools() {
        let known = shown.get(&(tool.name, naming)).cloned();
        list.push(match known {
            Some(tool) => tool,
            None => {
                let new = parsed(tool.to_json(naming))?;
                shown.insert((tool.name, naming), new.clone());
                new
            }
        });
    }
    Ok(list)
}
