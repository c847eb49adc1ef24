//! The workers of a page, and the shared and service workers of its context.

use super::evaluation::{exception_error, returned};
use super::events;
use super::setup;
use super::{CdpPage, ContextParts};
use crate::backend::expression::function_around;
use crate::backend::{
    ConsoleMessage, MessageKind, PageObserver, RequestEvent, RequestId, RequestingWorker,
    RunningWorker, SourceLocation, WorkerId, Workers,
};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wire::cdp::{runtime, target};
use wire::{RawEvent, Session};

/// The largest number of shared and service workers of a context that are observed. A browser does not stop a service worker that is
/// observed.
const MAX_WORKERS: usize = 20;

/// The shared and service workers of a context, oldest first. Each has the session of a page, and its requests and routes, but no documents.
#[derive(Default)]
pub(crate) struct ContextWorkers(Mutex<VecDeque<Arc<CdpPage>>>);

impl ContextWorkers {
    /// Prepares a worker that was attached, lets it run, and reports its console and its requests.
    pub(crate) fn add(
        &self,
        session: Session,
        worker: RunningWorker,
        parts: ContextParts,
        observer: Arc<dyn PageObserver>,
    ) {
        let taken = session
            .id()
            .and_then(|id| session.connection().take_events(id));
        // The worker has ended already.
        let Some(events) = taken else { return };
        let target = worker.id.as_str().to_owned();
        let page = Arc::new(CdpPage::new(session.clone(), &target, parts, Some(worker)));
        page.reporter.set_observer(observer);
        let listening = events::listen(Arc::downgrade(&page), events);
        // No other code sets it.
        let _ = page.reader.set(task::spawn("worker events", listening));
        setup::worker(&page, session);
        let surplus = {
            let mut all = self.lock();
            all.push_back(page);
            (all.len() > MAX_WORKERS).then(|| all.pop_front()).flatten()
        };
        if let Some(surplus) = surplus {
            surplus.detach();
        }
    }

    /// Removes a worker that has ended.
    pub(crate) fn remove(&self, session: &str) {
        self.lock().retain(|worker| !worker.is_session(session));
    }

    pub(crate) fn contains(&self, target: &str) -> bool {
        self.lock()
            .iter()
            .any(|worker| worker.id.as_str() == target)
    }

    /// Returns all workers.
    pub(crate) fn all(&self) -> Vec<Arc<CdpPage>> {
        self.lock().iter().cloned().collect()
    }

    /// Returns the session of a request of a worker.
    pub(super) fn session_that_sent(&self, request: &RequestId) -> Option<Session> {
        let all = self.all();
        all.iter()
            .find_map(|worker| worker.session_that_sent(request))
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<CdpPage>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CdpPage {
    pub(super) fn context_workers(&self) -> Arc<ContextWorkers> {
        self.context_workers.upgrade().unwrap_or_default()
    }

    /// Returns the worker of a session.
    fn worker_of(&self, session: Option<&Arc<str>>) -> Option<RunningWorker> {
        let state = self.state();
        match session.and_then(|id| state.children.get(id)) {
            Some(child) => child.worker.clone(),
            None => self.worker.clone(),
        }
    }

    /// Returns the event that names the worker whose session has sent a request.
    pub(super) fn sent_by_worker(
        &self,
        request: &RequestId,
        session: Option<&Arc<str>>,
    ) -> Option<RequestEvent> {
        let worker = self.worker_of(session)?;
        Some(RequestEvent::SentByWorker {
            id: request.clone(),
            worker: RequestingWorker {
                kind: worker.kind,
                url: worker.url,
            },
        })
    }

    /// Adds the URL of the worker to a message that has no position.
    pub(super) fn with_worker(
        &self,
        event: &RawEvent,
        mut message: ConsoleMessage,
    ) -> ConsoleMessage {
        let Some(worker) = self.worker_of(event.session.as_ref()) else {
            return message;
        };
        let place = message.location.get_or_insert_with(|| SourceLocation {
            url: worker.url.to_string(),
            ..SourceLocation::default()
        });
        // Only the stack of an error says where it was thrown.
        if message.kind == MessageKind::PageError && !message.text.contains("\n    at ") {
            message.text += &format!("\n    at {}:{}", place.url, place.line + 1);
        }
        message
    }

    fn detach(&self) {
        let root = self.session.connection().root();
        root.post(&target::DetachFromTarget {
            session_id: self.session.id().map(ToString::to_string),
        });
    }

    /// Returns the session of a running worker.
    fn worker_session(&self, worker: &WorkerId) -> Option<Session> {
        let children = self.children().into_iter();
        let mut own = children.filter_map(|child| Some((child.worker?.id, child.session)));
        if let Some((_, session)) = own.find(|(id, _)| id == worker) {
            return Some(session);
        }
        let all = self.context_workers().all();
        let shared = all.iter().find(|it| it.id.as_str() == worker.as_str());
        shared.map(|worker| worker.session.clone())
    }
}

#[async_trait]
impl Workers for CdpPage {
    async fn workers(&self) -> Result<Vec<RunningWorker>> {
        let own = self.children().into_iter().filter_map(|child| child.worker);
        let shared = self.context_workers().all().into_iter();
        let shared = shared.filter_map(|worker| worker.worker.clone());
        Ok(own.chain(shared).collect())
    }

    fn release_worker(&self, worker: &WorkerId) {
        let all = self.context_workers().all();
        if let Some(worker) = all.iter().find(|it| it.id.as_str() == worker.as_str()) {
            worker.detach();
        }
    }

    async fn evaluate_in_worker(
        &self,
        worker: &WorkerId,
        expression: &str,
    ) -> Result<Option<Value>> {
        let command = runtime::Evaluate {
            expression: format!("({})()", function_around("", expression)),
            await_promise: Some(true),
            return_by_value: Some(true),
            ..Default::default()
        };
        let ended = || Error::protocol("Runtime.evaluate", "the worker has ended");
        let session = self.worker_session(worker).ok_or_else(ended)?;
        let answer = session.call(&command).await.map_err(|error| match error {
            wire::Error::SessionClosed { .. } => ended(),
            error => error.into(),
        })?;
        exception_error(answer.exception_details)?;
        returned(answer.result).await
    }
}
