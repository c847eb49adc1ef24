//! A session: a browser context with its tabs, and the turn that lets one call at a time touch them.

use crate::browsers::Browsers;
use crate::call::Call;
use crate::config::Settings;
use crate::error::Result;
use crate::reply::{Answer, Reply};
use std::sync::Arc;

/// The right to touch a session.
pub(crate) type Turn = tokio::sync::OwnedMutexGuard<()>;

/// What the calls of one client share.
pub(crate) struct Session {
    settings: Arc<Settings>,
    browsers: Arc<Browsers>,
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl Session {
    /// A session without a browser yet.
    pub(crate) fn new(settings: Arc<Settings>, browsers: Arc<Browsers>) -> Self {
        Self {
            settings,
            browsers,
            turn: Arc::default(),
        }
    }

    /// Waits for the calls before this one; the session is the caller's until the guard drops.
    pub(crate) fn turn(&self) -> impl Future<Output = Turn> + Send + use<> {
        self.turn.clone().lock_owned()
    }

    /// What the call answers, with what the page looks like after it.
    pub(crate) async fn answer(&self, _call: &Call, reply: Reply) -> Result<Answer> {
        Ok(Answer {
            reply,
            ..Answer::default()
        })
    }

    /// Closes what it has open.
    pub(crate) async fn close(&self) {}
}
