//! Dialogs. <https://www.w3.org/TR/webdriver2/#user-prompts>

use serde::Serialize;

use super::{Done, command};

/// <https://www.w3.org/TR/webdriver2/#dismiss-alert>
#[derive(Debug, Clone, Default, Serialize)]
pub struct DismissAlert {}
command!(DismissAlert, "Dismiss Alert", Post "alert/dismiss", Done);

/// <https://www.w3.org/TR/webdriver2/#accept-alert>
#[derive(Debug, Clone, Default, Serialize)]
pub struct AcceptAlert {}
command!(AcceptAlert, "Accept Alert", Post "alert/accept", Done);

/// <https://www.w3.org/TR/webdriver2/#get-alert-text>
#[derive(Debug, Clone, Default, Serialize)]
pub struct GetAlertText {}
command!(GetAlertText, "Get Alert Text", Get "alert/text", Option<String>);

/// Types text into a prompt. Fails with `element not interactable` for other dialogs. <https://www.w3.org/TR/webdriver2/#send-alert-text>
#[derive(Debug, Clone, Serialize)]
pub struct SendAlertText {
    pub text: String,
}
command!(SendAlertText, "Send Alert Text", Post "alert/text", Done);
