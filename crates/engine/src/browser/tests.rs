//! Creation of a context whose caller was cancelled, in a browser that responds late.

use super::*;
use crate::backend::{
    ContextObserver, Cookie, Cookies, EmulatedOption, Geolocation, Headers, OriginDocuments,
    PageId, Permissions, Throttling,
};
use crate::routes::Routes;
use async_trait::async_trait;
use futures_util::FutureExt as _;
use tokio::sync::{Notify, watch};

/// Creates contexts when permitted, and counts the existing ones.
#[derive(Clone, Default)]
struct DelayedBackend {
    asked: Arc<Notify>,
    answers: Arc<Notify>,
    open: watch::Sender<usize>,
}

struct Context(watch::Sender<usize>);

fn unexpected<T>() -> Result<T> {
    Err(Error::PageClosed {})
}

#[async_trait]
impl BrowserBackend for DelayedBackend {
    fn capabilities(&self) -> &'static Capabilities {
        &crate::backend::cdp::CAPABILITIES
    }

    fn product(&self) -> &'static str {
        "DelayedBackend/1"
    }

    async fn new_context(
        &self,
        _: &ContextOptions,
        _: Arc<dyn ContextObserver>,
    ) -> Result<Arc<dyn ContextBackend>> {
        self.open.send_modify(|open| *open += 1);
        self.asked.notify_one();
        self.answers.notified().await;
        Ok(Arc::new(Context(self.open.clone())))
    }

    async fn default_context(
        &self,
        _: &ContextOptions,
        _: Arc<dyn ContextObserver>,
    ) -> Result<Arc<dyn ContextBackend>> {
        unexpected()
    }

    fn closed(&self) -> watch::Receiver<Option<String>> {
        watch::Sender::new(None).subscribe()
    }

    async fn close(&self) -> Result<()> {
        unexpected()
    }
}

#[async_trait]
impl ContextBackend for Context {
    async fn new_page(&self) -> Result<PageId> {
        unexpected()
    }
    async fn documents(&self) -> Result<Box<dyn OriginDocuments>> {
        unexpected()
    }
    async fn set_offline(&self, _: bool) -> Result<()> {
        unexpected()
    }
    async fn set_throttling(&self, _: Throttling) -> Result<()> {
        unexpected()
    }
    async fn set_cpu_throttling(&self, _: Option<f64>) -> Result<()> {
        unexpected()
    }
    async fn set_routes(&self, _: Routes) -> Result<()> {
        unexpected()
    }
    async fn set_extra_headers(&self, _: &Headers) -> Result<()> {
        unexpected()
    }
    async fn set_geolocation(&self, _: Option<Geolocation>) -> Result<()> {
        unexpected()
    }
    async fn emulate(&self, _: &ContextOptions, _: &[EmulatedOption]) -> Result<()> {
        unexpected()
    }
    async fn add_init_script(&self, _: &str) -> Result<()> {
        unexpected()
    }
    async fn close(&self) -> Result<()> {
        self.0.send_modify(|open| *open -= 1);
        Ok(())
    }
}

#[async_trait]
impl Cookies for Context {
    async fn cookies(&self) -> Result<Vec<Cookie>> {
        unexpected()
    }
    async fn set_cookies(&self, _: &[Cookie]) -> Result<()> {
        unexpected()
    }
    async fn delete_cookies(&self, _: &[Cookie]) -> Result<()> {
        unexpected()
    }
    async fn clear_cookies(&self) -> Result<()> {
        unexpected()
    }
}

#[async_trait]
impl Permissions for Context {
    async fn grant_permissions(&self, _: &[String], _: Option<&str>) -> Result<()> {
        unexpected()
    }
    async fn clear_permissions(&self) -> Result<()> {
        unexpected()
    }
}

#[tokio::test]
async fn a_context_whose_creation_was_cancelled_is_closed() {
    let late = DelayedBackend::default();
    let browser = Browser {
        backend: Arc::new(late.clone()),
        network: Arc::default(),
        kept_state: Arc::default(),
    };
    let progress = Progress::new(Duration::from_secs(600));
    let options = ContextOptions::default;
    // Cancelled before the browser responds, and after.
    for answered in [false, true] {
        let mut making = Box::pin(browser.new_context(&progress, options()));
        assert!(making.as_mut().now_or_never().is_none());
        late.asked.notified().await;
        late.answers.notify_one();
        if answered {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
        }
        drop(making);
        let mut open = late.open.subscribe();
        open.wait_for(|open| *open == 0).await.unwrap();
    }
    late.answers.notify_one();
    let context = browser.new_context(&progress, options()).await.unwrap();
    assert_eq!(*late.open.borrow(), 1);
    context.close(&progress).await.unwrap();
}
