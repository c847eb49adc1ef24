//! A page of our own beside the user's: it visits an origin without a request leaving the browser, and is told to nobody.

use super::context::BidiContext;
use crate::backend::OriginDocuments;
use crate::error::{Error, Result};
use crate::task;
use async_trait::async_trait;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use wire::Session;
use wire::bidi::browsing_context::{self, CreateType, Info, ReadinessState};
use wire::bidi::{network, script};

/// Pages that appear while a page of our own is on its way: one of them is it.
#[derive(Default)]
pub(super) struct PendingTargets(Mutex<PendingTargetsState>, watch::Sender<u64>);

#[derive(Default)]
struct PendingTargetsState {
    expected: bool,
    appeared: Vec<Info>,
    /// The pages that are ours.
    pages: Vec<String>,
}

impl PendingTargets {
    /// Whether a page that appeared is kept back.
    pub(super) fn withhold(&self, info: &Info) -> bool {
        let mut ours = self.state();
        let takes = ours.expected && info.original_opener.is_none();
        if takes {
            ours.appeared.push(info.clone());
        }
        takes
    }

    /// Whether a page is one of ours.
    pub(super) fn is_utility_page(&self, context: &str) -> bool {
        self.state().pages.iter().any(|page| page == context)
    }

    /// A page that was kept back is to be closed: nobody is told of it.
    pub(super) fn forget(&self, context: &str) {
        self.state().appeared.retain(|info| info.context != context);
    }

    pub(super) fn notify_changed(&self) {
        self.1.send_modify(|count| *count += 1);
    }

    fn state(&self) -> MutexGuard<'_, PendingTargetsState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The page; it closes when dropped.
pub(super) struct UtilityPage {
    owner: Arc<BidiContext>,
    context: String,
    intercept: Option<String>,
}

impl BidiContext {
    /// Opens a page of our own.
    pub(super) async fn utility_page(&self) -> Result<UtilityPage> {
        let context = self.itself.upgrade().ok_or(Error::PageClosed {})?;
        // Given up half-way, it could not be told from a page of the user's; so it is made to the end, and closed if nobody waits.
        let made = task::run_to_completion("utility page", context.create_utility_page()).await;
        made.unwrap_or(Err(Error::PageClosed {}))
    }

    async fn create_utility_page(self: Arc<Self>) -> Result<UtilityPage> {
        let _creating = self.creating.lock().await;
        self.withheld.state().expected = true;
        let created = self.create(CreateType::Tab).await;
        if created.is_ok() {
            // It was told of before it was answered for.
            self.root.flush().await?;
        }
        let appeared = {
            let mut ours = self.withheld.state();
            ours.expected = false;
            ours.pages.extend(created.as_ref().ok().cloned());
            std::mem::take(&mut ours.appeared)
        };
        let browser = self.browser()?;
        for info in appeared {
            if created.as_ref().ok() != Some(&info.context) {
                self.on_page_created(&browser, &info);
            }
        }
        // From here on it is closed, whatever comes.
        let mut page = UtilityPage {
            context: created?,
            intercept: None,
            owner: self.clone(),
        };
        let intercepted = self
            .root
            .call(&network::AddIntercept {
                phases: vec![network::InterceptPhase::BeforeRequestSent],
                contexts: Some(vec![page.context.clone()]),
            })
            .await?;
        page.intercept = Some(intercepted.intercept);
        Ok(page)
    }
}

impl UtilityPage {
    fn root(&self) -> &Session {
        &self.owner.root
    }
}

#[async_trait]
impl OriginDocuments for UtilityPage {
    async fn run(&mut self, origin: &str, expression: String) -> Result<String> {
        let visited = self.root().send(&browsing_context::Navigate {
            context: self.context.clone(),
            url: format!("{origin}/"),
            wait: ReadinessState::Interactive,
        });
        visited.await.map_err(|error| Error::NavigationFailed {
            url: origin.to_owned(),
            reason: error.to_string(),
        })?;
        let answer = self
            .root()
            .call(&script::Evaluate {
                expression,
                await_promise: true,
                target: script::Target {
                    context: self.context.clone(),
                    sandbox: None,
                },
            })
            .await?;
        if let Some(details) = answer.exception_details {
            return Err(Error::Script {
                message: super::console::exception(&details),
            });
        }
        Ok(answer.result.decode::<String>().unwrap_or_default())
    }
}

impl Drop for UtilityPage {
    fn drop(&mut self) {
        if let Some(intercept) = self.intercept.take() {
            drop(self.root().send(&network::RemoveIntercept { intercept }));
        }
        drop(self.root().send(&browsing_context::Close {
            context: self.context.clone(),
            prompt_unload: Some(false),
        }));
        let mut ours = self.owner.withheld.state();
        ours.pages.retain(|page| *page != self.context);
        drop(ours);
        self.owner.withheld.notify_changed();
    }
}

/// Answers a request of such a page: with nothing at all.
pub(super) fn answer(root: &Session, request: String) {
    drop(root.send(&network::ProvideResponse {
        request,
        status_code: Some(200),
        reason_phrase: Some("OK".to_owned()),
        headers: Some(vec![network::Header {
            name: "content-type".to_owned(),
            value: network::BytesValue::String("text/html".to_owned()),
        }]),
        body: Some(network::BytesValue::String("<!doctype html>".to_owned())),
    }));
}
