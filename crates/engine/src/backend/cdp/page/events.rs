//! Conversion of Chromium's events of a page to events of the engine, in order.

use super::setup::{self, AttachedDocument, PendingDocument, Prepared};
use super::{CdpPage, authentication};
use crate::backend::cdp::console::{self, LoggedObjects};
use crate::backend::cdp::network;
use crate::backend::{DialogKind, FrameId, LoaderId, PageEvent, PageObserver, RequestEvent};
use futures_util::future::{FusedFuture as _, OptionFuture};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use std::pin::pin;
use std::sync::{Arc, Weak};
use wire::cdp::{
    Event, css, debugger, fetch, heap_profiler, input, inspector, log, page, runtime, target,
    tracing, web_mcp,
};
use wire::{EventStream, RawEvent, Session};

/// The domains whose events belong to a trace, a heap snapshot or coverage.
const PROFILING_DOMAINS: [&str; 4] = ["Tracing.", "HeapProfiler.", "CSS.", "Debugger."];

impl Prepared {
    /// Reports the present frames and documents, then all further events.
    pub(crate) fn listen(self, observer: Arc<dyn PageObserver>) {
        let Self { page, events, tree } = self;
        page.reporter.set_observer(observer);
        let session = page.session.clone();
        setup::report(
            &page,
            &AttachedDocument {
                session,
                tree,
                restored: false,
            },
        );
        let reader = task::spawn("page events", listen(Arc::downgrade(&page), events));
        // No other code sets it.
        let _ = page.reader.set(reader);
    }
}

/// Reads the events of a page until it is closed.
pub(super) async fn listen(page: Weak<CdpPage>, mut events: EventStream) {
    // Frame trees that were requested. They are reported here, so that documents that were reported meanwhile are not reported twice.
    let mut pending = FuturesUnordered::<PendingDocument>::new();
    let mut logged = LoggedObjects::default();
    let mut releasing = pin!(OptionFuture::default());
    loop {
        if !logged.is_empty() && releasing.is_terminated() {
            releasing.set(Some(logged.release().fuse()).into());
        }
        tokio::select! {
            biased;
            Some(document) = pending.next(), if !pending.is_empty() => {
                let Some(page) = page.upgrade() else { break };
                if let Some(document) = document {
                    setup::report(&page, &document);
                }
            }
            Some(()) = &mut releasing, if !releasing.is_terminated() => {}
            event = events.next() => {
                let (Some(event), Some(page)) = (event, page.upgrade()) else { break };
                logged.record_objects(&event, || page.session_named(event.session.as_ref()));
                pending.extend(page.on(&event));
            }
        }
    }
    if let Some(page) = page.upgrade() {
        // The queue also ends on overflow, after which the state of the page is unknown.
        if let Some(reason) = events.end_reason() {
            ::tracing::debug!(reason, "a page's events ended");
        }
        page.report(PageEvent::Closed);
    }
}

/// Parses an event. An invalid one is logged and `None` is returned.
fn read<E: Event>(event: &RawEvent) -> Option<E> {
    event
        .parse::<E>()?
        .inspect_err(|error| ::tracing::warn!(%error, "an event is not understood"))
        .ok()
}

impl CdpPage {
    /// Handles an event. Returns a request for a frame tree, if one is needed.
    fn on(self: &Arc<Self>, event: &RawEvent) -> Option<PendingDocument> {
        let session = || self.session_named(event.session.as_ref());
        match &*event.method {
            page::LifecycleEvent::METHOD => self.on_lifecycle_event(read(event)?),
            page::FrameStartedNavigating::METHOD => self.on_frame_started_navigating(read(event)?),
            page::FrameRequestedNavigation::METHOD => {
                self.on_frame_requested_navigation(&read(event)?)
            }
            page::WindowOpen::METHOD => self.report(PageEvent::OpeningRequested),
            page::FrameNavigated::METHOD => {
                return self.on_frame_navigated(&read(event)?, &session());
            }
            page::FrameStoppedLoading::METHOD => self.on_frame_stopped_loading(read(event)?),
            page::NavigatedWithinDocument::METHOD => {
                self.on_navigated_within_document(read(event)?)
            }
            page::FrameAttached::METHOD => self.on_frame_attached(read(event)?, session()),
            page::FrameDetached::METHOD => self.on_frame_detached(read(event)?),
            page::JavascriptDialogOpening::METHOD => {
                self.on_dialog_opening(read(event)?, session())
            }
            page::JavascriptDialogClosed::METHOD => self.report(PageEvent::DialogClosed),
            page::FileChooserOpened::METHOD => {
                self.on_file_chooser_opened(&read(event)?, session())
            }
            target::AttachedToTarget::METHOD => {
                return setup::child(self, &session(), read(event)?);
            }
            target::DetachedFromTarget::METHOD => {
                self.child_detached(&read::<target::DetachedFromTarget>(event)?.session_id);
            }
            fetch::RequestPaused::METHOD => self.on_request_paused(&session(), read(event)?),
            fetch::AuthRequired::METHOD => {
                authentication::answer(self, &session(), &read(event)?);
            }
            log::EntryAdded::METHOD => {
                let entry = console::entry(&read::<log::EntryAdded>(event)?.entry)?;
                self.report(PageEvent::Console(entry));
            }
            // If the process of a frame crashes, the page remains.
            inspector::TargetCrashed::METHOD if self.is_own(event) => {
                self.report(PageEvent::Crashed);
            }
            page::ScreencastFrame::METHOD => self.on_screencast_frame(read(event)?),
            input::DragIntercepted::METHOD => {
                self.drag
                    .intercepted(read::<input::DragIntercepted>(event)?.data);
            }
            method
                if PROFILING_DOMAINS
                    .iter()
                    .any(|domain| method.starts_with(domain)) =>
            {
                self.on_profiling(event)?;
            }
            web_mcp::ToolResponded::METHOD => self.tool_responses.add(read(event)?),
            method if method.starts_with("Runtime.") => self.on_runtime(event)?,
            method if method.starts_with("Network.") => self.on_network(event, &session()),
            _ => {}
        }
        None
    }

    fn is_own(&self, event: &RawEvent) -> bool {
        event.session.as_ref().is_none_or(|id| self.is_session(id))
    }

    fn on_lifecycle_event(&self, lifecycle: page::LifecycleEvent) {
        let (frame, loader) = (lifecycle.frame_id.into(), lifecycle.loader_id.into());
        match lifecycle.name.as_str() {
            "DOMContentLoaded" => self.report(PageEvent::DomContentLoaded { frame, loader }),
            "load" => self.report(PageEvent::Load { frame, loader }),
            _ => {}
        }
    }

    fn on_frame_requested_navigation(&self, requested: &page::FrameRequestedNavigation) {
        use page::ClientNavigationDisposition as To;
        if matches!(
            requested.disposition,
            To::NewTab | To::NewWindow | To::Download
        ) {
            self.report(PageEvent::OpeningRequested);
        }
    }

    fn on_frame_started_navigating(&self, started: page::FrameStartedNavigating) {
        use page::FrameNavigationKind as Kind;
        if matches!(
            started.navigation_type,
            Kind::SameDocument | Kind::HistorySameDocument
        ) {
            return;
        }
        let frame = FrameId::from(started.frame_id);
        let loader = (!started.loader_id.is_empty()).then(|| LoaderId::from(started.loader_id));
        self.navigation_started(&frame, loader.as_ref());
        self.report(PageEvent::NavigationStarted {
            frame,
            loader,
            url: started.url,
        });
    }

    fn on_frame_navigated(
        self: &Arc<Self>,
        navigated: &page::FrameNavigated,
        session: &Session,
    ) -> Option<PendingDocument> {
        let frame = FrameId::from(&navigated.frame.id);
        self.set_frame_document(&frame, session);
        self.throttle_new_process(session);
        if frame == self.main {
            self.clear_style_sheets();
        }
        self.report(setup::committed(&navigated.frame));
        // A document from the back/forward cache has its frames, and is loaded already.
        (navigated.kind == page::NavigationType::BackForwardCacheRestore)
            .then(|| setup::load_restored_frames(session))
    }

    /// Handles the end of loading. After a commit no navigation is pending, so this only reports aborted ones.
    fn on_frame_stopped_loading(&self, stopped: page::FrameStoppedLoading) {
        self.report(PageEvent::NavigationAborted {
            frame: stopped.frame_id.into(),
            loader: None,
            reason: None,
        });
    }

    fn on_navigated_within_document(&self, within: page::NavigatedWithinDocument) {
        self.report(PageEvent::SameDocumentNavigation {
            frame: within.frame_id.into(),
            url: within.url,
        });
    }

    fn on_frame_attached(&self, attached: page::FrameAttached, session: Session) {
        let (frame, parent) = (
            FrameId::from(attached.frame_id),
            FrameId::from(attached.parent_frame_id),
        );
        self.frame_attached(frame.clone(), parent.clone(), session);
        self.report(PageEvent::FrameAttached { frame, parent });
    }

    fn on_frame_detached(&self, detached: page::FrameDetached) {
        // A swap is a move to another process, which reports the frame itself.
        if detached.reason != page::FrameDetachedReason::Swap {
            let frame = FrameId::from(detached.frame_id);
            self.remove_frame(&frame);
            self.report(PageEvent::FrameDetached { frame });
        }
    }

    fn on_dialog_opening(&self, dialog: page::JavascriptDialogOpening, session: Session) {
        self.dialog_opened(session);
        self.report(PageEvent::DialogOpened {
            kind: match dialog.kind {
                page::DialogType::Confirm => DialogKind::Confirm,
                page::DialogType::Prompt => DialogKind::Prompt,
                page::DialogType::Beforeunload => DialogKind::Beforeunload,
                page::DialogType::Alert | page::DialogType::Unknown => DialogKind::Alert,
            },
            message: dialog.message,
            default_value: dialog.default_prompt.unwrap_or_default(),
        });
    }

    fn on_file_chooser_opened(&self, chooser: &page::FileChooserOpened, session: Session) {
        self.chooser_opened(session, chooser.backend_node_id);
        self.report(PageEvent::FileChooserOpened {
            multiple: chooser.mode == page::FileChooserMode::SelectMultiple,
        });
    }

    fn on_runtime(&self, event: &RawEvent) -> Option<()> {
        let session = event.session.clone().unwrap_or_else(|| "".into());
        match &*event.method {
            runtime::ExecutionContextCreated::METHOD => {
                let created: runtime::ExecutionContextCreated = read(event)?;
                self.worlds().created(&session, &created.context);
                self.new_worlds.notify();
            }
            runtime::ExecutionContextDestroyed::METHOD => {
                let destroyed: runtime::ExecutionContextDestroyed = read(event)?;
                self.worlds()
                    .destroyed(&session, destroyed.execution_context_id);
            }
            runtime::ExecutionContextsCleared::METHOD => self.worlds().cleared(&session),
            runtime::ConsoleAPICalled::METHOD => {
                let message = console::called(&read(event)?);
                self.report(PageEvent::Console(self.with_worker(event, message)));
            }
            runtime::ExceptionThrown::METHOD => {
                let message = console::thrown(&read(event)?);
                self.report(PageEvent::Console(self.with_worker(event, message)));
            }
            _ => {}
        }
        Some(())
    }

    fn on_profiling(&self, event: &RawEvent) -> Option<()> {
        match &*event.method {
            tracing::TracingComplete::METHOD => self.on_tracing_complete(read(event)?),
            heap_profiler::AddHeapSnapshotChunk::METHOD => {
                self.on_heap_snapshot_chunk(&read(event)?);
            }
            css::StyleSheetAdded::METHOD => self.on_style_sheet_added(read(event)?),
            css::StyleSheetRemoved::METHOD => self.on_style_sheet_removed(&read(event)?),
            debugger::ScriptParsed::METHOD => self.on_script_parsed(read(event)?),
            _ => {}
        }
        Some(())
    }

    fn on_network(&self, event: &RawEvent, session: &Session) {
        for translated in network::request_events(event) {
            match &translated {
                RequestEvent::Started {
                    id,
                    frame,
                    is_navigation,
                    ..
                } => {
                    let navigates = frame.clone().filter(|_| *is_navigation);
                    self.request_sent(id.clone(), session.clone(), navigates);
                }
                // The request of a document has the identifier of its loader. Without the document there is no commit to wait for.
                RequestEvent::Failed { id, reason, .. } => {
                    if let Some(frame) = self.navigated_by(id) {
                        self.report(PageEvent::NavigationAborted {
                            frame,
                            loader: Some(LoaderId::from(id.as_str())),
                            reason: Some(reason.clone()),
                        });
                    }
                }
                _ => {}
            }
            let sent_by = match &translated {
                RequestEvent::Started { id, .. } => self.sent_by_worker(id, session.id()),
                _ => None,
            };
            self.report(PageEvent::Request(translated));
            if let Some(sent_by) = sent_by {
                self.report(PageEvent::Request(sent_by));
            }
        }
    }
}
