//! Where the statements of a script end, as far as its value needs it. Whether code is JavaScript at all the browser decides.

/// A script whose comments and literals are out of the way.
pub(super) struct Statements<'a> {
    script: &'a str,
    /// As long as the script, byte for byte: blanks for comments, `_` for what literals hold.
    bare: String,
}

/// The places that are tried, from the end.
const TRIED: usize = 12;

/// Words that no value begins with, or whose meaning changes where one is wanted.
const DECLARATIONS: [&str; 3] = ["function", "class", "async"];

/// Words after which a slash begins a regular expression.
const BEFORE_VALUES: [&str; 12] = [
    "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await",
];

impl<'a> Statements<'a> {
    pub(super) fn of(script: &'a str) -> Self {
        Self {
            script,
            bare: bare(script),
        }
    }

    /// The script without what follows its last statement: semicolons, blanks and comments.
    pub(super) fn trimmed(&self) -> &'a str {
        let end = |end: char| end == ';' || end.is_whitespace();
        &self.script[..self.bare.trim_end_matches(end).len()]
    }

    /// Whether the word stands anywhere in the code.
    pub(super) fn has_word(&self, word: &str) -> bool {
        let is_part = |char: char| char.is_alphanumeric() || char == '_' || char == '$';
        self.bare
            .split(|char| !is_part(char))
            .any(|known| known == word)
    }

    /// What may be the last statement, and all before it; the shortest last one first.
    pub(super) fn last(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let code = &self.bare[..self.trimmed().len()];
        let mut depth = 0_i32;
        let mut places = Vec::new();
        for (index, byte) in code.bytes().enumerate() {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth -= 1,
                _ => {}
            }
            if depth == 0 && matches!(byte, b';' | b'}' | b'\n') {
                let rest = code[index + 1..].trim_start();
                let goes_on = byte != b';' && rest.starts_with(continues_line);
                let declares = DECLARATIONS.iter().any(|word| rest.starts_with(word));
                if !rest.is_empty() && !goes_on && !declares {
                    places.push(index + 1);
                }
            }
        }
        let (script, end) = (self.script, code.len());
        let places = places.into_iter().rev().take(TRIED);
        places.map(move |place| (&script[..place], &script[place..end]))
    }
}

/// What belongs to the line before when a line begins with it.
fn continues_line(char: char) -> bool {
    "([`+-*/%.,?:&|^=<>!".contains(char)
}

/// Where in a script we are.
enum Inside {
    /// Code between `${` and `}`, so many brackets deep.
    Code(u32),
    Template,
}

fn bare(script: &str) -> String {
    let mut bare = Vec::with_capacity(script.len());
    let mut inside = vec![Inside::Code(0)];
    let mut rest = script.as_bytes();
    let mut take = |rest: &mut &[u8], count: usize, shown: Option<u8>| {
        let (taken, left) = rest.split_at(count.min(rest.len()));
        bare.extend(taken.iter().map(|byte| match shown {
            None => *byte,
            Some(_) if *byte == b'\n' => b'\n',
            Some(shown) => shown,
        }));
        *rest = left;
    };
    // What came last, to tell a division from a regular expression.
    let mut before = String::new();
    while let [byte, after @ ..] = rest {
        let nested = inside.len() > 1;
        let state = inside.last_mut();
        if let Some(Inside::Template) = state {
            match byte {
                b'`' => {
                    inside.pop();
                    take(&mut rest, 1, None);
                    before = "`".to_owned();
                }
                b'$' if after.first() == Some(&b'{') => {
                    inside.push(Inside::Code(0));
                    // A bracket that nothing can be split behind.
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
                inside.push(Inside::Template);
                take(&mut rest, 1, None);
            }
            b'}' if nested && matches!(state, Some(Inside::Code(0))) => {
                inside.pop();
                take(&mut rest, 1, Some(b')'));
            }
            _ => {
                match (byte, state) {
                    (b'{', Some(Inside::Code(depth))) => *depth += 1,
                    (b'}', Some(Inside::Code(depth))) => *depth = depth.saturating_sub(1),
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
                    // The next word is another one.
                    before.push(' ');
                }
                take(&mut rest, 1, None);
            }
        }
    }
    // Only whole characters were left out.
    String::from_utf8(bare).unwrap_or_else(|_| script.to_owned())
}

fn precedes_value(before: &str) -> bool {
    let before = before.trim_end();
    before.is_empty()
        || BEFORE_VALUES.contains(&before)
        || before.ends_with(|char| "(,=:[!&|?{;+-*%~^<>".contains(char))
}

/// How long a text in quotes is; one that does not end goes to the end of its line.
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

/// The same for one between slashes, whose classes may hold slashes too.
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
