//! Reading the browser's JSON, which says more than Rust's strings can.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::error::{Error, Result};

/// Reads `value`, which belongs to `method`.
///
/// A page's strings may hold half a surrogate pair, which JSON can say and Rust's strings cannot:
/// such a half becomes U+FFFD.
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

/// Rewrites each `\uD800`…`\uDFFF` that has no partner; `None` if there is none.
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
            // The escaped character may itself be a backslash.
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
    fn half_a_surrogate_pair_becomes_a_replacement_character() {
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
