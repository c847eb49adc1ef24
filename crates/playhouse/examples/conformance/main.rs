//! The server with the tools, resources and prompts that the official conformance suite requires; `make conformance` runs the suite against it.
//! <https://github.com/modelcontextprotocol/conformance>

mod prompts;
mod resources;
mod tools;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, CompleteRequestParams, CompleteResult, ErrorData,
    GetPromptRequestParams, GetPromptResult, JsonObject, Prompt, ReadResourceResult, Resource,
    ResourceTemplate, Tool,
};
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::pin::Pin;
use std::process::ExitCode;

/// An image of one red pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

fn main() -> ExitCode {
    server::set_fixtures(&Fixtures);
    server::main()
}

/// The fixtures of the suite.
struct Fixtures;

impl server::Fixtures for Fixtures {
    fn tools(&self) -> Vec<Tool> {
        tools::list()
    }

    fn call_tool<'a>(
        &self,
        request: &'a CallToolRequestParams,
        context: &'a RequestContext<RoleServer>,
    ) -> Option<Pin<Box<dyn Future<Output = Result<CallToolResult, ErrorData>> + Send + 'a>>> {
        tools::NAMES
            .contains(&&*request.name)
            .then(|| Box::pin(tools::call(request, context)) as _)
    }

    fn events_until_cut(&self, tool: &str) -> usize {
        match tool {
            tools::CUT => 1,
            _ => usize::MAX,
        }
    }

    fn resources(&self) -> Vec<Resource> {
        resources::list()
    }

    fn resource_templates(&self) -> Vec<ResourceTemplate> {
        resources::templates()
    }

    fn read_resource(&self, uri: &str) -> Option<ReadResourceResult> {
        resources::read(uri)
    }

    fn can_subscribe(&self, uri: &str) -> bool {
        uri == resources::WATCHED
    }

    fn prompts(&self) -> Vec<Prompt> {
        prompts::list()
    }

    fn get_prompt(&self, request: &GetPromptRequestParams) -> Option<GetPromptResult> {
        prompts::get(request)
    }

    fn complete(&self, request: &CompleteRequestParams) -> Option<CompleteResult> {
        prompts::complete(request)
    }
}

/// Builds the result of a request, with the type that revisions from 2026-07-28 on require.
fn result<T: DeserializeOwned>(mut value: Value) -> T {
    value["resultType"] = "complete".into();
    from_json(value)
}

/// Builds a value from JSON, which is easier to read.
fn from_json<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("the JSON of a fixture has the form of its type")
}

/// Returns a text argument; empty if it is missing.
fn text<'a>(arguments: Option<&'a JsonObject>, name: &str) -> &'a str {
    let argument = arguments.and_then(|arguments| arguments.get(name));
    argument.and_then(Value::as_str).unwrap_or_default()
}
