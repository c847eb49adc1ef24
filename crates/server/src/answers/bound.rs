//! The size limit of all answers, in tokens, so that neither a page nor a client decides how much a model has to read.

mod text;
mod value;

pub(crate) use text::{fair_share, is_larger, shortened, truncated};

use super::{Content, ContentItem};
use crate::calls::tool_spec::OutputFormat;
use engine::estimate_tokens;
use serde_json::{Value, json};

/// The limit of errors, in tokens. Errors repeat arguments that the caller sent.
const MAX_ERROR_TOKENS: usize = 8_000;

/// The largest size of each fact of an error, in tokens.
const MAX_FACT_TOKENS: usize = 500;

/// The fact that states its own truncation.
const BOUNDED: &str = "evidence";

/// The largest size of what is added to a shortened answer, in tokens.
const NOTES: usize = 100;

impl Content {
    /// Returns the size of the texts, in tokens.
    pub(crate) fn tokens(&self) -> usize {
        let texts = self.items.iter().map(|item| match item {
            ContentItem::Text(text) => estimate_tokens(text),
            ContentItem::Image { .. } => 0,
        });
        texts.sum()
    }

    /// Returns the size of the texts and images, in bytes.
    pub(crate) fn size(&self) -> usize {
        let items = self.items.iter().map(|item| match item {
            ContentItem::Text(text) => text.len(),
            ContentItem::Image { bytes, .. } => bytes.len(),
        });
        items.sum()
    }

    /// Returns whether the texts have more than so many tokens.
    pub(crate) fn is_larger_than(&self, tokens: usize) -> bool {
        is_larger(&self.text(), tokens)
    }

    /// Shortens an answer that is too large: it keeps its beginning and its end, says how much is left out, and how to get all of it. `file` is
    /// the link to a file that contains the whole answer.
    pub(crate) fn bounded(
        mut self,
        output_format: OutputFormat,
        most: usize,
        file: Option<&str>,
    ) -> Self {
        let most = match self.is_error {
            true => most.min(MAX_ERROR_TOKENS),
            false => most,
        };
        let is_large = self.is_larger_than(most);
        let whole = if is_large { self.tokens() } else { 0 };
        let room = most.saturating_sub(NOTES);
        if let Some(object) = &mut self.structured
            && (is_large || self.is_error)
        {
            if self.is_error {
                shorten_facts(object);
            }
            let items = value::shorten(object, room);
            if is_large && !self.is_error {
                object["truncated"] = true.into();
                object["leftOut"] =
                    json!({ "tokens": whole - estimate_tokens(&object.to_string()).min(whole) });
                if !items.is_empty() {
                    object["leftOut"]["items"] = items.into();
                }
                if let Some(file) = file {
                    object["leftOut"]["file"] = file.into();
                }
            }
            if output_format == OutputFormat::Json {
                self.items[0] = ContentItem::Text(object.to_string());
            }
        }
        if output_format == OutputFormat::Markdown && is_large {
            let boundary = self.boundary.as_ref();
            for item in &mut self.items {
                if let ContentItem::Text(text) = item {
                    *text = text::shortened_sections(text, room, boundary);
                    *text += &rest(whole, file, self.is_error);
                    break;
                }
            }
        }
        self
    }
}

/// Returns the section that says how to get the whole answer.
fn rest(tokens: usize, file: Option<&str>, is_error: bool) -> String {
    let how = match file {
        Some(file) => format!("- [Whole answer]({file}): {tokens} tokens"),
        None if is_error => format!("- The whole error has {tokens} tokens"),
        None => format!(
            "- The whole answer has {tokens} tokens. Request a part of it, or repeat the call with a larger maxTokens."
        ),
    };
    format!("\n### Left out\n{how}")
}

fn shorten_facts(error: &mut Value) {
    match error {
        Value::String(text) => *text = shortened(std::mem::take(text), MAX_FACT_TOKENS),
        Value::Array(items) => items.iter_mut().for_each(shorten_facts),
        Value::Object(members) => {
            let members = members.iter_mut().filter(|(key, _)| *key != BOUNDED);
            members.for_each(|(_, value)| shorten_facts(value));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::StepFacts;
    use crate::answers::sections::Boundary;
    use crate::config::AnswerSettings;

    const MOST: usize = 1_000;

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
    fn a_long_answer_has_its_beginning_its_end_and_a_link_to_all_of_it() {
        let boundary = Boundary::new();
        let text = format!(
            "{}\n### Result\n{}### Page\n- Page URL: u\n{}\n### Events\n- New console entries: c.log#L1",
            boundary.start(),
            "one of many words\n".repeat(10_000),
            boundary.end()
        );
        let whole = estimate_tokens(&text);
        let long = Content {
            boundary: Some(boundary.clone()),
            ..content(text, None, false)
        };
        let bounded = long
            .clone()
            .bounded(OutputFormat::Markdown, MOST, Some("a.md"));
        assert!(
            (MOST * 3 / 4..=MOST).contains(&bounded.tokens()),
            "{}",
            bounded.tokens()
        );
        let text = bounded.text();
        assert!(
            text.starts_with(&format!("{}\n### Result\none of", boundary.start())),
            "{text}"
        );
        let end = format!(
            "one of many words\n### Page\n- Page URL: u\n{}\n### Events\n- New console entries: c.log#L1\n### Left out\n- [Whole answer](a.md): {whole} tokens",
            boundary.end()
        );
        assert!(text.ends_with(&end), "{text}");
        let bounded = long.bounded(OutputFormat::Markdown, MOST, None);
        assert!(bounded.tokens() <= MOST);
        assert!(bounded.text().ends_with("a larger maxTokens."));
    }

    #[test]
    fn an_object_that_is_too_large_is_one_all_the_same() {
        let object =
            json!({ "success": true, "text": "x ".repeat(30_000), "list": vec!["y"; 30_000] });
        let long = content(object.to_string(), Some(object), false);
        let bounded = long.bounded(OutputFormat::Json, MOST, Some("a.json"));
        let shown = bounded.structured.clone().unwrap();
        assert_eq!(bounded.text(), shown.to_string());
        assert!(bounded.tokens() <= MOST, "{}", bounded.tokens());
        assert_eq!(
            (&shown["success"], &shown["truncated"]),
            (&json!(true), &json!(true))
        );
        let kept = shown["list"].as_array().unwrap().len();
        let left_out = &shown["leftOut"];
        assert_eq!(
            (&left_out["items"]["list"], &left_out["file"]),
            (&json!(30_000 - kept), &json!("a.json"))
        );
        assert!(left_out["tokens"].as_u64().unwrap() > 50_000);
    }

    #[test]
    fn an_error_repeats_little_of_what_its_caller_sent() {
        let long = "word ".repeat(10_000);
        let error = json!({ "message": long, "details": { "selector": long, "log": [long] }, "evidence": { "log": "line\n".repeat(300) } });
        let text = error.to_string();
        let bounded = content(text.clone(), Some(error.clone()), true);
        let bounded = bounded.bounded(OutputFormat::Json, 6_000, None);
        let shown = bounded.structured.as_ref().unwrap();
        assert_eq!(shown["evidence"], error["evidence"]);
        assert!(
            bounded.tokens() < 3 * MAX_FACT_TOKENS + 700,
            "{}",
            bounded.tokens()
        );
        for most in [MOST, AnswerSettings::MAX_TOKENS] {
            let bounded = content(format!("### Error\n{text}"), Some(error.clone()), true);
            let bounded = bounded.bounded(OutputFormat::Markdown, most, None);
            assert!(bounded.tokens() <= most.min(MAX_ERROR_TOKENS));
            assert!(
                bounded
                    .text()
                    .contains("\n### Left out\n- The whole error has ")
            );
            let bounded = content(text.clone(), Some(error.clone()), true);
            let bounded = bounded.bounded(OutputFormat::Json, most, None);
            assert!(bounded.tokens() <= most.min(MAX_ERROR_TOKENS));
        }
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
            assert_eq!(small.clone().bounded(output_format, MOST, None), small);
        }
    }
}
