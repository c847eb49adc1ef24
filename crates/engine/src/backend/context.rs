//! The interface of a browser context.

use super::{ContextOptions, Cookie, EmulatedOption, Geolocation, Headers, PageId, Throttling};
use crate::error::Result;
use crate::routes::Routes;
use async_trait::async_trait;

/// A browser context with its own cookies, storage, permissions and pages.
#[async_trait]
pub trait ContextBackend: Cookies + Permissions + Send + Sync {
    /// Opens a blank page. Returns when the page is ready and was reported to the observer.
    async fn new_page(&self) -> Result<PageId>;

    /// Returns access to documents of any origins, to read and write their storage.
    async fn documents(&self) -> Result<Box<dyn OriginDocuments>>;

    /// Turns offline mode of every page of the context on or off.
    async fn set_offline(&self, offline: bool) -> Result<()>;
    /// Throttles the network of every page of the context, in a browser that has a command for that
    /// ([`Capabilities::throttles`](super::Capabilities::throttles)).
    async fn set_throttling(&self, throttling: Throttling) -> Result<()>;
    /// Slows the processor of every page of the context down by this factor; `None` ends that.
    async fn set_cpu_throttling(&self, rate: Option<f64>) -> Result<()>;
    /// Blocks, mocks or changes requests of every page of the context.
    async fn set_routes(&self, routes: Routes) -> Result<()>;
    /// Sets the headers that are added to every request from now on.
    async fn set_extra_headers(&self, headers: &Headers) -> Result<()>;
    /// Sets the position that the pages see; `None` makes it unavailable.
    async fn set_geolocation(&self, geolocation: Option<Geolocation>) -> Result<()>;
    /// Stores the options that changed, for pages that open later, and applies the user agent, the locale, the time zone, the position, the
    /// permissions and the credentials among them to the open pages. The others have methods of their own. Fails with `InvalidOption` if the
    /// browser rejects a locale or a time zone.
    async fn emulate(&self, options: &ContextOptions, changed: &[EmulatedOption]) -> Result<()>;
    /// Adds a script that runs in each new document before the document's own.
    async fn add_init_script(&self, source: &str) -> Result<()>;

    /// Returns a number that grows with each use of the context that may change its cookies or its storage, if the engine keeps these
    /// ([`BrowserBackend::state_folder`](super::BrowserBackend::state_folder)).
    fn uses(&self) -> u64 {
        0
    }

    /// Returns why the context was closed although its browser was not, if each context has a browser process of its own.
    fn closed_reason(&self) -> Option<String> {
        None
    }

    /// Closes all pages of the context and deletes its data. The data of a default context is kept.
    async fn close(&self) -> Result<()>;
}

/// The cookies of a context.
#[async_trait]
pub trait Cookies {
    /// Returns all cookies of the context.
    async fn cookies(&self) -> Result<Vec<Cookie>>;
    /// Adds cookies, replacing those of the same name, domain and path.
    async fn set_cookies(&self, cookies: &[Cookie]) -> Result<()>;
    /// Removes these cookies and no others.
    async fn delete_cookies(&self, cookies: &[Cookie]) -> Result<()>;
    /// Removes every cookie.
    async fn clear_cookies(&self) -> Result<()>;
}

/// The permissions of a context.
#[async_trait]
pub trait Permissions {
    /// Grants permissions by their Playwright names (`geolocation`, `clipboard-read`, …), to one origin or to all.
    async fn grant_permissions(&self, permissions: &[String], origin: Option<&str>) -> Result<()>;
    /// Resets all permissions.
    async fn clear_permissions(&self) -> Result<()>;
}

/// Access to empty documents of origins. They are not reported to observers and send no requests.
#[async_trait]
pub trait OriginDocuments: Send {
    /// Runs an expression in the document of an origin. The value, or that of its promise, must be a string.
    async fn run(&mut self, origin: &str, expression: String) -> Result<String>;
}
