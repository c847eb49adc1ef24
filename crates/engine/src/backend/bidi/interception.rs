//! The switch of interception. There is one for the whole browser, because a new page must not send a request before its own is set.

use crate::error::{Error, Result};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use task::run_to_completion;
use wire::Session;
use wire::bidi::network::{AddIntercept, InterceptPhase, RemoveIntercept};

pub(super) struct InterceptionSwitch {
    root: Session,
    /// The contexts and pages that decide about requests.
    users: Mutex<HashSet<String>>,
    /// The identifier of the intercept, if there is one. Locked during a change.
    intercept: tokio::sync::Mutex<Option<String>>,
}

impl InterceptionSwitch {
    pub(super) fn new(root: Session) -> Self {
        Self {
            root,
            users: Mutex::default(),
            intercept: tokio::sync::Mutex::default(),
        }
    }

    /// Sets whether a context or a page decides about requests, and turns interception on if any does. A closed one does not.
    pub(super) async fn set(
        self: &Arc<Self>,
        user: &str,
        on: bool,
        is_open: impl FnOnce() -> bool,
    ) -> Result<()> {
        {
            // Checked under the lock, because a page is marked as closed before it is removed.
            let mut users = self.users();
            if on && is_open() {
                users.insert(user.to_owned());
            } else {
                users.remove(user);
            }
        }
        let switch = self.clone();
        // The change is completed even if the caller is dropped. Otherwise the state of the browser would be unknown.
        let applied = run_to_completion("interception", async move { switch.apply().await });
        applied.await.unwrap_or(Err(Error::PageClosed {}))
    }

    /// Removes a closed page. The next change of the switch applies it.
    pub(super) fn remove(&self, user: &str) {
        self.users().remove(user);
    }

    fn users(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn apply(&self) -> Result<()> {
        let mut active = self.intercept.lock().await;
        let is_needed = !self.users().is_empty();
        if is_needed == active.is_some() {
            return Ok(());
        }
        if let Some(intercept) = active.clone() {
            self.root.call(&RemoveIntercept { intercept }).await?;
            *active = None;
        } else {
            let added = self
                .root
                .call(&AddIntercept {
                    phases: vec![InterceptPhase::BeforeRequestSent],
                    contexts: None,
                })
                .await?;
            *active = Some(added.intercept);
        }
        Ok(())
    }
}
