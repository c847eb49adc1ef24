//! The windows of a context: those that we open, and those that pages do. The browser tells of pages by numbers, the driver of windows by
//! names; one that opens is both.

use super::WebDriverContext;
use crate::backend::webdriver::driver::{FrameTarget, page_error};
use crate::backend::webdriver::inspector::InspectorTarget;
use crate::backend::webdriver::page::{WebDriverPage, WindowOwner, page_id};
use crate::backend::{PageBackend, PageId};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;
use wire::inspector::InspectedPage;
use wire::webdriver::prompt::DismissAlert;
use wire::webdriver::window::{CloseWindow, NewWindow, WindowKind};

/// How long a window may take to be told of by the inspector.
const WINDOW_REPORT_TIMEOUT: Duration = Duration::from_secs(10);
#[derive(Default)]
pub(super) struct Windows {
    by_target: HashMap<u64, Arc<WebDriverPage>>,
    /// The parts of pages that we have heard of.
    parts: HashMap<u64, Arc<str>>,
    /// Windows that somebody has, or that are ours.
    pub(super) handles: HashSet<String>,
    pub(super) targets: HashSet<u64>,
    /// A window that shows nothing and is nobody's.
    pub(super) spare: Option<(String, Option<u64>)>,
    /// Those that visit origins on our behalf.
    utility_targets: HashSet<u64>,
}

impl WebDriverContext {
    pub(super) fn page_of(&self, target: u64) -> Option<Arc<WebDriverPage>> {
        self.windows().by_target.get(&target).cloned()
    }

    /// Sets whether a page of ours visits origins; its requests are answered with nothing.
    pub(super) fn set_utility_target(&self, target: u64, on: bool) {
        let mut windows = self.windows();
        if on {
            windows.utility_targets.insert(target);
        } else {
            windows.utility_targets.remove(&target);
        }
    }

    pub(super) fn is_utility_target(&self, target: u64) -> bool {
        self.windows().utility_targets.contains(&target)
    }

    /// A page has another part that shows its documents.
    pub(super) fn on_part_created(&self, target: u64, part: &str, provisional: bool) {
        let part: Arc<str> = part.into();
        let page = {
            let mut windows = self.windows();
            windows.parts.insert(target, part.clone());
            windows.by_target.get(&target).cloned()
        };
        if let Some(page) = page {
            let before = page
                .state()
                .inspector_target
                .replace(InspectorTarget { target, part });
            tracing::debug!(?before, provisional, "a page moves to another process");
            page.prepare();
        }
        self.pages.changes.notify();
    }

    /// The page that the browser tells of and nobody knows yet; waits for it. `None` where nothing is heard.
    pub(super) async fn new_target(&self) -> Result<Option<u64>> {
        let Some(inspector) = &self.parts.inspector else {
            return Ok(None);
        };
        let mut told = inspector.pages.clone();
        let appears = told.wait_for(|all| !self.unknown(all).is_empty());
        match tokio::time::timeout(WINDOW_REPORT_TIMEOUT, appears).await {
            Ok(Ok(all)) => Ok(self.unknown(&all).first().copied()),
            _ => Err(Error::protocol("New Window", "no new window was reported")),
        }
    }

    fn unknown(&self, all: &[InspectedPage]) -> Vec<u64> {
        let windows = self.windows();
        let targets = all.iter().map(|page| page.target);
        targets
            .filter(|target| !windows.targets.contains(target))
            .collect()
    }

    /// Opens a window that shows nothing; `creating` is held.
    pub(super) async fn open_window(&self) -> Result<(String, Option<u64>)> {
        let window = if let Some(inspector) = &self.parts.inspector {
            // The driver opens none while a dialog is open, the browser does.
            let hint = json!({ "presentationHint": "Window" });
            let opened: Opened = inspector
                .automate("Automation.createBrowsingContext", &hint)
                .await?;
            opened.handle
        } else {
            self.opened_by_driver().await?
        };
        self.windows().handles.insert(window.clone());
        let target = self.new_target().await?;
        self.windows().targets.extend(target);
        Ok((window, target))
    }

    async fn opened_by_driver(&self) -> Result<String> {
        // A window is opened from another one that is there.
        let from = self.windows().handles.iter().next().cloned();
        let from = FrameTarget::window(from.unwrap_or_default());
        let opened = self
            .parts
            .driver
            .at(
                &from,
                &NewWindow {
                    kind: WindowKind::Window,
                },
            )
            .await
            .map_err(page_error)?;
        Ok(opened.handle)
    }

    /// A window that shows nothing; `creating` is held.
    pub(super) async fn blank_window(&self) -> Result<(String, Option<u64>)> {
        let spare = self.windows().spare.take();
        match spare {
            Some(spare) => Ok(spare),
            None => self.open_window().await,
        }
    }

    /// Begins to hear of a page; answers the part that shows its documents.
    pub(super) async fn attach(&self, target: u64) -> Result<InspectorTarget> {
        let known = || {
            let part = self.windows().parts.get(&target).cloned()?;
            Some(InspectorTarget { target, part })
        };
        if let Some(known) = known() {
            return Ok(known);
        }
        self.parts.inspector()?.attach(target)?;
        let appears = self.pages.wait(|_| known());
        match tokio::time::timeout(WINDOW_REPORT_TIMEOUT, appears).await {
            Ok(attached) => attached,
            Err(_) => Err(Error::PageClosed {}),
        }
    }

    /// A window is a page from now on.
    pub(super) async fn adopt(
        &self,
        window: &str,
        target: Option<u64>,
        opener: Option<PageId>,
    ) -> Result<Arc<WebDriverPage>> {
        let owner: Weak<dyn WindowOwner> = self.itself.clone();
        let page = WebDriverPage::new(self.parts.clone(), owner, window);
        if let Some(target) = target {
            page.state().inspector_target = Some(self.attach(target).await?);
            page.state().intercepting = self.parts.intercepts_all();
            page.prepare();
        }
        let is_popup = opener.is_some();
        page.set_observer(self.observer.page_opened(page.clone(), opener));
        if let Some(target) = target {
            self.windows().by_target.insert(target, page.clone());
        }
        self.pages.insert(page.id().clone(), page.clone());
        if target.is_some() {
            page.load_main_frame().await?;
        }
        if is_popup {
            if target.is_some() {
                // Its document may have been there before it could be told what to run.
                page.hook_document();
            }
            page.schedule_poll();
        } else {
            page.poll_frames().await?;
            let viewport = self.parts.options().viewport.clone();
            if let Some(viewport) = viewport {
                page.fit(viewport.size).await?;
            }
        }
        Ok(page)
    }

    /// Windows that pages opened become pages; those that are gone end.
    async fn on_windows_changed(&self) -> Result<()> {
        let Some(inspector) = &self.parts.inspector else {
            return Ok(());
        };
        let all = inspector.pages.borrow().clone();
        let gone: Vec<_> = {
            let windows = self.windows();
            let known = windows.by_target.iter();
            let is_there = |target: &u64| all.iter().any(|page| page.target == *target);
            known
                .filter(|(target, _)| !is_there(target))
                .map(|(_, page)| page.clone())
                .collect()
        };
        for page in gone {
            self.remove_window(&page);
        }
        if self.unknown(&all).is_empty() {
            return Ok(());
        }
        let _creating = self.creating.lock().await;
        let new = self.unknown(&inspector.pages.borrow().clone());
        for target in new {
            let handles = self.parts.window_handles().await?;
            let window = {
                let windows = self.windows();
                let mut handles = handles.into_iter();
                handles.find(|handle| !windows.handles.contains(handle))
            };
            // Its window may be gone again.
            self.windows().targets.insert(target);
            if let Some(window) = window {
                self.windows().handles.insert(window.clone());
                self.on_opened_by_page(&window, target).await?;
            }
        }
        Ok(())
    }

    async fn on_opened_by_page(&self, window: &str, target: u64) -> Result<()> {
        let used = self.parts.last_used();
        let (opener, is_admitted) = {
            let mut pages = self.pages.pages();
            let used = used.filter(|page| pages.contains(page));
            let opener = used.or_else(|| pages.open().next().map(|(id, _)| id.clone()));
            let is_admitted = opener.is_none() || pages.admit_popup(&page_id(window));
            (opener, is_admitted)
        };
        if !is_admitted {
            self.close_handle(window).await?;
            if let Some(opener) = &opener {
                self.observer.page_refused(opener);
            }
            return Ok(());
        }
        let adopted = self.adopt(window, Some(target), opener).await;
        if adopted.is_err() {
            self.pages.pages().release_popup(&page_id(window));
        }
        adopted.map(drop)
    }

    /// A page's window has gone.
    pub(super) fn remove_window(&self, page: &WebDriverPage) {
        {
            tracing::debug!(window = page.window(), "a window is gone");
            let mut windows = self.windows();
            windows.handles.remove(page.window());
            windows.by_target.retain(|_, known| known.id() != page.id());
        }
        self.pages.remove(page.id(), WebDriverPage::on_closed);
    }

    /// Closes a page's window; the session lives on without any.
    async fn close_page_window(&self, page: &WebDriverPage) -> Result<()> {
        let _creating = self.creating.lock().await;
        self.ensure_window().await?;
        if self.parts.inspector.is_some() && page.shown_dialog().await?.is_some() {
            // The driver does not go to a window whose dialog waits, so not to the end of it either.
            page.send_dialog_answer(false, None).await?;
            self.close_by_browser(page).await?;
        } else {
            self.close_handle(page.window()).await?;
        }
        self.remove_window(page);
        Ok(())
    }

    /// Closes the window of a page that does not answer.
    async fn end_page_window(&self, page: &WebDriverPage) -> Result<()> {
        if self.parts.inspector.is_none() {
            return self.close_page_window(page).await;
        }
        let _creating = self.creating.lock().await;
        self.ensure_window().await?;
        // The driver would go to it first, and not come back: for that, it asks the page.
        self.close_by_browser(page).await?;
        self.remove_window(page);
        Ok(())
    }

    /// With its last window the browser would end, and the session; `creating` is held.
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

    async fn close_by_browser(&self, page: &WebDriverPage) -> Result<()> {
        let window = json!({ "handle": page.window() });
        let inspector = self.parts.inspector()?;
        let _: Value = inspector
            .automate("Automation.closeBrowsingContext", &window)
            .await?;
        self.parts.driver.forget().await;
        Ok(())
    }

    pub(super) async fn close_handle(&self, window: &str) -> Result<()> {
        let place = FrameTarget::window(window);
        let driver = &self.parts.driver;
        let closed = driver.at(&place, &CloseWindow {}).await;
        let closed = match closed.map_err(page_error) {
            Err(Error::DialogOpen {}) => {
                // Whoever asked is not there any more.
                let _ = driver.at(&place, &DismissAlert {}).await;
                driver.at(&place, &CloseWindow {}).await.map_err(page_error)
            }
            closed => closed,
        };
        driver.forget().await;
        self.windows().handles.remove(window);
        match closed {
            // It is gone already.
            Err(Error::PageClosed {}) => Ok(()),
            closed => closed.map(drop),
        }
    }

    /// Any page, for what holds for all of them.
    pub(super) async fn any_inspector_target(&self) -> Result<InspectorTarget> {
        let open = self.pages.open();
        if let Some(inspector_target) = open
            .iter()
            .find_map(|page| page.state().inspector_target.clone())
        {
            return Ok(inspector_target);
        }
        let _creating = self.creating.lock().await;
        let (window, target) = self.blank_window().await?;
        self.windows().spare = Some((window, target));
        let target = target.ok_or(Error::PageClosed {})?;
        self.attach(target).await
    }
}

#[async_trait]
impl WindowOwner for WebDriverContext {
    fn on_window_closed(&self, page: &PageId) {
        if let Some(page) = self.pages.get(page) {
            self.remove_window(&page);
        }
    }

    fn on_browser_closed(&self, reason: &str) {
        self.on_closed(reason);
    }

    async fn close_window(&self, page: &PageId) -> Result<()> {
        let page = self.pages.get(page).ok_or(Error::PageClosed {})?;
        self.close_page_window(&page).await
    }

    async fn end_window(&self, page: &PageId) -> Result<()> {
        let page = self.pages.get(page).ok_or(Error::PageClosed {})?;
        self.end_page_window(&page).await
    }
}

/// What the browser answers when it has opened a window.
#[derive(Deserialize)]
struct Opened {
    handle: String,
}

/// Follows what the browser tells of its windows.
pub(super) async fn follow(context: Weak<WebDriverContext>) {
    let told = |context: &Arc<WebDriverContext>| {
        let inspector = context.parts.inspector.as_ref();
        inspector.map(|inspector| inspector.pages.clone())
    };
    let Some(mut pages) = context.upgrade().as_ref().and_then(told) else {
        return;
    };
    loop {
        pages.mark_unchanged();
        {
            let Some(context) = context.upgrade() else {
                return;
            };
            if let Err(error) = context.on_windows_changed().await {
                tracing::debug!(%error, "a window that opened is lost");
            }
        }
        if pages.changed().await.is_err() {
            return;
        }
    }
}
