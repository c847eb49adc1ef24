//! The outcomes of the last connections, which explain failed requests.

use super::rules::Destination;
use crate::error::NetError;
use std::collections::VecDeque;
use std::sync::Mutex;

/// The largest number of destinations; the oldest are removed first.
const MAX_OUTCOMES: usize = 256;

/// Why a connection failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The text of the rule that blocks it.
    Refused(String),
    /// The net error.
    Failed(NetError),
}

/// The last failure of each destination.
#[derive(Debug, Default)]
pub(super) struct Outcomes(Mutex<VecDeque<(Destination, Outcome)>>);

impl Outcomes {
    /// Records an outcome; `None` for success.
    pub(super) fn record(&self, destination: &Destination, outcome: Option<Outcome>) {
        let mut known = self.0.lock().expect("not poisoned");
        known.retain(|(other, _)| other != destination);
        if let Some(outcome) = outcome {
            known.push_back((destination.clone(), outcome));
        }
        if known.len() > MAX_OUTCOMES {
            known.pop_front();
        }
    }

    pub(super) fn of(&self, destination: &Destination) -> Option<Outcome> {
        let known = self.0.lock().expect("not poisoned");
        let found = known.iter().find(|(other, _)| other == destination)?;
        Some(found.1.clone())
    }
}
