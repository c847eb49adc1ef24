//! Trusted input, in one write for each sequence.

use super::CdpPage;
use crate::backend::{Evaluation, Input, InputStep, Key, Modifier, MouseButton, Point};
use crate::changes::Changes;
use crate::error::Result;
use async_trait::async_trait;
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wire::Reply;
use wire::cdp::Empty;
use wire::cdp::input::{
    DispatchDragEvent, DispatchKeyEvent, DispatchMouseEvent, DragData, DragEventType, InsertText,
    KeyEventType, MouseButton as Button, MouseEventType, SetInterceptDrags,
};

/// The largest number of steps that are sent before the first one is acknowledged.
const MAX_PENDING_STEPS: usize = 96;
/// The longest time in which the browser reports the data of a drag that the page has started.
const DRAG_DATA_TIMEOUT: Duration = Duration::from_secs(2);

/// A native drag and drop that Playhouse intercepts. <https://chromedevtools.github.io/devtools-protocol/tot/Input/#method-setInterceptDrags>
#[derive(Default)]
pub(super) struct Drag {
    state: Mutex<DragState>,
    changed: Changes,
}

#[derive(Default)]
struct DragState {
    /// Whether a move with a pressed button can start a drag.
    listening: bool,
    data: Option<DragData>,
}

#[async_trait]
impl Input for CdpPage {
    fn inserts_text(&self) -> bool {
        true
    }

    // Steps that cannot start a drag are sent in one write, up to a limit.
    async fn input(&self, steps: &[InputStep]) -> Result<()> {
        let mut sent: Vec<Reply<Empty>> = Vec::new();
        for step in steps {
            let drags = match step {
                InputStep::MouseMove { buttons, .. } => buttons.contains(&MouseButton::Left),
                InputStep::MouseUp { .. } => self.drag.state().listening,
                _ => false,
            };
            if drags {
                acknowledged(&mut sent).await?;
                self.dispatch_while_dragging(step).await?;
            } else {
                sent.push(self.send_input(step));
                // Steps that were sent cannot be cancelled, and a slow page handles one at a time.
                if sent.len() == MAX_PENDING_STEPS {
                    acknowledged(&mut sent).await?;
                }
            }
        }
        acknowledged(&mut sent).await
    }
}

impl CdpPage {
    async fn dispatch_while_dragging(&self, step: &InputStep) -> Result<()> {
        match step {
            InputStep::MouseMove { to, modifiers, .. } => {
                if let Some(data) = self.drag.data() {
                    return self
                        .drag_event(DragEventType::DragOver, *to, data, modifiers)
                        .await;
                }
                let first = !std::mem::replace(&mut self.drag.state().listening, true);
                if first {
                    self.session
                        .call(&SetInterceptDrags { enabled: true })
                        .await?;
                    self.in_all_frames("watchDrag").await;
                }
                self.send_input(step).await?;
                let answers = self.in_all_frames("dragBegan").await;
                let begun = answers.iter().any(|answer| answer == "true");
                if begun && let Some(data) = self.drag.take_drag_data().await {
                    self.drag_event(DragEventType::DragEnter, *to, data.clone(), modifiers)
                        .await?;
                    self.drag_event(DragEventType::DragOver, *to, data, modifiers)
                        .await?;
                }
            }
            InputStep::MouseUp { at, modifiers, .. } => {
                let data = self.drag.data();
                *self.drag.state() = DragState::default();
                if let Some(data) = data {
                    self.drag_event(DragEventType::Drop, *at, data, modifiers)
                        .await?;
                }
                self.send_input(step).await?;
                self.session
                    .call(&SetInterceptDrags { enabled: false })
                    .await?;
            }
            _ => self.send_input(step).await.map(drop)?,
        }
        Ok(())
    }

    /// Calls a function of the injected script in each frame and returns the results as JSON. Frames that fail are left out.
    async fn in_all_frames(&self, function: &str) -> Vec<String> {
        let mut answers = Vec::new();
        for frame in self.all_frames() {
            if let Ok(answer) = self.call(&frame, function, &Value::Null).await {
                answers.push(answer);
            }
        }
        answers
    }

    async fn drag_event(
        &self,
        kind: DragEventType,
        at: Point,
        data: DragData,
        pressed: &[Modifier],
    ) -> Result<()> {
        self.session
            .call(&DispatchDragEvent {
                kind,
                x: at.x,
                y: at.y,
                data,
                modifiers: Some(bits(pressed)),
            })
            .await?;
        Ok(())
    }

    fn send_input(&self, step: &InputStep) -> Reply<Empty> {
        let session = &self.session;
        match step {
            InputStep::MouseMove {
                to,
                buttons,
                modifiers,
            } => session.send(&DispatchMouseEvent {
                button: Some(buttons.first().map_or(Button::None, |first| button(*first))),
                buttons: Some(button_bits(buttons)),
                ..mouse_event(MouseEventType::MouseMoved, *to, modifiers)
            }),
            InputStep::MouseDown {
                at,
                button: which,
                buttons,
                count,
                modifiers,
            } => session.send(&DispatchMouseEvent {
                button: Some(button(*which)),
                buttons: Some(button_bits(buttons)),
                click_count: Some(i64::from(*count)),
                ..mouse_event(MouseEventType::MousePressed, *at, modifiers)
            }),
            InputStep::MouseUp {
                at,
                button: which,
                buttons,
                count,
                modifiers,
            } => session.send(&DispatchMouseEvent {
                button: Some(button(*which)),
                buttons: Some(button_bits(buttons)),
                click_count: Some(i64::from(*count)),
                ..mouse_event(MouseEventType::MouseReleased, *at, modifiers)
            }),
            InputStep::Wheel {
                at,
                delta_x,
                delta_y,
                modifiers,
            } => session.send(&DispatchMouseEvent {
                delta_x: Some(*delta_x),
                delta_y: Some(*delta_y),
                ..mouse_event(MouseEventType::MouseWheel, *at, modifiers)
            }),
            InputStep::KeyDown {
                key,
                modifiers,
                repeat,
            } => session.send(&key_down(key, modifiers, *repeat)),
            InputStep::KeyUp { key, modifiers } => session.send(&DispatchKeyEvent {
                kind: KeyEventType::KeyUp,
                modifiers: Some(bits(modifiers)),
                key: Some(key.key.clone()),
                code: Some(key.code.clone()),
                windows_virtual_key_code: Some(i64::from(key.key_code)),
                location: Some(i64::from(key.location)),
                ..Default::default()
            }),
            InputStep::InsertText { text } => session.send(&InsertText { text: text.clone() }),
        }
    }
}

async fn acknowledged(sent: &mut Vec<Reply<Empty>>) -> Result<()> {
    for reply in sent.drain(..) {
        reply.await?;
    }
    Ok(())
}

fn mouse_event(kind: MouseEventType, at: Point, modifiers: &[Modifier]) -> DispatchMouseEvent {
    DispatchMouseEvent {
        kind,
        x: at.x,
        y: at.y,
        modifiers: Some(bits(modifiers)),
        ..Default::default()
    }
}

fn key_down(key: &Key, modifiers: &[Modifier], repeat: bool) -> DispatchKeyEvent {
    DispatchKeyEvent {
        kind: if key.text.is_some() {
            KeyEventType::KeyDown
        } else {
            KeyEventType::RawKeyDown
        },
        modifiers: Some(bits(modifiers)),
        text: key.text.clone(),
        unmodified_text: key.text.clone(),
        key: Some(key.key.clone()),
        code: Some(key.code.clone()),
        windows_virtual_key_code: Some(i64::from(key.key_code)),
        auto_repeat: Some(repeat),
        is_keypad: Some(key.location == 3),
        // Otherwise the browser reports 3, the numeric keypad, as the standard location.
        location: Some(i64::from(key.location)),
        ..Default::default()
    }
}

/// <https://chromedevtools.github.io/devtools-protocol/tot/Input/#method-dispatchKeyEvent>
fn bits(modifiers: &[Modifier]) -> i64 {
    modifiers
        .iter()
        .map(|modifier| match modifier {
            Modifier::Alt => 1,
            Modifier::Control => 2,
            Modifier::Meta => 4,
            Modifier::Shift => 8,
        })
        .fold(0, |bits, bit| bits | bit)
}

fn button_bits(buttons: &[MouseButton]) -> i64 {
    buttons
        .iter()
        .map(|button| match button {
            MouseButton::Left => 1,
            MouseButton::Right => 2,
            MouseButton::Middle => 4,
        })
        .fold(0, |bits, bit| bits | bit)
}

fn button(button: MouseButton) -> Button {
    match button {
        MouseButton::Left => Button::Left,
        MouseButton::Right => Button::Right,
        MouseButton::Middle => Button::Middle,
    }
}

impl Drag {
    pub(super) fn intercepted(&self, data: DragData) {
        self.state().data = Some(data);
        self.changed.notify();
    }

    fn data(&self) -> Option<DragData> {
        self.state().data.clone()
    }

    /// Returns the data of a drag that the page has started; `None` if the browser does not report it.
    async fn take_drag_data(&self) -> Option<DragData> {
        let arrived = self.changed.wait(|| self.data());
        tokio::time::timeout(DRAG_DATA_TIMEOUT, arrived).await.ok()
    }

    fn state(&self) -> MutexGuard<'_, DragState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
