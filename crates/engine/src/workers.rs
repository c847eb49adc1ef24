//! The workers of a page: those that run, and the registrations of service workers.

use crate::backend::address::{is_of_origin, origin_of};
use crate::backend::{RunningWorker, WorkerId, WorkerKind};
use crate::error::{Error, Result};
use crate::page::Page;
use crate::progress::Progress;
use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// How long a service worker may take to say which registration it belongs to. A busy one does not answer.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);

/// Returns the registrations of the origin of a document.
/// <https://w3c.github.io/ServiceWorker/#navigator-service-worker-getRegistrations>
const REGISTRATIONS: &str = "async () => {
  const container = globalThis.isSecureContext ? navigator.serviceWorker : null;
  const registrations = (await container?.getRegistrations()) ?? [];
  return registrations.flatMap((it) => [it.active, it.waiting, it.installing]
    .filter(Boolean)
    .map((worker) => ({ scope: it.scope, url: worker.scriptURL, state: worker.state })));
}";

/// Returns which registration a service worker belongs to.
const OWN_REGISTRATION: &str = "() => ({ scope: registration.scope, url: serviceWorker.scriptURL, state: serviceWorker.state })";

/// A worker of a page, or a service worker of its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The name among the workers of the page, such as `w1`, if the browser reports that it runs.
    pub name: Option<String>,
    /// Its identifier, for [`Page::evaluate_in_worker`].
    pub id: Option<WorkerId>,
    /// Its kind.
    pub kind: WorkerKind,
    /// The URL of its script.
    pub url: Arc<str>,
    /// The registration of a service worker; `None` if it is busy.
    pub registration: Option<Registration>,
}

/// The registration of a service worker.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Registration {
    /// The URL of its scope.
    pub scope: String,
    /// The URL of the script.
    pub url: String,
    /// `installing`, `installed`, `activating`, `activated` or `redundant`.
    /// <https://w3c.github.io/ServiceWorker/#serviceworkerstate-section>
    pub state: String,
}

impl Page {
    /// Returns the workers of the page, and the shared and service workers of its origin: first those that run, as far as the browser reports
    /// them, then the other versions of registered service workers.
    pub async fn workers(&self, progress: &Progress) -> Result<Vec<Worker>> {
        let origin = origin_of(&self.url());
        let mut running = progress.run(self.backend.workers()).await?;
        running.retain(|it| it.kind == WorkerKind::Dedicated || is_of_origin(&it.url, &origin));
        // The order of the browser is arbitrary.
        running.sort_by(|one, other| (one.kind, &one.url).cmp(&(other.kind, &other.url)));
        let asked = running.iter().map(|worker| self.registration_of(worker));
        let registrations = join_all(asked).await;
        let mut workers: Vec<_> = running
            .into_iter()
            .zip(registrations)
            .map(|(worker, registration)| Worker {
                name: None,
                id: Some(worker.id),
                kind: worker.kind,
                url: worker.url,
                registration,
            })
            .filter(|worker| !self.release_if_redundant(worker))
            .collect();
        self.name_workers(&mut workers);
        let registered = self.evaluate(progress, REGISTRATIONS).await?;
        let registered = serde_json::from_value(registered.unwrap_or_default());
        let registered: Vec<Registration> =
            registered.map_err(|error| Error::protocol("getRegistrations", error))?;
        for registration in registered {
            let is_it = |worker: &Worker| match &worker.registration {
                Some(known) => *known == registration,
                None => worker.kind == WorkerKind::Service && *worker.url == registration.url,
            };
            if !workers.iter().any(is_it) {
                workers.push(Worker {
                    name: None,
                    id: None,
                    kind: WorkerKind::Service,
                    url: registration.url.as_str().into(),
                    registration: Some(registration),
                });
            }
        }
        Ok(workers)
    }

    /// Lets the browser stop a service worker that was replaced or unregistered. Returns whether it is one.
    fn release_if_redundant(&self, worker: &Worker) -> bool {
        let registration = worker.registration.as_ref();
        let is_redundant = registration.is_some_and(|it| it.state == "redundant");
        if let Some(id) = worker.id.as_ref().filter(|_| is_redundant) {
            self.backend.release_worker(id);
        }
        is_redundant
    }

    /// Gives each running worker its name.
    fn name_workers(&self, workers: &mut [Worker]) {
        let mut state = self.state();
        let names = &mut state.worker_names;
        names.retain(|id| workers.iter().any(|worker| worker.id.as_ref() == Some(id)));
        for worker in workers {
            worker.name = worker.id.as_ref().map(|id| names.name(id));
        }
    }

    async fn registration_of(&self, worker: &RunningWorker) -> Option<Registration> {
        if worker.kind != WorkerKind::Service {
            return None;
        }
        let asked = self
            .backend
            .evaluate_in_worker(&worker.id, OWN_REGISTRATION);
        let answer = tokio::time::timeout(ANSWER_TIMEOUT, asked).await.ok()?;
        serde_json::from_value(answer.ok()??).ok()
    }

    /// Runs an expression in a worker; a function is called, a promise awaited. `None` for `undefined`.
    pub async fn evaluate_in_worker(
        &self,
        progress: &Progress,
        worker: &WorkerId,
        expression: &str,
    ) -> Result<Option<Value>> {
        progress
            .run(self.backend.evaluate_in_worker(worker, expression))
            .await
    }

    /// Fetches the script of a registration again, and installs it if it has changed.
    /// <https://w3c.github.io/ServiceWorker/#service-worker-registration-update>
    pub async fn update_service_worker(&self, progress: &Progress, scope: &str) -> Result<()> {
        self.with_registration(progress, scope, "update").await
    }

    /// Removes a registration. Its worker serves the open documents until they are closed or reloaded.
    /// <https://w3c.github.io/ServiceWorker/#navigator-service-worker-unregister>
    pub async fn unregister_service_worker(&self, progress: &Progress, scope: &str) -> Result<()> {
        self.with_registration(progress, scope, "unregister").await
    }

    async fn with_registration(
        &self,
        progress: &Progress,
        scope: &str,
        method: &str,
    ) -> Result<()> {
        let scope = json!(scope);
        let script = format!(
            "async () => {{
  const registrations = await navigator.serviceWorker.getRegistrations();
  const registration = registrations.find((it) => it.scope === {scope});
  if (!registration) throw new Error('There is no registration with the scope ' + {scope});
  await registration.{method}();
}}"
        );
        self.evaluate(progress, &script).await.map(drop)
    }
}
