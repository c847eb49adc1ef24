//! Parsing the browser's JSON, which may contain strings that Rust cannot represent.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::error::{Error, Result};

/// Parses `value`, which belongs to `method`.
///
/// A page's strings may contain lone surrogates, which are valid in JSON but not in Rust's strings: each becomes U+FFFD.
pub(crate) fn decode<T: DeserializeOwned>(method: &'static str, value: &RawValue) -> Result<T> {
    serde_json::from_str(value.get())
        .or_else(|error| match replace_lone_surrogates(value.get()) {
            Some(text) => serde_json::from_str(&text),
            None => Err(error),
        })
        .map_err(|error| Error::Shape {
            method,
            message: error.to_string(),
        })
}

/// Events with texts of a page of any length: console messages.
const CONSOLE_EVENTS: [&str; 5] = [
    "Runtime.consoleAPICalled",
    "Runtime.exceptionThrown",
    "Log.entryAdded",
    "log.entryAdded",
    "Console.messageAdded",
];
/// The largest total size of the long strings of such an event, in bytes of JSON.
const MAX_STRING_LENGTH: usize = 128 * 1024;
/// The size below which a string is not long, in bytes.
const SHORT: usize = 1024;

/// Returns the parameters of an event to be queued: a page may log faster than events are handled.
pub(crate) fn bounded(method: &str, params: &RawValue) -> Box<RawValue> {
    let is_long = params.get().len() > MAX_STRING_LENGTH && CONSOLE_EVENTS.contains(&method);
    let short = is_long.then(|| shortened(params.get())).flatten();
    short
        .and_then(|text| RawValue::from_string(text).ok())
        .unwrap_or_else(|| params.to_owned())
}

/// Returns the JSON with truncated long strings; `None` if it is invalid.
fn shortened(json: &str) -> Option<String> {
    let bytes = json.as_bytes();
    let mut out = String::new();
    let (mut copied, mut at, mut left) = (0, 0, MAX_STRING_LENGTH);
    while let Some(open) = memchr::memchr(b'"', &bytes[at..]) {
        let start = at + open + 1;
        let most = json.floor_char_boundary(start + left.max(SHORT));
        let (mut end, mut cut) = (start, None);
        loop {
            end += memchr::memchr2(b'"', b'\\', &bytes[end..])?;
            if bytes[end] == b'"' {
                break;
            }
            let escaped = if bytes.get(end + 1) == Some(&b'u') {
                6
            } else {
                2
            };
            if cut.is_none() && end + escaped > most {
                cut = Some(most.min(end));
            }
            end = (end + escaped).min(bytes.len());
        }
        if end > most {
            out.push_str(&json[copied..cut.unwrap_or(most)]);
            out.push('…');
            copied = end;
        }
        if end - start > SHORT {
            left = left.saturating_sub(end - start);
        }
        at = end + 1;
    }
    out.push_str(&json[copied..]);
    Some(out)
}

/// Rewrites each lone `\uD800`…`\uDFFF`; `None` if there is none.
fn replace_lone_surrogates(json: &str) -> Option<String> {
    let bytes = json.as_bytes();
    let unit = |at: usize| {
        let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        at += found;
        match unit(at) {
            Some(0xD800..=0xDBFF) if matches!(unit(at + 6), Some(0xDC00..=0xDFFF)) => at += 12,
            Some(0xD800..=0xDFFF) => {
                out.push_str(&json[copied..at]);
                out.push_str("\\uFFFD");
                at += 6;
                copied = at;
            }
            Some(_) => at += 6,
            // The escaped character may be a backslash.
            None => at += 2,
        }
    }
    if copied == 0 {
        return None;
    }
    out.push_str(&json[copied..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.into()).unwrap()
    }

    #[test]
    fn long_console_arguments_are_truncated() {
        for piece in ["x", "ä", "\"", "\\", "\u{1}", "\u{1d11e}"] {
            let texts: Vec<String> = (0..4)
                .map(|n| format!("{n}{}", piece.repeat(200_000)))
                .collect();
            let json = serde_json::json!({ "type": "log", "args": texts }).to_string();
            let kept = bounded("Runtime.consoleAPICalled", &raw(&json));
            assert!(
                kept.get().len() < 2 * MAX_STRING_LENGTH,
                "{}",
                kept.get().len()
            );
            let kept: serde_json::Value = serde_json::from_str(kept.get()).unwrap();
            assert_eq!(kept["type"], "log");
            let kept = kept["args"].as_array().unwrap();
            let first = kept[0].as_str().unwrap().strip_suffix('…').unwrap();
            assert!(
                first.len() >= 20_000 && texts[0].starts_with(first),
                "{}",
                first.len()
            );
            assert_eq!(kept.len(), texts.len());
            assert_eq!(bounded("Page.frameNavigated", &raw(&json)).get(), json);
        }
    }

    #[test]
    fn a_lone_surrogate_becomes_a_replacement_character() {
        let decoded: Vec<String> = decode(
            "Test.test",
            &raw(r#"["a\ud800b", "\ud83d\ude00", "\\ud800", "\udc00\ud800", "\ud800"]"#),
        )
        .unwrap();
        assert_eq!(
            decoded,
            [
                "a\u{fffd}b",
                "😀",
                r"\ud800",
                "\u{fffd}\u{fffd}",
                "\u{fffd}"
            ]
        );
    }
}
