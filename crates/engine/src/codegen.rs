//! What a tool did, as the line of Playwright code that does the same. Pure: which locator is best for an
//! element is found in the page (`generate.ts`).

use crate::backend::{Modifier, MouseButton};
use crate::selector::{Selector, quote};
use serde::{Deserialize, Serialize};

mod csharp;
mod java;
pub mod javascript;
mod python;

#[cfg(test)]
mod tests;

/// The language in which code is shown.
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
    /// Playwright Test's TypeScript.
    #[default]
    Typescript,
    /// Python, synchronous.
    Python,
    /// Java.
    Java,
    /// C#.
    Csharp,
    /// No code at all.
    None,
}

impl Language {
    /// What stands behind the opening fence of a code block; nothing when no code is shown.
    pub fn fence(self) -> Option<&'static str> {
        match self {
            Self::Typescript => Some("js"),
            Self::Python | Self::Java | Self::Csharp => Some(self.into()),
            Self::None => None,
        }
    }
}

/// A text that was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// Shown as it is.
    Text(String),
    /// A secret: shown as the environment variable of that name.
    Variable(String),
}

/// Something done that each language has its own words for.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// To a URL.
    Goto {
        /// As it was completed, not as the browser shows it.
        url: String,
    },
    /// One click, or with `count` 2 a double click.
    Click {
        /// On what.
        locator: Selector,
        /// Shown unless it is the left one.
        button: Option<MouseButton>,
        /// In any order.
        modifiers: Vec<Modifier>,
        /// How often.
        count: u32,
        /// From the element's top left corner, in CSS pixels.
        position: Option<(f64, f64)>,
    },
    /// The mouse over it.
    Hover {
        /// Over what.
        locator: Selector,
    },
    /// The whole value at once.
    Fill {
        /// Which field.
        locator: Selector,
        /// Its new value.
        value: Typed,
    },
    /// A key, with the focus on the element.
    Press {
        /// Which element.
        locator: Selector,
        /// Such as `Enter`.
        key: String,
    },
    /// A checkbox or radio button.
    SetChecked {
        /// Which one.
        locator: Selector,
        /// `check` or `uncheck`.
        checked: bool,
    },
    /// Options of a `<select>`.
    SelectOption {
        /// Which select.
        locator: Selector,
        /// Values or labels.
        values: Vec<String>,
    },
    /// Files into an `<input type=file>`.
    SetInputFiles {
        /// Which input.
        locator: Selector,
        /// Paths.
        files: Vec<String>,
    },
    /// The condition that the element can be seen.
    ExpectVisible {
        /// Which element.
        locator: Selector,
    },
    /// The condition that a field has a value.
    ExpectValue {
        /// Which field.
        locator: Selector,
        /// The value.
        value: String,
    },
    /// The condition that an element's accessibility tree holds this one.
    ExpectSnapshot {
        /// Which element.
        locator: Selector,
        /// The tree as YAML, without indentation before its first line.
        snapshot: String,
    },
    /// The condition that a checkbox or radio button is on or off.
    ExpectChecked {
        /// Which one.
        locator: Selector,
        /// On or off.
        checked: bool,
    },
}

impl Action {
    /// A plain click.
    pub fn click(locator: Selector) -> Self {
        Self::Click {
            locator,
            button: None,
            modifiers: Vec::new(),
            count: 1,
            position: None,
        }
    }

    /// The line, or lines, of code; nothing for [`Language::None`].
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

/// The locator expression in a language, without `page.`.
pub fn locator(selector: &Selector, language: Language) -> String {
    match language {
        Language::Typescript | Language::None => selector.to_string(),
        Language::Python => python::locator(selector),
        Language::Java => java::locator(selector),
        Language::Csharp => csharp::locator(selector),
    }
}

/// What a click needs beside its element; nothing that goes without saying.
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
        // In alphabetical order. Control is what people press on their own machine: Command on a Mac.
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

/// `getByRole` as `get_by_role`.
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

/// `getByRole` as `GetByRole`; everything behind the first letter stays.
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
