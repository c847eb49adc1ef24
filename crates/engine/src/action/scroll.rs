//! Scrolling, and the area of an element's screenshot.

use super::aim::{ActionabilityState, Aim, HitTarget};
use super::gesture::perform;
use super::{Tries, until_done};
use crate::backend::{InputStep, ScreenshotArea};
use crate::error::{Obstacle, Result};
use crate::locator::Locator;
use crate::page::Page;
use crate::progress::Progress;

const SHOWN: Aim<'static> = Aim {
    needs: &[ActionabilityState::Visible, ActionabilityState::Stable],
    position: None,
    hit: HitTarget::Any,
};

/// The rounding error of layout coordinates, in CSS pixels.
const ROUNDING: f64 = 1e-3;

impl Locator {
    /// Scrolls the element into view if necessary, once it is visible and stable.
    pub async fn scroll_into_view(&self, progress: &Progress) -> Result<()> {
        let mut tries = Tries::of(self, progress, "scroll into view");
        until_done!(tries, progress, { tries.aim(SHOWN).await.map(drop) })
    }

    /// Scrolls the element into view, waits until it is visible and stable, and returns the area of its screenshot.
    pub async fn screenshot_area(&self, progress: &Progress) -> Result<ScreenshotArea> {
        let mut tries = Tries::of(self, progress, "screenshot");
        until_done!(tries, progress, {
            let element = tries.aim(SHOWN).await?.element;
            let bounds = element.bounds().await?;
            let bounds = bounds.ok_or_else(|| element.not_actionable(Obstacle::NotVisible))?;
            // Whole pixels that contain the entire element.
            let (x, y) = ((bounds.x + ROUNDING).floor(), (bounds.y + ROUNDING).floor());
            Ok(ScreenshotArea::Clip {
                x,
                y,
                width: (bounds.x + bounds.width - ROUNDING).ceil() - x,
                height: (bounds.y + bounds.height - ROUNDING).ceil() - y,
            })
        })
    }
}

impl Page {
    /// Scrolls the wheel at the position of the pointer, in CSS pixels.
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
