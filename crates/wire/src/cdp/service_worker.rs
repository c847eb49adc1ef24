//! The `ServiceWorker` domain: registrations of a page's origin.

use serde::Serialize;

use super::{Empty, command};

/// [`ServiceWorker.enable`](https://chromedevtools.github.io/devtools-protocol/tot/ServiceWorker/#method-enable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Enable {}
command!(Enable, "ServiceWorker.enable", Empty);

/// [`ServiceWorker.disable`](https://chromedevtools.github.io/devtools-protocol/tot/ServiceWorker/#method-disable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Disable {}
command!(Disable, "ServiceWorker.disable", Empty);

/// [`ServiceWorker.stopAllWorkers`](https://chromedevtools.github.io/devtools-protocol/tot/ServiceWorker/#method-stopAllWorkers)
#[derive(Debug, Clone, Default, Serialize)]
pub struct StopAllWorkers {}
command!(StopAllWorkers, "ServiceWorker.stopAllWorkers", Empty);

/// [`ServiceWorker.unregister`](https://chromedevtools.github.io/devtools-protocol/tot/ServiceWorker/#method-unregister)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unregister {
    #[serde(rename = "scopeURL")]
    pub scope_url: String,
}
command!(Unregister, "ServiceWorker.unregister", Empty);
