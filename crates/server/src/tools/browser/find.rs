//! Searching the page snapshot.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::error::{Error, Problem, Result};
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::{Pattern, SnapshotOptions};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Find>()];

/// Search the page snapshot for text; gives matches with their surroundings.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Find {
    /// Text, in any case.
    text: Option<String>,
    /// Regular expression, or /…/flags.
    regex: Option<String>,
    /// The largest number of matches to show.
    max_results: Option<f64>,
    /// Save to this file instead.
    filename: Option<String>,
}

impl Tool for Find {
    const NAME: &'static str = "browser_find";
    const TITLE: &'static str = "Find in page snapshot";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let pattern = match (&self.text, &self.regex) {
            (Some(text), None) => Pattern::text(text),
            (None, Some(regex)) => pattern(Self::NAME, "regex", regex)?,
            (None, None) => {
                return Ok(Reply::error(Error::Arguments {
                    reason: "Provide either \"text\" or \"regex\" to search for.".into(),
                    parameters: &[],
                    missing: &["text", "regex"],
                    bare: true,
                }));
            }
            (Some(_), Some(_)) => {
                return Ok(Reply::error(Error::Arguments {
                    reason: "Provide only one of \"text\" or \"regex\", not both.".into(),
                    parameters: &["text", "regex"],
                    missing: &[],
                    bare: true,
                }));
            }
        };
        let most = self.max_results.map(most).transpose();
        let Ok(most) = most.map(|most| most.unwrap_or(usize::MAX)) else {
            return Ok(Reply::error(Error::Arguments {
                reason: "\"maxResults\" must be a positive integer.".into(),
                parameters: &["maxResults"],
                missing: &[],
                bare: true,
            }));
        };
        // Without bounding boxes, because their numbers would be found too.
        let options = SnapshotOptions {
            layout: call.settings.answers.layout(),
            searched: true,
            ..SnapshotOptions::default()
        };
        let snapshot = tab.page.snapshot(&call.reading(), &options).await?;
        let found = pattern.find_in(snapshot.text, most).await?;
        let first = match found.matches > most {
            true => format!(" (showing first {most})"),
            false => String::new(),
        };
        let text = match found.matches {
            0 => format!("No matches found for {pattern}."),
            1 => format!("Found 1 match for {pattern}:\n\n{}", found.text),
            matches => format!(
                "Found {matches} matches for {pattern}{first}:\n\n{}",
                found.text
            ),
        };
        tab.text_or_file(call, text, self.filename.as_deref(), "Find results")
            .await
    }
}

/// Returns a number of matches. Fails if it is not a positive whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and no snapshot has so many lines"
)]
fn most(number: f64) -> Result<usize, ()> {
    match number > 0.0 && number.fract() == 0.0 {
        true => Ok(number as usize),
        false => Err(()),
    }
}

/// Parses the regular expression of a parameter.
pub(super) fn pattern(tool: &'static str, parameter: &str, regex: &str) -> Result<Pattern> {
    Pattern::regex(regex).map_err(|_| Error::InvalidArguments {
        tool,
        problems: vec![Problem {
            parameter: parameter.to_owned(),
            message: "Invalid regular expression".to_owned(),
            missing: false,
        }],
    })
}
