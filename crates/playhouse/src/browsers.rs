//! The browsers that a server has running.

use crate::config::Settings;
use std::sync::Arc;

/// Starts browsers when they are needed.
pub(crate) struct Browsers {
    settings: Arc<Settings>,
}

impl Browsers {
    pub(crate) fn new(settings: Arc<Settings>) -> Self {
        Self { settings }
    }

    /// Ends all of them.
    pub(crate) async fn close(&self) {}
}
