//! The frames of a page and their documents, as the inspector reports them.

use super::WebKitPage;
use crate::backend::frame_tree::descendants;
use crate::backend::webkit::network::{Frame, FrameTree};
use crate::backend::{FrameId, Frames, Handle, LoaderId, PageEvent};
use crate::error::{Error, NetError, Result};
use async_trait::async_trait;
use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::{Value, json};

/// A frame; also the main frame.
#[derive(Debug, Clone, Default)]
pub(super) struct FrameState {
    pub(super) parent: Option<FrameId>,
    /// The execution context of the document.
    pub(super) context: Option<u64>,
    /// The identifier of the context's global object, once it was read.
    pub(super) global: Option<String>,
    /// The shown document.
    pub(super) loader: Option<LoaderId>,
    pub(super) url: String,
    /// Whether `DOMContentLoaded` was reported.
    parsed: bool,
    /// Whether `load` was reported.
    loaded: bool,
}

/// Where the owner element of a frame is: `[number, -1]` if its document can be read, or `[0, index]` in the list of windows, which has no
/// frames of shadow trees.
const POSITION: &str = "function() {
  // Accessing the document of another origin would log an error in the console.
  if (location.ancestorOrigins?.[0] === window.origin && window.origin !== 'null') {
    try {
      const owner = frameElement, own = parent.__playhouse;
      if (own?.document === owner.ownerDocument) return [own.numberOf(owner), -1];
    } catch {}
  }
  for (let i = 0; i < parent.length; i++) if (parent[i] === window) return [0, i];
  return [0, -1];
}";

/// Returns the number of each frame element, and its index in the list of windows.
const OWNERS: &str = "function() {
  const owners = [];
  const search = (root) => {
    for (const e of root.querySelectorAll('iframe, frame, object, embed')) {
      const view = e.contentWindow;
      let index = window.length - 1;
      while (index >= 0 && window[index] !== view) index--;
      if (view) owners.push([globalThis.__playhouse.numberOf(e), index]);
    }
    for (const e of root.querySelectorAll('*')) if (e.shadowRoot) search(e.shadowRoot);
  };
  search(document);
  return owners;
}";

/// Returns the numbers of frame elements, which are given as handles.
const NUMBERS: &str = "(...handles) => handles.map((handle) => {
  const owner = globalThis.__playhouseCore.element(handle);
  return owner ? globalThis.__playhouse.numberOf(owner) : 0;
})";
/// Returns a handle of the frame element with a number.
const HANDLE: &str = "(number) => globalThis.__playhouseCore.handle(globalThis.__playhouse.owners[number - 1].deref())";

/// The number of a frame element, or 0, and its index in the list of windows, or -1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
struct Position(u64, i64);

#[async_trait]
impl Frames for WebKitPage {
    async fn content_frames(
        &self,
        frame: &FrameId,
        owners: &[Handle],
    ) -> Result<Vec<Option<FrameId>>> {
        let children = self.owned_frames(frame).await?;
        if children.is_empty() {
            return Ok(vec![None; owners.len()]);
        }
        let handles: Vec<_> = owners.iter().map(|handle| json!(handle)).collect();
        let numbers = self.run_to_end(frame, NUMBERS, &handles).await?;
        let numbers: Vec<u64> =
            serde_json::from_value(numbers).map_err(|_| Error::DocumentGone {})?;
        let frame_of = |owner: &u64| {
            let mut children = children.iter();
            let found = children.find(|(_, number)| number == owner);
            found.map(|(frame, _)| frame.clone())
        };
        Ok(numbers.iter().map(frame_of).collect())
    }

    async fn frame_owner(&self, frame: &FrameId) -> Result<Option<(FrameId, Handle)>> {
        if *frame == self.main {
            return Ok(None);
        }
        let parent = {
            let state = self.state();
            let known = state.frames.get(frame).ok_or(Error::DocumentGone {})?;
            known.parent.clone().ok_or(Error::DocumentGone {})?
        };
        let children = self.owned_frames(&parent).await?;
        let owner = children.into_iter().find(|(child, _)| child == frame);
        let (_, number) = owner.ok_or(Error::DocumentGone {})?;
        let handle = self.run_to_end(&parent, HANDLE, &[json!(number)]).await?;
        let handle = handle.as_u64().ok_or(Error::DocumentGone {})?;
        Ok(Some((parent, handle)))
    }
}

impl WebKitPage {
    /// Returns the frames in a frame's document, with the numbers of their owner elements.
    async fn owned_frames(&self, parent: &FrameId) -> Result<Vec<(FrameId, u64)>> {
        let children = self.children_of(parent);
        if children.is_empty() {
            return Ok(Vec::new());
        }
        self.with_core(parent).await?;
        let positions = children.iter().map(|child| self.position_of(child));
        let positions = join_all(positions).await;
        let mut owned = Vec::new();
        let mut rest = Vec::new();
        for (child, position) in children.into_iter().zip(positions) {
            match position {
                Position(0, index) => rest.push((child, index)),
                Position(number, _) => owned.push((child, number)),
            }
        }
        if rest.is_empty() {
            return Ok(owned);
        }
        let owners = self.run_to_end(parent, OWNERS, &[]).await?;
        let mut owners: Vec<Position> =
            serde_json::from_value(owners).map_err(|_| Error::DocumentGone {})?;
        owners.retain(|owner| !owned.iter().any(|(_, known)| *known == owner.0));
        // Those of another origin in shadow trees, and those without scripts, are the others, in order.
        rest.sort_by_key(|(_, index)| *index < 0);
        for (child, index) in rest {
            let found = owners
                .iter()
                .position(|owner| index < 0 || owner.1 == index);
            if let Some(found) = found {
                owned.push((child, owners.remove(found).0));
            }
        }
        Ok(owned)
    }

    async fn position_of(&self, frame: &FrameId) -> Position {
        let unknown = Position(0, -1);
        if !self.has_context(frame) {
            return unknown;
        }
        let position = self.run(frame, POSITION, &[]).await;
        let position = position.ok().and_then(|it| serde_json::from_value(it).ok());
        position.unwrap_or(unknown)
    }

    fn has_context(&self, frame: &FrameId) -> bool {
        let state = self.state();
        let known = state.frames.get(frame);
        known.is_some_and(|known| known.context.is_some())
    }

    /// Reads the frames that exist already.
    pub(in crate::backend::webkit) async fn load_frames(&self) -> Result<()> {
        self.update_frames().await?;
        self.apply_early_events();
        // Reports the contexts of the frames that are known now.
        self.send_to_inspector("Runtime.enable", &json!({}));
        let script = "() => document.readyState";
        let main = self.main.clone();
        match self.run(&main, script, &[]).await {
            Ok(state) if state == "loading" => {}
            Ok(state) => {
                self.on_parsed(&main);
                if state == "complete" {
                    self.on_loaded(&main);
                }
            }
            // It loads, and will report the next document, or a dialog that is open already.
            Err(Error::DocumentGone {} | Error::DialogOpen {}) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Reads the tree of frames.
    async fn update_frames(&self) -> Result<()> {
        let method = "Page.getResourceTree";
        let resources: Value = self.call_inspector(method, &json!({})).await?;
        let tree = FrameTree::deserialize(&resources["frameTree"]);
        let tree = tree.map_err(|error| Error::protocol(method, error))?;
        if self.state().main_native.is_empty() {
            self.state().main_native.clone_from(&tree.frame.id);
            self.commit_document(&self.main.clone(), &tree.frame);
        }
        self.apply_tree(&tree);
        Ok(())
    }

    /// Applies what happened before this page followed its target, which another page opened.
    fn apply_early_events(&self) {
        let targets = &self.parts.targets;
        let (Some(page), Ok((target, _))) = (self.itself(), targets.of_window(&self.window)) else {
            return;
        };
        while let Some(event) = targets.next_early(target) {
            page.clone().on_event(&event);
        }
    }

    fn apply_tree(&self, tree: &FrameTree) {
        for child in &tree.child_frames {
            if self.frame_of(&child.frame.id).is_none() {
                self.on_child_navigated(&child.frame);
            }
            self.apply_tree(child);
        }
    }

    /// Returns the frame with an identifier of the inspector.
    pub(super) fn frame_of(&self, native: &str) -> Option<FrameId> {
        let state = self.state();
        if state.main_native == native {
            return Some(self.main.clone());
        }
        let frame = FrameId::from(native);
        state.frames.contains_key(&frame).then_some(frame)
    }

    /// Applies a new document of a frame that is not the main frame.
    pub(super) fn on_child_navigated(&self, frame: &Frame) {
        let parent = frame.parent_id.as_deref();
        let Some(parent) = parent.and_then(|parent| self.frame_of(parent)) else {
            return;
        };
        let child = FrameId::from(&frame.id);
        let is_new = {
            let mut state = self.state();
            let is_new = !state.frames.contains_key(&child);
            let known = state.frames.entry(child.clone()).or_default();
            known.parent = Some(parent.clone());
            is_new
        };
        if is_new {
            self.report(PageEvent::FrameAttached {
                frame: child.clone(),
                parent,
            });
        }
        self.remove_children(&child);
        self.commit_document(&child, frame);
        self.report_loaded_document(&child);
    }

    /// Reports the document of a frame.
    fn commit_document(&self, id: &FrameId, frame: &Frame) {
        let loader = LoaderId::from(&frame.loader_id);
        self.set_document(id, &loader, &frame.url);
        self.report(PageEvent::NavigationCommitted {
            frame: id.clone(),
            loader,
            url: frame.url.clone(),
            name: frame.name.clone(),
            failed: None,
        });
        self.notify_changed();
    }

    /// Records the document that a frame shows.
    pub(super) fn set_document(&self, frame: &FrameId, loader: &LoaderId, url: &str) {
        if let Some(known) = self.state().frames.get_mut(frame) {
            known.loader = Some(loader.clone());
            (known.context, known.global) = (None, None);
            url.clone_into(&mut known.url);
            (known.parsed, known.loaded) = (false, false);
        }
    }

    pub(super) fn on_frame_detached(&self, native: &str) {
        let frame = self.frame_of(native).filter(|frame| *frame != self.main);
        if let Some(frame) = frame {
            self.remove_frame(&frame);
            self.report(PageEvent::FrameDetached { frame });
        }
    }

    /// Records the execution context of a document that was reported before.
    pub(super) fn on_context_created(&self, native: &str, context: u64) {
        let Some(frame) = self.frame_of(native) else {
            return;
        };
        if let Some(known) = self.state().frames.get_mut(&frame)
            && known.context.replace(context) != Some(context)
        {
            known.global = None;
        }
        self.notify_changed();
    }

    /// Reports that the document of a frame is parsed.
    pub(super) fn on_parsed(&self, frame: &FrameId) {
        let loader = {
            let mut state = self.state();
            let known = state.frames.get_mut(frame);
            known.and_then(|known| match std::mem::replace(&mut known.parsed, true) {
                true => None,
                false => known.loader.clone(),
            })
        };
        if let Some(loader) = loader {
            let frame = frame.clone();
            self.report(PageEvent::DomContentLoaded { frame, loader });
        }
    }

    /// Reports that the document of a frame is loaded.
    pub(super) fn on_loaded(&self, frame: &FrameId) {
        let loader = {
            let mut state = self.state();
            let known = state.frames.get_mut(frame);
            known.and_then(|known| match std::mem::replace(&mut known.loaded, true) {
                true => None,
                false => known.loader.clone(),
            })
        };
        if let Some(loader) = loader {
            let frame = frame.clone();
            self.report(PageEvent::Load { frame, loader });
        }
    }

    /// Reports that the URL of a frame's document changed.
    pub(super) fn on_url_changed(&self, frame: &FrameId, url: &str) {
        {
            let mut state = self.state();
            let Some(known) = state.frames.get_mut(frame) else {
                return;
            };
            if known.url == url {
                return;
            }
            url.clone_into(&mut known.url);
        }
        self.report(PageEvent::SameDocumentNavigation {
            frame: frame.clone(),
            url: url.to_owned(),
        });
        self.notify_changed();
    }

    /// Reads the URL of the main frame's document: a document that a script has written reports no changes of it.
    pub(super) async fn update_url(&self) -> Result<()> {
        let main = self.main.clone();
        let loader = self.loader_of(&main);
        let url = self.run(&main, "() => location.href", &[]).await?;
        // Otherwise it is that of another document.
        if self.loader_of(&main) == loader {
            self.on_url_changed(&main, url.as_str().unwrap_or_default());
        }
        Ok(())
    }

    pub(super) fn loader_of(&self, frame: &FrameId) -> Option<LoaderId> {
        let state = self.state();
        state.frames.get(frame)?.loader.clone()
    }

    fn children_of(&self, parent: &FrameId) -> Vec<FrameId> {
        let state = self.state();
        let all = state.frames.iter();
        let children = all.filter(|(_, known)| known.parent.as_ref() == Some(parent));
        let mut children: Vec<_> = children.map(|(id, _)| id.clone()).collect();
        children.sort_by_key(order);
        children
    }

    /// Removes the frames of a frame's last document.
    pub(super) fn remove_children(&self, parent: &FrameId) {
        for frame in self.children_of(parent) {
            self.remove_frame(&frame);
        }
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

    /// Prepares the part of the page in another process, which may show the next document.
    pub(in crate::backend::webkit) fn on_process_created(&self, part: &str) {
        tracing::debug!(part, "a page moves to another process");
        self.state().navigation.next_part = Some(part.to_owned());
        self.send_settings(part);
        let targets = &self.parts.targets;
        targets.send_to_part(&self.window, part, "Runtime.enable", &json!({}));
    }

    /// Applies that the part in another process shows the page. Its frames and contexts have other identifiers.
    pub(in crate::backend::webkit) fn on_process_changed(&self) {
        self.remove_children(&self.main);
        let mut state = self.state();
        state.navigation.next_part = None;
        state.main_native.clear();
        state.paused.clear();
        if let Some(main) = state.frames.get_mut(&self.main) {
            (main.context, main.global) = (None, None);
        }
        drop(state);
        self.notify_changed();
    }

    /// Applies that a part of the page is gone. If it has not shown a document, the navigation has ended.
    pub(in crate::backend::webkit) fn on_process_ended(&self, part: &str) {
        let next = self
            .state()
            .navigation
            .next_part
            .take_if(|next| next == part);
        if next.is_some() {
            self.on_navigation_ended(Some(NetError::Aborted));
        }
    }

    /// Returns the URL of the main frame's document.
    pub(in crate::backend::webkit) fn url(&self) -> String {
        let state = self.state();
        let main = state.frames.get(&self.main);
        main.map(|frame| frame.url.clone()).unwrap_or_default()
    }

    /// Returns the frame whose document has an identifier of [`super::evaluation::OWN`].
    pub(super) async fn frame_showing(&self, document: &str) -> Option<FrameId> {
        let script = "() => globalThis.__playhouse?.id ?? ''";
        let frames: Vec<_> = self.state().frames.keys().cloned().collect();
        for frame in frames {
            if self
                .run(&frame, script, &[])
                .await
                .is_ok_and(|id| id == document)
            {
                return Some(frame);
            }
        }
        None
    }
}

/// Returns the position of a frame in the order of creation: identifiers are a prefix and a number.
fn order(frame: &FrameId) -> u64 {
    let text = frame.as_str();
    let number = text.rsplit(['.', '-']).next().unwrap_or_default();
    number.parse().unwrap_or(u64::MAX)
}
