//! Selectors as locator expressions, and JavaScript's literals.

use super::{Selector, Step, TextMatch, Tristate};
use std::fmt::{self, Display, Formatter, Write};

impl Display for Selector {
    /// The locator expression without `page.`: `locator('#x').first()`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, part) in self.parts.iter().enumerate() {
            if i > 0 {
                f.write_char('.')?;
            }
            match &part.source {
                Some(source) => write!(f, "locator({})", quote(source))?,
                None => part.step.fmt(f)?,
            }
        }
        Ok(())
    }
}

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Css(css) => write!(f, "locator({})", quote(&css.css)),
            Self::Xpath { expression } => write!(f, "locator({})", quote(&xpath(expression))),
            Self::Text { text, .. } => text_call(f, "getByText", text),
            Self::Label { text } => text_call(f, "getByLabel", text),
            Self::Attribute { name, text } => match name.as_str() {
                "placeholder" => text_call(f, "getByPlaceholder", text),
                "alt" => text_call(f, "getByAltText", text),
                "title" => text_call(f, "getByTitle", text),
                _ => write!(f, "locator({})", quote(&attribute_source(name, text))),
            },
            Self::TestId { text, .. } => write!(f, "getByTestId({})", literal(text)),
            Self::Role(role) => {
                write!(f, "getByRole({}", quote(&role.role))?;
                let options = role_options(role);
                if !options.is_empty() {
                    write!(f, ", {{ {} }}", options.join(", "))?;
                }
                f.write_char(')')
            }
            Self::Nth { index: 0 } => f.write_str("first()"),
            Self::Nth { index: -1 } => f.write_str("last()"),
            Self::Nth { index } => write!(f, "nth({index})"),
            Self::Visible { visible: true } => f.write_str("visible()"),
            Self::Visible { visible: false } => f.write_str("filter({ visible: false })"),
            Self::HasText { text, not } => {
                let key = if *not { "hasNotText" } else { "hasText" };
                write!(f, "filter({{ {key}: {} }})", literal(text))
            }
            Self::Has { selector, not } => {
                let key = if *not { "hasNot" } else { "has" };
                write!(f, "filter({{ {key}: {selector} }})")
            }
            Self::And { selector } => write!(f, "and({selector})"),
            Self::Or { selector } => write!(f, "or({selector})"),
            Self::EnterFrame => f.write_str("contentFrame()"),
        }
    }
}

fn text_call(f: &mut Formatter<'_>, method: &str, text: &TextMatch) -> fmt::Result {
    let exact = matches!(text, TextMatch::Literal { exact: true, .. });
    let options = if exact { ", { exact: true }" } else { "" };
    write!(f, "{method}({}{options})", literal(text))
}

fn role_options(role: &super::Role) -> Vec<String> {
    let mut options = Vec::new();
    if let Some(name) = &role.name {
        options.push(format!("name: {}", literal(name)));
        if matches!(name, TextMatch::Literal { exact: true, .. }) {
            options.push("exact: true".into());
        }
    }
    let mut option = |key: &str, value: Option<String>| {
        options.extend(value.map(|value| format!("{key}: {value}")));
    };
    let tristate = |value: Tristate| match value {
        Tristate::Is(value) => value.to_string(),
        Tristate::Mixed(_) => "'mixed'".into(),
    };
    option("checked", role.checked.map(tristate));
    option("disabled", role.disabled.map(|v| v.to_string()));
    option("expanded", role.expanded.map(|v| v.to_string()));
    option("includeHidden", role.include_hidden.then(|| "true".into()));
    option("level", role.level.map(|v| v.to_string()));
    option("pressed", role.pressed.map(tristate));
    option("selected", role.selected.map(|v| v.to_string()));
    options
}

/// The expression as a selector that is recognised without knowing that it is XPath.
pub(crate) fn xpath(expression: &str) -> String {
    if expression.starts_with("//") || expression.starts_with("..") {
        expression.to_owned()
    } else {
        format!("xpath={expression}")
    }
}

/// The selector that finds elements by any attribute.
pub(crate) fn attribute_source(name: &str, text: &TextMatch) -> String {
    match text {
        TextMatch::Literal { text, exact } => format!(
            "internal:attr=[{name}={}{}]",
            serde_json::Value::from(text.as_str()),
            if *exact { "s" } else { "i" }
        ),
        TextMatch::Regex { regex, flags } => format!("internal:attr=[{name}=/{regex}/{flags}]"),
    }
}

fn literal(text: &TextMatch) -> String {
    match text {
        TextMatch::Literal { text, .. } => quote(text),
        TextMatch::Regex { regex, flags } => format!("/{regex}/{flags}"),
    }
}

/// A regular expression as it was written.
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

/// The text as a JavaScript string in single quotes.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    escape_into(&mut quoted, text, '\'');
    quoted.push('\'');
    quoted
}

/// Appends the text with the quote, the backslash and control characters escaped, as JavaScript,
/// Python, Java and C# all read them.
pub(crate) fn escape_into(out: &mut String, text: &str, quote: char) {
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
}
