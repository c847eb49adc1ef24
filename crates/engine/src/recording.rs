//! Recording of the user's own actions in the pages of a browser context, as generated code.

mod code;
mod follow;

use crate::backend::{FrameId, Modifier, MouseButton, PageId};
use crate::codegen::{Action, Typed};
use crate::context::BrowserContext;
use crate::error::Result;
use crate::page::Page;
use crate::progress::Progress;
use crate::selector::Selector;
use serde::Deserialize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use task::Task;
use tokio::sync::watch;

use code::PASSWORD_VARIABLE;

/// The largest number of recorded steps; later ones are not recorded.
const MAX_STEPS: usize = 1_000;
/// How long after an action a navigation or a popup is its effect. Playwright's recorder has the same limit.
const EFFECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a document may take to start its recorder.
const PREPARE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long to wait for the recorders of all documents to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// A running recording. After it is dropped, nothing is recorded.
#[derive(Debug)]
pub struct Recording {
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    ended: watch::Receiver<bool>,
    _task: Task,
}

/// A finished recording.
#[derive(Debug, Clone)]
pub struct Recorded {
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// The name under which documents keep what was not read before they ended, if commands wait for promises.
    token: String,
}

#[derive(Debug, Default)]
struct State {
    steps: Vec<Step>,
    /// The pages, in the order of their variables.
    pages: Vec<RecordedPage>,
}

#[derive(Debug)]
struct RecordedPage {
    id: PageId,
    /// The last action of the user in the page.
    last_action: Option<Instant>,
}

/// A recorded step in a page, which is named by its index.
#[derive(Debug, Clone, PartialEq)]
struct Step {
    page: usize,
    kind: StepKind,
}

#[derive(Debug, Clone, PartialEq)]
enum StepKind {
    /// An action, and the pages that it opened.
    Action { action: Action, popups: Vec<usize> },
    /// The page was opened by the user.
    Open,
    /// The page was closed by the user.
    Close,
}

/// What the recorder in a document reports.
#[derive(Debug, Deserialize)]
struct Record {
    locator: Selector,
    #[serde(flatten)]
    kind: RecordKind,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum RecordKind {
    Click {
        button: MouseButton,
        modifiers: Vec<Modifier>,
        count: u32,
        position: Option<Position>,
    },
    Check {
        checked: bool,
    },
    Fill {
        value: String,
    },
    Password,
    Select {
        values: Vec<String>,
    },
    Files {
        files: Vec<String>,
    },
    Press {
        key: String,
    },
}

#[derive(Debug, Deserialize)]
struct Position {
    x: f64,
    y: f64,
}

impl Record {
    /// Returns the action. `owners` are the locators of the frame elements around the document.
    fn into_action(self, owners: &[Selector]) -> Action {
        let inner = |locator, owner: &Selector| owner.clone().in_frame(locator);
        let locator = owners.iter().rev().fold(self.locator, inner);
        match self.kind {
            RecordKind::Click {
                button,
                modifiers,
                count,
                position,
            } => Action::Click {
                locator,
                button: Some(button),
                modifiers,
                count,
                position: position.map(|Position { x, y }| (x, y)),
            },
            RecordKind::Check { checked } => Action::SetChecked { locator, checked },
            RecordKind::Fill { value } => Action::Fill {
                locator,
                value: Typed::Text(value),
            },
            RecordKind::Password => Action::Fill {
                locator,
                value: Typed::Variable(PASSWORD_VARIABLE.to_owned()),
            },
            RecordKind::Select { values } => Action::SelectOption { locator, values },
            RecordKind::Files { files } => Action::SetInputFiles { locator, files },
            RecordKind::Press { key } => Action::Press { locator, key },
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the index of a page, and adds the page if it is new.
    fn page_index(&mut self, page: &PageId) -> usize {
        if let Some(index) = self.pages.iter().position(|known| known.id == *page) {
            return index;
        }
        self.pages.push(RecordedPage {
            id: page.clone(),
            last_action: None,
        });
        self.pages.len() - 1
    }

    /// Records that a page was opened during the recording, by an action in its opener or by the user.
    fn add_page(&mut self, page: &PageId, opener: Option<&PageId>) {
        let index = self.page_index(page);
        let opener = opener.and_then(|opener| {
            let index = self.pages.iter().position(|known| known.id == *opener)?;
            self.is_effect(index).then_some(index)
        });
        let cause = opener.and_then(|opener| {
            self.steps
                .iter_mut()
                .rev()
                .find_map(|step| match &mut step.kind {
                    StepKind::Action { popups, .. } if step.page == opener => Some(popups),
                    _ => None,
                })
        });
        match cause {
            Some(popups) => popups.push(index),
            None => self.push(index, StepKind::Open),
        }
    }

    fn add_action(&mut self, page: &PageId, action: Action) {
        let page = self.page_index(page);
        self.pages[page].last_action = Some(Instant::now());
        if let Action::Click {
            locator, count: 2, ..
        } = &action
        {
            // A double click begins with two clicks.
            for _ in 0..2 {
                let is_part = self.steps.last().is_some_and(|step| {
                    let StepKind::Action { action, .. } = &step.kind else {
                        return false;
                    };
                    step.page == page
                        && matches!(action, Action::Click { locator: other, count: 1, .. } if other == locator)
                });
                if is_part {
                    self.steps.pop();
                }
            }
        }
        if let (
            Action::Fill { locator, .. },
            Some(Step {
                page: last_page,
                kind,
            }),
        ) = (&action, self.steps.last())
            && let StepKind::Action {
                action: Action::Fill { locator: other, .. },
                ..
            } = kind
            && *last_page == page
            && locator == other
        {
            // Each key changes the value again.
            self.steps.pop();
        }
        let popups = Vec::new();
        self.push(page, StepKind::Action { action, popups });
    }

    /// Records that the main frame of a page shows a new document, unless that is the effect of an action or of its opener.
    fn add_document(&mut self, page: &PageId, url: &str) {
        let page = self.page_index(page);
        if self.is_effect(page) || matches!(url, "" | "about:blank") {
            return;
        }
        let is_popup = self.steps.iter().any(
            |step| matches!(&step.kind, StepKind::Action { popups, .. } if popups.contains(&page)),
        );
        let is_used = self.steps.iter().any(|step| step.page == page);
        if is_popup && !is_used {
            return;
        }
        let action = Action::Goto {
            url: url.to_owned(),
        };
        let is_known = self.steps.iter().rfind(|step| step.page == page);
        if is_known.is_some_and(
            |step| matches!(&step.kind, StepKind::Action { action: last, .. } if *last == action),
        ) {
            return;
        }
        let popups = Vec::new();
        self.push(page, StepKind::Action { action, popups });
    }

    fn close_page(&mut self, page: &PageId) {
        let page = self.page_index(page);
        if !self.is_effect(page) {
            self.push(page, StepKind::Close);
        }
    }

    fn is_effect(&self, page: usize) -> bool {
        let last = self.pages[page].last_action;
        last.is_some_and(|last| last.elapsed() < EFFECT_TIMEOUT)
    }

    fn push(&mut self, page: usize, kind: StepKind) {
        if self.steps.len() < MAX_STEPS {
            self.steps.push(Step { page, kind });
        }
    }
}

impl BrowserContext {
    /// Starts to record the actions of the user in all pages.
    pub async fn record(&self, progress: &Progress) -> Result<Recording> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            token: follow::random_token(),
        });
        let pages = self.pages();
        for page in &pages {
            shared.state().page_index(page.id());
        }
        let (stop, stopping) = watch::channel(false);
        let (end, ended) = watch::channel(false);
        let work = follow::run(self.clone(), pages.clone(), shared.clone(), stopping);
        let task = task::spawn("recording", async move {
            work.await;
            end.send_replace(true);
        });
        let recording = Recording {
            shared,
            stop,
            ended,
            _task: task,
        };
        for page in &pages {
            recording.prepare(progress, page).await?;
        }
        Ok(recording)
    }
}

impl Recording {
    /// Waits until all documents of a page are recorded, so that the next action is.
    pub async fn prepare(&self, progress: &Progress, page: &Page) -> Result<()> {
        let frames = page.frames();
        let prepared = frames.iter().map(async |frame| {
            let prepared = follow::prepare(page, &frame.id, &self.shared);
            match tokio::time::timeout(PREPARE_TIMEOUT, prepared).await {
                Ok(Ok(())) => {}
                outcome => tracing::debug!(?outcome, "a document is not recorded"),
            }
        });
        let prepared = async {
            futures_util::future::join_all(prepared).await;
            Ok(())
        };
        progress.run(prepared).await
    }

    /// Returns the steps that were recorded so far.
    pub fn recorded(&self) -> Recorded {
        let steps = self.shared.state().steps.clone();
        Recorded { steps }
    }

    /// Stops the recording in all documents and returns the steps.
    pub async fn stop(&self, context: &BrowserContext) -> Recorded {
        self.stop.send_replace(true);
        let stopped = async {
            for page in context.pages() {
                for frame in page.frames() {
                    follow::stop(&page, &frame.id, &self.shared).await;
                }
            }
            // What the documents have reported before.
            let mut ended = self.ended.clone();
            drop(ended.wait_for(|ended| *ended).await);
        };
        if tokio::time::timeout(STOP_TIMEOUT, stopped).await.is_err() {
            tracing::debug!("a document does not respond to the end of the recording");
        }
        let steps = std::mem::take(&mut self.shared.state().steps);
        Recorded { steps }
    }
}

/// The frame whose document is recorded.
type Document = (FrameId, Option<crate::backend::LoaderId>);
