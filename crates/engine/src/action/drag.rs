//! Dragging with the left button.

use super::aim::{ActionabilityState, Aim, Aimed, HitTarget, PointerAction};
use super::gesture::Gesture;
use super::{Tries, until_done};
use crate::backend::{MouseButton, Point};
use crate::error::Result;
use crate::locator::Locator;
use crate::page::Page;
use crate::progress::Progress;

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
            progress.run(gesture.move_and_release(from, to)).await?;
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
                if gesture.press_at(from).await? {
                    gesture.move_and_release(from, to).await?;
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

    async fn move_and_release(&mut self, from: Point, to: Point) -> Result<bool> {
        // A browser starts a drag only after the pointer has moved, and a drop target must get `dragenter` before `dragover`.
        let way = Point {
            x: f64::midpoint(from.x, to.x),
            y: f64::midpoint(from.y, to.y),
        };
        let held = self.held();
        if !self
            .send(&[
                held.pointer_moved(way),
                held.pointer_moved(to),
                held.pointer_moved(to),
            ])
            .await?
        {
            return Ok(false);
        }
        self.release().await
    }

    async fn release(&mut self) -> Result<bool> {
        let up = self.held().up(MouseButton::Left, 1);
        self.send(&[up]).await
    }
}
