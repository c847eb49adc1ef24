//! The session of one browser, and the window and the frame that it is switched to.

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

/// How long a script may run before other commands may switch to another window.
const SCRIPT_GRACE_TIMEOUT: Duration = Duration::from_millis(25);
/// The number of bytes that a driver reads at once.
const READ_BUFFER_SIZE: usize = 4096;

/// A session. Dropping it does not delete the session.
pub(super) struct Driver {
    session: WebDriverSession,
    focus: Mutex<Focus>,
}

/// The window and the frame that commands go to.
#[derive(Default)]
pub(super) struct Focus {
    window: String,
    /// The owner elements on the path to the frame.
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

    /// Sends a command that concerns no window.
    pub(super) async fn call<C: WebDriverCommand>(&self, command: &C) -> wire::Result<C::Response> {
        self.send(command).await
    }

    /// Sends a command to a window and a frame. No other command may switch to another one until the answer.
    pub(super) async fn at<C: WebDriverCommand>(
        &self,
        target: &FrameTarget,
        command: &C,
    ) -> wire::Result<C::Response> {
        let mut focus = self.focus.lock().await;
        self.switch(&mut focus, target).await?;
        self.send(command).await
    }

    /// Sends a command to a window, and to the frame of it that the session is switched to: switching would move the focus.
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

    /// Runs a script in a frame. Once it has begun, other commands may switch to other frames.
    pub(super) async fn run(
        &self,
        target: &FrameTarget,
        script: String,
        args: Vec<Value>,
    ) -> wire::Result<Box<RawValue>> {
        let command = ExecuteScript { script, args };
        let mut focus = self.focus.lock().await;
        self.switch(&mut focus, target).await?;
        let mut answer = std::pin::pin!(self.send(&command));
        if let Ok(answer) = tokio::time::timeout(SCRIPT_GRACE_TIMEOUT, &mut answer).await {
            return answer;
        }
        // The driver reads commands in parallel, each in blocks: after as many answers to another command as the script has blocks, it
        // has read the script.
        for _ in 0..=command.script.len() / READ_BUFFER_SIZE {
            tokio::select! {
                biased;
                answer = &mut answer => return answer,
                _ = self.session.call_concurrently(&GetTimeouts {}) => {}
            }
        }
        drop(focus);
        answer.await
    }

    async fn send<C: WebDriverCommand>(&self, command: &C) -> wire::Result<C::Response> {
        match self.session.call_concurrently(command).await {
            // This is also the error of a driver that lost its browser meanwhile; the next command shows whether the session is gone.
            Err(failed) if is_unknown(&failed) => {
                match self.session.call_concurrently(&GetTimeouts {}).await {
                    Err(over) if !is_unknown(&over) => Err(over),
                    _ => Err(failed),
                }
            }
            answer => answer,
        }
    }

    /// Waits for pending commands except long scripts. No other command begins until the guard is dropped.
    pub(super) async fn wait_idle(&self) -> MutexGuard<'_, Focus> {
        self.focus.lock().await
    }

    /// Discards the recorded window and frame, because the window is gone or the session was switched.
    pub(super) async fn reset(&self) {
        *self.focus.lock().await = Focus::default();
    }

    async fn switch(&self, focus: &mut Focus, target: &FrameTarget) -> wire::Result<()> {
        if focus.window == target.window && focus.path == target.path {
            return Ok(());
        }
        // If a step fails, the frame of the session is unknown.
        let before = std::mem::take(focus);
        let session = &self.session;
        if before.window != target.window {
            let handle = target.window.clone();
            session
                .call_concurrently(&SwitchToWindow { handle })
                .await?;
        }
        let is_below = before.window == target.window && target.path.starts_with(&before.path);
        let mut steps = target.path.as_slice();
        if is_below {
            steps = &steps[before.path.len()..];
        } else if before.window == target.window {
            let id = FrameReference::Top;
            session.call_concurrently(&SwitchToFrame { id }).await?;
        }
        for owner in steps {
            let id = FrameReference::Owner(owner.clone());
            session.call_concurrently(&SwitchToFrame { id }).await?;
        }
        *focus = Focus {
            window: target.window.clone(),
            path: target.path.clone(),
        };
        Ok(())
    }
}

fn is_unknown(failed: &wire::Error) -> bool {
    matches!(failed, wire::Error::Refused { error: name, .. } if name == error::UNKNOWN_ERROR)
}

/// Returns the error of a page for an error of its driver.
pub(super) fn page_error(refused: wire::Error) -> Error {
    match refused {
        wire::Error::Refused {
            error: name,
            message,
            ..
        } if name == error::INVALID_SESSION_ID => Error::BrowserClosed { reason: message },
        wire::Error::Connect { cause, .. } => Error::BrowserClosed {
            reason: cause.to_string(),
        },
        wire::Error::Refused {
            error: ref name, ..
        } => match &**name {
            error::NO_SUCH_WINDOW => Error::PageClosed {},
            error::UNEXPECTED_ALERT_OPEN => Error::DialogOpen {},
            error::NO_SUCH_FRAME | error::STALE_ELEMENT_REFERENCE => Error::DocumentGone {},
            _ => refused.into(),
        },
        other => other.into(),
    }
}
