//! What code does with pages.

use super::element::{click, files, returned};
use super::facts;
use super::failure::Failure;
use super::host::{Host, duration};
use super::request::{Length, Media, On, PageOp, PrintOptions, ScreenshotOptions};
use super::route;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::{
    FrameId, LoadState, MediaFeatures, Page, PdfOptions, Point, Progress, RequestId, Screenshot,
    ScreenshotArea,
};
use serde_json::Value;

/// CSS pixels in an inch.
const INCH: f64 = 96.0;

/// Does it.
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
            host.setting.files.refuse_address(&url)?;
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
            let until: LoadState = until.into();
            if !page.wait_for_load(until, progress.timeout()).await {
                if page.is_closed() {
                    return Err(engine::Error::PageClosed {}.into());
                }
                if page.dialog().is_some() {
                    return Err(engine::Error::DialogOpen {}.into());
                }
                return Err(progress.timed_out().into());
            }
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
        PageOp::MouseDown { button } => page.mouse_down(progress, button).await?,
        PageOp::MouseUp { button } => page.mouse_up(progress, button).await?,
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

/// Waits until a response is there with its body, or has failed.
async fn finished(page: &Page, progress: &Progress, id: &RequestId) -> Result<(), Failure> {
    let mut changes = page.changes();
    let over = async {
        loop {
            changes.mark_unchanged();
            // One that is not known any more has long ended.
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

/// Draws the page or a part of it; the bytes as base64.
pub(super) async fn screenshot(
    host: &Host,
    page: &Page,
    progress: &Progress,
    options: ScreenshotOptions,
    area: Option<ScreenshotArea>,
) -> Result<Value, Failure> {
    if options.omit_background {
        return Err(Failure::new(
            "the option \"omitBackground\" is not supported by browser_run_code_unsafe; see docs/run-code.md",
        ));
    }
    let named = || match options.path.as_ref()?.rsplit_once('.')?.1 {
        "jpg" | "jpeg" => Some(engine::ScreenshotFormat::Jpeg),
        "webp" => Some(engine::ScreenshotFormat::Webp),
        _ => None,
    };
    let area = match (area, options.clip) {
        (Some(area), _) => area,
        (None, Some(clip)) => ScreenshotArea::Clip {
            x: clip.x,
            y: clip.y,
            width: clip.width,
            height: clip.height,
        },
        (None, None) if options.full_page => ScreenshotArea::FullPage,
        (None, None) => ScreenshotArea::Viewport,
    };
    let wanted = Screenshot {
        format: options.r#type.or_else(named).unwrap_or_default(),
        quality: options.quality,
        area,
        css_scale: options.scale.as_deref() == Some("css"),
        shrink: 1.0,
    };
    let bytes = page.screenshot(progress, &wanted).await?;
    host.setting.files.refuse_large(&bytes)?;
    saved(host, options.path.as_deref(), bytes).await
}

async fn print(
    host: &Host,
    page: &Page,
    progress: &Progress,
    options: PrintOptions,
) -> Result<Value, Failure> {
    let (mut width, mut height) = paper(options.format.as_deref().unwrap_or("letter"))?;
    if let Some(given) = options.width {
        width = inches(&given)?;
    }
    if let Some(given) = options.height {
        height = inches(&given)?;
    }
    let wanted = PdfOptions {
        width,
        height,
        background: options.print_background,
        landscape: options.landscape,
    };
    let bytes = page.pdf(progress, &wanted).await?;
    saved(host, options.path.as_deref(), bytes).await
}

/// Writes the bytes where code wants them too.
async fn saved(host: &Host, path: Option<&str>, bytes: Vec<u8>) -> Result<Value, Failure> {
    if let Some(path) = path {
        let file = host.setting.files.writable(path)?;
        host.setting.files.write_bytes(&file, bytes.clone()).await?;
    }
    Ok(BASE64_STANDARD.encode(bytes).into())
}

/// Width and height of a paper, in inches.
fn paper(format: &str) -> Result<(f64, f64), Failure> {
    Ok(match format.to_ascii_lowercase().as_str() {
        "letter" => (8.5, 11.0),
        "legal" => (8.5, 14.0),
        "tabloid" => (11.0, 17.0),
        "ledger" => (17.0, 11.0),
        "a0" => (33.1, 46.8),
        "a1" => (23.4, 33.1),
        "a2" => (16.54, 23.4),
        "a3" => (11.7, 16.54),
        "a4" => (8.27, 11.7),
        "a5" => (5.83, 8.27),
        "a6" => (4.13, 5.83),
        _ => return Err(Failure::new(format!("Unknown paper format: {format}"))),
    })
}

fn inches(length: &Length) -> Result<f64, Failure> {
    let text = match length {
        Length::Pixels(pixels) => return Ok(pixels / INCH),
        Length::Text(text) => text.trim(),
    };
    let (number, unit) = text.split_at(text.trim_end_matches(char::is_alphabetic).len());
    let per_inch = match unit {
        "" | "px" => INCH,
        "in" => 1.0,
        "cm" => 2.54,
        "mm" => 25.4,
        _ => return Err(Failure::new(format!("Unknown unit: {text}"))),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| Failure::new(format!("Not a length: {text}")))?;
    Ok(number / per_inch)
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
