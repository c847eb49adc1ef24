//! The calls of the session's observers around the run of a tool.

use super::{Arguments, Reach};
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::error::{Error, Result};
use crate::sessions::observers::{CallObserver, CallOutcome, ObservedCall};
use crate::sessions::session::Session;
use std::sync::Arc;

/// A call between the two events of its observers.
pub(super) struct Observation {
    call: ObservedCall,
    session: Arc<Session>,
    observers: Vec<Arc<dyn CallObserver>>,
}

/// Returns a copy of the arguments, if the call is observed, or will be with the context that it opens.
pub(super) fn arguments(call: &Call, reach: &Reach, arguments: &Arguments) -> Option<Arguments> {
    let is_observed = reach.session.observers().is_observed() || call.settings.files.save_trace;
    is_observed.then(|| arguments.clone())
}

/// Reports a call that has its turn to the observers. Returns `None` if there are none.
pub(super) async fn begin(
    call: &Call,
    reach: &Reach,
    arguments: Option<Arguments>,
) -> Option<Observation> {
    if !reach.session.observers().is_observed() || !call.has_turn() {
        return None;
    }
    let session = reach.session.part(call).ok()?;
    let observers = reach.session.observers();
    let observation = Observation {
        call: ObservedCall {
            number: observers.next_number(),
            tool: call.tool,
            // An observer that was added while the call waited for its turn gets no arguments.
            arguments: arguments.unwrap_or_default(),
            page: session.current_page(),
            is_step: call.is_step(),
        },
        observers: observers.all(),
        session,
    };
    for observer in &observation.observers {
        observer.before_call(&observation.call).await;
    }
    Some(observation)
}

impl Observation {
    /// Reports the outcome of the call to its observers.
    pub(super) async fn end(mut self, call: &Call, reply: &Result<Reply>) {
        let error = match reply {
            Ok(reply) => reply.error.as_ref(),
            Err(error) => Some(error),
        };
        let outcome = CallOutcome {
            error: error.map(Error::to_string),
            code: reply
                .as_ref()
                .map(|reply| reply.code.clone())
                .unwrap_or_default(),
            targets: std::mem::take(&mut *call.targets()),
            page: self.session.current_page(),
        };
        for observer in std::mem::take(&mut self.observers) {
            observer.after_call(&self.call, &outcome).await;
        }
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        for observer in &self.observers {
            observer.on_call_cancelled(&self.call);
        }
    }
}
