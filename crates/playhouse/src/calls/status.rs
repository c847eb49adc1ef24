//! What a call waits for, for a client that asked to hear of its progress.

use crate::config::Settings;
use engine::Progress;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The longest line that is told, in characters.
const MAX_LENGTH: usize = 200;

/// What a call waits for at the moment.
#[derive(Default)]
pub(crate) struct Status(Mutex<Stage>);

#[derive(Default)]
enum Stage {
    #[default]
    Unknown,
    Named(String),
    /// What operations note of themselves, the newest last.
    Operations(Vec<Progress>, Arc<Settings>),
}

impl Status {
    /// The call waits for this from now on, such as `waiting for the browser to start`.
    pub(crate) fn set(&self, stage: impl Into<String>) {
        *self.stage() = Stage::Named(stage.into());
    }

    /// The call goes on.
    pub(super) fn clear(&self) {
        *self.stage() = Stage::Unknown;
    }

    /// The call waits for an operation from now on, which notes what it does.
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

    /// What is waited for, without secrets; `None` where that is not known.
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
