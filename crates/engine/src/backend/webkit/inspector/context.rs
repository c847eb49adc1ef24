//! What the inspector offers a context: the list of its windows, cookies, and documents without requests.

use super::{InspectorChannel, InspectorLink, Targets};
use crate::backend::webkit::context::events;
use crate::backend::webkit::page::{WindowOwner, page_id};
use crate::backend::webkit::{WebKitContext, WebKitPage};
use crate::backend::{Cookie, SameSite};
use crate::error::{Error, Result};
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use task::Task;
use tokio::sync::{mpsc, watch};
use wire::inspector::InspectorEvent;

/// How long the browser may take to list a new window, and to report its document.
const WINDOW_REPORT_TIMEOUT: Duration = Duration::from_secs(10);

impl InspectorLink {
    pub(crate) fn new(channel: InspectorChannel) -> (Self, mpsc::Receiver<InspectorEvent>) {
        let link = Self {
            inspector: channel.inspector,
            pages: channel.relay.pages(),
            relay: channel.relay,
            handled: watch::Sender::new(0),
            targets: Mutex::new(Targets::default()),
        };
        (link, channel.events)
    }

    /// Spawns the tasks that apply what the browser reports to the context.
    pub(crate) fn spawn_tasks(
        context: &Arc<WebKitContext>,
        events: mpsc::Receiver<InspectorEvent>,
    ) -> Vec<Task> {
        let weak = || Arc::downgrade(context);
        let closed = context.parts.extension.inspector.closed();
        vec![
            task::spawn("pages' events", events::follow(weak(), events)),
            task::spawn("inspector's end", on_closed(weak(), closed)),
            task::spawn("windows", follow_windows(weak())),
        ]
    }

    /// Begins to answer all requests of a utility page with an empty document.
    pub(crate) async fn isolate(&self, window: &str) -> Result<()> {
        let (target, _) = self.target_of(window)?;
        self.targets().isolated.insert(target);
        let all = json!({ "url": ".*", "isRegex": true, "stage": "request" });
        self.send(window, "Network.enable", &json!({}));
        let on = json!({ "enabled": true });
        self.send(window, "Network.setInterceptionEnabled", &on);
        let _: Value = self.call(window, "Network.addInterception", &all).await?;
        Ok(())
    }
}

impl WebKitContext {
    /// The driver opens no window while a dialog is open, the browser does.
    pub(crate) async fn create_window(&self) -> Result<String> {
        let hint = json!({ "presentationHint": "Window" });
        let method = "Automation.createBrowsingContext";
        let opened: Value = self.parts.extension.automate(method, &hint).await?;
        Ok(opened["handle"].as_str().unwrap_or_default().to_owned())
    }

    /// Assigns the new target to a window that was opened; `creating` is held.
    pub(crate) async fn attach_new_window(&self, window: &str) -> Result<()> {
        let inspector = &self.parts.extension;
        let mut pages = inspector.pages.clone();
        let new = async {
            loop {
                pages.mark_unchanged();
                if let Some(target) = inspector.unassigned().first() {
                    return Ok(*target);
                }
                pages.changed().await?;
            }
        };
        match tokio::time::timeout(WINDOW_REPORT_TIMEOUT, new).await {
            Ok(Ok::<_, watch::error::RecvError>(target)) => {
                self.attach_window(window, target).await
            }
            _ => Err(Error::protocol("New Window", "no new window was reported")),
        }
    }

    /// The driver does not switch to a window whose dialog is open, and does not return from a page that does not respond. So such
    /// windows are closed by the browser.
    pub(crate) async fn close_page_window(
        &self,
        page: &WebKitPage,
        is_responsive: bool,
    ) -> Result<()> {
        if is_responsive {
            if page.shown_dialog().await?.is_none() {
                return self.close_handle(page.window()).await;
            }
            page.answer_shown_dialog(false, None).await?;
        }
        let window = json!({ "handle": page.window() });
        let method = "Automation.closeBrowsingContext";
        let _: Value = self.parts.extension.automate(method, &window).await?;
        self.parts.driver.reset().await;
        Ok(())
    }

    /// `Page.setCookie` returns before the cookie is stored, and loses it now and then while a busy machine starts the browser.
    pub(crate) async fn set_cookie(&self, window: &str, cookie: &Cookie) -> Result<()> {
        let session = cookie.expires < 0.0;
        let domain = (!needs_document(cookie)).then_some(cookie.domain.as_str());
        let param = json!({
            "name": cookie.name,
            "value": cookie.value,
            "domain": domain.unwrap_or_default(),
            "path": cookie.path,
            "expires": if session { 0.0 } else { cookie.expires },
            "session": session,
            "httpOnly": cookie.http_only,
            "secure": cookie.secure,
            "sameSite": cookie.same_site.unwrap_or(SameSite::Lax).to_string(),
        });
        let params = json!({ "browsingContextHandle": window, "cookie": param });
        let inspector = &self.parts.extension;
        let _: Value = inspector
            .automate("Automation.addSingleCookie", &params)
            .await?;
        Ok(())
    }

    /// An expired cookie replaces it: `Page.deleteCookie` returns before the cookie is deleted, and would delete one that is set next.
    pub(crate) async fn delete_cookie(&self, window: &str, cookie: &Cookie) -> Result<()> {
        let expired = Cookie {
            expires: 1.0,
            ..cookie.clone()
        };
        self.set_cookie(window, &expired).await
    }

    /// Assigns a target to a window, and attaches to it: its events are reported from here on.
    async fn attach_window(&self, window: &str, target: u64) -> Result<()> {
        let inspector = &self.parts.extension;
        {
            let mut targets = inspector.targets();
            targets.known.insert(target);
            targets.by_window.insert(window.to_owned(), target);
        }
        inspector.inspector.attach(target)?;
        let attached = self
            .pages
            .wait(|_| inspector.target_of(window).ok().map(drop));
        match tokio::time::timeout(WINDOW_REPORT_TIMEOUT, attached).await {
            Ok(attached) => attached,
            Err(_) => Err(Error::PageClosed {}),
        }
    }

    /// Removes the pages whose windows are gone, and adds the windows that pages opened.
    async fn on_windows_changed(&self) -> Result<()> {
        let inspector = &self.parts.extension;
        for window in inspector.remove_unlisted() {
            if let Some(page) = self.pages.get(&page_id(&window)) {
                self.remove_window(&page);
            }
        }
        if inspector.unassigned().is_empty() {
            return Ok(());
        }
        let _creating = self.creating.lock().await;
        for target in inspector.unassigned() {
            let handles = self.parts.window_handles().await?;
            // The window may be gone again.
            inspector.targets().known.insert(target);
            if let Some(window) = self.unrecorded_handle(handles) {
                self.on_opened_by_page(&window, target).await?;
            }
        }
        Ok(())
    }

    async fn on_opened_by_page(&self, window: &str, target: u64) -> Result<()> {
        self.record_handle(window);
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
        let adopted = async {
            self.attach_window(window, target).await?;
            self.adopt(window, opener).await
        };
        match adopted.await {
            Ok(page) => {
                // The document may have been created before its init scripts were set.
                page.hook_document();
                page.schedule_poll();
                Ok(())
            }
            Err(error) => {
                self.pages.pages().release_popup(&page_id(window));
                Err(error)
            }
        }
    }
}

/// Whether a cookie is set and deleted from a document that it is sent to. Otherwise any window suffices. The browser adds a dot to the domain that it is given, unless that is an address. Without one, it takes the host of the window.
pub(crate) fn needs_document(cookie: &Cookie) -> bool {
    !cookie.domain.starts_with('.') && cookie.domain.parse::<Ipv4Addr>().is_err()
}

/// Closes a context when its inspector does, which is the first sign of a browser that exits.
async fn on_closed(context: Weak<WebKitContext>, mut closed: watch::Receiver<Option<String>>) {
    let reason = closed.wait_for(Option::is_some).await;
    let reason = reason.ok().and_then(|reason| reason.clone());
    if let Some(context) = context.upgrade() {
        context.on_browser_closed(&reason.unwrap_or_default());
    }
}

/// Follows the browser's list of windows.
async fn follow_windows(context: Weak<WebKitContext>) {
    let pages = |context: Arc<WebKitContext>| context.parts.extension.pages.clone();
    let Some(mut pages) = context.upgrade().map(pages) else {
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
