//! Client code that listens to pages after its call has ended.

use script::{Pause, Script, ScriptRegistry};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The largest number of scripts with listeners; the oldest is stopped first.
const MAX_SCRIPTS: usize = 16;

/// The client code of a session.
#[derive(Default)]
pub(crate) struct Scripts {
    /// The running client code, for its own access.
    registry: ScriptRegistry,
    /// Client code with listeners on pages, oldest first.
    listening: Mutex<Vec<Script>>,
}

impl Scripts {
    /// Returns the running client code.
    pub(super) fn registry(&self) -> &ScriptRegistry {
        &self.registry
    }

    /// Keeps client code for as long as it listens to pages.
    pub(crate) fn keep(&self, script: Script) {
        let ended: Vec<_> = {
            let mut listening = self.listening();
            listening.push(script);
            let over: Vec<_> = listening
                .extract_if(.., |script| script.is_over())
                .collect();
            let surplus = listening.len().saturating_sub(MAX_SCRIPTS);
            let oldest: Vec<_> = listening.drain(..surplus).collect();
            over.into_iter().chain(oldest).collect()
        };
        drop(ended);
    }

    /// Returns where client code is paused, if it is.
    pub(crate) fn pause(&self) -> Option<Pause> {
        self.listening().iter().rev().find_map(Script::pause)
    }

    /// Removes the client code that is paused and returns it.
    pub(crate) fn take_paused(&self) -> Option<Script> {
        let mut listening = self.listening();
        let index = listening
            .iter()
            .rposition(|script| script.pause().is_some())?;
        Some(listening.remove(index))
    }

    /// Stops all client code.
    pub(super) fn stop(&self) {
        let stopped = std::mem::take(&mut *self.listening());
        drop(stopped);
    }

    fn listening(&self) -> MutexGuard<'_, Vec<Script>> {
        self.listening
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
