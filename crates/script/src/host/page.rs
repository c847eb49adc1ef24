//! Operations of client code on pages.

use super::capture::{print, screenshot};
use super::element::{click, files, returned};
use super::facts;
use super::route;
use super::{Host, duration};
use crate::failure::Failure;
use crate::request::{Media, On, PageOp};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::{FrameId, MediaFeatures, Page, Point, Progress, RequestId};
use serde_json::Value;

/// Executes an operation.
pub(super) async fn run(host: &Host, page: &Page, on: &On, op: PageOp) -> Result<Value, Failure> {
    let usual = match op {
        PageOp::Goto { .. }
        | PageOp::Reload { .. }
        | PageOp::Go { .. }
        | PageOp::WaitForLoad { .. }
        | PageOp::EvaluatePage { .. }
        | PageOp::Pdf(_) => host.setting.navigation,
        _ => host.setting.action,
    };
    let progress = host.within(on.timeout, usual);
    let done = act(host, page, on, &progress, op).await;
    done.map_err(|failure| failure.after(&progress))
}

async fn act(
    host: &Host,
    page: &Page,
    on: &On,
    progress: &Progress,
    op: PageOp,
) -> Result<Value, Failure> {
    match op {
        PageOp::Goto { url, until } => {
            host.setting.access.check_url(&url)?;
            page.goto(progress, &url, until.into()).await?;
            return Ok(facts::document(page));
        }
        PageOp::Reload { until } => {
            page.reload(progress, false, until.into()).await?;
            return Ok(facts::document(page));
        }
        PageOp::Go { delta, until } => {
            let went = page.go(progress, delta, until.into()).await?;
            return Ok(if went {
                facts::document(page)
            } else {
                Value::Null
            });
        }
        PageOp::WaitForLoad { until } => {
            page.wait_for_load_state(progress, until.into()).await?;
        }
        PageOp::EvaluatePage { script, patient } => {
            let frame = on.frame.as_ref().map(FrameId::from);
            let answer = match &frame {
                Some(frame) => page.evaluate_in(progress, frame, &script).await,
                None => page.evaluate(progress, &script).await,
            };
            return match answer {
                Err(engine::Error::DocumentGone {}) if patient => Ok(Value::Null),
                answer => Ok(returned(answer?)),
            };
        }
        PageOp::Screenshot(options) => {
            return screenshot(host, page, progress, options, None).await;
        }
        PageOp::Pdf(options) => return print(host, page, progress, options).await,
        PageOp::Resize { width, height } => page.resize(progress, width, height).await?,
        PageOp::EmulateMedia { media } => {
            page.emulate_media(progress, features(page.media(), media))
                .await?;
        }
        PageOp::Activate => page.activate(progress).await?,
        PageOp::Close => page.close(progress).await?,
        PageOp::KeyPress { key } => page.press(progress, &key).await?,
        PageOp::KeyType { text, delay } => {
            let delay = duration(delay.unwrap_or_default());
            page.type_text(progress, &text, delay).await?;
        }
        PageOp::InsertText { text } => page.insert_text(progress, &text).await?,
        PageOp::KeyDown { key } => page.key_down(progress, &key).await?,
        PageOp::KeyUp { key } => page.key_up(progress, &key).await?,
        PageOp::MouseMove { x, y } => page.mouse_move(progress, Point { x, y }).await?,
        PageOp::MouseDown { button } => page.mouse_down(progress, button, 1).await?,
        PageOp::MouseUp { button } => page.mouse_up(progress, button, 1).await?,
        PageOp::MouseClick { x, y, how } => {
            page.mouse_click(progress, Point { x, y }, &click(how))
                .await?;
        }
        PageOp::MouseWheel { delta_x, delta_y } => {
            page.mouse_wheel(progress, delta_x, delta_y).await?;
        }
        PageOp::AnswerDialog { accept, text } => {
            page.answer_dialog(progress, accept, text.as_deref())
                .await?;
        }
        PageOp::AnswerFileChooser { paths } => {
            let paths = files(host, &paths).await?;
            page.answer_file_chooser(progress, Some(&paths)).await?;
        }
        PageOp::Response { request, url } => {
            let id = RequestId::from(&request);
            let mut requests = page.requests().into_iter();
            let found = requests.find(|request| request.id == id && request.url == url);
            return Ok(match found {
                Some(found) if found.response.is_some() => facts::request(&found),
                _ => Value::Null,
            });
        }
        PageOp::ResponseBody { request } => {
            let id = RequestId::from(&request);
            finished(page, progress, &id).await?;
            let body = page.response_body(progress, &id).await?;
            return Ok(BASE64_STANDARD.encode(body).into());
        }
        PageOp::Routing { on } => route::routing(host, page, progress, on).await?,
        PageOp::AddInitScript { script } => page.add_init_script(progress, &script).await?,
        PageOp::SetExtraHeaders { headers } => page.set_extra_headers(progress, &headers).await?,
        PageOp::Finished { request } => {
            finished(page, progress, &RequestId::from(&request)).await?;
        }
    }
    Ok(Value::Null)
}

/// Waits until a response is complete with its body, or has failed.
async fn finished(page: &Page, progress: &Progress, id: &RequestId) -> Result<(), Failure> {
    let mut changes = page.changes();
    let over = async {
        loop {
            changes.mark_unchanged();
            // An unknown request has ended long ago.
            if facts::named(page, id).is_none_or(|request| request.outcome.is_some()) {
                return Ok(());
            }
            if changes.changed().await.is_err() {
                return Err(engine::Error::PageClosed {});
            }
        }
    };
    Ok(progress.run(over).await?)
}

fn features(now: MediaFeatures, wanted: Media) -> MediaFeatures {
    MediaFeatures {
        media: wanted.media.unwrap_or(now.media),
        color_scheme: wanted.color_scheme.unwrap_or(now.color_scheme),
        reduced_motion: wanted.reduced_motion.unwrap_or(now.reduced_motion),
        forced_colors: wanted.forced_colors.unwrap_or(now.forced_colors),
        contrast: wanted.contrast.unwrap_or(now.contrast),
    }
}
