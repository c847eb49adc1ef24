//! Masking the values of password fields: their replacements, and their registration, so that they are masked everywhere.
//!
//! The injected script marks each value within its result, and lists the values on a last line (`injected/src/passwords.ts`).

use super::Page;
use crate::backend::FrameId;
use crate::error::{Error, Result};
use serde_json::{Value, json};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// Registers values that were typed into password fields, and values that these show; returns the replacement of each that is shown.
pub type PasswordMasks = Arc<dyn Fn(&[String], &[String]) -> Vec<String> + Send + Sync>;

/// How long a busy document may delay an answer.
const MASK_TIMEOUT: Duration = Duration::from_millis(500);
/// The largest number of marks that stand for a value.
const MAX_DOTS: usize = 100;
/// The largest number of frames that are queried.
const MAX_FRAMES: usize = 20;

impl Page {
    /// Sets the masks that register the values of password fields and return their replacements; by default, one dot for each character.
    pub fn set_password_masks(&self, masks: PasswordMasks) {
        self.state().passwords = Some(masks);
    }

    /// Registers the values of all password fields of the page, so that they are masked from now on.
    pub async fn register_passwords(&self) {
        let frames = self.frames().into_iter().take(MAX_FRAMES);
        let asked = frames.map(async |frame| {
            let _: Result<()> = self.call(&frame.id, "passwords", &Value::Null).await;
        });
        let all = futures_util::future::join_all(asked);
        let _ = tokio::time::timeout(MASK_TIMEOUT, all).await;
    }

    /// Registers the value that the focused field will have when this text is typed, if it is a password field: the page can react to each
    /// key.
    pub async fn register_typing(&self, text: &str) {
        let text = json!({ "text": text });
        let main = self.backend.main_frame();
        let asked = async {
            let is_frame: Result<bool> = self.call(&main, "typing", &text).await;
            if !is_frame.unwrap_or(true) {
                return;
            }
            let frames = self.frames().into_iter().filter(|frame| frame.id != main);
            let others = frames.take(MAX_FRAMES).map(async |frame| {
                let _: Result<bool> = self.call(&frame.id, "typing", &text).await;
            });
            futures_util::future::join_all(others).await;
        };
        let _ = tokio::time::timeout(MASK_TIMEOUT, asked).await;
    }

    /// Registers the values of password fields that scripts of this frame can access, if the result of such a script contains text.
    pub(crate) async fn mask_passwords(&self, frame: &FrameId, returned: &Result<Option<Value>>) {
        match returned {
            Ok(Some(value)) if has_text(value) => {}
            Err(Error::Script { .. }) => {}
            _ => return,
        }
        let frames = self.frames();
        let origin = |id: &FrameId| {
            let frame = frames.iter().find(|frame| frame.id == *id)?;
            let url = Url::parse(&frame.url).ok()?;
            Some(url.origin()).filter(url::Origin::is_tuple)
        };
        let own = origin(frame);
        let reached = frames.iter().filter(|other| {
            other.id == *frame || origin(&other.id).is_none_or(|it| Some(it) == own)
        });
        let asked = reached.take(MAX_FRAMES).map(async |frame| {
            let _: Result<()> = self.call(&frame.id, "passwords", &Value::Null).await;
        });
        let all = futures_util::future::join_all(asked);
        // An unresponsive document returned nothing.
        let _ = tokio::time::timeout(MASK_TIMEOUT, all).await;
    }
}

fn has_text(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => items.iter().any(has_text),
        Value::Object(members) => members.values().any(has_text),
        _ => false,
    }
}

/// The delimiter of a marked value.
const START: char = '\u{fdd0}';
const END: char = '\u{fdd1}';

/// Returns the JSON of an injected function's result with masked password values.
pub(super) fn mask_values(mut answer: String, masks: Option<&PasswordMasks>) -> String {
    let (mut typed, mut values): (Vec<String>, Vec<String>) = Default::default();
    // JSON has no line breaks of its own.
    if let Some(end) = answer.rfind('\n') {
        (typed, values) = serde_json::from_str(&answer[end + 1..]).unwrap_or_default();
        answer.truncate(end);
    }
    let marked = marked_values(&answer);
    if marked.is_empty() && values.is_empty() && typed.is_empty() {
        return answer;
    }
    values.splice(..0, marked.iter().map(|(value, _)| value.clone()));
    let shown = match masks {
        Some(masks) => masks(&typed, &values),
        None => values.iter().map(|value| password_dots(value)).collect(),
    };
    let mut json = String::with_capacity(answer.len());
    let mut done = 0;
    for ((_, range), shown) in marked.iter().zip(&shown) {
        json += &answer[done..range.start];
        let quoted = Value::from(shown.as_str()).to_string();
        json += &quoted[1..quoted.len() - 1];
        done = range.end;
    }
    json += &answer[done..];
    json
}

/// Returns one dot for each character, as far as a person would count them.
pub fn password_dots(value: &str) -> String {
    "•".repeat(value.chars().take(MAX_DOTS).count())
}

/// Returns the marked values and their ranges. A truncated value ends with its text.
fn marked_values(json: &str) -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = json[from..].find(START).map(|at| from + at) {
        let content = start + START.len_utf8();
        let mut escaped = false;
        let end = json[content..].char_indices().find(|(_, c)| {
            let ends = !escaped && matches!(*c, '"' | END);
            escaped = !escaped && *c == '\\';
            ends
        });
        let (length, last) = end.unwrap_or((json.len() - content, '"'));
        let text = &json[content..content + length];
        from = content + length;
        if last == END {
            from += END.len_utf8();
        }
        let value = serde_json::from_str(&format!("\"{text}\""));
        found.push((value.unwrap_or_else(|_| text.to_owned()), start..from));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_values_are_replaced_and_reported() {
        let reported = Arc::new(std::sync::Mutex::new(Vec::new()));
        let masks: PasswordMasks = {
            let reported = reported.clone();
            Arc::new(move |typed, values| {
                reported.lock().unwrap().extend_from_slice(typed);
                reported.lock().unwrap().extend_from_slice(values);
                values
                    .iter()
                    .map(|value| format!("<{}>", value.len()))
                    .collect()
            })
        };
        let answer = "{\"a\":\"x \u{fdd0}q\\\"\\\\\u{fdd1} y\",\"b\":[\"\u{fdd0}cut\",\"z\"]}\n[[\"typed\"],[\"other\"]]";
        assert_eq!(
            mask_values(answer.to_owned(), Some(&masks)),
            r#"{"a":"x <3> y","b":["<3>","z"]}"#
        );
        assert_eq!(
            *reported.lock().unwrap(),
            ["typed", "q\"\\", "cut", "other"]
        );
    }

    #[test]
    fn without_masks_the_length_is_shown() {
        let shown = |answer: &str| mask_values(answer.to_owned(), None);
        assert_eq!(
            shown("\"\u{fdd0}pässe\u{fdd1}\"\n[[],[\"x\"]]"),
            "\"•••••\""
        );
        assert_eq!(shown("[1]"), "[1]");
    }
}
