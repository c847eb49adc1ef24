//! What is known of a page between two looks at it.

use crate::backend::{DialogKind, FrameId, Headers, LoaderId, Viewport};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use wire::webdriver::element::Element;

#[derive(Default)]
pub(in crate::backend::webdriver) struct State {
    pub(in crate::backend::webdriver) frames: HashMap<FrameId, FrameState>,
    pub(in crate::backend::webdriver) closed: bool,
    /// How the inspector names it.
    pub(in crate::backend::webdriver) inspector_target: Option<InspectorTarget>,
    /// The inspector's name for the main frame.
    pub(in crate::backend::webdriver) main_native: String,
    pub(in crate::backend::webdriver) navigation: Navigation,
    /// The dialog that is open, as far as its kind is known.
    pub(in crate::backend::webdriver) dialog: Option<DialogKind>,
    /// The document whose file field waits.
    pub(in crate::backend::webdriver) chooser: Option<String>,
    pub(in crate::backend::webdriver) intercepts: bool,
    /// Requests stop by us.
    pub(in crate::backend::webdriver) intercepting: bool,
    pub(in crate::backend::webdriver) viewport: Option<Viewport>,
    pub(in crate::backend::webdriver) init_scripts: Vec<String>,
    pub(in crate::backend::webdriver) extra_headers: Headers,
    /// Requests that have not ended, or whose body may be asked for.
    pub(in crate::backend::webdriver) sent: HashMap<String, RequestRecord>,
    /// Where the mouse is.
    pub(in crate::backend::webdriver) mouse: (f64, f64),
    /// Functions of the caller that were run.
    pub(in crate::backend::webdriver) evaluations: u64,
    /// Frames came, went or changed since the last look.
    pub(in crate::backend::webdriver) stirred: bool,
    pub(in crate::backend::webdriver) look_planned: bool,
}

/// How the inspector names a page, and the part of it that shows its document.
#[derive(Debug, Clone)]
pub(in crate::backend::webdriver) struct InspectorTarget {
    pub(in crate::backend::webdriver) target: u64,
    pub(in crate::backend::webdriver) part: Arc<str>,
}

/// Where the main frame is going.
#[derive(Default)]
pub(in crate::backend::webdriver) struct Navigation {
    /// How often one began.
    pub(in crate::backend::webdriver) begun: u64,
    /// It is under way; the request of its document, once that is sent.
    pub(in crate::backend::webdriver) pending: Option<Pending>,
    /// How the last ones ended, by their numbers.
    outcomes: VecDeque<(u64, Outcome)>,
    /// The document that is shown.
    pub(in crate::backend::webdriver) loader: Option<LoaderId>,
    /// The last one failed: the next document is the browser's page about that.
    pub(in crate::backend::webdriver) shows_error: bool,
}

/// Navigations whose end is remembered.
const MAX_ENDED_NAVIGATIONS: usize = 16;

impl Navigation {
    pub(in crate::backend::webdriver) fn ended(&mut self, outcome: Outcome) {
        if self.outcomes.len() == MAX_ENDED_NAVIGATIONS {
            self.outcomes.pop_front();
        }
        self.outcomes.push_back((self.begun, outcome));
    }

    /// How the first one after the `before`th ended, if it has.
    pub(in crate::backend::webdriver) fn outcome_after(&self, before: u64) -> Option<Outcome> {
        let mut outcomes = self.outcomes.iter();
        let found = outcomes.find(|(number, _)| *number > before);
        found.map(|(_, outcome)| outcome.clone())
    }
}

#[derive(Debug, Clone, Default)]
pub(in crate::backend::webdriver) struct Pending {
    pub(in crate::backend::webdriver) request: Option<String>,
    pub(in crate::backend::webdriver) loader: Option<LoaderId>,
}

/// How a navigation ended.
#[derive(Debug, Clone)]
pub(in crate::backend::webdriver) enum Outcome {
    /// Another document is shown.
    Committed(LoaderId),
    /// The document stays: a 204, a download, given up for another one.
    Stayed,
    /// There was an error, by Chromium's name.
    Failed(String),
}

/// A frame, the main one included.
#[derive(Debug, Clone, Default)]
pub(in crate::backend::webdriver) struct FrameState {
    pub(in crate::backend::webdriver) parent: Option<FrameId>,
    /// The document of the element that holds it, and our number for that.
    pub(in crate::backend::webdriver) number: (String, u64),
    /// The element that holds it, once the driver has named it.
    pub(in crate::backend::webdriver) owner: Option<Element>,
    /// The document that it shows, by the name that we gave it.
    pub(in crate::backend::webdriver) document: Option<String>,
    pub(in crate::backend::webdriver) url: String,
    pub(in crate::backend::webdriver) name: String,
    pub(in crate::backend::webdriver) parsed: bool,
    pub(in crate::backend::webdriver) loaded: bool,
}

/// A request that was sent.
#[derive(Debug, Clone)]
pub(in crate::backend::webdriver) struct RequestRecord {
    pub(in crate::backend::webdriver) url: String,
    pub(in crate::backend::webdriver) method: String,
    pub(in crate::backend::webdriver) kind: &'static str,
    pub(in crate::backend::webdriver) frame: Option<FrameId>,
    pub(in crate::backend::webdriver) is_navigation: bool,
    pub(in crate::backend::webdriver) body: Option<String>,
    pub(in crate::backend::webdriver) received: u64,
    /// Why we refused it.
    pub(in crate::backend::webdriver) refused: Option<&'static str>,
    /// What the answer would be saved as.
    pub(in crate::backend::webdriver) file_name: Option<String>,
    /// Whether its answer has no body, of which nothing is saved.
    pub(in crate::backend::webdriver) brings_nothing: bool,
}
