//! Log messages for a client about its own calls, from the level that it requested.

#![expect(deprecated, reason = "clients of today still ask for it")]

use super::request::modern;
use crate::answers::Content;
use rmcp::RoleServer;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, SetLevelRequestParams};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The parameters of `logging/setLevel`.
pub(super) type SetLevel = SetLevelRequestParams;

/// The level that a connection set with `logging/setLevel`; none until then.
#[derive(Default)]
pub(super) struct Log(Mutex<Option<LoggingLevel>>);

impl Log {
    pub(super) fn set(&self, wanted: SetLevel) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(wanted.level);
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
            false => *self.0.lock().unwrap_or_else(PoisonError::into_inner),
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
