//! What became of the element of a ref, as facts and as a sentence.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a ref named, what is there now, and what to use instead. Nothing is known of a ref that was never given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StaleElement {
    /// What the ref named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<ElementSummary>,
    /// What became of that element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<ElementState>,
    /// The one element of the present document that answers best to what the ref named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_match: Option<ElementSummary>,
}

/// An element: its role, its name, and what it is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementSummary {
    /// The role.
    pub role: String,
    /// The accessible name, or the text of an element that is named by it; cut off if it is long.
    pub name: String,
    /// The role and name of the nearest element around it that has another name: `row "Alice"`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub within: String,
    /// A ref of the element that is valid at once.
    #[serde(
        rename = "ref",
        default,
        deserialize_with = "local_ref",
        skip_serializing_if = "Option::is_none"
    )]
    pub reference: Option<String>,
}

/// What became of an element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "camelCase")]
pub enum ElementState {
    /// The element is in the document, with another role or name.
    Changed(ElementSummary),
    /// The element was removed from the document.
    Removed,
    /// The page shows another document.
    PageNavigated {
        /// The URL of that document.
        url: String,
    },
    /// The frame shows another document.
    FrameNavigated {
        /// The URL of that document.
        url: String,
    },
    /// The frame was removed from the page.
    FrameRemoved,
}

/// Parses the number of a ref.
fn local_ref<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    u64::deserialize(deserializer).map(|number| Some(format!("e{number}")))
}

impl fmt::Display for ElementSummary {
    /// `button "Save" in dialog "Edit" [ref=e5]`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.role)?;
        if !self.name.is_empty() {
            write!(f, " {}", serde_json::Value::from(self.name.as_str()))?;
        }
        if !self.within.is_empty() {
            write!(f, " in {}", self.within)?;
        }
        match &self.reference {
            Some(reference) => write!(f, " [ref={reference}]"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for ElementState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(element) => write!(f, "That element is now {element}."),
            Self::Removed => f.write_str("That element was removed from the document."),
            Self::PageNavigated { url } => write!(f, "The page has navigated to {url}."),
            Self::FrameNavigated { url } => write!(f, "Its frame has navigated to {url}."),
            Self::FrameRemoved => f.write_str("Its frame was removed from the page."),
        }
    }
}

impl fmt::Display for StaleElement {
    /// Nothing, or a line of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut start = "\n";
        let mut sentence = |sentence: fmt::Arguments<'_>| {
            let start = std::mem::replace(&mut start, " ");
            write!(f, "{start}{sentence}")
        };
        if let Some(was) = &self.was {
            sentence(format_args!("The ref was {was}."))?;
        }
        if let Some(now) = &self.now {
            sentence(format_args!("{now}"))?;
        }
        if let Some(best) = &self.best_match {
            sentence(format_args!("Best match: {best}."))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use serde_json::json;

    fn element(name: &str, within: &str, reference: Option<&str>) -> ElementSummary {
        ElementSummary {
            role: "button".into(),
            name: name.into(),
            within: within.into(),
            reference: reference.map(str::to_owned),
        }
    }

    #[test]
    fn a_stale_ref_has_the_same_facts_as_text_and_json() {
        let error = Error::StaleRef {
            reference: "e5".into(),
            facts: Box::new(StaleElement {
                was: Some(element("Say \"hi\"", "row \"Ada\"", None)),
                now: Some(ElementState::Changed(element("Bye", "", Some("e9")))),
                best_match: Some(element("Say \"hi\"", "", Some("e12"))),
            }),
        };
        assert_eq!(
            error.to_string(),
            "Ref e5 not found in the current page snapshot. Try capturing new snapshot.\n\
             The ref was button \"Say \\\"hi\\\"\" in row \"Ada\". That element is now button \"Bye\" [ref=e9]. \
             Best match: button \"Say \\\"hi\\\"\" [ref=e12]."
        );
        assert_eq!(
            serde_json::to_value(&error).ok(),
            Some(json!({
                "reference": "e5",
                "was": { "role": "button", "name": "Say \"hi\"", "within": "row \"Ada\"" },
                "now": { "state": "changed", "role": "button", "name": "Bye", "ref": "e9" },
                "bestMatch": { "role": "button", "name": "Say \"hi\"", "ref": "e12" },
            }))
        );
    }

    #[test]
    fn a_ref_that_was_never_given_has_no_facts() {
        let error = Error::StaleRef {
            reference: "e5".into(),
            facts: Box::default(),
        };
        assert_eq!(
            error.to_string(),
            "Ref e5 not found in the current page snapshot. Try capturing new snapshot."
        );
        assert_eq!(
            serde_json::to_value(&error).ok(),
            Some(json!({ "reference": "e5" }))
        );
    }
}
