//! The tools, resources and prompts that the official conformance suite requires, in addition to those of the server. They are compiled
//! only with the feature `conformance`, which no release has; other requests go to [`Connection`].
//! <https://github.com/modelcontextprotocol/conformance>

#![expect(deprecated, reason = "clients of today still subscribe so")]

mod prompts;
mod resources;
mod tools;

use super::connection::Connection;
use super::log::SetLevel;
use super::text::Room;
use crate::server::Server;
use crate::sessions::Caller;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientJsonRpcMessage, ClientRequest,
    CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, ErrorData,
    GetPromptRequestParams, GetPromptResponse, JsonObject, JsonRpcMessage, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ResourcesCapability, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// An image of one red pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A connection with the fixtures of the suite.
pub(super) struct Fixtures(Connection);

impl Fixtures {
    /// See [`Connection::of`].
    pub(super) fn of(
        server: Arc<Server>,
        caller: Caller,
        host: Option<String>,
        room: Room,
    ) -> Self {
        Self(Connection::of(server, caller, host, room))
    }

    /// See [`Connection::over_http`].
    pub(super) fn over_http(server: Arc<Server>) -> Self {
        Self(Connection::over_http(server))
    }
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.0.get_info();
        let resources = info.capabilities.resources;
        let mut resources: ResourcesCapability = resources.unwrap_or_default();
        resources.subscribe = Some(true);
        info.capabilities.resources = Some(resources);
        info
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = self.0.list_tools(request, context).await?;
        list.tools.extend(tools::list()?);
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.get_tool(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.clone().unwrap_or_default();
        match tools::call(&request.name, &arguments, &context).await {
            Some(result) => result.map(Into::into),
            None => self.0.call_tool(request, context).await,
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut list = self.0.list_resources(request, context).await?;
        list.resources.extend(resources::list()?);
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = self.0.list_resource_templates(request, context).await?;
        list.resource_templates.extend(resources::templates()?);
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match resources::read(&request.uri) {
            Some(result) => result.map(Into::into),
            None => self.0.read_resource(request, context).await,
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        match resources::is_watched(&request.uri) {
            true => Ok(()),
            false => self.0.subscribe(request, context).await,
        }
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        match resources::is_watched(&request.uri) {
            true => Ok(()),
            false => self.0.unsubscribe(request, context).await,
        }
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.0.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.0.listen(context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut list = self.0.list_prompts(request, context).await?;
        list.prompts.extend(prompts::list()?);
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.clone().unwrap_or_default();
        match prompts::get(&request.name, &arguments) {
            Some(result) => result.map(Into::into),
            None => self.0.get_prompt(request, context).await,
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        match prompts::complete(&request) {
            Some(result) => result,
            None => self.0.complete(request, context).await,
        }
    }

    async fn set_level(
        &self,
        request: SetLevel,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.set_level(request, context).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.0.on_initialized(context).await;
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.0.on_custom_request(request, context).await
    }
}

/// Returns after how many events the stream of a response is cut: the suite tests resumption with a tool.
pub(super) fn events_until_cut(message: &ClientJsonRpcMessage) -> usize {
    match message {
        JsonRpcMessage::Request(request) => match &request.request {
            ClientRequest::CallToolRequest(call) if call.params.name == tools::CUT => 1,
            _ => usize::MAX,
        },
        _ => usize::MAX,
    }
}

/// Returns the result of a request, with the type that revisions from 2026-07-28 on require.
fn result<T: DeserializeOwned>(mut value: Value) -> Result<T, ErrorData> {
    value["resultType"] = "complete".into();
    from_json(value)
}

/// Builds a value from JSON, which is easier to read.
fn from_json<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// Returns a text argument; empty if it is missing.
fn text<'a>(arguments: &'a JsonObject, name: &str) -> &'a str {
    arguments
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
}
