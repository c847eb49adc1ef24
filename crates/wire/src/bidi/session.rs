//! The `session` module: the session of a connection, and its event subscriptions.

use serde::{Deserialize, Serialize};

use super::{Empty, command};

/// [`session.new`](https://w3c.github.io/webdriver-bidi/#command-session-new)
#[derive(Debug, Clone, Default, Serialize)]
pub struct New {
    pub capabilities: Capabilities,
}
command!(New, "session.new", NewResult);

/// [`session.status`](https://w3c.github.io/webdriver-bidi/#command-session-status): whether a new session can be created. During a
/// session, it is only used to check that the browser responds.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Status {}
command!(Status, "session.status", Empty);

/// [`session.CapabilitiesRequest`](https://w3c.github.io/webdriver-bidi/#type-session-CapabilitiesRequest)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    pub always_match: CapabilityRequest,
}

/// [`session.CapabilityRequest`](https://w3c.github.io/webdriver-bidi/#type-session-CapabilityRequest)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CapabilityRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept_insecure_certs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unhandled_prompt_behavior: Option<UserPromptHandler>,
}

/// [`session.UserPromptHandler`](https://w3c.github.io/webdriver-bidi/#type-session-UserPromptHandler)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UserPromptHandler {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<UserPromptHandlerType>,
    /// The handling of file dialogs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<UserPromptHandlerType>,
}

/// [`session.UserPromptHandlerType`](https://w3c.github.io/webdriver-bidi/#type-session-UserPromptHandlerType)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum UserPromptHandlerType {
    Accept,
    Dismiss,
    Ignore,
}

/// The result of [`New`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NewResult {
    pub session_id: String,
    pub capabilities: Matched,
}

/// The capabilities of the browser.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Matched {
    pub browser_name: String,
    pub browser_version: String,
    pub user_agent: String,
}

/// [`session.subscribe`](https://w3c.github.io/webdriver-bidi/#command-session-subscribe)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Subscribe {
    /// Names of events or modules.
    pub events: Vec<String>,
}
command!(Subscribe, "session.subscribe", Empty);

/// [`session.end`](https://w3c.github.io/webdriver-bidi/#command-session-end)
#[derive(Debug, Clone, Default, Serialize)]
pub struct End {}
command!(End, "session.end", Empty);
