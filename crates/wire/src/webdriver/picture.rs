//! What a page looks like, on a screen and on paper. <https://www.w3.org/TR/webdriver2/#screen-capture>

use serde::Serialize;

use super::command;
use super::element::Element;
use crate::message::Binary;

/// The viewport, as PNG. <https://www.w3.org/TR/webdriver2/#take-screenshot>
#[derive(Debug, Clone, Default, Serialize)]
pub struct TakeScreenshot {}
command!(TakeScreenshot, "Take Screenshot", Get "screenshot", Binary);

/// An element, brought into view, as PNG. <https://www.w3.org/TR/webdriver2/#take-element-screenshot>
#[derive(Debug, Clone, Serialize)]
pub struct TakeElementScreenshot {
    #[serde(skip)]
    pub element: Element,
}
command!(TakeElementScreenshot, "Take Element Screenshot", Get "element"/element/"/screenshot", Binary);

/// A PDF; sizes in centimetres. <https://www.w3.org/TR/webdriver2/#print-page>
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PrintPage {
    pub orientation: &'static str,
    pub background: bool,
    pub page: PrintSize,
}
command!(PrintPage, "Print Page", Post "print", Binary);

/// The paper, in centimetres.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct PrintSize {
    pub width: f64,
    pub height: f64,
}
