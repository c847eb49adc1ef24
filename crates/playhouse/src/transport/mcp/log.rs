//! Log messages for a client: about its own calls, from the level that it requested, and links to the dashboard.

#![expect(deprecated, reason = "clients of today still ask for it")]

use super::request::modern;
use crate::answers::Content;
use rmcp::RoleServer;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, SetLevelRequestParams};
use rmcp::service::{Peer, RequestContext};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use task::Task;
use tokio::sync::watch;

/// The parameters of `logging/setLevel`.
pub(super) type SetLevel = SetLevelRequestParams;

/// The level that a connection set with `logging/setLevel`; none until then.
type Level = Arc<Mutex<Option<LoggingLevel>>>;

/// The log messages of a connection.
#[derive(Default)]
pub(super) struct Log {
    level: Level,
    links: OnceLock<Task>,
}

impl Log {
    pub(super) fn set(&self, wanted: SetLevel) {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(wanted.level);
    }

    /// Logs each link that opens the dashboard at level notice, until the connection ends. The server selects what a client gets that has
    /// set no level. <https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging>
    pub(super) fn follow_links(
        &self,
        mut links: watch::Receiver<Option<String>>,
        peer: Peer<RoleServer>,
    ) {
        let level = self.level.clone();
        self.links.get_or_init(|| {
            task::spawn("links to the dashboard", async move {
                loop {
                    let link = links.borrow_and_update().clone();
                    let wanted = requested(&level).unwrap_or(LoggingLevel::Notice);
                    if let Some(link) = link
                        && rank(LoggingLevel::Notice) >= rank(wanted)
                    {
                        let text = json!(format!("Dashboard (this link is valid once): {link}"));
                        let message =
                            LoggingMessageNotificationParam::new(LoggingLevel::Notice, text)
                                .with_logger("dashboard");
                        let _ = peer.notify_logging_message(message).await;
                    }
                    if links.changed().await.is_err() {
                        return;
                    }
                }
            })
        });
    }

    /// Logs the end of a call: an error at level warning, others at level debug.
    pub(super) async fn call_ended(
        &self,
        context: &RequestContext<RoleServer>,
        tool: &str,
        took: Duration,
        content: &Content,
    ) {
        let wanted = match modern(context) {
            // Without a connection, each request has its own level.
            true => context.meta.log_level(),
            false => requested(&self.level),
        };
        let level = match content.is_error {
            true => LoggingLevel::Warning,
            false => LoggingLevel::Debug,
        };
        if wanted.is_none_or(|wanted| rank(level) < rank(wanted)) {
            return;
        }
        let code = content
            .structured
            .as_ref()
            .map(|object| &object["errorCode"]);
        let code = code.and_then(Value::as_str);
        let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let data = match code {
            Some(code) => json!({ "tool": tool, "milliseconds": milliseconds, "errorCode": code }),
            None => json!({ "tool": tool, "milliseconds": milliseconds }),
        };
        let message = LoggingMessageNotificationParam::new(level, data).with_logger("tools");
        // The client may have disconnected.
        let _ = context.peer.notify_logging_message(message).await;
    }
}

fn requested(level: &Level) -> Option<LoggingLevel> {
    *level.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The order of RFC 5424, the most severe last.
fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
