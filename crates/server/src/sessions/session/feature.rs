//! The features of a session: what each does at the events of the browser context. The session does not know which features there are.

use super::{Session, Tabs};
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::error::Result;
use crate::files::Output;
use async_trait::async_trait;
use engine::Page;
use serde_json::Value;
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

/// A feature of a session. Each browser context has its own value, which keeps the state of the feature.
#[async_trait]
pub(crate) trait SessionFeature: Any + Send + Sync {
    /// Is called before the browser context opens. An error makes the call fail.
    async fn before_open(&self, _session: &Session) -> Result<()> {
        Ok(())
    }

    /// Is called when the browser context is open. An error makes the call fail.
    async fn opened(&self, _session: &Session, _tabs: &Arc<Tabs>) -> Result<()> {
        Ok(())
    }

    /// Is called before a call uses the current page.
    async fn before_use(&self, _call: &Call, _page: &Page) {}

    /// Is called after a tool has run. `acts`: the tool changes something.
    fn after_tool(&self, _session: &Session, _reply: &mut Reply, _acts: bool) {}

    /// Is called with the changes that an answer lists.
    fn after_changes(&self, _session: &Session, _changes: &[String]) {}

    /// Is called with the snapshot of a document that the last call opened.
    fn after_document(&self, _session: &Session, _snapshot: &str) {}

    /// Is called at the end of a call with its arguments, if the settings request a record of calls.
    fn after_call(
        &self,
        _output: &Output,
        _tool: &str,
        _arguments: &Value,
        _answer: &Answered<'_>,
    ) {
    }

    /// Is called before the browser context closes. Features are called in the reverse order.
    async fn closing(&self, _session: &Session) {}

    /// Is called when the browser context is closed or lost.
    fn closed(&self) {}
}

/// The answer to a call.
pub(crate) struct Answered<'a> {
    /// The text, in sections.
    pub(crate) text: &'a str,
    /// Whether it is an error.
    pub(crate) is_error: bool,
    /// The media types of the images.
    pub(crate) images: Vec<&'a str>,
}

/// Creates the features of a browser context.
pub(crate) type NewFeatures = fn() -> Vec<Arc<dyn SessionFeature>>;

/// The features of a browser context.
pub(super) struct Features {
    pub(super) new: NewFeatures,
    all: Mutex<Vec<Arc<dyn SessionFeature>>>,
}

impl Features {
    pub(super) fn new(new: NewFeatures) -> Self {
        Self {
            new,
            all: Mutex::new(new()),
        }
    }

    /// Returns the features in the order in which they are called.
    pub(super) fn all(&self) -> Vec<Arc<dyn SessionFeature>> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.clone()
    }

    /// Returns a feature by its type. One that is missing is added.
    pub(super) fn get<T: SessionFeature + Default>(&self) -> Arc<T> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().find_map(|feature| {
            let feature: Arc<dyn Any + Send + Sync> = feature.clone();
            feature.downcast().ok()
        });
        found.unwrap_or_else(|| {
            let added = Arc::<T>::default();
            all.push(added.clone());
            added
        })
    }

    /// Calls [`SessionFeature::closed`] of each feature.
    pub(super) fn close(&self) {
        for feature in self.all() {
            feature.closed();
        }
    }
}
