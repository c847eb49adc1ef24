//! Which frames a page has, and which document each of them shows: each look tells what has changed.

use super::WebDriverPage;
use super::evaluation::OWN;
use super::state::FrameState;
use crate::backend::frame_tree::descendants;
use crate::backend::{FrameId, Frames, Handle, LoaderId, PageEvent};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use wire::webdriver::element::Element;

/// What is to be known of a document, and the elements that hold its frames.
fn poll_script() -> String {
    format!(
        "{OWN}
  const found = [];
  const search = (root) => {{
    for (const e of root.querySelectorAll('iframe, frame, object, embed')) if (e.contentWindow) found.push(e);
    for (const e of root.querySelectorAll('*')) if (e.shadowRoot) search(e.shadowRoot);
  }};
  if (frames.length || document.querySelector('iframe, frame')) search(document);
  const numbers = found.map((e) => {{
    if (!own.owners.has(e)) {{
      own.owners.set(e, ++own.last);
      own.held.set(own.last, new WeakRef(e));
    }}
    return own.owners.get(e);
  }});
  const seen = {{ id: own.id, url: location.href, name: String(window.name), state: document.readyState, numbers }};
  return arguments[0] ? [seen, ...found] : [seen];"
    )
}

/// The numbers of elements that hold frames.
const NUMBERS: &str = "
  const own = globalThis[Symbol.for('playhouse')];
  if (!own || own.id !== arguments[0]) return 'D';
  return arguments[1].map((handle) => own.owners.get(globalThis.__playhouseCore.element(handle)) ?? 0);";

/// The handle of an element.
const HANDLE: &str = "
  const own = globalThis[Symbol.for('playhouse')];
  if (!own || own.id !== arguments[0]) return 'D';
  const owner = own.held.get(arguments[1])?.deref();
  return owner ? globalThis.__playhouseCore.handle(owner) : 'D';";

/// A document, as a look found it.
#[derive(Debug, Deserialize)]
struct PolledDocument {
    id: String,
    url: String,
    name: String,
    state: String,
    numbers: Vec<u64>,
}

/// How often a frame is looked at whose page is on its way.
const POLL_ATTEMPTS: u32 = 3;
/// How deep frames are looked for.
const MAX_FRAME_DEPTH: usize = 12;

#[async_trait]
impl Frames for WebDriverPage {
    async fn content_frames(
        &self,
        frame: &FrameId,
        owners: &[Handle],
    ) -> Result<Vec<Option<FrameId>>> {
        self.poll_frames().await?;
        let document = self.document_of(frame)?.ok_or(Error::DocumentGone {})?;
        let args = vec![json!(document), json!(owners)];
        let numbers = self.run_raw(frame, NUMBERS.to_owned(), args).await?;
        let numbers: Vec<u64> =
            serde_json::from_value(numbers).map_err(|_| Error::DocumentGone {})?;
        let state = self.state();
        let known = |number: &u64| {
            let id = FrameId::from(format!("{document}/{number}"));
            state.frames.contains_key(&id).then_some(id)
        };
        Ok(numbers.iter().map(known).collect())
    }

    async fn frame_owner(&self, frame: &FrameId) -> Result<Option<(FrameId, Handle)>> {
        if *frame == self.main {
            return Ok(None);
        }
        let (parent, number) = {
            let state = self.state();
            let place = state.frames.get(frame).ok_or(Error::DocumentGone {})?;
            let parent = place.parent.clone().ok_or(Error::DocumentGone {})?;
            (parent, place.number.1)
        };
        let document = self.with_core(&parent).await?;
        let args = vec![json!(document), json!(number)];
        let handle = self.run_raw(&parent, HANDLE.to_owned(), args).await?;
        let handle = handle.as_u64().ok_or(Error::DocumentGone {})?;
        Ok(Some((parent, handle)))
    }
}

impl WebDriverPage {
    /// Looks at the page and its frames, and reports what has changed.
    pub(crate) async fn poll_frames(&self) -> Result<()> {
        let _looking = self.looking.lock().await;
        self.state().stirred = false;
        let main = self.main.clone();
        let mut next = vec![(main, 0)];
        while let Some((frame, depth)) = next.pop() {
            match self.poll_frame(&frame).await {
                Ok(inside) if depth < MAX_FRAME_DEPTH => {
                    next.extend(inside.into_iter().rev().map(|frame| (frame, depth + 1)));
                }
                Ok(_) => {}
                // It went meanwhile; its parent's next look tells.
                Err(Error::DocumentGone {} | Error::Script { .. }) if depth > 0 => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Looks in a moment, once for all that asked meanwhile.
    pub(crate) fn schedule_poll(&self) {
        {
            let mut state = self.state();
            state.stirred = true;
            if state.closed || std::mem::replace(&mut state.look_planned, true) {
                return;
            }
        }
        let page = self.itself();
        task::spawn("look", async move {
            let Some(page) = page else { return };
            page.state().look_planned = false;
            let looked = page.poll_frames().await;
            tracing::trace!(?looked, "looked at a page");
        })
        .detach();
    }

    /// Looks at one frame; answers those inside it.
    async fn poll_frame(&self, frame: &FrameId) -> Result<Vec<FrameId>> {
        // Elements of a frame are its own business, which the driver does not go to for this.
        let is_main = *frame == self.main;
        for _ in 0..POLL_ATTEMPTS {
            let shown = self.state().navigation.loader.clone();
            let args = vec![json!(is_main)];
            let answer = self.run_raw(frame, poll_script(), args).await?;
            // Another document was told of meanwhile: whose answer this is cannot be told.
            if self.state().navigation.loader == shown {
                return self.apply_poll(frame, answer);
            }
        }
        Err(Error::DocumentGone {})
    }

    /// Takes note of what a look at a frame found.
    fn apply_poll(&self, frame: &FrameId, answer: Value) -> Result<Vec<FrameId>> {
        let Value::Array(mut answer) = answer else {
            return Err(Error::DocumentGone {});
        };
        let owners = answer.split_off(1.min(answer.len()));
        let seen = answer.pop().unwrap_or_default();
        let seen: PolledDocument =
            serde_json::from_value(seen).map_err(|_| Error::DocumentGone {})?;
        self.apply_document(frame, &seen);
        let mut inside = Vec::with_capacity(owners.len());
        let mut owners = owners.into_iter();
        for number in &seen.numbers {
            let owner = owners.next();
            let owner = owner.and_then(|owner| serde_json::from_value::<Element>(owner).ok());
            let child = FrameId::from(format!("{}/{number}", seen.id));
            self.insert_child_frame(frame, &child, (&seen.id, *number), owner);
            inside.push(child);
        }
        self.retain_child_frames(frame, &inside);
        Ok(inside)
    }

    /// A look found this document in a frame.
    fn apply_document(&self, frame: &FrameId, seen: &PolledDocument) {
        let heard = *frame == self.main && self.has_inspector();
        let mut events = Vec::new();
        {
            let mut state = self.state();
            let Some(place) = state.frames.get_mut(frame) else {
                return;
            };
            let loader = LoaderId::from(&seen.id);
            let first = place.url.is_empty();
            // It is one that will be told of in a moment, with its address.
            let untold = heard
                && !first
                && place
                    .document
                    .as_ref()
                    .is_some_and(|known| *known != seen.id);
            if first || place.document.as_ref() != Some(&seen.id) {
                // What is heard has told of the document already.
                if !heard || first {
                    events.push(PageEvent::NavigationCommitted {
                        frame: frame.clone(),
                        loader: loader.clone(),
                        url: seen.url.clone(),
                        name: seen.name.clone(),
                        failed: None,
                    });
                    (place.parsed, place.loaded) = (false, false);
                    place.url.clone_from(&seen.url);
                }
                place.document = Some(seen.id.clone());
            }
            if place.url != seen.url && !untold {
                place.url.clone_from(&seen.url);
                events.push(PageEvent::SameDocumentNavigation {
                    frame: frame.clone(),
                    url: seen.url.clone(),
                });
            }
            if place.name != seen.name {
                place.name.clone_from(&seen.name);
                events.push(PageEvent::FrameNamed {
                    frame: frame.clone(),
                    name: seen.name.clone(),
                });
            }
            if !heard || first {
                if seen.state != "loading" && !std::mem::replace(&mut place.parsed, true) {
                    events.push(PageEvent::DomContentLoaded {
                        frame: frame.clone(),
                        loader: loader.clone(),
                    });
                }
                if seen.state == "complete" && !std::mem::replace(&mut place.loaded, true) {
                    events.push(PageEvent::Load {
                        frame: frame.clone(),
                        loader,
                    });
                }
            }
        }
        let any = !events.is_empty();
        for event in events {
            self.report(event);
        }
        if any {
            self.notify_changed();
        }
    }

    /// An element of a frame's document holds another frame.
    fn insert_child_frame(
        &self,
        parent: &FrameId,
        child: &FrameId,
        (document, number): (&str, u64),
        owner: Option<Element>,
    ) {
        let is_new = {
            let mut state = self.state();
            match state.frames.get_mut(child) {
                Some(place) => {
                    place.owner = owner.or(place.owner.take());
                    false
                }
                None => {
                    state.frames.insert(
                        child.clone(),
                        FrameState {
                            parent: Some(parent.clone()),
                            owner,
                            number: (document.to_owned(), number),
                            ..FrameState::default()
                        },
                    );
                    true
                }
            }
        };
        if is_new {
            self.report(PageEvent::FrameAttached {
                frame: child.clone(),
                parent: parent.clone(),
            });
        }
    }

    /// A frame's document holds these frames and no others.
    fn retain_child_frames(&self, parent: &FrameId, inside: &[FrameId]) {
        let gone: Vec<FrameId> = {
            let state = self.state();
            let children = state.frames.iter().filter(|(id, place)| {
                place.parent.as_ref() == Some(parent) && !inside.contains(id)
            });
            children.map(|(id, _)| id.clone()).collect()
        };
        for frame in gone {
            self.remove_frame(&frame);
            self.report(PageEvent::FrameDetached { frame });
        }
    }

    /// Forgets a frame and all inside it.
    fn remove_frame(&self, frame: &FrameId) {
        let mut state = self.state();
        for inner in descendants(&state.frames, frame, |info| info.parent.as_ref()) {
            state.frames.remove(&inner);
        }
        state.frames.remove(frame);
        drop(state);
        self.notify_changed();
    }

    /// The main frame shows another document from now on, as was heard: what was in the last one has gone with it.
    pub(super) fn on_main_document_changed(&self, url: &str) {
        let main = self.main.clone();
        let inside: Vec<FrameId> = {
            let mut state = self.state();
            if let Some(place) = state.frames.get_mut(&main) {
                place.document = None;
                url.clone_into(&mut place.url);
                place.name.clear();
            }
            let children = state.frames.iter();
            let children = children.filter(|(_, place)| place.parent.as_ref() == Some(&main));
            children.map(|(id, _)| id.clone()).collect()
        };
        for frame in inside {
            self.remove_frame(&frame);
        }
        self.notify_changed();
    }

    /// The document that a frame shows, as far as it is known.
    pub(super) fn document_of(&self, frame: &FrameId) -> Result<Option<String>> {
        let state = self.state();
        if state.closed {
            return Err(Error::PageClosed {});
        }
        let place = state.frames.get(frame).ok_or(Error::DocumentGone {})?;
        Ok(place.document.clone())
    }

    /// A frame shows this document.
    pub(super) fn set_document(&self, frame: &FrameId, id: &str) {
        if let Some(place) = self.state().frames.get_mut(frame) {
            place.document = Some(id.to_owned());
        }
    }

    /// A document answered us from this address, asked when `shown` was the page's.
    pub(super) fn record_document(
        &self,
        frame: &FrameId,
        shown: Option<&LoaderId>,
        document: &str,
        url: &str,
    ) {
        {
            let mut state = self.state();
            // Another one was told of meanwhile.
            if *frame != self.main || state.navigation.loader.as_ref() != shown {
                return;
            }
            let Some(place) = state.frames.get_mut(frame) else {
                return;
            };
            match &place.document {
                Some(known) if *known == document => {}
                Some(_) => return,
                None => {
                    place.document = Some(document.to_owned());
                    return;
                }
            }
        }
        self.on_main_url_changed(url);
    }

    /// A frame shows another document than was thought.
    pub(super) fn clear_document(&self, frame: &FrameId) {
        let is_main = *frame == self.main;
        if let Some(place) = self.state().frames.get_mut(frame)
            && is_main
        {
            place.document = None;
        }
        self.schedule_poll();
    }

    /// What is known of each frame on the way to this one: the main frame's child first.
    fn way_to<T>(
        &self,
        frame: &FrameId,
        known: impl Fn(&FrameState) -> Option<T>,
    ) -> Result<Vec<T>> {
        let state = self.state();
        if state.closed {
            return Err(Error::PageClosed {});
        }
        let mut way = Vec::new();
        let mut at = frame;
        while *at != self.main {
            let place = state.frames.get(at).ok_or(Error::DocumentGone {})?;
            way.push(known(place).ok_or(Error::DocumentGone {})?);
            at = place.parent.as_ref().ok_or(Error::DocumentGone {})?;
        }
        way.reverse();
        Ok(way)
    }

    /// The numbers of the elements that hold a frame, each with its document, from the main one on.
    pub(super) fn numbers_to(&self, frame: &FrameId) -> Result<Vec<(String, u64)>> {
        self.way_to(frame, |place| Some(place.number.clone()))
    }

    /// The elements that hold a frame, from the main one on.
    pub(super) fn path_to(&self, frame: &FrameId) -> Result<Vec<Element>> {
        self.way_to(frame, |place| place.owner.clone())
    }

    /// Learns the elements that hold a frame, as the driver names them: it has to go to each for that.
    pub(super) async fn find_owners(&self, frame: &FrameId) -> Result<()> {
        let parents = self.way_to(frame, |place| {
            Some((place.parent.clone()?, place.owner.is_some()))
        })?;
        for (parent, known) in parents {
            if !known {
                let args = vec![json!(true)];
                let answer = self.run_in_frame(&parent, poll_script(), args).await?;
                self.apply_poll(&parent, answer)?;
            }
        }
        Ok(())
    }

    /// The frame that shows a document.
    pub(super) fn frame_showing(&self, document: &str) -> Option<FrameId> {
        let state = self.state();
        let mut frames = state.frames.iter();
        let found = frames.find(|(_, place)| place.document.as_deref() == Some(document));
        found.map(|(id, _)| id.clone())
    }
}
