//! The session of one browser, and the window and the frame that it is switched to.

use crate::error::Error;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, MutexGuard, OwnedMutexGuard, oneshot};
use tracing::Instrument as _;
use wire::webdriver::element::Element;
use wire::webdriver::script::ExecuteScript;
use wire::webdriver::session::GetTimeouts;
use wire::webdriver::window::{FrameReference, GetWindowHandles, SwitchToFrame, SwitchToWindow};
use wire::webdriver::{Prepared, RawResponse, WebDriverCommand, WebDriverSession, error};

/// How long a script may run before other commands may switch to another window.
const SCRIPT_GRACE_TIMEOUT: Duration = Duration::from_millis(25);
/// How long a switch may take after its caller was dropped. A page that does not respond may not answer.
const DROPPED_SWITCH_TIMEOUT: Duration = Duration::from_secs(2);
/// The number of bytes that a driver reads at once.
const READ_BUFFER_SIZE: usize = 4096;

/// A session. Dropping it does not delete the session.
#[derive(Clone)]
pub(super) struct Driver {
    session: WebDriverSession,
    focus: Arc<Mutex<Focus>>,
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

/// When other commands may switch to another frame.
#[derive(Clone, Copy, PartialEq)]
enum Release {
    /// After the response, or after the driver has read the command if the caller was dropped.
    OnResponse,
    /// After the driver has read the command.
    OnceRead,
}

impl Driver {
    pub(super) fn new(session: WebDriverSession) -> Self {
        Self {
            session,
            focus: Arc::default(),
        }
    }

    /// Sends a command that concerns no window.
    pub(super) async fn call<C: WebDriverCommand>(&self, command: &C) -> wire::Result<C::Response> {
        let response = self.session.prepare(command).response;
        checked(self.session.clone(), response).await?.read()
    }

    /// Sends a command to a window and a frame. No other command may switch to another one until the answer.
    pub(super) async fn at<C: WebDriverCommand>(
        &self,
        target: &FrameTarget,
        command: &C,
    ) -> wire::Result<C::Response> {
        let focus = self.focus.clone().lock_owned().await;
        let prepared = self.session.prepare(command);
        self.dispatch(focus, target.clone(), prepared, Release::OnResponse)
            .await?
            .read()
    }

    /// Sends a command to a window, and to the frame of it that the session is switched to: switching would move the focus.
    pub(super) async fn in_window<C: WebDriverCommand>(
        &self,
        window: &str,
        command: &C,
    ) -> wire::Result<C::Response> {
        let focus = self.focus.clone().lock_owned().await;
        let mut target = FrameTarget::window(window);
        if focus.window == window {
            target.path.clone_from(&focus.path);
        }
        let prepared = self.session.prepare(command);
        self.dispatch(focus, target, prepared, Release::OnResponse)
            .await?
            .read()
    }

    /// Runs a script in a frame. Once it has begun, other commands may switch to other frames.
    pub(super) async fn run(
        &self,
        target: &FrameTarget,
        script: String,
        args: Vec<Value>,
    ) -> wire::Result<Box<RawValue>> {
        let command = ExecuteScript { script, args };
        let focus = self.focus.clone().lock_owned().await;
        let prepared = self.session.prepare(&command);
        self.dispatch(focus, target.clone(), prepared, Release::OnceRead)
            .await?
            .read()
    }

    /// Switches to a frame and sends it a command, in a task: a switch or a command that the driver has not read when its caller is dropped
    /// would otherwise take effect after the next switch, in another frame. It is compiled once and not for each command.
    fn dispatch(
        &self,
        mut focus: OwnedMutexGuard<Focus>,
        target: FrameTarget,
        prepared: Prepared,
        release: Release,
    ) -> BoxFuture<'static, wire::Result<RawResponse>> {
        let session = self.session.clone();
        let Prepared {
            name,
            written,
            size,
            response,
        } = prepared;
        let (mut caller, result) = oneshot::channel();
        let work = async move {
            let switched = tokio::select! {
                biased;
                switched = switch(&session, &mut focus, &target) => switched,
                () = async {
                    caller.closed().await;
                    tokio::time::sleep(DROPPED_SWITCH_TIMEOUT).await;
                } => return,
            };
            if let Err(error) = switched {
                let _ = caller.send(Err(error));
                return;
            }
            if caller.is_closed() {
                return;
            }
            let is_frame = !target.path.is_empty();
            let mut response = checked(session.clone(), response)
                .map(|response| response.map_err(|error| gone(error, is_frame)));
            let is_read = async {
                match release {
                    Release::OnResponse => caller.closed().await,
                    Release::OnceRead => tokio::time::sleep(SCRIPT_GRACE_TIMEOUT).await,
                }
                written.notified().await;
                // The driver reads commands in parallel, each in blocks: after as many answers to another command as the command has
                // blocks, and one more if it accepted a connection for it, it has read the command.
                for _ in 0..=1 + size / READ_BUFFER_SIZE {
                    let _ = session.call_concurrently(&GetTimeouts {}).await;
                }
                // WebKitWebDriver asks the browser for an open dialog before it sends a script to the current frame. The browser answers
                // in order.
                let _ = session.call_concurrently(&GetWindowHandles {}).await;
            };
            let early = tokio::select! {
                biased;
                response = &mut response => Some(response),
                () = is_read => None,
            };
            if is_frame && early.as_ref().is_some_and(Result::is_err) {
                // The frame may be gone.
                *focus = Focus::default();
            }
            drop(focus);
            let response = match early {
                Some(response) => response,
                None => tokio::select! {
                    biased;
                    response = response => response,
                    () = caller.closed() => return,
                },
            };
            let _ = caller.send(response);
        };
        task::spawn("command", work.in_current_span()).detach();
        let lost = move |_| {
            Err(wire::Error::Closed {
                reason: format!("{name}: the command was not completed"),
            })
        };
        result
            .map(move |result| result.unwrap_or_else(lost))
            .boxed()
    }

    /// Waits for pending commands except long scripts. No other command begins until the guard is dropped.
    pub(super) async fn wait_idle(&self) -> MutexGuard<'_, Focus> {
        self.focus.lock().await
    }

    /// Discards the recorded window and frame, because the window is gone or the session was switched.
    pub(super) async fn reset(&self) {
        *self.focus.lock().await = Focus::default();
    }
}

/// Returns the response to a command. An unknown error is also the error of a driver that lost its browser meanwhile: the next command shows
/// whether the session is gone.
fn checked(
    session: WebDriverSession,
    response: BoxFuture<'static, wire::Result<RawResponse>>,
) -> BoxFuture<'static, wire::Result<RawResponse>> {
    Box::pin(async move {
        match response.await {
            Err(failed) if is_unknown(&failed) => {
                match session.call_concurrently(&GetTimeouts {}).await {
                    Err(over) if !is_unknown(&over) => Err(over),
                    _ => Err(failed),
                }
            }
            answer => answer,
        }
    })
}

async fn switch(
    session: &WebDriverSession,
    focus: &mut Focus,
    target: &FrameTarget,
) -> wire::Result<()> {
    if focus.window == target.window && focus.path == target.path {
        return Ok(());
    }
    // If a step fails, the frame of the session is unknown.
    let before = std::mem::take(focus);
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

/// Returns the error of a command to a frame. "No such window" is the error of a removed frame, too; the window may be open.
fn gone(error: wire::Error, is_frame: bool) -> wire::Error {
    match error {
        wire::Error::Refused {
            method,
            error: name,
            message,
            stacktrace,
        } if is_frame && name == error::NO_SUCH_WINDOW => wire::Error::Refused {
            method,
            error: error::NO_SUCH_FRAME.to_owned(),
            message,
            stacktrace,
        },
        other => other,
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
