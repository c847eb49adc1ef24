//! Runs client code that controls pages, in a separate JavaScript engine with an API like Playwright's. The code has access to its browser
//! context, and to the files and URLs that [`Access`] permits. `docs/run-code.md` lists the API.
//!
//! The engine has its own thread (`runtime`), so that computing code does not block others. One task (`host`) executes its requests, and
//! ends with the [`Script`].

mod access;
mod failure;
mod host;
mod module;
mod reference;
mod request;
mod runtime;
mod url;

pub use access::Access;
pub use host::ScriptRegistry;
pub use reference::reference;

use engine::{BrowserContext, Page};
use runtime::{Program, Stopped};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use task::Task;
use tokio::sync::{mpsc, oneshot, watch};

/// Client code that is running or listening, and is stopped when this is dropped.
pub struct Script {
    stop: Arc<AtomicBool>,
    outcome: Option<oneshot::Receiver<Outcome>>,
    over: watch::Receiver<bool>,
    paused: watch::Receiver<Option<Pause>>,
    resume: mpsc::UnboundedSender<Resume>,
    _host: Task,
}

/// The environment and timeouts of client code.
#[derive(Clone)]
pub struct ScriptContext {
    /// The browser context that the code controls.
    pub context: BrowserContext,
    /// The page that the function receives.
    pub page: Page,
    /// The files and URLs that the code may use.
    pub access: Arc<dyn Access>,
    /// The client code of the same session.
    pub registry: ScriptRegistry,
    /// The timeout of actions, and how long the code may compute without waiting.
    pub action: Duration,
    /// The timeout of navigations.
    pub navigation: Duration,
    /// The timeout of operations whose timeout the code disables.
    pub longest: Duration,
    /// Whether `page.pause()` pauses the code. Otherwise it has no effect.
    pub can_pause: bool,
}

/// Where code is paused.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Pause {
    /// The operation that has not begun, such as `locator.click`.
    pub title: String,
    /// The name of the code.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
}

/// Where resumed code pauses again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stops {
    /// Before the next operation.
    pub step: bool,
    /// Before the next operation of the code with this name.
    pub file: Option<String>,
    /// Only at this line.
    pub line: Option<u32>,
}

/// A request to resume code, with the receiver of its next outcome.
type Resume = (Stops, oneshot::Sender<Outcome>);

/// The result and the output of client code.
#[derive(Debug)]
pub struct Outcome {
    /// The result.
    pub end: End,
    /// The console lines, `[LOG] text`.
    pub printed: Vec<String>,
    /// The unhandled errors.
    pub unhandled: Vec<String>,
}

/// The result of client code.
#[derive(Debug)]
pub enum End {
    /// A value as JSON; `None` for a value that JSON cannot represent.
    Value(Option<String>),
    /// The message of an error.
    Failed(String),
    /// The code waits for a page that a dialog blocks, and has no handler for it.
    Dialog,
    /// The code is paused.
    Paused,
}

impl Script {
    /// Runs an expression whose value is a function, which receives the page. `name` is the name in stack traces and pauses.
    pub fn function(name: String, code: String, setting: ScriptContext) -> Self {
        Self::start(Program::Function { name, code }, setting)
    }

    /// Runs a module, whose default export receives `{ page }`.
    pub fn module(name: String, source: String, setting: ScriptContext) -> Self {
        Self::start(Program::Module { name, source }, setting)
    }

    fn start(program: Program, setting: ScriptContext) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let (tell, outcome) = oneshot::channel();
        let (end, over) = watch::channel(false);
        let (pause, paused) = watch::channel(None);
        let (resume, resumed) = mpsc::unbounded_channel();
        let pauses = host::Pauses::new(pause, resumed);
        let work = host::serve(program, setting, stop.clone(), tell, pauses);
        let host = task::spawn("script", async move {
            work.await;
            end.send_replace(true);
        });
        Self {
            stop,
            outcome: Some(outcome),
            over,
            paused,
            resume,
            _host: host,
        }
    }

    /// Waits for the end of the code's function. Later calls return an empty outcome.
    pub async fn ended(&mut self) -> Outcome {
        let outcome = match self.outcome.take() {
            Some(outcome) => outcome.await.ok(),
            None => None,
        };
        outcome.unwrap_or_else(|| Outcome {
            end: End::Failed("Error: the code was stopped".to_owned()),
            printed: Vec::new(),
            unhandled: Vec::new(),
        })
    }

    /// Returns where the code is paused, if it is.
    pub fn pause(&self) -> Option<Pause> {
        self.paused.borrow().clone()
    }

    /// Resumes paused code. [`Script::ended`] then waits for its end or its next pause.
    pub fn resume(&mut self, stops: Stops) {
        let (tell, outcome) = oneshot::channel();
        self.outcome = Some(outcome);
        // Without the host, the receiver reports that the code was stopped.
        let _ = self.resume.send((stops, tell));
    }

    /// Returns whether the code has no running or listening parts.
    pub fn is_over(&self) -> bool {
        *self.over.borrow()
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Stopped {
    fn reason(self) -> String {
        match self {
            Self::Computed(limit) => format!(
                "Error: the code computed for {} ms without waiting for anything, and was stopped",
                limit.as_millis()
            ),
            Self::Unwanted => "Error: the code was stopped".to_owned(),
        }
    }
}
