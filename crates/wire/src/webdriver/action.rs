//! Input actions. One command performs a sequence of actions. <https://www.w3.org/TR/webdriver2/#actions>

use super::{Done, command};
use crate::actions::Source;
use serde::Serialize;

/// <https://www.w3.org/TR/webdriver2/#perform-actions>
#[derive(Debug, Clone, Default, Serialize)]
pub struct PerformActions {
    pub actions: Vec<Source>,
}
command!(PerformActions, "Perform Actions", Post "actions", Done);

/// Releases all pressed keys and buttons, and resets the position of the pointer. <https://www.w3.org/TR/webdriver2/#release-actions>
#[derive(Debug, Clone, Default, Serialize)]
pub struct ReleaseActions {}
command!(ReleaseActions, "Release Actions", Delete "actions", Done);
