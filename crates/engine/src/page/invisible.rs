//! Removing invisible characters from texts of pages, because they can encode hidden text.

use std::fmt::Write as _;

/// The mark before hidden text; the same as in the injected script (`injected/src/hidden.ts`).
const MARK: &str = "[hidden-text]";

/// Returns a text without zero-width characters. Characters that encode text ([tags](https://www.unicode.org/charts/PDF/UE0000.pdf)) are
/// replaced by a mark; those that change the text direction by escapes, which begin with `backslash`.
pub fn without_invisible(text: String, backslash: &str) -> String {
    if text.is_ascii() || !text.contains(is_invisible) {
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
            // One selects a form of an emoji, a sign or an ideograph; more of them encode text.
            '\u{fe00}'..='\u{fe0f}' if is_joined(before) || chars.peek() == Some(&KEYCAP) => {
                shown.push(c);
            }
            '\u{e0100}'..='\u{e01ef}' if is_ideograph(before) => shown.push(c),
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

/// What follows a digit and a variation selector.
const KEYCAP: char = '\u{20e3}';

/// Returns whether a character shows nothing: of no width, a filler, a control of direction or of shapes, a variation selector, a tag.
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
    ) || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}')
        || matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}')
        || is_tag(c)
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
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
    fn selectors_and_fillers_that_encode_text_are_removed() {
        let shown = |text: &str| without_invisible(text.to_owned(), r"\");
        for text in [
            "pa\u{fe00}\u{fe0f}y",
            "p\u{e0100}\u{e01ef}ay",
            "p\u{3164}a\u{115f}\u{1160}y",
            "p\u{2800}a\u{ad}y\u{206a}\u{206f}",
        ] {
            assert_eq!(shown(text), "pay");
        }
        assert_eq!(shown("❤\u{fe0f}\u{fe01}\u{fe02}"), "❤\u{fe0f}");
        assert_eq!(shown("葛\u{e0100}\u{e0101}"), "葛\u{e0100}");
    }

    #[test]
    fn scripts_and_emoji_stay_as_they_are() {
        for text in [
            "می\u{200c}خواهم",
            "👩\u{200d}💻",
            "🏴\u{e0067}\u{e0062}\u{e007f}",
            "é “x” …",
            "❤\u{fe0f} 1\u{fe0f}\u{20e3} 葛\u{e0100}",
        ] {
            assert_eq!(without_invisible(text.to_owned(), r"\"), text);
        }
    }
}
