//! The last calls of a session with their answers, which the dashboard shows. Their number and size are limited.

use super::expiry::unix_ms;
use crate::access::audit;
use crate::access::principal::Permission;
use crate::answers::bound::truncated;
use crate::calls::tool_spec::ToolSpec;
use crate::config::Secrets;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};
use tokio::sync::watch;

/// The largest number of calls that are kept.
const MAX_CALLS: usize = 200;
/// The largest size of the texts of all calls that are kept, in bytes.
const MAX_SIZE: usize = 256 * 1024;
/// The largest size of the text of an answer, in bytes.
const MAX_ANSWER: usize = 8 * 1024;
/// The largest size of the arguments, in bytes.
const MAX_ARGUMENTS: usize = 2 * 1024;
/// The largest size of the arguments in which secrets are masked, in bytes.
const MAX_MASKED: usize = 16 * 1024;
/// The cost of a value in addition to its text, in bytes.
const MIN_VALUE_SIZE: usize = 8;

/// A call of a tool. Secrets and passwords are masked.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoggedCall {
    /// The number in the session, from 1.
    pub(crate) number: u64,
    /// The name of the tool.
    pub(crate) tool: &'static str,
    /// The arguments as JSON.
    pub(crate) arguments: String,
    /// The time of arrival, in milliseconds since 1970.
    pub(crate) began: u64,
    /// The duration in milliseconds; `None` while the call runs.
    pub(crate) duration: Option<u64>,
    /// Whether the answer is an error.
    pub(crate) is_error: bool,
    /// The text of the answer.
    pub(crate) answer: String,
    /// The permission that a principal needs to see the arguments and the answer.
    #[serde(skip)]
    permission: Permission,
    /// The value of the log's counter at the last change of this call.
    #[serde(skip)]
    version: u64,
}

/// The last calls of a session.
pub(crate) struct CallLog {
    calls: Mutex<Calls>,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct Calls {
    kept: VecDeque<LoggedCall>,
    count: u64,
    size: usize,
    version: u64,
}

impl Default for CallLog {
    fn default() -> Self {
        Self {
            calls: Mutex::default(),
            changes: watch::Sender::new(0),
        }
    }
}

/// A call that runs. Dropping it without [`RunningCall::end`] logs that the call was cancelled.
pub(crate) struct RunningCall {
    log: Arc<CallLog>,
    number: u64,
    started: Instant,
    /// The arguments with secrets, within [`MAX_MASKED`].
    arguments: Option<Value>,
    secrets: Secrets,
}

impl CallLog {
    /// Logs the beginning of a call by a caller with that permission. Texts that the tool may type are not shown before it has succeeded,
    /// because they can be passwords.
    pub(crate) fn begin(
        self: &Arc<Self>,
        tool: &ToolSpec,
        caller: Permission,
        arguments: &Map<String, Value>,
        secrets: &Secrets,
    ) -> RunningCall {
        // The steps may have needed each permission of the caller.
        let permission = match tool.has_steps {
            true => caller,
            false => tool.permission,
        };
        let mut room = MAX_MASKED;
        let arguments = members_within(arguments, &mut room);
        let shown = shown(arguments.clone(), secrets, !tool.acts());
        let mut calls = self.calls();
        calls.count += 1;
        calls.version += 1;
        let call = LoggedCall {
            number: calls.count,
            tool: tool.name,
            arguments: shown,
            began: unix_ms(SystemTime::now()),
            duration: None,
            is_error: false,
            answer: String::new(),
            permission,
            version: calls.version,
        };
        let number = call.number;
        calls.size += call.size();
        calls.kept.push_back(call);
        calls.trim();
        drop(calls);
        self.on_change();
        RunningCall {
            log: self.clone(),
            number,
            started: Instant::now(),
            arguments: Some(arguments),
            secrets: secrets.clone(),
        }
    }

    /// Returns the calls that began or ended after `version`, and the version of now.
    pub(crate) fn since(&self, version: u64) -> (Vec<LoggedCall>, u64) {
        let calls = self.calls();
        let changed = calls.kept.iter().filter(|call| call.version > version);
        (changed.cloned().collect(), calls.version)
    }

    /// Returns the number of calls so far.
    pub(crate) fn count(&self) -> u64 {
        self.calls().count
    }

    /// Returns a receiver of changes of the log and of who controls the session.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Reports a change to the receivers.
    pub(super) fn on_change(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Calls {
    fn trim(&mut self) {
        while self.kept.len() > MAX_CALLS || self.size > MAX_SIZE {
            let Some(oldest) = self.kept.pop_front() else {
                return;
            };
            self.size -= oldest.size();
        }
    }
}

impl LoggedCall {
    /// Returns the call as a principal with that permission may see it: without arguments and answer if its tool needs another permission.
    pub(crate) fn visible_to(self, permission: Permission) -> Self {
        if permission >= self.permission {
            return self;
        }
        Self {
            arguments: String::new(),
            answer: format!("Only visible with {}.", self.permission.scope()),
            ..self
        }
    }

    fn size(&self) -> usize {
        self.arguments.len() + self.answer.len()
    }
}

impl RunningCall {
    /// Logs the answer. `was_interrupted` is whether a dialog kept the tool from typing its texts.
    pub(crate) fn end(mut self, answer: &str, is_error: bool, was_interrupted: bool) {
        self.log_end(answer, is_error, !is_error && !was_interrupted);
    }

    fn log_end(&mut self, answer: &str, is_error: bool, has_typed: bool) {
        let Some(arguments) = self.arguments.take() else {
            return;
        };
        let duration = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let arguments = has_typed.then(|| shown(arguments, &self.secrets, true));
        let mut calls = self.log.calls();
        calls.version += 1;
        let version = calls.version;
        let number = self.number;
        let Some(call) = calls.kept.iter_mut().rfind(|call| call.number == number) else {
            return;
        };
        let before = call.size();
        call.duration = Some(duration);
        call.is_error = is_error;
        call.answer = truncated(answer, MAX_ANSWER);
        call.version = version;
        if let Some(arguments) = arguments {
            call.arguments = arguments;
        }
        let after = call.size();
        calls.size = calls.size - before + after;
        calls.trim();
        drop(calls);
        self.log.on_change();
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.log_end("The call was cancelled.", true, false);
    }
}

/// Returns the arguments as JSON without secrets; `is_typed` is whether the tool has typed its texts, or types none.
fn shown(arguments: Value, secrets: &Secrets, is_typed: bool) -> String {
    let shown = audit::shown(arguments, secrets, is_typed);
    truncated(&shown.to_string(), MAX_ARGUMENTS)
}

/// Returns a copy of a value that has at most `room` bytes. What does not fit is left out as a whole: a part of a secret would not be masked.
fn within(value: &Value, room: &mut usize) -> Value {
    match value {
        Value::String(text) if !take(room, text.len()) => {
            json!({ "leftOut": { "bytes": text.len() } })
        }
        Value::Array(items) => {
            let mut kept = Vec::new();
            for item in items {
                if !take(room, 0) {
                    let rest = items.len() - kept.len();
                    kept.push(json!({ "leftOut": { "items": rest } }));
                    break;
                }
                kept.push(within(item, room));
            }
            kept.into()
        }
        Value::Object(members) => members_within(members, room),
        scalar => scalar.clone(),
    }
}

/// Returns a copy of an object that has at most `room` bytes.
fn members_within(members: &Map<String, Value>, room: &mut usize) -> Value {
    let mut kept = Map::new();
    for (name, value) in members {
        if !take(room, name.len()) {
            let rest = members.len() - kept.len();
            kept.insert("leftOut".to_owned(), json!({ "members": rest }));
            break;
        }
        kept.insert(name.clone(), within(value, room));
    }
    kept.into()
}

/// Takes the bytes of a value from the room; returns false if they do not fit.
fn take(room: &mut usize, bytes: usize) -> bool {
    let rest = room.checked_sub(bytes.saturating_add(MIN_VALUE_SIZE));
    *room = rest.unwrap_or(*room);
    rest.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::tool_spec::OutputFormat;
    use serde_json::json;

    const TOOL: ToolSpec = ToolSpec::internal("fill", OutputFormat::Json);

    fn begin(log: &Arc<CallLog>, secrets: &Secrets, value: &str) -> RunningCall {
        let arguments = json!({ "selector": "#a", "value": value });
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        log.begin(&TOOL, Permission::Act, &arguments, secrets)
    }

    #[test]
    fn texts_are_shown_after_they_were_typed_and_without_secrets() {
        let (log, secrets) = (Arc::new(CallLog::default()), Secrets::default());
        let first = begin(&log, &secrets, "hello");
        let (calls, version) = log.since(0);
        assert!(!calls[0].arguments.contains("hello") && calls[0].duration.is_none());
        first.end("Done", false, false);
        let (calls, later) = log.since(version);
        assert!(calls[0].arguments.contains("hello") && calls[0].duration.is_some());
        let second = begin(&log, &secrets, "correct horse battery");
        secrets.mask_value("correct horse battery");
        second.end("Done", false, false);
        drop(begin(&log, &secrets, "never typed"));
        let (calls, _) = log.since(later);
        assert_eq!(calls.len(), 2);
        assert!(!calls[0].arguments.contains("horse"), "{calls:?}");
        assert!(
            !calls[1].arguments.contains("never") && calls[1].is_error,
            "{calls:?}"
        );
    }

    #[test]
    fn no_part_of_a_secret_is_left_where_arguments_are_cut() {
        let (log, secrets) = (Arc::new(CallLog::default()), Secrets::default());
        let secret = "0123456789".repeat(50);
        secrets.mask_value(&secret);
        let before =
            (MAX_ARGUMENTS - 100..=MAX_ARGUMENTS).map(|length| "x".repeat(length) + &secret);
        // Masks are shorter than this secret, so that the end of the text would be shown.
        let many = (1..2 * MAX_MASKED / secret.len()).map(|count| secret.repeat(count));
        for text in before.chain(many) {
            begin(&log, &secrets, &text).end("Done", false, false);
            let (calls, _) = log.since(0);
            let shown = &calls.last().unwrap().arguments;
            assert!(!shown.contains("0123"), "{} bytes: {shown}", text.len());
        }
    }

    #[test]
    fn large_arguments_are_not_copied() {
        let (log, secrets) = (Arc::new(CallLog::default()), Secrets::default());
        let large = "x".repeat(MAX_MASKED);
        let many = vec![json!(true); MAX_MASKED];
        let arguments = json!({ "script": large, "many": many, "selector": "#a" });
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let call = log.begin(&TOOL, Permission::Act, &arguments, &secrets);
        let kept = call.arguments.clone().unwrap();
        assert!(kept.to_string().len() < 2 * MAX_MASKED);
        assert_eq!(
            kept["script"],
            json!({ "leftOut": { "bytes": MAX_MASKED } })
        );
        let items = kept["many"].as_array().unwrap();
        let rest = MAX_MASKED - (items.len() - 1);
        assert_eq!(
            *items.last().unwrap(),
            json!({ "leftOut": { "items": rest } })
        );
        assert!(rest > 0);
    }

    #[test]
    fn a_call_is_shown_to_those_who_may_call_its_tool() {
        let mut admin = ToolSpec::internal("cookies", OutputFormat::Json);
        admin.permission = Permission::Admin;
        let mut batch = TOOL;
        batch.has_steps = true;
        let (log, secrets) = (Arc::new(CallLog::default()), Secrets::default());
        let arguments = json!({ "name": "sid" });
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        for tool in [&admin, &batch] {
            log.begin(tool, Permission::Admin, &arguments, &secrets)
                .end("sid=1234", false, false);
        }
        for call in log.since(0).0 {
            let seen = call.clone().visible_to(Permission::Act);
            assert!(
                seen.arguments.is_empty() && !seen.answer.contains("1234"),
                "{seen:?}"
            );
            assert_eq!(call.clone().visible_to(Permission::Admin), call);
        }
    }

    #[test]
    fn number_and_size_of_calls_are_limited() {
        let (log, secrets) = (Arc::new(CallLog::default()), Secrets::default());
        for _ in 0..3 * MAX_CALLS {
            begin(&log, &secrets, "x").end("short", false, false);
        }
        assert_eq!(log.since(0).0.len(), MAX_CALLS);
        for _ in 0..MAX_CALLS {
            begin(&log, &secrets, "x").end(&"é".repeat(MAX_ANSWER), false, false);
        }
        let kept = log.since(0).0;
        let size: usize = kept.iter().map(LoggedCall::size).sum();
        assert!(size <= MAX_SIZE && kept.len() > 10, "{size} {}", kept.len());
        assert_eq!(log.count(), 4 * MAX_CALLS as u64);
    }
}
