//! The frames of a page and their documents.

use super::BidiPage;
use super::evaluation::sandbox_target;
use crate::backend::frame_tree::descendants;
use crate::backend::{FrameId, Frames, Handle, PageEvent};
use crate::error::{Error, Result};
use async_trait::async_trait;
use std::sync::Arc;
use tokio::sync::OnceCell;
use wire::bidi::browsing_context::Info;
use wire::bidi::script::{Evaluate, LocalValue, RemoteValue};

/// The state of a frame. The main frame is one too.
pub(super) struct FrameInfo {
    parent: Option<FrameId>,
    url: String,
    name: String,
    /// The number of documents that the frame has had.
    documents: u64,
    /// The sandbox of its current document.
    realm: Realm,
}

/// A sandbox, which is created on the first use and shared by all calls.
pub(super) type Realm = Arc<OnceCell<Arc<str>>>;

impl FrameInfo {
    pub(super) fn new(parent: Option<FrameId>) -> Self {
        Self {
            parent,
            url: String::new(),
            name: String::new(),
            documents: 0,
            realm: Realm::default(),
        }
    }
}

/// Returns all elements that contain frames, including those in open shadow roots.
const OWNERS: &str = include_str!("frames.js");
const OWNER: &str =
    "(index) => globalThis.__playhouseCore.handle(globalThis.__playhouseOwners[index])";
const INSIDE: &str = "(handles) => JSON.parse(handles).map((handle) => globalThis.__playhouseCore.element(handle)?.contentWindow)";

impl BidiPage {
    /// Records and reports an attached frame.
    pub(crate) fn frame_attached(&self, info: &Info, parent: &str) {
        let (frame, parent) = (FrameId::from(&info.context), FrameId::from(parent));
        self.state()
            .frames
            .insert(frame.clone(), FrameInfo::new(Some(parent.clone())));
        self.report(PageEvent::FrameAttached {
            frame: frame.clone(),
            parent,
        });
        self.shows_first(&frame, &info.url);
    }

    /// Reports the initial document of a frame.
    pub(crate) fn shows_first(&self, frame: &FrameId, url: &str) {
        let loader = format!("first-{}", frame.as_str());
        self.set_frame_document(frame, &loader, url, None);
        let loaded = (frame.clone(), loader.as_str().into());
        self.report(PageEvent::DomContentLoaded {
            frame: loaded.0.clone(),
            loader: loaded.1,
        });
        self.report(PageEvent::Load {
            frame: loaded.0,
            loader: loader.as_str().into(),
        });
    }

    /// Records and reports another document of a frame. `failed` is the URL that an error page is about.
    pub(crate) fn set_frame_document(
        &self,
        frame: &FrameId,
        loader: &str,
        url: &str,
        failed: Option<String>,
    ) {
        let name = {
            let mut state = self.state();
            let Some(info) = state.frames.get_mut(frame) else {
                return;
            };
            info.realm = Realm::default();
            info.documents += 1;
            url.clone_into(&mut info.url);
            info.name.clone()
        };
        self.document_changed();
        self.report(PageEvent::NavigationCommitted {
            frame: frame.clone(),
            loader: loader.into(),
            url: url.to_owned(),
            name,
            failed,
        });
    }

    /// Whether there are frames beside the main frame.
    pub(super) fn has_frames(&self) -> bool {
        self.state().frames.len() > 1
    }

    /// Requests the name of a new frame, which no event contains.
    pub(crate) fn request_frame_name(self: &Arc<Self>, frame: FrameId) {
        let reply = self.root().send(&Evaluate {
            expression: "window.name".to_owned(),
            await_promise: false,
            target: sandbox_target(&frame),
        });
        let page = Arc::downgrade(self);
        task::spawn("frame name", async move {
            let Ok(answer) = reply.await else { return };
            let name: String = answer.result.decode().unwrap_or_default();
            let Some(page) = page.upgrade().filter(|_| !name.is_empty()) else {
                return;
            };
            if let Some(info) = page.state().frames.get_mut(&frame) {
                info.name.clone_from(&name);
            }
            page.report(PageEvent::FrameNamed { frame, name });
        })
        .detach();
    }

    /// Records and reports the URL of a frame after a same-document navigation.
    pub(crate) fn on_url_changed(&self, frame: &FrameId, url: String) {
        if let Some(info) = self.state().frames.get_mut(frame) {
            info.url.clone_from(&url);
        }
        self.report(PageEvent::SameDocumentNavigation {
            frame: frame.clone(),
            url,
        });
    }

    /// Removes a frame and its descendants. Returns the descendants and the frame.
    pub(crate) fn remove_frame(&self, frame: &FrameId) -> Vec<FrameId> {
        let mut removed = descendants(&self.state().frames, frame, |info| info.parent.as_ref());
        removed.push(frame.clone());
        for frame in &removed {
            self.state().frames.remove(frame);
        }
        self.document_changed();
        self.report(PageEvent::FrameDetached {
            frame: frame.clone(),
        });
        removed
    }

    /// Returns the URL of the page's document.
    pub(crate) fn url(&self) -> String {
        let state = self.state();
        let main = state.frames.get(&self.main);
        main.map(|info| info.url.clone()).unwrap_or_default()
    }

    /// Returns the number of the current document of a frame.
    pub(super) fn document_of(&self, frame: &FrameId) -> Result<u64> {
        let state = self.state();
        if state.closed {
            return Err(Error::PageClosed {});
        }
        let info = state.frames.get(frame).ok_or(Error::DocumentGone {})?;
        Ok(info.documents)
    }

    /// Returns the sandbox of the current document of a frame, if it is the given one.
    pub(super) fn realm_of(&self, frame: &FrameId, document: u64) -> Result<Realm> {
        let state = self.state();
        let info = state.frames.get(frame);
        let info = info.filter(|info| info.documents == document);
        info.map(|info| info.realm.clone())
            .ok_or(Error::DocumentGone {})
    }

    /// Removes a sandbox that the browser reported as destroyed.
    pub(super) fn remove_realm(&self, frame: &FrameId, realm: &str) {
        if let Some(info) = self.state().frames.get_mut(frame)
            && info.realm.get().is_some_and(|known| **known == *realm)
        {
            info.realm = Realm::default();
        }
    }

    /// Waits until a frame has another document, or does not exist any more.
    pub(super) async fn document_replaced(&self, frame: &FrameId, document: u64) -> Error {
        let replaced = || match self.document_of(frame) {
            Ok(current) if current == document => None,
            Ok(_) => Some(Error::DocumentGone {}),
            Err(error) => Some(error),
        };
        self.documents.wait(replaced).await
    }
}

#[async_trait]
impl Frames for BidiPage {
    async fn content_frames(
        &self,
        frame: &FrameId,
        owners: &[Handle],
    ) -> Result<Vec<Option<FrameId>>> {
        let handles = serde_json::Value::from(owners.to_vec()).to_string();
        let inside = self
            .in_sandbox(frame, INSIDE, vec![LocalValue::string(handles)])
            .await?;
        Ok(windows(&inside))
    }

    async fn frame_owner(&self, frame: &FrameId) -> Result<Option<(FrameId, Handle)>> {
        if *frame == self.main {
            return Ok(None);
        }
        let parent = self
            .state()
            .frames
            .get(frame)
            .and_then(|info| info.parent.clone())
            .ok_or(Error::DocumentGone {})?;
        let list = self.in_sandbox(&parent, OWNERS, vec![]).await?;
        let index = windows(&list)
            .iter()
            .position(|other| other.as_ref() == Some(frame))
            .ok_or(Error::DocumentGone {})?;
        let handle = self
            .in_sandbox(&parent, OWNER, vec![LocalValue::number(index as u64)])
            .await?;
        let handle = handle.decode::<Handle>().ok_or(Error::DocumentGone {})?;
        Ok(Some((parent, handle)))
    }
}

/// Returns the frames of a list of windows.
fn windows(list: &RemoteValue) -> Vec<Option<FrameId>> {
    let items: Vec<RemoteValue> = list.decode().unwrap_or_default();
    let frame = |item: &RemoteValue| item.window().map(FrameId::from);
    items.iter().map(frame).collect()
}
