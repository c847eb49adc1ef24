//! The browser and the contexts of a fake browser.

use super::page::FakePage;
use super::shared::{OpenPage as _, Shared, lock};
use crate::backend::{
    BrowserBackend, Capabilities, ContextBackend, ContextObserver, ContextOptions, Cookie, Cookies,
    EmulatedOption, Geolocation, Headers, OriginDocuments, PageBackend, PageId, Permissions, Proxy,
    Throttling,
};
use crate::error::{Error, Result};
use crate::routes::Routes;
use async_trait::async_trait;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::watch;

/// A browser without a process.
pub(crate) struct FakeBrowser {
    capabilities: &'static Capabilities,
    proxy: Option<Proxy>,
    contexts: Mutex<Vec<Weak<Shared>>>,
    closed: watch::Sender<Option<String>>,
}

impl FakeBrowser {
    pub(crate) fn new(capabilities: &'static Capabilities, proxy: Option<Proxy>) -> Self {
        Self {
            capabilities,
            proxy,
            contexts: Mutex::default(),
            closed: watch::Sender::new(None),
        }
    }

    fn context(
        &self,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Arc<FakeContext> {
        let proxy = options.proxy.clone().or_else(|| self.proxy.clone());
        let shared = Arc::new(Shared::new(options, proxy));
        let mut contexts = lock(&self.contexts);
        contexts.retain(|context| context.strong_count() > 0);
        contexts.push(Arc::downgrade(&shared));
        Arc::new(FakeContext { shared, observer })
    }
}

#[async_trait]
impl BrowserBackend for FakeBrowser {
    fn product(&self) -> &str {
        super::PRODUCT
    }
    fn capabilities(&self) -> &'static Capabilities {
        self.capabilities
    }
    async fn new_context(
        &self,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Result<Arc<dyn ContextBackend>> {
        let context: Arc<dyn ContextBackend> = self.context(options, observer.clone());
        observer.attached(&context);
        Ok(context)
    }
    async fn default_context(
        &self,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Result<Arc<dyn ContextBackend>> {
        let context = self.new_context(options, observer).await?;
        context.new_page().await?;
        Ok(context)
    }
    fn closed(&self) -> watch::Receiver<Option<String>> {
        self.closed.subscribe()
    }
    async fn close(&self) -> Result<()> {
        let contexts = std::mem::take(&mut *lock(&self.contexts));
        for context in contexts.iter().filter_map(Weak::upgrade) {
            context.end();
        }
        self.closed.send_replace(Some(String::new()));
        Ok(())
    }
}

struct FakeContext {
    shared: Arc<Shared>,
    observer: Arc<dyn ContextObserver>,
}

#[async_trait]
impl ContextBackend for FakeContext {
    async fn new_page(&self) -> Result<PageId> {
        let page = FakePage::open(&self.shared, &self.observer, None)?;
        Ok(PageBackend::id(&*page).clone())
    }
    async fn documents(&self) -> Result<Box<dyn OriginDocuments>> {
        Ok(Box::new(Documents(self.shared.clone())))
    }
    async fn set_offline(&self, offline: bool) -> Result<()> {
        self.shared.is_offline.store(offline, Ordering::Relaxed);
        Ok(())
    }
    async fn set_throttling(&self, _: Throttling) -> Result<()> {
        Ok(())
    }
    async fn set_cpu_throttling(&self, _: Option<f64>) -> Result<()> {
        Ok(())
    }
    async fn set_routes(&self, routes: Routes) -> Result<()> {
        *lock(&self.shared.routes) = routes;
        Ok(())
    }
    async fn set_extra_headers(&self, headers: &Headers) -> Result<()> {
        lock(&self.shared.headers).clone_from(headers);
        Ok(())
    }
    async fn set_geolocation(&self, _: Option<Geolocation>) -> Result<()> {
        Ok(())
    }
    async fn emulate(&self, _: &ContextOptions, _: &[EmulatedOption]) -> Result<()> {
        Ok(())
    }
    async fn add_init_script(&self, source: &str) -> Result<()> {
        lock(&self.shared.init_scripts).push(source.to_owned());
        Ok(())
    }
    async fn close(&self) -> Result<()> {
        self.shared.end();
        Ok(())
    }
}

#[async_trait]
impl Cookies for FakeContext {
    async fn cookies(&self) -> Result<Vec<Cookie>> {
        Ok(self.shared.jar().0.clone())
    }
    async fn set_cookies(&self, cookies: &[Cookie]) -> Result<()> {
        if cookies.iter().any(|cookie| cookie.name.contains(';')) {
            return Err(Error::protocol("fake browser", "Invalid cookie fields"));
        }
        for cookie in cookies {
            self.shared.jar().add(cookie.clone());
        }
        Ok(())
    }
    async fn delete_cookies(&self, cookies: &[Cookie]) -> Result<()> {
        for cookie in cookies {
            self.shared.jar().remove(cookie);
        }
        Ok(())
    }
    async fn clear_cookies(&self) -> Result<()> {
        self.shared.jar().0.clear();
        Ok(())
    }
}

#[async_trait]
impl Permissions for FakeContext {
    async fn grant_permissions(&self, _: &[String], _: Option<&str>) -> Result<()> {
        Ok(())
    }
    async fn clear_permissions(&self) -> Result<()> {
        Ok(())
    }
}

/// Empty documents of origins. Only their `localStorage` exists.
struct Documents(Arc<Shared>);

#[async_trait]
impl OriginDocuments for Documents {
    async fn run(&mut self, origin: &str, expression: String) -> Result<String> {
        let page = FakePage::create(&self.0, None)?;
        page.show(&format!("{origin}/"));
        let outcome = page.ask("run", vec![expression]).await;
        page.end();
        outcome
    }
}
