//! Resizing the viewport.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::error::{Error, Problem, Result};
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::{Argument, Receiver, Statement};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Resize>()];

/// Resize the viewport.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Resize {
    /// Width in CSS pixels.
    width: f64,
    /// Height in CSS pixels.
    height: f64,
}

impl Tool for Resize {
    const NAME: &'static str = "browser_resize";
    const TITLE: &'static str = "Resize browser window";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let (width, height) = (pixels("width", self.width)?, pixels("height", self.height)?);
        tab.page.resize(&call.action(), width, height).await?;
        let code = format!("await page.setViewportSize({{ width: {width}, height: {height} }});");
        let size = Argument::Size(width, height);
        let statement = Statement::new(Receiver::Page, "setViewportSize").argument(size);
        Ok(Reply::statements(call.language(), code, [statement]))
    }
}

/// The largest width and height that browsers accept, in CSS pixels.
const MAX_SIDE: f64 = 10_000_000.0;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number that fits"
)]
fn pixels(parameter: &str, number: f64) -> Result<u32> {
    let message = if number.fract() != 0.0 {
        "Invalid input: expected int, received number".to_owned()
    } else if number < 1.0 {
        "Too small: expected number to be >=1".to_owned()
    } else if number > MAX_SIDE {
        format!("Too big: expected number to be <={MAX_SIDE}")
    } else {
        return Ok(number as u32);
    };
    Err(Error::InvalidArguments {
        tool: Resize::NAME,
        problems: vec![Problem {
            parameter: parameter.to_owned(),
            message,
            missing: false,
        }],
    })
}
