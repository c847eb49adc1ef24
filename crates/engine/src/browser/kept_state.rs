//! The cookies and the storage of a default context whose browser keeps no profile: a file in the folder of the profile.

use crate::context::BrowserContext;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::storage::StorageState;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;
use task::Task;
use tokio::time::Instant;

/// The name of the file: a storage state, with databases.
const FILE: &str = "storage-state.json";
/// The shortest interval between saves. A killed process loses what was stored in it.
const MIN_INTERVAL: Duration = Duration::from_secs(2);
/// The interval is at least this many times as long as the last save took.
const INTERVAL_RATIO: u32 = 10;
/// How long a save may take.
const SAVE_TIMEOUT: Duration = Duration::from_secs(10);

/// The state of a context that is saved while the context is used, and when its browser is closed.
pub(super) struct KeptState {
    file: PathBuf,
    context: BrowserContext,
    saved: tokio::sync::Mutex<Saved>,
    task: OnceLock<Task>,
}

struct Saved {
    state: StorageState,
    /// The number of uses of the context before the last save.
    uses: u64,
}

impl KeptState {
    /// Restores what the folder has of a context that is new, and saves it from here on.
    pub(super) async fn open(
        progress: &Progress,
        folder: &Path,
        context: &BrowserContext,
    ) -> Result<Arc<Self>> {
        let file = folder.join(FILE);
        let state = read(&file)?;
        let restored = context.add_state(&state);
        progress.run(restored).await.map_err(|error| match error {
            Error::Protocol { message, .. } | Error::Script { message } => {
                refused(&file, &format!("cannot be restored ({message})"))
            }
            error => error,
        })?;
        let uses = context.backend.uses();
        let kept = Arc::new(Self {
            file,
            context: context.clone(),
            saved: tokio::sync::Mutex::new(Saved { state, uses }),
            task: OnceLock::new(),
        });
        let following = follow(Arc::downgrade(&kept));
        // Set only here.
        let _ = kept.task.set(task::spawn("profile", following));
        Ok(kept)
    }

    /// Saves what the context has now, if it was used since the last save.
    pub(super) async fn save(&self) -> Result<()> {
        let mut saved = self.saved.lock().await;
        let uses = self.context.backend.uses();
        if saved.uses == uses || self.context.closed_reason().is_some() {
            return Ok(());
        }
        let progress = Progress::new(SAVE_TIMEOUT);
        let mut state = self.context.full_storage_state(&progress).await?;
        // As in the profiles of other browsers.
        state.cookies.retain(|cookie| cookie.expires >= 0.0);
        let visited = self.context.visited_origins().origins();
        let others = saved.state.origins.iter();
        let others = others.filter(|known| !visited.iter().any(|origin| known.is(origin)));
        state.origins.extend(others.cloned());
        if state != saved.state {
            write(&self.file, &state)?;
            saved.state = state;
        }
        saved.uses = uses;
        Ok(())
    }
}

/// Saves the state again and again.
async fn follow(kept: Weak<KeptState>) {
    let mut interval = MIN_INTERVAL;
    loop {
        tokio::time::sleep(interval).await;
        let Some(kept) = kept.upgrade() else { return };
        let start = Instant::now();
        if let Err(error) = kept.save().await {
            tracing::warn!(%error, "the cookies and the storage of the profile are saved later");
        }
        interval = MIN_INTERVAL.max(start.elapsed() * INTERVAL_RATIO);
    }
}

fn read(file: &Path) -> Result<StorageState> {
    match std::fs::read(file) {
        Ok(text) => serde_json::from_slice(&text)
            .map_err(|error| refused(file, &format!("is not a storage state ({error})"))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(StorageState::default()),
        Err(error) => Err(refused(file, &format!("cannot be read ({error})"))),
    }
}

/// Replaces the file as a whole; it is readable by its owner only.
fn write(file: &Path, state: &StorageState) -> Result<()> {
    let written = || {
        let folder = file.parent().unwrap_or(file);
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer(&mut new, state)?;
        new.flush()?;
        // Otherwise an empty file can be left when the machine stops.
        new.as_file().sync_all()?;
        new.persist(file)?;
        Ok(())
    };
    written().map_err(|error: std::io::Error| Error::File {
        path: file.display().to_string(),
        reason: format!(
            "{} cannot be written ({error}), so that cookies and storage are not kept",
            file.display()
        ),
    })
}

fn refused(file: &Path, reason: &str) -> Error {
    let path = file.display().to_string();
    Error::File {
        reason: format!(
            "The cookies and the storage of this profile are not available, because {path} {reason}: remove the file to begin with an empty profile, or use another --user-data-dir."
        ),
        path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_state_is_refused_and_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        assert_eq!(read(&file).unwrap(), StorageState::default());
        std::fs::write(&file, "{").unwrap();
        let error = read(&file).unwrap_err().to_string();
        assert!(error.contains("remove the file"), "{error}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{");
    }

    #[test]
    fn a_written_state_can_be_read_and_leaves_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        let state: StorageState =
            serde_json::from_str(r#"{"origins":[{"origin":"http://x","indexedDB":[1]}]}"#).unwrap();
        write(&file, &state).unwrap();
        assert_eq!(read(&file).unwrap(), state);
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }
}
