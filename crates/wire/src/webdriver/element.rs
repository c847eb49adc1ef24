//! Elements, and the actions on an element that need no input actions. <https://www.w3.org/TR/webdriver2/#elements>

use serde::{Deserialize, Serialize};

use super::{Done, command};

/// A reference to an element, in arguments and results of scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Element {
    /// The identifier of the element.
    #[serde(rename = "element-6066-11e4-a52e-4f735466cecf")]
    pub id: String,
}

impl std::fmt::Display for Element {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.id)
    }
}

/// Returns the first element that matches a selector. <https://www.w3.org/TR/webdriver2/#find-element>
#[derive(Debug, Clone, Serialize)]
pub struct FindElement {
    /// The location strategy: `css selector`, `xpath`, …
    pub using: &'static str,
    pub value: String,
}
command!(FindElement, "Find Element", Post "element", Element);

/// Types text, or sets the files of a file input, one path on each line. <https://www.w3.org/TR/webdriver2/#element-send-keys>
#[derive(Debug, Clone, Serialize)]
pub struct ElementSendKeys {
    #[serde(skip)]
    pub element: Element,
    pub text: String,
}
command!(ElementSendKeys, "Element Send Keys", Post "element"/element/"/value", Done);

/// <https://www.w3.org/TR/webdriver2/#element-click>
#[derive(Debug, Clone, Serialize)]
pub struct ElementClick {
    #[serde(skip)]
    pub element: Element,
}
command!(ElementClick, "Element Click", Post "element"/element/"/click", Done);
