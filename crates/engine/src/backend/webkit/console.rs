//! WebKit's console messages, and their texts.

use crate::backend::stack::{self, Call};
use crate::backend::{ConsoleMessage, MessageKind, SourceLocation};
use serde::Deserialize;
use serde_json::Value;

/// A console message.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Message {
    pub(super) source: String,
    pub(super) level: String,
    pub(super) text: String,
    #[serde(rename = "type")]
    kind: String,
    line: u32,
    column: u32,
    url: String,
    parameters: Vec<Object>,
    stack_trace: Option<Stack>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Stack {
    call_frames: Vec<CallFrame>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CallFrame {
    function_name: String,
    url: String,
    line_number: u32,
    column_number: u32,
}

impl CallFrame {
    /// Returns the name of the function; empty if there is none.
    fn name(&self) -> &str {
        match self.function_name.as_str() {
            "global code" | "module code" | "eval code" => "",
            name => name,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Object {
    #[serde(rename = "type")]
    kind: String,
    subtype: String,
    value: Option<Value>,
    description: String,
    preview: Option<Preview>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Preview {
    description: String,
    subtype: String,
    overflow: bool,
    properties: Vec<Property>,
    entries: Vec<Entry>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Property {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    subtype: String,
    value: String,
    value_preview: Option<Preview>,
    is_internal: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Entry {
    key: Option<Preview>,
    value: Option<Preview>,
}

/// WebKit's prefix of the message of an unhandled rejection.
const REJECTED: &str = "Unhandled Promise Rejection: ";

impl Message {
    /// Whether this is a message of the feature `MockScrollbarsController` about the mouse (`RenderLayer: mouseMovedInContentArea`).
    /// Messages of pages have another source.
    pub(super) fn is_of_scroll_bars(&self) -> bool {
        let is_name =
            |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphabetic());
        let of = self.text.split_once(": ");
        (&*self.source, &*self.level) == ("other", "debug")
            && of.is_some_and(|(area, what)| is_name(area) && is_name(what))
    }

    /// Whether this is the error that the injected code could not access a frame of another origin.
    pub(super) fn is_of_injected_code(&self) -> bool {
        let frames = self.stack_trace.iter().flat_map(|stack| &stack.call_frames);
        let mut urls = frames.map(|frame| frame.url.as_str());
        self.text.starts_with("Blocked a frame with origin")
            && urls.all(|url| url.is_empty() || url.starts_with("web-inspector:"))
    }

    pub(super) fn to_message(&self) -> ConsoleMessage {
        let frames = self
            .stack_trace
            .as_ref()
            .map(|stack| &stack.call_frames[..]);
        let frames = frames.unwrap_or_default();
        let (kind, text) = match (&*self.source, &*self.level) {
            ("console-api", _) => (self.kind(), self.arguments()),
            ("javascript", "error") => (MessageKind::PageError, self.with_stack(frames)),
            (_, level) => (of_level(level), self.text.clone()),
        };
        // The location is that of the first frame of the stack, or else that of the message.
        let first = frames.first();
        let (url, line, column) = first.map_or((&self.url, self.line, self.column), |frame| {
            (&frame.url, frame.line_number, frame.column_number)
        });
        ConsoleMessage {
            kind,
            text,
            location: (!url.is_empty()).then(|| SourceLocation {
                url: url.clone(),
                line: line.saturating_sub(1),
                column: column.saturating_sub(1),
                function: first.map(CallFrame::name).unwrap_or_default().to_owned(),
                source: None,
            }),
        }
    }

    fn kind(&self) -> MessageKind {
        match &*self.kind {
            "dir" => MessageKind::Dir,
            "dirxml" => MessageKind::Dirxml,
            "table" => MessageKind::Table,
            "trace" => MessageKind::Trace,
            "clear" => MessageKind::Clear,
            "startGroup" => MessageKind::StartGroup,
            "startGroupCollapsed" => MessageKind::StartGroupCollapsed,
            "endGroup" => MessageKind::EndGroup,
            "assert" => MessageKind::Assert,
            "timing" => MessageKind::TimeEnd,
            "profile" => MessageKind::Profile,
            "profileEnd" => MessageKind::ProfileEnd,
            _ => match &*self.level {
                "debug" => MessageKind::Debug,
                "info" => MessageKind::Info,
                "warning" => MessageKind::Warning,
                "error" => MessageKind::Error,
                _ => MessageKind::Log,
            },
        }
    }

    fn arguments(&self) -> String {
        if self.parameters.is_empty() {
            return self.text.clone();
        }
        let parts: Vec<_> = self.parameters.iter().map(Object::shown).collect();
        parts.join(" ")
    }

    fn with_stack(&self, frames: &[CallFrame]) -> String {
        let text = self.text.strip_prefix(REJECTED).unwrap_or(&self.text);
        let calls = frames.iter().map(|frame| Call {
            function: frame.name(),
            url: &frame.url,
            line: frame.line_number,
            column: frame.column_number,
        });
        stack::with_stack(text, calls)
    }
}

impl Object {
    fn shown(&self) -> String {
        match (&self.value, &self.preview) {
            (Some(Value::String(text)), _) => text.clone(),
            (None | Some(Value::Null), _) if self.subtype == "null" => "null".to_owned(),
            (Some(value), _) => value.to_string(),
            (None, Some(preview)) if self.subtype != "error" => preview.shown(),
            _ if self.kind == "undefined" => "undefined".to_owned(),
            _ => self.description.clone(),
        }
    }
}

impl Preview {
    fn shown(&self) -> String {
        let visible = self
            .properties
            .iter()
            .filter(|property| !property.is_internal);
        let mut parts: Vec<String> = match &*self.subtype {
            "array" => visible.map(Property::value).collect(),
            "node" | "regexp" | "date" | "error" => return self.description.clone(),
            _ => visible
                .map(|property| format!("{}: {}", property.name, property.value()))
                .collect(),
        };
        for entry in &self.entries {
            let value = entry.value.as_ref().map(Self::shown).unwrap_or_default();
            parts.push(match &entry.key {
                Some(key) => format!("{} => {value}", key.shown()),
                None => value,
            });
        }
        if self.overflow {
            parts.push("…".to_owned());
        }
        let inside = parts.join(", ");
        match &*self.subtype {
            "array" => format!("[{inside}]"),
            "map" | "set" => format!("{} {{{inside}}}", self.description),
            _ if self.properties.is_empty() && self.entries.is_empty() => {
                match self.description.as_str() {
                    "" | "Object" => "{}".to_owned(),
                    other => other.to_owned(),
                }
            }
            _ if matches!(self.description.as_str(), "" | "Object") => format!("{{{inside}}}"),
            _ => format!("{} {{{inside}}}", self.description),
        }
    }
}

impl Property {
    fn value(&self) -> String {
        match &self.value_preview {
            Some(preview) if self.subtype == "array" => {
                format!("Array({})", preview.properties.len())
            }
            Some(_) if self.kind == "object" && matches!(&*self.subtype, "") => "Object".to_owned(),
            Some(preview) => preview.shown(),
            None => self.value.clone(),
        }
    }
}

fn of_level(level: &str) -> MessageKind {
    match level {
        "warning" => MessageKind::Warning,
        "error" => MessageKind::Error,
        "debug" => MessageKind::Verbose,
        _ => MessageKind::Info,
    }
}
