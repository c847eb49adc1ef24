//! The lines of a snapshot that are nearest to what a selector describes.

use super::line::{Line, LineKind, Lines};
use std::collections::BTreeSet;

/// The most lines.
const MAX_LINES: usize = 3;
/// The longest line, in characters.
const MAX_LENGTH: usize = 200;
/// The lowest score of a line. The score of a line with all words and the role is 1.
const MIN_SCORE: f64 = 0.25;
/// The part of the role in the score.
const ROLE: f64 = 0.3;
/// The score of a word that is similar to a wanted one.
const SIMILAR: f64 = 0.7;
/// The shortest word that is similar to words that contain it, in characters.
const MIN_PART: usize = 3;
/// The most words that are compared.
const MAX_WORDS: usize = 20;

/// What a selector says of the element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    role: Option<String>,
    words: BTreeSet<String>,
}

impl Wanted {
    /// Sets the role.
    pub(crate) fn set_role(&mut self, role: &str) {
        self.role = Some(role.to_lowercase());
    }

    /// Adds the words of a text; `loginBtn` has two.
    pub(crate) fn add_text(&mut self, text: &str) {
        self.words.extend(words_of(text).take(MAX_WORDS));
    }

    /// Adds the words of a selector in the syntax of CSS or XPath, except those of the syntax.
    pub(crate) fn add_source(&mut self, source: &str) {
        const SYNTAX: &[&str] = &[
            "a", "aria", "child", "class", "contains", "data", "div", "first", "for", "has",
            "href", "id", "input", "is", "label", "last", "li", "name", "not", "nth", "of", "role",
            "span", "td", "test", "testid", "text", "title", "tr", "type", "ul", "value",
        ];
        let words = words_of(source).filter(|word| !SYNTAX.contains(&&**word));
        self.words.extend(words.take(MAX_WORDS));
    }

    /// Returns how near the line is.
    fn score(&self, line: &Line<'_>) -> f64 {
        let LineKind::Element(role) = line.kind else {
            return 0.0;
        };
        let shown: Vec<String> = words_of(line.text).take(10 * MAX_WORDS).collect();
        let best = |wanted: &String| {
            shown
                .iter()
                .map(|word| similarity(wanted, word))
                .fold(0.0, f64::max)
        };
        #[expect(clippy::cast_precision_loss, reason = "few words")]
        let count = self.words.len() as f64;
        let words = self.words.iter().map(best).sum::<f64>() / count.max(1.0);
        match &self.role {
            Some(wanted) => ROLE * f64::from(u8::from(wanted == role)) + (1.0 - ROLE) * words,
            None => words,
        }
    }
}

/// Returns the nearest lines, nearest first, without the dash of the full layout.
pub(crate) fn nearest(text: &str, lines: &Lines, wanted: &Wanted) -> Vec<String> {
    let lines = lines.iter(text).filter(|line| line.reference.is_some());
    let scored = lines.map(|line| (wanted.score(&line), line.text));
    let mut near: Vec<_> = scored.filter(|(score, _)| *score >= MIN_SCORE).collect();
    near.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let near = near.into_iter().take(MAX_LINES);
    near.map(|(_, line)| shown(line)).collect()
}

fn shown(line: &str) -> String {
    let line = line
        .strip_prefix("- ")
        .unwrap_or(line)
        .trim_end_matches(':');
    match line.char_indices().nth(MAX_LENGTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Returns the words in lower case.
fn words_of(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    parts.flat_map(|part| {
        let mut words: Vec<String> = Vec::new();
        let mut was_lower = false;
        for c in part.chars() {
            if words.is_empty() || (was_lower && c.is_uppercase()) {
                words.push(String::new());
            }
            was_lower = c.is_lowercase();
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        words
    })
}

fn similarity(wanted: &str, word: &str) -> f64 {
    if wanted == word {
        return 1.0;
    }
    let (shorter, longer) = match wanted.len() < word.len() {
        true => (wanted, word),
        false => (word, wanted),
    };
    let is_part = shorter.chars().count() >= MIN_PART && longer.contains(shorter);
    match is_part || is_mistyped(wanted, word) {
        true => SIMILAR,
        false => 0.0,
    }
}

/// Returns whether two words of at least four characters differ in one character at most, or in two that are exchanged.
fn is_mistyped(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().min(b.len()) < 4 || a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[same..], &b[same..]);
    let is_swapped =
        a.len() >= 2 && b.len() >= 2 && a[0] == b[1] && a[1] == b[0] && a[2..] == b[2..];
    let (after_a, after_b) = (
        a.get(1..).unwrap_or_default(),
        b.get(1..).unwrap_or_default(),
    );
    is_swapped || after_a == after_b || after_a == b || a == after_b
}

#[cfg(test)]
mod tests {
    use super::super::line::Ref;
    use super::*;

    fn near(lines: &[&str], wanted: &Wanted) -> Vec<String> {
        let text = lines.join("\n");
        let mut stored = Lines::default();
        let mut start = 0;
        for (index, line) in lines.iter().enumerate() {
            let number = u32::try_from(index + 1).unwrap();
            let role = line.trim_start_matches("- ").split(' ').next().unwrap();
            stored.push(
                start,
                0,
                Some(Ref { prefix: "", number }),
                LineKind::Element(role),
            );
            start += line.len() + 1;
        }
        nearest(&text, &stored, wanted)
    }

    const LINES: [&str; 6] = [
        "navigation e1",
        "button \"Log in\" e2",
        "link \"Login help\" e3 → /help",
        "button \"Subscribe\" e4",
        "textbox \"E-mail address\" e5",
        "button \"Cancel\" e6",
    ];

    #[test]
    fn words_count_more_than_the_role() {
        let mut wanted = Wanted::default();
        wanted.set_role("button");
        wanted.add_text("Login");
        assert_eq!(near(&LINES, &wanted), [LINES[1], LINES[2], LINES[3]]);
    }

    #[test]
    fn a_mistyped_word_is_similar() {
        let mut wanted = Wanted::default();
        wanted.add_source("#subscribeBtn");
        assert_eq!(near(&LINES, &wanted), [LINES[3]]);
        assert!(is_mistyped("qwertz", "qwetrz"));
        assert!(!is_mistyped("save", "shared"));
        assert!(!is_mistyped("no", "on"));
    }

    #[test]
    fn the_words_of_the_syntax_do_not_count() {
        let mut wanted = Wanted::default();
        wanted.add_source("div input[name=email]:not(.x)");
        assert_eq!(near(&LINES, &wanted), [LINES[4]]);
    }
}
