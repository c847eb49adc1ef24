//! The commands of a fake page.

use super::document::Host as _;
use super::page::{FakePage, WINDOW};
use super::shared::OpenPage as _;
use crate::backend::address::{is_within_document, navigation_failed};
use crate::backend::expression::function_around;
use crate::backend::{
    Capture, Dialogs, Emulation, Evaluation, Fetched, FrameId, Frames, Handle, Headers, Input,
    InputStep, Interception, LoaderId, MediaFeatures, Navigation, PageBackend, PageEvent, PageId,
    PdfOptions, Point, Profiling, RequestId, Requests, Screencast, ScreencastSender, Screenshot,
    ScreenshotFormat, Styles, Unresponsive, Verdict, Viewport, Workers,
};
use crate::error::{Error, NetError, Result};
use async_trait::async_trait;
use image::{DynamicImage, ImageFormat, RgbImage};
use serde_json::{Value, json};
use std::io::Cursor;
use std::path::PathBuf;

fn unsupported<T>(what: &str) -> Result<T> {
    Err(Error::protocol("fake browser", format!("it has no {what}")))
}

#[async_trait]
impl PageBackend for FakePage {
    fn id(&self) -> &PageId {
        &self.id
    }
    fn main_frame(&self) -> FrameId {
        self.frame()
    }
    async fn flush(&self) -> Result<()> {
        Ok(())
    }
    async fn activate(&self) -> Result<()> {
        Ok(())
    }
    async fn close(&self) -> Result<()> {
        self.context.pages().retain(|page| *page.id() != self.id);
        self.end();
        Ok(())
    }
}

#[async_trait]
impl Navigation for FakePage {
    async fn navigate(&self, url: &str) -> Result<Option<LoaderId>> {
        if self.script.is_some() {
            return Ok(Some("asked".into()));
        }
        if is_within_document(&self.url(), url) {
            self.on_move(url.to_owned());
            return Ok(None);
        }
        let shown = self.begin(url, true)?.await;
        shown.unwrap_or_else(|_| Err(navigation_failed(url, NetError::Aborted)))
    }
    async fn reload(&self, _: bool) -> Result<()> {
        self.begin(&self.url(), false).map(drop)
    }
    async fn go(&self, delta: i32) -> Result<bool> {
        let url = {
            let mut state = self.state();
            let index = state
                .index
                .checked_add_signed(delta.try_into().unwrap_or_default());
            match index.and_then(|index| Some((index, state.history.get(index)?.clone()))) {
                Some((index, url)) => {
                    state.index = index;
                    url
                }
                None => return Ok(false),
            }
        };
        self.begin(&url, false).map(|_| true)
    }
    fn stop_loading(&self) {
        let loading = self.state().loading.take();
        drop(loading);
    }
}

#[async_trait]
impl Frames for FakePage {
    async fn content_frames(&self, _: &FrameId, owners: &[Handle]) -> Result<Vec<Option<FrameId>>> {
        Ok(vec![None; owners.len()])
    }
    async fn frame_owner(&self, _: &FrameId) -> Result<Option<(FrameId, Handle)>> {
        Ok(None)
    }
}

#[async_trait]
impl Evaluation for FakePage {
    async fn call(&self, _: &FrameId, function: &str, argument: &Value) -> Result<String> {
        if let Some(script) = &self.script {
            return script.call(function, argument).await;
        }
        self.ask("call", vec![function.to_owned(), argument.to_string()])
            .await
    }
    async fn inject_script(&self, _: &FrameId, _: &str) -> Result<()> {
        Ok(())
    }
    async fn evaluate(
        &self,
        _: &FrameId,
        expression: &str,
        element: Option<Handle>,
    ) -> Result<Option<Value>> {
        let handles = element.into_iter().collect::<Vec<_>>();
        self.evaluated(expression, &handles, false).await
    }
    async fn evaluate_all(
        &self,
        _: &FrameId,
        function: &str,
        elements: &[Handle],
    ) -> Result<Option<Value>> {
        self.evaluated(function, elements, true).await
    }
    async fn parses(&self, _: &FrameId, script: &str) -> Result<bool> {
        let parses = self.ask("parses", vec![script.to_owned()]).await?;
        Ok(!parses.is_empty())
    }
}

impl FakePage {
    async fn evaluated(
        &self,
        expression: &str,
        elements: &[Handle],
        is_list: bool,
    ) -> Result<Option<Value>> {
        let arguments = vec![
            function_around("element", expression),
            json!(elements).to_string(),
            is_list.to_string(),
        ];
        let text = self.ask("evaluate", arguments).await?;
        Ok(serde_json::from_str(&text).ok())
    }

    /// Passes the files of a file input to the document.
    async fn choose(&self, handle: String, files: &[PathBuf]) -> Result<()> {
        let names = files.iter().filter_map(|file| file.file_name());
        let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
        self.ask("choose", vec![handle, json!(names).to_string()])
            .await
            .map(drop)
    }
}

#[async_trait]
impl Input for FakePage {
    fn inserts_text(&self) -> bool {
        true
    }

    async fn input(&self, steps: &[InputStep]) -> Result<()> {
        if let Some(script) = &self.script {
            return script.input(steps).await;
        }
        let steps: Vec<_> = steps.iter().map(written).collect();
        self.ask("input", vec![json!(steps).to_string()])
            .await
            .map(drop)
    }
}

/// Returns a step for `document.js`.
fn written(step: &InputStep) -> Value {
    let at = |kind: &str, Point { x, y }: &Point| json!({ "type": kind, "x": x, "y": y });
    match step {
        InputStep::MouseMove { to, .. } => at("move", to),
        InputStep::MouseDown { at: to, .. } => at("down", to),
        InputStep::MouseUp {
            at, button, count, ..
        } => {
            json!({ "type": "up", "x": at.x, "y": at.y, "button": button.to_string(), "count": count })
        }
        InputStep::Wheel { at: to, .. } => at("wheel", to),
        InputStep::KeyDown { key, modifiers, .. } => {
            json!({ "type": "keyDown", "key": key.key, "text": key.text, "modifiers": modifiers })
        }
        InputStep::KeyUp { key, .. } => json!({ "type": "keyUp", "key": key.key }),
        InputStep::InsertText { text } => json!({ "type": "insert", "text": text }),
    }
}

#[async_trait]
impl Dialogs for FakePage {
    async fn answer_dialog(&self, accept: bool, prompt_text: Option<&str>) -> Result<()> {
        let Some(dialog) = self.state().dialog.take() else {
            return Err(Error::protocol("fake browser", "No dialog is showing"));
        };
        self.report(PageEvent::DialogClosed);
        let answer = match accept {
            true => json!({ "text": prompt_text.unwrap_or_default() }),
            false => Value::Null,
        };
        let _ = dialog.send(answer);
        Ok(())
    }
    async fn answer_file_chooser(&self, files: Option<&[PathBuf]>) -> Result<()> {
        self.report(PageEvent::FileChooserClosed);
        match files {
            Some(files) => self.choose(String::new(), files).await,
            None => Ok(()),
        }
    }
    async fn set_input_files(&self, _: &FrameId, element: Handle, files: &[PathBuf]) -> Result<()> {
        self.choose(element.to_string(), files).await
    }
}

#[async_trait]
impl Interception for FakePage {
    async fn set_interception(&self, on: bool) -> Result<()> {
        self.state().intercepts = on;
        Ok(())
    }
    async fn decide(&self, key: &str, verdict: Verdict) -> Result<()> {
        let decide = self.state().paused.remove(key);
        let _ = decide.map(|decide| decide.send(verdict));
        Ok(())
    }
    async fn fetch(&self, _: &str, _: Verdict) -> Result<Fetched> {
        unsupported("changed responses")
    }
}

#[async_trait]
impl Requests for FakePage {
    async fn response_body(&self, request: &RequestId) -> Result<Vec<u8>> {
        let body = self.state().bodies.get(request).cloned();
        body.ok_or_else(|| Error::protocol("fake browser", "no body"))
    }
    async fn request_body(&self, _: &RequestId) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
}

#[async_trait]
impl Emulation for FakePage {
    async fn set_viewport(&self, viewport: &Viewport) -> Result<()> {
        self.state().viewport = Some(viewport.clone());
        Ok(())
    }
    async fn emulate_media(&self, _: &MediaFeatures) -> Result<()> {
        Ok(())
    }
    async fn set_extra_headers(&self, headers: &Headers) -> Result<()> {
        self.state().headers.clone_from(headers);
        Ok(())
    }
    async fn add_init_script(&self, source: &str) -> Result<()> {
        self.state().init_scripts.push(source.to_owned());
        Ok(())
    }
}

#[async_trait]
impl Capture for FakePage {
    /// Returns a black image of the viewport.
    async fn screenshot(&self, options: &Screenshot) -> Result<Vec<u8>> {
        let size = self.state().viewport.as_ref().map_or(WINDOW, |it| it.size);
        let image = DynamicImage::ImageRgb8(RgbImage::new(size.width, size.height));
        let format = match options.format {
            ScreenshotFormat::Png => ImageFormat::Png,
            ScreenshotFormat::Jpeg => ImageFormat::Jpeg,
            ScreenshotFormat::Webp => ImageFormat::WebP,
        };
        let mut bytes = Cursor::new(Vec::new());
        image
            .write_to(&mut bytes, format)
            .map_err(|error| Error::protocol("fake browser", error))?;
        Ok(bytes.into_inner())
    }
    async fn pdf(&self, _: &PdfOptions) -> Result<Vec<u8>> {
        Ok(b"%PDF-1.4\n%%EOF\n".to_vec())
    }
}

#[async_trait]
impl Screencast for FakePage {
    async fn start_screencast(&self, _: ScreencastSender) -> Result<()> {
        unsupported("screencasts")
    }
    fn stop_screencast(&self) {}
}

#[async_trait]
impl Unresponsive for FakePage {
    async fn check_responsive(&self, _: &FrameId) -> Result<()> {
        if self.script.is_some() {
            return Ok(());
        }
        self.ask("parses", vec!["0".to_owned()]).await.map(drop)
    }
    async fn check_browser_responsive(&self) -> Result<()> {
        Ok(())
    }
    fn terminate_execution(&self, _: &FrameId) {
        if let Some(document) = self.document.get() {
            document.terminate();
        }
    }
    async fn wait_for_termination(&self, frame: &FrameId) -> Result<()> {
        self.terminate_execution(frame);
        Ok(())
    }
    fn stop_timers(&self, _: &FrameId) {}
    fn end_renderer(&self) {
        self.report(PageEvent::Crashed);
    }
}

impl Styles for FakePage {}

impl Workers for FakePage {}

impl Profiling for FakePage {}
