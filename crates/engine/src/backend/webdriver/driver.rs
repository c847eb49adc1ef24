//! The session of one browser: which window and frame commands go to, and how long nobody else may change that.

use crate::error::Error;
use serde_json::Value;
use serde_json::value::RawValue;
use std::time::Duration;
use tokio::sync::{Mutex, MutexGuard};
use wire::webdriver::element::Element;
use wire::webdriver::script::ExecuteScript;
use wire::webdriver::session::GetTimeouts;
use wire::webdriver::window::{FrameReference, SwitchToFrame, SwitchToWindow};
use wire::webdriver::{WebDriverCommand, WebDriverSession, error};

/// How long a script may run before others may switch to another window.
const SCRIPT_GRACE_TIMEOUT: Duration = Duration::from_millis(25);
/// What a driver reads at once.
const READ_BUFFER_SIZE: usize = 4096;

/// A session, and where it is. Dropping it leaves the session to its process.
pub(super) struct Driver {
    session: WebDriverSession,
    focus: Mutex<Focus>,
}

/// Where commands go now.
#[derive(Default)]
pub(super) struct Focus {
    window: String,
    /// The elements that hold the frame, from the main one on.
    path: Vec<Element>,
}

/// A window and a frame in it.
#[derive(Debug, Clone)]
pub(super) struct FrameTarget {
    pub(super) window: String,
    pub(super) path: Vec<Element>,
}

impl FrameTarget {
    /// The main frame of a window.
    pub(super) fn window(handle: impl Into<String>) -> Self {
        Self {
            window: handle.into(),
            path: Vec::new(),
        }
    }
}

impl Driver {
    pub(super) fn new(session: WebDriverSession) -> Self {
        Self {
            session,
            focus: Mutex::default(),
        }
    }

    /// Sends a command that is about no window.
    pub(super) async fn call<C: WebDriverCommand>(&self, command: &C) -> wire::Result<C::Response> {
        self.send(command).await
    }

    /// Sends a command to a window and a frame, and lets nobody switch to another one until it is answered.
    pub(super) async fn at<C: WebDriverCommand>(
        &self,
        place: &FrameTarget,
        command: &C,
    ) -> wire::Result<C::Response> {
        let mut focus = self.focus.lock().await;
        self.switch(&mut focus, place).await?;
        self.send(command).await
    }

    /// Sends a command to a window, whichever frame of it is at hand: it stays where it is, and so does the focus.
    pub(super) async fn in_window<C: WebDriverCommand>(
        &self,
        window: &str,
        command: &C,
    ) -> wire::Result<C::Response> {
        let mut focus = self.focus.lock().await;
        if focus.window != window {
            self.switch(&mut focus, &FrameTarget::window(window))
                .await?;
        }
        self.send(command).await
    }

    /// Runs a script in a frame. Others may go elsewhere while it waits for something, once it has begun.
    pub(super) async fn run(
        &self,
        place: &FrameTarget,
        script: String,
        args: Vec<Value>,
    ) -> wire::Result<Box<RawValue>> {
        let command = ExecuteScript { script, args };
        let mut focus = self.focus.lock().await;
        self.switch(&mut focus, place).await?;
        let mut asked = std::pin::pin!(self.send(&command));
        if let Ok(answer) = tokio::time::timeout(SCRIPT_GRACE_TIMEOUT, &mut asked).await {
            return answer;
        }
        // The driver takes what arrives in order, so many bytes of each command at a time: after as many answers it has begun.
        for _ in 0..=command.script.len() / READ_BUFFER_SIZE {
            tokio::select! {
                biased;
                answer = &mut asked => return answer,
                _ = self.session.call_concurrently(&GetTimeouts {}) => {}
            }
        }
        drop(focus);
        asked.await
    }

    async fn send<C: WebDriverCommand>(&self, command: &C) -> wire::Result<C::Response> {
        match self.session.call_concurrently(command).await {
            // A driver that loses its browser meanwhile says no more than this; of the session it knows that it is over.
            Err(failed) if is_unknown(&failed) => {
                match self.session.call_concurrently(&GetTimeouts {}).await {
                    Err(over) if !is_unknown(&over) => Err(over),
                    _ => Err(failed),
                }
            }
            answer => answer,
        }
    }

    /// Waits for what is under way but for scripts that take long; nothing else begins until the answer is dropped.
    pub(super) async fn wait_idle(&self) -> MutexGuard<'_, Focus> {
        self.focus.lock().await
    }

    /// The window has gone, or another one is in its place.
    pub(super) async fn forget(&self) {
        *self.focus.lock().await = Focus::default();
    }

    async fn switch(&self, focus: &mut Focus, place: &FrameTarget) -> wire::Result<()> {
        if focus.window == place.window && focus.path == place.path {
            return Ok(());
        }
        // Whatever fails on the way, we are not where we were.
        let before = std::mem::take(focus);
        if before.window != place.window {
            self.session
                .call_concurrently(&SwitchToWindow {
                    handle: place.window.clone(),
                })
                .await?;
        }
        let known = before.window == place.window && place.path.starts_with(&before.path);
        let mut steps = place.path.as_slice();
        if known {
            steps = &steps[before.path.len()..];
        } else if before.window == place.window {
            self.session
                .call_concurrently(&SwitchToFrame {
                    id: FrameReference::Top,
                })
                .await?;
        }
        for owner in steps {
            self.session
                .call_concurrently(&SwitchToFrame {
                    id: FrameReference::Owner(owner.clone()),
                })
                .await?;
        }
        *focus = Focus {
            window: place.window.clone(),
            path: place.path.clone(),
        };
        Ok(())
    }
}

fn is_unknown(failed: &wire::Error) -> bool {
    matches!(failed, wire::Error::Refused { error: name, .. } if name == error::UNKNOWN_ERROR)
}

/// What it means for a page that its driver refused something.
pub(super) fn page_error(refused: wire::Error) -> Error {
    match refused {
        wire::Error::Refused { error: name, .. } if name == error::NO_SUCH_WINDOW => {
            Error::PageClosed {}
        }
        wire::Error::Refused { error: name, .. } if name == error::UNEXPECTED_ALERT_OPEN => {
            Error::DialogOpen {}
        }
        wire::Error::Refused { error: name, .. }
            if name == error::NO_SUCH_FRAME || name == error::STALE_ELEMENT_REFERENCE =>
        {
            Error::DocumentGone {}
        }
        wire::Error::Refused {
            error: name,
            message,
            ..
        } if name == error::INVALID_SESSION_ID => Error::BrowserClosed { reason: message },
        wire::Error::Connect { cause, .. } => Error::BrowserClosed {
            reason: cause.to_string(),
        },
        other => other.into(),
    }
}
