//! Parsing the target of a tool (a ref, a selector, a locator expression) into steps for the injected script, and formatting the steps as a
//! locator expression.

use serde::{Deserialize, Serialize};

mod attributes;
mod chain;
pub(crate) mod css;
mod error;
mod expression;
mod line;
mod literal;
mod pattern;
mod print;

pub use error::SelectorError;
pub use line::reference_in;
pub(crate) use print::{Call, Value, quote, quoted};

/// The largest nesting depth of selectors, which protects the stack.
const MAX_DEPTH: usize = 32;

/// The longest selector, in bytes.
const MAX_LENGTH: usize = 64 * 1024;

/// The parsed target of a tool.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// A ref of a snapshot, `e5` or `f1e5`.
    Ref(String),
    /// Anything else: a selector or a locator expression.
    Selector(Selector),
}

impl Target {
    /// Parses a target; a line of a snapshot names its element. `test_id` is the attribute of `getByTestId`.
    pub fn parse(text: &str, test_id: &str) -> Result<Self, SelectorError> {
        let text = text.trim();
        if let Some(reference) = reference_in(text)?.filter(|reference| is_ref(reference)) {
            return Ok(Self::Ref(reference.to_owned()));
        }
        let parsed = Selector::parse(text, test_id).or_else(|error| match line::role_in(text) {
            Some(role) => Ok(Step::Role(role).into()),
            None => Err(error),
        });
        parsed.map(Self::Selector)
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ref(name) => write!(f, "aria-ref={name}"),
            Self::Selector(selector) => selector.fmt(f),
        }
    }
}

/// Returns whether the text has the form of a ref: `e5`, or `f2e5` in a frame.
pub(crate) fn is_ref(text: &str) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let Some((frame, element)) = text.split_once('e') else {
        return false;
    };
    digits(element) && (frame.is_empty() || frame.strip_prefix('f').is_some_and(digits))
}

/// A sequence of steps, each of which applies to the elements that the previous one found.
///
/// Serializes to the list of its steps, the argument of the injected function `query`. `Display` formats the locator expression
/// (`locator('#x').first()`) for errors and generated code.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Selector {
    parts: Vec<Part>,
}

/// A step, and its source text if that is displayed instead (`text=Go`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct Part {
    step: Step,
    #[serde(skip)]
    source: Option<String>,
}

impl Selector {
    /// Parses a selector (`#x`, `text=Go >> nth=1`, `//a`) or a locator expression (`getByRole('button')`). `test_id` is the attribute of
    /// `getByTestId`.
    pub fn parse(text: &str, test_id: &str) -> Result<Self, SelectorError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SelectorError::Empty);
        }
        if text.len() > MAX_LENGTH {
            return Err(SelectorError::TooLong);
        }
        if expression::is_expression(text) {
            expression::parse(text, test_id)
        } else {
            chain::parse(text, test_id)
        }
    }

    /// Returns the steps in order.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = &Step> {
        self.parts.iter().map(|part| &part.step)
    }

    /// Returns whether there are no steps. Such a selector matches the document.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Splits the selector at each frame entry: all but the last segment match the frame elements, the last one matches the target in the
    /// innermost frame.
    pub fn segments(&self) -> Vec<Selector> {
        self.parts
            .split(|part| part.step == Step::EnterFrame)
            .map(|parts| Self {
                parts: parts.to_vec(),
            })
            .collect()
    }

    /// Appends a step.
    pub fn then(mut self, step: Step) -> Self {
        self.parts.push(Part { step, source: None });
        self
    }

    /// Appends `other`, which is applied to the elements that this selector matches.
    pub fn join(mut self, other: Selector) -> Self {
        self.parts.extend(other.parts);
        self
    }

    /// Appends `other` inside the frame that this selector matches.
    pub fn in_frame(self, other: Selector) -> Self {
        self.then(Step::EnterFrame).join(other)
    }

    fn push_source(&mut self, step: Step, source: impl Into<String>) {
        self.parts.push(Part {
            step,
            source: Some(source.into()),
        });
    }
}

impl From<Vec<Step>> for Selector {
    fn from(steps: Vec<Step>) -> Self {
        steps.into_iter().fold(Self::default(), Self::then)
    }
}

impl From<Step> for Selector {
    fn from(step: Step) -> Self {
        Self::default().then(step)
    }
}

/// A step of a selector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "engine", rename_all = "camelCase")]
pub enum Step {
    /// Descendants by CSS, including open shadow roots.
    Css(css::Css),
    /// Nodes by XPath 1.0, relative to each matched element; excludes shadow roots.
    Xpath {
        /// The expression as written, without `xpath=`.
        expression: String,
    },
    /// The smallest elements whose text matches.
    Text {
        /// The condition on the text.
        text: TextMatch,
        /// Matches single text nodes, as `text="…"` does, instead of the element's whole text.
        #[serde(default, skip_serializing_if = "is_false")]
        nodes: bool,
    },
    /// Elements by ARIA role, name and state.
    Role(Role),
    /// Form controls by the text of their label, `aria-label` or `aria-labelledby`.
    Label {
        /// The condition on the label.
        text: TextMatch,
    },
    /// Elements by the value of an attribute: placeholder, alt text, title.
    Attribute {
        /// The attribute's name.
        name: String,
        /// The condition on the value.
        text: TextMatch,
    },
    /// Elements by the test id.
    TestId {
        /// The attribute with test ids.
        attribute: String,
        /// The condition on the value; a string must be equal.
        text: TextMatch,
    },
    /// One of the matched elements; −1 is the last.
    Nth {
        /// The index from 0, or from the end if negative.
        index: i32,
    },
    /// The matched elements that are (or are not) visible.
    Visible {
        /// Whether to keep the visible ones.
        visible: bool,
    },
    /// The matched elements whose text contains (or, with `not`, does not contain) a match.
    HasText {
        /// The condition on the text.
        text: TextMatch,
        /// Keeps the elements without a match.
        #[serde(default, skip_serializing_if = "is_false")]
        not: bool,
    },
    /// The matched elements with (or, with `not`, without) a descendant.
    Has {
        /// Matches the descendant, relative to the element itself.
        selector: Selector,
        /// Keeps the elements without a match.
        #[serde(default, skip_serializing_if = "is_false")]
        not: bool,
    },
    /// The matched elements that another selector also matches.
    And {
        /// Starts where this selector starts.
        selector: Selector,
    },
    /// The matched elements, and those of another selector.
    Or {
        /// Starts where this selector starts.
        selector: Selector,
    },
    /// Enters the document of the matched iframe. Not sent to the page: see [`Selector::segments`].
    EnterFrame,
}

/// The conditions of a role step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Role {
    /// The ARIA role.
    pub role: String,
    /// The condition on the accessible name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<TextMatch>,
    /// The condition on the accessible description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<TextMatch>,
    /// `aria-checked`, or the checkbox's state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<Tristate>,
    /// Disabled, itself or by an ancestor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    /// `aria-expanded`, or an open `<details>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expanded: Option<bool>,
    /// Level of a heading, list item, row or tree item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// `aria-pressed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressed: Option<Tristate>,
    /// `aria-selected`, or a selected option.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected: Option<bool>,
    /// Includes elements that are hidden from assistive technology.
    #[serde(skip_serializing_if = "is_false")]
    pub include_hidden: bool,
}

/// A state that can also be mixed. Serialized as `true`, `false` or `"mixed"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Tristate {
    /// Checked or unchecked.
    Is(bool),
    /// Mixed.
    Mixed(Mixed),
}

/// The value `mixed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mixed {
    /// Mixed.
    Mixed,
}

/// A condition on a text. White space is collapsed before strings are compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TextMatch {
    /// A JavaScript regular expression, which the page evaluates.
    Regex {
        /// The source, as between the slashes.
        regex: String,
        /// The flags.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        flags: String,
    },
    /// A string: contained, ignoring case, or if `exact`, equal.
    Literal {
        /// The string.
        text: String,
        /// Whether the text must be equal.
        #[serde(default, skip_serializing_if = "is_false")]
        exact: bool,
    },
}

impl TextMatch {
    /// Matches a text that contains this one, ignoring case.
    pub fn containing(text: impl Into<String>) -> Self {
        Self::Literal {
            text: text.into(),
            exact: false,
        }
    }

    /// Matches an equal text.
    pub fn exactly(text: impl Into<String>) -> Self {
        Self::Literal {
            text: text.into(),
            exact: true,
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes fields by reference"
)]
fn is_false(value: &bool) -> bool {
    !*value
}

#[cfg(test)]
mod tests;
