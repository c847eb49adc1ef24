//! The client of a batch, as its steps use it.

use super::{Client, Elicitation, ElicitationResult, Status};
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

/// The client of a batch for one of its steps. A client that responds to an elicitation by repeating the call would repeat the earlier steps
/// too, so steps do not send it elicitations.
pub(crate) struct StepClient(pub(crate) Arc<dyn Client>);

impl Client for StepClient {
    fn roots(&self) -> Pin<Box<dyn Future<Output = Option<Vec<String>>> + Send + '_>> {
        self.0.roots()
    }

    fn ask<'a>(
        &'a self,
        question: &'a Elicitation,
    ) -> Pin<Box<dyn Future<Output = ElicitationResult> + Send + 'a>> {
        match self.0.repeats_calls() {
            true => Box::pin(ready(ElicitationResult::Unsupported)),
            false => self.0.ask(question),
        }
    }

    fn host(&self) -> Option<&str> {
        self.0.host()
    }

    fn status(&self) -> Option<&Status> {
        self.0.status()
    }

    fn is_connected(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        self.0.is_connected()
    }

    fn ready(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.0.ready()
    }
}
