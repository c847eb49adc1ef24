//! Code of the client that drives pages: it runs in a JavaScript engine of its own, against an API like Playwright's, and reaches nothing
//! but the browser context and the files that tools may touch. What the API offers stands in `docs/run-code.md`.
//!
//! The engine has a thread (`runtime`), so that code which computes holds up nobody. What it asks for is done by one task (`host`),
//! which ends with the [`Script`].

mod context;
mod element;
mod facts;
mod failure;
mod host;
mod module;
mod page;
mod reference;
mod request;
mod route;
mod runtime;
mod url;

pub use reference::reference;
pub(crate) use route::ScriptRegistry;

use crate::files::FileAccess;
use crate::sessions::downloads::Downloads;
use engine::{BrowserContext, Page, Task};
use runtime::{Program, Stopped};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// Code that runs, or that still listens. Dropped, it ends.
pub(crate) struct Script {
    stop: Arc<AtomicBool>,
    outcome: Option<oneshot::Receiver<Outcome>>,
    over: watch::Receiver<bool>,
    _host: Task,
}

/// Where code runs, and how long things may take in it.
#[derive(Clone)]
pub(crate) struct ScriptContext {
    /// The context that it drives.
    pub(crate) context: BrowserContext,
    /// The page that it is given.
    pub(crate) page: Page,
    /// The files that it may name.
    pub(crate) files: FileAccess,
    /// The code of the same session.
    pub(crate) registry: ScriptRegistry,
    /// What became of downloads.
    pub(crate) downloads: Arc<Downloads>,
    /// How long an action may take, and how long the code may compute without waiting for anything.
    pub(crate) action: Duration,
    /// How long a navigation may take.
    pub(crate) navigation: Duration,
    /// How long anything may take whose time limit the code lifts.
    pub(crate) longest: Duration,
}

/// How code ended, and what it said until then.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// How it ended.
    pub(crate) end: End,
    /// Lines for the console, `[LOG] text`.
    pub(crate) printed: Vec<String>,
    /// Errors that nobody handled.
    pub(crate) unhandled: Vec<String>,
}

/// How code ended.
#[derive(Debug)]
pub(crate) enum End {
    /// With a value, as JSON; `None` for what JSON has no word for.
    Value(Option<String>),
    /// With an error, in words.
    Failed(String),
    /// It waits for a page that a dialog holds, which it does not answer.
    Dialog,
}

impl Script {
    /// Runs an expression whose value is a function; it is called with the page.
    pub(crate) fn function(code: String, setting: ScriptContext) -> Self {
        Self::start(Program::Function(code), setting)
    }

    /// Runs a module; its default export is called with `{ page }`.
    pub(crate) fn module(name: String, source: String, setting: ScriptContext) -> Self {
        Self::start(Program::Module { name, source }, setting)
    }

    fn start(program: Program, setting: ScriptContext) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let (tell, outcome) = oneshot::channel();
        let (end, over) = watch::channel(false);
        let work = host::serve(program, setting, stop.clone(), tell);
        let host = engine::spawn("script", async move {
            work.await;
            end.send_replace(true);
        });
        Self {
            stop,
            outcome: Some(outcome),
            over,
            _host: host,
        }
    }

    /// Waits until the code's function is over. Asked again, it has nothing to tell.
    pub(crate) async fn ended(&mut self) -> Outcome {
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

    /// Nothing of it runs or listens any more.
    pub(crate) fn is_over(&self) -> bool {
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
