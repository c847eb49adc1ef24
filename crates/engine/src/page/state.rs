//! The state of a page, which its events change.

use super::interception::Interceptors;
use super::own_requests::OwnRequests;
use super::screencast::RunningScreencast;
use super::workers::WorkerNames;
use super::{InputObserver, Page, PasswordMasks};
use crate::backend::{
    ContextOptions, DialogKind, FrameId, MediaFeatures, PageEvent, PageId, Viewport,
};
use crate::console::ConsoleLog;
use crate::error::{Error, Result};
use crate::frame::FrameTree;
use crate::input::Pressed;
use crate::network::RequestLog;
use crate::source_map::SourceMaps;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The state of a page after the events so far.
pub(crate) struct PageState {
    pub(crate) frames: FrameTree,
    pub(crate) requests: RequestLog,
    pub(crate) console: ConsoleLog,
    pub(crate) source_maps: SourceMaps,
    pub(crate) own_requests: OwnRequests,
    pub(crate) dialog: Option<Dialog>,
    /// How many dialogs have opened.
    pub(super) dialogs: u64,
    pub(crate) file_chooser: Option<FileChooser>,
    pub(crate) pressed: Pressed,
    pub(crate) viewport: Option<Viewport>,
    pub(crate) media: MediaFeatures,
    /// The attribute behind `getByTestId`.
    pub(crate) test_id: Arc<str>,
    /// The masks of values of password fields.
    pub(super) passwords: Option<PasswordMasks>,
    /// Whether hidden text is marked where the page is read.
    pub(crate) marks_hidden: bool,
    /// The prefix of all refs.
    pub(crate) ref_prefix: Arc<str>,
    pub(super) crashed: bool,
    pub(super) closed: bool,
    pub(super) opener: Option<PageId>,
    /// The open pages that scripts of this one opened.
    pub(crate) popups: Vec<Page>,
    /// How many pages scripts of this one have opened.
    pub(crate) popups_opened: u64,
    /// Whether the page tried to open more pages than allowed.
    pub(super) opens_without_end: bool,
    /// How many handlers answer every dialog.
    pub(super) attended: usize,
    /// The subscribers to all events.
    pub(super) taps: Vec<mpsc::Sender<PageEvent>>,
    pub(super) deciders: Interceptors,
    pub(super) screencast: Option<RunningScreencast>,
    pub(super) input_observer: Option<Arc<dyn InputObserver>>,
    /// The last document that a rule refused: perhaps one that another URL redirects to.
    pub(super) refused: Option<String>,
    /// How often the page asked for another page or a download.
    pub(crate) openings: u64,
    /// The events of shared and service workers during a navigation to their origin.
    pub(super) worker_events: Vec<PageEvent>,
    pub(crate) worker_names: WorkerNames,
    /// The URLs of external protocols that were not reported yet.
    pub(super) external_urls: Vec<String>,
}

/// An open dialog, for whose answer the page waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialog {
    /// Alert, confirm, prompt or beforeunload.
    pub kind: DialogKind,
    /// Its message.
    pub message: String,
    /// The default value of a prompt.
    pub default_value: String,
}

/// An open file chooser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileChooser {
    /// Whether more than one file may be chosen.
    pub multiple: bool,
}

impl PageState {
    /// The state of a page that has just been opened.
    pub(super) fn new(main: FrameId, opener: Option<PageId>, options: &ContextOptions) -> Self {
        Self {
            frames: FrameTree::new(main),
            requests: RequestLog::default(),
            console: ConsoleLog::default(),
            source_maps: SourceMaps::default(),
            own_requests: OwnRequests::default(),
            dialog: None,
            dialogs: 0,
            file_chooser: None,
            pressed: Pressed::default(),
            viewport: options.viewport.clone(),
            media: options.media.clone(),
            test_id: "data-testid".into(),
            ref_prefix: "".into(),
            passwords: None,
            marks_hidden: false,
            crashed: false,
            closed: false,
            opener,
            popups: Vec::new(),
            popups_opened: 0,
            opens_without_end: false,
            attended: 0,
            taps: Vec::new(),
            deciders: Interceptors::default(),
            screencast: None,
            input_observer: None,
            refused: None,
            openings: 0,
            worker_events: Vec::new(),
            worker_names: WorkerNames::default(),
            external_urls: Vec::new(),
        }
    }

    /// Whether a dialog is open that no handler of dialogs answers.
    pub(crate) fn is_blocked_by_dialog(&self) -> bool {
        self.dialog.is_some() && self.attended == 0
    }

    /// Whether a dialog is open in a page that is still there.
    pub(super) fn has_dialog(&self) -> bool {
        self.dialog.is_some() && self.alive().is_ok()
    }

    pub(super) fn alive(&self) -> Result<()> {
        if self.closed {
            Err(Error::PageClosed {})
        } else if self.crashed {
            Err(Error::PageCrashed {})
        } else {
            Ok(())
        }
    }

    pub(super) fn apply(&mut self, event: PageEvent) {
        if self.record_external_url(&event) {
            return;
        }
        self.apply_one(event);
        if self.frames.main().pending.is_none() {
            for event in std::mem::take(&mut self.worker_events) {
                self.apply_one(event);
            }
        }
    }

    fn apply_one(&mut self, event: PageEvent) {
        match event {
            PageEvent::FrameAttached { frame, parent } => self.frames.attach(frame, parent),
            PageEvent::FrameNamed { frame, name } => self.frames.set_name(&frame, name),
            PageEvent::FrameDetached { frame } => self.frames.detach(&frame),
            PageEvent::NavigationStarted { frame, loader, url } => {
                self.frames.start(&frame, loader, url);
            }
            PageEvent::NavigationCommitted {
                frame,
                loader,
                url,
                name,
                failed,
            } => {
                if self.frames.is_main(&frame) {
                    self.requests.on_navigated(&loader);
                    self.console.on_navigated();
                    self.dialog = None;
                    self.file_chooser = None;
                    self.opens_without_end = false;
                }
                self.frames.commit(&frame, loader, url, name, failed);
            }
            PageEvent::NavigationAborted {
                frame,
                loader,
                reason,
            } => self.frames.abort(&frame, loader, reason),
            PageEvent::SameDocumentNavigation { frame, url } => {
                self.frames.same_document(&frame, url)
            }
            PageEvent::DomContentLoaded { frame, loader } => {
                self.frames.set_parsed(&frame, &loader)
            }
            PageEvent::Load { frame, loader } => self.frames.set_loaded(&frame, &loader),
            PageEvent::Request(event) => self.requests.apply(event),
            PageEvent::Console(message) => self.console.add(message),
            PageEvent::DialogOpened {
                kind,
                message,
                default_value,
            } => {
                self.dialogs += 1;
                self.dialog = Some(Dialog {
                    kind,
                    message,
                    default_value,
                });
            }
            PageEvent::DialogClosed => self.dialog = None,
            PageEvent::FileChooserOpened { multiple } => {
                self.file_chooser = Some(FileChooser { multiple });
            }
            PageEvent::FileChooserClosed => self.file_chooser = None,
            PageEvent::OpeningRequested => self.openings += 1,
            PageEvent::Crashed => self.crashed = true,
            PageEvent::Closed => self.closed = true,
        }
    }
}
