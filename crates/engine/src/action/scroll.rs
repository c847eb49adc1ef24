//! Scrolling, and the area of a picture of one element.

use super::aim::{Aim, Need};
use super::gesture::perform;
use super::{Tries, until_done};
use crate::backend::{InputStep, ScreenshotArea};
use crate::error::{Obstacle, Result};
use crate::locator::Locator;
use crate::page::Page;
use crate::progress::Progress;

const SHOWN: Aim<'static> = Aim {
    needs: &[Need::Visible, Need::Stable],
    position: None,
    hit: false,
};

impl Locator {
    /// Scrolls the element into view, if it is not, once it is visible and still.
    pub async fn scroll_into_view(&self, progress: &Progress) -> Result<()> {
        let mut tries = Tries::of(self, progress, "scroll into view");
        until_done!(tries, progress, {
            let element = tries.element().await?;
            tries.aim(&element, SHOWN).await.map(drop)
        })
    }

    /// The area of a picture of the element: scrolls it into view and waits until it is visible and still.
    pub async fn screenshot_area(&self, progress: &Progress) -> Result<ScreenshotArea> {
        let mut tries = Tries::of(self, progress, "screenshot");
        until_done!(tries, progress, {
            let element = tries.element().await?;
            tries.aim(&element, SHOWN).await?;
            let bounds = element.bounds().await?;
            let bounds = bounds.ok_or_else(|| element.not_actionable(Obstacle::NotVisible))?;
            Ok(ScreenshotArea::Clip {
                x: bounds.x,
                y: bounds.y,
                width: bounds.width,
                height: bounds.height,
            })
        })
    }
}

impl Page {
    /// Turns the wheel where the pointer stands, in CSS pixels.
    pub async fn mouse_wheel(&self, progress: &Progress, delta_x: f64, delta_y: f64) -> Result<()> {
        let held = self.state().pressed.clone();
        let wheel = InputStep::Wheel {
            at: held.pointer,
            delta_x,
            delta_y,
            modifiers: held.modifiers,
        };
        progress.run(perform(self, &[wheel])).await
    }
}
