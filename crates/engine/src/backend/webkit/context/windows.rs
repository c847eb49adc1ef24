//! The windows of a context: opening, recording and closing them.

use super::WebKitContext;
use crate::backend::webkit::page::{WebKitPage, WindowOwner};
use crate::backend::webkit::targets::page_id;
use crate::backend::{PageBackend as _, PageId};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How long the browser may take to list a new window, and to report its document.
const WINDOW_REPORT_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Default)]
pub(super) struct Windows {
    /// The handles of the recorded windows: pages, utility pages, and the spare window.
    handles: HashSet<String>,
    /// A blank window that is not a page.
    spare: Option<String>,
}

impl WebKitContext {
    /// Opens a blank window, and returns its handle; `creating` is held.
    pub(super) async fn open_window(&self) -> Result<String> {
        let hint = json!({ "presentationHint": "Window" });
        let method = "Automation.createBrowsingContext";
        let opened: Value = self.parts.targets.automate(method, &hint).await?;
        let window = opened["handle"].as_str().unwrap_or_default();
        self.windows().handles.insert(window.to_owned());
        let targets = &self.parts.targets;
        let mut listed = targets.listed.clone();
        let new = async {
            loop {
                listed.mark_unchanged();
                if let Some(target) = targets.unassigned().first() {
                    return Some(*target);
                }
                listed.changed().await.ok()?;
            }
        };
        match tokio::time::timeout(WINDOW_REPORT_TIMEOUT, new).await {
            Ok(Some(target)) => self.attach_window(window, target).await?,
            _ => return Err(Error::protocol(method, "no new window was listed")),
        }
        Ok(window.to_owned())
    }

    /// Opens the window that is not a page: without any window, the browser would exit.
    pub(super) async fn open_spare_window(&self) -> Result<()> {
        let spare = self.open_window().await?;
        self.windows().spare = Some(spare);
        Ok(())
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
    pub(super) async fn any_window(&self) -> Result<String> {
        if let Some(page) = self.pages.open().first() {
            return Ok(page.window().to_owned());
        }
        let _creating = self.creating.lock().await;
        let window = self.blank_window().await?;
        self.windows().spare = Some(window.clone());
        Ok(window)
    }

    /// Makes a recorded window a page, and reports it.
    pub(super) async fn adopt(
        &self,
        window: &str,
        opener: Option<PageId>,
    ) -> Result<Arc<WebKitPage>> {
        let owner: Weak<dyn WindowOwner> = self.itself.clone();
        let page = WebKitPage::new(self.parts.clone(), owner, window);
        let (_, part) = self.parts.targets.of_window(window)?;
        if opener.is_some() {
            page.set_new_popup();
        }
        page.send_settings(&part);
        page.set_observer(self.observer.page_opened(page.clone(), opener));
        self.pages.insert(page.id.clone(), page.clone());
        page.load_frames().await?;
        // It would get no events about the focus otherwise.
        page.activate().await?;
        Ok(page)
    }

    /// Closes a window, also one with an open dialog or without a responsive page.
    pub(super) async fn close_handle(&self, window: &str) -> Result<()> {
        let handle = json!({ "handle": window });
        let method = "Automation.closeBrowsingContext";
        let closed = self.parts.targets.automate::<Value>(method, &handle).await;
        self.windows().handles.remove(window);
        match closed {
            // The window is gone already.
            Err(Error::PageClosed {}) => Ok(()),
            closed => closed.map(drop),
        }
    }

    /// Assigns a target to a window, and attaches to it.
    async fn attach_window(&self, window: &str, target: u64) -> Result<()> {
        let targets = &self.parts.targets;
        targets.assign(target, window)?;
        let attached = self
            .pages
            .wait(|_| targets.of_window(window).ok().map(drop));
        match tokio::time::timeout(WINDOW_REPORT_TIMEOUT, attached).await {
            Ok(attached) => attached,
            Err(_) => Err(Error::PageClosed {}),
        }
    }

    /// Removes the pages whose windows are gone, and adds the windows that pages opened.
    async fn on_windows_changed(&self) -> Result<()> {
        let targets = &self.parts.targets;
        for window in targets.remove_unlisted() {
            if let Some(page) = self.pages.get(&page_id(&window)) {
                self.remove_window(&page);
            }
        }
        if targets.unassigned().is_empty() {
            return Ok(());
        }
        let _creating = self.creating.lock().await;
        let opened = targets.unassigned();
        for target in &opened {
            targets.attach_early(*target)?;
        }
        for target in opened {
            // The list of handles does not say which target is which window, and the window may be gone again.
            let new = {
                let handles = targets.windows().await?;
                let windows = self.windows();
                let mut handles = handles.into_iter();
                handles.find(|handle| !windows.handles.contains(handle))
            };
            if let Some(window) = new {
                self.on_opened_by_page(&window, target).await?;
            }
        }
        Ok(())
    }

    async fn on_opened_by_page(&self, window: &str, target: u64) -> Result<()> {
        self.windows().handles.insert(window.to_owned());
        let used = self.parts.last_used();
        let (opener, is_admitted) = {
            let mut pages = self.pages.pages();
            let used = used.filter(|page| pages.contains(page));
            let opener = used.or_else(|| pages.open().next().map(|(id, _)| id.clone()));
            let is_admitted = opener.is_none() || pages.admit_popup(&page_id(window));
            (opener, is_admitted)
        };
        if !is_admitted {
            self.parts.targets.drop_early(target);
            self.close_handle(window).await?;
            if let Some(opener) = &opener {
                self.observer.page_refused(opener);
            }
            return Ok(());
        }
        let adopted = async {
            self.attach_window(window, target).await?;
            self.adopt(window, opener).await
        };
        match adopted.await {
            Ok(page) => {
                // The document may have been created before its init scripts were set.
                page.hook_document();
                Ok(())
            }
            Err(error) => {
                self.parts.targets.drop_early(target);
                self.pages.pages().release_popup(&page_id(window));
                Err(error)
            }
        }
    }
}

/// Follows the browser's list of windows.
pub(super) async fn follow(context: Weak<WebKitContext>) {
    let listed = |context: Arc<WebKitContext>| context.parts.targets.listed.clone();
    let Some(mut listed) = context.upgrade().map(listed) else {
        return;
    };
    loop {
        listed.mark_unchanged();
        {
            let Some(context) = context.upgrade() else {
                return;
            };
            if let Err(error) = context.on_windows_changed().await {
                tracing::debug!(%error, "a window that opened is lost");
            }
        }
        if listed.changed().await.is_err() {
            return;
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

    async fn close_window(&self, page: &WebKitPage) -> Result<()> {
        let _creating = self.creating.lock().await;
        let is_last = self.pages.open().len() <= 1 && self.windows().spare.is_none();
        if is_last {
            self.open_spare_window().await?;
        }
        self.close_handle(page.window()).await?;
        self.remove_window(page);
        Ok(())
    }
}
