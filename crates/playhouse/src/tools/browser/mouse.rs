//! The mouse by coordinates.

use super::click::Button;
use crate::call::Call;
use crate::config::Capability;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<MouseMove>(),
    ToolDef::of::<MouseClick>(),
    ToolDef::of::<MouseDrag>(),
    ToolDef::of::<MouseDown>(),
    ToolDef::of::<MouseUp>(),
    ToolDef::of::<MouseWheel>(),
];

/// Move the mouse.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MouseMove {
    /// X in CSS pixels.
    x: f64,
    /// Y in CSS pixels.
    y: f64,
}

impl Tool for MouseMove {
    const NAME: &'static str = "browser_mouse_move_xy";
    const TITLE: &'static str = "Move mouse";
    const EFFECT: Effect = Effect::Acts;
    const CAPABILITY: Option<Capability> = Some(Capability::Vision);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Click at a position.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MouseClick {
    /// X in CSS pixels.
    x: f64,
    /// Y in CSS pixels.
    y: f64,
    /// Mouse button, left by default.
    button: Option<Button>,
    /// How often, 1 by default.
    click_count: Option<f64>,
    /// Milliseconds between press and release.
    delay: Option<f64>,
}

impl Tool for MouseClick {
    const NAME: &'static str = "browser_mouse_click_xy";
    const TITLE: &'static str = "Click";
    const EFFECT: Effect = Effect::Acts;
    const CAPABILITY: Option<Capability> = Some(Capability::Vision);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Drag from one position to another.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MouseDrag {
    /// X of the start.
    start_x: f64,
    /// Y of the start.
    start_y: f64,
    /// X of the end.
    end_x: f64,
    /// Y of the end.
    end_y: f64,
}

impl Tool for MouseDrag {
    const NAME: &'static str = "browser_mouse_drag_xy";
    const TITLE: &'static str = "Drag mouse";
    const EFFECT: Effect = Effect::Acts;
    const CAPABILITY: Option<Capability> = Some(Capability::Vision);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Press a mouse button.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MouseDown {
    /// Mouse button, left by default.
    button: Option<Button>,
}

impl Tool for MouseDown {
    const NAME: &'static str = "browser_mouse_down";
    const TITLE: &'static str = "Press mouse down";
    const EFFECT: Effect = Effect::Acts;
    const CAPABILITY: Option<Capability> = Some(Capability::Vision);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Release a mouse button.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MouseUp {
    /// Mouse button, left by default.
    button: Option<Button>,
}

impl Tool for MouseUp {
    const NAME: &'static str = "browser_mouse_up";
    const TITLE: &'static str = "Press mouse up";
    const EFFECT: Effect = Effect::Acts;
    const CAPABILITY: Option<Capability> = Some(Capability::Vision);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Turn the mouse wheel.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MouseWheel {
    /// Pixels to the right.
    #[serde(default)]
    #[schemars(schema_with = "delta")]
    delta_x: f64,
    /// Pixels down.
    #[serde(default)]
    #[schemars(schema_with = "delta")]
    delta_y: f64,
}

fn delta(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "number", "default": 0 })
}

impl Tool for MouseWheel {
    const NAME: &'static str = "browser_mouse_wheel";
    const TITLE: &'static str = "Scroll mouse wheel";
    const EFFECT: Effect = Effect::Acts;
    const CAPABILITY: Option<Capability> = Some(Capability::Vision);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
