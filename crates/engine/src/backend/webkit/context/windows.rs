//! The windows of a context: opening, recording and closing them.

use super::WebKitContext;
use crate::backend::PageId;
use crate::backend::webkit::driver::{FrameTarget, page_error};
use crate::backend::webkit::page::{WebKitPage, WindowOwner};
use crate::error::{Error, Result};
use async_trait::async_trait;
use std::collections::HashSet;
use std::sync::{Arc, Weak};
use wire::webdriver::prompt::DismissAlert;
use wire::webdriver::window::CloseWindow;

#[derive(Default)]
pub(super) struct Windows {
    /// The handles of the recorded windows: pages, utility pages, and the spare window.
    handles: HashSet<String>,
    /// A blank window that is not a page.
    pub(super) spare: Option<String>,
}

impl WebKitContext {
    /// Records a window; `creating` is held.
    pub(super) async fn register_window(&self, window: &str) -> Result<()> {
        self.record_handle(window);
        self.attach_new_window(window).await
    }

    pub(crate) fn record_handle(&self, window: &str) {
        self.windows().handles.insert(window.to_owned());
    }

    /// Returns the first handle of these that is not recorded.
    pub(crate) fn unrecorded_handle(&self, handles: Vec<String>) -> Option<String> {
        let windows = self.windows();
        let mut handles = handles.into_iter();
        handles.find(|handle| !windows.handles.contains(handle))
    }

    /// Opens a blank window, and returns its handle; `creating` is held.
    pub(super) async fn open_window(&self) -> Result<String> {
        let window = self.create_window().await?;
        self.register_window(&window).await?;
        Ok(window)
    }

    /// Returns the spare window, or opens one; `creating` is held.
    pub(super) async fn blank_window(&self) -> Result<String> {
        let spare = self.windows().spare.take();
        match spare {
            Some(spare) => Ok(spare),
            None => self.open_window().await,
        }
    }

    /// Returns a window that is open, for commands that concern all windows.
    pub(crate) async fn any_window(&self) -> Result<String> {
        if let Some(page) = self.pages.open().first() {
            return Ok(page.window().to_owned());
        }
        let _creating = self.creating.lock().await;
        let window = self.blank_window().await?;
        self.windows().spare = Some(window.clone());
        Ok(window)
    }

    /// Makes a recorded window a page, and reports it.
    pub(crate) async fn adopt(
        &self,
        window: &str,
        opener: Option<PageId>,
    ) -> Result<Arc<WebKitPage>> {
        let owner: Weak<dyn WindowOwner> = self.itself.clone();
        let page = WebKitPage::new(self.parts.clone(), owner, window);
        page.send_settings();
        let backend = page.clone();
        page.set_observer(self.observer.page_opened(backend, opener));
        self.pages.insert(page.id.clone(), page.clone());
        page.load().await?;
        Ok(page)
    }

    /// Opens a spare window before the last page is closed, because the browser and the session would end with their last window;
    /// `creating` is held.
    async fn ensure_window(&self) -> Result<()> {
        let is_last = {
            let has_spare = self.windows().spare.is_some();
            self.pages.open().len() <= 1 && !has_spare
        };
        if is_last {
            let spare = self.open_window().await?;
            self.windows().spare = Some(spare);
        }
        Ok(())
    }

    /// Closes a window, and the dialog that is open in it.
    pub(crate) async fn close_handle(&self, window: &str) -> Result<()> {
        let target = FrameTarget::window(window);
        let driver = &self.parts.driver;
        let closed = driver.at(&target, &CloseWindow {}).await;
        let closed = match closed.map_err(page_error) {
            Err(Error::DialogOpen {}) => {
                // The dialog may have been answered meanwhile.
                let _ = driver.at(&target, &DismissAlert {}).await;
                let closed = driver.at(&target, &CloseWindow {}).await;
                closed.map_err(page_error)
            }
            closed => closed,
        };
        driver.reset().await;
        self.windows().handles.remove(window);
        match closed {
            // The window is gone already.
            Err(Error::PageClosed {}) => Ok(()),
            closed => closed.map(drop),
        }
    }
}

#[async_trait]
impl WindowOwner for WebKitContext {
    fn remove_window(&self, page: &WebKitPage) {
        tracing::debug!(window = page.window(), "a window is gone");
        self.windows().handles.remove(page.window());
        self.pages.remove(&page.id, WebKitPage::on_closed);
    }

    fn on_browser_closed(&self, reason: &str) {
        self.closed.send_if_modified(|known| {
            let first = known.is_none();
            if first {
                *known = Some(reason.to_owned());
            }
            first
        });
        for page in self.pages.open() {
            self.remove_window(&page);
        }
    }

    async fn close_window(&self, page: &WebKitPage, is_responsive: bool) -> Result<()> {
        let _creating = self.creating.lock().await;
        self.ensure_window().await?;
        self.close_page_window(page, is_responsive).await?;
        self.remove_window(page);
        Ok(())
    }
}
