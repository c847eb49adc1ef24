//! What is drawn over the pages of a context for those who watch a video: the actions of calls, and a pointer.

use crate::sessions::observers::{CallObserver, CallOutcome, ObservedCall};
use crate::sessions::session::Session;
use async_trait::async_trait;
use engine::codegen::{Language, locator as locator_code};
use engine::{ActionOverlay, ActionStyle, BrowserContext, Page, Point, Progress, Rect};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long drawing may take. A page that does not respond is not drawn on.
const DRAW_TIMEOUT: Duration = Duration::from_secs(1);

/// How long an action waits for the pointer of a video whose actions are not shown.
const POINTER_DURATION: Duration = Duration::from_millis(800);

/// The overlays of a context.
#[derive(Default)]
pub(super) struct Overlays(Mutex<State>);

#[derive(Default)]
struct State {
    actions: Option<ShownActions>,
    /// Whether a video shows a pointer.
    has_pointer: bool,
    observer: Option<Arc<dyn CallObserver>>,
}

/// How actions are shown.
#[derive(Debug, Clone)]
pub(super) struct ShownActions {
    /// How long each action is shown before it is done.
    pub(super) duration: Duration,
    /// The corner or edge of the title.
    pub(super) position: &'static str,
    /// Whether a pointer moves to the point of each action.
    pub(super) cursor: bool,
    /// The styles.
    pub(super) style: ActionStyle,
}

/// Draws the actions of the calls on one context.
struct Drawing {
    context: BrowserContext,
    actions: ShownActions,
    has_titles: bool,
    /// Where the pointer was drawn for the running call.
    drawn: Mutex<Option<Point>>,
}

impl Overlays {
    /// Shows the actions of the next calls, or stops that.
    pub(super) async fn show_actions(&self, session: &Session, actions: Option<ShownActions>) {
        self.state().actions = actions;
        self.apply(session).await;
    }

    /// Shows a pointer while a video is recorded, or stops that.
    pub(super) async fn show_pointer(&self, session: &Session, on: bool) {
        let before = std::mem::replace(&mut self.state().has_pointer, on);
        if before != on {
            self.apply(session).await;
        }
    }

    async fn apply(&self, session: &Session) {
        let context = session.open_tabs().map(|tabs| tabs.open().context.clone());
        let (before, is_on) = {
            let mut state = self.state();
            let before = state.observer.take();
            if let Some(before) = &before {
                session.observers().remove(before);
            }
            let pointer_only = || ShownActions {
                duration: POINTER_DURATION,
                position: "top-right",
                cursor: true,
                style: ActionStyle::default(),
            };
            let has_titles = state.actions.is_some();
            let actions = match (&state.actions, state.has_pointer) {
                (Some(actions), _) => Some(actions.clone()),
                (None, true) => Some(pointer_only()),
                (None, false) => None,
            };
            if let (Some(actions), Some(context)) = (actions, context.clone()) {
                let observer: Arc<dyn CallObserver> = Arc::new(Drawing {
                    context,
                    actions,
                    has_titles,
                    drawn: Mutex::default(),
                });
                session.observers().add(observer.clone());
                state.observer = Some(observer);
            }
            (before, state.observer.is_some())
        };
        if before.is_some() && !is_on {
            let pages = context.map_or_else(Vec::new, |context| context.pages());
            for page in pages {
                let hidden = page.hide_overlay(&Progress::new(DRAW_TIMEOUT)).await;
                tracing::debug!(?hidden, "hid the overlay");
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl CallObserver for Drawing {
    async fn before_call(&self, call: &ObservedCall) {
        *self.drawn() = None;
        let page = call.page.as_ref().filter(|page| self.is_ours(page));
        let Some(page) = page.filter(|_| call.tool.acts()) else {
            return;
        };
        // Typed texts are not shown, because they can be secret.
        let mut title = call.tool.title.to_owned();
        let targets = ["target", "startTarget"].map(|name| call.arguments.get(name));
        let target = targets.into_iter().flatten().find_map(|name| name.as_str());
        let progress = Progress::new(DRAW_TIMEOUT);
        let mut rect = None;
        if let Some(locator) = target.and_then(|target| page.locator(target).ok()) {
            if let Ok(shown) = locator.generated(&progress).await {
                title += &format!(" {}", locator_code(&shown, Language::Typescript));
            }
            rect = locator.bounds(&progress).await.ok().flatten();
        }
        let at = rect.map(
            |Rect {
                 x,
                 y,
                 width,
                 height,
             }| Point {
                x: x + width / 2.0,
                y: y + height / 2.0,
            },
        );
        if self.has_titles || at.is_some() {
            let title = if self.has_titles { &*title } else { "" };
            self.draw(page, title, rect, at).await;
            tokio::time::sleep(self.actions.duration).await;
        }
    }

    async fn before_input(&self, page: &Page, at: Point) {
        if !self.is_ours(page) || !self.actions.cursor {
            return;
        }
        let before = *self.drawn();
        let is_there = before
            .is_some_and(|before| (before.x - at.x).abs() < 1.0 && (before.y - at.y).abs() < 1.0);
        if !is_there {
            self.draw(page, "", None, Some(at)).await;
            if before.is_none() {
                tokio::time::sleep(self.actions.duration).await;
            }
        }
    }

    async fn after_call(&self, _call: &ObservedCall, _outcome: &CallOutcome) {}

    fn on_call_cancelled(&self, _call: &ObservedCall) {}
}

impl Drawing {
    fn is_ours(&self, page: &Page) -> bool {
        self.context.pages().contains(page)
    }

    fn drawn(&self) -> MutexGuard<'_, Option<Point>> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn draw(&self, page: &Page, title: &str, rect: Option<Rect>, at: Option<Point>) {
        let overlay = ActionOverlay {
            title,
            position: self.actions.position,
            rect,
            at,
            cursor: self.actions.cursor,
            duration: milliseconds(self.actions.duration),
            style: &self.actions.style,
        };
        let drawn = page
            .show_action(&Progress::new(DRAW_TIMEOUT), &overlay)
            .await;
        tracing::trace!(?drawn, "drew an action");
        if at.is_some() {
            *self.drawn() = at;
        }
    }
}

/// Returns a duration in whole milliseconds.
pub(super) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
