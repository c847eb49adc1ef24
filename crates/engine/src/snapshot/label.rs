//! What a fold says of the lines for which it stands: the first and the last name in it.

use super::compact::is_like_ref;
use super::facts::Layout;
use super::line::{Line, LineKind};

/// The longest name, in characters.
const MAX_NAME: usize = 24;
/// How many lines are searched for a name.
const SEARCHED: usize = 20;

/// Returns `First … Last`, the name of the only line, or nothing if the lines have no names.
pub(super) fn label(lines: &[Line<'_>], layout: Layout) -> String {
    let level = lines
        .iter()
        .map(|line| line.level)
        .min()
        .unwrap_or_default();
    let last = lines.iter().rposition(|line| line.level == level);
    let name = |lines: &[Line<'_>]| {
        let mut named = lines.iter().take(SEARCHED);
        named.find_map(|line| name(line, layout))
    };
    let first = name(lines);
    let last = last.and_then(|last| name(&lines[last..]));
    match (first, last) {
        (Some(first), Some(last)) if first != last => format!("{first} … {last}"),
        (Some(name), _) | (None, Some(name)) => name,
        (None, None) => String::new(),
    }
}

/// Returns the name or the text of a line.
fn name(line: &Line<'_>, layout: Layout) -> Option<String> {
    let text = match layout {
        Layout::Full => line.text.strip_prefix("- ").unwrap_or(line.text),
        Layout::Compact => line.text,
    };
    let text = match line.kind {
        LineKind::Property => return None,
        LineKind::Text => text.strip_prefix("text: ").unwrap_or(text),
        LineKind::Element(role) => content(text, role),
    };
    let text = text.trim_matches(|c: char| c.is_whitespace() || "\"'#|-:".contains(c));
    // What could be read as the target of a fold is left out.
    let is_plain =
        |word: &&str| !word.contains(['[', ']', '…', '"', '\\', '|', '→']) && !is_like_ref(word);
    let words: Vec<&str> = text.split(' ').take_while(is_plain).collect();
    let text = words.join(" ");
    let short = match text.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text,
    };
    short.chars().any(char::is_alphanumeric).then_some(short)
}

/// Returns the name of an element, or else its text.
fn content<'a>(text: &'a str, role: &str) -> &'a str {
    let text = text.trim_start_matches('\'');
    let Some(after) = text.strip_prefix(role) else {
        // A heading, an item, a row or a text of the compact layout.
        let text = text.trim_start_matches(['#', '-', '|', ' ']);
        let node = text.split_once(" \"").filter(|(role, _)| is_word(role));
        return node.map_or(text, |(_, name)| name);
    };
    match after.strip_prefix(" \"") {
        Some(name) => name.split('"').next().unwrap_or_default(),
        None => after.split_once(": ").map_or("", |(_, text)| text),
    }
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase())
}
