//! The source of a browser, which determines how it is closed.

use super::process::Process;
use super::upload::upload;
use crate::error::{Error, Result};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use task::{self, Task};
use tokio::time::Instant;
use wire::Connection;
use wire::webdriver::WebDriverSession;
use wire::webdriver::session::GetTimeouts;

/// The interval between keep-alive requests to a remote end, which also detect a lost session. Grids delete sessions that were idle for
/// minutes; and one that has lost a node may keep connections to it open.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(10);
/// The number of consecutive failed keep-alive requests after which the browser counts as lost.
const MAX_FAILED_KEEP_ALIVES: u32 = 2;
/// How long a remote end may take to delete a session.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// The source of a browser.
pub(crate) enum Source {
    /// Launched by this process.
    Started(Arc<Process>),
    /// A session of a remote end.
    Granted(SessionLease),
    /// A remote browser that Playhouse only connected to.
    Reached,
    /// Tabs of the user's own browser, which its extension has given.
    Extension,
}

impl Source {
    /// Closes a browser that Playhouse launched or created: with the command `ask` as long as its profile matters, and then by force.
    /// Returns whether it did.
    pub(crate) async fn end(&self, grace: Duration, ask: impl Future<Output = ()>) -> bool {
        match self {
            Self::Started(process) => {
                process.leave();
                let deadline = Instant::now() + grace;
                // The browser may have closed already.
                let _ = tokio::time::timeout_at(deadline, ask).await;
                process
                    .end(deadline.saturating_duration_since(Instant::now()))
                    .await;
            }
            Self::Granted(grant) => grant.end().await,
            Self::Reached | Self::Extension => return false,
        }
        true
    }

    /// Returns the paths by which the browser finds these files: they are uploaded to a remote machine.
    async fn stage_files(&self, files: &[PathBuf]) -> Result<Vec<String>> {
        let Self::Granted(grant) = self else {
            let name = |path: &PathBuf| path.display().to_string();
            return Ok(files.iter().map(name).collect());
        };
        let session = grant.session().clone().ok_or(Error::BrowserClosed {
            reason: "it was given back".to_owned(),
        })?;
        let mut names = Vec::new();
        // Sequential, because each file is in memory while it is sent.
        for file in files {
            names.push(upload(&session, file).await?);
        }
        Ok(names)
    }

    /// Returns whether a browser that is closed must exit by itself, so that its profile is complete.
    pub(crate) fn must_exit_cleanly(&self) -> bool {
        matches!(self, Self::Started(process) if process.must_exit_cleanly())
    }

    /// Returns whether the browser has a persistent profile.
    pub(crate) fn has_persistent_profile(&self) -> bool {
        matches!(self, Self::Started(process) if !process.is_temporary())
    }
}

/// Uploads files for a remote browser.
#[derive(Clone, Default)]
pub(crate) struct FileStager(Weak<Source>);

impl FileStager {
    pub(crate) fn new(source: &Arc<Source>) -> Self {
        Self(Arc::downgrade(source))
    }

    /// Returns the paths by which the browser finds these files.
    ///
    /// # Errors
    /// [`Error::BrowserClosed`] if the browser is gone, [`Error::File`] if a file cannot be uploaded to it.
    pub(crate) async fn stage(&self, files: &[PathBuf]) -> Result<Vec<String>> {
        let source = self.0.upgrade().ok_or_else(|| Error::BrowserClosed {
            reason: String::new(),
        })?;
        source.stage_files(files).await
    }
}

/// A session of a remote end: kept alive, and deleted when dropped.
pub(crate) struct SessionLease {
    /// `None` after it was deleted.
    session: Mutex<Option<WebDriverSession>>,
    life: Option<Task>,
}

impl SessionLease {
    pub(crate) fn new(session: WebDriverSession) -> Self {
        Self {
            session: Mutex::new(Some(session)),
            life: None,
        }
    }

    /// Sends keep-alive requests. A lost session closes `connection`, even if that is still open.
    pub(crate) fn with_keep_alive(mut self, connection: Connection) -> Self {
        let session = self.session().clone();
        self.life = session.map(|session| {
            task::spawn("sign of life", async move {
                wait_until_lost(&session).await;
                connection.close();
            })
        });
        self
    }

    async fn end(&self) {
        if let Some(session) = self.take_session() {
            task::run_to_completion("ending a remote session", delete_session(session)).await;
        }
    }

    fn take_session(&self) -> Option<WebDriverSession> {
        self.session().take()
    }

    fn session(&self) -> MutexGuard<'_, Option<WebDriverSession>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SessionLease {
    fn drop(&mut self) {
        if let Some(session) = self.take_session() {
            task::spawn("ending a remote session", delete_session(session)).detach();
        }
    }
}

/// Returns when the remote end has lost the session.
async fn wait_until_lost(session: &WebDriverSession) {
    let mut unheard = 0;
    while unheard < MAX_FAILED_KEEP_ALIVES {
        tokio::time::sleep(KEEP_ALIVE_INTERVAL).await;
        let sign = session.call(&GetTimeouts {});
        match tokio::time::timeout(KEEP_ALIVE_INTERVAL, sign).await {
            Ok(Ok(_)) => unheard = 0,
            Ok(Err(error)) => {
                tracing::debug!(%error, "the WebDriver end did not take a sign of life");
                unheard += 1;
            }
            Err(_) => unheard += 1,
        }
    }
}

async fn delete_session(session: WebDriverSession) {
    match tokio::time::timeout(END_TIMEOUT, session.delete()).await {
        Ok(Ok(())) => {}
        // The session is deleted already, or its node is lost.
        Ok(Err(error)) => tracing::debug!(%error, "a remote session was not ended"),
        Err(_) => tracing::debug!("a remote session takes long to end"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_file_is_staged_for_a_browser_that_is_gone() {
        let source = Arc::new(Source::Reached);
        let stager = FileStager::new(&source);
        assert_eq!(stager.stage(&["/a".into()]).await.unwrap(), ["/a"]);
        drop(source);
        let staged = stager.stage(&["/a".into()]).await;
        assert!(matches!(staged, Err(Error::BrowserClosed { .. })));
    }
}
