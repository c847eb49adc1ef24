//! Parsing Markdown files with test data: front matter, headings, fenced blocks, and the pages that blocks describe.

use std::ops::Range;
use std::time::Duration;

use crate::site::Resource;

/// A line number, and the error there.
pub(crate) type Fault = (usize, String);

/// Parses a block `html path=/ status=404 delay=50 x-frame-options=DENY` into a resource of the site and its path; `None` if the block is
/// not a page.
pub(crate) fn resource(
    kind: &str,
    attributes: &str,
    body: &str,
) -> Result<Option<(String, Resource)>, String> {
    let media_type = match kind {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "xml" => "application/xml",
        "text" => "text/plain; charset=utf-8",
        _ => return Ok(None),
    };
    let mut resource = Resource::new(media_type, body);
    let mut path = "/";
    for attribute in attributes.split_whitespace() {
        match attribute.split_once('=') {
            Some(("path", value)) => path = value,
            Some(("status", value)) => {
                resource.status = value.parse().map_err(|_| format!("status `{value}`"))?;
            }
            Some(("delay", value)) => {
                let delay = value.parse().map_err(|_| format!("delay `{value}`"))?;
                resource.delay = Duration::from_millis(delay);
            }
            Some((name, value)) if name.contains('-') => resource = resource.header(name, value),
            _ => {
                return Err(format!(
                    "`{attribute}`: a page knows path=, status=, delay= (ms), and headers with a dash"
                ));
            }
        }
    }
    Ok(Some((path.to_owned(), resource)))
}

/// A part of a file. Prose is omitted.
pub(crate) enum Piece<'t> {
    /// A line of the front matter.
    Matter {
        line: usize,
        name: &'t str,
        value: &'t str,
    },
    /// A heading of the second level.
    Heading {
        line: usize,
        title: &'t str,
        /// The position of the next line.
        end: usize,
    },
    Block(Block<'t>),
}

/// A fenced block.
pub(crate) struct Block<'t> {
    /// The line of the opening fence.
    pub(crate) line: usize,
    /// The text after the opening fence.
    pub(crate) info: &'t str,
    /// The text between the fences.
    pub(crate) inside: &'t str,
    /// The range of that text in the file, with its last line break.
    pub(crate) body: Range<usize>,
    /// The range of the block in the file, including fences.
    pub(crate) range: Range<usize>,
}

/// Parses a file into its parts.
pub(crate) fn pieces(text: &str) -> Result<Vec<Piece<'_>>, Fault> {
    let mut found = Vec::new();
    let mut rows = rows(text).peekable();
    if rows.next_if(|row| row.text == "---").is_some() {
        for row in rows.by_ref().take_while(|row| row.text != "---") {
            let (name, value) = row
                .text
                .split_once(':')
                .ok_or((row.line, "front matter is `name: value`".to_owned()))?;
            found.push(Piece::Matter {
                line: row.line,
                name: name.trim(),
                value: value.trim(),
            });
        }
    }
    while let Some(row) = rows.next() {
        if let Some(title) = row.text.strip_prefix("## ") {
            found.push(Piece::Heading {
                line: row.line,
                title: title.trim(),
                end: row.range.end,
            });
        }
        let ticks = row.text.len() - row.text.trim_start_matches('`').len();
        if ticks < 3 {
            continue;
        }
        let fence = &row.text[..ticks];
        let end = rows.find(|below| {
            below.text.starts_with(fence) && below.text.trim_end_matches('`').is_empty()
        });
        let end = end.ok_or((row.line, "this block is never closed".to_owned()))?;
        let inside = &text[row.range.end..end.range.start];
        found.push(Piece::Block(Block {
            line: row.line,
            info: row.text[ticks..].trim(),
            inside: inside.strip_suffix('\n').unwrap_or(inside),
            body: row.range.end..end.range.start,
            range: row.range.start..end.range.end,
        }));
    }
    Ok(found)
}

struct Row<'t> {
    line: usize,
    text: &'t str,
    /// With the line break.
    range: Range<usize>,
}

fn rows(text: &str) -> impl Iterator<Item = Row<'_>> {
    let mut start = 0;
    (1..)
        .zip(text.split_inclusive('\n'))
        .map(move |(line, row)| {
            let range = start..start + row.len();
            start = range.end;
            Row {
                line,
                text: row.trim_end(),
                range,
            }
        })
}

/// Returns a block with a fence that is longer than any inside.
pub(crate) fn fenced(info: &str, inside: &str) -> String {
    let longest = inside
        .lines()
        .map(|line| line.len() - line.trim_start_matches('`').len())
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    if inside.is_empty() {
        format!("{fence}{info}\n{fence}\n")
    } else {
        format!("{fence}{info}\n{inside}\n{fence}\n")
    }
}
