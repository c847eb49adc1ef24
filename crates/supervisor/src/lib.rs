//! Runs the app under test and its servers: the protocol of server commands, and a server command for any dev command.
//!
//! An app belongs to its supervisor, a process that outlives the command which starts it. The supervisor owns the app's output and writes
//! the logs, waits until the app is ready, records how it ended, and terminates it. All processes of an app have a mark in their
//! environment, by which those of a killed supervisor are found. This crate does not depend on browsers and MCP.

#[cfg(unix)]
mod answer;
#[cfg(unix)]
mod app;
#[cfg(unix)]
mod command;
#[cfg(unix)]
mod error;
#[cfg(unix)]
mod list;
#[cfg(unix)]
mod logs;
pub mod owners;
#[cfg(unix)]
mod port;
#[cfg(unix)]
mod process_tree;
pub mod processes;
mod protocol;
#[cfg(unix)]
mod readiness;
#[cfg(unix)]
mod running;
#[cfg(unix)]
mod state;
#[cfg(unix)]
mod supervisor;

#[cfg(unix)]
pub use app::{App, Request};
#[cfg(unix)]
pub use error::AppError;
#[cfg(unix)]
pub use list::{AppEntry, follow, list};
pub use protocol::{Answer, Logs, Status};
#[cfg(unix)]
pub use readiness::responds;
#[cfg(unix)]
pub use supervisor::{SUPERVISOR, close_inherited_files, supervise};
