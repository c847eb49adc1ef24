//! The folders of a session.

use crate::calls::Call;
use crate::config::Settings;
use crate::files::artifacts::Artifacts;
use crate::files::{Output, Workspace};
use std::sync::OnceLock;

/// The folders of a session, which are known when the client has reported its roots.
#[derive(Default)]
pub(super) struct Folders {
    output: OnceLock<Output>,
    /// The folders of a call whose client did not report its roots in time.
    fallback: OnceLock<Output>,
    artifacts: Artifacts,
}

impl Folders {
    /// Returns the folders of a named context: those of its session.
    pub(super) fn known(output: Output) -> Self {
        Self {
            output: OnceLock::from(output),
            ..Self::default()
        }
    }

    /// Returns the folders. The first call requests the client's roots. `id` is that of the session, unless it is the default session.
    pub(super) async fn of(&self, call: &Call, settings: &Settings, id: Option<&str>) -> &Output {
        if let Some(output) = self.output.get() {
            return output;
        }
        let cwd = || Workspace::of(Vec::new(), &settings.files);
        let below = |workspace| Output::new(settings, &workspace, id, self.artifacts.clone());
        let workspace = match super::workspace(&*call.client, settings).await {
            Some(workspace) => workspace,
            // The client may be busy; the next call repeats the request.
            None if self.fallback.get().is_none() => {
                return self.fallback.get_or_init(|| below(cwd()));
            }
            None => cwd(),
        };
        // The call has the session's turn, so no other call was faster.
        self.output.get_or_init(|| below(workspace))
    }

    /// Returns the folders, once they are known.
    pub(super) fn get(&self) -> Option<&Output> {
        self.output.get().or_else(|| self.fallback.get())
    }
}
