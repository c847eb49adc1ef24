//! Parsing the bodies `button[name="Go"i][checked]` of the role engine and `"text"i` of the internal engines.

use super::literal::Cursor;
use super::print::Regex;
use super::{SelectorError, TextMatch};

/// `[name]`, `[name="value"i]`, `[name=/regex/]`.
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) value: Option<Value>,
    operator: Option<char>,
    ignores_case: bool,
    contained: bool,
}

pub(super) enum Value {
    /// In quotes.
    Text(String),
    /// Without quotes.
    Word(String),
    Regex(Regex),
}

impl Attribute {
    /// Returns the value as a condition on text; all comparisons except equality become regular expressions.
    pub(super) fn text(&self) -> Option<TextMatch> {
        let text = match self.value.as_ref()? {
            Value::Regex(regex) => return Some(regex.clone().into()),
            Value::Text(text) | Value::Word(text) => text,
        };
        if self.operator.is_none() && self.contained {
            return Some(TextMatch::containing(text));
        }
        if self.operator.is_none() && !self.ignores_case {
            return Some(TextMatch::exactly(text));
        }
        let text = escape_regex(text);
        let regex = match self.operator {
            None => format!("^{text}$"),
            Some('^') => format!("^{text}"),
            Some('$') => format!("{text}$"),
            Some('~') => format!("(^|\\s){text}(\\s|$)"),
            Some('|') => format!("^{text}(-|$)"),
            Some(_) => text,
        };
        let flags = if self.ignores_case { "i" } else { "" }.to_owned();
        Some(TextMatch::Regex { regex, flags })
    }
}

/// Parses a word and its attributes. In `internal` engines the flag `i` means contained, ignoring case.
pub(super) fn parse(
    engine: &str,
    body: &str,
    internal: bool,
) -> Result<(String, Vec<Attribute>), SelectorError> {
    let mut cursor = Cursor::new(body);
    let name = word(&mut cursor);
    let mut list = Vec::new();
    let wrong = |cursor: &mut Cursor<'_>, expected: &str| {
        at_position(cursor.unexpected(expected), engine, body)
    };
    while cursor.take('[') {
        let name = word(&mut cursor);
        if name.is_empty() {
            return Err(wrong(&mut cursor, "the name of an attribute"));
        }
        let mut attribute = Attribute {
            name,
            value: None,
            operator: None,
            ignores_case: false,
            contained: false,
        };
        attribute.operator = "*^$~|".chars().find(|c| cursor.take(*c));
        if cursor.take('=') {
            let value = match cursor.peek() {
                Some('"' | '\'') => Value::Text(
                    cursor
                        .string()
                        .map_err(|error| at_position(error, engine, body))?,
                ),
                Some('/') => Value::Regex(
                    cursor
                        .regex()
                        .map_err(|error| at_position(error, engine, body))?,
                ),
                _ => Value::Word(word(&mut cursor)),
            };
            if matches!(value, Value::Text(_)) {
                attribute.ignores_case = cursor.take('i') || cursor.take('I');
                attribute.contained = internal && attribute.ignores_case;
                let _ = cursor.take('s') || cursor.take('S');
            }
            attribute.value = Some(value);
        } else if attribute.operator.is_some() {
            return Err(wrong(&mut cursor, "`=`"));
        }
        if !cursor.take(']') {
            return Err(wrong(&mut cursor, "`]`"));
        }
        list.push(attribute);
    }
    if cursor.peek().is_some() {
        return Err(wrong(&mut cursor, "`[attribute=\"value\"]` or the end"));
    }
    Ok((name, list))
}

/// Parses `"text"i`, `"text"s`, `/regex/flags`.
pub(super) fn quoted(engine: &str, body: &str) -> Result<TextMatch, SelectorError> {
    let mut cursor = Cursor::new(body.trim());
    let text = if cursor.peek() == Some('/') {
        cursor.regex().map(TextMatch::from)
    } else {
        cursor.string().map(|text| TextMatch::Literal {
            text,
            exact: cursor.take('s') || !cursor.take('i'),
        })
    };
    match text {
        Ok(text) if cursor.peek().is_none() => Ok(text),
        Ok(_) => Err(at_position(cursor.unexpected("the end"), engine, body)),
        Err(error) => Err(at_position(error, engine, body)),
    }
}

fn word(cursor: &mut Cursor<'_>) -> String {
    cursor.peek();
    let rest = cursor.rest();
    let length = rest
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.')))
        .unwrap_or(rest.len());
    cursor.back_to(cursor.position() + length);
    rest[..length].to_owned()
}

fn at_position(error: SelectorError, engine: &str, body: &str) -> SelectorError {
    match error {
        SelectorError::Expression {
            position, expected, ..
        } => SelectorError::Body {
            engine: engine.to_owned(),
            body: body.to_owned(),
            position,
            expected,
        },
        other => other,
    }
}

fn escape_regex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if r"\^$.*+?()[]{}|/".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
