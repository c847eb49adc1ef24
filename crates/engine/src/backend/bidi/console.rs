//! Conversion of Firefox's console messages to text.

use crate::backend::stack::{self, Call};
use crate::backend::{ConsoleMessage, MessageKind, SourceLocation};
use serde_json::Value;
use wire::bidi::log::EntryAdded;
use wire::bidi::script::{ExceptionDetails, RemoteValue, StackTrace};

pub(super) fn message(entry: &EntryAdded) -> ConsoleMessage {
    let text = entry.text.clone().unwrap_or_default();
    let stack = entry.stack_trace.as_ref();
    let (kind, text) = match entry.kind.as_str() {
        "console" => (kind(&entry.method), arguments(&entry.args, &text)),
        _ if entry.level == "error" => {
            let text = match text.strip_prefix(NO_ERROR) {
                Some(thrown) => thrown.to_owned(),
                None => with_stack(&text, stack.unwrap_or(&StackTrace::default())),
            };
            (MessageKind::PageError, text)
        }
        _ => (level(&entry.level), text),
    };
    let frame = stack.and_then(|stack| stack.call_frames.first());
    ConsoleMessage {
        kind,
        text,
        location: frame.map(|frame| SourceLocation {
            url: frame.url.clone(),
            line: frame.line_number,
            column: frame.column_number,
            function: frame.function_name.clone(),
            source: None,
        }),
    }
}

/// Firefox's prefix of the message for a thrown value that is not an error.
const NO_ERROR: &str = "uncaught exception: ";
/// Firefox's prefix of the message for an error without a stack trace.
const WITHOUT_STACK: &str = "Missing stack, unable to build exceptionDetails for exception: ";

/// Returns the message of a rejection with an error that has no stack trace; `None` for other messages.
pub(super) fn rejection(message: &str) -> Option<String> {
    let (_, words) = message.split_once(WITHOUT_STACK)?;
    Some(words.to_owned())
}

/// Returns the message of an exception with its stack trace.
pub(super) fn exception(details: &ExceptionDetails) -> String {
    match details.exception.kind.as_str() {
        "error" | "" => with_stack(&details.text, &details.stack_trace),
        "string" => details.exception.decode().unwrap_or_default(),
        "object" if details.exception.value.is_some() => plain(&details.exception).to_string(),
        _ => match plain(&details.exception) {
            Value::Null => details.exception.kind.clone(),
            value => value.to_string(),
        },
    }
}

fn with_stack(text: &str, stack: &StackTrace) -> String {
    let calls = stack.call_frames.iter().map(|frame| Call {
        function: &frame.function_name,
        url: &frame.url,
        line: frame.line_number + 1,
        column: frame.column_number + 1,
    });
    stack::with_stack(text, calls)
}

fn kind(method: &str) -> MessageKind {
    match method {
        "debug" => MessageKind::Debug,
        "info" => MessageKind::Info,
        "warn" => MessageKind::Warning,
        "error" => MessageKind::Error,
        "dir" => MessageKind::Dir,
        "dirxml" => MessageKind::Dirxml,
        "table" => MessageKind::Table,
        "trace" => MessageKind::Trace,
        "clear" => MessageKind::Clear,
        "group" => MessageKind::StartGroup,
        "groupCollapsed" => MessageKind::StartGroupCollapsed,
        "groupEnd" => MessageKind::EndGroup,
        "assert" => MessageKind::Assert,
        "count" => MessageKind::Count,
        "timeEnd" => MessageKind::TimeEnd,
        _ => MessageKind::Log,
    }
}

fn level(level: &str) -> MessageKind {
    match level {
        "warn" => MessageKind::Warning,
        "error" => MessageKind::Error,
        "debug" => MessageKind::Verbose,
        _ => MessageKind::Info,
    }
}

/// Formats all arguments in one line. The message of an error is only in `text`, between Firefox's texts for the other arguments.
fn arguments(arguments: &[RemoteValue], text: &str) -> String {
    let mut rest = text;
    let mut parts = Vec::with_capacity(arguments.len());
    for (index, argument) in arguments.iter().enumerate() {
        if argument.kind == "error" {
            let after: Vec<_> = arguments[index + 1..].iter().map(written).collect();
            let after = if after.is_empty() {
                String::new()
            } else {
                format!(" {}", after.join(" "))
            };
            let own = rest.strip_suffix(&after).unwrap_or(rest);
            parts.push(if own.is_empty() { "Error" } else { own }.to_owned());
            rest = rest.strip_prefix(own).unwrap_or_default();
        } else {
            parts.push(format_value(argument));
            rest = rest.strip_prefix(&written(argument)).unwrap_or(rest);
        }
        rest = rest.strip_prefix(' ').unwrap_or(rest);
    }
    parts.join(" ")
}

/// Returns Firefox's text for an argument.
fn written(value: &RemoteValue) -> String {
    match value.kind.as_str() {
        "array" | "object" => {
            let count = value.decode::<Vec<Value>>();
            let name = if value.kind == "array" {
                "Array"
            } else {
                "Object"
            };
            format!("{name}({})", count.unwrap_or_default().len())
        }
        "string" | "number" | "boolean" => format_value(value),
        kind => kind.to_owned(),
    }
}

/// Formats an argument of a console call in one line, as a console does.
fn format_value(value: &RemoteValue) -> String {
    match value.kind.as_str() {
        "string" => value.decode().unwrap_or_default(),
        "array" => {
            let items: Vec<RemoteValue> = value.decode().unwrap_or_default();
            format!(
                "[{}]",
                items.iter().map(inner).collect::<Vec<_>>().join(", ")
            )
        }
        "object" => {
            let entries: Vec<(Value, RemoteValue)> = value.decode().unwrap_or_default();
            let field = |(key, value): &(Value, RemoteValue)| {
                let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
                format!("{key}: {}", inner(value))
            };
            format!(
                "{{{}}}",
                entries.iter().map(field).collect::<Vec<_>>().join(", ")
            )
        }
        "undefined" | "null" => value.kind.clone(),
        "number" | "boolean" | "bigint" => match value.decode::<Value>() {
            Some(Value::String(text)) if value.kind == "bigint" => format!("{text}n"),
            // The value is a number that JSON does not have.
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
            None => value.kind.clone(),
        },
        "node" => node(value),
        "date" | "regexp" => match plain(value) {
            Value::String(text) => text,
            other => other.to_string(),
        },
        kind => kind.to_owned(),
    }
}

/// Formats a nested value. Deeper levels are left out.
fn inner(value: &RemoteValue) -> String {
    match value.kind.as_str() {
        "array" => {
            let items: Vec<Value> = value.decode().unwrap_or_default();
            format!("Array({})", items.len())
        }
        "object" => "Object".to_owned(),
        _ => format_value(value),
    }
}

fn node(value: &RemoteValue) -> String {
    let facts: Value = value.decode().unwrap_or_default();
    let Some(name) = facts["localName"].as_str() else {
        return "node".to_owned();
    };
    let attribute = |name: &str| facts["attributes"][name].as_str().unwrap_or_default();
    let mut text = name.to_owned();
    if !attribute("id").is_empty() {
        text += &format!("#{}", attribute("id"));
    }
    for class in attribute("class").split_ascii_whitespace() {
        text += &format!(".{class}");
    }
    text
}

/// Converts a value of the page to JSON.
pub(super) fn plain(value: &RemoteValue) -> Value {
    match value.kind.as_str() {
        "array" | "set" | "nodelist" | "htmlcollection" => {
            let items: Vec<RemoteValue> = value.decode().unwrap_or_default();
            Value::Array(items.iter().map(plain).collect())
        }
        "object" | "map" => {
            let entries: Vec<(Value, RemoteValue)> = value.decode().unwrap_or_default();
            let entry = |(key, value): &(Value, RemoteValue)| {
                let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
                (key, plain(value))
            };
            Value::Object(entries.iter().map(entry).collect())
        }
        "undefined" | "null" => Value::Null,
        _ => value
            .decode()
            .unwrap_or_else(|| Value::String(value.kind.clone())),
    }
}
