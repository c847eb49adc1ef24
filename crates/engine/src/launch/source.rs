//! Where a browser comes from, and what therefore becomes of it when nobody needs it any more.

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

/// How often a WebDriver end hears that its session is still needed, and tells whether it still has it. Grids end those that were idle for
/// minutes; and one that has lost a machine may leave connections to it open.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(10);
/// How many signs of life in a row may come to nothing before the browser counts as gone.
const MAX_FAILED_KEEP_ALIVES: u32 = 2;
/// How long a WebDriver end may take to end a session.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// Where a browser comes from.
pub(crate) enum Source {
    /// We started it.
    Started(Arc<Process>),
    /// A WebDriver end made it for us.
    Granted(SessionLease),
    /// It is somebody else's.
    Reached,
}

impl Source {
    /// Ends a browser that is ours, by what it is asked for as long as its profile is worth it, and then whatever it does. Whether it was
    /// ours.
    pub(crate) async fn end(&self, grace: Duration, ask: impl Future<Output = ()>) -> bool {
        match self {
            Self::Started(process) => {
                process.leave();
                let deadline = Instant::now() + grace;
                // It may be gone already; then there is nothing to ask.
                let _ = tokio::time::timeout_at(deadline, ask).await;
                process
                    .end(deadline.saturating_duration_since(Instant::now()))
                    .await;
            }
            Self::Granted(grant) => grant.end().await,
            Self::Reached => return false,
        }
        true
    }

    /// These files, under the names by which the browser finds them: where it runs on another machine, they are brought there.
    pub(crate) async fn stage_files(&self, files: &[PathBuf]) -> Result<Vec<String>> {
        let Self::Granted(grant) = self else {
            let name = |path: &PathBuf| path.display().to_string();
            return Ok(files.iter().map(name).collect());
        };
        let session = grant.session().clone().ok_or(Error::BrowserClosed {
            reason: "it was given back".to_owned(),
        })?;
        let mut names = Vec::new();
        // One after the other: each is in memory while it is sent.
        for file in files {
            names.push(upload(&session, file).await?);
        }
        Ok(names)
    }

    /// Whether it has a profile that somebody keeps.
    pub(crate) fn has_persistent_profile(&self) -> bool {
        matches!(self, Self::Started(process) if !process.is_temporary())
    }
}

/// Makes files available to a browser, for as long as the browser is there.
#[derive(Clone, Default)]
pub(crate) struct FileStager(Weak<Source>);

impl FileStager {
    pub(crate) fn new(source: &Arc<Source>) -> Self {
        Self(Arc::downgrade(source))
    }

    /// Returns the names by which the browser finds these files.
    pub(crate) async fn stage(&self, files: &[PathBuf]) -> Result<Vec<String>> {
        let source = self.0.upgrade().ok_or(Error::PageClosed {})?;
        source.stage_files(files).await
    }
}

/// A session that a WebDriver end made for us: kept alive, and ended when dropped.
pub(crate) struct SessionLease {
    /// `None` once it was asked to end.
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

    /// Tells the end from time to time that the session is needed. A browser that it has no more is gone, whatever becomes of the
    /// connection to it, which is closed then.
    pub(crate) fn with_keep_alive(mut self, connection: Option<Connection>) -> Self {
        let session = self.session().clone();
        self.life = session.map(|session| {
            task::spawn("sign of life", async move {
                loop {
                    wait_until_lost(&session).await;
                    // Without one, calls are the end's to answer.
                    if let Some(connection) = &connection {
                        return connection.close();
                    }
                }
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

/// Returns when the end has lost the session.
async fn wait_until_lost(session: &WebDriverSession) {
    let mut unheard = 0;
    while unheard < MAX_FAILED_KEEP_ALIVES {
        tokio::time::sleep(KEEP_ALIVE_INTERVAL).await;
        let sign = session.call_concurrently(&GetTimeouts {});
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
        // It is ended already, or its machine is gone.
        Ok(Err(error)) => tracing::debug!(%error, "a remote session was not ended"),
        Err(_) => tracing::debug!("a remote session takes long to end"),
    }
}
