//! A page without a browser, for tests of the engine: its results are scripted, and its input is recorded.

use crate::backend::{
    Capture, ContextOptions, CoveredSource, Dialogs, Emulation, Evaluation, Fetched, FrameId,
    Frames, Handle, Headers, Input, InputStep, Interception, LoaderId, MediaFeatures, Navigation,
    OutputFile, PageBackend, PageEvent, PageId, PdfOptions, Profiling, RequestId, Requests,
    Screencast, ScreencastSender, Screenshot, Unresponsive, Verdict, Viewport,
};
use crate::error::{Error, Result};
use crate::page::Page;
use async_trait::async_trait;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

type Answers = dyn Fn(&str, &Value) -> BoxFuture<'static, Result<Value>> + Send + Sync;
type Handling = dyn Fn(&[InputStep]) -> BoxFuture<'static, Result<()>> + Send + Sync;

/// The backend of a fake page.
pub(crate) struct FakePage {
    id: PageId,
    answers: Box<Answers>,
    handling: Box<Handling>,
    input: Arc<Mutex<Vec<InputStep>>>,
}

/// The page, its recorded input, and a way to send it events.
pub(crate) struct Fake {
    pub(crate) page: Page,
    input: Arc<Mutex<Vec<InputStep>>>,
}

impl Fake {
    /// Creates a page whose injected functions return `answers`.
    pub(crate) fn answering(
        answers: impl Fn(&str, &Value) -> Value + Send + Sync + 'static,
    ) -> Self {
        Self::new(
            move |function, argument| {
                let answer = answers(function, argument);
                Box::pin(async move { Ok(answer) })
            },
            |_| Box::pin(async { Ok(()) }),
        )
    }

    /// Creates a page on which `handling` runs when input arrives, and may take time.
    pub(crate) fn new(
        answers: impl Fn(&str, &Value) -> BoxFuture<'static, Result<Value>> + Send + Sync + 'static,
        handling: impl Fn(&[InputStep]) -> BoxFuture<'static, Result<()>> + Send + Sync + 'static,
    ) -> Self {
        let input = Arc::<Mutex<Vec<InputStep>>>::default();
        let backend = Arc::new(FakePage {
            id: "page".into(),
            answers: Box::new(answers),
            handling: Box::new(handling),
            input: input.clone(),
        });
        Self {
            page: Page::over(backend, None, &ContextOptions::default()),
            input,
        }
    }

    /// Returns the recorded input: `move 5,5`, `down left 1`, `up left 1`, `+a`, `-a`, `insert text`.
    pub(crate) fn input(&self) -> Vec<String> {
        let steps = self.input.lock().unwrap();
        steps.iter().map(shown).collect()
    }

    pub(crate) fn report(&self, event: PageEvent) {
        self.page.observer().event(event);
    }
}

fn shown(step: &InputStep) -> String {
    match step {
        InputStep::MouseMove { to, .. } => format!("move {},{}", to.x, to.y),
        InputStep::MouseDown { button, count, .. } => format!("down {button} {count}"),
        InputStep::MouseUp { button, count, .. } => format!("up {button} {count}"),
        InputStep::Wheel {
            delta_x, delta_y, ..
        } => format!("wheel {delta_x},{delta_y}"),
        InputStep::KeyDown { key, .. } => format!("+{}", key.key),
        InputStep::KeyUp { key, .. } => format!("-{}", key.key),
        InputStep::InsertText { text } => format!("insert {text}"),
    }
}

fn unexpected<T>() -> Result<T> {
    Err(Error::protocol("fake", "not scripted"))
}

impl FakePage {
    /// Calls two functions at once, as the injected script does.
    async fn about(&self, argument: &Value) -> Result<String> {
        let asked = |name: &str| argument[name].as_str().unwrap_or_default().to_owned();
        let found = (self.answers)(&asked("find"), &argument["which"]).await?;
        if found["count"] != 1 {
            return Ok(json!({ "found": found }).to_string());
        }
        let mut about = argument["argument"].clone();
        about["handle"] = found["elements"][0]["handle"].clone();
        let answer = (self.answers)(&asked("ask"), &about).await?;
        Ok(json!({ "found": found, "answer": answer }).to_string())
    }
}

#[async_trait]
impl PageBackend for FakePage {
    fn id(&self) -> &PageId {
        &self.id
    }
    fn main_frame(&self) -> FrameId {
        "main".into()
    }
    async fn flush(&self) -> Result<()> {
        Ok(())
    }
    async fn activate(&self) -> Result<()> {
        unexpected()
    }
    async fn close(&self) -> Result<()> {
        unexpected()
    }
}

#[async_trait]
impl Navigation for FakePage {
    async fn navigate(&self, _: &str) -> Result<Option<LoaderId>> {
        Ok(Some("asked".into()))
    }
    async fn reload(&self, _: bool) -> Result<()> {
        unexpected()
    }
    async fn go(&self, _: i32) -> Result<bool> {
        unexpected()
    }
    fn stop_loading(&self) {}
}

#[async_trait]
impl Frames for FakePage {
    async fn content_frames(&self, _: &FrameId, _: &[Handle]) -> Result<Vec<Option<FrameId>>> {
        unexpected()
    }
    async fn frame_owner(&self, _: &FrameId) -> Result<Option<(FrameId, Handle)>> {
        Ok(None)
    }
}

#[async_trait]
impl Evaluation for FakePage {
    async fn call(&self, _: &FrameId, function: &str, argument: &Value) -> Result<String> {
        if function == "about" {
            return self.about(argument).await;
        }
        let answer = (self.answers)(function, argument).await?;
        Ok(answer.to_string())
    }
    async fn inject_script(&self, _: &FrameId, _: &str) -> Result<()> {
        unexpected()
    }
    async fn evaluate(&self, _: &FrameId, _: &str, _: Option<Handle>) -> Result<Option<Value>> {
        unexpected()
    }
    async fn evaluate_all(&self, _: &FrameId, _: &str, _: &[Handle]) -> Result<Option<Value>> {
        unexpected()
    }
    async fn parses(&self, _: &FrameId, _: &str) -> Result<bool> {
        unexpected()
    }
}

#[async_trait]
impl Input for FakePage {
    async fn input(&self, steps: &[InputStep]) -> Result<()> {
        self.input.lock().unwrap().extend_from_slice(steps);
        (self.handling)(steps).await
    }
}

#[async_trait]
impl Dialogs for FakePage {
    async fn answer_dialog(&self, _: bool, _: Option<&str>) -> Result<()> {
        unexpected()
    }
    async fn answer_file_chooser(&self, _: Option<&[PathBuf]>) -> Result<()> {
        unexpected()
    }
    async fn set_input_files(&self, _: &FrameId, _: Handle, _: &[PathBuf]) -> Result<()> {
        unexpected()
    }
}

#[async_trait]
impl Interception for FakePage {
    async fn set_interception(&self, _: bool) -> Result<()> {
        unexpected()
    }
    async fn decide(&self, _: &str, _: Verdict) -> Result<()> {
        unexpected()
    }
    async fn fetch(&self, _: &str, _: Verdict) -> Result<Fetched> {
        unexpected()
    }
}

#[async_trait]
impl Requests for FakePage {
    async fn response_body(&self, _: &RequestId) -> Result<Vec<u8>> {
        unexpected()
    }
    async fn request_body(&self, _: &RequestId) -> Result<Option<Vec<u8>>> {
        unexpected()
    }
}

#[async_trait]
impl Emulation for FakePage {
    async fn set_viewport(&self, _: &Viewport) -> Result<()> {
        unexpected()
    }
    async fn emulate_media(&self, _: &MediaFeatures) -> Result<()> {
        unexpected()
    }
    async fn set_extra_headers(&self, _: &Headers) -> Result<()> {
        unexpected()
    }
    async fn add_init_script(&self, _: &str) -> Result<()> {
        unexpected()
    }
}

#[async_trait]
impl Capture for FakePage {
    async fn screenshot(&self, _: &Screenshot) -> Result<Vec<u8>> {
        unexpected()
    }
    async fn pdf(&self, _: &PdfOptions) -> Result<Vec<u8>> {
        unexpected()
    }
}

#[async_trait]
impl Screencast for FakePage {
    async fn start_screencast(&self, _: ScreencastSender) -> Result<()> {
        unexpected()
    }
    fn stop_screencast(&self) {}
}

#[async_trait]
impl Unresponsive for FakePage {
    async fn check_responsive(&self, _: &FrameId) -> Result<()> {
        Ok(())
    }
    async fn check_browser_responsive(&self) -> Result<()> {
        Ok(())
    }
    fn terminate_execution(&self, _: &FrameId) {}
    async fn wait_for_termination(&self, _: &FrameId) -> Result<()> {
        Ok(())
    }
    fn stop_timers(&self, _: &FrameId) {}
    fn end_renderer(&self) {}
}

#[async_trait]
impl Profiling for FakePage {
    async fn start_trace(&self) -> Result<()> {
        unexpected()
    }
    async fn stop_trace(&self, _: OutputFile) -> Result<bool> {
        unexpected()
    }
    async fn traced_elements(&self, _: &[i64]) -> Result<Vec<Option<Handle>>> {
        unexpected()
    }
    async fn heap_snapshot(&self, _: OutputFile) -> Result<()> {
        unexpected()
    }
    async fn start_coverage(&self) -> Result<()> {
        unexpected()
    }
    async fn stop_coverage(&self) -> Result<Vec<CoveredSource>> {
        unexpected()
    }
}
