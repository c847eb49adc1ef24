//! Parts of values at the places where a text was cut. Pages, browsers and the engine shorten texts before they are masked.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// The mark of a cut.
const CUT: char = '…';
/// A part of a value with fewer characters is not masked, because many words begin with it.
const MIN_CHARS: usize = 3;
/// The longest part of an escape that a cut leaves, in characters.
const MAX_ESCAPE: usize = 16;

/// Searches the beginnings of patterns before cuts, and their ends after cuts.
pub(super) struct CutPatterns {
    /// The patterns that are long enough, each with its index.
    patterns: Vec<(usize, String)>,
    beginnings: AhoCorasick,
    ends: AhoCorasick,
}

/// A part of a pattern in a text.
pub(super) struct FoundPart {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The index of the pattern.
    pub(super) pattern: usize,
}

impl CutPatterns {
    /// Fails if the patterns are too large.
    pub(super) fn new<'a>(patterns: impl Iterator<Item = &'a str>) -> Result<Self, ()> {
        let long = |pattern: &&str| pattern.chars().nth(MIN_CHARS).is_some();
        let patterns: Vec<_> = patterns
            .enumerate()
            .filter(|(_, pattern)| long(pattern))
            .map(|(index, pattern)| (index, pattern.to_owned()))
            .collect();
        let beginnings = patterns.iter().map(|(_, pattern)| {
            let end = pattern.char_indices().nth(MIN_CHARS);
            &pattern[..end.map_or(0, |(at, _)| at)]
        });
        let ends = patterns.iter().map(|(_, pattern)| {
            let start = pattern.char_indices().nth_back(MIN_CHARS - 1);
            &pattern[start.map_or(0, |(at, _)| at)..]
        });
        Ok(Self {
            beginnings: automaton(beginnings)?,
            ends: automaton(ends)?,
            patterns,
        })
    }

    /// Returns the parts of patterns beside the cuts of a text in its canonical form.
    pub(super) fn find(&self, text: &str) -> Vec<FoundPart> {
        if !text.contains(CUT) {
            return Vec::new();
        }
        let beginnings = self
            .beginnings
            .find_overlapping_iter(text)
            .filter_map(|it| {
                let (index, pattern) = &self.patterns[it.pattern().as_usize()];
                let end = it.start() + common_beginning(&text[it.start()..], pattern);
                Some(FoundPart {
                    start: it.start(),
                    end: end + before_cut(&text[end..])?,
                    pattern: *index,
                })
            });
        let ends = self.ends.find_overlapping_iter(text).filter_map(|it| {
            let (index, pattern) = &self.patterns[it.pattern().as_usize()];
            let start = it.end() - common_end(&text[..it.end()], pattern);
            text[..start]
                .trim_end()
                .ends_with(CUT)
                .then_some(FoundPart {
                    start,
                    end: it.end(),
                    pattern: *index,
                })
        });
        beginnings.chain(ends).collect()
    }
}

fn automaton<'a>(patterns: impl Iterator<Item = &'a str>) -> Result<AhoCorasick, ()> {
    AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(patterns)
        .map_err(drop)
}

/// Returns the length of the text that two texts begin with.
fn common_beginning(text: &str, other: &str) -> usize {
    let equal = text.chars().zip(other.chars());
    let equal = equal.take_while(|(one, other)| one == other);
    equal.map(|(c, _)| c.len_utf8()).sum()
}

/// Returns the length of the text that two texts end with.
fn common_end(text: &str, other: &str) -> usize {
    let equal = text.chars().rev().zip(other.chars().rev());
    let equal = equal.take_while(|(one, other)| one == other);
    equal.map(|(c, _)| c.len_utf8()).sum()
}

/// Returns the length of the white space, or of the escape without its end, that a text has before a cut; `None` if the text has more there.
fn before_cut(text: &str) -> Option<usize> {
    let (at, _) = text
        .char_indices()
        .take(MAX_ESCAPE)
        .find(|(_, c)| *c == CUT)?;
    let between = &text[..at];
    let mut chars = between.chars();
    let is_escape = matches!(chars.next(), Some('%' | '\\' | '&'))
        && chars.all(|c| c.is_ascii_alphanumeric() || "%\\#{".contains(c));
    (is_escape || between.trim().is_empty()).then_some(at)
}
