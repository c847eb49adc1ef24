//! Shortening texts to a number of tokens: the beginning and the end remain, with the size of what is left out.

use crate::answers::sections::Boundary;
use engine::{estimate_tokens, prefix_of_tokens, suffix_of_tokens};

/// The largest size of the line about what is left out, in tokens.
const NOTE: usize = 24;

/// Returns the size to which the larger of several parts are shortened, so that all have at most so many tokens.
pub(crate) fn fair_share(sizes: &[usize], most: usize) -> usize {
    let mut sizes = sizes.to_vec();
    sizes.sort_unstable();
    let mut room = most;
    for (index, size) in sizes.iter().enumerate() {
        let share = room / (sizes.len() - index);
        if *size > share {
            return share;
        }
        room -= size;
    }
    usize::MAX
}

/// Returns whether a text has more than so many tokens.
pub(crate) fn is_larger(text: &str, tokens: usize) -> bool {
    text.len() > tokens && estimate_tokens(text) > tokens
}

/// Shortens a text to a number of tokens. It is cut between lines, or within a line that is too long to be shown.
pub(crate) fn shortened(text: String, most: usize) -> String {
    match is_larger(&text, most) {
        true => cut(&text, most),
        false => text,
    }
}

/// Returns the beginning of a text, with at most so many bytes, and `…` for the rest.
pub(crate) fn truncated(text: &str, most: usize) -> String {
    match text.len() > most {
        true => format!("{}…", &text[..text.floor_char_boundary(most)]),
        false => text.to_owned(),
    }
}

/// Shortens the sections of an answer that are too large. Headings, fences and boundaries remain whole.
pub(super) fn shortened_sections(text: &str, most: usize, boundary: Option<&Boundary>) -> String {
    let sections = sections(text, boundary);
    let sizes: Vec<_> = sections.iter().map(|it| estimate_tokens(it) + 1).collect();
    let share = fair_share(&sizes, most);
    let sections = sections
        .iter()
        .zip(sizes)
        .map(|(section, size)| match size > share {
            true => cut(section, share),
            false => (*section).to_owned(),
        });
    sections.collect::<Vec<_>>().join("\n")
}

fn cut(text: &str, most: usize) -> String {
    let room = most.saturating_sub(NOTE);
    let end = beginning(text, room / 3 * 2);
    let start = ending(text, room - room / 3 * 2).max(end);
    let (left_out, rest) = (&text[end..start], &text[start..]);
    let tokens = estimate_tokens(left_out);
    let mut cut = text[..end].to_owned();
    if !(end == 0 || cut.ends_with('\n')) || !(start == text.len() || left_out.ends_with('\n')) {
        let characters = left_out.chars().count();
        cut += &format!("… {characters} characters ({tokens} tokens) left out …");
        return cut + rest;
    }
    let note = format!(
        "… {} lines ({tokens} tokens) left out",
        left_out.lines().count()
    );
    // What is in a fence stays in one.
    let (before, after) = (open_fence(&text[..end]), open_fence(&text[..start]));
    let differ = before != after;
    let closing = before.filter(|_| differ).map(fence_marks);
    let opening = after.filter(|_| differ);
    for line in closing.into_iter().chain([&*note]).chain(opening) {
        cut += line;
        cut.push('\n');
    }
    cut + rest
}

/// Returns the length of the beginning, which ends with a line unless that is most of it.
fn beginning(text: &str, tokens: usize) -> usize {
    let end = prefix_of_tokens(text, tokens);
    let line = text[..end].rfind('\n').map_or(0, |line| line + 1);
    if line < end / 2 { end } else { line }
}

/// Returns where the end begins: with a line unless that is most of it.
fn ending(text: &str, tokens: usize) -> usize {
    let start = suffix_of_tokens(text, tokens);
    let line = text[start..]
        .find('\n')
        .map_or(text.len(), |line| start + line + 1);
    let is_most = text.len() - line < (text.len() - start) / 2;
    if is_most { start } else { line }
}

/// Returns the sections of an answer, and the boundaries between them.
fn sections<'a>(text: &'a str, boundary: Option<&Boundary>) -> Vec<&'a str> {
    let marks = boundary.map(|boundary| [boundary.start(), boundary.end()]);
    let mut starts = vec![0];
    let mut fence = None;
    let mut start = 0;
    let mut was_boundary = false;
    for line in text.split('\n') {
        let is_mark = marks
            .as_ref()
            .is_some_and(|marks| marks.iter().any(|mark| mark == line));
        let begins = fence.is_none() && (line.starts_with("### ") || is_mark || was_boundary);
        if begins && start > 0 {
            starts.push(start);
        }
        fence = fence_after(fence, line);
        was_boundary = is_mark;
        start += line.len() + 1;
    }
    let ends = starts.iter().skip(1).map(|start| start - 1);
    let ends: Vec<_> = ends.chain([text.len()]).collect();
    let ranges = starts.into_iter().zip(ends);
    ranges.map(|(start, end)| &text[start..end]).collect()
}

/// Returns the line that opened the fence in which the text ends.
fn open_fence(text: &str) -> Option<&str> {
    text.split('\n').fold(None, fence_after)
}

fn fence_after<'a>(fence: Option<&'a str>, line: &'a str) -> Option<&'a str> {
    match fence {
        Some(open) => Some(open).filter(|open| fence_marks(open) != line),
        None => Some(line).filter(|line| line.starts_with("```")),
    }
}

/// Returns the backticks of a line that opens a fence.
fn fence_marks(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches('`').len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(lines: std::ops::Range<usize>) -> String {
        lines
            .map(|line| format!("line {line} has a few words\n"))
            .collect()
    }

    #[test]
    fn a_long_text_is_cut_between_lines() {
        let text = numbered(0..1_000);
        let short = shortened(text.clone(), 200);
        assert!(!is_larger(&short, 200));
        let whole: Vec<&str> = text.lines().collect();
        let (notes, rest): (Vec<&str>, Vec<&str>) =
            short.lines().partition(|line| line.starts_with('…'));
        assert!(rest.iter().all(|line| whole.contains(line)), "{short}");
        let left_out = 1_000 - rest.len();
        assert!(
            notes[0].starts_with(&format!("… {left_out} lines (")),
            "{notes:?}"
        );
        assert!(short.starts_with("line 0 ") && short.ends_with("line 999 has a few words\n"));
        assert_eq!(shortened(short.clone(), 200), short);
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_between_characters() {
        for text in ["x".repeat(100_000), "日本語の".repeat(10_000)] {
            let short = shortened(format!("first\n{text}\nlast"), 200);
            assert!(!is_larger(&short, 200));
            assert!(
                short.starts_with("first\n") && short.ends_with("\nlast"),
                "{short}"
            );
            assert!(short.contains(" characters ("), "{short}");
        }
    }

    #[test]
    fn large_sections_share_the_room_and_fences_stay_closed() {
        let code = numbered(0..500);
        let text = format!(
            "### Result\n{}### Ran Playwright code\n```js\n### no heading\n{code}```\n### Page\n- Page URL: u",
            numbered(0..500)
        );
        let short = shortened_sections(&text, 400, None);
        assert!(!is_larger(&short, 400), "{short}");
        assert!(
            short.ends_with("left out\nline 499 has a few words\n```\n### Page\n- Page URL: u")
                || short.ends_with("```\n### Page\n- Page URL: u"),
            "{short}"
        );
        let code = short
            .find("### Ran Playwright code\n```js\n### no heading\n")
            .expect("a section");
        let (result, code) = short.split_at(code);
        for part in [result, code] {
            let own = estimate_tokens(part);
            assert!((120..=220).contains(&own), "{own}: {part}");
        }
    }

    #[test]
    fn a_cut_across_fences_closes_one_and_opens_the_other() {
        let text = format!(
            "### Evidence\n```\n{}```\n- Log:\n````js\n{}````",
            numbered(0..300),
            numbered(300..600)
        );
        let short = shortened_sections(&text, 200, None);
        let note = short.find('…').expect("a note");
        assert!(short[..note].ends_with("words\n```\n"), "{short}");
        let after = short[note..].split_once('\n').expect("a line").1;
        assert!(
            after.starts_with("````js\nline ") && after.ends_with("\n````"),
            "{short}"
        );
    }

    #[test]
    fn the_share_of_each_part_is_what_the_smaller_ones_leave() {
        assert_eq!(fair_share(&[10, 20, 30], 60), usize::MAX);
        assert_eq!(fair_share(&[10, 100, 200], 110), 50);
        assert_eq!(fair_share(&[100, 100], 50), 25);
        assert_eq!(fair_share(&[], 50), usize::MAX);
    }
}
