//! The windows of a context: those that we open, and those that pages do. The browser tells of pages by numbers, the driver of windows by
//! names; one that opens is both.

use super::WebDriverContext;
use crate::backend::webdriver::driver::{FrameTarget, page_error};
use crate::backend::webdriver::page::{InspectorTarget, WebDriverPage};
use crate::backend::{PageBackend, PageId};
use crate::error::{Error, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;
use wire::inspector::InspectedPage;
use wire::webdriver::prompt::DismissAlert;
use wire::webdriver::window::{CloseWindow, GetWindowHandles, NewWindow, WindowKind};

/// Pages of a context that other pages opened: with as many of them, further ones are closed at once.
const MAX_POPUPS: usize = 50;
/// How long a window may take to be told of by the inspector.
const WINDOW_REPORT_TIMEOUT: Duration = Duration::from_secs(10);
/// What the browser says of a window that is gone.
const NO_WINDOW: &str = "WindowNotFound";

#[derive(Default)]
pub(super) struct Pages {
    pub(super) open: HashMap<PageId, Arc<WebDriverPage>>,
    pub(super) opened_by_pages: HashSet<PageId>,
    pub(super) by_target: HashMap<u64, Arc<WebDriverPage>>,
    /// The parts of pages that we have heard of.
    pub(super) parts: HashMap<u64, Arc<str>>,
    /// Windows that somebody has, or that are ours.
    pub(super) windows: HashSet<String>,
    pub(super) targets: HashSet<u64>,
    /// A window that shows nothing and is nobody's.
    pub(super) spare: Option<(String, Option<u64>)>,
    /// Those that visit origins on our behalf.
    pub(super) visitors: HashSet<u64>,
    /// What was asked for, without what is behind a question mark.
    pub(super) visited: Vec<String>,
    pub(super) last_used: Option<PageId>,
    /// The one that mouse and keys were last used in.
    pub(super) has_devices: Option<PageId>,
}

impl WebDriverContext {
    /// A page has another part that shows its documents.
    pub(crate) fn on_part_created(&self, target: u64, part: &str, provisional: bool) {
        let part: Arc<str> = part.into();
        let page = {
            let mut pages = self.pages();
            pages.parts.insert(target, part.clone());
            pages.by_target.get(&target).cloned()
        };
        if let Some(page) = page {
            let before = page
                .state()
                .inspector_target
                .replace(InspectorTarget { target, part });
            tracing::debug!(?before, provisional, "a page moves to another process");
            let options = self.options().clone();
            page.prepare(&options);
        }
        self.bump();
    }

    /// The page that the browser tells of and nobody knows yet; waits for it. `None` where nothing is heard.
    pub(crate) async fn new_target(&self) -> Result<Option<u64>> {
        let Some(inspector_link) = &self.inspector_link else {
            return Ok(None);
        };
        let mut told = inspector_link.pages.clone();
        let appears = told.wait_for(|all| !self.unknown(all).is_empty());
        match tokio::time::timeout(WINDOW_REPORT_TIMEOUT, appears).await {
            Ok(Ok(all)) => Ok(self.unknown(&all).first().copied()),
            _ => Err(Error::Protocol {
                method: "New Window".to_owned(),
                message: "no new window was reported".to_owned(),
            }),
        }
    }

    fn unknown(&self, all: &[InspectedPage]) -> Vec<u64> {
        let pages = self.pages();
        let targets = all.iter().map(|page| page.target);
        targets
            .filter(|target| !pages.targets.contains(target))
            .collect()
    }

    /// The handles of all windows that the browser has, known ones or not.
    pub(crate) async fn windows(&self) -> Result<Vec<String>> {
        let windows = self.driver.call(&GetWindowHandles {}).await;
        windows.map_err(page_error)
    }

    /// Opens a window that shows nothing; `creating` is held.
    pub(crate) async fn open_window(&self) -> Result<(String, Option<u64>)> {
        let window = if self.inspector_link.is_some() {
            // The driver opens none while a dialog is open, the browser does.
            let hint = json!({ "presentationHint": "Window" });
            let opened: Opened = self
                .automate("Automation.createBrowsingContext", &hint)
                .await?;
            opened.handle
        } else {
            self.opened_by_driver().await?
        };
        self.pages().windows.insert(window.clone());
        let target = self.new_target().await?;
        self.pages().targets.extend(target);
        Ok((window, target))
    }

    /// Asks the browser for what its driver may ask for; only where it is heard.
    pub(crate) async fn automate<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: &Value,
    ) -> Result<T> {
        let inspector_link = self.inspector_link.as_ref().ok_or(Error::PageClosed {})?;
        let answer = inspector_link.relay.automate(method, params).await;
        let answer = answer.map_err(|refused| match refused {
            wire::Error::Protocol { message, .. } if message.starts_with(NO_WINDOW) => {
                Error::PageClosed {}
            }
            refused => refused.into(),
        })?;
        serde_json::from_str(answer.get()).map_err(|error| Error::Protocol {
            method: method.to_owned(),
            message: error.to_string(),
        })
    }

    async fn opened_by_driver(&self) -> Result<String> {
        // A window is opened from another one that is there.
        let from = self.pages().windows.iter().next().cloned();
        let from = FrameTarget {
            window: from.unwrap_or_default(),
            path: Vec::new(),
        };
        let opened = self
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
    pub(crate) async fn blank_window(&self) -> Result<(String, Option<u64>)> {
        let spare = self.pages().spare.take();
        match spare {
            Some(spare) => Ok(spare),
            None => self.open_window().await,
        }
    }

    /// Begins to hear of a page; answers the part that shows its documents.
    pub(crate) async fn attach(&self, target: u64) -> Result<Arc<str>> {
        let inspector = self.inspector().ok_or(Error::PageClosed {})?;
        let known = self.pages().parts.get(&target).cloned();
        if let Some(part) = known {
            return Ok(part);
        }
        inspector.attach(target)?;
        let appears = self.wait(|| self.pages().parts.get(&target).cloned());
        match tokio::time::timeout(WINDOW_REPORT_TIMEOUT, appears).await {
            Ok(part) => part,
            Err(_) => Err(Error::PageClosed {}),
        }
    }

    /// A window is a page from now on.
    pub(crate) async fn adopt(
        &self,
        window: &str,
        target: Option<u64>,
        opener: Option<PageId>,
    ) -> Result<Arc<WebDriverPage>> {
        let context = self.itself.upgrade().ok_or(Error::PageClosed {})?;
        let page = WebDriverPage::new(&context, self.driver.clone(), window);
        if let Some(target) = target {
            let part = self.attach(target).await?;
            page.state().inspector_target = Some(InspectorTarget { target, part });
            page.state().intercepting = self.intercepts_all();
            let options = self.options().clone();
            page.prepare(&options);
        }
        let is_popup = opener.is_some();
        page.set_observer(self.observer.page_opened(page.clone(), opener));
        {
            let mut pages = self.pages();
            if let Some(target) = target {
                pages.by_target.insert(target, page.clone());
            }
            pages.open.insert(page.id().clone(), page.clone());
            if is_popup {
                pages.opened_by_pages.insert(page.id().clone());
            }
        }
        self.bump();
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
            let viewport = self.options().viewport.clone();
            if let Some(viewport) = viewport {
                page.fit(viewport.size).await?;
            }
        }
        Ok(page)
    }

    /// Windows that pages opened become pages; those that are gone end.
    async fn on_windows_changed(&self) -> Result<()> {
        let Some(inspector_link) = &self.inspector_link else {
            return Ok(());
        };
        let all = inspector_link.pages.borrow().clone();
        let gone: Vec<_> = {
            let pages = self.pages();
            let known = pages.by_target.iter();
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
        let new = self.unknown(&inspector_link.pages.borrow().clone());
        for target in new {
            let windows = self.windows().await?;
            let window = {
                let pages = self.pages();
                let mut windows = windows.into_iter();
                windows.find(|window| !pages.windows.contains(window))
            };
            // Its window may be gone again.
            self.pages().targets.insert(target);
            if let Some(window) = window {
                self.pages().windows.insert(window.clone());
                self.on_opened_by_page(&window, target).await?;
            }
        }
        Ok(())
    }

    async fn on_opened_by_page(&self, window: &str, target: u64) -> Result<()> {
        let (opener, few) = {
            let pages = self.pages();
            let used = pages.last_used.clone();
            let used = used.filter(|page| pages.open.contains_key(page));
            let opener = used.or_else(|| pages.open.keys().next().cloned());
            (opener, pages.opened_by_pages.len() < MAX_POPUPS)
        };
        if !few {
            self.close_handle(window).await?;
            if let Some(opener) = &opener {
                self.observer.page_refused(opener);
            }
            return Ok(());
        }
        self.adopt(window, Some(target), opener).await.map(drop)
    }

    /// A page's window has gone.
    pub(crate) fn remove_window(&self, page: &WebDriverPage) {
        {
            tracing::debug!(window = page.window(), "a window is gone");
            let mut pages = self.pages();
            pages.windows.remove(page.window());
            pages.open.remove(page.id());
            pages.opened_by_pages.remove(page.id());
            pages.by_target.retain(|_, known| known.id() != page.id());
        }
        page.on_closed();
        self.bump();
    }

    /// Closes a page's window; the session lives on without any.
    pub(crate) async fn close_window(&self, page: &WebDriverPage) -> Result<()> {
        let _creating = self.creating.lock().await;
        self.ensure_window().await?;
        if self.inspector_link.is_some() && page.shown_dialog().await?.is_some() {
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
    pub(crate) async fn end_window(&self, page: &WebDriverPage) -> Result<()> {
        if self.inspector_link.is_none() {
            return self.close_window(page).await;
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
            let pages = self.pages();
            pages.open.len() <= 1 && pages.spare.is_none()
        };
        if is_last {
            let spare = self.open_window().await?;
            self.pages().spare = Some(spare);
        }
        Ok(())
    }

    async fn close_by_browser(&self, page: &WebDriverPage) -> Result<()> {
        let window = json!({ "handle": page.window() });
        let _: Value = self
            .automate("Automation.closeBrowsingContext", &window)
            .await?;
        self.driver.forget().await;
        Ok(())
    }

    pub(crate) async fn close_handle(&self, window: &str) -> Result<()> {
        let place = FrameTarget {
            window: window.to_owned(),
            path: Vec::new(),
        };
        let closed = self.driver.at(&place, &CloseWindow {}).await;
        let closed = match closed.map_err(page_error) {
            Err(Error::DialogOpen {}) => {
                // Whoever asked is not there any more.
                let _ = self.driver.at(&place, &DismissAlert {}).await;
                self.driver
                    .at(&place, &CloseWindow {})
                    .await
                    .map_err(page_error)
            }
            closed => closed,
        };
        self.driver.forget().await;
        self.pages().windows.remove(window);
        match closed {
            // It is gone already.
            Err(Error::PageClosed {}) => Ok(()),
            closed => closed.map(drop),
        }
    }

    /// Any page, for what holds for all of them.
    pub(crate) async fn any_inspector_target(&self) -> Result<InspectorTarget> {
        let open = self.open_pages();
        if let Some(inspector_target) = open
            .iter()
            .find_map(|page| page.state().inspector_target.clone())
        {
            return Ok(inspector_target);
        }
        let _creating = self.creating.lock().await;
        let (window, target) = self.blank_window().await?;
        self.pages().spare = Some((window, target));
        let target = target.ok_or(Error::PageClosed {})?;
        let part = self.attach(target).await?;
        Ok(InspectorTarget { target, part })
    }
}

/// What the browser answers when it has opened a window.
#[derive(Deserialize)]
struct Opened {
    handle: String,
}

/// Follows what the browser tells of its windows.
pub(crate) async fn follow(context: Weak<WebDriverContext>) {
    let told = |context: &Arc<WebDriverContext>| {
        let inspector_link = context.inspector_link.as_ref();
        inspector_link.map(|inspector_link| inspector_link.pages.clone())
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
