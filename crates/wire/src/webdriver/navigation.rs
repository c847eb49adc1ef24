//! Navigation of the current window. <https://www.w3.org/TR/webdriver2/#navigation>

use serde::Serialize;

use super::{Done, command};

/// <https://www.w3.org/TR/webdriver2/#navigate-to>
#[derive(Debug, Clone, Serialize)]
pub struct NavigateTo {
    pub url: String,
}
command!(NavigateTo, "Navigate To", Post "url", Done);

/// <https://www.w3.org/TR/webdriver2/#get-current-url>
#[derive(Debug, Clone, Default, Serialize)]
pub struct GetCurrentUrl {}
command!(GetCurrentUrl, "Get Current URL", Get "url", String);

/// <https://www.w3.org/TR/webdriver2/#back>
#[derive(Debug, Clone, Default, Serialize)]
pub struct Back {}
command!(Back, "Back", Post "back", Done);

/// <https://www.w3.org/TR/webdriver2/#forward>
#[derive(Debug, Clone, Default, Serialize)]
pub struct Forward {}
command!(Forward, "Forward", Post "forward", Done);

/// <https://www.w3.org/TR/webdriver2/#refresh>
#[derive(Debug, Clone, Default, Serialize)]
pub struct Refresh {}
command!(Refresh, "Refresh", Post "refresh", Done);

/// <https://www.w3.org/TR/webdriver2/#get-title>
#[derive(Debug, Clone, Default, Serialize)]
pub struct GetTitle {}
command!(GetTitle, "Get Title", Get "title", String);
