//! Input as WebDriver actions of three input sources with synchronous ticks, and drags: these browsers start a drag but do not continue it,
//! so injected scripts dispatch its events. They count the clicks of one command only, or those of a short time, so that the command with
//! the last click of a double click repeats the first one, whose events a script prevents. <https://www.w3.org/TR/webdriver2/#actions>

use super::{InputStep, MouseButton, Point, keys};
use crate::error::Result;
use async_trait::async_trait;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wire::actions::{Action, Source};

/// The largest number of ticks in a command.
const MAX_TICKS: usize = 96;

/// The distance in CSS pixels from which on a movement between press and release is a drag.
const DRAG_DISTANCE: f64 = 5.0;

/// A function that prevents the events of clicks at a point before the last one of a number of presses. Returns `frame` if it cannot.
pub(crate) const PREVENT_CLICKS: &str = include_str!("gesture.js");

/// The state of the input sources of a page. The pointer is moved before a button is pressed or released at another position.
#[derive(Default)]
pub(crate) struct Devices(Mutex<State>);

#[derive(Default)]
struct State {
    pointer: Option<Point>,
    /// The last press of a double or triple click, which waits for its release.
    press: Option<InputStep>,
    /// Whether the injected script intercepts the next drag.
    intercepting: bool,
    /// Whether a drag is in progress.
    dragging: bool,
}

/// The window or frame that input actions are relative to.
#[async_trait]
pub(crate) trait ActionsOrigin: Sync {
    /// Converts a point of the page to coordinates of the actions origin.
    fn inside(&self, point: Point) -> Point;
    /// Performs actions.
    async fn perform(&self, actions: Vec<Source>) -> Result<()>;
    /// Calls a drag function of the injected script. Returns false if the document was replaced.
    async fn drag(&self, function: &str, at: Point) -> Result<bool>;
    /// Prepares a command with this number of clicks at a point: they are counted from 1, and the page receives only the last one. Returns
    /// false if the events cannot be prevented.
    async fn prevent_clicks(&self, at: Point, count: u32) -> Result<bool>;
}

/// The actions of the three input sources. While one acts, the others pause.
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

    /// Returns the input sources that have an action.
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
    /// Performs steps in order, in as few commands as possible.
    pub(crate) async fn act(&self, origin: &dyn ActionsOrigin, steps: &[InputStep]) -> Result<()> {
        let waiting = self.state().press.take();
        let mut ticks = Ticks::default();
        match (&waiting, steps) {
            (
                None,
                [
                    InputStep::MouseDown {
                        button: MouseButton::Left,
                        count: 2..,
                        ..
                    },
                ],
            ) => {
                self.state().press = steps.first().cloned();
                return Ok(());
            }
            (Some(InputStep::MouseDown { at, .. }), [InputStep::MouseMove { to, .. }])
                if (at.x - to.x).hypot(at.y - to.y) < DRAG_DISTANCE =>
            {
                self.state().press = waiting;
                return Ok(());
            }
            (
                Some(press @ InputStep::MouseDown { at, .. }),
                [
                    InputStep::MouseUp {
                        button,
                        count: count @ 2..,
                        ..
                    },
                ],
            ) if origin.prevent_clicks(*at, *count).await? => {
                for _ in 1..*count {
                    self.add(&mut ticks, origin, press);
                    let button = button_number(*button);
                    ticks.pointer(Action::PointerUp { button });
                }
            }
            _ => {}
        }
        for step in waiting.iter().chain(steps) {
            let drags = match step {
                InputStep::MouseMove { buttons, .. } => buttons.contains(&MouseButton::Left),
                InputStep::MouseUp { .. } => self.state().intercepting,
                _ => false,
            };
            if drags {
                perform(origin, &mut ticks).await?;
                self.add_while_dragging(origin, &mut ticks, step).await?;
            } else {
                self.add(&mut ticks, origin, step);
                if ticks.key.len() >= MAX_TICKS {
                    perform(origin, &mut ticks).await?;
                }
            }
        }
        perform(origin, &mut ticks).await
    }

    /// Returns where the pointer is, if it was moved.
    pub(crate) fn pointer(&self) -> Option<Point> {
        self.state().pointer
    }

    async fn add_while_dragging(
        &self,
        origin: &dyn ActionsOrigin,
        ticks: &mut Ticks,
        step: &InputStep,
    ) -> Result<()> {
        match step {
            InputStep::MouseMove { to, .. } => {
                if self.state().dragging {
                    return origin.drag("dragTo", *to).await.map(drop);
                }
                let first = !std::mem::replace(&mut self.state().intercepting, true);
                if first {
                    origin.drag("takeDrag", *to).await?;
                }
                self.add(ticks, origin, step);
                perform(origin, ticks).await?;
                if origin.drag("dragTaken", *to).await? {
                    self.state().dragging = true;
                    origin.drag("dragTo", *to).await?;
                }
            }
            InputStep::MouseUp { at, .. } => {
                origin.drag("dropDrag", *at).await?;
                let mut state = self.state();
                (state.intercepting, state.dragging) = (false, false);
                drop(state);
                self.add(ticks, origin, step);
            }
            _ => self.add(ticks, origin, step),
        }
        Ok(())
    }

    fn add(&self, ticks: &mut Ticks, origin: &dyn ActionsOrigin, step: &InputStep) {
        match step {
            InputStep::MouseMove { to, .. } => self.move_to(ticks, origin, *to),
            InputStep::MouseDown { at, button, .. } => {
                self.move_if_needed(ticks, origin, *at);
                ticks.pointer(Action::PointerDown {
                    button: button_number(*button),
                });
            }
            InputStep::MouseUp { at, button, .. } => {
                self.move_if_needed(ticks, origin, *at);
                ticks.pointer(Action::PointerUp {
                    button: button_number(*button),
                });
            }
            InputStep::Wheel {
                at,
                delta_x,
                delta_y,
                ..
            } => {
                let at = origin.inside(*at);
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

    fn move_to(&self, ticks: &mut Ticks, origin: &dyn ActionsOrigin, to: Point) {
        self.state().pointer = Some(to);
        let Point { x, y } = origin.inside(to);
        ticks.pointer(Action::PointerMove { x, y });
    }

    /// Moves the pointer, unless it is at the position.
    fn move_if_needed(&self, ticks: &mut Ticks, origin: &dyn ActionsOrigin, at: Point) {
        let there = self.state().pointer;
        if there != Some(at) {
            self.move_to(ticks, origin, at);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn perform(origin: &dyn ActionsOrigin, ticks: &mut Ticks) -> Result<()> {
    let actions = std::mem::take(ticks).sources();
    if actions.is_empty() {
        return Ok(());
    }
    origin.perform(actions).await
}

/// <https://w3c.github.io/pointerevents/#the-button-property>
fn button_number(button: MouseButton) -> u8 {
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
