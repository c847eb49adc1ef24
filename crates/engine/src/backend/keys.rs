//! The WebDriver codes of keys. <https://w3c.github.io/webdriver/#keyboard-actions>

use super::Key;

const NAMED: &[(&str, char)] = &[
    ("Unidentified", '\u{E000}'),
    ("Cancel", '\u{E001}'),
    ("Help", '\u{E002}'),
    ("Backspace", '\u{E003}'),
    ("Tab", '\u{E004}'),
    ("Clear", '\u{E005}'),
    ("Enter", '\u{E006}'),
    ("Shift", '\u{E008}'),
    ("Control", '\u{E009}'),
    ("Alt", '\u{E00A}'),
    ("Pause", '\u{E00B}'),
    ("Escape", '\u{E00C}'),
    (" ", '\u{E00D}'),
    ("PageUp", '\u{E00E}'),
    ("PageDown", '\u{E00F}'),
    ("End", '\u{E010}'),
    ("Home", '\u{E011}'),
    ("ArrowLeft", '\u{E012}'),
    ("ArrowUp", '\u{E013}'),
    ("ArrowRight", '\u{E014}'),
    ("ArrowDown", '\u{E015}'),
    ("Insert", '\u{E016}'),
    ("Delete", '\u{E017}'),
    ("F1", '\u{E031}'),
    ("F2", '\u{E032}'),
    ("F3", '\u{E033}'),
    ("F4", '\u{E034}'),
    ("F5", '\u{E035}'),
    ("F6", '\u{E036}'),
    ("F7", '\u{E037}'),
    ("F8", '\u{E038}'),
    ("F9", '\u{E039}'),
    ("F10", '\u{E03A}'),
    ("F11", '\u{E03B}'),
    ("F12", '\u{E03C}'),
    ("Meta", '\u{E03D}'),
    ("ZenkakuHankaku", '\u{E040}'),
];

/// The codes of keys that exist at several positions, by physical key.
const PLACED: &[(&str, char)] = &[
    ("NumpadEnter", '\u{E007}'),
    ("Numpad0", '\u{E01A}'),
    ("Numpad1", '\u{E01B}'),
    ("Numpad2", '\u{E01C}'),
    ("Numpad3", '\u{E01D}'),
    ("Numpad4", '\u{E01E}'),
    ("Numpad5", '\u{E01F}'),
    ("Numpad6", '\u{E020}'),
    ("Numpad7", '\u{E021}'),
    ("Numpad8", '\u{E022}'),
    ("Numpad9", '\u{E023}'),
    ("NumpadMultiply", '\u{E024}'),
    ("NumpadAdd", '\u{E025}'),
    ("NumpadSubtract", '\u{E027}'),
    ("NumpadDecimal", '\u{E028}'),
    ("NumpadDivide", '\u{E029}'),
    ("ShiftRight", '\u{E050}'),
    ("ControlRight", '\u{E051}'),
    ("AltRight", '\u{E052}'),
    ("MetaRight", '\u{E053}'),
];

/// Returns the value of the key in an action.
pub(crate) fn value(key: &Key) -> String {
    let placed = PLACED.iter().find(|(code, _)| *code == key.code);
    let named = || NAMED.iter().find(|(name, _)| *name == key.key);
    match placed.or_else(named) {
        Some((_, value)) => value.to_string(),
        None if key.key.chars().count() == 1 => key.key.clone(),
        None => key.text.clone().unwrap_or_else(|| '\u{E000}'.to_string()),
    }
}

/// Splits a text into the keys that type it: a letter and its combining characters are one key.
pub(crate) fn letters(text: &str) -> Vec<String> {
    let mut letters: Vec<String> = Vec::new();
    let mut joined = false;
    for char in text.chars() {
        let combines = matches!(
            char,
            '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}' | '\u{200d}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{20e3}'
        );
        match letters.last_mut() {
            Some(last) if combines || joined => last.push(char),
            _ => letters.push(match char {
                '\n' | '\r' => '\u{E006}'.to_string(),
                '\t' => '\u{E004}'.to_string(),
                char => char.to_string(),
            }),
        }
        joined = char == '\u{200d}';
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_grapheme_cluster_is_one_key() {
        assert_eq!(
            letters("a漢👍🏽e\u{301}\n"),
            ["a", "漢", "👍🏽", "e\u{301}", "\u{E006}"]
        );
    }
}
