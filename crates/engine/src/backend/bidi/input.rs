//! Trusted input: one gesture, one command.

use super::keys;
use super::page::BidiPage;
use crate::backend::{FrameId, InputStep, MouseButton, Point};
use crate::error::{Error, Result};
use std::sync::{Mutex, MutexGuard, PoisonError};
use wire::bidi::input::{Action, PerformActions, Source};
use wire::bidi::script::{LocalValue, RemoteValue};

/// Steps that go out in one command.
const AT_ONCE: usize = 96;

/// What was left where: Firefox moves the pointer before it presses, and a button is let go of where it was pressed.
#[derive(Default)]
pub(super) struct Devices(Mutex<State>);

#[derive(Default)]
struct State {
    pointer: Option<Point>,
    ground: Option<Ground>,
    /// A drag that begins is taken.
    taking: bool,
    /// One was.
    dragging: bool,
}

/// The frame that input goes to, and where its viewport lies in the main one's. What is sent to the page itself does not reach a frame
/// of another process.
#[derive(Clone)]
struct Ground {
    frame: FrameId,
    left: f64,
    top: f64,
    scale_x: f64,
    scale_y: f64,
}

impl Ground {
    fn main(frame: &FrameId) -> Self {
        Self {
            frame: frame.clone(),
            left: 0.0,
            top: 0.0,
            scale_x: 1.0,
            scale_y: 1.0,
        }
    }

    fn inside(&self, point: Point) -> Point {
        Point {
            x: (point.x - self.left) / self.scale_x,
            y: (point.y - self.top) / self.scale_y,
        }
    }
}

/// What boxes of frames differ by that are drawn as they are.
const UNSCALED: f64 = 0.01;

/// The frame at a point, and where it lies.
const FRAME_AT: &str = "(x, y) => {
  let e = document.elementFromPoint(Number(x), Number(y));
  for (;;) {
    const inner = e?.shadowRoot?.elementFromPoint(Number(x), Number(y));
    if (!inner || inner === e) break;
    e = inner;
  }
  if (!e || !/^(iframe|frame|object|embed)$/.test(e.localName) || !e.contentWindow) return null;
  const box = e.getBoundingClientRect();
  const style = getComputedStyle(e);
  const scaleX = e.offsetWidth ? box.width / e.offsetWidth : 1;
  const scaleY = e.offsetHeight ? box.height / e.offsetHeight : 1;
  const left = box.x + (e.clientLeft + Number.parseFloat(style.paddingLeft)) * scaleX;
  const top = box.y + (e.clientTop + Number.parseFloat(style.paddingTop)) * scaleY;
  return [e.contentWindow, [left, top, scaleX, scaleY].join()];
}";

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
        let ground = self.ground(steps).await?;
        let mut ticks = Ticks::default();
        for step in steps {
            let drags = match step {
                InputStep::MouseMove { buttons, .. } => buttons.contains(&MouseButton::Left),
                InputStep::MouseUp { .. } => self.devices.state().taking,
                _ => false,
            };
            if drags {
                self.perform(&ground, &mut ticks).await?;
                self.add_while_dragging(&ground, &mut ticks, step).await?;
            } else {
                self.add(&mut ticks, &ground, step);
                if ticks.key.len() >= AT_ONCE {
                    self.perform(&ground, &mut ticks).await?;
                }
            }
        }
        self.perform(&ground, &mut ticks).await
    }

    async fn perform(&self, ground: &Ground, ticks: &mut Ticks) -> Result<()> {
        let actions = std::mem::take(ticks).sources();
        if !actions.is_empty() {
            self.root
                .call(&PerformActions {
                    context: ground.frame.as_str().to_owned(),
                    actions,
                })
                .await?;
        }
        Ok(())
    }

    /// Firefox begins a drag, and never ends it: so it is taken from the page and carried on by our own code.
    async fn add_while_dragging(
        &self,
        ground: &Ground,
        ticks: &mut Ticks,
        step: &InputStep,
    ) -> Result<()> {
        match step {
            InputStep::MouseMove { to, .. } => {
                if self.devices.state().dragging {
                    return self.drag(ground, "dragTo", *to).await.map(drop);
                }
                let first = !std::mem::replace(&mut self.devices.state().taking, true);
                if first {
                    self.drag(ground, "takeDrag", *to).await?;
                }
                self.add(ticks, ground, step);
                self.perform(ground, ticks).await?;
                if self.drag(ground, "dragTaken", *to).await? {
                    self.devices.state().dragging = true;
                    self.drag(ground, "dragTo", *to).await?;
                }
            }
            InputStep::MouseUp { at, .. } => {
                self.drag(ground, "dropDrag", *at).await?;
                let mut state = self.devices.state();
                (state.taking, state.dragging) = (false, false);
                drop(state);
                self.add(ticks, ground, step);
            }
            _ => self.add(ticks, ground, step),
        }
        Ok(())
    }

    /// Tells our code of a drag. A document that has gone drags nothing.
    async fn drag(&self, ground: &Ground, function: &str, at: Point) -> Result<bool> {
        let at = ground.inside(at);
        let point = serde_json::json!({ "x": at.x, "y": at.y });
        match self.call_core(&ground.frame, function, &point).await {
            Ok(answer) => Ok(answer == "true"),
            Err(Error::DocumentGone {}) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Where these steps belong: to the frame that their first point is in, or where a button is held.
    async fn ground(&self, steps: &[InputStep]) -> Result<Ground> {
        let first = steps.iter().find_map(|step| match step {
            InputStep::MouseMove { to, buttons, .. } => Some((*to, !buttons.is_empty())),
            InputStep::MouseDown { at, .. } | InputStep::Wheel { at, .. } => Some((*at, false)),
            InputStep::MouseUp { at, .. } => Some((*at, true)),
            _ => None,
        });
        let main = Ground::main(self.main());
        let Some((point, held)) = first.filter(|_| self.has_frames()) else {
            return Ok(main);
        };
        if held && let Some(ground) = self.devices.state().ground.clone() {
            return Ok(ground);
        }
        let mut ground = main;
        while let Some(inner) = self.frame_at(&ground, point).await? {
            ground = inner;
        }
        self.devices.state().ground = Some(ground.clone());
        Ok(ground)
    }

    /// The frame that lies at a point of the page, inside another one.
    async fn frame_at(&self, outer: &Ground, point: Point) -> Result<Option<Ground>> {
        let at = outer.inside(point);
        let arguments = [at.x, at.y].map(|length| LocalValue::string(length.to_string()));
        let found = match self
            .in_sandbox(&outer.frame, FRAME_AT, arguments.into())
            .await
        {
            // What is shown there can be pointed at all the same.
            Err(Error::DocumentGone {} | Error::Script { .. }) => return Ok(None),
            found => found?,
        };
        let Some((window, place)) = found.decode::<(RemoteValue, RemoteValue)>() else {
            return Ok(None);
        };
        let place: String = place.decode().unwrap_or_default();
        let numbers: Vec<f64> = place.split(',').filter_map(|n| n.parse().ok()).collect();
        let (Some(frame), [left, top, scale_x, scale_y]) = (window.window(), numbers.as_slice())
        else {
            return Ok(None);
        };
        // Firefox does not know the scale that a frame is drawn at; the page around it does.
        if (scale_x - 1.0).abs() > UNSCALED || (scale_y - 1.0).abs() > UNSCALED {
            return Ok(None);
        }
        Ok(Some(Ground {
            frame: FrameId::from(frame),
            left: outer.left + left * outer.scale_x,
            top: outer.top + top * outer.scale_y,
            scale_x: outer.scale_x * scale_x,
            scale_y: outer.scale_y * scale_y,
        }))
    }

    fn add(&self, ticks: &mut Ticks, ground: &Ground, step: &InputStep) {
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

    fn move_to(&self, ticks: &mut Ticks, ground: &Ground, to: Point) {
        self.devices.state().pointer = Some(to);
        let to = ground.inside(to);
        ticks.pointer(Action::PointerMove { x: to.x, y: to.y });
    }

    /// Moves there, unless the pointer is there already.
    fn reach(&self, ticks: &mut Ticks, ground: &Ground, at: Point) {
        let there = self.devices.state().pointer;
        if there != Some(at) {
            self.move_to(ticks, ground, at);
        }
    }
}

impl Devices {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
