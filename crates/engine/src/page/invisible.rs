//! Removing invisible characters from texts of pages, because they can encode hidden text.

use std::fmt::Write as _;

/// The mark before hidden text; the same as in the injected script (`injected/src/hidden.ts`).
const MARK: &str = "[hidden-text]";

/// Returns a text without zero-width characters. Characters that encode text ([tags](https://www.unicode.org/charts/PDF/UE0000.pdf)) are
/// replaced by a mark; those that change the text direction by escapes, which begin with `backslash`.
pub fn without_invisible(text: String, backslash: &str) -> String {
    // The UTF-8 of all of them starts with these bytes.
    if !text.bytes().any(|byte| matches!(byte, 0xe2 | 0xef | 0xf3)) || !text.contains(is_invisible)
    {
        return text;
    }
    let mut shown = String::with_capacity(text.len());
    let mut before = '\0';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // After a flag, tags encode a region.
            '\u{e0000}'..='\u{e007f}' if before != FLAG => {
                while chars.next_if(|c| is_tag(*c)).is_some() {}
                shown.push_str(MARK);
            }
            '\u{e0000}'..='\u{e007f}' => {
                shown.push(c);
                while let Some(tag) = chars.next_if(|c| is_tag(*c)) {
                    shown.push(tag);
                }
            }
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                let _ = write!(shown, "{backslash}u{{{:x}}}", u32::from(c));
            }
            // Scripts and emoji are joined by them.
            '\u{200c}' | '\u{200d}'
                if is_joined(before) && chars.peek().is_some_and(|c| is_joined(*c)) =>
            {
                shown.push(c);
            }
            c if is_invisible(c) => {}
            c => shown.push(c),
        }
        before = c;
    }
    shown
}

/// The character before the tags of a flag.
const FLAG: char = '\u{1f3f4}';

fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0000}'..='\u{e007f}')
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
        || is_tag(c)
}

fn is_joined(c: char) -> bool {
    !c.is_ascii() && !is_invisible(c)
}

#[cfg(test)]
mod tests {
    use super::without_invisible;

    #[test]
    fn invisible_characters_are_removed_or_escaped() {
        let shown = |text: &str| without_invisible(text.to_owned(), r"\\");
        let tags: String = "go"
            .chars()
            .map(|c| char::from_u32(0xe0000 + u32::from(c)).unwrap())
            .collect();
        assert_eq!(shown(&format!("\"a{tags}b\"")), "\"a[hidden-text]b\"");
        assert_eq!(shown("\"p\u{200b}a\u{2060}y\u{feff}\u{200d}\""), "\"pay\"");
        assert_eq!(
            shown("\"\u{202e}olleh\u{202c}\""),
            r#""\\u{202e}olleh\\u{202c}""#
        );
    }

    #[test]
    fn scripts_and_emoji_stay_as_they_are() {
        for text in [
            "می\u{200c}خواهم",
            "👩\u{200d}💻",
            "🏴\u{e0067}\u{e0062}\u{e007f}",
            "é “x” …",
        ] {
            assert_eq!(without_invisible(text.to_owned(), r"\"), text);
        }
    }
}
