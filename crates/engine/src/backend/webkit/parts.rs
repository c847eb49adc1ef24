//! What a context and its pages share.

use super::downloads::Downloads;
use super::input_sources::InputSources;
use super::targets::Targets;
use crate::backend::{ContextOptions, PageId};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of recorded URLs of a context.
const MAX_RECORDED_URLS: usize = 200;

pub(super) struct ContextParts {
    pub(super) targets: Targets,
    pub(super) options: Mutex<ContextOptions>,
    pub(super) downloads: Arc<Downloads>,
    /// The prefix of console messages that are reports of Playhouse's hooks.
    pub(super) token: String,
    pub(super) usage: Mutex<Usage>,
    /// Held while the browser performs input.
    pub(super) acting: Arc<tokio::sync::Mutex<()>>,
    /// The state of the input sources.
    pub(super) input: Mutex<InputSources>,
}

/// What the pages were used for.
#[derive(Default)]
pub(super) struct Usage {
    /// The requested URLs, without queries.
    urls: Vec<String>,
    last_used: Option<PageId>,
    /// The page that received the last mouse or key event.
    input_page: Option<PageId>,
}

impl ContextParts {
    pub(super) fn options(&self) -> MutexGuard<'_, ContextOptions> {
        self.options.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether requests of every page are paused: a route decides about them, or they may need credentials.
    pub(super) fn intercepts_all(&self) -> bool {
        let options = self.options();
        options.offline || !options.routes.is_empty() || options.http_credentials.is_some()
    }

    /// Records a requested URL, because the context may have cookies of it.
    pub(super) fn record_url(&self, url: &str) {
        let url = url.split(['?', '#']).next().unwrap_or(url);
        let urls = &mut self.usage().urls;
        let is_new = !urls.iter().any(|known| known == url);
        if url.starts_with("http") && is_new && urls.len() < MAX_RECORDED_URLS {
            urls.push(url.to_owned());
        }
    }

    pub(super) fn recorded_urls(&self) -> Vec<String> {
        self.usage().urls.clone()
    }

    /// Records the page that is used now: it is the likely opener of the next popup.
    pub(super) fn set_last_used(&self, page: &PageId) {
        self.usage().last_used = Some(page.clone());
    }

    pub(super) fn last_used(&self) -> Option<PageId> {
        self.usage().last_used.clone()
    }

    /// Records the page that mouse and keys are used in; returns whether another one had them before.
    pub(super) fn acquire_input(&self, page: &PageId) -> bool {
        let before = self.usage().input_page.replace(page.clone());
        before.is_some_and(|before| before != *page)
    }

    pub(super) fn input(&self) -> MutexGuard<'_, InputSources> {
        self.input.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
