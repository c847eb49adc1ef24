//! A utility page, which opens an origin without sending a request and is not reported.

use crate::backend::OriginDocuments;
use crate::backend::withheld::Withheld;
use crate::error::{Error, NetError, Result};
use async_trait::async_trait;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wire::Session;
use wire::bidi::browsing_context::{self, Info, ReadinessState};
use wire::bidi::{network, script};

/// The utility pages of a context, and the pages that appear while one is being created.
#[derive(Default)]
pub(super) struct UtilityPages {
    pages: Mutex<HashSet<String>>,
    withheld: Withheld<Info>,
}

impl UtilityPages {
    /// Starts to withhold pages, because one of them may be a utility page.
    pub(super) fn expect(&self) {
        self.withheld.begin();
    }

    /// Stops withholding. Returns the withheld pages; `created` is recorded as a utility page.
    pub(super) fn take_appeared(&self, created: Option<&String>) -> Vec<Info> {
        self.pages().extend(created.cloned());
        self.withheld.end()
    }

    /// Withholds a page that appeared. Returns whether it was withheld.
    pub(super) fn withhold(&self, info: &Info) -> bool {
        info.original_opener.is_none() && self.withheld.withhold(info.clone()).is_none()
    }

    /// Whether a page is a utility page.
    pub(super) fn contains(&self, context: &str) -> bool {
        self.pages().contains(context)
    }

    /// Removes a withheld page that is to be closed.
    pub(super) fn remove_appeared(&self, context: &str) {
        self.withheld.retain(|info| info.context != context);
    }

    fn pages(&self) -> MutexGuard<'_, HashSet<String>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A utility page, which is closed when it is dropped.
pub(super) struct UtilityPage {
    root: Session,
    all: Arc<UtilityPages>,
    context: String,
    intercept: Option<String>,
}

impl UtilityPage {
    /// Prepares a page that was just created. The page is closed if that fails.
    pub(super) async fn open(
        root: Session,
        all: Arc<UtilityPages>,
        context: String,
    ) -> Result<Self> {
        let mut page = Self {
            root,
            all,
            context,
            intercept: None,
        };
        let intercepted = page
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

#[async_trait]
impl OriginDocuments for UtilityPage {
    async fn run(&mut self, origin: &str, expression: String) -> Result<String> {
        let visited = self.root.send(&browsing_context::Navigate {
            context: self.context.clone(),
            url: format!("{origin}/"),
            wait: ReadinessState::Interactive,
        });
        visited.await.map_err(|error| Error::NavigationFailed {
            url: origin.to_owned(),
            reason: NetError::Other(error.to_string()),
        })?;
        let answer = self
            .root
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
            self.root.post(&network::RemoveIntercept { intercept });
        }
        self.root.post(&browsing_context::Close {
            context: self.context.clone(),
            prompt_unload: Some(false),
        });
        self.all.pages().remove(&self.context);
    }
}

/// Fulfills a request of a utility page with an empty document.
pub(super) fn answer(root: &Session, request: String) {
    root.post(&network::ProvideResponse {
        request,
        status_code: Some(200),
        reason_phrase: Some("OK".to_owned()),
        headers: Some(vec![network::Header {
            name: "content-type".to_owned(),
            value: network::BytesValue::String("text/html".to_owned()),
        }]),
        body: Some(network::BytesValue::String("<!doctype html>".to_owned())),
    });
}
