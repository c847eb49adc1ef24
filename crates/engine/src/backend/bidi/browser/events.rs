//! Conversion of Firefox's events to events of the engine, in order.

use super::Shared;
use crate::backend::address::is_opened_here;
use crate::backend::bidi::console;
use crate::backend::bidi::network::Network;
use crate::backend::bidi::page::BidiPage;
use crate::backend::{DialogKind, FrameId, PageBackend, PageEvent};
use std::sync::{Arc, Weak};
use url::Url;
use wire::bidi::browsing_context::{
    ContextCreated, ContextDestroyed, DomContentLoaded, DownloadEnd, DownloadWillBegin,
    FragmentNavigated, HistoryUpdated, Load, NavigationAborted, NavigationCommitted,
    NavigationFailed, NavigationInfo, NavigationStarted, UserPromptClosed, UserPromptOpened,
};
use wire::bidi::input::FileDialogOpened;
use wire::bidi::log::EntryAdded;
use wire::bidi::network::BeforeRequestSent;
use wire::bidi::{Event, browsing_context};
use wire::{EventStream, RawEvent};

/// The prefixes of the URLs of Firefox's error pages.
const ERROR_PAGES: [&str; 3] = ["about:neterror", "about:certerror", "about:httpsonlyerror"];

/// Reads the events of a browser until it is closed.
pub(super) async fn listen(shared: Weak<Shared>, mut events: EventStream) {
    while let Some(event) = events.next().await {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        if event.is::<BeforeRequestSent>() {
            shared.on_before_request_sent(&event).await;
        } else {
            shared.on(&event);
        }
    }
    if let Some(shared) = shared.upgrade() {
        if let Some(reason) = events.end_reason() {
            tracing::debug!(reason, "a browser's events ended");
        }
        // The queue also ends on overflow, after which the state of the browser is unknown.
        shared.root.connection().close();
        for context in shared.contexts() {
            context.on_browser_closed();
        }
        shared.pages.clear();
    }
}

/// Parses an event. An invalid one is logged and `None` is returned.
fn read<E: Event>(event: &RawEvent) -> Option<E> {
    event
        .parse::<E>()?
        .inspect_err(|error| tracing::warn!(%error, "an event is not understood"))
        .ok()
}

impl Shared {
    /// Reports a request with its body, which is requested first.
    async fn on_before_request_sent(&self, event: &RawEvent) {
        if let Some(sent) = read::<BeforeRequestSent>(event) {
            let body = self.short_body(&sent).await;
            self.on_request_sent(sent, body);
        }
    }

    fn on(&self, event: &RawEvent) -> Option<()> {
        match &*event.method {
            ContextCreated::METHOD => self.on_context_created(&read::<ContextCreated>(event)?.0),
            ContextDestroyed::METHOD => {
                self.on_context_destroyed(&read::<ContextDestroyed>(event)?.0)
            }
            NavigationStarted::METHOD => {
                self.on_navigation_started(read::<NavigationStarted>(event)?.0)
            }
            NavigationCommitted::METHOD => {
                self.on_navigation_committed(&read::<NavigationCommitted>(event)?.0)
            }
            NavigationAborted::METHOD => {
                self.on_navigation_aborted(read::<NavigationAborted>(event)?.0)
            }
            NavigationFailed::METHOD => {
                self.on_navigation_aborted(read::<NavigationFailed>(event)?.0)
            }
            FragmentNavigated::METHOD => {
                self.on_history_updated(read::<FragmentNavigated>(event)?.0)
            }
            HistoryUpdated::METHOD => self.on_history_updated(read::<HistoryUpdated>(event)?.0),
            DomContentLoaded::METHOD => {
                self.on_dom_content_loaded(&read::<DomContentLoaded>(event)?.0)
            }
            Load::METHOD => self.on_load(&read::<Load>(event)?.0),
            DownloadWillBegin::METHOD => self.on_download_will_begin(read(event)?),
            DownloadEnd::METHOD => self.on_download_end(read(event)?),
            UserPromptOpened::METHOD => self.on_user_prompt_opened(read(event)?),
            UserPromptClosed::METHOD => {
                let closed: UserPromptClosed = read(event)?;
                self.pages
                    .get(&closed.context)?
                    .report(PageEvent::DialogClosed);
            }
            FileDialogOpened::METHOD => {
                let dialog: FileDialogOpened = read(event)?;
                self.pages.get(&dialog.context)?.chooser_opened(dialog);
            }
            EntryAdded::METHOD => {
                let entry: EntryAdded = read(event)?;
                let page = self.pages.get(entry.source.context.as_deref()?)?;
                page.report(PageEvent::Console(console::message(&entry)));
            }
            method if method.starts_with("network.") => self.on_network(event)?,
            _ => {}
        }
        Some(())
    }

    fn on_context_created(&self, info: &browsing_context::Info) {
        if let Some(parent) = &info.parent {
            if let Some(page) = self.pages.get(parent) {
                self.pages.insert(&info.context, page.clone());
                page.frame_attached(info, parent);
                page.request_frame_name(FrameId::from(&info.context));
            }
        } else if let Some(user_context) = &info.user_context
            && let Some(context) = self.context(user_context)
            && self.pages.get(&info.context).is_none()
        {
            context.on_page_created(info);
        }
    }

    fn on_context_destroyed(&self, info: &browsing_context::Info) {
        let Some(page) = self.pages.get(&info.context) else {
            return;
        };
        let frame = FrameId::from(&info.context);
        if info.parent.is_some() {
            for removed in page.remove_frame(&frame) {
                self.pages.remove_frame(&removed);
            }
            return;
        }
        self.pages.remove_page(&page);
        match self.context(page.user_context()) {
            Some(context) => context.on_page_destroyed(&page),
            None => page.on_closed(),
        }
    }

    fn page_and_frame(&self, info: &NavigationInfo) -> Option<(Arc<BidiPage>, FrameId)> {
        let page = self.pages.get(&info.context)?;
        Some((page, FrameId::from(&info.context)))
    }

    fn on_navigation_started(&self, info: NavigationInfo) {
        // The navigation of a URL that another program opens has no end.
        if !is_opened_here(&info.url) {
            return;
        }
        let Some((page, frame)) = self.page_and_frame(&info) else {
            return;
        };
        if page.id().as_str() == info.context {
            page.navigation_began(info.navigation.as_deref());
        }
        page.report(PageEvent::NavigationStarted {
            frame,
            loader: info.navigation.map(Into::into),
            url: info.url,
        });
    }

    fn on_navigation_committed(&self, info: &NavigationInfo) {
        let Some((page, frame)) = self.page_and_frame(info) else {
            return;
        };
        if let Some(context) = self.context(page.user_context()) {
            context.grant_to_visited(&info.url);
        }
        let loader = info.navigation.as_deref().unwrap_or_default();
        page.set_frame_document(
            &frame,
            loader,
            shorten_error_url(&info.url),
            error_page_url(&info.url),
        );
    }

    fn on_navigation_aborted(&self, info: NavigationInfo) {
        let Some((page, frame)) = self.page_and_frame(&info) else {
            return;
        };
        page.report(PageEvent::NavigationAborted {
            frame,
            loader: info.navigation.map(Into::into),
            reason: None,
        });
    }

    fn on_history_updated(&self, info: NavigationInfo) {
        if let Some((page, frame)) = self.page_and_frame(&info) {
            page.on_url_changed(&frame, info.url);
        }
    }

    fn on_dom_content_loaded(&self, info: &NavigationInfo) {
        let Some((page, frame)) = self.page_and_frame(info) else {
            return;
        };
        let Some(navigation) = &info.navigation else {
            return;
        };
        page.report(PageEvent::DomContentLoaded {
            frame,
            loader: navigation.into(),
        });
        // An error page has no load event.
        if shorten_error_url(&info.url) != info.url {
            self.on_load(info);
        }
    }

    fn on_load(&self, info: &NavigationInfo) {
        if let Some((page, frame)) = self.page_and_frame(info)
            && let Some(navigation) = &info.navigation
        {
            page.report(PageEvent::Load {
                frame,
                loader: navigation.into(),
            });
        }
    }

    fn on_user_prompt_opened(&self, dialog: UserPromptOpened) {
        let Some(page) = self.pages.get(&dialog.context) else {
            return;
        };
        page.report(PageEvent::DialogOpened {
            kind: match dialog.kind.as_str() {
                "confirm" => DialogKind::Confirm,
                "prompt" => DialogKind::Prompt,
                "beforeunload" => DialogKind::Beforeunload,
                _ => DialogKind::Alert,
            },
            message: dialog.message,
            default_value: dialog.default_value.unwrap_or_default(),
        });
    }

    fn on_network(&self, event: &RawEvent) -> Option<()> {
        let event = Network::read(event)?;
        self.on_network_event(event);
        Some(())
    }
}

/// Returns a URL for display: that of an error page without its long query.
fn shorten_error_url(url: &str) -> &str {
    let page = ERROR_PAGES.iter().find(|page| url.starts_with(*page));
    page.unwrap_or(&url)
}

/// Returns the URL that an error page is about.
fn error_page_url(url: &str) -> Option<String> {
    ERROR_PAGES.iter().find(|page| url.starts_with(*page))?;
    let page = Url::parse(url).ok()?;
    let about = page.query_pairs().find(|(name, _)| name == "u");
    Some(about.map(|(_, url)| url.into_owned()).unwrap_or_default())
}
