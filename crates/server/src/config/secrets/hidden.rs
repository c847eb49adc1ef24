//! Search for the values that must be masked, in all spellings.
//!
//! Texts and values are compared in a canonical form ([`canonical`]). All values are searched at once, in time that is linear in the text,
//! and memory that is linear in the values.

mod canonical;
mod cuts;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;

use canonical::{Canonical, Form, canonical, has_escapes};
use cuts::CutPatterns;

/// A value that must be masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) mask: Mask,
}

/// The text that replaces a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mask {
    /// The name of a secret, in `<secret>` tags.
    Name(String),
    /// One mark for each character.
    Dots,
}

impl Value {
    /// Returns the text that replaces the value.
    pub(super) fn replacement(&self) -> String {
        match &self.mask {
            Mask::Name(name) => format!("<secret>{name}</secret>"),
            Mask::Dots => engine::password_dots(&self.text),
        }
    }

    /// Whether the value equals the text, except for white space, which pages collapse.
    pub(super) fn equals(&self, text: &str) -> bool {
        let (one, other) = (self.text.trim(), text.trim());
        one == other
            || (other.contains(char::is_whitespace)
                && one.split_whitespace().eq(other.split_whitespace()))
    }
}

/// The values, and the automata that find them.
#[derive(Clone, Default)]
pub(super) struct Hidden {
    pub(super) values: Arc<[Value]>,
    anywhere: Option<Arc<Patterns>>,
    in_names: Option<Arc<Patterns>>,
    /// Whether there are too many values, so that nothing can be shown.
    is_overfull: bool,
}

impl PartialEq for Hidden {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl Eq for Hidden {}

/// An automaton that finds patterns.
struct Patterns {
    automaton: AhoCorasick,
    cut: CutPatterns,
    /// The value of each pattern, and whether it is matched as a word.
    facts: Vec<(usize, bool)>,
}

/// A part of a text that is masked as a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    start: usize,
    /// Longer ones first.
    end: Reverse<usize>,
    value: usize,
}

/// A value of a password field with fewer characters is matched only as a whole word, because it may be `1234`.
const MIN_SUBSTRING: usize = 8;
/// A line of a longer value with at least this many characters is also masked by itself.
const MIN_LINE: usize = 12;
/// Base64 with fewer characters is too likely to match other text.
const MIN_BASE64: usize = 10;
/// The least number of letters and digits of a value that is also matched in file names, where other values would be `____`.
const MIN_LETTERS_IN_NAMES: usize = 4;
/// The Base64 of a longer value of a password field is not searched, in bytes.
const MAX_ENCODED: usize = 128;
/// A value with more bytes is matched in parts of this size.
const MAX_PART: usize = 512;
/// The largest size of all patterns, in bytes.
const MAX_PATTERNS: usize = 16 << 20;
/// The size of the parts in which a text is searched, and how far a value can reach beyond one, in bytes.
const WINDOW: usize = 1 << 20;
const MARGIN: usize = 64 << 10;
/// How often escapes are decoded, for texts that were quoted in several formats.
const MAX_DECODINGS: usize = 3;

/// What is shown instead of any text if there are too many values.
const WITHHELD: &str = "[withheld: the session has more passwords than can be masked; close it]";

/// The characters that file names must not contain. Browsers replace them before they report the name of a download.
pub(crate) const FORBIDDEN: [char; 9] = ['<', '>', ':', '"', '/', '\\', '|', '?', '*'];

impl Hidden {
    /// Compiles the patterns. A value can contain another one, so the longest comes first, and of equal values the first.
    pub(super) fn new(mut values: Vec<Value>) -> Self {
        values.sort_by_key(|value| Reverse(value.text.len()));
        let mut anywhere = Vec::new();
        let mut in_names = Vec::new();
        for (owner, value) in values.iter().enumerate() {
            let is_word = value.mask == Mask::Dots && value.text.chars().count() < MIN_SUBSTRING;
            let forms = spellings(&value.text);
            anywhere.extend(forms.into_iter().map(|it| (owner, is_word, it)));
            let letters = value.text.chars().filter(|c| c.is_alphanumeric()).count();
            let is_changed = |c: char| c.is_whitespace() || FORBIDDEN.contains(&c);
            if letters >= MIN_LETTERS_IN_NAMES && value.text.trim().contains(is_changed) {
                in_names.push((owner, is_word, canonical(&value.text, Form::Name)));
            }
        }
        for (owner, value) in values.iter().enumerate() {
            let lines = value.text.lines().map(str::trim).filter(|line| {
                line.chars().count() >= MIN_LINE
                    && *line != value.text.trim()
                    && !line.starts_with("-----")
            });
            let lines = lines.flat_map(spellings);
            let is_short = value.mask != Mask::Dots || value.text.len() <= MAX_ENCODED;
            let encoded = is_short.then(|| base64(value.text.as_bytes()));
            let encoded = encoded.into_iter().flatten();
            anywhere.extend(lines.chain(encoded).map(|it| (owner, false, it)));
        }
        let patterns = [anywhere, in_names].map(|all| Patterns::new(&all));
        let is_overfull = patterns.iter().any(Result::is_err);
        let [anywhere, in_names] = patterns.map(|it| it.ok().flatten().map(Arc::new));
        Self {
            values: values.into(),
            anywhere,
            in_names,
            is_overfull,
        }
    }

    /// Returns values of which nothing can be shown, because there are too many.
    pub(super) fn overfull() -> Self {
        Self {
            is_overfull: true,
            ..Self::default()
        }
    }

    /// Replaces each value in the text by its mask.
    pub(super) fn redacted(&self, text: String) -> String {
        if self.is_overfull {
            return WITHHELD.to_owned();
        }
        let mut masks = Vec::new();
        let mut from = 0;
        while from < text.len() {
            let end = text.floor_char_boundary((from + WINDOW).min(text.len()));
            let reach = text.floor_char_boundary((end + MARGIN).min(text.len()));
            let found = self.find(&text[from..reach]);
            masks.extend(found.into_iter().map(|it| Found {
                start: from + it.start,
                end: Reverse(from + it.end.0),
                ..it
            }));
            if reach == text.len() {
                break;
            }
            // An escape can lie across the end.
            from = text.floor_char_boundary(end - MAX_PART.min(end));
        }
        masks.sort_unstable();
        self.masked(text, &masks)
    }

    /// Returns the text with these parts masked.
    fn masked(&self, text: String, masks: &[Found]) -> String {
        let mut shown = String::new();
        let mut done = 0;
        let mut last = None;
        for found in masks {
            let end = found.end.0;
            if found.start >= done {
                // The parts of a long value have one mask.
                if found.start > done || last != Some(found.value) {
                    shown += &text[done..found.start];
                    shown += &self.values[found.value].replacement();
                }
                last = Some(found.value);
            }
            done = done.max(end);
        }
        if done == 0 {
            return text;
        }
        shown + &text[done..]
    }

    /// Returns the values in a part of a text.
    fn find(&self, text: &str) -> Vec<Found> {
        let mut found = Vec::new();
        if let Some(patterns) = &self.in_names {
            patterns.find(&Canonical::of(text, Form::Name), &mut found);
        }
        let Some(patterns) = &self.anywhere else {
            return found;
        };
        patterns.find(&Canonical::of(text, Form::Plain), &mut found);
        if !has_escapes(text) {
            return found;
        }
        let mut form = Canonical::of(text, Form::Decoded);
        patterns.find(&form, &mut found);
        for _ in 1..MAX_DECODINGS {
            if !has_escapes(&form.text) {
                break;
            }
            form = form.decoded_again();
            patterns.find(&form, &mut found);
        }
        found
    }
}

impl Patterns {
    /// Returns `None` if there are no patterns, and an error if they are too large.
    fn new(patterns: &[(usize, bool, String)]) -> Result<Option<Self>, ()> {
        let mut parts = Vec::new();
        let mut facts = Vec::new();
        let mut size = 0;
        for (owner, is_word, pattern) in patterns {
            for part in parts_of(pattern) {
                size += part.len();
                parts.push(part);
                facts.push((*owner, *is_word));
            }
        }
        if parts.is_empty() {
            return Ok(None);
        }
        if size > MAX_PATTERNS {
            return Err(());
        }
        let cut = CutPatterns::new(parts.iter().copied())?;
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(parts)
            .map_err(drop)?;
        Ok(Some(Self {
            automaton,
            cut,
            facts,
        }))
    }

    fn find(&self, form: &Canonical, found: &mut Vec<Found>) {
        let whole = self.automaton.find_overlapping_iter(&form.text);
        let whole = whole.map(|it| (it.start(), it.end(), it.pattern().as_usize()));
        let parts = self.cut.find(&form.text).into_iter();
        let parts = parts.map(|it| (it.start, it.end, it.pattern));
        for (start, end, pattern) in whole.chain(parts) {
            let (value, is_word) = self.facts[pattern];
            if is_word && !is_whole_word(&form.text, start, end) {
                continue;
            }
            let (start, end) = form.source(start, end);
            found.push(Found {
                start,
                end: Reverse(end),
                value,
            });
        }
    }
}

/// Returns the parts in which a pattern is searched.
fn parts_of(pattern: &str) -> impl Iterator<Item = &str> {
    let mut rest = pattern;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = match rest.len() {
            // The last part is not too short to be distinctive.
            length if length < 2 * MAX_PART => length,
            _ => rest.floor_char_boundary(MAX_PART),
        };
        let (part, after) = rest.split_at(end);
        rest = after;
        Some(part)
    })
}

/// Returns the canonical forms of a text: as it is, and as it is if a part of it happens to be an escape.
fn spellings(text: &str) -> BTreeSet<String> {
    let forms = [Form::Plain, Form::Decoded].map(|form| canonical(text, form));
    forms.into_iter().filter(|form| !form.is_empty()).collect()
}

/// Returns whether a part of a text is not in the middle of a longer word.
fn is_whole_word(text: &str, start: usize, end: usize) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    let (before, part, after) = (&text[..start], &text[start..end], &text[end..]);
    let starts_inside = is_word(before.chars().next_back()) && is_word(part.chars().next());
    let ends_inside = is_word(part.chars().next_back()) && is_word(after.chars().next());
    !starts_inside && !ends_inside
}

/// Returns the Base64 of any longer text that contains these bytes, for each of the three alignments, in Base64 and base64url.
fn base64(bytes: &[u8]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for offset in 0..3 {
        let mut shifted = vec![0; offset];
        shifted.extend_from_slice(bytes);
        let encoded = BASE64_STANDARD_NO_PAD.encode(&shifted);
        // Characters that also encode bits of neighbouring bytes are left out.
        let (start, end) = ((offset * 8).div_ceil(6), shifted.len() * 8 / 6);
        let Some(certain) = encoded.get(start..end) else {
            continue;
        };
        if certain.len() >= MIN_BASE64 {
            found.insert(Canonical::of(certain, Form::Plain).text);
            found.insert(certain.replace('+', "-").replace('/', "_"));
        }
    }
    found
}
