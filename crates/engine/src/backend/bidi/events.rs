//! From Firefox's events to the engine's, in order.

use super::browser::{Shared, alive};
use super::context::all_gone;
use super::page::BidiPage;
use super::{console, network as requests};
use crate::backend::address::is_opened_here;
use crate::backend::{DialogKind, FrameId, PageEvent};
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

/// What the addresses of the browser's own error pages begin with.
const ERROR_PAGES: [&str; 3] = ["about:neterror", "about:certerror", "about:httpsonlyerror"];

/// Reads a browser's events until the browser is gone.
pub(super) async fn listen(shared: Weak<Shared>, mut events: EventStream) {
    while let Some(event) = events.next().await {
        let Some(shared) = alive(&shared) else { return };
        if event.is::<BeforeRequestSent>() {
            shared.sends(&event).await;
        } else {
            shared.on(&event);
        }
    }
    if let Some(shared) = alive(&shared) {
        if let Some(reason) = events.end_reason() {
            tracing::debug!(reason, "a browser's events ended");
        }
        // Also the end of a queue that overflowed: such a browser cannot be followed any more.
        shared.root.connection().close();
        all_gone(&shared);
    }
}

/// The event's fields; `None`, and a line in the log, if they are not what the specification says.
fn read<E: Event>(event: &RawEvent) -> Option<E> {
    event
        .parse::<E>()?
        .inspect_err(|error| tracing::warn!(%error, "an event is not understood"))
        .ok()
}

impl Shared {
    /// A request is told of with its body, which has to be asked for.
    async fn sends(&self, event: &RawEvent) {
        if let Some(sent) = read::<BeforeRequestSent>(event) {
            let body = self.short_body(&sent).await;
            self.sent(sent, body);
        }
    }

    fn on(&self, event: &RawEvent) -> Option<()> {
        match &*event.method {
            ContextCreated::METHOD => self.appeared(&read::<ContextCreated>(event)?.0),
            ContextDestroyed::METHOD => self.disappeared(&read::<ContextDestroyed>(event)?.0),
            NavigationStarted::METHOD => self.navigates(read::<NavigationStarted>(event)?.0),
            NavigationCommitted::METHOD => self.navigated(&read::<NavigationCommitted>(event)?.0),
            NavigationAborted::METHOD => self.came_to_nothing(read::<NavigationAborted>(event)?.0),
            NavigationFailed::METHOD => self.came_to_nothing(read::<NavigationFailed>(event)?.0),
            FragmentNavigated::METHOD => self.moved(read::<FragmentNavigated>(event)?.0),
            HistoryUpdated::METHOD => self.moved(read::<HistoryUpdated>(event)?.0),
            DomContentLoaded::METHOD => self.parsed(&read::<DomContentLoaded>(event)?.0),
            Load::METHOD => self.loaded(&read::<Load>(event)?.0),
            DownloadWillBegin::METHOD => self.download_begins(read(event)?),
            DownloadEnd::METHOD => self.download_ended(read(event)?),
            UserPromptOpened::METHOD => self.dialog_opens(read(event)?),
            UserPromptClosed::METHOD => {
                let closed: UserPromptClosed = read(event)?;
                self.page_of(&closed.context)?
                    .report(PageEvent::DialogClosed);
            }
            FileDialogOpened::METHOD => {
                let dialog: FileDialogOpened = read(event)?;
                self.page_of(&dialog.context)?.chooser_opened(dialog);
            }
            EntryAdded::METHOD => {
                let entry: EntryAdded = read(event)?;
                let page = self.page_of(entry.source.context.as_deref()?)?;
                page.report(PageEvent::Console(console::message(&entry)));
            }
            method if method.starts_with("network.") => self.on_network(event)?,
            _ => {}
        }
        Some(())
    }

    fn appeared(&self, info: &browsing_context::Info) {
        if let Some(parent) = &info.parent {
            if let Some(page) = self.page_of(parent) {
                self.frame_is_of(FrameId::from(&info.context), page.clone());
                page.frame_attached(info, parent);
                page.ask_for_name(FrameId::from(&info.context));
            }
        } else if let Some(user_context) = &info.user_context
            && let Some(context) = self.context_of(user_context)
            && self.page_of(&info.context).is_none()
        {
            context.page_appeared(self, info);
        }
    }

    fn disappeared(&self, info: &browsing_context::Info) {
        let Some(page) = self.page_of(&info.context) else {
            return;
        };
        let frame = FrameId::from(&info.context);
        if info.parent.is_some() {
            for gone in page.frame_gone(&frame) {
                self.frame_is_gone(&gone);
            }
            return;
        }
        self.page_is_gone(&page);
        match page.context() {
            Some(context) => context.page_disappeared(&page),
            None => page.ended(),
        }
    }

    fn page_and_frame(&self, info: &NavigationInfo) -> Option<(Arc<BidiPage>, FrameId)> {
        let page = self.page_of(&info.context)?;
        Some((page, FrameId::from(&info.context)))
    }

    fn navigates(&self, info: NavigationInfo) {
        // What other programs open begins, and never ends.
        if !is_opened_here(&info.url) {
            return;
        }
        let Some((page, frame)) = self.page_and_frame(&info) else {
            return;
        };
        if page.page_id().as_str() == info.context {
            page.navigation_began();
        }
        page.report(PageEvent::NavigationStarted {
            frame,
            loader: info.navigation.map(Into::into),
            url: info.url,
        });
    }

    fn navigated(&self, info: &NavigationInfo) {
        let Some((page, frame)) = self.page_and_frame(info) else {
            return;
        };
        if let Some(context) = page.context() {
            context.visited(&info.url);
        }
        let loader = info.navigation.as_deref().unwrap_or_default();
        page.frame_shows(&frame, loader, shown(&info.url), failed(&info.url));
    }

    fn came_to_nothing(&self, info: NavigationInfo) {
        let Some((page, frame)) = self.page_and_frame(&info) else {
            return;
        };
        page.report(PageEvent::NavigationAborted {
            frame,
            loader: info.navigation.map(Into::into),
            reason: String::new(),
        });
    }

    fn moved(&self, info: NavigationInfo) {
        if let Some((page, frame)) = self.page_and_frame(&info) {
            page.frame_moved(&frame, info.url);
        }
    }

    fn parsed(&self, info: &NavigationInfo) {
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
        // Such a page loads nothing, and does not say when it has.
        if shown(&info.url) != info.url {
            self.loaded(info);
        }
    }

    fn loaded(&self, info: &NavigationInfo) {
        if let Some((page, frame)) = self.page_and_frame(info)
            && let Some(navigation) = &info.navigation
        {
            page.report(PageEvent::Load {
                frame,
                loader: navigation.into(),
            });
        }
    }

    fn dialog_opens(&self, dialog: UserPromptOpened) {
        let Some(page) = self.page_of(&dialog.context) else {
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
        let event = requests::Network::read(event)?;
        self.network_went_on(event);
        Some(())
    }
}

/// An address as it is shown: all that an error page says stands in its own, at length.
fn shown(url: &str) -> &str {
    let page = ERROR_PAGES.iter().find(|page| url.starts_with(*page));
    page.unwrap_or(&url)
}

/// The address that an error page is about.
fn failed(url: &str) -> Option<String> {
    ERROR_PAGES.iter().find(|page| url.starts_with(*page))?;
    let page = Url::parse(url).ok()?;
    let about = page.query_pairs().find(|(name, _)| name == "u");
    Some(about.map(|(_, url)| url.into_owned()).unwrap_or_default())
}
