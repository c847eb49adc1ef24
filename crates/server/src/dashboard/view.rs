//! The stream of messages to the page of a dashboard. Nothing is queued: each message has what changed since the last one of its kind, and
//! frames that a slow page does not receive are skipped.

use super::sections::{self, FollowedLog};
use super::{Dashboard, Selection, shown_page};
use crate::sessions::OwnedSession;
use crate::sessions::session::control::Counted;
use engine::{Page, Progress, Screencast};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, Interval, MissedTickBehavior};

/// The interval between two updates of what has no event: the list of sessions, expiry times, logs.
const UPDATE_INTERVAL: Duration = Duration::from_millis(500);
/// The shortest interval between two frames.
const FRAME_INTERVAL: Duration = Duration::from_millis(80);
/// The interval between two pings.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(20);
/// How long a screencast may take to start.
const SCREENCAST_TIMEOUT: Duration = Duration::from_secs(5);
/// The interval between two attempts to start a screencast.
const SCREENCAST_INTERVAL: Duration = Duration::from_secs(10);

/// A message to the page.
pub(crate) enum Message {
    /// A JSON object.
    Text(String),
    /// A JPEG image of the shown page's viewport.
    Frame(Arc<[u8]>),
    /// Requests a pong.
    KeepAlive,
}

/// The messages of an open dashboard.
pub(crate) struct View {
    dashboard: Arc<Dashboard>,
    selected: watch::Receiver<Selection>,
    notices: mpsc::Receiver<String>,
    updates: Interval,
    keep_alive: Instant,
    /// The messages of the last update.
    ready: VecDeque<Message>,
    sessions: Value,
    /// The id of the session that this dashboard has taken over.
    controlled: Option<String>,
    shown: Option<ShownSession>,
}

/// The session that is shown.
struct ShownSession {
    owned: OwnedSession,
    _watched: Counted,
    changes: watch::Receiver<u64>,
    /// The version of the call log that was sent.
    calls: u64,
    logs: Vec<FollowedLog>,
    denied: Option<String>,
    /// The URL to which the denial applies.
    judged: Option<String>,
    page: Option<ShownPage>,
}

/// The page that is shown.
struct ShownPage {
    page: Page,
    changes: watch::Receiver<u64>,
    state: Value,
    /// The number of the next console message.
    console: u64,
    requests: Value,
    /// `None` if the browser sends no frames.
    screencast: Option<Screencast>,
    /// When a screencast that did not start is started again.
    next_start: Instant,
    next_frame: Instant,
}

enum Event {
    Notice(String),
    Selected,
    Update,
    Frame(Option<Arc<[u8]>>),
    Closed,
}

impl View {
    pub(super) fn new(
        dashboard: Arc<Dashboard>,
        selected: watch::Receiver<Selection>,
        notices: mpsc::Receiver<String>,
    ) -> Self {
        let mut updates = tokio::time::interval(UPDATE_INTERVAL);
        updates.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            dashboard,
            selected,
            notices,
            updates,
            keep_alive: Instant::now(),
            ready: VecDeque::new(),
            sessions: Value::Null,
            controlled: None,
            shown: None,
        }
    }

    /// Returns the next message; `None` when the dashboard is closed. Cancel-safe except for messages about changes.
    pub(crate) async fn next(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let event = tokio::select! {
                biased;
                notice = self.notices.recv() => notice.map_or(Event::Closed, Event::Notice),
                changed = self.selected.changed() => changed.map_or(Event::Closed, |()| Event::Selected),
                _ = self.updates.tick() => Event::Update,
                event = event_of(&mut self.shown) => event,
            };
            match event {
                Event::Closed => return None,
                Event::Notice(notice) => return Some(Message::Text(notice)),
                Event::Frame(Some(jpeg)) => self.on_frame(jpeg).await,
                // The page is gone: the next update finds another one.
                Event::Frame(None) => self.leave_page(),
                Event::Selected => {
                    self.shown = None;
                    self.update().await;
                }
                Event::Update => self.update().await,
            }
        }
    }

    /// Sends a frame, unless the policy denies the page that it shows since a navigation.
    async fn on_frame(&mut self, jpeg: Arc<[u8]>) {
        let page = |shown: &Option<ShownSession>| {
            let shown = shown.as_ref()?;
            shown.page.as_ref().map(|it| it.page.clone())
        };
        let before = page(&self.shown);
        let url = before.as_ref().map(Page::url);
        let is_judged = |shown: &ShownSession| shown.judged == url;
        if !self.shown.as_ref().is_some_and(is_judged) {
            self.update().await;
        }
        if before.is_some() && page(&self.shown) == before {
            self.ready.push_back(Message::Frame(jpeg));
        }
    }

    fn leave_page(&mut self) {
        if let Some(shown) = &mut self.shown
            && let Some(page) = &mut shown.page
        {
            page.screencast = None;
        }
    }

    /// Sends what has changed.
    async fn update(&mut self) {
        if self.keep_alive.elapsed() > KEEP_ALIVE_INTERVAL {
            self.keep_alive = Instant::now();
            self.ready.push_back(Message::KeepAlive);
        }
        let (server, principal) = (&self.dashboard.server, &self.dashboard.principal);
        let all = server.owned_sessions(principal);
        let sessions: Value = all
            .iter()
            .map(|owned| sections::session(owned, principal))
            .collect();
        if sessions != self.sessions {
            self.send(json!({ "sessions": sessions }));
            self.sessions = sessions;
        }
        let controlled = self.dashboard.controlled_id();
        if controlled != self.controlled {
            self.send(json!({ "controlled": controlled }));
            self.controlled = controlled;
        }
        let Selection { session, page } = self.selected.borrow().clone();
        let selected = all
            .into_iter()
            .find(|owned| session.as_deref() == Some(owned.session.id()));
        let Some(owned) = selected else {
            if self.shown.take().is_some() {
                self.send(json!({ "session": null }));
            }
            return;
        };
        if self.shown.is_none() {
            self.send(json!({ "session": owned.session.id() }));
            self.shown = Some(ShownSession::new(owned));
        }
        self.update_session(page.as_deref()).await;
    }

    async fn update_session(&mut self, page: Option<&str>) {
        let Some(mut shown) = self.shown.take() else {
            return;
        };
        let session = shown.owned.session.clone();
        let (calls, version) = session.control().call_log().since(shown.calls);
        shown.calls = version;
        if !calls.is_empty() {
            let permission = self.dashboard.principal.permission();
            let calls = calls.into_iter().map(|call| call.visible_to(permission));
            self.send(json!({ "calls": calls.collect::<Vec<_>>() }));
        }
        for log in &mut shown.logs {
            if let Some((server, text)) = log.more().await {
                let text = session.settings().secrets.redacted(text);
                self.send(json!({ "log": { "server": server, "text": text } }));
            }
        }
        let page = shown_page(&shown.owned, page);
        let url = page.as_ref().map(Page::url);
        let permitted = self.dashboard.server.permit_reading(url.as_deref(), None);
        let denied = permitted.err().map(|error| error.to_string());
        shown.judged = url;
        if denied != shown.denied {
            self.send(json!({ "denied": denied }));
            shown.denied = denied;
        }
        match page.filter(|_| shown.denied.is_none()) {
            Some(page) => self.update_page(&mut shown, page).await,
            None => {
                if shown.page.take().is_some() {
                    self.send(json!({ "page": null }));
                }
            }
        }
        self.shown = Some(shown);
    }

    async fn update_page(&mut self, shown: &mut ShownSession, page: Page) {
        let session = shown.owned.session.clone();
        let is_shown = shown.page.as_ref().is_some_and(|shown| shown.page == page);
        if !is_shown {
            shown.page = Some(ShownPage::new(page));
        }
        let Some(shown) = &mut shown.page else { return };
        shown.start_screencast().await;
        let state = sections::page(&session, &shown.page);
        if state != shown.state {
            self.send(json!({ "page": state }));
            shown.state = state;
        }
        if !is_shown || shown.changes.has_changed().unwrap_or(false) {
            shown.changes.mark_unchanged();
            let console = shown.page.console(shown.console);
            if let Some(last) = console.last() {
                shown.console = last.number + 1;
                self.send(json!({ "console": sections::console(&session, &console) }));
            }
            let requests = sections::requests(&session, &shown.page.requests());
            if requests != shown.requests {
                self.send(json!({ "requests": requests }));
                shown.requests = requests;
            }
        }
    }

    fn send(&mut self, message: Value) {
        self.ready.push_back(Message::Text(message.to_string()));
    }
}

impl ShownSession {
    fn new(owned: OwnedSession) -> Self {
        let app = owned.session.app();
        let servers = app.map(|app| app.servers().to_vec()).unwrap_or_default();
        let mut changes = owned.session.control().call_log().changes();
        changes.mark_unchanged();
        Self {
            _watched: owned.session.control().watch(),
            changes,
            calls: 0,
            logs: servers.iter().flat_map(|it| FollowedLog::of(it)).collect(),
            denied: None,
            judged: None,
            page: None,
            owned,
        }
    }
}

impl ShownPage {
    fn new(page: Page) -> Self {
        Self {
            changes: page.changes(),
            state: Value::Null,
            console: 0,
            requests: Value::Null,
            screencast: None,
            next_start: Instant::now(),
            next_frame: Instant::now(),
            page,
        }
    }

    /// Starts the screencast, unless it runs or was started a short time ago.
    async fn start_screencast(&mut self) {
        if self.screencast.is_some() || self.page.is_closed() || Instant::now() < self.next_start {
            return;
        }
        let progress = Progress::new(SCREENCAST_TIMEOUT);
        match self.page.screencast(&progress).await {
            Ok(screencast) => self.screencast = Some(screencast),
            Err(error) => tracing::debug!(%error, "the page has no screencast"),
        }
        self.next_start = Instant::now() + SCREENCAST_INTERVAL;
    }
}

/// Returns the next event of the shown session: a call began or ended, its control changed, or the page has a frame.
async fn event_of(shown: &mut Option<ShownSession>) -> Event {
    let Some(ShownSession { changes, page, .. }) = shown else {
        return pending().await;
    };
    tokio::select! {
        biased;
        // The sender lives as long as the session.
        _ = changes.changed() => Event::Update,
        frame = frame(page) => Event::Frame(frame),
    }
}

/// Returns the next frame of the shown page; `None` if the page is gone.
async fn frame(page: &mut Option<ShownPage>) -> Option<Arc<[u8]>> {
    let Some(ShownPage {
        screencast: Some(screencast),
        next_frame,
        ..
    }) = page
    else {
        return pending().await;
    };
    tokio::time::sleep_until(*next_frame).await;
    let frame = screencast.next().await?;
    *next_frame = Instant::now() + FRAME_INTERVAL;
    Some(frame.jpeg)
}
