//! `tools/list`.

use crate::server::Server;
use crate::tools::tool::SessionNaming;
use rmcp::model::{ErrorData, Tool};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Serialized tools, by name and by whether calls name sessions. Serializing a schema takes as long as a hundred calls, and the result
/// never changes.
static MAX_SHOWN: Mutex<BTreeMap<(&'static str, SessionNaming), Tool>> =
    Mutex::new(BTreeMap::new());

/// Returns the tools that clients see.
pub(super) fn list(server: &Server) -> Result<Vec<Tool>, ErrorData> {
    let naming = server.toolbox().session_naming();
    let mut shown = MAX_SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut list = Vec::new();
    for tool in server.shown_tools() {
        let known = shown.get(&(tool.name, naming)).cloned();
        list.push(match known {
            Some(tool) => tool,
            None => {
                let new: Tool = serde_json::from_value(tool.to_json(naming))
                    .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                shown.insert((tool.name, naming), new.clone());
                new
            }
        });
    }
    Ok(list)
}
