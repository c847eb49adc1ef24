//! Shared test code: the fixture site, an MCP client for the built binary, the test harness, and the runner of the Markdown specs.
//!
//! Functions panic with a sentence instead of returning an error, because a test cannot handle one.

#[cfg(target_os = "linux")]
mod applications;
mod apps;
mod canary;
mod client;
mod collector;
mod connection;
mod corpus;
mod engine;
mod eventually;
#[cfg(target_os = "linux")]
mod grid;
pub mod harness;
mod http_server;
mod markdown;
#[cfg(target_os = "linux")]
mod network;
mod parity;
mod prerequisites;
pub mod process_stats;
#[cfg(target_os = "linux")]
mod processes;
mod proxy;
mod remote;
mod results;
mod site;
pub mod snapshot;
mod spec;
mod tasks;
mod tls_site;
#[cfg(unix)]
mod user_browser;
mod versions;
mod web_socket;
mod widgets;
#[cfg(target_os = "linux")]
mod wine;

#[cfg(target_os = "linux")]
pub use applications::{Applications, ApplicationsReport};
pub use apps::{NotesApp, broken_command, command_in_bash, command_in_node, misbehaving_app};
pub use canary::{Canary, Hit, Protocol};
pub use client::{CallResult, Client, Image, Launch, NoAnswer, Pending, PooledClient};
pub use collector::{Collector, ExportedSpan};
pub use connection::{Connection, Event};
pub use corpus::{Attack, Exception, Opening};
pub use engine::Engine;
pub use eventually::{Condition, eventually};
#[cfg(target_os = "linux")]
pub use grid::{Grid, unused_port};
pub use http_server::{HttpAnswer, HttpServer};
#[cfg(target_os = "linux")]
pub use network::Network;
pub use parity::{Coverage, Parity, ParityReport};
pub use prerequisites::{
    Clients, Prerequisite, Website, clients, nginx, node, playwright_mcp, tls_files,
    updates_expectations,
};
#[cfg(target_os = "linux")]
pub use processes::Processes;
pub use proxy::{Proxy, ProxyKind};
pub use remote::RemoteBrowser;
pub use site::{Request, Resource, Site};
pub use spec::{
    KnownFailure, Placeholders, Report, Runner, SAME_ON_EACH_ENGINE, SpecCase, difference,
    known_failures, misfit, spec_cases,
};
pub use tasks::Outcome;
pub use testkit_macros::test;
pub use tls_site::{ClientCertificates, NO_CERTIFICATE, TlsSite, WITH_CERTIFICATE};
#[cfg(unix)]
pub use user_browser::{BrowserOpener, UserBrowser};
pub use versions::outdated_entries;
pub use web_socket::{Closing, WebSocketClient};
pub use widgets::{Counts, Judgement, Widgets, WidgetsReport};
#[cfg(target_os = "linux")]
pub use wine::{Running, StandIn, launch_under_wine, path_under_wine};
