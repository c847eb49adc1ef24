//! What a context and its pages share.

use super::capabilities;
use super::downloads::Downloads;
use super::driver::{Driver, page_error};
use super::inspector::InspectorLink;
use crate::backend::{Capabilities, ContextOptions, PageId};
use crate::error::{Error, Result};
use crate::launch::source::FileStager;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wire::webdriver::window::GetWindowHandles;

/// URLs that are remembered.
const MAX_RECORDED_URLS: usize = 200;

pub(super) struct ContextParts {
    pub(super) driver: Driver,
    pub(super) inspector: Option<InspectorLink>,
    pub(super) options: Mutex<ContextOptions>,
    pub(super) files: FileStager,
    pub(super) downloads: Arc<Downloads>,
    /// Before whatever our hooks say on the console.
    pub(super) token: String,
    pub(super) usage: Mutex<Usage>,
}

/// What the pages were used for.
#[derive(Default)]
pub(super) struct Usage {
    /// What was requested, without queries.
    urls: Vec<String>,
    last_used: Option<PageId>,
    /// The page that mouse and keys were last used in.
    has_devices: Option<PageId>,
}

impl ContextParts {
    pub(super) fn options(&self) -> MutexGuard<'_, ContextOptions> {
        self.options.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn capabilities(&self) -> &'static Capabilities {
        capabilities(self.inspector.is_some())
    }

    /// The inspector, for what only a browser with one can be asked.
    pub(super) fn inspector(&self) -> Result<&InspectorLink> {
        self.inspector.as_ref().ok_or(Error::PageClosed {})
    }

    /// Whether requests of every page are paused.
    pub(super) fn intercepts_all(&self) -> bool {
        let options = self.options();
        options.offline || !options.routes.is_empty()
    }

    /// The handles of all windows that the browser has, known ones or not.
    pub(super) async fn window_handles(&self) -> Result<Vec<String>> {
        let handles = self.driver.call(&GetWindowHandles {}).await;
        handles.map_err(page_error)
    }

    /// A page requests something; its cookies may be there.
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

    /// A page is used now; what opens next is likely its.
    pub(super) fn set_last_used(&self, page: &PageId) {
        self.usage().last_used = Some(page.clone());
    }

    pub(super) fn last_used(&self) -> Option<PageId> {
        self.usage().last_used.clone()
    }

    /// Mouse and keys are a page's now; whether they were another's.
    pub(super) fn acquire_input(&self, page: &PageId) -> bool {
        let before = self.usage().has_devices.replace(page.clone());
        before.is_some_and(|before| before != *page)
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
