//! Which frames a page has and which session speaks for each.

use super::{CdpPage, State};
use crate::backend::frame_tree::descendants;
use crate::backend::{FrameId, Frames, Handle, PageEvent};
use crate::error::{Error, Result};
use async_trait::async_trait;
use futures_util::future::try_join_all;
use std::sync::Arc;
use wire::Session;
use wire::cdp::dom;

/// A session below the page's own.
#[derive(Clone)]
pub(super) struct Child {
    pub(super) session: Session,
    /// The process of a frame; otherwise a worker, which knows no documents.
    pub(super) is_frame: bool,
}

/// Where a frame is.
pub(super) struct FrameInfo {
    parent: FrameId,
    /// The session of the process that draws it.
    session: Session,
    /// That session has told of a document here.
    shown: bool,
}

impl CdpPage {
    pub(crate) fn has_frame(&self, frame: &str) -> bool {
        let frame = FrameId::from(frame);
        frame == self.main || self.state().frames.contains_key(&frame)
    }

    pub(super) fn all_frames(&self) -> Vec<FrameId> {
        let mut frames = vec![self.main.clone()];
        frames.extend(self.state().frames.keys().cloned());
        frames
    }

    /// The session that speaks for a frame.
    pub(super) fn session_for(&self, frame: &FrameId) -> Result<Session> {
        if *frame == self.main {
            return Ok(self.session.clone());
        }
        self.state()
            .frames
            .get(frame)
            .map(|place| place.session.clone())
            .ok_or(Error::DocumentGone {})
    }

    fn parent_of(&self, frame: &FrameId) -> Option<FrameId> {
        Some(self.state().frames.get(frame)?.parent.clone())
    }

    pub(super) fn frame_attached(&self, frame: FrameId, parent: FrameId, session: Session) {
        let place = FrameInfo {
            parent,
            session,
            shown: false,
        };
        self.state().frames.insert(frame, place);
    }

    /// The frame's document comes from another process from now on.
    pub(super) fn set_frame_session(&self, frame: &FrameId, session: &Session) {
        if let Some(place) = self.state().frames.get_mut(frame) {
            place.session = session.clone();
            place.shown = false;
        }
    }

    /// The frame shows another document, as this session tells; those inside the last one are gone with it.
    pub(super) fn frame_shows(&self, frame: &FrameId, session: &Session) {
        let mut state = self.state();
        if let Some(place) = state.frames.get_mut(frame) {
            place.session = session.clone();
            place.shown = true;
        }
        let inside = state.inside(frame);
        for inner in &inside {
            state.frames.remove(inner);
        }
        drop(state);
        let mut worlds = self.worlds();
        for inner in &inside {
            worlds.remove_frame(inner);
        }
    }

    /// Whether this session has told what the frame shows.
    pub(super) fn shown_by(&self, frame: &FrameId, session: &Session) -> bool {
        self.state()
            .frames
            .get(frame)
            .is_some_and(|place| place.shown && place.session.id() == session.id())
    }

    pub(super) fn remove_frame(&self, frame: &FrameId) {
        let mut state = self.state();
        let mut gone = state.inside(frame);
        gone.push(frame.clone());
        for frame in &gone {
            state.frames.remove(frame);
        }
        drop(state);
        let mut worlds = self.worlds();
        for frame in &gone {
            worlds.remove_frame(frame);
        }
    }

    /// The session that an event came from.
    pub(super) fn session_named(&self, id: Option<&Arc<str>>) -> Session {
        id.and_then(|id| Some(self.state().children.get(id)?.session.clone()))
            .unwrap_or_else(|| self.session.clone())
    }

    /// All sessions below the page's own.
    pub(super) fn children(&self) -> Vec<Child> {
        self.state().children.values().cloned().collect()
    }

    pub(super) fn child_attached(&self, child: Child) {
        if let Some(id) = child.session.id().cloned() {
            self.state().children.insert(id, child);
        }
    }

    pub(super) fn child_detached(&self, id: &str) {
        self.worlds().cleared(id);
        let mut state = self.state();
        state.children.remove(id);
        let of_child = |session: &Session| session.id().is_some_and(|known| &**known == id);
        let dialog = state.dialog.take_if(|session| of_child(session)).is_some();
        let chooser = state
            .chooser
            .take_if(|chooser| of_child(&chooser.session))
            .is_some();
        drop(state);
        if dialog {
            self.report(PageEvent::DialogClosed);
        }
        if chooser {
            self.report(PageEvent::FileChooserClosed);
        }
    }
}

#[async_trait]
impl Frames for CdpPage {
    async fn content_frames(
        &self,
        frame: &FrameId,
        owners: &[Handle],
    ) -> Result<Vec<Option<FrameId>>> {
        let held = owners.iter().map(|&owner| async move {
            let element = self.remote_element(frame, owner).await?;
            let node = self.describe_node(&element).await?;
            Ok(node.frame_id.as_ref().map(FrameId::from))
        });
        // All questions go out before the first answer is waited for.
        try_join_all(held).await
    }

    async fn frame_owner(&self, frame: &FrameId) -> Result<Option<(FrameId, Handle)>> {
        if *frame == self.main {
            return Ok(None);
        }
        let parent = self.parent_of(frame).ok_or(Error::DocumentGone {})?;
        let owner = self
            .session_for(&parent)?
            .call(&dom::GetFrameOwner {
                frame_id: frame.as_str().to_owned(),
            })
            .await;
        match owner {
            Ok(owner) => {
                let handle = self.handle_of(&parent, owner.backend_node_id).await?;
                Ok(Some((parent, handle)))
            }
            Err(error) => Err(self.document_gone_error(error)),
        }
    }
}

impl State {
    /// All frames inside a frame, however deep.
    fn inside(&self, frame: &FrameId) -> Vec<FrameId> {
        descendants(&self.frames, frame, |info| Some(&info.parent))
    }
}
