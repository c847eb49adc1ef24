//! Conversion of Chromium's console messages to text.

use crate::backend::{ConsoleMessage, MessageKind, SourceLocation};
use std::collections::HashMap;
use std::sync::Arc;
use wire::cdp::{Event as _, log, runtime};
use wire::{RawEvent, Session};

/// Chromium's name for the group of objects that belong to console messages.
const GROUP: &str = "console";

/// Sessions with objects that pages keep alive because they were logged. They are not needed and are released: several messages at a
/// time, and not before the previous release was confirmed.
#[derive(Default)]
pub(super) struct LoggedObjects(HashMap<Arc<str>, Session>);

impl LoggedObjects {
    /// Records the session of a message that holds objects.
    pub(super) fn record_objects(&mut self, event: &RawEvent, session: impl FnOnce() -> Session) {
        let methods = [
            runtime::ConsoleAPICalled::METHOD,
            runtime::ExceptionThrown::METHOD,
        ];
        // Searching the text is faster than parsing it.
        if methods.contains(&&*event.method) && event.params.get().contains("\"objectId\"") {
            let id = event.session.clone().unwrap_or_else(|| "".into());
            self.0.entry(id).or_insert_with(session);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Releases the objects of the recorded sessions.
    pub(super) fn release(&mut self) -> impl Future<Output = ()> + Send + use<> {
        let replies: Vec<_> = self
            .0
            .drain()
            .map(|(_, session)| {
                session.send(&runtime::ReleaseObjectGroup {
                    object_group: GROUP.to_owned(),
                })
            })
            .collect();
        async {
            // The objects of a closed page are released already.
            drop(futures_util::future::join_all(replies).await);
        }
    }
}

pub(super) fn called(event: &runtime::ConsoleAPICalled) -> ConsoleMessage {
    ConsoleMessage {
        kind: kind(event.kind),
        text: event
            .args
            .iter()
            .map(format_object)
            .collect::<Vec<_>>()
            .join(" "),
        location: event
            .stack_trace
            .as_ref()
            .and_then(|trace| trace.call_frames.first())
            .map(|frame| SourceLocation {
                url: frame.url.clone(),
                line: position(frame.line_number),
                column: position(frame.column_number),
                function: frame.function_name.clone(),
                source: None,
            }),
    }
}

pub(super) fn thrown(event: &runtime::ExceptionThrown) -> ConsoleMessage {
    let details = &event.exception_details;
    ConsoleMessage {
        kind: MessageKind::PageError,
        text: exception(details),
        location: details.url.as_ref().map(|url| SourceLocation {
            url: url.clone(),
            line: position(details.line_number),
            column: position(details.column_number),
            ..SourceLocation::default()
        }),
    }
}

/// Converts a message of the browser itself; `None` for one that is also reported in another way.
pub(super) fn entry(entry: &log::LogEntry) -> Option<ConsoleMessage> {
    // Chromium says so although it cannot start the program.
    let is_wrong = entry.text.starts_with("Launched external handler for ");
    if matches!(entry.source, log::LogSource::Worker) || is_wrong {
        return None;
    }
    Some(ConsoleMessage {
        kind: match entry.level {
            log::LogLevel::Error => MessageKind::Error,
            log::LogLevel::Warning => MessageKind::Warning,
            log::LogLevel::Info => MessageKind::Info,
            log::LogLevel::Verbose | log::LogLevel::Unknown => MessageKind::Verbose,
        },
        text: entry.text.clone(),
        location: entry.url.as_ref().map(|url| SourceLocation {
            url: url.clone(),
            line: position(entry.line_number.unwrap_or(0)),
            ..SourceLocation::default()
        }),
    })
}

/// Returns the message of an exception with its stack trace.
pub(super) fn exception(details: &runtime::ExceptionDetails) -> String {
    match &details.exception {
        Some(object) => match (&object.description, &object.value) {
            (Some(description), _) => description.clone(),
            (None, Some(value)) => plain(value.get()),
            (None, None) => uncaught(&details.text),
        },
        None => uncaught(&details.text),
    }
}

/// Returns a message without the prefix that all such messages have.
fn uncaught(text: &str) -> String {
    let rest = text.strip_prefix("Uncaught ").unwrap_or(text);
    rest.strip_prefix("(in promise) ")
        .unwrap_or(rest)
        .to_owned()
}

fn kind(kind: runtime::ConsoleMessageType) -> MessageKind {
    use runtime::ConsoleMessageType as Type;
    match kind {
        Type::Log | Type::Unknown => MessageKind::Log,
        Type::Debug => MessageKind::Debug,
        Type::Info => MessageKind::Info,
        Type::Error => MessageKind::Error,
        Type::Warning => MessageKind::Warning,
        Type::Dir => MessageKind::Dir,
        Type::Dirxml => MessageKind::Dirxml,
        Type::Table => MessageKind::Table,
        Type::Trace => MessageKind::Trace,
        Type::Clear => MessageKind::Clear,
        Type::StartGroup => MessageKind::StartGroup,
        Type::StartGroupCollapsed => MessageKind::StartGroupCollapsed,
        Type::EndGroup => MessageKind::EndGroup,
        Type::Assert => MessageKind::Assert,
        Type::Profile => MessageKind::Profile,
        Type::ProfileEnd => MessageKind::ProfileEnd,
        Type::Count => MessageKind::Count,
        Type::TimeEnd => MessageKind::TimeEnd,
    }
}

/// Formats an argument of a console call in one line, as a console does.
fn format_object(object: &runtime::RemoteObject) -> String {
    if let Some(value) = &object.unserializable_value {
        return value.clone();
    }
    if let Some(value) = &object.value {
        return plain(value.get());
    }
    // `value` is deserialized to `None` for `null`.
    if object.subtype.as_deref() == Some("null") {
        return "null".to_owned();
    }
    match (&object.preview, object.kind.as_str()) {
        (Some(preview), "object") if object.subtype.as_deref() != Some("error") => {
            previewed(preview)
                .or_else(|| object.description.clone())
                .unwrap_or_default()
        }
        _ => object
            .description
            .clone()
            .unwrap_or_else(|| object.kind.clone()),
    }
}

/// Formats `{a: 1, b: x}` and `[1, 2]`; other objects by their description.
fn previewed(preview: &runtime::ObjectPreview) -> Option<String> {
    let value = |property: &runtime::PropertyPreview| match &property.value_preview {
        Some(nested) => previewed(nested).unwrap_or_default(),
        None => property.value.clone().unwrap_or_default(),
    };
    match preview.subtype.as_deref() {
        Some("array" | "typedarray") => {
            let values: Vec<_> = preview.properties.iter().map(value).collect();
            Some(format!("[{}]", values.join(", ")))
        }
        None if preview.description.as_deref() == Some("Object") => {
            let fields: Vec<_> = preview
                .properties
                .iter()
                .map(|property| format!("{}: {}", property.name, value(property)))
                .collect();
            Some(format!("{{{}}}", fields.join(", ")))
        }
        _ => None,
    }
}

/// Returns a JSON value without the quotes of a string.
fn plain(json: &str) -> String {
    serde_json::from_str::<String>(json).unwrap_or_else(|_| json.to_owned())
}

fn position(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(0)
}
