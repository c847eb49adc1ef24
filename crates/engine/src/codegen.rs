//! Generated code: the line of Playwright code that does the same as a call. The best locator of an element is determined in the page
//! (`generate.ts`).

use crate::backend::{Modifier, MouseButton};
use crate::selector::{Selector, quote};
use serde::{Deserialize, Serialize};

mod csharp;
mod java;
pub mod javascript;
mod python;
mod statement;

#[cfg(test)]
mod tests;

pub use statement::{Argument, Receiver, Statement};

/// The language of generated code.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Language {
    /// No generated code.
    None,
    /// TypeScript of Playwright Test.
    #[default]
    Typescript,
    /// Python, synchronous.
    Python,
    /// Java.
    Java,
    /// C#.
    Csharp,
}

impl Language {
    /// Returns the info string of a code block; `None` without generated code.
    pub fn fence(self) -> Option<&'static str> {
        match self {
            Self::Typescript => Some("js"),
            Self::Python | Self::Java | Self::Csharp => Some(self.into()),
            Self::None => None,
        }
    }
}

/// A typed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// A literal text.
    Text(String),
    /// A secret: represented by the environment variable of that name.
    Variable(String),
}

/// An action with its own syntax in each language.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Navigate to a URL.
    Goto {
        /// The completed URL, not the one that the browser shows.
        url: String,
    },
    /// Click once, or with `count` 2 double-click.
    Click {
        /// The element.
        locator: Selector,
        /// Omitted if it is the left one.
        button: Option<MouseButton>,
        /// The modifiers in any order.
        modifiers: Vec<Modifier>,
        /// The number of clicks.
        count: u32,
        /// The point relative to the element's top left corner, in CSS pixels.
        position: Option<(f64, f64)>,
    },
    /// Hover over an element.
    Hover {
        /// The element.
        locator: Selector,
    },
    /// Fill a field.
    Fill {
        /// The field.
        locator: Selector,
        /// The new value.
        value: Typed,
    },
    /// Focus an element and press a key.
    Press {
        /// The element.
        locator: Selector,
        /// The key, such as `Enter`.
        key: String,
    },
    /// Check or uncheck a checkbox or radio button.
    SetChecked {
        /// The element.
        locator: Selector,
        /// The new state.
        checked: bool,
    },
    /// Select options of a `<select>`.
    SelectOption {
        /// The `<select>`.
        locator: Selector,
        /// Values or labels.
        values: Vec<String>,
    },
    /// Set the files of an `<input type=file>`.
    SetInputFiles {
        /// The input.
        locator: Selector,
        /// The paths.
        files: Vec<String>,
    },
    /// Expect an element to be visible.
    ExpectVisible {
        /// The element.
        locator: Selector,
    },
    /// Expect a field to have a value.
    ExpectValue {
        /// The field.
        locator: Selector,
        /// The value.
        value: String,
    },
    /// Expect an element's accessibility tree to contain this one.
    ExpectSnapshot {
        /// The element.
        locator: Selector,
        /// The tree as YAML, without indentation before its first line.
        snapshot: String,
    },
    /// Expect a checkbox or radio button to be checked or unchecked.
    ExpectChecked {
        /// The element.
        locator: Selector,
        /// The state.
        checked: bool,
    },
}

impl Action {
    /// Creates a plain click.
    pub fn click(locator: Selector) -> Self {
        Self::Click {
            locator,
            button: None,
            modifiers: Vec::new(),
            count: 1,
            position: None,
        }
    }

    /// Returns the lines of code for a page in a variable of that name; `None` for [`Language::None`].
    pub fn code_for(&self, language: Language, page: &str) -> Option<String> {
        // The page is the receiver, so it is the first one in the line.
        self.code(language)
            .map(|line| line.replacen("page.", &format!("{page}."), 1))
    }

    /// Returns the lines of code; `None` for [`Language::None`].
    pub fn code(&self, language: Language) -> Option<String> {
        match language {
            Language::Typescript => Some(javascript::action(self)),
            Language::Python => Some(python::action(self)),
            Language::Java => Some(java::action(self)),
            Language::Csharp => Some(csharp::action(self)),
            Language::None => None,
        }
    }
}

/// Returns the locator expression in a language, without `page.`.
pub fn locator(selector: &Selector, language: Language) -> String {
    match language {
        Language::Typescript | Language::None => selector.to_string(),
        Language::Python => python::locator(selector),
        Language::Java => java::locator(selector),
        Language::Csharp => csharp::locator(selector),
    }
}

/// The options of a click that differ from the defaults.
struct ClickOptions {
    button: Option<&'static str>,
    modifiers: Vec<&'static str>,
    position: Option<(f64, f64)>,
}

impl ClickOptions {
    fn of(
        button: Option<MouseButton>,
        modifiers: &[Modifier],
        position: Option<(f64, f64)>,
    ) -> Self {
        // In alphabetical order. Control becomes `ControlOrMeta`, because users press Command on a Mac.
        let keys = [
            (Modifier::Alt, "Alt"),
            (Modifier::Control, "ControlOrMeta"),
            (Modifier::Meta, "Meta"),
            (Modifier::Shift, "Shift"),
        ];
        Self {
            button: match button {
                None | Some(MouseButton::Left) => None,
                Some(MouseButton::Right) => Some("right"),
                Some(MouseButton::Middle) => Some("middle"),
            },
            modifiers: keys
                .into_iter()
                .filter_map(|(key, name)| modifiers.contains(&key).then_some(name))
                .collect(),
            position,
        }
    }

    fn is_empty(&self) -> bool {
        self.button.is_none() && self.modifiers.is_empty() && self.position.is_none()
    }
}

/// Converts `getByRole` to `get_by_role`.
fn snake(camel: &str) -> String {
    let mut out = String::new();
    for c in camel.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// Converts `getByRole` to `GetByRole`; only the first letter changes.
fn pascal(word: &str) -> String {
    let mut chars = word.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

fn list(items: &[String], quoted: impl Fn(&str) -> String) -> String {
    let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
    items.join(", ")
}
