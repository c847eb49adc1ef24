//! Dragging with the left button.

use super::aim::{ActionabilityState, Aim, Aimed, HitTarget, PointerAction};
use super::gesture::Gesture;
use super::{Tries, until_done};
use crate::backend::{MouseButton, Point};
use crate::error::Result;
use crate::locator::{Locator, Rect};
use crate::page::Page;
use crate::progress::Progress;
use std::time::Duration;
use tokio::time::Instant;

/// The length of the first move, in CSS pixels: more than what counts as a click.
const FIRST_MOVE: f64 = 6.0;
/// The interval between two moves of the pointer above a drop target. Sortable lists ignore moves for some time after each change.
const DWELL_INTERVAL: Duration = Duration::from_millis(50);
/// The number of moves after which a drop target with the same bounding box rests.
const RESTS: usize = 4;
/// The most moves above a drop target that moves itself.
const MAX_DWELLS: usize = 20;
/// The time of the action that is left for the drop.
const DROP_TIME: Duration = Duration::from_millis(500);

const GRABBABLE: &[ActionabilityState] = &[ActionabilityState::Visible, ActionabilityState::Stable];

impl Locator {
    /// Drags the element to the center of another; both must be visible, stable, and hit targets.
    pub async fn drag_to(&self, progress: &Progress, target: &Locator) -> Result<()> {
        // A missing target must not leave the button pressed.
        target.resolve(progress).await?;
        let mut tries = Tries::of(self, progress, "drag and drop");
        let (mut gesture, from) = until_done!(tries, progress, {
            let how = grab(HitTarget::At(PointerAction::Press));
            let Aimed {
                point, interceptor, ..
            } = tries.aim(how).await?;
            let mut gesture = Gesture::on(&self.page);
            if !gesture.press_at(point).await? {
                return Ok((gesture, None));
            }
            if let Err(missed) = interceptor.check().await {
                gesture.release().await?;
                gesture.end();
                interceptor.end().await?;
                return Err(missed);
            }
            interceptor.end().await?;
            Ok((gesture, Some(point)))
        })?;
        if let Some(from) = from {
            // The dragged element often remains below the pointer, so the release is not checked.
            let mut tries = Tries::of(target, progress, "drag and drop");
            let to = until_done!(tries, progress, {
                let aimed = tries.aim(grab(HitTarget::Before)).await?;
                Ok(aimed.point)
            })?;
            let rest_by = progress.deadline().checked_sub(DROP_TIME);
            let dropped = async {
                if gesture.move_over(from, to).await? && gesture.dwell(to, target, rest_by).await? {
                    gesture.release().await?;
                }
                Ok(())
            };
            progress.run(dropped).await?;
        }
        gesture.end();
        Ok(())
    }
}

fn grab(hit: HitTarget) -> Aim<'static> {
    Aim {
        needs: GRABBABLE,
        position: None,
        hit,
    }
}

impl Page {
    /// Presses the left button at one point, moves to another and releases it there.
    pub async fn mouse_drag(&self, progress: &Progress, from: Point, to: Point) -> Result<()> {
        progress
            .run(async {
                let mut gesture = Gesture::on(self);
                if gesture.press_at(from).await? && gesture.move_over(from, to).await? {
                    gesture.release().await?;
                }
                gesture.end();
                Ok(())
            })
            .await
    }
}

impl Gesture<'_> {
    async fn press_at(&mut self, at: Point) -> Result<bool> {
        let held = self.held();
        let moved = held.pointer_moved(at);
        let down = held.after(&moved).down(MouseButton::Left, 1);
        self.send(&[moved, down]).await
    }

    /// Moves the pointer to a point, and there again after an interval.
    async fn move_over(&mut self, from: Point, to: Point) -> Result<bool> {
        // A browser starts a drag only after the pointer has moved, and a drop target must get `dragenter` before `dragover`. Some libraries
        // measure from the move that starts the drag, which a user makes near the beginning.
        let distance = (to.x - from.x).hypot(to.y - from.y).max(1.0);
        let after = |part: f64| Point {
            x: from.x + (to.x - from.x) * part,
            y: from.y + (to.y - from.y) * part,
        };
        let near = after((FIRST_MOVE / distance).min(0.5));
        let held = self.held();
        let moves = [near, after(0.5), to, to].map(|point| held.pointer_moved(point));
        if !self.send(&moves).await? {
            return Ok(false);
        }
        tokio::time::sleep(DWELL_INTERVAL).await;
        self.send(&[held.pointer_moved(to)]).await
    }

    /// Moves the pointer to and fro until the target rests; it may make room for what is dragged.
    async fn dwell(
        &mut self,
        at: Point,
        target: &Locator,
        rest_by: Option<Instant>,
    ) -> Result<bool> {
        let mut last = bounds_of(target).await;
        let mut rests = 0;
        for _ in 0..MAX_DWELLS {
            if rest_by.is_none_or(|end| end < Instant::now()) {
                break;
            }
            tokio::time::sleep(DWELL_INTERVAL).await;
            // Firefox and WebKit have no event for a move to the same point.
            let held = self.held();
            let aside = Point {
                x: at.x + 1.0,
                ..at
            };
            let moves = [aside, at].map(|point| held.pointer_moved(point));
            if !self.send(&moves).await? {
                return Ok(false);
            }
            let bounds = bounds_of(target).await;
            rests = if bounds == last { rests + 1 } else { 0 };
            if rests == RESTS {
                break;
            }
            last = bounds;
        }
        Ok(true)
    }

    async fn release(&mut self) -> Result<bool> {
        let up = self.held().up(MouseButton::Left, 1);
        self.send(&[up]).await
    }
}

/// Returns the bounding box; `None` if the element is gone or cannot be found.
async fn bounds_of(locator: &Locator) -> Option<Rect> {
    locator.find().await.ok()?.bounds().await.ok()?
}
