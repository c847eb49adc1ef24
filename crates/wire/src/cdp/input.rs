//! The `Input` domain: trusted mouse, keyboard, touch and drag events.

use serde::{Deserialize, Serialize};

use super::{Empty, command, event};

/// Positions are CSS pixels from the corner of the viewport; `modifiers` are Alt 1, Control 2, Meta 4, Shift 8; `buttons` are left 1, right
/// 2, middle 4. The command returns when the page has handled the event.
/// [`Input.dispatchMouseEvent`](https://chromedevtools.github.io/devtools-protocol/tot/Input/#method-dispatchMouseEvent)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DispatchMouseEvent {
    #[serde(rename = "type")]
    pub kind: MouseEventType,
    pub x: f64,
    pub y: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modifiers: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub button: Option<MouseButton>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buttons: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub click_count: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_x: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_y: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer_type: Option<PointerType>,
}
command!(DispatchMouseEvent, "Input.dispatchMouseEvent", Empty);

/// `modifiers` as for the mouse. The command returns when the page has handled the event.
/// [`Input.dispatchKeyEvent`](https://chromedevtools.github.io/devtools-protocol/tot/Input/#method-dispatchKeyEvent)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DispatchKeyEvent {
    #[serde(rename = "type")]
    pub kind: KeyEventType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modifiers: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmodified_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows_virtual_key_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native_virtual_key_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_repeat: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_keypad: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_system_key: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commands: Option<Vec<String>>,
}
command!(DispatchKeyEvent, "Input.dispatchKeyEvent", Empty);

/// Inserts text as an input method does, without key events.
/// [`Input.insertText`](https://chromedevtools.github.io/devtools-protocol/tot/Input/#method-insertText)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InsertText {
    pub text: String,
}
command!(InsertText, "Input.insertText", Empty);

/// [`Input.setInterceptDrags`](https://chromedevtools.github.io/devtools-protocol/tot/Input/#method-setInterceptDrags)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetInterceptDrags {
    pub enabled: bool,
}
command!(SetInterceptDrags, "Input.setInterceptDrags", Empty);

/// [`Input.dispatchDragEvent`](https://chromedevtools.github.io/devtools-protocol/tot/Input/#method-dispatchDragEvent)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DispatchDragEvent {
    #[serde(rename = "type")]
    pub kind: DragEventType,
    pub x: f64,
    pub y: f64,
    pub data: DragData,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modifiers: Option<i64>,
}
command!(DispatchDragEvent, "Input.dispatchDragEvent", Empty);

/// A drag has started, which [`DispatchDragEvent`] must continue.
/// [`Input.dragIntercepted`](https://chromedevtools.github.io/devtools-protocol/tot/Input/#event-dragIntercepted)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DragIntercepted {
    pub data: DragData,
}
event!(DragIntercepted, "Input.dragIntercepted");

/// [`Input.MouseButton`](https://chromedevtools.github.io/devtools-protocol/tot/Input/#type-MouseButton)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum MouseButton {
    #[default]
    None,
    Left,
    Middle,
    Right,
    Back,
    Forward,
}

/// [`Input.TimeSinceEpoch`](https://chromedevtools.github.io/devtools-protocol/tot/Input/#type-TimeSinceEpoch)
pub type TimeSinceEpoch = f64;

/// [`Input.DragDataItem`](https://chromedevtools.github.io/devtools-protocol/tot/Input/#type-DragDataItem)
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DragDataItem {
    pub mime_type: String,
    pub data: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(rename = "baseURL", skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
}

/// [`Input.DragData`](https://chromedevtools.github.io/devtools-protocol/tot/Input/#type-DragData)
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DragData {
    pub items: Vec<DragDataItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    pub drag_operations_mask: i64,
}

/// The values of `type` in `Input.dispatchMouseEvent`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum MouseEventType {
    #[default]
    MousePressed,
    MouseReleased,
    MouseMoved,
    MouseWheel,
}

/// The values of `pointerType` in `Input.dispatchMouseEvent`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PointerType {
    #[default]
    Mouse,
    Pen,
}

/// The values of `type` in `Input.dispatchKeyEvent`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum KeyEventType {
    #[default]
    KeyDown,
    KeyUp,
    RawKeyDown,
    Char,
}

/// The values of `type` in `Input.dispatchDragEvent`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum DragEventType {
    #[default]
    DragEnter,
    DragOver,
    Drop,
    DragCancel,
}
