//! The state of a context that its pages use.

use super::network::Jar;
use crate::backend::{ContextOptions, Headers, PageId, Proxy};
use crate::routes::Routes;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Numbers the ids of all fake browsers.
static IDS: AtomicU64 = AtomicU64::new(1);

/// A page of a context.
pub(super) trait OpenPage: Send + Sync {
    fn id(&self) -> &PageId;
    /// Ends the page.
    fn end(&self);
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state of a context that its pages use.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) options: ContextOptions,
    pub(super) proxy: Option<Proxy>,
    pages: Mutex<Vec<Arc<dyn OpenPage>>>,
    jar: Mutex<Jar>,
    /// The `localStorage` of each origin, as a JSON object.
    storage: Mutex<HashMap<String, Value>>,
    pub(super) routes: Mutex<Routes>,
    pub(super) headers: Mutex<Headers>,
    pub(super) init_scripts: Mutex<Vec<String>>,
    pub(super) is_offline: AtomicBool,
}

impl Shared {
    pub(super) fn new(options: &ContextOptions, proxy: Option<Proxy>) -> Self {
        Self {
            proxy,
            is_offline: AtomicBool::new(options.offline),
            routes: Mutex::new(options.routes.clone()),
            headers: Mutex::new(options.extra_headers.clone()),
            options: options.clone(),
            ..Self::default()
        }
    }

    pub(super) fn next_id(&self, kind: &str) -> String {
        format!("{kind}-{}", IDS.fetch_add(1, Ordering::Relaxed))
    }
    pub(super) fn pages(&self) -> MutexGuard<'_, Vec<Arc<dyn OpenPage>>> {
        lock(&self.pages)
    }
    pub(super) fn jar(&self) -> MutexGuard<'_, Jar> {
        lock(&self.jar)
    }
    pub(super) fn routes(&self) -> Routes {
        lock(&self.routes).clone()
    }
    pub(super) fn extra_headers(&self) -> Headers {
        lock(&self.headers).clone()
    }
    pub(super) fn init_scripts(&self) -> Vec<String> {
        lock(&self.init_scripts).clone()
    }
    pub(super) fn is_offline(&self) -> bool {
        self.is_offline.load(Ordering::Relaxed)
    }
    /// Returns the entries of the `localStorage` of an origin.
    pub(super) fn storage(&self, origin: &str) -> Value {
        let storage = lock(&self.storage);
        storage.get(origin).cloned().unwrap_or_else(|| json!([]))
    }
    pub(super) fn store(&self, origin: String, entries: Value) {
        lock(&self.storage).insert(origin, entries);
    }
    /// Ends all pages.
    pub(super) fn end(&self) {
        let pages = std::mem::take(&mut *self.pages());
        for page in pages {
            page.end();
        }
    }
}
