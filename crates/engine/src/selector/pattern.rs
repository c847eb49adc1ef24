//! Regular expressions in locator expressions, as each language of Playwright writes them.

use super::SelectorError;
use super::literal::Cursor;
use super::print::Regex;

impl Cursor<'_> {
    /// Returns whether a regular expression is next.
    pub(super) fn is_pattern(&mut self) -> bool {
        self.peek() == Some('/') || matches!(self.peek_word(), Some("re" | "Pattern" | "new"))
    }

    /// Parses `/a/i`, `new RegExp('a', 'i')`, `re.compile(r"a", re.I)`, `Pattern.compile("a", Pattern.CASE_INSENSITIVE)` or
    /// `new Regex("a", RegexOptions.IgnoreCase)`.
    pub(super) fn pattern(&mut self) -> Result<Regex, SelectorError> {
        if self.peek() == Some('/') {
            return self.regex();
        }
        let start = self.position();
        let known = match self.word() {
            Some("new") => matches!(self.word(), Some("RegExp" | "Regex")),
            _ => self.take('.') && self.word() == Some("compile"),
        };
        if !known {
            self.back_to(start);
            return Err(self.unexpected("a regular expression"));
        }
        self.expect('(')?;
        let source = as_literal(&self.string()?);
        let mut flags = String::new();
        if self.take(',') && self.peek() != Some(')') {
            if self.is_string() {
                flags = self.string()?;
            } else {
                self.flags(&mut flags)?;
            }
        }
        self.take(',');
        self.expect(')')?;
        Ok(Regex { source, flags })
    }

    /// Parses `re.IGNORECASE | re.MULTILINE`.
    fn flags(&mut self, flags: &mut String) -> Result<(), SelectorError> {
        loop {
            let start = self.position();
            let mut name = self.word();
            // Python names the argument: `flags=re.I`.
            if name == Some("flags") && self.take('=') {
                name = self.word();
            }
            while self.take('.') {
                name = self.word();
            }
            match name.map(str::to_ascii_uppercase).as_deref() {
                Some("IGNORECASE" | "I" | "CASE_INSENSITIVE") => flags.push('i'),
                Some("MULTILINE" | "M") => flags.push('m'),
                Some("DOTALL" | "S" | "SINGLELINE") => flags.push('s'),
                // JavaScript matches in these ways anyway.
                Some(
                    "UNICODE" | "U" | "UNICODE_CASE" | "COMPILED" | "CULTUREINVARIANT" | "NONE",
                ) => {}
                _ => {
                    self.back_to(start);
                    return Err(self.unexpected("a flag such as re.IGNORECASE"));
                }
            }
            if !self.take('|') {
                return Ok(());
            }
        }
    }
}

/// Returns the pattern as the source of a literal, in which a slash is escaped and quotes are not.
fn as_literal(pattern: &str) -> String {
    let mut source = String::with_capacity(pattern.len());
    let mut escaped = false;
    for c in pattern.chars() {
        match c {
            '/' if !escaped => source.push_str("\\/"),
            '"' | '\'' if escaped => {
                source.pop();
                source.push(c);
            }
            '\n' => source.push_str(if escaped { "n" } else { "\\n" }),
            c => source.push(c),
        }
        escaped = c == '\\' && !escaped;
    }
    if source.is_empty() {
        source.push_str("(?:)");
    }
    source
}
