//! Actionability of an element, and the point at which a pointer hits it.

use super::Tries;
use crate::backend::Point;
use crate::error::{Error, Obstacle, Result};
use crate::locator::Element;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// An actionability condition that an action waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "lowercase")]
pub(super) enum ActionabilityState {
    Visible,
    Enabled,
    Editable,
    Stable,
}

/// The failed check, as the page reports it.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum FailedCheck {
    Attached,
    Visible,
    Enabled,
    Editable,
    Stable,
    Viewport,
    Options,
    OptionEnabled,
}

impl From<FailedCheck> for Obstacle {
    fn from(lack: FailedCheck) -> Self {
        match lack {
            FailedCheck::Attached => Self::Detached,
            FailedCheck::Visible => Self::NotVisible,
            FailedCheck::Enabled => Self::NotEnabled,
            FailedCheck::Editable => Self::NotEditable,
            FailedCheck::Stable => Self::NotStable,
            FailedCheck::Viewport => Self::OutsideViewport,
            FailedCheck::Options => Self::MissingOptions,
            FailedCheck::OptionEnabled => Self::OptionNotEnabled,
        }
    }
}

/// How to point at an element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim<'a> {
    pub(super) needs: &'a [ActionabilityState],
    /// The point relative to the element's padding box; default: its center.
    pub(super) position: Option<Point>,
    /// Whether the element must be the hit target.
    pub(super) hit: bool,
}

/// The result of the page functions `aim` and `aimThrough`.
#[derive(Deserialize)]
#[serde(untagged)]
enum AimResult {
    Lacks { lacks: FailedCheck },
    Covered { cover: String, from: Option<String> },
    At { point: Point },
}

/// Each attempt scrolls differently, because a sticky element may cover the target.
const ALIGNMENTS: [&str; 4] = ["nearest", "end", "center", "start"];

impl Tries<'_> {
    /// Resolves the element, and the point of the main frame's viewport at which to act on it, in one attempt.
    pub(super) async fn aim(&mut self, how: Aim<'_>) -> Result<(Element, Point)> {
        let needs = join_states(how.needs);
        let waiting =
            || (!how.needs.is_empty()).then(|| format!("waiting for element to be {needs}"));
        let argument = json!({
            "wanted": how.needs,
            "align": ALIGNMENTS[self.attempts() % ALIGNMENTS.len()],
            "position": how.position,
            "hit": how.hit,
        });
        let (element, answer) = self.find_and_call("aim", &argument, waiting).await?;
        let mut point = aimed(&element, answer)?;
        let mut frame = element.frame.clone();
        while let Some((parent, owner)) = element.page.backend.frame_owner(&frame).await? {
            let owner = element.sibling(parent.clone(), owner);
            let argument = json!({ "point": point, "hit": how.hit });
            point = aimed(&owner, owner.call("aimThrough", argument).await?)?;
            frame = parent;
        }
        if !how.needs.is_empty() {
            self.note(format!("element is {needs}"));
        }
        Ok((element, point))
    }
}

fn aimed(element: &Element, answer: AimResult) -> Result<Point, Error> {
    let obstacle = match answer {
        AimResult::At { point } => return Ok(point),
        AimResult::Lacks { lacks } => lacks.into(),
        AimResult::Covered {
            cover,
            from: Some(from),
        } => Obstacle::Covered(format!("{cover} from {from} subtree")),
        AimResult::Covered { cover, from: None } => Obstacle::Covered(cover),
    };
    Err(element.not_actionable(obstacle))
}

/// Joins conditions: `visible, enabled and stable`.
pub(super) fn join_states(needs: &[ActionabilityState]) -> String {
    match needs {
        [] => String::new(),
        [only] => only.to_string(),
        [first @ .., last] => {
            let first: Vec<_> = first.iter().map(ActionabilityState::to_string).collect();
            format!("{} and {last}", first.join(", "))
        }
    }
}
