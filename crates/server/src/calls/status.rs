//! What a call waits for, for the progress notifications that a client requested.

use crate::config::Settings;
use engine::Progress;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The longest reported line, in characters.
const MAX_LENGTH: usize = 200;

/// What a call waits for at the moment.
#[derive(Default)]
pub(crate) struct Status(Mutex<Stage>);

#[derive(Default)]
enum Stage {
    #[default]
    Unknown,
    Named(String),
    /// The running operations, the newest last.
    Operations(Vec<Progress>, Arc<Settings>),
}

impl Status {
    /// Records what the call waits for, such as `waiting for the browser to start`.
    pub(crate) fn set(&self, stage: impl Into<String>) {
        *self.stage() = Stage::Named(stage.into());
    }

    /// Records that the call no longer waits.
    pub(super) fn clear(&self) {
        *self.stage() = Stage::Unknown;
    }

    /// Records that the call waits for an operation, which reports its own progress.
    pub(super) fn follow(&self, progress: &Progress, settings: &Arc<Settings>) {
        let mut stage = self.stage();
        let mut operations = match std::mem::take(&mut *stage) {
            Stage::Operations(operations, _) => operations,
            Stage::Unknown | Stage::Named(_) => Vec::new(),
        };
        operations.retain(Progress::is_shared);
        operations.push(progress.clone());
        *stage = Stage::Operations(operations, settings.clone());
    }

    /// Returns what the call waits for, without secrets; `None` if unknown.
    pub(crate) fn text(&self) -> Option<String> {
        let text = match &*self.stage() {
            Stage::Unknown => None,
            Stage::Named(stage) => Some(stage.clone()),
            Stage::Operations(operations, settings) => operations
                .iter()
                .rev()
                .filter(|operation| operation.is_shared())
                .find_map(Progress::current_step)
                .map(|step| settings.secrets.redacted(step)),
        }?;
        Some(match text.char_indices().nth(MAX_LENGTH) {
            None => text,
            Some((end, _)) => format!("{}…", &text[..end]),
        })
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
