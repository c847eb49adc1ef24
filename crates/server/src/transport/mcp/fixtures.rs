//! Additions of a test program to the tools, resources and prompts of the server. No release has any: those that the official conformance
//! suite requires are in the example `conformance`.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientJsonRpcMessage, ClientRequest,
    CompleteRequestParams, CompleteResult, ErrorData, GetPromptRequestParams, GetPromptResult,
    JsonRpcMessage, JsonRpcRequest, Prompt, ReadResourceResult, Resource, ResourceTemplate, Tool,
};
use rmcp::service::RequestContext;
use std::pin::Pin;
use std::sync::OnceLock;

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Tools, resources and prompts in addition to those of the server. The methods return `None` for names and URIs that are not among them.
pub trait Fixtures: Send + Sync {
    fn tools(&self) -> Vec<Tool> {
        Vec::new()
    }

    fn call_tool<'a>(
        &self,
        _: &'a CallToolRequestParams,
        _: &'a RequestContext<RoleServer>,
    ) -> Option<BoxFuture<'a, Result<CallToolResult, ErrorData>>> {
        None
    }

    /// Returns after how many events the stream of the response to a call is cut.
    fn events_until_cut(&self, _tool: &str) -> usize {
        usize::MAX
    }

    fn resources(&self) -> Vec<Resource> {
        Vec::new()
    }

    fn resource_templates(&self) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    fn read_resource(&self, _uri: &str) -> Option<ReadResourceResult> {
        None
    }

    /// Returns whether a client can subscribe to the resource, which never changes.
    fn can_subscribe(&self, _uri: &str) -> bool {
        false
    }

    fn prompts(&self) -> Vec<Prompt> {
        Vec::new()
    }

    fn get_prompt(&self, _: &GetPromptRequestParams) -> Option<GetPromptResult> {
        None
    }

    fn complete(&self, _: &CompleteRequestParams) -> Option<CompleteResult> {
        None
    }
}

/// The fixtures of a release.
struct NoFixtures;

impl Fixtures for NoFixtures {}

static FIXTURES: OnceLock<&dyn Fixtures> = OnceLock::new();

/// Adds fixtures to the server of this process, once and before it starts.
pub fn set_fixtures(fixtures: &'static dyn Fixtures) {
    let _ = FIXTURES.set(fixtures);
}

pub(super) fn fixtures() -> &'static dyn Fixtures {
    FIXTURES.get().copied().unwrap_or(&NoFixtures)
}

/// Returns after how many events the stream of the response to a message is cut.
pub(super) fn events_until_cut(message: &ClientJsonRpcMessage) -> usize {
    match message {
        JsonRpcMessage::Request(JsonRpcRequest {
            request: ClientRequest::CallToolRequest(call),
            ..
        }) => fixtures().events_until_cut(&call.params.name),
        _ => usize::MAX,
    }
}
