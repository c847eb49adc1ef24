//! How clients reach the server: MCP over stdio, HTTP, SSE and WebSockets, and who may connect.

pub(crate) mod auth;
pub(crate) mod handover;
pub(crate) mod http;
pub(crate) mod listener;
pub(crate) mod mcp;
mod request_policy;
pub(crate) mod serve;
mod sse;
pub(crate) mod stdio;
pub(crate) mod tls;
mod websocket;
