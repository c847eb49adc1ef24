//! Elements, and the action on an element that needs no input actions. <https://www.w3.org/TR/webdriver2/#elements>

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

/// Types text, or sets the files of a file input, one path on each line. <https://www.w3.org/TR/webdriver2/#element-send-keys>
#[derive(Debug, Clone, Serialize)]
pub struct ElementSendKeys {
    #[serde(skip)]
    pub element: Element,
    pub text: String,
}
command!(ElementSendKeys, "Element Send Keys", Post "element"/element/"/value", Done);
