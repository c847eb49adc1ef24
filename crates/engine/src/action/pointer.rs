//! Mouse actions on elements, and by coordinates.

use super::aim::{ActionabilityState, Aim, HitTarget, PointerAction};
use super::gesture::{Gesture, perform};
use super::{Tries, until_done};
use crate::backend::{Modifier, MouseButton, Point};
use crate::error::Result;
use crate::input::hold;
use crate::locator::Locator;
use crate::page::Page;
use crate::progress::Progress;
use std::time::Duration;

/// The options of a click.
#[derive(Debug, Clone, PartialEq)]
pub struct Click {
    /// The button.
    pub button: MouseButton,
    /// 2 for a double click.
    pub count: u32,
    /// The modifier keys.
    pub modifiers: Vec<Modifier>,
    /// The point relative to the top left corner of the element's padding box; default: its center.
    pub position: Option<Point>,
    /// Skips the actionability checks.
    pub force: bool,
    /// How long the button is pressed.
    pub delay: Duration,
}

impl Default for Click {
    fn default() -> Self {
        Self {
            button: MouseButton::Left,
            count: 1,
            modifiers: Vec::new(),
            position: None,
            force: false,
            delay: Duration::ZERO,
        }
    }
}

const CLICKABLE: &[ActionabilityState] = &[
    ActionabilityState::Visible,
    ActionabilityState::Enabled,
    ActionabilityState::Stable,
];
const HOVERABLE: &[ActionabilityState] = &[ActionabilityState::Visible, ActionabilityState::Stable];

impl Locator {
    /// Clicks once the element is visible, enabled, stable, and the hit target. Also succeeds when the click opens a dialog.
    pub async fn click(&self, progress: &Progress, how: &Click) -> Result<()> {
        let action = if how.count == 2 { "dblclick" } else { "click" };
        let mut tries = Tries::of(self, progress, action);
        until_done!(tries, progress, {
            let aimed = tries
                .aim(aim(how, CLICKABLE, HitTarget::At(PointerAction::Press)))
                .await?;
            tries.note(format!("performing {action} action"));
            // Another move could have the same effect as the one after which the button missed the element.
            let moves = !tries.missed || self.page.state().pressed.pointer != aimed.point;
            tries.missed = false;
            self.page.click_at(aimed.point, how, moves).await?;
            let hit = aimed.interceptor.end().await;
            tries.missed = hit.is_err();
            hit
        })
    }

    /// Moves the pointer over the element once it is visible, stable, and the hit target. The options about buttons are ignored.
    pub async fn hover(&self, progress: &Progress, how: &Click) -> Result<()> {
        let mut tries = Tries::of(self, progress, "hover");
        until_done!(tries, progress, {
            let aimed = tries
                .aim(aim(how, HOVERABLE, HitTarget::At(PointerAction::Move)))
                .await?;
            tries.note("performing hover action");
            let before = self.page.state().pressed.clone();
            let (mut steps, up) = hold(&how.modifiers, &before.modifiers);
            let held = steps.iter().fold(before, |held, step| held.after(step));
            steps.push(held.pointer_moved(aimed.point));
            steps.extend(up);
            perform(&self.page, &steps).await?;
            aimed.interceptor.end().await
        })
    }
}

fn aim<'a>(how: &Click, needs: &'a [ActionabilityState], hit: HitTarget) -> Aim<'a> {
    Aim {
        needs: if how.force { &[] } else { needs },
        position: how.position,
        hit: if how.force { HitTarget::Any } else { hit },
    }
}

impl Page {
    /// Moves the pointer.
    pub async fn mouse_move(&self, progress: &Progress, to: Point) -> Result<()> {
        let held = self.state().pressed.clone();
        progress.run(perform(self, &[held.pointer_moved(to)])).await
    }

    /// Clicks at a point of the viewport, independently of the element there.
    pub async fn mouse_click(&self, progress: &Progress, at: Point, how: &Click) -> Result<()> {
        progress.run(self.click_at(at, how, true)).await
    }

    /// Presses a button at the position of the pointer without releasing it; `count` is 2 for the second press of a double click.
    pub async fn mouse_down(
        &self,
        progress: &Progress,
        button: MouseButton,
        count: u32,
    ) -> Result<()> {
        let held = self.state().pressed.clone();
        progress
            .run(perform(self, &[held.down(button, count)]))
            .await
    }

    /// Releases a button at the position of the pointer; `count` is that of the press.
    pub async fn mouse_up(
        &self,
        progress: &Progress,
        button: MouseButton,
        count: u32,
    ) -> Result<()> {
        let held = self.state().pressed.clone();
        progress.run(perform(self, &[held.up(button, count)])).await
    }

    /// Clicks at a point. `moves` is false if the pointer is there.
    async fn click_at(&self, at: Point, how: &Click, moves: bool) -> Result<()> {
        let mut gesture = Gesture::on(self);
        let before = gesture.held();
        let (mut steps, up) = hold(&how.modifiers, &before.modifiers);
        let mut held = steps.iter().fold(before, |held, step| held.after(step));
        if moves {
            let moved = held.pointer_moved(at);
            held.apply(&moved);
            steps.push(moved);
        }
        for count in 1..=how.count {
            let down = held.down(how.button, count);
            held.apply(&down);
            steps.push(down);
            if !how.delay.is_zero() {
                if !gesture.send(&std::mem::take(&mut steps)).await? {
                    return Ok(());
                }
                tokio::time::sleep(how.delay).await;
            }
            let up = held.up(how.button, count);
            held.apply(&up);
            steps.push(up);
        }
        steps.extend(up);
        // All steps were sent, independently of the result.
        let sent = gesture.send(&steps).await;
        gesture.end();
        sent.map(drop)
    }
}
