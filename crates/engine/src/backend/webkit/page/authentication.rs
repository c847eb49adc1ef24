//! HTTP authentication. The browser asks for credentials in a dialog of its own: it is not reported, the request gets no response, and the
//! page no input. A request that has no response for a while is therefore taken for one that is asked about if the page receives no movement
//! of the mouse. No command answers the dialog; stopping the request closes it.

use super::WebKitPage;
use crate::backend::address::{is_of_origin, origin_of};
use crate::backend::gesture::ActionsOrigin as _;
use crate::backend::{Headers, Point};
use crate::error::{NetError, Result};
use base64::Engine as _;
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;
use wire::actions::{Action, Source};

/// After what time without a response a request is checked first, and how long it may take from then on to the next check.
const FIRST_CHECK: Duration = Duration::from_millis(500);
const MAX_INTERVAL: Duration = Duration::from_secs(10);
/// How long a check may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a movement may take to arrive, and the interval between polls for it.
const MOVE_TIMEOUT: Duration = Duration::from_millis(400);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The number of movements that must not arrive.
const REQUIRED_CHECKS: u32 = 2;

/// Begins to take the movements of the mouse from the page. Returns a position to move to, where no frame gets the movement.
const BEGIN: &str = "(x, y) => {
  const isOwn = ([left, top]) => {
    const e = document.elementFromPoint(left, top);
    // A movement to the same position is none.
    return e && (left !== x || top !== y) && !/^(iframe|frame|object|embed)$/.test(e.localName);
  };
  const to = [[x + 1, y], [x, y + 1], [1, 1], [innerWidth - 2, 1], [1, innerHeight - 2]].find(isOwn);
  if (!to) return null;
  const own = globalThis.__playhouse;
  if (!own) return null;
  own.moves?.end();
  const types = ['over', 'enter', 'move', 'out', 'leave'].flatMap((type) => ['pointer' + type, 'mouse' + type]);
  const end = () => { for (const type of types) removeEventListener(type, take, true); };
  const moves = (own.moves = { seen: false, painted: false, end });
  requestAnimationFrame(() => { moves.painted = true; });
  const until = performance.now() + 1000;
  const take = (event) => {
    moves.seen = true;
    if (performance.now() > until) return end();
    event.stopImmediatePropagation();
  };
  for (const type of types) addEventListener(type, take, true);
  return to;
}";
/// Returns whether the page has received a movement so far.
const SEEN: &str = "() => globalThis.__playhouse.moves.seen";
/// Returns whether a movement that was not received is conclusive: a document that loads gets none until it is painted.
const END: &str = "() => {
  const { moves } = globalThis.__playhouse;
  moves.end();
  return moves.painted || document.readyState !== 'loading';
}";

impl WebKitPage {
    /// Checks the requests of the page as long as some have no response.
    pub(super) fn watch_for_authentication(&self) {
        if std::mem::replace(&mut self.state().watches, true) {
            return;
        }
        let page = self.itself.clone();
        task::spawn("HTTP authentication", async move {
            let mut interval = FIRST_CHECK;
            let mut unseen = 0;
            loop {
                tokio::time::sleep(interval).await;
                let Some(page) = page.upgrade() else { return };
                let Some(age) = page.youngest_unanswered() else {
                    page.state().watches = false;
                    return;
                };
                if age >= FIRST_CHECK {
                    let check = page.has_authentication_dialog();
                    let is_shown = tokio::time::timeout(CHECK_TIMEOUT, check).await;
                    unseen = match is_shown {
                        Ok(Ok(true)) => unseen + 1,
                        _ => 0,
                    };
                    if unseen == REQUIRED_CHECKS {
                        page.refuse_authentication().await;
                        unseen = 0;
                    }
                    if unseen > 0 {
                        interval = Duration::ZERO;
                        continue;
                    }
                }
                interval = age.clamp(FIRST_CHECK, MAX_INTERVAL);
            }
        })
        .detach();
    }

    /// Returns how long the last request without a response has been waiting for it.
    fn youngest_unanswered(&self) -> Option<Duration> {
        let state = self.state();
        let unanswered = state
            .sent
            .iter()
            .filter(|(id, sent)| sent.url.starts_with("http") && !state.paused.contains_key(*id));
        let sent_at = unanswered.filter_map(|(_, sent)| sent.unanswered_since);
        sent_at.max().map(|since: Instant| since.elapsed())
    }

    /// Whether the browser shows its dialog for credentials.
    async fn has_authentication_dialog(&self) -> Result<bool> {
        if self.parts.last_used().as_ref() != Some(&self.id)
            || self.has_dialog()
            || self.parts.input().is_pressed()
        {
            return Ok(false);
        }
        let before = self.devices.pointer().map(|point| self.inside(point));
        let start = before.unwrap_or(Point { x: 1.0, y: 1.0 });
        let to = self
            .run(&self.main.clone(), BEGIN, &[json!(start.x), json!(start.y)])
            .await?;
        let Ok([x, y]) = serde_json::from_value::<[f64; 2]>(to) else {
            return Ok(false);
        };
        let moves = [Point { x, y }, start];
        let moves = moves
            .into_iter()
            .map(|Point { x, y }| Action::PointerMove { x, y });
        let actions = moves.collect();
        self.perform(vec![Source::Pointer {
            id: "mouse",
            actions,
        }])
        .await?;
        let deadline = Instant::now() + MOVE_TIMEOUT;
        let mut seen = false;
        while !seen && Instant::now() < deadline {
            tokio::time::sleep(POLL_INTERVAL).await;
            seen = self.run(&self.main.clone(), SEEN, &[]).await? == true;
        }
        let is_conclusive = self.run(&self.main.clone(), END, &[]).await? == true;
        Ok(!seen && is_conclusive)
    }

    /// Ends the requests that have no response: one of them is asked about.
    async fn refuse_authentication(&self) {
        tracing::debug!("a site asks for credentials");
        for sent in self.state().sent.values_mut() {
            if sent.unanswered_since.take().is_some() {
                sent.refused = Some(NetError::InvalidAuthCredentials);
            }
        }
        let stopped = self.run(&self.main.clone(), "() => stop()", &[]).await;
        tracing::debug!(?stopped, "stopped the requests of a page");
    }

    /// Returns the headers of a request with the credentials for its origin; `None` if it gets none. Without an origin, they are for the
    /// documents of the page and for what is loaded from the same origin.
    pub(super) fn with_credentials(
        &self,
        url: &str,
        is_main_document: bool,
        headers: &Headers,
    ) -> Option<Headers> {
        let credentials = self.parts.options().http_credentials.clone()?;
        let requested = origin_of(url);
        let is_meant = credentials.origin.is_some()
            || is_main_document
            || is_of_origin(&self.url(), &requested);
        let (name, password) = credentials.for_origin(&requested).filter(|_| is_meant)?;
        let is_set = |(name, _): &(String, String)| name.eq_ignore_ascii_case("authorization");
        if headers.iter().any(is_set) {
            return None;
        }
        let encoded =
            base64::engine::general_purpose::STANDARD.encode(format!("{name}:{password}"));
        let mut headers = headers.clone();
        headers.push(("Authorization".to_owned(), format!("Basic {encoded}")));
        Some(headers)
    }
}
