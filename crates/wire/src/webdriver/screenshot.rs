//! What a page looks like, on a screen and on paper. <https://www.w3.org/TR/webdriver2/#screen-capture>

use serde::Serialize;

use super::command;
use crate::message::Binary;

/// The viewport, as PNG. <https://www.w3.org/TR/webdriver2/#take-screenshot>
#[derive(Debug, Clone, Default, Serialize)]
pub struct TakeScreenshot {}
command!(TakeScreenshot, "Take Screenshot", Get "screenshot", Binary);
