//! The frames of a page and their documents. They are found by polling; each poll reports what has changed since the last one.

use super::WebKitPage;
use super::evaluation::OWN;
use super::state::FrameState;
use crate::backend::frame_tree::descendants;
use crate::backend::webkit::driver::FrameTarget;
use crate::backend::{FrameId, Frames, Handle, LoaderId, PageEvent};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use wire::webdriver::element::Element;

/// Returns the state of a document, and the numbers of its frame elements; the elements themselves if an argument is true.
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

/// Returns the numbers of frame elements, which are given as handles.
const NUMBERS: &str = "
  const own = globalThis[Symbol.for('playhouse')];
  if (!own || own.id !== arguments[0]) return 'D';
  return arguments[1].map((handle) => own.owners.get(globalThis.__playhouseCore.element(handle)) ?? 0);";

/// Returns the handle of the frame element with a number.
const HANDLE: &str = "
  const own = globalThis[Symbol.for('playhouse')];
  if (!own || own.id !== arguments[0]) return 'D';
  const owner = own.held.get(arguments[1])?.deref();
  return owner ? globalThis.__playhouseCore.handle(owner) : 'D';";

/// The state of a document at a poll.
#[derive(Debug, Deserialize)]
struct PolledDocument {
    id: String,
    url: String,
    name: String,
    state: String,
    numbers: Vec<u64>,
}

/// The number of polls of a frame while the main frame navigates.
const POLL_ATTEMPTS: u32 = 3;
/// The maximum depth of frames in frames.
const MAX_FRAME_DEPTH: usize = 12;

#[async_trait]
impl Frames for WebKitPage {
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
            let known = state.frames.get(frame).ok_or(Error::DocumentGone {})?;
            let parent = known.parent.clone().ok_or(Error::DocumentGone {})?;
            (parent, known.number.1)
        };
        let document = self.with_core(&parent).await?;
        let args = vec![json!(document), json!(number)];
        let handle = self.run_raw(&parent, HANDLE.to_owned(), args).await?;
        let handle = handle.as_u64().ok_or(Error::DocumentGone {})?;
        Ok(Some((parent, handle)))
    }
}

impl WebKitPage {
    /// Polls the page and its frames, and reports what has changed.
    pub(crate) async fn poll_frames(&self) -> Result<()> {
        let _polling = self.polling.lock().await;
        self.poll_all_frames().await
    }

    async fn poll_all_frames(&self) -> Result<()> {
        self.state().poll_scheduled = false;
        let main = self.main.clone();
        let mut next = vec![(main, 0)];
        while let Some((frame, depth)) = next.pop() {
            match self.poll_frame(&frame).await {
                Ok(children) if depth < MAX_FRAME_DEPTH => {
                    next.extend(children.into_iter().rev().map(|frame| (frame, depth + 1)));
                }
                Ok(_) => {}
                // The frame is gone; the next poll of its parent reports that.
                Err(Error::DocumentGone {} | Error::Script { .. }) if depth > 0 => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Schedules a poll, unless one is scheduled. A poll that begins in the meantime replaces it: a page that changes its frames faster than
    /// they are polled must not delay the calls that wait for their own poll.
    pub(crate) fn schedule_poll(&self) {
        {
            let mut state = self.state();
            if state.closed || std::mem::replace(&mut state.poll_scheduled, true) {
                return;
            }
        }
        let page = self.itself();
        task::spawn("poll", async move {
            let Some(page) = page else { return };
            let _polling = page.polling.lock().await;
            if !page.state().poll_scheduled {
                return;
            }
            let polled = page.poll_all_frames().await;
            tracing::trace!(?polled, "polled a page");
        })
        .detach();
    }

    /// Polls one frame, and returns its child frames.
    async fn poll_frame(&self, frame: &FrameId) -> Result<Vec<FrameId>> {
        // Child frames are polled from the main frame, and the driver returns references only to elements of the frame that it is switched to.
        let is_main = *frame == self.main;
        for _ in 0..POLL_ATTEMPTS {
            let shown = self.state().navigation.loader.clone();
            let args = vec![json!(is_main)];
            let answer = self.run_raw(frame, poll_script(), args).await?;
            // Otherwise another document was reported meanwhile, and the answer may be from either.
            if self.state().navigation.loader == shown {
                return self.apply_poll(frame, answer);
            }
        }
        Err(Error::DocumentGone {})
    }

    /// Applies the answer of [`poll_script`] from a frame, and returns the child frames.
    fn apply_poll(&self, frame: &FrameId, answer: Value) -> Result<Vec<FrameId>> {
        let Value::Array(mut answer) = answer else {
            return Err(Error::DocumentGone {});
        };
        let owners = answer.split_off(1.min(answer.len()));
        let polled = answer.pop().unwrap_or_default();
        let polled: PolledDocument =
            serde_json::from_value(polled).map_err(|_| Error::DocumentGone {})?;
        self.apply_document(frame, &polled);
        let mut children = Vec::with_capacity(owners.len());
        let mut owners = owners.into_iter();
        for number in &polled.numbers {
            let owner = owners.next();
            let owner = owner.and_then(|owner| serde_json::from_value::<Element>(owner).ok());
            let child = FrameId::from(format!("{}/{number}", polled.id));
            self.insert_child_frame(frame, &child, (&polled.id, *number), owner);
            children.push(child);
        }
        self.retain_child_frames(frame, &children);
        Ok(children)
    }

    /// Applies the state of the document in a frame. Of a frame whose documents are reported by the browser, only what is not reported.
    fn apply_document(&self, frame: &FrameId, polled: &PolledDocument) {
        let mut events = Vec::new();
        {
            let mut state = self.state();
            let Some(known) = state.frames.get_mut(frame) else {
                return;
            };
            let loader = LoaderId::from(&polled.id);
            let first = known.url.is_empty();
            let is_reported = *frame == self.main && !first;
            let is_other = known.document.as_ref() != Some(&polled.id);
            // The browser has not yet reported the other document and its URL.
            let is_early = is_reported && is_other && known.document.is_some();
            if first || is_other {
                if !is_reported {
                    events.push(PageEvent::NavigationCommitted {
                        frame: frame.clone(),
                        loader: loader.clone(),
                        url: polled.url.clone(),
                        name: polled.name.clone(),
                        failed: None,
                    });
                    (known.parsed, known.loaded) = (false, false);
                    known.url.clone_from(&polled.url);
                }
                known.document = Some(polled.id.clone());
            }
            if known.url != polled.url && !is_early {
                known.url.clone_from(&polled.url);
                events.push(PageEvent::SameDocumentNavigation {
                    frame: frame.clone(),
                    url: polled.url.clone(),
                });
            }
            if known.name != polled.name {
                known.name.clone_from(&polled.name);
                events.push(PageEvent::FrameNamed {
                    frame: frame.clone(),
                    name: polled.name.clone(),
                });
            }
            if !is_reported {
                if polled.state != "loading" && !std::mem::replace(&mut known.parsed, true) {
                    events.push(PageEvent::DomContentLoaded {
                        frame: frame.clone(),
                        loader: loader.clone(),
                    });
                }
                if polled.state == "complete" && !std::mem::replace(&mut known.loaded, true) {
                    events.push(PageEvent::Load {
                        frame: frame.clone(),
                        loader,
                    });
                }
            }
        }
        if !events.is_empty() {
            events.into_iter().for_each(|event| self.report(event));
            self.notify_changed();
        }
    }

    /// Adds the frame of an element, unless it is known.
    fn insert_child_frame(
        &self,
        parent: &FrameId,
        child: &FrameId,
        (document, number): (&str, u64),
        owner: Option<Element>,
    ) {
        let is_new = {
            let mut state = self.state();
            let is_new = !state.frames.contains_key(child);
            let frame = state.frames.entry(child.clone()).or_default();
            frame.parent = Some(parent.clone());
            frame.number = (document.to_owned(), number);
            frame.owner = owner.or(frame.owner.take());
            is_new
        };
        if is_new {
            self.report(PageEvent::FrameAttached {
                frame: child.clone(),
                parent: parent.clone(),
            });
        }
    }

    /// Removes the frames of a document that a poll did not find.
    fn retain_child_frames(&self, parent: &FrameId, children: &[FrameId]) {
        let mut gone = self.children_of(parent);
        gone.retain(|frame| !children.contains(frame));
        for frame in gone {
            self.remove_frame(&frame);
            self.report(PageEvent::FrameDetached { frame });
        }
    }

    fn children_of(&self, parent: &FrameId) -> Vec<FrameId> {
        let state = self.state();
        let all = state.frames.iter();
        let children = all.filter(|(_, known)| known.parent.as_ref() == Some(parent));
        children.map(|(id, _)| id.clone()).collect()
    }

    /// Removes a frame and its descendants.
    fn remove_frame(&self, frame: &FrameId) {
        let mut state = self.state();
        for inner in descendants(&state.frames, frame, |info| info.parent.as_ref()) {
            state.frames.remove(&inner);
        }
        state.frames.remove(frame);
        drop(state);
        self.notify_changed();
    }

    /// Applies a new document of the main frame that the browser reported: the frames of the last document are gone.
    pub(super) fn on_main_document_changed(&self, url: &str) {
        if let Some(known) = self.state().frames.get_mut(&self.main) {
            known.document = None;
            url.clone_into(&mut known.url);
            known.name.clear();
        }
        for frame in self.children_of(&self.main) {
            self.remove_frame(&frame);
        }
        self.notify_changed();
    }

    /// Returns the document that a frame shows, if it is known.
    pub(crate) fn document_of(&self, frame: &FrameId) -> Result<Option<String>> {
        let state = self.state();
        if state.closed {
            return Err(Error::PageClosed {});
        }
        let known = state.frames.get(frame).ok_or(Error::DocumentGone {})?;
        Ok(known.document.clone())
    }

    /// Records the document that a frame shows.
    pub(super) fn set_document(&self, frame: &FrameId, id: &str) {
        if let Some(known) = self.state().frames.get_mut(frame) {
            known.document = Some(id.to_owned());
        }
    }

    /// Records the document that answered a script, and its URL. `shown` is the document of the page when the script was sent.
    pub(super) fn record_document(
        &self,
        frame: &FrameId,
        shown: Option<&LoaderId>,
        document: &str,
        url: &str,
    ) {
        {
            let mut state = self.state();
            // Another document was reported meanwhile.
            if *frame != self.main || state.navigation.loader.as_ref() != shown {
                return;
            }
            let Some(known) = state.frames.get_mut(frame) else {
                return;
            };
            match &known.document {
                Some(known) if *known == document => {}
                Some(_) => return,
                None => {
                    known.document = Some(document.to_owned());
                    return;
                }
            }
        }
        self.on_main_url_changed(url);
    }

    /// Reports that the URL of the main frame's document changed.
    pub(super) fn on_main_url_changed(&self, url: &str) {
        {
            let mut state = self.state();
            let Some(known) = state.frames.get_mut(&self.main) else {
                return;
            };
            if known.url == url {
                return;
            }
            url.clone_into(&mut known.url);
        }
        self.report(PageEvent::SameDocumentNavigation {
            frame: self.main.clone(),
            url: url.to_owned(),
        });
        self.notify_changed();
    }

    /// Applies that a frame shows another document than the recorded one.
    pub(super) fn clear_document(&self, frame: &FrameId) {
        let is_main = *frame == self.main;
        if let Some(known) = self.state().frames.get_mut(frame)
            && is_main
        {
            known.document = None;
        }
        self.schedule_poll();
    }

    /// Returns a value of each frame on the path to a frame, beginning with the child of the main frame.
    fn along_path<T>(
        &self,
        frame: &FrameId,
        value: impl Fn(&FrameState) -> Option<T>,
    ) -> Result<Vec<T>> {
        let state = self.state();
        if state.closed {
            return Err(Error::PageClosed {});
        }
        let mut path = Vec::new();
        let mut current = frame;
        while *current != self.main {
            let known = state.frames.get(current).ok_or(Error::DocumentGone {})?;
            path.push(value(known).ok_or(Error::DocumentGone {})?);
            current = known.parent.as_ref().ok_or(Error::DocumentGone {})?;
        }
        path.reverse();
        Ok(path)
    }

    /// Returns the numbers of the owner elements on the path to a frame, each with its document.
    pub(super) fn numbers_to(&self, frame: &FrameId) -> Result<Vec<(String, u64)>> {
        self.along_path(frame, |known| Some(known.number.clone()))
    }

    /// Returns the window and the owner elements on the path to a frame.
    pub(super) fn frame_target(&self, frame: &FrameId) -> Result<FrameTarget> {
        let path = self.along_path(frame, |known| known.owner.clone())?;
        let window = self.window.clone();
        Ok(FrameTarget { window, path })
    }

    /// Finds the owner elements on the path to a frame. The driver switches to each frame for that.
    pub(super) async fn find_owners(&self, frame: &FrameId) -> Result<()> {
        let parents = self.along_path(frame, |known| {
            Some((known.parent.clone()?, known.owner.is_some()))
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

    /// Returns the frame that shows a document.
    pub(super) fn frame_showing(&self, document: &str) -> Option<FrameId> {
        let state = self.state();
        let mut frames = state.frames.iter();
        let found = frames.find(|(_, known)| known.document.as_deref() == Some(document));
        found.map(|(id, _)| id.clone())
    }
}
