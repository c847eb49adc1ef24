//! Operations of client code on elements.

use super::capture::screenshot;
use super::{Host, duration};
use crate::failure::Failure;
use crate::request::{ClickOptions, ElementOp, On};
use engine::{Click, FrameId, Locator, Page, Progress, WaitFor};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Executes an operation.
pub(super) async fn run(
    host: &Host,
    page: &Page,
    on: &On,
    op: ElementOp,
) -> Result<Value, Failure> {
    let progress = host.within(on.timeout, host.setting.action);
    let text = on.locator.as_deref().unwrap_or_default();
    let locator = locator(page, on, text)?;
    let done = act(host, page, on, &locator, &progress, op).await;
    done.map_err(|failure| failure.after(&progress))
}

/// Returns the locator of an expression, which waits for frames that do not exist yet.
fn locator(page: &Page, on: &On, text: &str) -> Result<Locator, Failure> {
    let locator = page.locator(text)?.waiting_for_element();
    Ok(match &on.frame {
        Some(frame) => locator.within(FrameId::from(frame)),
        None => locator,
    })
}

async fn act(
    host: &Host,
    page: &Page,
    on: &On,
    locator: &Locator,
    progress: &Progress,
    op: ElementOp,
) -> Result<Value, Failure> {
    match op {
        ElementOp::Click(how) => locator.click(progress, &click(how)).await?,
        ElementOp::Hover(how) => locator.hover(progress, &click(how)).await?,
        ElementOp::Fill { value } => locator.fill(progress, &value).await?,
        ElementOp::Type { text, delay } => {
            let delay = duration(delay.unwrap_or_default());
            locator.press_sequentially(progress, &text, delay).await?;
        }
        ElementOp::Press { key } => locator.press(progress, &key).await?,
        ElementOp::Focus => locator.focus(progress).await?,
        ElementOp::SetChecked { checked } => locator.set_checked(progress, checked).await?,
        ElementOp::SelectOptions { values } => {
            return Ok(locator.select_options(progress, &values).await?.into());
        }
        ElementOp::SetInputFiles { paths } => {
            let paths = files(host, &paths).await?;
            locator.set_input_files(progress, &paths).await?;
        }
        ElementOp::DragTo { target } => {
            let target = self::locator(page, on, &target)?;
            locator.drag_to(progress, &target).await?;
        }
        ElementOp::ScrollIntoView => locator.scroll_into_view(progress).await?,
        ElementOp::WaitFor { state } => {
            let wanted = match state.as_deref().unwrap_or("visible") {
                "attached" => WaitFor::Attached,
                "detached" => WaitFor::Detached,
                "visible" => WaitFor::Visible,
                "hidden" => WaitFor::Hidden,
                _ => {
                    return Err(Failure::new(
                        "state: expected one of (attached|detached|visible|hidden)",
                    ));
                }
            };
            locator.wait_for(progress, wanted).await?;
        }
        ElementOp::Screenshot(options) => {
            let area = locator.screenshot_area(progress).await?;
            return screenshot(host, page, progress, options, Some(area)).await;
        }
        ElementOp::Text => return Ok(locator.text(progress).await?.into()),
        ElementOp::InnerText => return Ok(locator.inner_text(progress).await?.into()),
        ElementOp::Value => {
            let value = locator.value(progress).await?;
            let value = value.ok_or_else(|| {
                Failure::new("Error: Node is not an <input>, <textarea> or <select> element")
            })?;
            return Ok(value.into());
        }
        ElementOp::Attribute { name } => {
            return Ok(locator.attribute(progress, &name).await?.into());
        }
        ElementOp::IsVisible => return Ok(locator.is_visible(progress).await?.into()),
        ElementOp::States => {
            let states = locator.states(progress).await?;
            return Ok(json!({
                "enabled": states.enabled,
                "editable": states.editable,
                "checked": states.checked.map(engine::Checked::is_checked),
            }));
        }
        ElementOp::Count => return Ok(locator.count(progress).await?.into()),
        ElementOp::Bounds => return Ok(json!(locator.bounds(progress).await?)),
        ElementOp::Evaluate { script } => {
            return Ok(returned(locator.evaluate(progress, &script).await?));
        }
        ElementOp::EvaluateAll { script } => {
            return Ok(returned(locator.evaluate_all(progress, &script).await?));
        }
    }
    Ok(Value::Null)
}

/// Converts the result of a function in the page; `undefined` becomes `null`.
pub(super) fn returned(value: Option<Value>) -> Value {
    value.map_or(Value::Null, |value| json!({ "value": value }))
}

pub(super) fn click(how: ClickOptions) -> Click {
    Click {
        button: how.button,
        count: how.click_count.unwrap_or(1),
        modifiers: how.modifiers.into_iter().map(Into::into).collect(),
        position: how.position,
        force: how.force,
        delay: duration(how.delay),
    }
}

/// Returns the paths of files, if all of them exist and may be uploaded.
pub(super) async fn files(host: &Host, names: &[String]) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = Vec::with_capacity(names.len());
    for name in names {
        paths.push(host.setting.access.upload(name).await?);
    }
    Ok(paths)
}
