//! The MCP methods of a connection: `initialize`, `tools/list`, `tools/call`, and requests for the client's roots.

use super::audit::{failed, recorded};
use super::client::ConnectedClient;
use super::elicitation::{ElicitationMode, RetryingClient};
use super::fixtures::fixtures;
use super::log::{Log, SetLevel};
use super::progress::Progress;
use super::prompts;
use super::request::{has_session, modern, names_session, request_info, unknown_method};
use super::resources::{self, LIST_POLL_INTERVAL, Subscriptions};
use super::streamable::ClientState;
use super::text::Room;
use super::tools::{self, ListedDocumentTools};
use crate::access::audit::Entry;
use crate::access::principal::Principal;
use crate::answers::{Content, ContentItem};
use crate::calls::Status;
use crate::calls::queue::{CallQueue, Ticket};
use crate::files::resource_uri::{ResourceUri, brief};
use crate::server::Server;
use crate::server::request::IncomingCall;
use crate::server::resources::Resources;
use crate::sessions::Caller;
use crate::telemetry::RequestId;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
    CompleteResult, ContentBlock, CustomRequest, CustomResult, ErrorCode, ErrorData, Extensions,
    GetPromptRequestParams, GetPromptResponse, Icon, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    Reference, ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, json};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The icon: a stage between two curtains.
const ICON: &str = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAzMiAzMiI+PHJlY3Qgd2lkdGg9IjMyIiBoZWlnaHQ9IjMyIiByeD0iNiIgZmlsbD0iIzJiMjEzYSIvPjxwYXRoIGQ9Ik00IDVoMjR2M0g0eiIgZmlsbD0iI2YyYjYzYyIvPjxwYXRoIGQ9Ik01IDhoN2MwIDctMSAxMi03IDE2ek0yNyA4aC03YzAgNyAxIDEyIDcgMTZ6IiBmaWxsPSIjZDgzYTRhIi8+PHBhdGggZD0iTTQgMjVoMjR2Mkg0eiIgZmlsbD0iI2YyYjYzYyIvPjwvc3ZnPg==";

/// Methods that `rmcp` supports; if it cannot parse one of them, the parameters are invalid.
const METHODS: &[&str] = &[
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
];

/// Methods that 2026-07-28 removed.
const REMOVED: &[&str] = &[
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// How long clients of 2026-07-28 may cache a result.
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching>
enum Keep {
    /// The result depends on the server's flags only.
    Lasting,
    /// The result depends on pages, and on the caller.
    Fleeting,
}

impl Keep {
    fn choice(self) -> (u64, CacheScope) {
        match self {
            Self::Lasting => (3_600_000, CacheScope::Public),
            Self::Fleeting => (0, CacheScope::Private),
        }
    }
}

/// Sets the caching properties of a result for clients of that revision. The result types have the same two methods, but no common trait.
macro_rules! kept {
    ($answer:expr, $context:expr, $keep:ident) => {
        match modern($context) {
            true => {
                let (milliseconds, scope) = Keep::$keep.choice();
                $answer.with_ttl_ms(milliseconds).with_cache_scope(scope)
            }
            false => $answer,
        }
    };
}

/// One client's connection.
pub(super) struct Connection {
    server: Arc<Server>,
    /// The caller; over HTTP it is set by the first request.
    caller: OnceLock<Caller>,
    /// The host name by which the client reaches the server; over HTTP each request has it.
    host: Option<String>,
    /// `None`: each response has a stream of its own.
    room: Option<Room>,
    log: Log,
    subscriptions: Subscriptions,
    document_tools: ListedDocumentTools,
}

impl Connection {
    /// Creates the connection of a client whose messages all use the same transport.
    pub(super) fn of(
        server: Arc<Server>,
        caller: Caller,
        host: Option<String>,
        room: Room,
    ) -> Self {
        Self {
            server,
            caller: caller.into(),
            host,
            room: Some(room),
            log: Log::default(),
            subscriptions: Subscriptions::default(),
            document_tools: ListedDocumentTools::default(),
        }
    }

    /// Creates the connection of an MCP session over HTTP, or of a single request.
    pub(super) fn over_http(server: Arc<Server>) -> Self {
        Self {
            server,
            caller: OnceLock::new(),
            host: None,
            room: None,
            log: Log::default(),
            subscriptions: Subscriptions::default(),
            document_tools: ListedDocumentTools::default(),
        }
    }

    /// Returns the client's resources, or an error if the server offers none.
    fn resources(
        &self,
        context: &RequestContext<RoleServer>,
        method: &str,
    ) -> Result<Resources, ErrorData> {
        if self.server.is_drop_in() {
            return Err(unknown_method(method));
        }
        let caller = self.caller(&context.extensions, has_session(context));
        Ok(self.server.resources(caller))
    }

    /// Returns whether the client can receive notifications after the response.
    fn can_notify(&self, context: &RequestContext<RoleServer>) -> bool {
        self.room.is_some() || has_session(context)
    }

    fn client(
        &self,
        peer: &Peer<RoleServer>,
        extensions: &Extensions,
        has_roots: bool,
        way: ElicitationMode,
    ) -> Arc<ConnectedClient> {
        let parts = extensions.get::<http::request::Parts>();
        let host = parts.and_then(|parts| parts.headers.get(http::header::HOST));
        let host = host.and_then(|host| host.to_str().ok()).map(str::to_owned);
        Arc::new(ConnectedClient {
            peer: peer.clone(),
            line: parts
                .and_then(|parts| parts.extensions.get::<ClientState>())
                .cloned(),
            room: self.room.clone(),
            host: host.or_else(|| self.host.clone()),
            has_roots,
            way,
            status: Status::default(),
        })
    }

    /// Returns the caller. `lasting`: the connection remains for further requests.
    fn caller(&self, extensions: &Extensions, lasting: bool) -> Caller {
        let parts = extensions.get::<http::request::Parts>();
        let principal = parts.and_then(|parts| parts.extensions.get::<Principal>());
        if let Some(caller) = self.caller.get() {
            // The identity does not change, but its permissions can.
            return match principal {
                Some(principal) => caller.clone().now(principal.clone()),
                None => caller.clone(),
            };
        }
        let principal = principal.cloned().unwrap_or_else(Principal::anonymous);
        match lasting {
            true => self
                .caller
                .get_or_init(|| {
                    let session = parts.and_then(|parts| parts.extensions.get::<ClientState>());
                    let has_ended = session.map(ClientState::has_ended).unwrap_or_default();
                    self.server.connected_caller(principal, has_ended)
                })
                .clone(),
            false => self.server.caller(principal),
        }
    }
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let (name, version) = self.server.name_and_version();
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        if self.server.prompts().is_some() {
            prompts::enable(&mut capabilities);
        }
        let mut implementation = Implementation::new(name, version);
        if self.server.is_drop_in() {
            return ServerConfig::new(capabilities)
                .with_server_info(implementation)
                .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
        }
        capabilities.logging = Some(Map::new());
        resources::enable(&mut capabilities);
        implementation.title = Some("Playhouse: browsers for agents".to_owned());
        implementation.icons = Some(vec![Icon::new(ICON).with_mime_type("image/svg+xml")]);
        ServerConfig::new(capabilities)
            .with_server_info(implementation)
            .with_instructions(self.server.instructions())
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        first_page(request)?;
        let caller = self.caller(&context.extensions, has_session(&context));
        let mut tools = tools::list(&self.server, &caller)?;
        tools.extend(fixtures().tools());
        let list = ListToolsResult::with_all_items(tools);
        Ok(match self.server.lists_document_tools() {
            true => kept!(list, &context, Fleeting),
            false => kept!(list, &context, Lasting),
        })
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(result) = fixtures().call_tool(&request, &context) {
            return result.await.map(Into::into);
        }
        let cancel = context.ct.child_token();
        let ticket = context.extensions.get::<Ticket>().cloned();
        let can = context.client_capabilities();
        let has_roots = !modern(&context)
            && self.server.asks_for_roots()
            && can
                .as_ref()
                .is_some_and(|capabilities| capabilities.roots.is_some());
        let way = match modern(&context) {
            true => {
                let can = can.and_then(|can| can.elicitation.clone());
                ElicitationMode::Answer(RetryingClient::new(can, &mut request).into())
            }
            false => ElicitationMode::Request(context.peer.clone()),
        };
        let client = self.client(&context.peer, &context.extensions, has_roots, way);
        let caller = self.caller(&context.extensions, has_session(&context));
        let began = Instant::now();
        let info = request_info(&context);
        let request_id = info.id.clone();
        let incoming = IncomingCall {
            ticket: ticket.unwrap_or_else(|| CallQueue::default().join()),
            cancel: cancel.clone(),
            info,
        };
        let call = self.server.call(
            &request.name,
            request.arguments.unwrap_or_default(),
            caller.clone(),
            client.clone(),
            incoming,
        );
        let progress = Progress::of(&context);
        let status = &client.status;
        let name = brief(&request.name);
        let mut work = std::pin::pin!(progress.of_work(&name, status, call));
        let gone = async {
            match &self.room {
                Some(room) => room.gone().await,
                None => std::future::pending().await,
            }
        };
        // `rmcp` waits for the calls of a client that is gone before it cancels them.
        let ended = tokio::select! {
            biased;
            ended = &mut work => ended,
            () = gone => {
                cancel.cancel();
                work.await
            }
        };
        match ended {
            Ok(content) => {
                let took = began.elapsed();
                self.log
                    .call_ended(&context, &request.name, took, &content)
                    .await;
                if self.can_notify(&context)
                    && self.document_tools.have_changed(&self.server, &caller)
                {
                    let _ = context.peer.notify_tool_list_changed().await;
                }
                Ok(match client.way.answer() {
                    Some(asked) => asked.into(),
                    None => {
                        let server = &self.server;
                        let id = server.shows_request_ids().then_some(&request_id);
                        result(content, server.shows_sizes(), id).into()
                    }
                })
            }
            Err(mut unknown) => {
                unknown.name = brief(&unknown.name).into_owned();
                Err(ErrorData::new(
                    ErrorCode::METHOD_NOT_FOUND,
                    unknown.to_string(),
                    Some(json!({ "tool": unknown.name, "nearest": unknown.nearest })),
                ))
            }
        }
    }

    async fn set_level(
        &self,
        request: SetLevel,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if modern(&context) || self.server.is_drop_in() {
            return Err(unknown_method("logging/setLevel"));
        }
        self.log.set(request);
        Ok(())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = self.resources(&context, "resources/list")?;
        let cursor = request.and_then(|request| request.cursor);
        let mark = resources.list_mark();
        let mut list = resources::list(&resources, cursor).await?;
        list.resources.extend(fixtures().resources());
        if self.can_notify(&context) {
            self.subscriptions
                .follow_list(resources, mark, context.peer.clone());
        }
        Ok(kept!(list, &context, Fleeting))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.resources(&context, "resources/templates/list")?;
        first_page(request)?;
        let mut list = resources::templates();
        list.resource_templates
            .extend(fixtures().resource_templates());
        Ok(kept!(list, &context, Lasting))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if let Some(result) = fixtures().read_resource(&request.uri) {
            return Ok(result.into());
        }
        let resources = self.resources(&context, "resources/read")?;
        let asked = json!({ "uri": request.uri });
        let read = async |entry: Option<&Entry>| {
            let address = ResourceUri::parse(&request.uri);
            let url = address.and_then(|address| resources.page_url(&address));
            let permitted = self.server.permit_reading(url.as_deref(), entry);
            permitted.map_err(|error| failed(&error))?;
            resources::read(&resources, &request.uri, modern(&context)).await
        };
        let caller = self.caller(&context.extensions, has_session(&context));
        let info = request_info(&context);
        let read = recorded(&self.server, &caller, &info, "resources/read", asked, read).await?;
        Ok(kept!(read, &context, Fleeting).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if fixtures().can_subscribe(&request.uri) {
            return Ok(());
        }
        let resources = self.resources(&context, "resources/subscribe")?;
        if modern(&context) {
            return Err(unknown_method("resources/subscribe"));
        }
        if !self.can_notify(&context) {
            let message = "Changes cannot be sent to a client without a session: subscribe in an MCP session at /mcp, or over SSE, a WebSocket or stdio";
            return Err(ErrorData::invalid_request(message, None));
        }
        self.subscriptions
            .add(resources, context.peer.clone(), request.uri)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if fixtures().can_subscribe(&request.uri) {
            return Ok(());
        }
        self.resources(&context, "resources/unsubscribe")?;
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // The library removes methods that are not offered.
        (!self.server.is_drop_in()).then(|| requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let request = context.request_context();
        let caller = self.caller(&request.extensions, has_session(request));
        let tools_changed = async {
            if context.accepted().tools_list_changed != Some(true) {
                return std::future::pending().await;
            }
            let known = ListedDocumentTools::default();
            loop {
                tokio::time::sleep(LIST_POLL_INTERVAL).await;
                if known.have_changed(&self.server, &caller) {
                    let _ = context.sink().notify_tool_list_changed().await;
                }
            }
        };
        tokio::select! {
            () = resources::listen(self.server.resources(caller.clone()), &context) => {}
            () = tools_changed => {}
            // At shutdown, the client does not wait for it.
            () = self.server.stopped() => {}
        }
        Ok(())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        first_page(request)?;
        let mut list = prompts::list(&self.server)?;
        list.prompts.extend(fixtures().prompts());
        Ok(kept!(list, &context, Lasting))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if let Some(result) = fixtures().get_prompt(&request) {
            return Ok(result.into());
        }
        let asked = json!({ "name": request.name, "arguments": request.arguments });
        let prompt = async |_: Option<&Entry>| prompts::get(&self.server, request);
        let caller = self.caller(&context.extensions, has_session(&context));
        let info = request_info(&context);
        let prompt = recorded(&self.server, &caller, &info, "prompts/get", asked, prompt).await?;
        Ok(prompt.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        if let Some(result) = fixtures().complete(&request) {
            return Ok(result);
        }
        let caller = self.caller(&context.extensions, has_session(&context));
        let resources = self.server.resources(caller);
        match &request.r#ref {
            Reference::Prompt(_) => prompts::complete(&self.server, &resources, request),
            _ => resources::complete(&resources, &request),
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let info = context.peer.peer_info();
        let has_roots = self.server.asks_for_roots()
            && info.is_some_and(|info| info.capabilities.roots.is_some());
        let way = ElicitationMode::Request(context.peer.clone());
        let client = self.client(&context.peer, &context.extensions, has_roots, way);
        let lasting = names_session(&context.extensions);
        let caller = self.caller(&context.extensions, lasting);
        self.server.prelaunch(caller, client);
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        let removed = modern(&context) && REMOVED.contains(&method.as_str());
        let known = METHODS.contains(&method.as_str())
            || !self.server.is_drop_in() && resources::METHODS.contains(&method.as_str())
            || method == "logging/setLevel" && !self.server.is_drop_in()
            || self.server.prompts().is_some() && prompts::METHODS.contains(&method.as_str());
        Err(if known && !removed {
            ErrorData::invalid_params(format!("Invalid params for {method}"), None)
        } else {
            unknown_method(&method)
        })
    }
}

/// Lists have one page.
fn first_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        Some(cursor) => Err(resources::invalid_cursor(&cursor)),
        None => Ok(()),
    }
}

/// The member of `_meta` with the size of the texts of an answer, in tokens.
const TOKENS: &str = "playhouse/tokens";

/// The member of `_meta` of an error with the identifier of the request in the log.
const REQUEST_ID: &str = "playhouse/requestId";

fn result(content: Content, has_size: bool, request: Option<&RequestId>) -> CallToolResult {
    let tokens = has_size.then(|| content.tokens());
    let request = request.filter(|_| content.is_error);
    let items = content
        .items
        .into_iter()
        .map(|item| match item {
            ContentItem::Text(text) => ContentBlock::text(text),
            ContentItem::Image { bytes, mime_type } => {
                ContentBlock::image(STANDARD.encode(bytes), mime_type)
            }
        })
        .collect();
    let mut result = CallToolResult::success(items);
    // Clients compare complete results: a successful one contains only content.
    result.is_error = content.is_error.then_some(true);
    result.structured_content = content.structured;
    let tokens = tokens.map(|tokens| (TOKENS.to_owned(), tokens.into()));
    let request = request.map(|id| (REQUEST_ID.to_owned(), id.as_str().into()));
    let meta: Map<_, _> = tokens.into_iter().chain(request).collect();
    result.meta = (!meta.is_empty()).then_some(MetaObject(meta));
    result
}
