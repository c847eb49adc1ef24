//! What went wrong with something that code asked for, as its JavaScript error will tell it.

use engine::Progress;
use serde::Serialize;

/// A JavaScript error to be.
#[derive(Debug, Serialize)]
pub(super) struct Failure {
    name: &'static str,
    message: String,
    /// A dialog holds the page.
    #[serde(skip)]
    pub(super) dialog: bool,
}

impl Failure {
    /// An error of no kind in particular.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            name: "Error",
            message: message.into(),
            dialog: false,
        }
    }

    /// The same, with what was tried.
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

/// What [`Access`](super::Access) refuses.
impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}
