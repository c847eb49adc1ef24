//! Gestures as WebDriver says them: three devices in step, and drags, which its browsers begin and never end, carried on by our own code.
//! <https://www.w3.org/TR/webdriver2/#actions>

use super::{InputStep, MouseButton, Point, keys};
use crate::error::Result;
use async_trait::async_trait;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wire::actions::{Action, Source};

/// Steps that go out in one command.
const AT_ONCE: usize = 96;

/// What a page's devices were left at: the pointer is moved before it is pressed, and a button is let go of where it was pressed.
#[derive(Default)]
pub(crate) struct Devices(Mutex<State>);

#[derive(Default)]
struct State {
    pointer: Option<Point>,
    /// A drag that begins is taken.
    taking: bool,
    /// One was.
    dragging: bool,
}

/// Where a gesture goes.
#[async_trait]
pub(crate) trait ActionsOrigin: Sync {
    /// A point of the page, as the devices have to say it here.
    fn inside(&self, point: Point) -> Point;
    /// Has the browser do it.
    async fn perform(&self, actions: Vec<Source>) -> Result<()>;
    /// Tells our code in the document of a drag, and what it answers. A document that has gone drags nothing.
    async fn drag(&self, function: &str, at: Point) -> Result<bool>;
}

/// The three devices: what one does, the others wait for.
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

impl Devices {
    /// Does these steps there, in order, in as few commands as can be.
    pub(crate) async fn act(&self, ground: &dyn ActionsOrigin, steps: &[InputStep]) -> Result<()> {
        let mut ticks = Ticks::default();
        for step in steps {
            let drags = match step {
                InputStep::MouseMove { buttons, .. } => buttons.contains(&MouseButton::Left),
                InputStep::MouseUp { .. } => self.state().taking,
                _ => false,
            };
            if drags {
                perform(ground, &mut ticks).await?;
                self.add_while_dragging(ground, &mut ticks, step).await?;
            } else {
                self.add(&mut ticks, ground, step);
                if ticks.key.len() >= AT_ONCE {
                    perform(ground, &mut ticks).await?;
                }
            }
        }
        perform(ground, &mut ticks).await
    }

    async fn add_while_dragging(
        &self,
        ground: &dyn ActionsOrigin,
        ticks: &mut Ticks,
        step: &InputStep,
    ) -> Result<()> {
        match step {
            InputStep::MouseMove { to, .. } => {
                if self.state().dragging {
                    return ground.drag("dragTo", *to).await.map(drop);
                }
                let first = !std::mem::replace(&mut self.state().taking, true);
                if first {
                    ground.drag("takeDrag", *to).await?;
                }
                self.add(ticks, ground, step);
                perform(ground, ticks).await?;
                if ground.drag("dragTaken", *to).await? {
                    self.state().dragging = true;
                    ground.drag("dragTo", *to).await?;
                }
            }
            InputStep::MouseUp { at, .. } => {
                ground.drag("dropDrag", *at).await?;
                let mut state = self.state();
                (state.taking, state.dragging) = (false, false);
                drop(state);
                self.add(ticks, ground, step);
            }
            _ => self.add(ticks, ground, step),
        }
        Ok(())
    }

    fn add(&self, ticks: &mut Ticks, ground: &dyn ActionsOrigin, step: &InputStep) {
        match step {
            InputStep::MouseMove { to, .. } => self.move_to(ticks, ground, *to),
            InputStep::MouseDown { at, button, .. } => {
                self.reach(ticks, ground, *at);
                ticks.pointer(Action::PointerDown {
                    button: number(*button),
                });
            }
            InputStep::MouseUp { at, button, .. } => {
                self.reach(ticks, ground, *at);
                ticks.pointer(Action::PointerUp {
                    button: number(*button),
                });
            }
            InputStep::Wheel {
                at,
                delta_x,
                delta_y,
                ..
            } => {
                let at = ground.inside(*at);
                ticks.wheel(Action::Scroll {
                    x: pixels(at.x),
                    y: pixels(at.y),
                    delta_x: pixels(*delta_x),
                    delta_y: pixels(*delta_y),
                });
            }
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

    fn move_to(&self, ticks: &mut Ticks, ground: &dyn ActionsOrigin, to: Point) {
        self.state().pointer = Some(to);
        let Point { x, y } = ground.inside(to);
        ticks.pointer(Action::PointerMove { x, y });
    }

    /// Moves there, unless the pointer is there already.
    fn reach(&self, ticks: &mut Ticks, ground: &dyn ActionsOrigin, at: Point) {
        let there = self.state().pointer;
        if there != Some(at) {
            self.move_to(ticks, ground, at);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn perform(ground: &dyn ActionsOrigin, ticks: &mut Ticks) -> Result<()> {
    let actions = std::mem::take(ticks).sources();
    if actions.is_empty() {
        return Ok(());
    }
    ground.perform(actions).await
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
