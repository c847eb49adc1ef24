//! Selecting options of a `<select>`.

use super::aim::{ActionabilityState, FailedCheck, join_states};
use super::fill::Mismatch;
use super::{Tries, until_done};
use crate::error::{Error, Obstacle, Result};
use crate::locator::Locator;
use crate::progress::Progress;
use serde::Deserialize;
use serde_json::json;

/// How many options an error lists.
const MOST_OPTIONS: usize = 20;

/// The result of the page function `selectOptions`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Selected { selected: Vec<String> },
    Missing { options: Vec<String> },
    Lacks { lacks: FailedCheck },
    Mismatch(#[expect(dead_code, reason = "one answer fits all kinds")] Mismatch),
}

impl Locator {
    /// Selects exactly these options, each by its value or label, once they exist. Returns the selected values; `values` itself if a dialog
    /// opened.
    pub async fn select_options(
        &self,
        progress: &Progress,
        values: &[String],
    ) -> Result<Vec<String>> {
        let mut tries = Tries::of(self, progress, "select option");
        until_done!(tries, progress, {
            let element = tries.element().await?;
            let needs = join_states(&[ActionabilityState::Visible, ActionabilityState::Enabled]);
            tries.note(format!("waiting for element to be {needs}"));
            match element
                .call("selectOptions", json!({ "values": values }))
                .await
            {
                Ok(Answer::Selected { selected }) => Ok(selected),
                // A change handler opened it.
                Err(Error::DialogOpen {}) => Ok(values.to_vec()),
                Err(error) => Err(error),
                Ok(Answer::Missing { mut options }) => {
                    if options.len() > MOST_OPTIONS {
                        options.truncate(MOST_OPTIONS);
                        options.push("…".to_owned());
                    }
                    Err(element.not_actionable(Obstacle::MissingOptions { options }))
                }
                Ok(Answer::Lacks { lacks }) => Err(element.not_actionable(lacks.into())),
                Ok(Answer::Mismatch(_)) => Err(self.mismatch("Element is not a <select> element")),
            }
        })
    }
}
