//! What a request says about itself: the revision of MCP, its identifiers and its MCP session.

use crate::files::resource_uri::brief;
use crate::telemetry::{RequestId, RequestInfo, TraceHeaders};
use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData, Extensions, ProtocolVersion};
use rmcp::service::RequestContext;

/// Returns whether the client uses a revision without `initialize`.
pub(super) fn modern(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Returns what identifies the request in the log and in traces.
pub(super) fn request_info(context: &RequestContext<RoleServer>) -> RequestInfo {
    let parts = context.extensions.get::<http::request::Parts>();
    let meta = &context.meta;
    let header = |name: &str| {
        let value = parts?.headers.get(name)?.to_str().ok()?;
        Some(value.to_owned())
    };
    RequestInfo {
        id: parts
            .and_then(|parts| parts.extensions.get::<RequestId>())
            .cloned()
            .unwrap_or_else(RequestId::generate),
        json_rpc_id: Some(context.id.to_string()),
        mcp_session: header("mcp-session-id"),
        mcp_version: context
            .protocol_version()
            .map(|version| version.to_string()),
        message_trace: TraceHeaders {
            parent: meta.get_traceparent().map(str::to_owned),
            state: meta.get_tracestate().map(str::to_owned),
        },
        http_trace: parts
            .map(|parts| TraceHeaders::of_headers(&parts.headers))
            .unwrap_or_default(),
    }
}

/// Returns whether the request belongs to an MCP session over HTTP.
pub(super) fn has_session(context: &RequestContext<RoleServer>) -> bool {
    !modern(context) && names_session(&context.extensions)
}

/// Returns whether a request names an MCP session over HTTP.
pub(super) fn names_session(extensions: &Extensions) -> bool {
    let parts = extensions.get::<http::request::Parts>();
    parts.is_some_and(|parts| parts.headers.contains_key("mcp-session-id"))
}

/// Returns the error for an unknown method.
pub(super) fn unknown_method(method: &str) -> ErrorData {
    let message = format!("Method not found: {}", brief(method));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}
