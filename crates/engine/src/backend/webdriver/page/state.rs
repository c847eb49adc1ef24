//! What is known of a page between two looks at it.

use crate::backend::{DialogKind, FrameId, Headers, LoaderId, Viewport};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use wire::webdriver::element::Element;

#[derive(Default)]
pub(crate) struct State {
    pub(crate) frames: HashMap<FrameId, FrameState>,
    pub(crate) closed: bool,
    /// How the inspector names it.
    pub(crate) inspector_target: Option<InspectorTarget>,
    /// The inspector's name for the main frame.
    pub(crate) main_native: String,
    pub(crate) navigation: Navigation,
    /// The dialog that is open, as far as its kind is known.
    pub(crate) dialog: Option<DialogKind>,
    /// The document whose file field waits.
    pub(crate) chooser: Option<String>,
    pub(crate) intercepts: bool,
    /// Requests stop by us.
    pub(crate) intercepting: bool,
    pub(crate) viewport: Option<Viewport>,
    pub(crate) init_scripts: Vec<String>,
    pub(crate) extra_headers: Headers,
    /// Requests that have not ended, or whose body may be asked for.
    pub(crate) sent: HashMap<String, RequestRecord>,
    /// Where the mouse is.
    pub(crate) mouse: (f64, f64),
    /// Functions of the caller that were run.
    pub(crate) evaluations: u64,
    /// Frames came, went or changed since the last look.
    pub(crate) stirred: bool,
    pub(crate) look_planned: bool,
}

/// How the inspector names a page, and the part of it that shows its document.
#[derive(Debug, Clone)]
pub(crate) struct InspectorTarget {
    pub(crate) target: u64,
    pub(crate) part: Arc<str>,
}

/// Where the main frame is going.
#[derive(Default)]
pub(crate) struct Navigation {
    /// How often one began.
    pub(crate) begun: u64,
    /// It is under way; the request of its document, once that is sent.
    pub(crate) pending: Option<Pending>,
    /// How the last ones ended, by their numbers.
    outcomes: VecDeque<(u64, Outcome)>,
    /// The document that is shown.
    pub(crate) loader: Option<LoaderId>,
    /// The last one failed: the next document is the browser's page about that.
    pub(crate) shows_error: bool,
}

/// Navigations whose end is remembered.
const MAX_ENDED_NAVIGATIONS: usize = 16;

impl Navigation {
    pub(crate) fn ended(&mut self, outcome: Outcome) {
        if self.outcomes.len() == MAX_ENDED_NAVIGATIONS {
            self.outcomes.pop_front();
        }
        self.outcomes.push_back((self.begun, outcome));
    }

    /// How the first one after the `before`th ended, if it has.
    pub(crate) fn outcome_after(&self, before: u64) -> Option<Outcome> {
        let mut outcomes = self.outcomes.iter();
        let found = outcomes.find(|(number, _)| *number > before);
        found.map(|(_, outcome)| outcome.clone())
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Pending {
    pub(crate) request: Option<String>,
    pub(crate) loader: Option<LoaderId>,
}

/// How a navigation ended.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// Another document is shown.
    Committed(LoaderId),
    /// The document stays: a 204, a download, given up for another one.
    Stayed,
    /// There was an error, by Chromium's name.
    Failed(String),
}

/// A frame, the main one included.
#[derive(Debug, Clone, Default)]
pub(crate) struct FrameState {
    pub(crate) parent: Option<FrameId>,
    /// The document of the element that holds it, and our number for that.
    pub(crate) number: (String, u64),
    /// The element that holds it, once the driver has named it.
    pub(crate) owner: Option<Element>,
    /// The document that it shows, by the name that we gave it.
    pub(crate) document: Option<String>,
    pub(crate) url: String,
    pub(crate) name: String,
    pub(crate) parsed: bool,
    pub(crate) loaded: bool,
}

/// A request that was sent.
#[derive(Debug, Clone)]
pub(crate) struct RequestRecord {
    pub(crate) url: String,
    pub(crate) method: String,
    pub(crate) kind: &'static str,
    pub(crate) frame: Option<FrameId>,
    pub(crate) is_navigation: bool,
    pub(crate) body: Option<String>,
    pub(crate) received: u64,
    /// Why we refused it.
    pub(crate) refused: Option<&'static str>,
    /// What the answer would be saved as.
    pub(crate) file_name: Option<String>,
    /// Whether its answer has no body, of which nothing is saved.
    pub(crate) brings_nothing: bool,
}
