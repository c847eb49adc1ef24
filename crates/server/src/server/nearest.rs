//! The elements of the page that are nearest to a target without a match, as a part of the error.

use crate::calls::Call;
use crate::error::Error;
use crate::sessions::session::Session;
use engine::Error as EngineError;
use std::sync::Arc;
use std::time::Duration;

/// How long the page may be read for an error.
const NEAREST_TIMEOUT: Duration = Duration::from_secs(3);

/// Adds the nearest elements to an error about a target that matches no element. Returns other errors unchanged.
pub(super) async fn with_nearest(session: &Arc<Session>, call: &Call, error: Error) -> Error {
    let Error::Engine(error) = error else {
        return error;
    };
    let is_missing = |error: &EngineError| matches!(error, EngineError::ElementNotFound { .. });
    let mut error = match error {
        // Clients of `@playwright/mcp` know the error itself. The details of the error say that the call has waited.
        EngineError::Timeout {
            obstacle: Some(missing),
            ..
        } if is_missing(&missing) && !call.tool.answers_with_object() => *missing,
        error => error,
    };
    let missing = match &mut error {
        EngineError::Timeout {
            obstacle: Some(obstacle),
            ..
        } => &mut **obstacle,
        error => error,
    };
    if let EngineError::ElementNotFound { selector, nearest } = missing
        && let Some(page) = session.page(call)
    {
        let progress = call.within(NEAREST_TIMEOUT);
        let layout = call.settings.answers.layout();
        let found = page.nearest(&progress, selector, layout).await;
        *nearest = found.unwrap_or_default();
    }
    Error::Engine(error)
}
