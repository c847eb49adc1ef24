//! Trusted input: one gesture, one command. <https://www.w3.org/TR/webdriver2/#actions>

use super::{Done, command};
use crate::actions::Source;
use serde::Serialize;

/// <https://www.w3.org/TR/webdriver2/#perform-actions>
#[derive(Debug, Clone, Default, Serialize)]
pub struct PerformActions {
    pub actions: Vec<Source>,
}
command!(PerformActions, "Perform Actions", Post "actions", Done);

/// Lets go of everything, and forgets where the pointer was. <https://www.w3.org/TR/webdriver2/#release-actions>
#[derive(Debug, Clone, Default, Serialize)]
pub struct ReleaseActions {}
command!(ReleaseActions, "Release Actions", Delete "actions", Done);
