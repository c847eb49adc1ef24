//! The frames of a page and the session of each.

use super::{CdpPage, State};
use crate::backend::frame_tree::descendants;
use crate::backend::{FrameId, Frames, Handle, PageEvent, RunningWorker};
use crate::error::{Error, Result};
use async_trait::async_trait;
use futures_util::future::try_join_all;
use std::sync::Arc;
use wire::Session;
use wire::cdp::dom;

/// A session of a frame or a worker of the page.
#[derive(Clone)]
pub(super) struct Child {
    pub(super) session: Session,
    /// The worker, which has no documents. `None` for a frame.
    pub(super) worker: Option<RunningWorker>,
}

impl Child {
    pub(super) fn is_frame(&self) -> bool {
        self.worker.is_none()
    }
}

/// The state of a frame.
pub(super) struct FrameInfo {
    parent: FrameId,
    /// The session of the process that renders the frame.
    session: Session,
    /// Whether this session has reported a document of the frame.
    has_document: bool,
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

    /// Returns the session of a frame.
    pub(super) fn session_for(&self, frame: &FrameId) -> Result<Session> {
        if *frame == self.main {
            return Ok(self.session.clone());
        }
        self.state()
            .frames
            .get(frame)
            .map(|info| info.session.clone())
            .ok_or(Error::DocumentGone {})
    }

    pub(super) fn parent_of(&self, frame: &FrameId) -> Option<FrameId> {
        Some(self.state().frames.get(frame)?.parent.clone())
    }

    pub(super) fn frame_attached(&self, frame: FrameId, parent: FrameId, session: Session) {
        let info = FrameInfo {
            parent,
            session,
            has_document: false,
        };
        self.state().frames.insert(frame, info);
    }

    /// Sets the session of a frame whose next document is in another process.
    pub(super) fn set_frame_session(&self, frame: &FrameId, session: &Session) {
        if let Some(info) = self.state().frames.get_mut(frame) {
            info.session = session.clone();
            info.has_document = false;
        }
    }

    /// Records that a session reported another document of the frame. The frames of the previous document are removed.
    pub(super) fn set_frame_document(&self, frame: &FrameId, session: &Session) {
        let mut state = self.state();
        if let Some(info) = state.frames.get_mut(frame) {
            info.session = session.clone();
            info.has_document = true;
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

    /// Whether this session has reported a document of the frame.
    pub(super) fn has_reported_document(&self, frame: &FrameId, session: &Session) -> bool {
        self.state()
            .frames
            .get(frame)
            .is_some_and(|info| info.has_document && info.session.id() == session.id())
    }

    pub(super) fn remove_frame(&self, frame: &FrameId) {
        let mut state = self.state();
        let mut removed = state.inside(frame);
        removed.push(frame.clone());
        for frame in &removed {
            state.frames.remove(frame);
        }
        drop(state);
        let mut worlds = self.worlds();
        for frame in &removed {
            worlds.remove_frame(frame);
        }
    }

    /// Returns the session of an event.
    pub(super) fn session_named(&self, id: Option<&Arc<str>>) -> Session {
        id.and_then(|id| Some(self.state().children.get(id)?.session.clone()))
            .unwrap_or_else(|| self.session.clone())
    }

    /// Returns the sessions of frames and workers.
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
        let content_frames = owners.iter().map(|&owner| async move {
            let element = self.remote_element(frame, owner).await?;
            let node = self.describe_node(&element).await?;
            Ok(node.frame_id.as_ref().map(FrameId::from))
        });
        // All commands are sent before the first result is awaited.
        try_join_all(content_frames).await
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
    /// Returns all descendants of a frame.
    fn inside(&self, frame: &FrameId) -> Vec<FrameId> {
        descendants(&self.frames, frame, |info| Some(&info.parent))
    }
}
