//! Screenshots and printing. <https://www.w3.org/TR/webdriver2/#screen-capture>

use serde::Serialize;

use super::command;
use crate::message::Binary;

/// Returns a PNG of the viewport. <https://www.w3.org/TR/webdriver2/#take-screenshot>
#[derive(Debug, Clone, Default, Serialize)]
pub struct TakeScreenshot {}
command!(TakeScreenshot, "Take Screenshot", Get "screenshot", Binary);
