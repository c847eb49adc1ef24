//! Turns the text of a target (a ref, a selector, a locator expression) into steps the page can follow,
//! and steps into the text people read. Pure: nothing here looks at a page.

use serde::{Deserialize, Serialize};

mod attributes;
mod chain;
pub(crate) mod css;
mod error;
mod expression;
mod literal;
mod print;

pub use error::SelectorError;
pub(crate) use print::{Call, Value, quote, quoted};

/// How many selectors may be nested in one another; more is a mistake, or an attack on the stack.
const MAX_DEPTH: usize = 32;

/// The longest selector that is read, in bytes.
const MAX_LENGTH: usize = 64 * 1024;

/// What a tool's `target` names.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// A ref of the last snapshot, `e5` or `f1e5`.
    Ref(String),
    /// Anything else: a selector or a locator expression.
    Selector(Selector),
}

impl Target {
    /// Reads the text of a target. `test_id` is the attribute behind `getByTestId`.
    pub fn parse(text: &str, test_id: &str) -> Result<Self, SelectorError> {
        let text = text.trim();
        let bare = text.strip_prefix("aria-ref=").unwrap_or(text);
        if is_ref(bare) {
            return Ok(Self::Ref(bare.to_owned()));
        }
        Selector::parse(text, test_id).map(Self::Selector)
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

/// Has the text the form of a snapshot ref: `e5`, or `f2e5` in a frame?
pub(crate) fn is_ref(text: &str) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let Some((frame, element)) = text.split_once('e') else {
        return false;
    };
    digits(element) && (frame.is_empty() || frame.strip_prefix('f').is_some_and(digits))
}

/// The way to an element: each step narrows or follows what the one before it found.
///
/// Serialises to the list of its steps, the form the page-side `query` takes. `Display` gives
/// the locator expression (`locator('#x').first()`), as errors and code show it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Selector {
    parts: Vec<Part>,
}

/// A step, and the text it came from where that is what should be shown again (`text=Go`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct Part {
    step: Step,
    #[serde(skip)]
    source: Option<String>,
}

impl Selector {
    /// Reads a selector (`#x`, `text=Go >> nth=1`, `//a`) or a locator expression (`getByRole('button')`).
    /// `test_id` is the attribute behind `getByTestId`.
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

    /// The steps in order.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = &Step> {
        self.parts.iter().map(|part| &part.step)
    }

    /// Has it no steps at all? Such a selector stands for the document.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The selector cut at each entry into a frame: all but the last segment find the frame's element,
    /// the last finds the target inside the innermost frame.
    pub fn segments(&self) -> Vec<Selector> {
        self.parts
            .split(|part| part.step == Step::EnterFrame)
            .map(|parts| Self {
                parts: parts.to_vec(),
            })
            .collect()
    }

    /// This selector, then `step`.
    pub fn then(mut self, step: Step) -> Self {
        self.parts.push(Part { step, source: None });
        self
    }

    /// This selector, then all of `other`, looked for below what this one finds.
    pub fn join(mut self, other: Selector) -> Self {
        self.parts.extend(other.parts);
        self
    }

    /// `other` inside the frame that this selector finds.
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

/// One step on the way to an element.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "engine", rename_all = "camelCase")]
pub enum Step {
    /// Descendants by CSS, through open shadow roots.
    Css(css::Css),
    /// Nodes by XPath 1.0, relative to each element found so far; sees no shadow roots.
    Xpath {
        /// The expression as written, without `xpath=`.
        expression: String,
    },
    /// The smallest elements whose text matches.
    Text {
        /// What the text must be.
        text: TextMatch,
        /// Match single text nodes, as `text="…"` does, rather than the element's whole text.
        #[serde(default, skip_serializing_if = "is_false")]
        nodes: bool,
    },
    /// Elements by ARIA role, name and state.
    Role(Role),
    /// Form controls by the text of their label, `aria-label` or `aria-labelledby`.
    Label {
        /// What a label must say.
        text: TextMatch,
    },
    /// Elements by the value of an attribute: placeholder, alt text, title.
    Attribute {
        /// The attribute's name.
        name: String,
        /// What its value must be.
        text: TextMatch,
    },
    /// Elements by the test id.
    TestId {
        /// The attribute that holds test ids.
        attribute: String,
        /// What its value must be; a string must equal it.
        text: TextMatch,
    },
    /// One of the elements found so far; −1 is the last.
    Nth {
        /// Counted from 0, or from the end if negative.
        index: i32,
    },
    /// Those that are (or are not) visible.
    Visible {
        /// Which of the two.
        visible: bool,
    },
    /// Those whose text matches somewhere (or, with `not`, nowhere).
    HasText {
        /// What is looked for in the text.
        text: TextMatch,
        /// Keep those that do not have it.
        #[serde(default, skip_serializing_if = "is_false")]
        not: bool,
    },
    /// Those with a descendant (or, with `not`, without one).
    Has {
        /// Finds the descendant, starting at the element itself.
        selector: Selector,
        /// Keep those that do not have it.
        #[serde(default, skip_serializing_if = "is_false")]
        not: bool,
    },
    /// Those that the other selector finds too.
    And {
        /// Starts where this selector started.
        selector: Selector,
    },
    /// These and those of the other selector.
    Or {
        /// Starts where this selector started.
        selector: Selector,
    },
    /// Into the document of the iframe found so far. Never reaches the page: see [`Selector::segments`].
    EnterFrame,
}

/// Which elements a role step wants.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Role {
    /// The ARIA role.
    pub role: String,
    /// What the accessible name must be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<TextMatch>,
    /// What the accessible description must be.
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
    /// Also elements hidden from accessibility.
    #[serde(skip_serializing_if = "is_false")]
    pub include_hidden: bool,
}

/// A state that can also be in between. On the wire: `true`, `false` or `"mixed"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Tristate {
    /// On or off.
    Is(bool),
    /// Partly.
    Mixed(Mixed),
}

/// The word `mixed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mixed {
    /// Partly.
    Mixed,
}

/// What a text must be. White space is collapsed before strings are compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TextMatch {
    /// A JavaScript regular expression; runs in the page.
    Regex {
        /// Its source, as between the slashes.
        regex: String,
        /// Its flags.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        flags: String,
    },
    /// A string: contained in any case, or, if `exact`, equal in case and length.
    Literal {
        /// The string.
        text: String,
        /// Equal rather than contained.
        #[serde(default, skip_serializing_if = "is_false")]
        exact: bool,
    },
}

impl TextMatch {
    /// Contained, in any case.
    pub fn containing(text: impl Into<String>) -> Self {
        Self::Literal {
            text: text.into(),
            exact: false,
        }
    }

    /// Equal, in case and length.
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
