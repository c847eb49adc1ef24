//! Escaping of page text within answers, so that it cannot imitate lines of the server.

use std::borrow::Cow;

/// Returns a text on one line: line breaks and control characters are escaped as in source code, other characters unchanged.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    let is_control =
        |c: char| (c.is_control() && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}');
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            c if is_control(c) => line.extend(c.escape_default()),
            c => line.push(c),
        }
    }
    Cow::Owned(line)
}

/// Indents all lines of a text after the first, because lines of the server are not indented.
pub(crate) fn indented(text: &str) -> String {
    const INDENT: &str = "    ";
    let mut lines = text.lines();
    let mut indented = one_line(lines.next().unwrap_or_default()).into_owned();
    for line in lines {
        indented.push('\n');
        if !line.starts_with(INDENT) {
            indented.push_str(INDENT);
        }
        indented.push_str(&one_line(line));
    }
    indented
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_one_line_stays_as_it_is() {
        assert_eq!(one_line("a\tb \\n é \u{200b}"), "a\tb \\n é \u{200b}");
        assert_eq!(
            one_line("m\n### Result\r\u{1b}\u{2028}"),
            "m\\n### Result\\r\\u{1b}\\u{2028}"
        );
    }

    #[test]
    fn no_line_after_the_first_is_one_of_ours() {
        assert_eq!(
            indented("Error: late\n    at x\n### Result\r\n [ERROR] y\rz"),
            "Error: late\n    at x\n    ### Result\n     [ERROR] y\\rz"
        );
        assert_eq!(indented(""), "");
    }
}
