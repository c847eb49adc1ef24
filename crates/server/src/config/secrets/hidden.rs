//! Search for the values that must be masked, in all spellings.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use regex_automata::meta::{BuildError, Regex};
use regex_automata::nfa::thompson::WhichCaptures;

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
        self.text.split_whitespace().eq(text.split_whitespace())
    }
}

/// Values and the patterns that match them. A search takes time linear in the text, however many matches it has.
#[derive(Clone, Default)]
pub(super) struct Hidden {
    pub(super) values: Arc<[Value]>,
    /// A shared pointer, because a clone of a regular expression loses the caches of its searches.
    any: Option<Arc<Regex>>,
    /// The index of the value of each pattern.
    owners: Arc<[usize]>,
}

impl PartialEq for Hidden {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl Eq for Hidden {}

/// A value of a password field with fewer characters is matched only as a whole word, because it may be `1234`.
const MIN_SUBSTRING: usize = 8;
/// A line of a longer value with at least this many characters is also masked by itself.
const MIN_LINE: usize = 12;
/// Base64 with fewer characters is too likely to match other text.
const MIN_BASE64: usize = 10;

impl Hidden {
    /// Compiles the patterns. A value can contain another one, so the longest comes first, and of equal values the first.
    pub(super) fn new(mut values: Vec<Value>) -> Self {
        values.sort_by_key(|value| Reverse(value.text.len()));
        let mut patterns = Vec::new();
        for (owner, value) in values.iter().enumerate() {
            let mut whole = pattern(&value.text);
            if value.mask == Mask::Dots && value.text.chars().count() < MIN_SUBSTRING {
                whole = as_word(&value.text, &whole);
            }
            patterns.push((owner, whole));
        }
        for (owner, value) in values.iter().enumerate() {
            let lines = value.text.lines().map(str::trim);
            let lines = lines.filter(|line| {
                line.chars().count() >= MIN_LINE
                    && *line != value.text.trim()
                    && !line.starts_with("-----")
            });
            patterns.extend(lines.map(|line| (owner, pattern(line))));
            patterns.extend(base64(value.text.as_bytes()).map(|it| (owner, it)));
        }
        patterns.retain(|(_, pattern)| !pattern.is_empty());
        let (owners, patterns): (Vec<_>, Vec<_>) = patterns.into_iter().unzip();
        let any = if patterns.is_empty() {
            None
        } else {
            automaton(&patterns).ok().map(Arc::new)
        };
        Self {
            any,
            values: values.into(),
            owners: owners.into(),
        }
    }

    /// Replaces each value in the text by its mask.
    pub(super) fn redacted(&self, text: String) -> String {
        let Some(any) = &self.any else {
            return text;
        };
        let mut redacted = String::new();
        let mut done = 0;
        for found in any.find_iter(&text) {
            let owner = self.owners[found.pattern().as_usize()];
            redacted += &text[done..found.start()];
            redacted += &self.values[owner].replacement();
            done = found.end();
        }
        if done == 0 {
            return text;
        }
        redacted + &text[done..]
    }
}

fn automaton(patterns: &[String]) -> Result<Regex, Box<BuildError>> {
    let config = Regex::config()
        .nfa_size_limit(None)
        .which_captures(WhichCaptures::Implicit);
    Regex::builder()
        .configure(config)
        .build_many(patterns)
        .map_err(Box::new)
}

/// White space as it is, collapsed, or escaped in code, JSON, URLs, HTML or previews of elements.
const SPACE: &str = r"(?:[\s\x{feff}\x{21b5}\x{21c6}+]|\\+(?:[nrtvf]|u00(?:0[9a-dA-D]|20|[aA]0)|u202[89]|u[fF][eE][fF][fF])|%(?:0[9aAdD]|20|[cC]2%[aA]0)|&(?:nbsp|NewLine|Tab|#(?:9|10|13|32|160|[xX](?:9|[aAdD]|20|[aA]0)));)";

/// The characters that file names must not contain. Browsers replace them before they report the name of a download.
pub(crate) const FORBIDDEN: [char; 9] = ['<', '>', ':', '"', '/', '\\', '|', '?', '*'];

/// The characters with which browsers replace them.
const REPLACED: &str = "[_-]";

/// The least number of letters and digits of a value that is also matched in file names, where other values would be `____`.
const MIN_LETTERS_IN_NAMES: usize = 4;

/// Returns a regular expression for a text as it is, and as it is escaped in JSON, code, URLs, HTML, Markdown and file names.
fn pattern(text: &str) -> String {
    let mut pattern = String::new();
    let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
    let in_names = letters >= MIN_LETTERS_IN_NAMES;
    let space = if in_names {
        format!("(?:{SPACE}|{REPLACED})+")
    } else {
        format!("{SPACE}+")
    };
    let mut before = ' ';
    for c in text.trim().chars() {
        let is_new = match c {
            c if c.is_whitespace() => !before.is_whitespace(),
            '\\' => before != '\\',
            _ => true,
        };
        before = c;
        match c {
            _ if !is_new => {}
            c if c.is_whitespace() => pattern += &space,
            c if c.is_ascii_alphanumeric() => pattern.push(c),
            c => escaped(c, in_names, &mut pattern),
        }
    }
    pattern
}

/// Appends a pattern of one character in all spellings, the longer ones first. `in_names` adds the spelling in file names.
fn escaped(c: char, in_names: bool, pattern: &mut String) {
    let code = u32::from(c);
    // In HTML.
    let _ = write!(pattern, "(?:(?i:&#0*{code};|&#x0*{code:x};");
    pattern.push_str(match c {
        '&' => "|&amp;",
        '<' => "|&lt;",
        '>' => "|&gt;",
        '"' => "|&quot;",
        '\'' => "|&apos;",
        _ => "",
    });
    // In URLs.
    pattern.push('|');
    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
        let _ = write!(pattern, "%{byte:02x}");
    }
    // In JSON and code.
    pattern.push('|');
    for unit in c.encode_utf16(&mut [0; 2]) {
        let _ = write!(pattern, r"\\+u{unit:04x}");
    }
    pattern.push_str(")|");
    if in_names && FORBIDDEN.contains(&c) {
        pattern.push_str(REPLACED);
        pattern.push('|');
    }
    let _ = match c {
        '\\' => write!(pattern, r"\\+)"),
        c if c.is_ascii() => write!(pattern, r"\\*\x{{{code:x}}})"),
        _ => write!(pattern, r"\x{{{code:x}}})"),
    };
}

fn as_word(text: &str, pattern: &str) -> String {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    let text = text.trim();
    let edge = |c| if is_word(c) { r"(?-u:\b)" } else { "" };
    format!(
        "{}{pattern}{}",
        edge(text.chars().next()),
        edge(text.chars().next_back())
    )
}

/// Returns regular expressions for the Base64 of any longer text that contains these bytes, for each of the three alignments.
fn base64(bytes: &[u8]) -> impl Iterator<Item = String> {
    (0..3).filter_map(move |offset| {
        let mut shifted = vec![0; offset];
        shifted.extend_from_slice(bytes);
        let encoded = BASE64_STANDARD_NO_PAD.encode(&shifted);
        // Characters that also encode bits of neighbouring bytes are left out.
        let (start, end) = ((offset * 8).div_ceil(6), shifted.len() * 8 / 6);
        let certain = encoded.get(start..end)?;
        (certain.len() >= MIN_BASE64).then(|| {
            // Base64, base64url, and Base64 that is escaped in URLs.
            certain
                .replace('+', "(?:[+-]|%2[bB])")
                .replace('/', r"(?:\\?/|_|%2[fF])")
        })
    })
}
