//! Where a browser comes from, and what therefore becomes of it when nobody needs it any more.

use super::process::Process;
use super::upload::upload;
use crate::error::{Error, Result};
use crate::task::{self, Task};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use wire::Connection;
use wire::webdriver::WebDriverSession;
use wire::webdriver::session::GetTimeouts;

/// How often a WebDriver end hears that its session is still needed, and tells whether it still has it. Grids end those that were idle for
/// minutes; and one that has lost a machine may leave connections to it open.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);
/// How many signs of life in a row may come to nothing before the browser counts as gone.
const UNHEARD: u32 = 2;
/// How long a WebDriver end may take to end a session.
const ENDING: Duration = Duration::from_secs(10);

/// Where a browser comes from.
pub(crate) enum Source {
    /// We started it.
    Started(Arc<Process>),
    /// A WebDriver end made it for us.
    Granted(Grant),
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
                let patience = Instant::now() + grace;
                // It may be gone already; then there is nothing to ask.
                let _ = tokio::time::timeout_at(patience, ask).await;
                process
                    .end(patience.saturating_duration_since(Instant::now()))
                    .await;
            }
            Self::Granted(grant) => grant.end().await,
            Self::Reached => return false,
        }
        true
    }

    /// These files, under the names by which the browser finds them: where it runs on another machine, they are brought there.
    pub(crate) async fn lend(&self, files: &[PathBuf]) -> Result<Vec<String>> {
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
    pub(crate) fn has_lasting_profile(&self) -> bool {
        matches!(self, Self::Started(process) if !process.is_temporary())
    }
}

/// A session that a WebDriver end made for us: kept alive, and ended when dropped.
pub(crate) struct Grant {
    /// `None` once it was asked to end.
    session: Mutex<Option<WebDriverSession>>,
    life: Option<Task>,
}

impl Grant {
    pub(crate) fn new(session: WebDriverSession) -> Self {
        Self {
            session: Mutex::new(Some(session)),
            life: None,
        }
    }

    /// Tells the end from time to time that the session is needed. A browser that it has no more is gone, whatever becomes of the
    /// connection to it, which is closed then.
    pub(crate) fn kept_alive(mut self, connection: Option<Connection>) -> Self {
        let session = self.session().clone();
        self.life = session.map(|session| {
            task::spawn("sign of life", async move {
                loop {
                    lives(&session).await;
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
        if let Some(session) = self.take() {
            task::to_the_end("ending a remote session", ended(session)).await;
        }
    }

    fn take(&self) -> Option<WebDriverSession> {
        self.session().take()
    }

    fn session(&self) -> MutexGuard<'_, Option<WebDriverSession>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        if let Some(session) = self.take() {
            task::spawn("ending a remote session", ended(session)).detach();
        }
    }
}

/// Returns when the end has lost the session.
async fn lives(session: &WebDriverSession) {
    let mut unheard = 0;
    while unheard < UNHEARD {
        tokio::time::sleep(SIGN_OF_LIFE).await;
        let sign = session.call_aside(&GetTimeouts {});
        match tokio::time::timeout(SIGN_OF_LIFE, sign).await {
            Ok(Ok(_)) => unheard = 0,
            Ok(Err(error)) => {
                tracing::debug!(%error, "the WebDriver end did not take a sign of life");
                unheard += 1;
            }
            Err(_) => unheard += 1,
        }
    }
}

async fn ended(session: WebDriverSession) {
    match tokio::time::timeout(ENDING, session.delete()).await {
        Ok(Ok(())) => {}
        // It is ended already, or its machine is gone.
        Ok(Err(error)) => tracing::debug!(%error, "a remote session was not ended"),
        Err(_) => tracing::debug!("a remote session takes long to end"),
    }
}
