//! Plain and quoted YAML scalars. <https://yaml.org/spec/1.2.2/#733-plain-style>

use std::borrow::Cow;
use std::fmt::Write as _;

/// Formats a text as the value of a mapping: plain if YAML would parse it as that text, otherwise in double quotes.
pub(super) fn value(text: &str) -> Cow<'_, str> {
    // A text that looks like a ref is text of the page.
    if !needs_quotes(text) && !text.contains("[ref=") {
        return Cow::Borrowed(text);
    }
    let mut quoted = String::with_capacity(text.len() + 8);
    quoted.push('"');
    for char in text.chars() {
        match char {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            char if is_control(char) => {
                let _ = write!(quoted, "\\x{:02x}", u32::from(char));
            }
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    Cow::Owned(quoted)
}

/// Formats a text as the key of a mapping: plain if possible, otherwise in single quotes.
pub(super) fn key(text: &str) -> Cow<'_, str> {
    if needs_quotes(text) {
        Cow::Owned(format!("'{}'", text.replace('\'', "''")))
    } else {
        Cow::Borrowed(text)
    }
}

fn needs_quotes(text: &str) -> bool {
    const INDICATORS: &[char] = &[
        '-', '&', '*', '[', ']', ',', '?', '!', '>', '|', '@', '"', '\'', '#', '%',
    ];
    text.is_empty()
        || text.starts_with(char::is_whitespace)
        || text.ends_with(char::is_whitespace)
        || text.starts_with(INDICATORS)
        || text.ends_with(':')
        || text.contains(['{', '}', '`', '\n', '\r'])
        || text.contains(is_control)
        || has_mark_beside_blank(text)
        || is_number(text)
        || is_keyword(text)
}

fn is_control(char: char) -> bool {
    char.is_control() && !matches!(char, '\t' | '\n' | '\r')
}

/// Returns whether a colon before a blank would end a key, or a hash after one would begin a comment.
fn has_mark_beside_blank(text: &str) -> bool {
    let mut before = '\0';
    for char in text.chars() {
        if (before == ':' && char.is_whitespace()) || (before.is_whitespace() && char == '#') {
            return true;
        }
        before = char;
    }
    false
}

fn is_keyword(text: &str) -> bool {
    let number = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_any = |words: &[&str], text: &str| {
        let mut words = words.iter();
        words.any(|word| word.eq_ignore_ascii_case(text))
    };
    let words = [
        "y", "n", "yes", "no", "true", "false", "on", "off", "null", "~",
    ];
    is_any(&words, text) || is_any(&[".inf", ".nan"], number)
}

/// Returns whether JavaScript's `Number()` accepts the text, which has no surrounding blanks.
fn is_number(text: &str) -> bool {
    if let Some((radix, digits)) = radix_of(text) {
        return !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "Infinity" {
        return true;
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_is_number = exponent.is_none_or(|exponent| {
        let power = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !power.is_empty() && digits(power)
    });
    !(whole.is_empty() && fraction.is_empty())
        && digits(whole)
        && digits(fraction)
        && exponent_is_number
}

fn radix_of(text: &str) -> Option<(u32, &str)> {
    let mut chars = text.chars();
    let zero = chars.next()?;
    let radix = match (zero, chars.next()?) {
        ('0', 'x' | 'X') => 16,
        ('0', 'o' | 'O') => 8,
        ('0', 'b' | 'B') => 2,
        _ => return None,
    };
    Some((radix, chars.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_those_of_javascript() {
        for text in [
            "0",
            "00",
            "-1",
            "+1",
            "1.",
            ".5",
            "1e5",
            "1E-5",
            "0x1F",
            "0b1",
            "0o7",
            "Infinity",
            "-Infinity",
        ] {
            assert!(is_number(text), "{text}");
        }
        for text in [
            "",
            ".",
            "0x",
            "1_000",
            "1,000",
            "10n",
            "NaN",
            "1e",
            "e5",
            "-0x1",
            "0b2",
            "1 2",
            "2020-01-01",
            "infinity",
            "+",
            "1.2.3",
        ] {
            assert!(!is_number(text), "{text}");
        }
    }

    #[test]
    fn values_get_double_quotes_and_keys_single_ones() {
        assert_eq!(value("q\"uote"), "q\"uote");
        assert_eq!(value("\"double\""), r#""\"double\"""#);
        assert_eq!(value("a\u{7}b\\"), r#""a\x07b\\""#);
        assert_eq!(value("back\\slash"), "back\\slash");
        assert_eq!(
            key("button \"it's: x\" [ref=e1]"),
            "'button \"it''s: x\" [ref=e1]'"
        );
    }

    const FORBIDDEN_FIRST: &[char] = &[
        '-', '"', '\'', '[', ']', '{', '}', '&', '*', '!', '|', '>', '%', '@', '`', '#', ',', '?',
    ];

    proptest! {
        #[test]
        fn plain_scalars_are_valid_yaml(text in "\\PC{0,12}|[-:# \"'{}\\[\\]a1.\t\n\u{7}\u{85}]{0,8}") {
            let written = value(&text);
            if written == text {
                // Texts that YAML would parse as something else, or reject.
                prop_assert!(!text.is_empty());
                prop_assert_eq!(text.trim(), text.as_str());
                prop_assert!(!text.contains(": ") && !text.contains(" #") && !text.ends_with(':'));
                prop_assert!(!text.contains(|char: char| char.is_control() && char != '\t'));
                prop_assert!(!text.starts_with(FORBIDDEN_FIRST), "{written}");
                prop_assert!(text.parse::<f64>().is_err() || text.to_lowercase().contains("nan") || text.to_lowercase().contains("inf"));
            } else {
                prop_assert_eq!(unquoted(&written), text);
            }
        }

        #[test]
        fn a_quoted_key_parses_to_the_same_text(text in "\\PC{0,12}") {
            let written = key(&text);
            let read = match written.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
                Some(inside) if written != text => inside.replace("''", "'"),
                _ => written.to_string(),
            };
            prop_assert_eq!(read, text);
        }
    }

    /// Parses a double-quoted scalar.
    fn unquoted(written: &str) -> String {
        let inside = &written[1..written.len() - 1];
        let mut text = String::new();
        let mut chars = inside.chars();
        while let Some(char) = chars.next() {
            if char != '\\' {
                assert_ne!(char, '"', "an unescaped quote in {written}");
                text.push(char);
                continue;
            }
            match chars.next().expect("an escape is complete") {
                'n' => text.push('\n'),
                'r' => text.push('\r'),
                't' => text.push('\t'),
                'b' => text.push('\u{8}'),
                'f' => text.push('\u{c}'),
                'x' => {
                    let hex: String = chars.by_ref().take(2).collect();
                    let code = u32::from_str_radix(&hex, 16).expect("two hex digits");
                    text.push(char::from_u32(code).expect("a Latin-1 character"));
                }
                other => text.push(other),
            }
        }
        text
    }
}
