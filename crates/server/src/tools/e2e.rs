//! The `e2e` toolset: it starts, observes and stops the app under test, together with the session that tests it.

mod errors;
mod lifecycle;
mod logs;
mod parallel;

use crate::calls::Call;
use crate::error::Result;
use crate::sessions::Tested;
use crate::sessions::session::Session;
use crate::sessions::session::app::App;
use crate::tools::tool::{Reach, Scope, Toolset};
use std::sync::Arc;

pub(crate) const TOOLSET: Toolset = Toolset::new(
    "e2e",
    "Test an app: its server is started and stopped with the session, and a failure shows both sides, the page's and the server's.",
    &[lifecycle::TOOLS, logs::TOOLS, errors::TOOLS],
);

/// The session that tests an app. A call in this scope does not wait for other calls of the session.
struct E2eSession(Tested);

/// The session that tests an app, for a call that acts on it and has its turn.
struct E2eSessionInTurn(E2eSession);

/// The session that tests an app, for a call that closes it. Earlier calls are cancelled.
struct E2eSessionToClose(E2eSession);

impl E2eSession {
    fn session(&self) -> &Arc<Session> {
        &self.0.created.session
    }

    fn app(&self) -> &App {
        self.session()
            .app()
            .expect("the session was selected because it tests an app")
    }

    /// Records that a call that has its turn begins.
    fn begun(self, call: &Call) -> Self {
        call.set_tested(self.session().id());
        self.app().call_began();
        self
    }
}

impl Scope for E2eSession {
    const CAN_BE_STEP: bool = false;

    async fn enter(call: &Call, reach: &Reach) -> Result<Self> {
        call.skip_turn();
        let session = Self(reach.sessions.e2e(&reach.session)?);
        call.set_tested(session.session().id());
        Ok(session)
    }
}

impl Scope for E2eSessionInTurn {
    const CAN_BE_STEP: bool = false;

    async fn enter(call: &Call, reach: &Reach) -> Result<Self> {
        let session = E2eSession(reach.sessions.e2e(&reach.session)?);
        session.session().begin_call(call).await?;
        Ok(Self(session.begun(call)))
    }
}

impl Scope for E2eSessionToClose {
    const CAN_BE_STEP: bool = false;

    async fn enter(call: &Call, reach: &Reach) -> Result<Self> {
        let session = E2eSession(reach.sessions.e2e(&reach.session)?);
        session.session().begin_close(call).await?;
        Ok(Self(session.begun(call)))
    }
}
