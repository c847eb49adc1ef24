//! The WebMCP tools of the page that a caller uses: their entries in `tools/list`, and calls of them.

use super::Server;
use super::request::Request;
use crate::sessions::session::Session;
use crate::sessions::session::document_tools::{ListedTool, PREFIX};
use crate::sessions::{Caller, Visible};
use crate::tools::CALL_DOCUMENT_TOOL;
use serde_json::Value;
use std::sync::Arc;

impl Server {
    /// Returns whether the lists of tools contain the WebMCP tools of pages, and change with them.
    pub(crate) fn lists_document_tools(&self) -> bool {
        self.settings.tools.webmcp
    }

    /// Returns the WebMCP tools of the page that the caller uses, as of its last snapshot.
    pub(crate) fn document_tools(&self, caller: &Caller) -> Arc<Vec<ListedTool>> {
        let session = self.existing_session(caller);
        session.map_or_else(Arc::default, |session| document_tools(&session))
    }

    /// Returns the entries of these tools in `tools/list`, without secrets.
    pub(crate) fn document_tool_entries(&self, caller: &Caller) -> Vec<Value> {
        let Some(session) = self.existing_session(caller) else {
            return Vec::new();
        };
        let secrets = &session.settings().secrets;
        let tools = document_tools(&session);
        let entries = tools.iter().map(ListedTool::to_json);
        entries.map(|entry| secrets.redacted_json(entry)).collect()
    }

    /// Returns the session whose pages provide tools, if it exists.
    fn existing_session(&self, caller: &Caller) -> Option<Arc<Session>> {
        let sessions = Visible::new(self.sessions.clone(), caller.clone());
        let session = sessions.existing_session()?;
        session.context_or_active(None).ok()
    }

    /// Turns the call of a page's tool into one of the tool that calls it, and returns the name of that.
    pub(super) fn redirect_document_tool(
        &self,
        name: &str,
        request: &mut Request,
    ) -> Option<&'static str> {
        if !name.starts_with(PREFIX) {
            return None;
        }
        let tools = self.document_tools(&request.caller);
        let tool = tools.iter().find(|tool| tool.listed_name == name)?;
        request.arguments = tool.call_arguments(std::mem::take(&mut request.arguments));
        Some(CALL_DOCUMENT_TOOL)
    }
}

/// Returns the WebMCP tools of the session's current page.
fn document_tools(session: &Session) -> Arc<Vec<ListedTool>> {
    let tab = session.open_tabs().and_then(|tabs| tabs.current());
    tab.map_or_else(Arc::default, |tab| tab.document_tools())
}
