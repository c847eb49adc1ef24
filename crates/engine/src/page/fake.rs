//! A page without a browser, for tests of the engine: its results are scripted, and its input is recorded.

use crate::backend::{ContextOptions, InputStep, PageEvent};
use crate::error::Result;
use crate::page::Page;
use crate::testing::{FakePage, Script};
use async_trait::async_trait;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

type Answering = dyn Fn(&str, &Value) -> BoxFuture<'static, Result<Value>> + Send + Sync;
type Handling = dyn Fn(&[InputStep]) -> BoxFuture<'static, Result<()>> + Send + Sync;

/// What the page answers.
struct Answers {
    answers: Box<Answering>,
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
        let backend = FakePage::scripted(Answers {
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

#[async_trait]
impl Script for Answers {
    async fn call(&self, function: &str, argument: &Value) -> Result<String> {
        if function == "about" {
            return self.about(argument).await;
        }
        let answer = (self.answers)(function, argument).await?;
        Ok(answer.to_string())
    }

    async fn input(&self, steps: &[InputStep]) -> Result<()> {
        self.input.lock().unwrap().extend_from_slice(steps);
        (self.handling)(steps).await
    }
}

impl Answers {
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
