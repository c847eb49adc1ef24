//! The literals in locator expressions, and the cursor that parses them.

use super::SelectorError;
use super::print::Regex;

pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

type Read<T> = Result<T, SelectorError>;

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the next character after blanks and comments.
    pub(super) fn peek(&mut self) -> Option<char> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("/*") {
                return trimmed.chars().next();
            }
            self.at += trimmed.find("*/").map_or(trimmed.len(), |end| end + 2);
        }
    }

    /// Consumes the character if it is next.
    pub(super) fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    pub(super) fn expect(&mut self, wanted: char) -> Read<()> {
        if self.take(wanted) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{wanted}`")))
    }

    /// Consumes an identifier, if one is next.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        self.peek();
        let rest = self.rest();
        let length = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'))
            .unwrap_or(rest.len());
        if length == 0 || rest.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        self.at += length;
        Some(&rest[..length])
    }

    /// Returns the next identifier without consuming it.
    pub(super) fn peek_word(&mut self) -> Option<&'a str> {
        self.peek();
        let at = self.at;
        let word = self.word();
        self.at = at;
        word
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Returns to a position, so that an error refers to it.
    pub(super) fn back_to(&mut self, position: usize) {
        self.at = position;
    }

    /// Returns whether a string is next, and the length of its prefix: `r"a"` in Python and `@"a"` in C# have no escapes.
    fn string_prefix(&mut self) -> Option<usize> {
        self.peek();
        let rest = self.rest();
        let length = usize::from(rest.starts_with(['r', 'R', 'u', '@']));
        rest[length..]
            .starts_with(['\'', '"', '`'])
            .then_some(length)
    }

    pub(super) fn is_string(&mut self) -> bool {
        self.string_prefix().is_some()
    }

    pub(super) fn string(&mut self) -> Read<String> {
        let Some(prefix) = self.string_prefix() else {
            return Err(self.unexpected("a string in quotes"));
        };
        let (prefix, rest) = self.rest().split_at(prefix);
        let quote = rest.chars().next().unwrap_or_default();
        self.at += prefix.len() + 1;
        match prefix {
            "r" | "R" => return self.raw_string(quote, '\\'),
            "@" => return self.raw_string(quote, quote),
            _ => {}
        }
        let mut value = String::new();
        loop {
            let Some(c) = self.rest().chars().next() else {
                return Err(self.unexpected(&format!("the closing {quote}")));
            };
            self.at += c.len_utf8();
            match c {
                c if c == quote => return Ok(value),
                '\\' => value.extend(self.escape()),
                c => value.push(c),
            }
        }
    }

    /// Parses the rest of a string in which `escape` before a quote keeps the string from ending there. A backslash stays in the value.
    fn raw_string(&mut self, quote: char, escape: char) -> Read<String> {
        let mut value = String::new();
        loop {
            let Some(c) = self.rest().chars().next() else {
                return Err(self.unexpected(&format!("the closing {quote}")));
            };
            self.at += c.len_utf8();
            let next = self.rest().chars().next();
            if c == escape
                && let Some(next) = next.filter(|next| escape != quote || *next == quote)
            {
                self.at += next.len_utf8();
                value.extend((escape != quote).then_some(c));
                value.push(next);
            } else if c == quote {
                return Ok(value);
            } else {
                value.push(c);
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        Some(match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '0' => '\0',
            '\n' => return None,
            'x' => return self.hex(2).or(Some('x')),
            'u' if self.rest().starts_with('{') => {
                let end = self.rest().find('}')?;
                let code = u32::from_str_radix(&self.rest()[1..end], 16).ok();
                self.at += end + 1;
                return code.and_then(char::from_u32);
            }
            'u' => return self.hex(4).or(Some('u')),
            c => c,
        })
    }

    fn hex(&mut self, digits: usize) -> Option<char> {
        let code = u32::from_str_radix(self.rest().get(..digits)?, 16).ok()?;
        self.at += digits;
        // A surrogate pair is one character that is written as two escapes.
        if (0xd800..0xdc00).contains(&code)
            && let Some(low) = self.rest().strip_prefix("\\u")
            && let Some(low) = low.get(..4).and_then(|s| u32::from_str_radix(s, 16).ok())
            && (0xdc00..0xe000).contains(&low)
        {
            self.at += 6;
            return char::from_u32(0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
        }
        Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    pub(super) fn regex(&mut self) -> Read<Regex> {
        if self.peek() != Some('/') {
            return Err(self.unexpected("a regular expression"));
        }
        let start = self.at;
        self.at += 1;
        let mut class = false;
        loop {
            let c = self.rest().chars().next().filter(|c| *c != '\n');
            let Some(c) = c else {
                return Err(self.unexpected("the closing / of the regular expression"));
            };
            self.at += c.len_utf8();
            match c {
                '\\' => {
                    let escaped = self.rest().chars().next().map_or(0, char::len_utf8);
                    self.at += escaped;
                }
                '[' => class = true,
                ']' => class = false,
                '/' if !class => break,
                _ => {}
            }
        }
        let source = self.text[start + 1..self.at - 1].to_owned();
        let flags_at = self.at;
        let length = self
            .rest()
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(self.rest().len());
        let flags = &self.rest()[..length];
        if let Some(wrong) = flags.find(|c| !"dgimsuvy".contains(c)) {
            self.at = flags_at + wrong;
            return Err(self.unexpected("only the flags d g i m s u v y"));
        }
        self.at += length;
        Ok(Regex {
            source,
            flags: flags.to_owned(),
        })
    }

    pub(super) fn integer(&mut self) -> Read<i64> {
        self.peek();
        let negative = self.rest().starts_with('-');
        let digits = &self.rest()[usize::from(negative)..];
        let length = digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len());
        let Ok(number) = digits[..length].parse::<i64>() else {
            return Err(self.unexpected("a whole number"));
        };
        self.at += usize::from(negative) + length;
        Ok(if negative { -number } else { number })
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Returns the error for an unexpected token.
    pub(super) fn unexpected(&mut self, expected: &str) -> SelectorError {
        let found = match self.peek() {
            None => "end".to_owned(),
            Some(c) => match self.peek_word() {
                Some(word) => format!("`{word}`"),
                None => format!("`{c}`"),
            },
        };
        SelectorError::Expression {
            locator: self.text.to_owned(),
            position: self.text[..self.at].chars().count() + 1,
            found,
            expected: expected.to_owned(),
        }
    }
}
