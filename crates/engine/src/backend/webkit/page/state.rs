//! The state of a page.

use super::frames::FrameState;
use crate::backend::{DialogKind, FrameId, Headers, LoaderId, MediaFeatures};
use crate::error::NetError;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tokio::time::Instant;

#[derive(Default)]
pub(super) struct State {
    pub(super) frames: HashMap<FrameId, FrameState>,
    pub(super) closed: bool,
    /// Whether a page opened this one, which has shown no document so far.
    pub(super) is_new_popup: bool,
    /// The inspector's name of the main frame.
    pub(super) main_native: String,
    pub(super) navigation: Navigation,
    /// The kind of the open dialog.
    pub(super) dialog: Option<DialogKind>,
    /// The number of dialogs that were reported.
    pub(super) dialogs: u64,
    /// The document whose file chooser is open.
    pub(super) chooser: Option<String>,
    /// Whether the observer decides about the page's requests.
    pub(super) intercepts: bool,
    /// Whether requests are paused, because the observer or a route decides about them.
    pub(super) intercepting: bool,
    pub(super) init_scripts: Vec<String>,
    pub(super) extra_headers: Headers,
    /// The names of the headers that the inspector adds, in lower case.
    pub(super) sent_headers: Vec<String>,
    /// The media features of this page alone.
    pub(super) media: Option<MediaFeatures>,
    /// Requests that are pending, or whose body may be read.
    pub(super) sent: HashMap<String, RequestRecord>,
    /// Whether requests without a response are checked.
    pub(super) watches: bool,
    /// The paused requests, and the parts of the page that sent them.
    pub(super) paused: HashMap<String, Arc<str>>,
}

/// The navigations of the main frame.
#[derive(Default)]
pub(super) struct Navigation {
    /// The number of navigations that began.
    pub(super) begun: u64,
    /// The navigation that has not ended.
    pub(super) pending: Option<Pending>,
    /// The outcomes of the last navigations, with their numbers.
    outcomes: VecDeque<(u64, Outcome)>,
    /// The part of the page in another process that the pending navigation continues in.
    pub(super) next_part: Option<String>,
    /// Whether the last navigation failed, so that the next document is the browser's error page.
    pub(super) shows_error: bool,
}

/// The number of outcomes that are kept.
const MAX_ENDED_NAVIGATIONS: usize = 16;

impl Navigation {
    pub(super) fn end(&mut self, outcome: Outcome) {
        if self.outcomes.len() == MAX_ENDED_NAVIGATIONS {
            self.outcomes.pop_front();
        }
        self.outcomes.push_back((self.begun, outcome));
    }

    /// Returns the first outcome of a navigation after the `before`th.
    pub(super) fn outcome_after(&self, before: u64) -> Option<Outcome> {
        let mut outcomes = self.outcomes.iter();
        let found = outcomes.find(|(number, _)| *number > before);
        found.map(|(_, outcome)| outcome.clone())
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Pending {
    /// The request of the document, once it is sent.
    pub(super) request: Option<String>,
    pub(super) loader: Option<LoaderId>,
}

/// The outcome of a navigation.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    /// The frame shows another document.
    Committed(LoaderId),
    /// The frame shows the same document: the response was a 204 or a download, or another navigation began.
    Stayed,
    /// The document could not be loaded.
    Failed(NetError),
}

/// A request that was sent.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestRecord {
    pub(super) url: String,
    pub(super) method: String,
    pub(super) kind: &'static str,
    pub(super) frame: Option<FrameId>,
    pub(super) is_navigation: bool,
    /// The frame, other than the main frame, that loads this document; it may be reported later. `None` once its load was reported.
    pub(super) document_of: Option<FrameId>,
    pub(super) is_finished: bool,
    pub(super) body: Option<String>,
    pub(super) received: u64,
    /// Since when it waits for a response.
    pub(super) unanswered_since: Option<Instant>,
    /// Why Playhouse aborted it.
    pub(super) refused: Option<NetError>,
    /// The file name of the response.
    pub(super) file_name: Option<String>,
    /// Whether the response has no body that could be saved.
    pub(super) has_no_body: bool,
}
