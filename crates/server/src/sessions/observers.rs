//! Observers of calls: they are called before a tool runs, before input at a point of the page, and after the tool has run. A session
//! without observers pays a check for each call.

use crate::calls::tool_spec::ToolSpec;
use async_trait::async_trait;
use engine::{InputObserver, Page, Point, Selector};
use serde_json::{Map, Value};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// An observer of the calls of a session. Its functions run in the turn of the call.
#[async_trait]
pub(crate) trait CallObserver: Send + Sync {
    /// Is called before the tool runs.
    async fn before_call(&self, call: &ObservedCall);
    /// Is called before the running tool sends input at a point of the main frame's viewport.
    async fn before_input(&self, page: &Page, at: Point);
    /// Is called after the tool has run.
    async fn after_call(&self, call: &ObservedCall, outcome: &CallOutcome);
    /// Is called instead of [`CallObserver::after_call`] if the call was cancelled or took too long.
    fn on_call_cancelled(&self, call: &ObservedCall);
}

/// A call.
#[derive(Debug, Clone)]
pub(crate) struct ObservedCall {
    /// The number of the call in the session, from 1.
    pub(crate) number: u64,
    /// The tool.
    pub(crate) tool: &'static ToolSpec,
    /// The arguments as the client sent them, which may contain passwords.
    pub(crate) arguments: Map<String, Value>,
    /// The current page of the call's context.
    pub(crate) page: Option<Page>,
    /// Whether the call is a step of the batch that is called at the same time.
    pub(crate) is_step: bool,
}

/// The outcome of a call.
#[derive(Debug)]
pub(crate) struct CallOutcome {
    /// The text of the error, if the call failed.
    pub(crate) error: Option<String>,
    /// The generated code, in the language of `--codegen`.
    pub(crate) code: Vec<String>,
    /// The generated locators of the targets.
    pub(crate) targets: Vec<Selector>,
    /// The current page of the call's context.
    pub(crate) page: Option<Page>,
}

/// The observers of the calls of a session and its contexts.
#[derive(Default)]
pub(crate) struct Observers {
    is_observed: AtomicBool,
    calls: AtomicU64,
    all: RwLock<Vec<Arc<dyn CallObserver>>>,
}

impl Observers {
    /// Returns whether there is an observer.
    pub(crate) fn is_observed(&self) -> bool {
        self.is_observed.load(Ordering::Relaxed)
    }

    /// Adds an observer of the calls from the next one on.
    pub(crate) fn add(&self, observer: Arc<dyn CallObserver>) {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        all.push(observer);
        self.is_observed.store(true, Ordering::Relaxed);
    }

    /// Removes an observer.
    pub(crate) fn remove(&self, observer: &Arc<dyn CallObserver>) {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        all.retain(|other| !Arc::ptr_eq(other, observer));
        self.is_observed.store(!all.is_empty(), Ordering::Relaxed);
    }

    /// Returns the number of the next observed call.
    pub(crate) fn next_number(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns all observers.
    pub(crate) fn all(&self) -> Vec<Arc<dyn CallObserver>> {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        all.clone()
    }
}

#[async_trait]
impl InputObserver for Observers {
    async fn before_input(&self, page: &Page, at: Point) {
        if self.is_observed() {
            for observer in self.all() {
                observer.before_input(page, at).await;
            }
        }
    }
}
