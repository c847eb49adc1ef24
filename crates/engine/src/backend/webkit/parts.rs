//! What a context and its pages share.

use super::downloads::Downloads;
use super::input_sources::InputSources;
use super::targets::Targets;
use crate::backend::{ContextOptions, PageId};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use url::Url;

/// The number of recorded folders of a context.
const MAX_FOLDERS: usize = 200;

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
    /// The folders of the requested URLs, the last one that is new at the end.
    folders: VecDeque<Url>,
    /// The number of requests, scripts and actions.
    uses: u64,
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
        let mut usage = self.usage();
        usage.uses += 1;
        let folder = Url::parse(url).and_then(|url| url.join("."));
        let Some(folder) = folder.ok().filter(|url| url.scheme().starts_with("http")) else {
            return;
        };
        let folders = &mut usage.folders;
        if !folders
            .iter()
            .any(|known| has_the_cookies_of(known, &folder))
        {
            if folders.len() == MAX_FOLDERS {
                folders.pop_front();
            }
            folders.push_back(folder);
        }
    }

    /// Returns URLs of documents that have all cookies between them.
    pub(super) fn folders(&self) -> Vec<Url> {
        self.usage().folders.iter().cloned().collect()
    }

    /// Returns the number of requests, scripts and actions so far.
    pub(super) fn uses(&self) -> u64 {
        self.usage().uses
    }

    /// Records the page that is used now: it is the likely opener of the next popup.
    pub(super) fn set_last_used(&self, page: &PageId) {
        let mut usage = self.usage();
        usage.uses += 1;
        usage.last_used = Some(page.clone());
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

/// Whether documents at both URLs have the same cookies, which do not depend on the port. Each document that is saved may save a second on
/// a busy machine.
pub(super) fn has_the_cookies_of(one: &Url, other: &Url) -> bool {
    let of = |url: &Url| (url.scheme() == "https", url.path().to_owned());
    one.host() == other.host() && of(one) == of(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_depend_on_host_path_and_scheme_but_not_on_port() {
        let same = |one: &str, other: &str| {
            let parsed = |url: &str| Url::parse(url).expect("a URL");
            has_the_cookies_of(&parsed(one), &parsed(other))
        };
        assert!(same("http://a.test:8080/x/", "http://a.test/x/"));
        assert!(!same("http://a.test/x/", "http://b.test/x/"));
        assert!(!same("http://a.test/x/", "http://a.test/y/"));
        assert!(!same("http://a.test/x/", "https://a.test/x/"));
    }
}
