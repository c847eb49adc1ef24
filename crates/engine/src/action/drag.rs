//! Dragging with the left button.

use super::aim::Need;
use super::gesture::Gesture;
use super::pointer::aim;
use super::{Click, Tries, until_done};
use crate::backend::{MouseButton, Point};
use crate::error::Result;
use crate::locator::Locator;
use crate::page::Page;
use crate::progress::Progress;

const GRABBABLE: &[Need] = &[Need::Visible, Need::Stable];

impl Locator {
    /// Drags the element onto the middle of another; both must be visible, still, and not covered.
    pub async fn drag_to(&self, progress: &Progress, target: &Locator) -> Result<()> {
        // A target that is not there must not leave the source in mid-air.
        target.resolve(progress).await?;
        let from = self.grip(progress).await?;
        let mut gesture = Gesture::on(&self.page);
        if progress.run(gesture.grab(from)).await? {
            let to = target.grip(progress).await?;
            progress.run(gesture.carry(from, to)).await?;
        }
        gesture.end();
        Ok(())
    }

    async fn grip(&self, progress: &Progress) -> Result<Point> {
        let mut tries = Tries::of(self, progress, "drag and drop");
        until_done!(tries, progress, {
            let (_, at) = tries.aim(aim(&Click::default(), GRABBABLE)).await?;
            Ok(at)
        })
    }
}

impl Page {
    /// Presses the left button at one point, moves to another and lets go there.
    pub async fn mouse_drag(&self, progress: &Progress, from: Point, to: Point) -> Result<()> {
        progress
            .run(async {
                let mut gesture = Gesture::on(self);
                if gesture.grab(from).await? {
                    gesture.carry(from, to).await?;
                }
                gesture.end();
                Ok(())
            })
            .await
    }
}

impl Gesture<'_> {
    async fn grab(&mut self, at: Point) -> Result<bool> {
        let held = self.held();
        let moved = held.moved(at);
        let down = held.after(&moved).down(MouseButton::Left, 1);
        self.send(&[moved, down]).await
    }

    async fn carry(&mut self, from: Point, to: Point) -> Result<bool> {
        // A browser takes a press for a drag only once the pointer has left its place, and a drop target must be entered before it is over.
        let way = Point {
            x: f64::midpoint(from.x, to.x),
            y: f64::midpoint(from.y, to.y),
        };
        let held = self.held();
        if !self
            .send(&[held.moved(way), held.moved(to), held.moved(to)])
            .await?
        {
            return Ok(false);
        }
        let up = self.held().up(MouseButton::Left, 1);
        self.send(&[up]).await
    }
}
