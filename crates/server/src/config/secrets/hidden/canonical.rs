//! The canonical form of a text, in which values are searched: escapes are decoded, runs of white space are one space, and invisible
//! characters are left out.

/// The canonical form of a text, and where its bytes come from.
#[derive(Debug, Default)]
pub(super) struct Canonical {
    pub(super) text: String,
    /// The ranges of the text that the bytes of the form stand for.
    ranges: Vec<(u32, u32)>,
}

/// Which escapes are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// None.
    Plain,
    /// Those of JSON, code, URLs, HTML and Markdown.
    Decoded,
    /// None, but characters that names of files cannot contain are `_`, like `-` and white space.
    Name,
}

impl Canonical {
    /// Returns the form of a text of at most 4 GiB.
    pub(super) fn of(text: &str, form: Form) -> Self {
        let mut canonical = Self {
            text: String::with_capacity(text.len()),
            ranges: Vec::with_capacity(text.len()),
        };
        let mut before = '\0';
        let mut at = 0;
        while at < text.len() {
            let ordinary = text.as_bytes()[at..]
                .iter()
                .position(|byte| !is_ordinary(*byte, form));
            let end = at + ordinary.unwrap_or(text.len() - at);
            if end > at {
                canonical.text.push_str(&text[at..end]);
                let bytes = narrow(at)..narrow(end);
                canonical.ranges.extend(bytes.map(|byte| (byte, byte + 1)));
                before = '\0';
                at = end;
                continue;
            }
            let (c, length) = unit(&text[at..], form);
            if let Some(c) = c {
                let merges =
                    c == before && matches!((c, form), (' ' | '\\', _) | ('_', Form::Name));
                match canonical.ranges.last().copied() {
                    Some((start, _)) if merges => canonical.extend_last(start, at + length),
                    _ => canonical.push(c, at, at + length),
                }
                before = c;
            }
            at += length;
        }
        canonical
    }

    /// Returns the form of this form.
    pub(super) fn decoded_again(&self) -> Self {
        let mut again = Self::of(&self.text, Form::Decoded);
        for range in &mut again.ranges {
            *range = (
                self.ranges[range.0 as usize].0,
                self.ranges[range.1 as usize - 1].1,
            );
        }
        again
    }

    /// Returns the range of the text that a range of the form stands for.
    pub(super) fn source(&self, start: usize, end: usize) -> (usize, usize) {
        (
            self.ranges[start].0 as usize,
            self.ranges[end - 1].1 as usize,
        )
    }

    fn push(&mut self, c: char, start: usize, end: usize) {
        self.text.push(c);
        let range = (narrow(start), narrow(end));
        self.ranges.resize(self.text.len(), range);
    }

    fn extend_last(&mut self, start: u32, end: usize) {
        if let Some(last) = self.ranges.last_mut() {
            *last = (start, narrow(end));
        }
    }
}

fn narrow(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Returns the canonical form of a value, without spaces around it.
pub(super) fn canonical(text: &str, form: Form) -> String {
    Canonical::of(text, form)
        .text
        .trim_matches([' ', '_'])
        .to_owned()
}

/// Returns the first character, `None` if it is invisible, and the length of its spelling.
fn unit(rest: &str, form: Form) -> (Option<char>, usize) {
    let Some(first) = rest.chars().next() else {
        return (None, 0);
    };
    let decoded = match (first, form) {
        ('\\', Form::Decoded) => Some(after_backslash(rest)),
        ('%', Form::Decoded) => in_url(rest),
        ('&', Form::Decoded) => in_html(rest),
        _ => None,
    };
    let (c, length) = decoded.unwrap_or((first, first.len_utf8()));
    let shown = match c {
        c if is_space(c) => Some(' '),
        c if engine::is_invisible(c) => None,
        c => Some(c),
    };
    let name = |c| match c {
        ' ' | '-' => '_',
        c if super::FORBIDDEN.contains(&c) => '_',
        c => c,
    };
    (
        if form == Form::Name {
            shown.map(name)
        } else {
            shown
        },
        length,
    )
}

/// Returns whether a character of ASCII stands for itself and never merges with the one before it.
fn is_ordinary(byte: u8, form: Form) -> bool {
    match form {
        Form::Name => byte.is_ascii_alphanumeric(),
        Form::Plain | Form::Decoded => {
            byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'%' | b'&' | b'+')
        }
    }
}

/// Returns whether a text has an escape that is decoded.
pub(super) fn has_escapes(text: &str) -> bool {
    let marks = text.match_indices(['\\', '%', '&']);
    let mut decoded = marks.map(|(at, mark)| (mark, unit(&text[at..], Form::Decoded)));
    decoded.any(|(mark, (c, length))| length > 1 || c != mark.chars().next())
}

/// White space as it is, or as it stands in URLs and in previews of elements.
fn is_space(c: char) -> bool {
    (c.is_whitespace() || matches!(c, '+' | '\u{21b5}' | '\u{21c6}' | '\0')) && c != '\u{feff}'
}

/// Decodes what follows backslashes, whose number depends on how often a text was quoted.
fn after_backslash(rest: &str) -> (char, usize) {
    let after = rest.trim_start_matches('\\');
    let length = rest.len() - after.len();
    let mut chars = after.chars();
    let found = match chars.next() {
        Some('u') => code_unit(chars.as_str()).map(|(unit, digits)| {
            let own = (
                char::from_u32(unit).unwrap_or('\u{fffd}'),
                length + 1 + digits,
            );
            second_half(unit, &chars.as_str()[digits..]).map_or(own, |(c, more)| (c, own.1 + more))
        }),
        Some('x') => hexadecimal(chars.as_str(), 2)
            .map(|byte| (char::from_u32(byte).unwrap_or(' '), length + 3)),
        Some('n' | 'r' | 't' | 'f' | 'v') => Some((' ', length + 1)),
        Some(c) if !c.is_alphanumeric() => Some((c, length + c.len_utf8())),
        _ => None,
    };
    found.unwrap_or(('\\', length))
}

/// Reads `XXXX` or `{X…}`; returns the number and the length.
fn code_unit(text: &str) -> Option<(u32, usize)> {
    if let Some(inside) = text.strip_prefix('{') {
        let digits = inside.find('}').filter(|digits| (1..=6).contains(digits))?;
        return Some((hexadecimal(inside, digits)?, digits + 2));
    }
    Some((hexadecimal(text, 4)?, 4))
}

/// Returns the character of a surrogate pair whose second half follows, and the length of that.
fn second_half(first: u32, rest: &str) -> Option<(char, usize)> {
    let after = rest.trim_start_matches('\\').strip_prefix('u')?;
    let second = hexadecimal(after, 4)?;
    if !(0xd800..0xdc00).contains(&first) || !(0xdc00..0xe000).contains(&second) {
        return None;
    }
    let c = char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))?;
    Some((c, rest.len() - after.len() + 4))
}

fn hexadecimal(text: &str, digits: usize) -> Option<u32> {
    let text = text.get(..digits)?;
    let is_number = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(text, 16).ok().filter(|_| is_number)
}

/// Decodes a character of a URL: `%XX` for each byte of its UTF-8.
fn in_url(rest: &str) -> Option<(char, usize)> {
    let byte = |index: usize| {
        let escape = rest.get(3 * index..)?.strip_prefix('%')?;
        u8::try_from(hexadecimal(escape, 2)?).ok()
    };
    let first = byte(0)?;
    let count = match first {
        0..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => return None,
    };
    let bytes: Vec<u8> = (0..count).map(byte).collect::<Option<_>>()?;
    let c = std::str::from_utf8(&bytes).ok()?.chars().next()?;
    Some((c, 3 * count))
}

/// The longest reference to a character in HTML.
const MAX_REFERENCE: usize = 16;

/// Decodes a reference of HTML.
fn in_html(rest: &str) -> Option<(char, usize)> {
    let end = rest
        .bytes()
        .take(MAX_REFERENCE)
        .position(|byte| byte == b';')?;
    let name = rest.get(1..end)?;
    let c = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
        None => match name.to_ascii_lowercase().as_str() {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            "nbsp" | "newline" | "tab" => ' ',
            _ => return None,
        },
    };
    Some((c, end + 1))
}
