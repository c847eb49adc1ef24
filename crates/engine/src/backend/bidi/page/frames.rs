//! Which frames a page has, and which document each of them shows.

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

/// A frame, the main one included.
pub(super) struct FrameInfo {
    parent: Option<FrameId>,
    url: String,
    name: String,
    /// How many documents it has shown.
    documents: u64,
    /// Our sandbox of the one that it shows.
    realm: Realm,
}

/// A sandbox: made when somebody needs it, and once for all who do.
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

/// All elements that hold frames, those in open shadow roots too.
const OWNERS: &str = include_str!("frames.js");
const OWNER: &str =
    "(index) => globalThis.__playhouseCore.handle(globalThis.__playhouseOwners[index])";
const INSIDE: &str = "(handles) => JSON.parse(handles).map((handle) => globalThis.__playhouseCore.element(handle)?.contentWindow)";

impl BidiPage {
    /// A frame came to be.
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

    /// A frame shows the document that it came to be with.
    pub(crate) fn shows_first(&self, frame: &FrameId, url: &str) {
        let loader = format!("first-{}", frame.as_str());
        self.frame_shows(frame, &loader, url, None);
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

    /// A frame shows another document from now on. `failed` is the address that an error page is about.
    pub(crate) fn frame_shows(
        &self,
        frame: &FrameId,
        loader: &str,
        url: &str,
        failed: Option<String>,
    ) {
        let name = {
            let mut state = self.state();
            let Some(place) = state.frames.get_mut(frame) else {
                return;
            };
            place.realm = Realm::default();
            place.documents += 1;
            url.clone_into(&mut place.url);
            place.name.clone()
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

    /// Whether there is any frame but the main one.
    pub(super) fn has_frames(&self) -> bool {
        self.state().frames.len() > 1
    }

    /// Asks a new frame for its name, which no event tells.
    pub(crate) fn request_frame_name(self: &Arc<Self>, frame: FrameId) {
        let asked = self.root().send(&Evaluate {
            expression: "window.name".to_owned(),
            await_promise: false,
            target: sandbox_target(&frame),
        });
        let page = Arc::downgrade(self);
        task::spawn("frame name", async move {
            let Ok(answer) = asked.await else { return };
            let name: String = answer.result.decode().unwrap_or_default();
            let Some(page) = page.upgrade().filter(|_| !name.is_empty()) else {
                return;
            };
            if let Some(place) = page.state().frames.get_mut(&frame) {
                place.name.clone_from(&name);
            }
            page.report(PageEvent::FrameNamed { frame, name });
        })
        .detach();
    }

    /// The URL of a frame changed within its document.
    pub(crate) fn on_url_changed(&self, frame: &FrameId, url: String) {
        if let Some(place) = self.state().frames.get_mut(frame) {
            place.url.clone_from(&url);
        }
        self.report(PageEvent::SameDocumentNavigation {
            frame: frame.clone(),
            url,
        });
    }

    /// A frame went, with all inside it; those are returned too.
    pub(crate) fn remove_frame(&self, frame: &FrameId) -> Vec<FrameId> {
        let mut gone = descendants(&self.state().frames, frame, |info| info.parent.as_ref());
        gone.push(frame.clone());
        for frame in &gone {
            self.state().frames.remove(frame);
        }
        self.document_changed();
        self.report(PageEvent::FrameDetached {
            frame: frame.clone(),
        });
        gone
    }

    /// The address of the page's document.
    pub(crate) fn url(&self) -> String {
        let state = self.state();
        let main = state.frames.get(&self.main);
        main.map(|place| place.url.clone()).unwrap_or_default()
    }

    /// Which of its documents a frame shows, counted.
    pub(super) fn document_of(&self, frame: &FrameId) -> Result<u64> {
        let state = self.state();
        if state.closed {
            return Err(Error::PageClosed {});
        }
        let place = state.frames.get(frame).ok_or(Error::DocumentGone {})?;
        Ok(place.documents)
    }

    /// Our sandbox of the document that a frame shows, if that is the one.
    pub(super) fn realm_of(&self, frame: &FrameId, document: u64) -> Result<Realm> {
        let state = self.state();
        let place = state.frames.get(frame);
        let place = place.filter(|place| place.documents == document);
        place
            .map(|place| place.realm.clone())
            .ok_or(Error::DocumentGone {})
    }

    /// A sandbox has gone, as the browser says.
    pub(super) fn remove_realm(&self, frame: &FrameId, realm: &str) {
        if let Some(place) = self.state().frames.get_mut(frame)
            && place.realm.get().is_some_and(|known| **known == *realm)
        {
            place.realm = Realm::default();
        }
    }

    /// Waits until a frame shows another document than this one, or none.
    pub(super) async fn document_replaced(&self, frame: &FrameId, document: u64) -> Error {
        let replaced = || match self.document_of(frame) {
            Ok(shown) if shown == document => None,
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
            .and_then(|place| place.parent.clone())
            .ok_or(Error::DocumentGone {})?;
        let held = self.in_sandbox(&parent, OWNERS, vec![]).await?;
        let index = windows(&held)
            .iter()
            .position(|held| held.as_ref() == Some(frame))
            .ok_or(Error::DocumentGone {})?;
        let handle = self
            .in_sandbox(&parent, OWNER, vec![LocalValue::number(index as u64)])
            .await?;
        let handle = handle.decode::<Handle>().ok_or(Error::DocumentGone {})?;
        Ok(Some((parent, handle)))
    }
}

/// The frames behind a list of windows.
fn windows(list: &RemoteValue) -> Vec<Option<FrameId>> {
    let items: Vec<RemoteValue> = list.decode().unwrap_or_default();
    let frame = |item: &RemoteValue| item.window().map(FrameId::from);
    items.iter().map(frame).collect()
}
