//! Mouse actions at coordinates.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Capability;
use crate::error::Result;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::javascript::Options;
use engine::codegen::{Argument, Receiver, Statement};
use engine::{MouseButton, Point};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

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
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Vision);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let to = point(self.x, self.y);
        let progress = call.action();
        tab.page.mouse_move(&progress, to).await?;
        let code = format!(
            "// Move mouse to ({0}, {1})\nawait page.mouse.move({0}, {1});",
            self.x, self.y
        );
        let statements = [move_to(self.x, self.y)];
        Ok(Reply::statements(call.language(), code, statements))
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
    button: Option<MouseButton>,
    /// How often, 1 by default.
    click_count: Option<f64>,
    /// Milliseconds between press and release.
    delay: Option<f64>,
}

impl Tool for MouseClick {
    const NAME: &'static str = "browser_mouse_click_xy";
    const TITLE: &'static str = "Click";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Vision);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let (x, y) = (self.x, self.y);
        let count = self.click_count;
        let how = engine::Click {
            button: self.button.unwrap_or_default(),
            count: count.map_or(1, to_click_count),
            delay: self.delay.map(milliseconds).unwrap_or_default(),
            ..engine::Click::default()
        };
        let options = Options::default()
            .with_some("button", self.button.map(<&str>::from))
            .with_some("clickCount", count)
            .with_some("delay", self.delay);
        let options = match options.is_empty() {
            true => String::new(),
            false => format!(", {options}"),
        };
        let progress = call.action();
        let click = tab.page.mouse_click(&progress, point(x, y), &how);
        tab.act(call, click).await?;
        let code = format!(
            "// Click mouse at coordinates ({x}, {y})\nawait page.mouse.click({x}, {y}{options});"
        );
        let statement = mouse("click")
            .argument(x)
            .argument(y)
            .option("button", self.button.map(choice))
            .option("clickCount", count)
            .option("delay", self.delay);
        Ok(Reply::statements(call.language(), code, [statement]).and_snapshot())
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
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Vision);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let (from, to) = (
            point(self.start_x, self.start_y),
            point(self.end_x, self.end_y),
        );
        let progress = call.action();
        tab.act(call, tab.page.mouse_drag(&progress, from, to))
            .await?;
        let code = format!(
            "// Drag mouse from ({0}, {1}) to ({2}, {3})\nawait page.mouse.move({0}, {1});\nawait page.mouse.down();\nawait page.mouse.move({2}, {3});\nawait page.mouse.up();",
            self.start_x, self.start_y, self.end_x, self.end_y
        );
        let statements = [
            move_to(self.start_x, self.start_y),
            mouse("down"),
            move_to(self.end_x, self.end_y),
            mouse("up"),
        ];
        Ok(Reply::statements(call.language(), code, statements).and_snapshot())
    }
}

/// Press a mouse button.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MouseDown {
    /// Mouse button, left by default.
    button: Option<MouseButton>,
}

impl Tool for MouseDown {
    const NAME: &'static str = "browser_mouse_down";
    const TITLE: &'static str = "Press mouse down";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Vision);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let button = self.button.unwrap_or_default();
        let progress = call.action();
        tab.page.mouse_down(&progress, button, 1).await?;
        let options = button_options(self.button);
        let code = format!("// Press mouse down\nawait page.mouse.down({options});");
        let statement = mouse("down").option("button", self.button.map(choice));
        Ok(Reply::statements(call.language(), code, [statement]))
    }
}

/// Release a mouse button.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MouseUp {
    /// Mouse button, left by default.
    button: Option<MouseButton>,
}

impl Tool for MouseUp {
    const NAME: &'static str = "browser_mouse_up";
    const TITLE: &'static str = "Press mouse up";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Vision);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let button = self.button.unwrap_or_default();
        let progress = call.action();
        tab.page.mouse_up(&progress, button, 1).await?;
        let options = button_options(self.button);
        let code = format!("// Press mouse up\nawait page.mouse.up({options});");
        let statement = mouse("up").option("button", self.button.map(choice));
        Ok(Reply::statements(call.language(), code, [statement]))
    }
}

/// Turn the mouse wheel.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MouseWheel {
    /// Pixels to the right.
    #[serde(default)]
    delta_x: f64,
    /// Pixels down.
    #[serde(default)]
    delta_y: f64,
}

impl Tool for MouseWheel {
    const NAME: &'static str = "browser_mouse_wheel";
    const TITLE: &'static str = "Scroll mouse wheel";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Vision);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let (x, y) = (self.delta_x, self.delta_y);
        let progress = call.action();
        tab.page.mouse_wheel(&progress, x, y).await?;
        let code = format!("// Scroll mouse wheel\nawait page.mouse.wheel({x}, {y});");
        let statement = mouse("wheel").argument(x).argument(y);
        Ok(Reply::statements(call.language(), code, [statement]))
    }
}

/// Returns the options of generated code for a button, or an empty text if the call names none.
fn button_options(button: Option<MouseButton>) -> String {
    match button {
        Some(button) => Options::default()
            .with("button", <&str>::from(button))
            .to_string(),
        None => String::new(),
    }
}

fn mouse(method: &'static str) -> Statement {
    Statement::new(Receiver::Mouse, method)
}

fn move_to(x: f64, y: f64) -> Statement {
    mouse("move").argument(x).argument(y)
}

fn choice(button: MouseButton) -> Argument {
    Argument::Choice {
        class: "MouseButton",
        value: button.to_string(),
    }
}

fn point(x: f64, y: f64) -> Point {
    Point { x, y }
}

/// Returns the number of clicks, at least one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to whole numbers that fit"
)]
fn to_click_count(number: f64) -> u32 {
    number.clamp(1.0, 100.0) as u32
}

fn milliseconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number / 1000.0).unwrap_or_default()
}
