//! CSS selectors with Playwright's extra pseudo-classes, parsed into compounds that the page matches one element at a time, so that
//! combinators cross open shadow roots.

use super::{SelectorError, TextMatch};
use serde::{Deserialize, Serialize};

/// A selector list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Css {
    /// The text as written.
    pub css: String,
    /// Whether the browser's selector engine supports it, because it has no extra pseudo-class.
    pub native: bool,
    /// The parsed list.
    pub list: Vec<Complex>,
}

impl Css {
    /// Parses a selector list.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let mut parser = Parser {
            text,
            at: 0,
            native: true,
            depth: 0,
        };
        let list = parser.list(false)?;
        if parser.at < text.len() {
            return Err(parser.unexpected("the end of the selector, or a combinator"));
        }
        Ok(Self {
            css: text.to_owned(),
            native: parser.native,
            list,
        })
    }
}

/// Compounds from left to right. The first has a combinator only if it is relative to the scope (`> li`).
pub(crate) type Complex = Vec<Compound>;

/// The conditions on one element, all of which must hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Compound {
    /// The combinator before the compound: ` `, `>`, `+` or `~`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub combinator: Option<char>,
    /// The part for `element.matches`; empty matches anything.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub css: String,
    /// The further conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<Test>,
}

/// A pseudo-class that the injected script evaluates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "test", rename_all = "camelCase")]
pub enum Test {
    /// `:is()`, `:where()`.
    Is {
        /// Any of these.
        list: Vec<Complex>,
    },
    /// `:not()`.
    Not {
        /// None of these.
        list: Vec<Complex>,
    },
    /// `:has()`.
    Has {
        /// Any of these matches a descendant.
        list: Vec<Complex>,
    },
    /// `:scope`: the element the search started from.
    Scope,
    /// `:visible`.
    Visible,
    /// `:has-text()`: contained in the element's text, ignoring case.
    HasText {
        /// The condition on the text.
        text: TextMatch,
    },
    /// `:text()`, `:text-is()`, `:text-matches()`: the smallest element with that text.
    Text {
        /// The condition on the text.
        text: TextMatch,
        /// Compare single text nodes (`:text-is()`).
        nodes: bool,
    },
    /// `:nth-match(list, n)`: the n-th match of the list in the document.
    NthMatch {
        /// The counted elements.
        list: Vec<Complex>,
        /// The index from 1.
        n: u32,
    },
    /// `:right-of(list, distance)` and similar: by the position relative to another element.
    Layout {
        /// The relative position.
        side: Side,
        /// The other elements.
        list: Vec<Complex>,
        /// The largest distance in CSS pixels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        distance: Option<f64>,
    },
}

/// The position of an element relative to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Side {
    /// `:right-of()`.
    RightOf,
    /// `:left-of()`.
    LeftOf,
    /// `:above()`.
    Above,
    /// `:below()`.
    Below,
    /// `:near()`.
    Near,
}

impl Side {
    fn of_pseudo_class(name: &str) -> Option<Self> {
        Some(match name {
            "right-of" => Self::RightOf,
            "left-of" => Self::LeftOf,
            "above" => Self::Above,
            "below" => Self::Below,
            "near" => Self::Near,
            _ => return None,
        })
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    native: bool,
    depth: usize,
}

type Parsed<T> = Result<T, SelectorError>;

impl<'a> Parser<'a> {
    fn list(&mut self, nested: bool) -> Parsed<Vec<Complex>> {
        self.depth += 1;
        if self.depth > super::MAX_DEPTH {
            return Err(self.unexpected("fewer selectors inside one another"));
        }
        let mut list = vec![self.complex(nested)?];
        while self.peek() == Some(',') {
            // In `:nth-match(list, n)` and `:near(list, distance)` the number ends the list.
            let comma = self.at;
            self.at += 1;
            self.blanks()?;
            if nested && self.is_at_number() {
                self.at = comma;
                break;
            }
            list.push(self.complex(nested)?);
        }
        self.depth -= 1;
        Ok(list)
    }

    fn complex(&mut self, nested: bool) -> Parsed<Complex> {
        self.blanks()?;
        let mut compounds = Complex::new();
        loop {
            let blank = self.blanks()?;
            let combinator = match self.peek() {
                Some(c @ ('>' | '+' | '~')) => {
                    self.at += 1;
                    self.blanks()?;
                    Some(c)
                }
                None | Some(',') if !compounds.is_empty() => break,
                Some(')') if nested && !compounds.is_empty() => break,
                _ if compounds.is_empty() => None,
                _ if blank => Some(' '),
                _ => return Err(self.unexpected("a combinator, `,` or the end")),
            };
            let mut compound = self.compound()?;
            compound.combinator = combinator;
            compounds.push(compound);
        }
        Ok(compounds)
    }

    fn compound(&mut self) -> Parsed<Compound> {
        let mut compound = Compound::default();
        let start = self.at;
        loop {
            let from = self.at;
            match self.peek() {
                Some('*') => {
                    self.at += 1;
                    compound.css += "*";
                }
                Some('|') if !self.rest().starts_with("||") => {
                    self.at += 1;
                    compound.css += "|";
                }
                Some(c @ ('#' | '.')) => {
                    self.at += 1;
                    if c == '.' {
                        self.identifier("a class name")?;
                    } else {
                        self.identifier(
                            "an id; one that begins with a digit is written [id=\"…\"]",
                        )?;
                    }
                    compound.css += &self.text[from..self.at];
                }
                Some('[') => {
                    self.attribute()?;
                    compound.css += &self.text[from..self.at];
                }
                Some(':') => self.pseudo(&mut compound)?,
                // A type selector can only come first (or after `ns|`).
                Some(c)
                    if starts_identifier(c)
                        && (from == start || self.text[..from].ends_with('|')) =>
                {
                    self.identifier("an element name")?;
                    compound.css += &self.text[from..self.at];
                }
                _ => break,
            }
        }
        if self.at == start {
            return Err(self
                .unexpected("an element name, `#id`, `.class`, `[attribute]` or `:pseudo-class`"));
        }
        Ok(compound)
    }

    fn attribute(&mut self) -> Parsed<()> {
        self.at += 1;
        self.blanks()?;
        if self.rest().starts_with("*|") {
            self.at += 2;
        }
        self.identifier("an attribute name")?;
        if self.peek() == Some('|') && !self.rest().starts_with("|=") {
            self.at += 1;
            self.identifier("an attribute name")?;
        }
        self.blanks()?;
        if self.peek() == Some(']') {
            self.at += 1;
            return Ok(());
        }
        if matches!(self.peek(), Some('~' | '|' | '^' | '$' | '*')) {
            self.at += 1;
        }
        self.expect('=', "`]`, `=` or another comparison")?;
        self.blanks()?;
        match self.peek() {
            Some('"' | '\'') => drop(self.string()?),
            _ => self.identifier("a value; one that is not a plain word needs quotes")?,
        }
        self.blanks()?;
        if matches!(self.peek(), Some('i' | 'I' | 's' | 'S')) {
            self.at += 1;
            self.blanks()?;
        }
        self.expect(']', "`]`; a value with blanks or punctuation needs quotes")
    }

    fn pseudo(&mut self, compound: &mut Compound) -> Parsed<()> {
        let from = self.at;
        self.at += 1;
        if self.peek() == Some(':') {
            self.at += 1;
        }
        let name_at = self.at;
        self.identifier("the name of a pseudo-class")?;
        let name = self.text[name_at..self.at].to_ascii_lowercase();
        if self.peek() != Some('(') {
            match name.as_str() {
                "visible" => {
                    self.native = false;
                    compound.tests.push(Test::Visible);
                }
                "scope" => compound.tests.push(Test::Scope),
                "has-text" | "text" | "text-is" | "text-matches" | "nth-match" | "is" | "not"
                | "has" | "where" | "right-of" | "left-of" | "above" | "below" | "near" => {
                    return Err(self.unexpected(&format!("`(` after :{name}")));
                }
                _ => compound.css += &self.text[from..self.at],
            }
            return Ok(());
        }
        self.at += 1;
        self.blanks()?;
        let mut custom = true;
        let test = match name.as_str() {
            "is" | "where" | "not" | "has" => {
                custom = false;
                let list = self.list(true)?;
                match name.as_str() {
                    "not" => Test::Not { list },
                    "has" => Test::Has { list },
                    _ => Test::Is { list },
                }
            }
            "has-text" => Test::HasText {
                text: TextMatch::containing(self.argument("the text")?),
            },
            "text" => Test::Text {
                text: TextMatch::containing(self.argument("the text")?),
                nodes: false,
            },
            "text-is" => Test::Text {
                text: TextMatch::exactly(self.argument("the text")?),
                nodes: true,
            },
            "text-matches" => {
                let regex = self.argument("a regular expression")?;
                self.blanks()?;
                let flags = if self.peek() == Some(',') {
                    self.at += 1;
                    self.blanks()?;
                    self.argument("the flags")?
                } else {
                    String::new()
                };
                Test::Text {
                    text: TextMatch::Regex { regex, flags },
                    nodes: false,
                }
            }
            "nth-match" => {
                let list = self.list(true)?;
                self.expect(',', "`,` and the number of the match, counted from 1")?;
                self.blanks()?;
                let n = self
                    .number()
                    .filter(|n| *n > 0)
                    .ok_or_else(|| self.unexpected("the number of the match, counted from 1"))?;
                Test::NthMatch { list, n }
            }
            name if let Some(side) = Side::of_pseudo_class(name) => {
                let list = self.list(true)?;
                let mut distance = None;
                if self.peek() == Some(',') {
                    self.at += 1;
                    self.blanks()?;
                    let number = self.number();
                    distance = Some(number.ok_or_else(|| self.unexpected("a distance in pixels"))?);
                }
                Test::Layout {
                    side,
                    list,
                    distance,
                }
            }
            _ => {
                self.balanced()?;
                self.expect(')', "`)`")?;
                compound.css += &self.text[from..self.at];
                return Ok(());
            }
        };
        self.blanks()?;
        self.expect(')', "`)`")?;
        self.native &= !custom;
        compound.tests.push(test);
        Ok(())
    }

    fn is_at_number(&self) -> bool {
        let rest = self.rest();
        rest.strip_prefix('.')
            .unwrap_or(rest)
            .starts_with(|c: char| c.is_ascii_digit())
    }

    fn number<T: std::str::FromStr>(&mut self) -> Option<T> {
        let from = self.at;
        while matches!(self.peek(), Some('0'..='9' | '.')) {
            self.at += 1;
        }
        self.text[from..self.at].parse().ok()
    }

    /// Parses a string, or bare text up to the closing parenthesis.
    fn argument(&mut self, what: &str) -> Parsed<String> {
        if matches!(self.peek(), Some('"' | '\'')) {
            return self.string();
        }
        let from = self.at;
        self.balanced()?;
        let text = self.text[from..self.at].trim();
        if text.is_empty() {
            return Err(self.unexpected(&format!("{what} in quotes")));
        }
        Ok(text.to_owned())
    }

    /// Skips to the parenthesis that matches the open one.
    fn balanced(&mut self) -> Parsed<()> {
        let mut open = Vec::new();
        while let Some(c) = self.peek() {
            match c {
                '"' | '\'' => {
                    self.string()?;
                    continue;
                }
                '(' => open.push(')'),
                '[' => open.push(']'),
                ')' if open.is_empty() => return Ok(()),
                ')' | ']' if open.pop() != Some(c) => {
                    return Err(self.unexpected("brackets that match"));
                }
                '\\' => self.at += 1,
                _ => {}
            }
            self.bump();
        }
        Err(self.unexpected("`)`"))
    }

    fn string(&mut self) -> Parsed<String> {
        let quote = self.bump();
        let mut value = String::new();
        loop {
            match self.peek() {
                None | Some('\n') => {
                    return Err(self.unexpected("the closing quote"));
                }
                c if c == quote => {
                    self.at += 1;
                    return Ok(value);
                }
                Some('\\') => value.extend(self.escape()),
                Some(c) => {
                    value.push(c);
                    self.bump();
                }
            }
        }
    }

    /// Parses an escape after its backslash: up to six hexadecimal digits and one blank, or the character itself.
    fn escape(&mut self) -> Option<char> {
        self.at += 1;
        let from = self.at;
        while self.at - from < 6 && self.peek().is_some_and(|c| c.is_ascii_hexdigit()) {
            self.at += 1;
        }
        if self.at == from {
            return self.bump().filter(|c| *c != '\n');
        }
        let code = u32::from_str_radix(&self.text[from..self.at], 16).unwrap_or(0);
        if self.peek().is_some_and(|c| c.is_ascii_whitespace()) {
            self.at += 1;
        }
        Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn identifier(&mut self, what: &str) -> Parsed<()> {
        let rest = self.rest();
        let first = rest.strip_prefix("--").unwrap_or(rest);
        let first = first.strip_prefix('-').unwrap_or(first);
        if !first.starts_with(starts_identifier) && !rest.starts_with("--") {
            return Err(self.unexpected(what));
        }
        self.name(what)
    }

    fn name(&mut self, what: &str) -> Parsed<()> {
        let from = self.at;
        while let Some(c) = self.peek() {
            match c {
                '\\' if self.rest().len() > 1 => drop(self.escape()),
                c if continues_identifier(c) => drop(self.bump()),
                _ => break,
            }
        }
        if self.at == from {
            return Err(self.unexpected(what));
        }
        Ok(())
    }

    /// Skips blanks and comments; returns whether there were any.
    fn blanks(&mut self) -> Parsed<bool> {
        let from = self.at;
        loop {
            if self.peek().is_some_and(char::is_whitespace) {
                self.bump();
            } else if self.rest().starts_with("/*") {
                let Some(end) = self.rest().find("*/") else {
                    self.at = self.text.len();
                    return Err(self.unexpected("`*/`"));
                };
                self.at += end + 2;
            } else {
                return Ok(self.at > from);
            }
        }
    }

    fn expect(&mut self, wanted: char, what: &str) -> Parsed<()> {
        if self.peek() == Some(wanted) {
            self.at += wanted.len_utf8();
            return Ok(());
        }
        Err(self.unexpected(what))
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at.min(self.text.len())..]
    }

    fn unexpected(&self, expected: &str) -> SelectorError {
        SelectorError::Css {
            selector: self.text.to_owned(),
            position: self.text[..self.at.min(self.text.len())].chars().count() + 1,
            found: self.peek().map(String::from).unwrap_or_default(),
            expected: expected.to_owned(),
        }
    }
}

fn starts_identifier(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '\\' || c == '-' || !c.is_ascii()
}

fn continues_identifier(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-' || !c.is_ascii()
}
