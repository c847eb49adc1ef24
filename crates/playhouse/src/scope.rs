//! What tools can act on, and how a call gets hold of it.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::session::Session;
use crate::tool::Scope;
use std::sync::Arc;

/// Nothing of a session: the server itself. Needs no turn.
pub(crate) struct OfServer;

impl Scope for OfServer {
    async fn enter(_: &Call) -> Result<Self> {
        Ok(Self)
    }
}

impl Scope for Arc<Session> {
    async fn enter(call: &Call) -> Result<Self> {
        Ok(call.take_turn().await.clone())
    }
}

/// The current tab, unless a dialog or file chooser is open in it.
pub(crate) struct Tab {}

/// The current tab, with a dialog open.
pub(crate) struct DialogTab(pub(crate) Tab);

/// The current tab, with a file chooser open.
pub(crate) struct FileChooserTab(pub(crate) Tab);

impl Scope for Tab {
    async fn enter(call: &Call) -> Result<Self> {
        call.take_turn().await;
        Ok(Self {})
    }
}

impl Scope for DialogTab {
    async fn enter(call: &Call) -> Result<Self> {
        call.take_turn().await;
        Err(Error::NoModalState {
            tool: call.tool.name,
        })
    }
}

impl Scope for FileChooserTab {
    async fn enter(call: &Call) -> Result<Self> {
        call.take_turn().await;
        Err(Error::NoModalState {
            tool: call.tool.name,
        })
    }
}
