//! Windows and frames: which are there, which one commands go to, how large it is. <https://www.w3.org/TR/webdriver2/#contexts>

use serde::{Deserialize, Serialize};

use super::element::Element;
use super::{Done, command};

/// Names a window or tab.
pub type WindowHandle = String;

/// Answers those that are left. <https://www.w3.org/TR/webdriver2/#close-window>
#[derive(Debug, Clone, Default, Serialize)]
pub struct CloseWindow {}
command!(CloseWindow, "Close Window", Delete "window", Vec<WindowHandle>);

/// Further commands go there, to its main frame. <https://www.w3.org/TR/webdriver2/#switch-to-window>
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

/// What a new window should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WindowKind {
    Tab,
    Window,
}

/// The answer to [`NewWindow`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct NewWindowResult {
    pub handle: WindowHandle,
    #[serde(rename = "type")]
    pub kind: String,
}

/// Further commands go to this frame of the one before. <https://www.w3.org/TR/webdriver2/#switch-to-frame>
#[derive(Debug, Clone, Serialize)]
pub struct SwitchToFrame {
    pub id: FrameReference,
}
command!(SwitchToFrame, "Switch To Frame", Post "frame", Done);

/// Which frame.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum FrameReference {
    /// The main one.
    Top,
    /// By its place in `window.frames`.
    Index(u16),
    /// By the element that holds it.
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

/// Where a window is, its frame and bars included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct WindowRect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}
