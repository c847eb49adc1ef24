//! Windows and frames: the list of windows, the current one, and their sizes. <https://www.w3.org/TR/webdriver2/#contexts>

use serde::{Deserialize, Serialize};

use super::element::Element;
use super::{Done, command};

/// The identifier of a window or tab.
pub type WindowHandle = String;

/// Closes the current window and returns the remaining ones. <https://www.w3.org/TR/webdriver2/#close-window>
#[derive(Debug, Clone, Default, Serialize)]
pub struct CloseWindow {}
command!(CloseWindow, "Close Window", Delete "window", Vec<WindowHandle>);

/// Makes the main frame of a window the current browsing context. <https://www.w3.org/TR/webdriver2/#switch-to-window>
#[derive(Debug, Clone, Serialize)]
pub struct SwitchToWindow {
    pub handle: WindowHandle,
}
command!(SwitchToWindow, "Switch To Window", Post "window", Done);

/// <https://www.w3.org/TR/webdriver2/#get-window-handles>
#[derive(Debug, Clone, Default, Serialize)]
pub struct GetWindowHandles {}
command!(GetWindowHandles, "Get Window Handles", Get "window/handles", Vec<WindowHandle>);

/// <https://www.w3.org/TR/webdriver2/#new-window>
#[derive(Debug, Clone, Serialize)]
pub struct NewWindow {
    #[serde(rename = "type")]
    pub kind: WindowKind,
}
command!(NewWindow, "New Window", Post "window/new", NewWindowResult);

/// The kind of a new window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WindowKind {
    Tab,
    Window,
}

/// The result of [`NewWindow`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct NewWindowResult {
    pub handle: WindowHandle,
    #[serde(rename = "type")]
    pub kind: String,
}

/// Makes a frame of the current browsing context the current one. <https://www.w3.org/TR/webdriver2/#switch-to-frame>
#[derive(Debug, Clone, Serialize)]
pub struct SwitchToFrame {
    pub id: FrameReference,
}
command!(SwitchToFrame, "Switch To Frame", Post "frame", Done);

/// A frame of the current browsing context.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum FrameReference {
    /// The main frame.
    Top,
    /// The frame with this index in `window.frames`.
    Index(u16),
    /// The frame of this element.
    Owner(Element),
}

/// <https://www.w3.org/TR/webdriver2/#set-window-rect>
#[derive(Debug, Clone, Default, Serialize)]
pub struct SetWindowRect {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
}
command!(SetWindowRect, "Set Window Rect", Post "window/rect", WindowRect);

/// The position and size of a window, including its borders and bars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct WindowRect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}
