//! Actionability of an element, and the point at which a pointer hits it.

use super::Tries;
use super::interceptor::{Cover, Interceptor};
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
    pub(super) hit: HitTarget,
}

/// When the element must be the hit target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HitTarget {
    /// It need not be.
    Any,
    /// Before the action.
    Before,
    /// Before the action, and when its first event arrives.
    At(PointerAction),
}

/// The actions whose first event the injected script can check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum PointerAction {
    Press,
    Move,
}

/// A point at which to act, and the check that the action reaches the element.
pub(super) struct Aimed {
    pub(super) element: Element,
    pub(super) point: Point,
    pub(super) interceptor: Interceptor,
}

/// The result of the page functions `aim` and `aimThrough`.
#[derive(Deserialize)]
#[serde(untagged)]
enum AimResult {
    Lacks { lacks: FailedCheck },
    Covered(Cover),
    At { point: Point },
}

/// Each attempt scrolls differently, because a sticky element may cover the target.
const ALIGNMENTS: [&str; 4] = ["nearest", "end", "center", "start"];

impl Tries<'_> {
    /// Resolves the element, and the point of the main frame's viewport at which to act on it, in one attempt.
    pub(super) async fn aim(&mut self, how: Aim<'_>) -> Result<Aimed> {
        let needs = join_states(how.needs);
        let waiting =
            || (!how.needs.is_empty()).then(|| format!("waiting for element to be {needs}"));
        let action = match how.hit {
            HitTarget::At(action) => Some(action),
            HitTarget::Any | HitTarget::Before => None,
        };
        let hit = how.hit != HitTarget::Any;
        let argument = json!({
            "wanted": how.needs,
            "align": ALIGNMENTS[self.attempts() % ALIGNMENTS.len()],
            "position": how.position,
            "hit": hit,
            "action": action,
        });
        let (element, answer) = self.find_and_call("aim", &argument, waiting).await?;
        let mut point = aimed(&element, answer)?;
        let mut interceptor = Interceptor::none(&element.page);
        let page = element.page.clone();
        let mut inner = element.clone();
        loop {
            let frame = inner.frame.clone();
            let outer = page.backend.frame_owner(&frame).await?;
            let owner = outer.map(|(parent, owner)| inner.sibling(parent, owner));
            if action.is_some() {
                interceptor.add(inner);
            }
            let Some(owner) = owner else { break };
            let argument = json!({ "point": point, "hit": hit, "action": action });
            point = aimed(&owner, owner.call("aimThrough", argument).await?)?;
            inner = owner;
        }
        if !how.needs.is_empty() {
            self.note(format!("element is {needs}"));
        }
        Ok(Aimed {
            element,
            point,
            interceptor,
        })
    }
}

fn aimed(element: &Element, answer: AimResult) -> Result<Point, Error> {
    let obstacle = match answer {
        AimResult::At { point } => return Ok(point),
        AimResult::Lacks { lacks } => lacks.into(),
        AimResult::Covered(cover) => cover.into(),
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
