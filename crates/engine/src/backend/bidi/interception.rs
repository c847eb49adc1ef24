//! Whether requests are paused: one switch for the whole browser, because a page that opens must not send a request before it is set.

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
    /// The browser's name for the intercept while there is one; held while that changes.
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

    /// Sets whether a context or a page decides about requests, and pauses them if anything does. One that is closed decides about none.
    pub(super) async fn set(
        self: &Arc<Self>,
        user: &str,
        on: bool,
        is_open: impl FnOnce() -> bool,
    ) -> Result<()> {
        {
            // Checked under the lock: a page is marked as closed before it is removed.
            let mut users = self.users();
            if on && is_open() {
                users.insert(user.to_owned());
            } else {
                users.remove(user);
            }
        }
        let switch = self.clone();
        // To its end: cancelled half-way, it would be unknown what the browser does.
        let applied = run_to_completion("interception", async move { switch.apply().await });
        applied.await.unwrap_or(Err(Error::PageClosed {}))
    }

    /// Removes a page that is gone; the next change of the switch takes effect.
    pub(super) fn remove(&self, user: &str) {
        self.users().remove(user);
    }

    fn users(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn apply(&self) -> Result<()> {
        let mut active = self.intercept.lock().await;
        let wanted = !self.users().is_empty();
        if wanted == active.is_some() {
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
