//! Texts of a page within a line: bare, or in quotes where they could be read as something else.

use std::fmt::Write as _;

/// Every role that a line can begin with.
pub(in super::super) const ROLES: &[&str] = &[
    "alert",
    "alertdialog",
    "application",
    "article",
    "banner",
    "blockquote",
    "button",
    "caption",
    "cell",
    "checkbox",
    "code",
    "columnheader",
    "combobox",
    "comment",
    "complementary",
    "contentinfo",
    "definition",
    "deletion",
    "dialog",
    "directory",
    "doc-abstract",
    "doc-acknowledgments",
    "doc-afterword",
    "doc-appendix",
    "doc-backlink",
    "doc-biblioentry",
    "doc-bibliography",
    "doc-biblioref",
    "doc-chapter",
    "doc-colophon",
    "doc-conclusion",
    "doc-cover",
    "doc-credit",
    "doc-credits",
    "doc-dedication",
    "doc-endnote",
    "doc-endnotes",
    "doc-epigraph",
    "doc-epilogue",
    "doc-errata",
    "doc-example",
    "doc-footnote",
    "doc-foreword",
    "doc-glossary",
    "doc-glossref",
    "doc-index",
    "doc-introduction",
    "doc-noteref",
    "doc-notice",
    "doc-pagebreak",
    "doc-pagefooter",
    "doc-pageheader",
    "doc-pagelist",
    "doc-part",
    "doc-preface",
    "doc-prologue",
    "doc-pullquote",
    "doc-qna",
    "doc-subtitle",
    "doc-tip",
    "doc-toc",
    "document",
    "emphasis",
    "feed",
    "figure",
    "form",
    "generic",
    "graphics-document",
    "graphics-object",
    "graphics-symbol",
    "grid",
    "gridcell",
    "group",
    "heading",
    "iframe",
    "image",
    "img",
    "insertion",
    "link",
    "list",
    "listbox",
    "listitem",
    "log",
    "main",
    "mark",
    "marquee",
    "math",
    "menu",
    "menubar",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "meter",
    "navigation",
    "none",
    "note",
    "option",
    "paragraph",
    "presentation",
    "progressbar",
    "radio",
    "radiogroup",
    "region",
    "row",
    "rowgroup",
    "rowheader",
    "scrollbar",
    "search",
    "searchbox",
    "sectionfooter",
    "sectionheader",
    "separator",
    "slider",
    "spinbutton",
    "status",
    "strong",
    "subscript",
    "suggestion",
    "superscript",
    "switch",
    "tab",
    "table",
    "tablist",
    "tabpanel",
    "term",
    "textbox",
    "time",
    "timer",
    "toolbar",
    "tooltip",
    "tree",
    "treegrid",
    "treeitem",
];

/// Where a text stands in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// At the beginning of a line, of a cell, or of a node's content.
    Start,
    /// After a node.
    AfterNode,
    /// Before the ref of its cell.
    BeforeRef,
    /// As an option of a select.
    Option,
}

/// Writes a text, in quotes if it could be read as something else.
pub(super) fn push_text(out: &mut String, text: &str, position: Position) {
    match needs_quotes(text, position) {
        true => push_quoted(out, text),
        false => out.push_str(text),
    }
}

/// Writes a text in quotes.
pub(super) fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            char if is_break(char) => {
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            char => out.push(char),
        }
    }
    out.push('"');
}

fn is_break(char: char) -> bool {
    char.is_control() || matches!(char, '\u{2028}' | '\u{2029}')
}

fn needs_quotes(text: &str, position: Position) -> bool {
    let begins_with = match position {
        Position::AfterNode => text.starts_with(['(', '[', ':']) || text.starts_with("… "),
        Position::Option => {
            text.starts_with(['*', '(']) || text.contains(')') || text.ends_with(']')
        }
        Position::Start | Position::BeforeRef => {
            let marker = text.trim_start_matches('#');
            let is_heading =
                marker.len() < text.len() && (marker.is_empty() || marker.starts_with(' '));
            is_heading || text == "-" || text.starts_with("- ") || text.starts_with('…')
        }
    };
    let is_before_ref = matches!(position, Position::BeforeRef | Position::Option);
    begins_with
        || text.is_empty()
        || text.starts_with('"')
        || text.starts_with(char::is_whitespace)
        || text.ends_with(char::is_whitespace)
        || text.contains(['|', '→'])
        || text.contains(is_break)
        || is_like_ref(text)
        || is_like_node(text, is_before_ref)
}

/// Returns whether a text contains what a ref looks like: an `e` with a number that no letter precedes.
pub(in super::super) fn is_like_ref(text: &str) -> bool {
    let bytes = text.as_bytes();
    let letter = |index: usize| bytes[index].is_ascii_alphabetic();
    (1..bytes.len()).any(|index| {
        bytes[index].is_ascii_digit()
            && bytes[index - 1] == b'e'
            && (index == 1 || !letter(index - 2))
    })
}

/// Returns whether a text begins with a role or contains one with what follows the role of a node. At its end, a role is one if a ref follows.
fn is_like_node(text: &str, is_before_ref: bool) -> bool {
    let mut rest = text;
    loop {
        let begins = rest.len() == text.len();
        let end = rest
            .find(|c: char| !c.is_ascii_lowercase() && c != '-')
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if end > 0 && ROLES.contains(&word) {
            let follows = [" \"", " [", ": \""].iter().any(|it| after.starts_with(it));
            let ends = after.is_empty() && is_before_ref;
            let is_first = begins && (after.is_empty() || after.starts_with([' ', ':']));
            if follows || ends || is_first {
                return true;
            }
        }
        let Some(blank) = rest.find(' ') else {
            return false;
        };
        rest = &rest[blank + 1..];
    }
}
