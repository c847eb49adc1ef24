//! Transports: MCP over stdio, Streamable HTTP, SSE and WebSocket, with authentication.

pub(crate) mod auth;
pub(crate) mod dashboard;
pub(crate) mod handover;
pub(crate) mod http;
pub(crate) mod listener;
pub(crate) mod mcp;
mod rate_limit;
mod request_policy;
pub(crate) mod serve;
mod sse;
pub(crate) mod stdio;
pub(crate) mod tls;
mod upgrade;
mod websocket;
#[cfg(unix)]
pub(crate) mod workspace_socket;
