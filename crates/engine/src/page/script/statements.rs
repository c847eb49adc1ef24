//! The statements of a script, as far as the search for its value requires. The browser decides whether code is valid JavaScript.

/// A script whose comments and literals are masked.
pub(super) struct Statements<'a> {
    script: &'a str,
    /// The masked script, with the same length in bytes: spaces for comments, `_` for the content of literals.
    masked: String,
}

/// The highest number of candidates for the last statement.
const MAX_CANDIDATES: usize = 12;

/// Words that begin a declaration, or that have another meaning at the beginning of an expression.
const DECLARATIONS: [&str; 3] = ["function", "class", "async"];

/// Words after which a slash begins a regular expression.
const BEFORE_VALUES: [&str; 12] = [
    "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await",
];

impl<'a> Statements<'a> {
    pub(super) fn of(script: &'a str) -> Self {
        Self {
            script,
            masked: masked(script),
        }
    }

    /// Returns the script without the semicolons, spaces and comments after its last statement.
    pub(super) fn trimmed(&self) -> &'a str {
        let end = |end: char| end == ';' || end.is_whitespace();
        &self.script[..self.masked.trim_end_matches(end).len()]
    }

    /// Returns whether the word occurs in the code, outside of comments and literals.
    pub(super) fn has_word(&self, word: &str) -> bool {
        let is_part = |char: char| char.is_alphanumeric() || char == '_' || char == '$';
        self.masked
            .split(|char| !is_part(char))
            .any(|other| other == word)
    }

    /// Returns the candidates for the last statement, each with the text before it. The shortest statement is first.
    pub(super) fn last(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let code = &self.masked[..self.trimmed().len()];
        let mut depth = 0_i32;
        let mut starts = Vec::new();
        for (index, byte) in code.bytes().enumerate() {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth -= 1,
                _ => {}
            }
            if depth == 0 && matches!(byte, b';' | b'}' | b'\n') {
                let rest = code[index + 1..].trim_start();
                let continues = byte != b';' && rest.starts_with(continues_line);
                let declares = DECLARATIONS.iter().any(|word| rest.starts_with(word));
                if !rest.is_empty() && !continues && !declares {
                    starts.push(index + 1);
                }
            }
        }
        let (script, end) = (self.script, code.len());
        let starts = starts.into_iter().rev().take(MAX_CANDIDATES);
        starts.map(move |start| (&script[..start], &script[start..end]))
    }
}

/// Returns whether a line that begins with this character continues the previous line.
fn continues_line(char: char) -> bool {
    "([`+-*/%.,?:&|^=<>!".contains(char)
}

/// A nesting level of code and templates.
enum Nesting {
    /// Code between `${` and `}`, with the number of open curly brackets in it.
    Code(u32),
    Template,
}

fn masked(script: &str) -> String {
    let mut masked = Vec::with_capacity(script.len());
    let mut nesting = vec![Nesting::Code(0)];
    let mut rest = script.as_bytes();
    let mut take = |rest: &mut &[u8], count: usize, shown: Option<u8>| {
        let (taken, left) = rest.split_at(count.min(rest.len()));
        masked.extend(taken.iter().map(|byte| match shown {
            None => *byte,
            Some(_) if *byte == b'\n' => b'\n',
            Some(shown) => shown,
        }));
        *rest = left;
    };
    // The previous token, which distinguishes a division from a regular expression.
    let mut before = String::new();
    while let [byte, after @ ..] = rest {
        let nested = nesting.len() > 1;
        let state = nesting.last_mut();
        if let Some(Nesting::Template) = state {
            match byte {
                b'`' => {
                    nesting.pop();
                    take(&mut rest, 1, None);
                    before = "`".to_owned();
                }
                b'$' if after.first() == Some(&b'{') => {
                    nesting.push(Nesting::Code(0));
                    // Masked as a round bracket, so that no statement ends in the template.
                    take(&mut rest, 1, Some(b'_'));
                    take(&mut rest, 1, Some(b'('));
                    before.clear();
                }
                b'\\' => take(&mut rest, 2, Some(b'_')),
                _ => take(&mut rest, 1, Some(b'_')),
            }
            continue;
        }
        match byte {
            b'/' if after.first() == Some(&b'/') => {
                let length = rest.iter().position(|byte| *byte == b'\n');
                let length = length.unwrap_or(rest.len());
                take(&mut rest, length, Some(b' '));
            }
            b'/' if after.first() == Some(&b'*') => {
                let end = after[1..].windows(2).position(|pair| pair == b"*/");
                let length = end.map_or(rest.len(), |end| end + 4);
                take(&mut rest, length, Some(b' '));
            }
            b'\'' | b'"' => {
                let length = literal(rest, *byte);
                take(&mut rest, length, Some(b'_'));
                before = "_".to_owned();
            }
            b'/' if precedes_value(&before) => {
                let length = regular_expression(rest);
                take(&mut rest, length, Some(b'_'));
                before = "_".to_owned();
            }
            b'`' => {
                nesting.push(Nesting::Template);
                take(&mut rest, 1, None);
            }
            b'}' if nested && matches!(state, Some(Nesting::Code(0))) => {
                nesting.pop();
                take(&mut rest, 1, Some(b')'));
            }
            _ => {
                match (byte, state) {
                    (b'{', Some(Nesting::Code(depth))) => *depth += 1,
                    (b'}', Some(Nesting::Code(depth))) => *depth = depth.saturating_sub(1),
                    _ => {}
                }
                let char = char::from(*byte);
                let is_part = |char: char| char.is_ascii_alphanumeric() || "_$".contains(char);
                if !char.is_whitespace() {
                    if !(is_part(char) && before.ends_with(is_part)) {
                        before.clear();
                    }
                    before.push(char);
                } else if before.ends_with(is_part) {
                    // Marks the end of a word.
                    before.push(' ');
                }
                take(&mut rest, 1, None);
            }
        }
    }
    // Masking replaces each byte by an ASCII character, so the result is valid UTF-8.
    String::from_utf8(masked).unwrap_or_else(|_| script.to_owned())
}

fn precedes_value(before: &str) -> bool {
    let before = before.trim_end();
    before.is_empty()
        || BEFORE_VALUES.contains(&before)
        || before.ends_with(|char| "(,=:[!&|?{;+-*%~^<>".contains(char))
}

/// Returns the length of a string literal. An unterminated one ends at the end of its line.
fn literal(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return at,
            byte if *byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the length of a regular expression literal. Its character classes may contain slashes.
fn regular_expression(text: &[u8]) -> usize {
    let (mut at, mut class) = (1, false);
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' => return at,
            b'[' => class = true,
            b']' => class = false,
            b'/' if !class => return at + 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_semicolons_at_the_end_are_no_statements() {
        for script in [
            "x; // comment",
            "x /* a; b */ ;;\n",
            "x // 'y\n// z",
            "x;//",
        ] {
            assert_eq!(Statements::of(script).trimmed(), "x", "{script}");
        }
        for script in [
            "'a // b'",
            "`a // ${b /* c */} // d`",
            "a / b",
            "/[/]\\/ \\/\\//",
        ] {
            assert_eq!(Statements::of(script).trimmed(), script);
        }
        assert_eq!(Statements::of("'é' // ü").trimmed(), "'é'");
    }

    #[test]
    fn the_last_statement_is_found_outside_brackets_and_literals() {
        let last = |script| -> Vec<String> {
            let statements = Statements::of(script);
            statements
                .last()
                .map(|(_, last)| last.trim().to_owned())
                .collect()
        };
        assert_eq!(last("const a = 1; a + 1 // done; really"), ["a + 1"]);
        assert_eq!(last("for (;;) { b; }\nc"), ["c", "c"]);
        assert_eq!(last("a\n  .b()\n  + 1"), Vec::<String>::new());
        assert_eq!(last("a; 'b; c'"), ["'b; c'"]);
        assert_eq!(last("a; `b; ${c; `;`} d`"), ["`b; ${c; `;`} d`"]);
        assert_eq!(last("a; /;/.test(b)"), ["/;/.test(b)"]);
        assert_eq!(
            last("f(); function f() { return 1; }"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn words_in_literals_and_comments_do_not_count() {
        assert!(Statements::of("a; return b").has_word("return"));
        assert!(!Statements::of("'return' // return\nreturned").has_word("return"));
    }
}
