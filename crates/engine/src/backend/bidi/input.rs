//! Trusted input: one gesture, one command.

use super::keys;
use super::page::BidiPage;
use crate::backend::{InputStep, MouseButton, Point};
use crate::error::Result;
use std::sync::{Mutex, PoisonError};
use wire::bidi::input::{Action, PerformActions, Source};

/// Steps that go out in one command.
const AT_ONCE: usize = 96;

/// Where the devices were left: Firefox moves the pointer before it presses.
#[derive(Default)]
pub(super) struct Devices(Mutex<Option<Point>>);

/// The three devices, in step: what one does, the others wait for.
#[derive(Default)]
struct Ticks {
    key: Vec<Action>,
    pointer: Vec<Action>,
    wheel: Vec<Action>,
}

const WAIT: Action = Action::Pause { duration: None };

impl Ticks {
    fn key(&mut self, action: Action) {
        self.key.push(action);
        self.pointer.push(WAIT);
        self.wheel.push(WAIT);
    }

    fn pointer(&mut self, action: Action) {
        self.key.push(WAIT);
        self.pointer.push(action);
        self.wheel.push(WAIT);
    }

    fn wheel(&mut self, action: Action) {
        self.key.push(WAIT);
        self.pointer.push(WAIT);
        self.wheel.push(action);
    }

    /// The devices that do anything.
    fn sources(self) -> Vec<Source> {
        let acts = |actions: &[Action]| {
            let mut actions = actions.iter();
            actions.any(|action| !matches!(action, Action::Pause { .. }))
        };
        let mut sources = Vec::new();
        if acts(&self.key) {
            sources.push(Source::Key {
                id: "keyboard",
                actions: self.key,
            });
        }
        if acts(&self.pointer) {
            sources.push(Source::Pointer {
                id: "mouse",
                actions: self.pointer,
            });
        }
        if acts(&self.wheel) {
            sources.push(Source::Wheel {
                id: "wheel",
                actions: self.wheel,
            });
        }
        sources
    }
}

impl BidiPage {
    pub(super) async fn dispatch(&self, steps: &[InputStep]) -> Result<()> {
        for steps in steps.chunks(AT_ONCE) {
            let mut ticks = Ticks::default();
            for step in steps {
                self.add(&mut ticks, step);
            }
            let actions = ticks.sources();
            if actions.is_empty() {
                continue;
            }
            self.root
                .call(&PerformActions {
                    context: self.name(),
                    actions,
                })
                .await?;
        }
        Ok(())
    }

    fn add(&self, ticks: &mut Ticks, step: &InputStep) {
        match step {
            InputStep::MouseMove { to, .. } => self.move_to(ticks, *to),
            InputStep::MouseDown { at, button, .. } => {
                self.reach(ticks, *at);
                ticks.pointer(Action::PointerDown {
                    button: number(*button),
                });
            }
            InputStep::MouseUp { at, button, .. } => {
                self.reach(ticks, *at);
                ticks.pointer(Action::PointerUp {
                    button: number(*button),
                });
            }
            InputStep::Wheel {
                at,
                delta_x,
                delta_y,
                ..
            } => ticks.wheel(Action::Scroll {
                x: pixels(at.x),
                y: pixels(at.y),
                delta_x: pixels(*delta_x),
                delta_y: pixels(*delta_y),
            }),
            InputStep::KeyDown { key, .. } => ticks.key(Action::KeyDown {
                value: keys::value(key),
            }),
            InputStep::KeyUp { key, .. } => ticks.key(Action::KeyUp {
                value: keys::value(key),
            }),
            InputStep::InsertText { text } => {
                for letter in keys::letters(text) {
                    ticks.key(Action::KeyDown {
                        value: letter.clone(),
                    });
                    ticks.key(Action::KeyUp { value: letter });
                }
            }
        }
    }

    fn move_to(&self, ticks: &mut Ticks, to: Point) {
        *self
            .devices
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(to);
        ticks.pointer(Action::PointerMove { x: to.x, y: to.y });
    }

    /// Moves there, unless the pointer is there already.
    fn reach(&self, ticks: &mut Ticks, at: Point) {
        let there = *self
            .devices
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if there != Some(at) {
            self.move_to(ticks, at);
        }
    }
}

/// <https://w3c.github.io/pointerevents/#the-button-property>
fn number(button: MouseButton) -> u8 {
    match button {
        MouseButton::Left => 0,
        MouseButton::Middle => 1,
        MouseButton::Right => 2,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a distance on a screen, which the protocol wants whole"
)]
fn pixels(length: f64) -> i64 {
    length.round() as i64
}
