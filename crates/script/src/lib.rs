//! Runs code of the client that drives pages: in a JavaScript engine of its own, against an API like Playwright's. The code reaches its
//! browser context, and the files and URLs that [`Access`] permits. `docs/run-code.md` lists the API.
//!
//! The engine has a thread (`runtime`), so that code which computes holds up nobody. What it asks for is done by one task (`host`),
//! which ends with the [`Script`].

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
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use task::Task;
use tokio::sync::{oneshot, watch};

/// Code that runs, or that still listens. Dropped, it ends.
pub struct Script {
    stop: Arc<AtomicBool>,
    outcome: Option<oneshot::Receiver<Outcome>>,
    over: watch::Receiver<bool>,
    _host: Task,
}

/// Where code runs, and how long things may take in it.
#[derive(Clone)]
pub struct ScriptContext {
    /// The context that it drives.
    pub context: BrowserContext,
    /// The page that it is given.
    pub page: Page,
    /// The files and URLs that it may use.
    pub access: Arc<dyn Access>,
    /// The code of the same session.
    pub registry: ScriptRegistry,
    /// How long an action may take, and how long the code may compute without waiting for anything.
    pub action: Duration,
    /// How long a navigation may take.
    pub navigation: Duration,
    /// How long anything may take whose time limit the code lifts.
    pub longest: Duration,
}

/// How code ended, and what it said until then.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Lines for the console, `[LOG] text`.
    pub printed: Vec<String>,
    /// Errors that nobody handled.
    pub unhandled: Vec<String>,
}

/// How code ended.
#[derive(Debug)]
pub enum End {
    /// With a value, as JSON; `None` for what JSON has no word for.
    Value(Option<String>),
    /// With an error, in words.
    Failed(String),
    /// It waits for a page that a dialog holds, which it does not answer.
    Dialog,
}

impl Script {
    /// Runs an expression whose value is a function; it is called with the page.
    pub fn function(code: String, setting: ScriptContext) -> Self {
        Self::start(Program::Function(code), setting)
    }

    /// Runs a module; its default export is called with `{ page }`.
    pub fn module(name: String, source: String, setting: ScriptContext) -> Self {
        Self::start(Program::Module { name, source }, setting)
    }

    fn start(program: Program, setting: ScriptContext) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let (tell, outcome) = oneshot::channel();
        let (end, over) = watch::channel(false);
        let work = host::serve(program, setting, stop.clone(), tell);
        let host = task::spawn("script", async move {
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

    /// Nothing of it runs or listens any more.
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
