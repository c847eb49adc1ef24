//! How the last connections failed, so that the failure of a request can be explained afterwards.

use super::rules::Destination;
use std::collections::VecDeque;
use std::sync::Mutex;

/// How many destinations are remembered; the oldest are forgotten first.
const MAX_OUTCOMES: usize = 256;

/// Why there is no connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// By the rule in words.
    Refused(String),
    /// `net::ERR_…`.
    Failed(&'static str),
}

/// The last failure of each destination.
#[derive(Debug, Default)]
pub(super) struct Outcomes(Mutex<VecDeque<(Destination, Outcome)>>);

impl Outcomes {
    /// `None`: the connection was made.
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
