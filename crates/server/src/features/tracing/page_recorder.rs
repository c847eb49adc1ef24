//! Recording the events of pages for a trace: console messages, errors, dialogs and requests.

use super::events::Event;
use super::har::TracedExchange;
use super::recorder::Recorder;
use super::snapshots::{frame_id, page_id};
use crate::sessions::http_archive::{Exchanges, ReadOptions};
use engine::{ConsoleMessage, MessageKind, Page, PageEvent};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// How often events are written while no call runs.
const WRITE_INTERVAL: Duration = Duration::from_secs(1);
/// How long a page may take to report its last events.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);
/// The largest body that is recorded, in bytes.
const MAX_BODY: usize = 16 * 1024 * 1024;

/// Records the pages of the context until the trace ends, and writes events meanwhile.
pub(super) async fn follow(recorder: Arc<Recorder>) {
    tokio::join!(record_requests(&recorder), record_pages(&recorder));
}

async fn record_pages(recorder: &Arc<Recorder>) {
    let mut changes = recorder.context().changes();
    let mut known: Vec<Page> = Vec::new();
    let mut pages = FuturesUnordered::new();
    let mut tick = tokio::time::interval(WRITE_INTERVAL);
    let mut is_open = true;
    loop {
        changes.mark_unchanged();
        let open = recorder.context().pages();
        known.retain(|page| open.contains(page));
        for page in open {
            if !known.contains(&page) {
                pages.push(record(recorder.clone(), page.clone()));
                known.push(page);
            }
        }
        tokio::select! {
            biased;
            () = recorder.stopped() => break,
            changed = changes.changed(), if is_open => is_open = changed.is_ok(),
            _ = pages.next(), if !pages.is_empty() => {}
            _ = tick.tick() => recorder.write_if_idle().await,
        }
    }
    // Each page records what has arrived.
    while pages.next().await.is_some() {}
}

/// Records the requests of the context until the trace ends.
async fn record_requests(recorder: &Recorder) {
    let options = ReadOptions {
        reads_responses: true,
        max_body: MAX_BODY,
        url: None,
        // The resources of a document that was loaded before are needed to show its snapshots.
        includes_earlier: true,
    };
    let mut exchanges = Exchanges::of(recorder.context(), options, recorder.stop_token());
    while let Some((page, request, bodies)) = exchanges.next().await {
        recorder.add_request(TracedExchange {
            page: page_id(&page),
            frame: request.frame.as_ref().map(frame_id),
            started: recorder.clock().time_of(request.sent),
            bodies,
            request,
        });
    }
}

/// Records a page until it is closed or the trace ends.
async fn record(recorder: Arc<Recorder>, page: Page) {
    let mut events = page.events();
    let id = page_id(&page);
    recorder.add(context_event(
        &recorder,
        "page",
        json!({ "pageId": id.clone() }),
    ));
    loop {
        let event = tokio::select! {
            biased;
            () = recorder.stopped() => break,
            event = events.next() => event,
        };
        let Some(event) = event else {
            return;
        };
        recorder.add_page_event(&id, event);
    }
    // What has arrived is recorded, even if the page does not respond.
    let _ = tokio::time::timeout(FLUSH_TIMEOUT, page.flush()).await;
    while let Some(Some(event)) = events.next().now_or_never() {
        recorder.add_page_event(&id, event);
    }
}

impl Recorder {
    /// Adds an event of a page, if traces have it.
    fn add_page_event(&self, page: &str, event: PageEvent) {
        match event {
            PageEvent::Console(message) => self.add(console(self, page, &message)),
            PageEvent::DialogOpened {
                kind,
                message,
                default_value,
            } => self.add(context_event(
                self,
                "dialog",
                json!({
                    "pageId": page,
                    "type": kind,
                    "message": message,
                    "defaultValue": default_value,
                }),
            )),
            PageEvent::Closed => {
                self.add(context_event(self, "pageClosed", json!({ "pageId": page })));
            }
            _ => {}
        }
    }
}

/// Returns an event of the browser context.
fn context_event(recorder: &Recorder, method: &str, params: serde_json::Value) -> Event {
    Event::Plain(json!({
        "type": "event",
        "time": recorder.clock().now(),
        "class": "BrowserContext",
        "method": method,
        "params": params,
    }))
}

/// Returns the event of a console message or of an uncaught error.
fn console(recorder: &Recorder, page: &str, message: &ConsoleMessage) -> Event {
    let location = message.location.as_ref();
    let location = location.map(|location| {
        json!({ "url": location.url, "lineNumber": location.line, "columnNumber": location.column })
    });
    if message.kind == MessageKind::PageError {
        let first = message.text.lines().next().unwrap_or_default();
        let (name, text) = first.split_once(": ").unwrap_or(("Error", first));
        return Event::Plain(json!({
            "type": "event",
            "time": recorder.clock().now(),
            "class": "BrowserContext",
            "method": "pageError",
            "params": {
                "error": { "error": { "name": name, "message": text, "stack": message.text } },
                "location": location,
            },
            "pageId": page,
        }));
    }
    Event::Plain(json!({
        "type": "console",
        "time": recorder.clock().now(),
        "pageId": page,
        "messageType": message.kind,
        "text": message.text,
        "location": location.unwrap_or_else(|| json!({ "url": "", "lineNumber": 0, "columnNumber": 0 })),
    }))
}
