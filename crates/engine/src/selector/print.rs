//! Formatting selectors as calls of a locator expression, as JavaScript, and as JavaScript literals.

use super::{Role, Selector, Step, TextMatch, Tristate};
use std::fmt::{self, Display, Formatter, Write};

/// A call of a locator expression, independent of a language; names are those of JavaScript.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call<'a> {
    pub(crate) method: &'static str,
    pub(crate) arguments: Vec<Value<'a>>,
    pub(crate) options: Vec<(&'static str, Value<'a>)>,
}

/// An argument or option of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    Text(std::borrow::Cow<'a, str>),
    Regex { regex: &'a str, flags: &'a str },
    Role(&'a str),
    Bool(bool),
    Number(i64),
    Locator(&'a Selector),
}

impl<'a> Call<'a> {
    fn new(method: &'static str, arguments: impl IntoIterator<Item = Value<'a>>) -> Self {
        Self {
            method,
            arguments: arguments.into_iter().collect(),
            options: Vec::new(),
        }
    }

    fn with(mut self, key: &'static str, value: Value<'a>) -> Self {
        self.options.push((key, value));
        self
    }

    fn text(method: &'static str, text: &'a TextMatch) -> Self {
        let call = Self::new(method, [text.into()]);
        match text {
            TextMatch::Literal { exact: true, .. } => call.with("exact", Value::Bool(true)),
            _ => call,
        }
    }
}

impl Selector {
    /// Returns the calls of the locator expression.
    pub(crate) fn calls(&self) -> impl Iterator<Item = Call<'_>> {
        self.parts.iter().map(|part| match &part.source {
            Some(source) => Call::new("locator", [Value::from(source.as_str())]),
            None => part.step.call(),
        })
    }
}

impl Step {
    fn call(&self) -> Call<'_> {
        match self {
            Self::Css(css) => Call::new("locator", [css.css.as_str().into()]),
            Self::Xpath { expression } => Call::new("locator", [xpath(expression).into()]),
            Self::Text { text, .. } => Call::text("getByText", text),
            Self::Label { text } => Call::text("getByLabel", text),
            Self::Attribute { name, text } => match name.as_str() {
                "placeholder" => Call::text("getByPlaceholder", text),
                "alt" => Call::text("getByAltText", text),
                "title" => Call::text("getByTitle", text),
                _ => Call::new("locator", [attribute(name, text).into()]),
            },
            Self::TestId { text, .. } => Call::new("getByTestId", [text.into()]),
            Self::Role(role) => role.call(),
            Self::Nth { index: 0 } => Call::new("first", []),
            Self::Nth { index: -1 } => Call::new("last", []),
            Self::Nth { index } => Call::new("nth", [Value::Number((*index).into())]),
            Self::Visible { visible: true } => Call::new("visible", []),
            Self::Visible { visible: false } => {
                Call::new("filter", []).with("visible", Value::Bool(false))
            }
            Self::HasText { text, not } => {
                let key = if *not { "hasNotText" } else { "hasText" };
                Call::new("filter", []).with(key, text.into())
            }
            Self::Has { selector, not } => {
                let key = if *not { "hasNot" } else { "has" };
                Call::new("filter", []).with(key, Value::Locator(selector))
            }
            Self::And { selector } => Call::new("and", [Value::Locator(selector)]),
            Self::Or { selector } => Call::new("or", [Value::Locator(selector)]),
            Self::EnterFrame => Call::new("contentFrame", []),
        }
    }
}

impl Role {
    fn call(&self) -> Call<'_> {
        let text = self.name.as_ref().or(self.description.as_ref());
        let exact = matches!(text, Some(TextMatch::Literal { exact: true, .. }));
        let tristate = |state: Tristate| match state {
            Tristate::Is(value) => Value::Bool(value),
            Tristate::Mixed(_) => Value::from("mixed"),
        };
        let options = [
            ("name", self.name.as_ref().map(Value::from)),
            ("description", self.description.as_ref().map(Value::from)),
            ("exact", exact.then_some(Value::Bool(true))),
            ("checked", self.checked.map(tristate)),
            ("disabled", self.disabled.map(Value::Bool)),
            ("expanded", self.expanded.map(Value::Bool)),
            (
                "includeHidden",
                self.include_hidden.then_some(Value::Bool(true)),
            ),
            ("level", self.level.map(|level| Value::Number(level.into()))),
            ("pressed", self.pressed.map(tristate)),
            ("selected", self.selected.map(Value::Bool)),
        ];
        Call {
            method: "getByRole",
            arguments: vec![Value::Role(&self.role)],
            options: options
                .into_iter()
                .filter_map(|(key, value)| Some((key, value?)))
                .collect(),
        }
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl<'a> From<&'a TextMatch> for Value<'a> {
    fn from(text: &'a TextMatch) -> Self {
        match text {
            TextMatch::Literal { text, .. } => text.as_str().into(),
            TextMatch::Regex { regex, flags } => Self::Regex { regex, flags },
        }
    }
}

/// Returns the expression as a selector that is recognized as XPath without a prefix.
fn xpath(expression: &str) -> String {
    if expression.starts_with("//") || expression.starts_with("..") {
        expression.to_owned()
    } else {
        format!("xpath={expression}")
    }
}

/// Returns the selector for any attribute.
fn attribute(name: &str, text: &TextMatch) -> String {
    match text {
        TextMatch::Literal { text, exact } => format!(
            "internal:attr=[{name}={}{}]",
            serde_json::Value::from(text.as_str()),
            if *exact { "s" } else { "i" }
        ),
        TextMatch::Regex { regex, flags } => format!("internal:attr=[{name}=/{regex}/{flags}]"),
    }
}

impl Display for Selector {
    /// Formats the locator expression without `page.`: `locator('#x').first()`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, call) in self.calls().enumerate() {
            if index > 0 {
                f.write_char('.')?;
            }
            call.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for Call<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.method)?;
        for (index, argument) in self.arguments.iter().enumerate() {
            write!(f, "{}{argument}", if index > 0 { ", " } else { "" })?;
        }
        for (index, (key, value)) in self.options.iter().enumerate() {
            let before = match (index, self.arguments.is_empty()) {
                (0, true) => "{ ",
                (0, false) => ", { ",
                _ => ", ",
            };
            write!(f, "{before}{key}: {value}")?;
        }
        f.write_str(if self.options.is_empty() { ")" } else { " })" })
    }
}

impl Display for Value<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&quote(text)),
            Self::Role(role) => f.write_str(&quote(role)),
            Self::Regex { regex, flags } => write!(f, "/{regex}/{flags}"),
            Self::Bool(value) => value.fmt(f),
            Self::Number(value) => value.fmt(f),
            Self::Locator(selector) => selector.fmt(f),
        }
    }
}

/// A regular expression as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Regex {
    pub(crate) source: String,
    pub(crate) flags: String,
}

impl From<Regex> for TextMatch {
    fn from(regex: Regex) -> Self {
        Self::Regex {
            regex: regex.source,
            flags: regex.flags,
        }
    }
}

/// Returns the text as a JavaScript string in single quotes.
pub(crate) fn quote(text: &str) -> String {
    quoted(text, '\'')
}

/// Returns the text in the given quotes; the quote, the backslash and control characters are escaped in a way that is valid in JavaScript,
/// Python, Java and C#.
pub(crate) fn quoted(text: &str, quote: char) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    let mut rest = text;
    // A text may have megabytes, of which few are escaped.
    let is_escaped = |c: u8| c < b' ' || c == b'\\' || char::from(c) == quote;
    while let Some(at) = rest.bytes().position(is_escaped) {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x8 => out.push_str("\\b"),
            0xc => out.push_str("\\f"),
            c @ ..b' ' => {
                let _ = write!(out, "\\u{c:04x}");
            }
            c => out.extend(['\\', char::from(c)]),
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push(quote);
    out
}
