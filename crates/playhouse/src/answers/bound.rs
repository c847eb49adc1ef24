//! The size limits of all answers, so that neither a page nor a client decides how much a model has to read or a client to store.

use super::{Content, ContentItem};
use crate::calls::tool_spec::OutputFormat;
use serde_json::Value;

/// The largest size of an answer, in bytes; structured content may have the same size in addition.
const MAX_BYTES: usize = 1024 * 1024;

/// The largest size of an error, in bytes. Errors repeat arguments that the caller sent.
const MAX_ERROR_BYTES: usize = 32 * 1024;

/// The largest size of each fact of an error, in bytes.
const MAX_FACT_BYTES: usize = 2 * 1024;

/// The fact that states its own truncation.
const BOUNDED: &str = "evidence";

impl Content {
    /// Returns the total size of the texts, in bytes.
    pub(crate) fn size(&self) -> usize {
        let texts = self.items.iter().map(|item| match item {
            ContentItem::Text(text) => text.len(),
            ContentItem::Image { .. } => 0,
        });
        texts.sum()
    }

    /// Truncates an answer that is too large and adds a note about the truncation.
    pub(crate) fn bounded(mut self, output_format: OutputFormat) -> Self {
        let most = match self.is_error {
            true => MAX_ERROR_BYTES,
            false => MAX_BYTES,
        };
        let is_large = self.size() > most;
        if let Some(value) = &mut self.structured
            && (is_large || self.is_error)
        {
            match self.is_error {
                true => shorten_facts(value),
                false => {
                    shorten_value(value, &mut { MAX_BYTES });
                    value["truncated"] = true.into();
                }
            }
            if output_format == OutputFormat::Json {
                self.items[0] = ContentItem::Text(value.to_string());
            }
        }
        if output_format == OutputFormat::Markdown {
            for item in &mut self.items {
                if let ContentItem::Text(text) = item {
                    shorten(text, most);
                }
            }
        }
        self
    }
}

/// Keeps the beginning and the end of a text that is too long, with a note about the omitted part.
fn shorten(text: &mut String, most: usize) {
    if text.len() <= most {
        return;
    }
    let from = text.floor_char_boundary(most / 4 * 3);
    let to = text.ceil_char_boundary(text.len() - most / 4);
    let left_out = format!(
        "\n[… {} of {} bytes are left out here: ask for less, or save it to a file.]\n",
        to - from,
        text.len()
    );
    text.replace_range(from..to, &left_out);
}

fn shorten_facts(error: &mut Value) {
    match error {
        Value::String(text) => shorten(text, MAX_FACT_BYTES),
        Value::Array(items) => items.iter_mut().for_each(shorten_facts),
        Value::Object(members) => {
            let members = members.iter_mut().filter(|(key, _)| *key != BOUNDED);
            members.for_each(|(_, value)| shorten_facts(value));
        }
        _ => {}
    }
}

fn shorten_value(value: &mut Value, room: &mut usize) {
    /// The JSON syntax around a value, in bytes: quotes and a comma.
    const MIN_VALUE_BYTES: usize = 8;
    *room = room.saturating_sub(MIN_VALUE_BYTES);
    match value {
        Value::String(text) => {
            if text.len() > *room {
                text.truncate(text.floor_char_boundary(*room));
                text.push('…');
            }
            *room = room.saturating_sub(text.len());
        }
        Value::Array(items) => items.retain_mut(|item| {
            let has_room = *room > 0;
            shorten_value(item, room);
            has_room
        }),
        Value::Object(members) => members.retain(|key, value| {
            let has_room = *room > 0;
            *room = room.saturating_sub(key.len());
            shorten_value(value, room);
            has_room
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::StepFacts;
    use serde_json::json;

    fn content(text: String, structured: Option<Value>, is_error: bool) -> Content {
        Content {
            items: vec![ContentItem::Text(text)],
            structured,
            step: StepFacts::default(),
            is_error,
            boundary: None,
        }
    }

    #[test]
    fn a_long_answer_has_its_beginning_and_its_end() {
        let text = format!(
            "### Result\n{}\n### Page\n- Page URL: u",
            "ä".repeat(MAX_BYTES)
        );
        let bounded = content(text, None, false).bounded(OutputFormat::Markdown);
        assert!(bounded.size() < MAX_BYTES + 200);
        let text = bounded.text();
        assert!(text.starts_with("### Result\nää") && text.ends_with("### Page\n- Page URL: u"));
        assert!(text.contains("bytes are left out here"), "it says so");
    }

    #[test]
    fn an_object_that_is_too_large_is_one_all_the_same() {
        let object = json!({ "success": true, "text": "x".repeat(3 * MAX_BYTES), "list": vec!["y"; MAX_BYTES] });
        let bounded = content(object.to_string(), Some(object), false).bounded(OutputFormat::Json);
        let told = bounded.structured.clone().unwrap();
        assert_eq!(bounded.text(), told.to_string());
        assert!(bounded.size() < MAX_BYTES + 200);
        assert_eq!(
            (&told["success"], &told["truncated"]),
            (&json!(true), &json!(true))
        );
    }

    #[test]
    fn an_error_repeats_little_of_what_its_caller_knows() {
        let long = "x".repeat(50_000);
        let error = json!({ "message": long, "details": { "selector": long, "log": [long] }, "evidence": { "log": long } });
        let text = error.to_string();
        let bounded = content(text.clone(), Some(error.clone()), true).bounded(OutputFormat::Json);
        assert_eq!(
            bounded.structured.as_ref().unwrap()["evidence"]["log"],
            long.as_str()
        );
        assert!(bounded.size() < 50_000 + 4 * MAX_FACT_BYTES);
        let bounded = content(text, Some(error), true).bounded(OutputFormat::Markdown);
        assert!(bounded.size() < MAX_ERROR_BYTES + 200);
    }

    #[test]
    fn a_short_answer_is_unchanged() {
        for (output_format, is_error) in [
            (OutputFormat::Json, false),
            (OutputFormat::Json, true),
            (OutputFormat::Markdown, true),
        ] {
            let value = json!({ "a": ["b", 1, null] });
            let small = content(value.to_string(), Some(value), is_error);
            assert_eq!(small.clone().bounded(output_format), small);
        }
    }
}
