//! Errors of the API as JavaScript errors.

use engine::Progress;
use serde::Serialize;

/// A future JavaScript error.
#[derive(Debug, Serialize)]
pub(super) struct Failure {
    name: &'static str,
    message: String,
    /// Whether a dialog blocks the page.
    #[serde(skip)]
    pub(super) dialog: bool,
}

impl Failure {
    /// Creates a plain `Error`.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            name: "Error",
            message: message.into(),
            dialog: false,
        }
    }

    /// Adds the log of what was tried.
    pub(super) fn after(mut self, progress: &Progress) -> Self {
        let steps = progress.steps();
        if self.name == "Error" && !steps.is_empty() && !self.message.contains("\nCall log:") {
            self.message += "\nCall log:";
            for step in steps {
                let details = step.len() - step.trim_start().len();
                let (indent, step) = step.split_at(details);
                self.message += &format!("\n  {indent}- {step}");
            }
        }
        self
    }
}

impl From<engine::Error> for Failure {
    fn from(error: engine::Error) -> Self {
        Self {
            name: match error {
                engine::Error::Timeout { .. } => "TimeoutError",
                _ => "Error",
            },
            dialog: matches!(error, engine::Error::DialogOpen {}),
            message: match &error {
                engine::Error::ElementAmbiguous { .. } => format!("Error: {error}"),
                _ => error.to_string(),
            },
        }
    }
}

/// An error of [`Access`](super::Access).
impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}
