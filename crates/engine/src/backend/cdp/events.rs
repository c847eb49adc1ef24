//! From Chromium's events to the engine's, one page at a time and in order.

use super::page::CdpPage;
use super::{console, network, setup};
use crate::backend::{DialogKind, FrameId, PageEvent, RequestEvent};
use std::sync::{Arc, Weak};
use wire::cdp::{fetch, input, inspector, log, page, runtime, target};
use wire::{EventStream, RawEvent};

/// Reads a page's events until the page is gone.
pub(super) async fn listen(page: Weak<CdpPage>, mut events: EventStream) {
    while let Some(event) = events.next().await {
        let Some(page) = page.upgrade() else { return };
        page.on(&event);
    }
    if let Some(page) = page.upgrade() {
        // Also the end of a queue that overflowed: such a page cannot be followed any more.
        if let Some(reason) = events.end_reason() {
            tracing::debug!(reason, "a page's events ended");
        }
        page.report(PageEvent::Closed);
    }
}

/// A document as the frame tree or a commit tells it.
pub(super) fn committed(frame: &page::Frame) -> PageEvent {
    PageEvent::NavigationCommitted {
        frame: frame.id.as_str().into(),
        loader: frame.loader_id.as_str().into(),
        url: frame.url.clone() + frame.url_fragment.as_deref().unwrap_or_default(),
        name: frame.name.clone().unwrap_or_default(),
    }
}

impl CdpPage {
    fn on(self: &Arc<Self>, event: &RawEvent) {
        match event.method.split_once('.').map(|(domain, _)| domain) {
            Some("Page") => self.on_page(event),
            Some("Runtime") => self.on_runtime(event),
            Some("Network") => self.on_network(event),
            Some("Target") => self.on_target(event),
            Some("Fetch") => self.on_fetch(event),
            Some("Log") => {
                if let Some(Ok(added)) = event.parse::<log::EntryAdded>()
                    && let Some(message) = console::entry(&added.entry)
                {
                    self.report(PageEvent::Console(message));
                }
            }
            // The crash of a frame's process leaves the page alive.
            Some("Inspector") if event.is::<inspector::TargetCrashed>() && self.is_own(event) => {
                self.report(PageEvent::Crashed);
            }
            Some("Input") => {
                if let Some(Ok(dragged)) = event.parse::<input::DragIntercepted>() {
                    self.drag.intercepted(dragged.data);
                }
            }
            _ => {}
        }
    }

    fn is_own(&self, event: &RawEvent) -> bool {
        event.session.as_ref().is_none_or(|id| self.is_session(id))
    }

    fn on_page(&self, event: &RawEvent) {
        if let Some(Ok(lifecycle)) = event.parse::<page::LifecycleEvent>() {
            let (frame, loader) = (lifecycle.frame_id.into(), lifecycle.loader_id.into());
            match lifecycle.name.as_str() {
                "DOMContentLoaded" => self.report(PageEvent::DomContentLoaded { frame, loader }),
                "load" => self.report(PageEvent::Load { frame, loader }),
                _ => {}
            }
        } else if let Some(Ok(navigated)) = event.parse::<page::FrameNavigated>() {
            let frame = FrameId::from(&navigated.frame.id);
            self.frame_moved(&frame, &self.session_named(event.session.as_ref()));
            self.report(committed(&navigated.frame));
        } else if let Some(Ok(started)) = event.parse::<page::FrameStartedNavigating>() {
            use page::FrameNavigationKind as Kind;
            if !matches!(
                started.navigation_type,
                Kind::SameDocument | Kind::HistorySameDocument
            ) {
                self.report(PageEvent::NavigationStarted {
                    frame: started.frame_id.into(),
                    loader: (!started.loader_id.is_empty()).then(|| started.loader_id.into()),
                    url: started.url,
                });
            }
        } else if let Some(Ok(stopped)) = event.parse::<page::FrameStoppedLoading>() {
            // After a commit nothing is pending any more, so this ends only what came to nothing.
            self.report(PageEvent::NavigationAborted {
                frame: stopped.frame_id.into(),
                loader: None,
                reason: String::new(),
            });
        } else if let Some(Ok(within)) = event.parse::<page::NavigatedWithinDocument>() {
            self.report(PageEvent::SameDocumentNavigation {
                frame: within.frame_id.into(),
                url: within.url,
            });
        } else if let Some(Ok(attached)) = event.parse::<page::FrameAttached>() {
            let (frame, parent) = (
                FrameId::from(attached.frame_id),
                FrameId::from(attached.parent_frame_id),
            );
            let session = self.session_named(event.session.as_ref());
            self.frame_attached(frame.clone(), parent.clone(), session);
            self.report(PageEvent::FrameAttached { frame, parent });
        } else if let Some(Ok(detached)) = event.parse::<page::FrameDetached>() {
            // A swap is a move to another process, which tells of the frame itself.
            if detached.reason != page::FrameDetachedReason::Swap {
                let frame = FrameId::from(detached.frame_id);
                self.frame_gone(&frame);
                self.report(PageEvent::FrameDetached { frame });
            }
        } else if let Some(Ok(dialog)) = event.parse::<page::JavascriptDialogOpening>() {
            self.dialog_opened(self.session_named(event.session.as_ref()));
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
        } else if event.is::<page::JavascriptDialogClosed>() {
            self.report(PageEvent::DialogClosed);
        } else if let Some(Ok(chooser)) = event.parse::<page::FileChooserOpened>() {
            self.chooser_opened(
                self.session_named(event.session.as_ref()),
                chooser.backend_node_id,
            );
            self.report(PageEvent::FileChooserOpened {
                multiple: chooser.mode == page::FileChooserMode::SelectMultiple,
            });
        }
    }

    fn on_runtime(&self, event: &RawEvent) {
        let session = event.session.clone().unwrap_or_else(|| "".into());
        if let Some(Ok(created)) = event.parse::<runtime::ExecutionContextCreated>() {
            self.worlds().created(&session, &created.context);
        } else if let Some(Ok(destroyed)) = event.parse::<runtime::ExecutionContextDestroyed>() {
            self.worlds()
                .destroyed(&session, destroyed.execution_context_id);
        } else if event.is::<runtime::ExecutionContextsCleared>() {
            self.worlds().cleared(&session);
        } else if let Some(Ok(called)) = event.parse::<runtime::ConsoleAPICalled>() {
            self.report(PageEvent::Console(console::called(&called)));
        } else if let Some(Ok(thrown)) = event.parse::<runtime::ExceptionThrown>() {
            self.report(PageEvent::Console(console::thrown(&thrown)));
        }
    }

    fn on_network(&self, event: &RawEvent) {
        for translated in network::translated(event) {
            if let PageEvent::Request(RequestEvent::Started { id, .. }) = &translated {
                self.request_seen(id.clone(), self.session_named(event.session.as_ref()));
            }
            if let PageEvent::Request(RequestEvent::Failed { id, reason, .. }) = &translated {
                self.navigation_failed(id.as_str(), reason);
            }
            self.report(translated);
        }
    }

    /// A document's request carries its loader's name; without the document there is no commit to wait for.
    fn navigation_failed(&self, loader: &str, reason: &str) {
        self.report(PageEvent::NavigationAborted {
            frame: crate::backend::PageBackend::main_frame(self),
            loader: Some(loader.into()),
            reason: reason.to_owned(),
        });
    }

    fn on_target(self: &Arc<Self>, event: &RawEvent) {
        if let Some(Ok(attached)) = event.parse::<target::AttachedToTarget>() {
            let parent = self.session_named(event.session.as_ref());
            setup::child(self, &parent, attached);
        } else if let Some(Ok(detached)) = event.parse::<target::DetachedFromTarget>() {
            self.child_detached(&detached.session_id);
        }
    }

    /// Requests pass only because somebody has to answer for them; see [`setup::answers_authentication`].
    fn on_fetch(&self, event: &RawEvent) {
        let session = self.session_named(event.session.as_ref());
        if let Some(Ok(paused)) = event.parse::<fetch::RequestPaused>() {
            drop(session.send(&fetch::ContinueRequest {
                request_id: paused.request_id,
                ..Default::default()
            }));
        } else if let Some(Ok(required)) = event.parse::<fetch::AuthRequired>() {
            let answer = self.credentials(&required);
            drop(session.send(&fetch::ContinueWithAuth {
                request_id: required.request_id,
                auth_challenge_response: answer,
            }));
        }
    }

    fn credentials(&self, required: &fetch::AuthRequired) -> fetch::AuthChallengeResponse {
        let options = self.options();
        let known = if required.auth_challenge.source == Some(fetch::AuthSource::Proxy) {
            options
                .proxy
                .and_then(|proxy| Some((proxy.username?, proxy.password.unwrap_or_default())))
        } else {
            options
                .http_credentials
                .filter(|known| {
                    known.origin.as_ref().is_none_or(|origin| {
                        origin.trim_end_matches('/') == required.auth_challenge.origin
                    })
                })
                .map(|known| (known.username, known.password))
        };
        // Asked a second time for the same request, they were wrong: the page gets the 401.
        match known.filter(|_| self.first_challenge(&required.request_id)) {
            Some((username, password)) => fetch::AuthChallengeResponse {
                response: fetch::AuthResponse::ProvideCredentials,
                username: Some(username),
                password: Some(password),
            },
            None => fetch::AuthChallengeResponse {
                response: fetch::AuthResponse::CancelAuth,
                ..Default::default()
            },
        }
    }
}
