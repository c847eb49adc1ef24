//! What is known of a page between two looks at it.

use crate::backend::webdriver::inspector::InspectorTarget;
use crate::backend::{DialogKind, FrameId, Headers, LoaderId, Viewport};
use crate::error::NetError;
use std::collections::{HashMap, VecDeque};
use wire::webdriver::element::Element;

#[derive(Default)]
pub(crate) struct State {
    pub(super) frames: HashMap<FrameId, FrameState>,
    pub(super) closed: bool,
    /// How the inspector names it.
    pub(crate) inspector_target: Option<InspectorTarget>,
    /// The inspector's name for the main frame.
    pub(super) main_native: String,
    pub(super) navigation: Navigation,
    /// The dialog that is open, as far as its kind is known.
    pub(super) dialog: Option<DialogKind>,
    /// The document whose file field waits.
    pub(super) chooser: Option<String>,
    pub(super) intercepts: bool,
    /// Requests stop by us.
    pub(crate) intercepting: bool,
    pub(super) viewport: Option<Viewport>,
    pub(super) init_scripts: Vec<String>,
    pub(super) extra_headers: Headers,
    /// Requests that have not ended, or whose body may be asked for.
    pub(super) sent: HashMap<String, RequestRecord>,
    /// Where the mouse is.
    pub(super) mouse: (f64, f64),
    /// Functions of the caller that were run.
    pub(super) evaluations: u64,
    /// Frames came, went or changed since the last look.
    pub(super) stirred: bool,
    pub(super) look_planned: bool,
}

/// Where the main frame is going.
#[derive(Default)]
pub(super) struct Navigation {
    /// How often one began.
    pub(super) begun: u64,
    /// It is under way; the request of its document, once that is sent.
    pub(super) pending: Option<Pending>,
    /// How the last ones ended, by their numbers.
    outcomes: VecDeque<(u64, Outcome)>,
    /// The document that is shown.
    pub(super) loader: Option<LoaderId>,
    /// The last one failed: the next document is the browser's page about that.
    pub(super) shows_error: bool,
}

/// Navigations whose end is remembered.
const MAX_ENDED_NAVIGATIONS: usize = 16;

impl Navigation {
    pub(super) fn ended(&mut self, outcome: Outcome) {
        if self.outcomes.len() == MAX_ENDED_NAVIGATIONS {
            self.outcomes.pop_front();
        }
        self.outcomes.push_back((self.begun, outcome));
    }

    /// How the first one after the `before`th ended, if it has.
    pub(super) fn outcome_after(&self, before: u64) -> Option<Outcome> {
        let mut outcomes = self.outcomes.iter();
        let found = outcomes.find(|(number, _)| *number > before);
        found.map(|(_, outcome)| outcome.clone())
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Pending {
    pub(super) request: Option<String>,
    pub(super) loader: Option<LoaderId>,
}

/// How a navigation ended.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    /// Another document is shown.
    Committed(LoaderId),
    /// The document stays: a 204, a download, given up for another one.
    Stayed,
    /// There was an error, by Chromium's name.
    Failed(NetError),
}

/// A frame, the main one included.
#[derive(Debug, Clone, Default)]
pub(super) struct FrameState {
    pub(super) parent: Option<FrameId>,
    /// The document of the element that holds it, and our number for that.
    pub(super) number: (String, u64),
    /// The element that holds it, once the driver has named it.
    pub(super) owner: Option<Element>,
    /// The document that it shows, by the name that we gave it.
    pub(super) document: Option<String>,
    pub(super) url: String,
    pub(super) name: String,
    pub(super) parsed: bool,
    pub(super) loaded: bool,
}

/// A request that was sent.
#[derive(Debug, Clone)]
pub(super) struct RequestRecord {
    pub(super) url: String,
    pub(super) method: String,
    pub(super) kind: &'static str,
    pub(super) frame: Option<FrameId>,
    pub(super) is_navigation: bool,
    pub(super) body: Option<String>,
    pub(super) received: u64,
    /// Why we refused it.
    pub(super) refused: Option<NetError>,
    /// What the answer would be saved as.
    pub(super) file_name: Option<String>,
    /// Whether its answer has no body, of which nothing is saved.
    pub(super) brings_nothing: bool,
}
