//! A page of Chromium: one session for itself and one for each frame that lives in another process.

use super::worlds::Worlds;
use super::{emulation, network};
use crate::backend::{
    ContextOptions, FrameId, Handle, InputStep, LoaderId, MediaFeatures, PageBackend, PageEvent,
    PageId, PageObserver, PdfOptions, RequestId, Screenshot, Viewport,
};
use crate::error::{Error, Result};
use crate::task::Task;
use async_trait::async_trait;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use wire::Session;
use wire::cdp::{self, dom, page, target};

pub(crate) struct CdpPage {
    id: PageId,
    main: FrameId,
    session: Session,
    state: Mutex<State>,
    worlds: Mutex<Worlds>,
    pub(super) drag: super::input::Drag,
    observer: OnceLock<Arc<dyn PageObserver>>,
    pub(super) reader: OnceLock<Task>,
}

/// What the sessions of a page share.
struct State {
    options: ContextOptions,
    viewport: Option<Viewport>,
    media: MediaFeatures,
    user_agent: String,
    /// All frames but the main one.
    frames: HashMap<FrameId, Place>,
    /// All sessions but the page's own.
    children: HashMap<Arc<str>, Session>,
    /// Which session to ask for a body.
    requests: HashMap<RequestId, Session>,
    dialog: Option<Session>,
    chooser: Option<Chooser>,
    /// Requests whose server has asked who we are.
    challenged: HashSet<String>,
}

/// Where a frame is.
struct Place {
    parent: FrameId,
    /// The session of the process that draws it.
    session: Session,
}

struct Chooser {
    session: Session,
    element: Option<dom::BackendNodeId>,
}

/// Requests whose session is remembered; more are asked of the page itself.
const REQUESTS: usize = 10_000;

impl CdpPage {
    pub(super) fn new(
        session: Session,
        target: &str,
        options: ContextOptions,
        user_agent: String,
    ) -> Self {
        Self {
            id: target.into(),
            main: target.into(),
            session,
            state: Mutex::new(State {
                viewport: options.viewport.clone(),
                media: options.media.clone(),
                options,
                user_agent,
                frames: HashMap::new(),
                children: HashMap::new(),
                requests: HashMap::new(),
                dialog: None,
                chooser: None,
                challenged: HashSet::new(),
            }),
            worlds: Mutex::default(),
            drag: super::input::Drag::default(),
            observer: OnceLock::new(),
            reader: OnceLock::new(),
        }
    }

    pub(super) fn page_id(&self) -> &PageId {
        &self.id
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    pub(super) fn is_session(&self, id: &str) -> bool {
        self.session.id().is_some_and(|own| &**own == id)
    }

    pub(super) fn has_frame(&self, frame: &str) -> bool {
        let frame = FrameId::from(frame);
        frame == self.main || self.state().frames.contains_key(&frame)
    }

    /// Everything from here on is reported to `observer`.
    pub(super) fn observed_by(&self, observer: Arc<dyn PageObserver>) {
        // Set once, by the one task that prepares the page.
        let _ = self.observer.set(observer);
    }

    pub(super) fn report(&self, event: PageEvent) {
        if let Some(observer) = self.observer.get() {
            observer.event(event);
        }
    }

    pub(super) fn worlds(&self) -> MutexGuard<'_, Worlds> {
        self.worlds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// The session that an event came from.
    pub(super) fn session_named(&self, id: Option<&Arc<str>>) -> Session {
        id.and_then(|id| self.state().children.get(id).cloned())
            .unwrap_or_else(|| self.session.clone())
    }

    pub(super) fn frame_attached(&self, frame: FrameId, parent: FrameId, session: Session) {
        self.state().frames.insert(frame, Place { parent, session });
    }

    /// The frame's document comes from another process from now on.
    pub(super) fn frame_moved(&self, frame: &FrameId, session: &Session) {
        if let Some(place) = self.state().frames.get_mut(frame) {
            place.session = session.clone();
        }
    }

    pub(super) fn frame_gone(&self, frame: &FrameId) {
        self.state().frames.remove(frame);
        self.worlds().frame_gone(frame);
    }

    pub(super) fn child_attached(&self, session: &Session) {
        if let Some(id) = session.id() {
            self.state().children.insert(id.clone(), session.clone());
        }
    }

    pub(super) fn child_detached(&self, id: &str) {
        self.worlds().cleared(id);
        self.state().children.remove(id);
    }

    pub(super) fn request_seen(&self, request: RequestId, session: Session) {
        let mut state = self.state();
        if state.requests.len() > REQUESTS {
            state.requests.clear();
        }
        state.requests.insert(request, session);
    }

    /// Whether the request is challenged for the first time.
    pub(super) fn first_challenge(&self, request: &str) -> bool {
        self.state().challenged.insert(request.to_owned())
    }

    pub(super) fn all_frames(&self) -> Vec<FrameId> {
        let mut frames = vec![self.main.clone()];
        frames.extend(self.state().frames.keys().cloned());
        frames
    }

    pub(super) fn dialog_opened(&self, session: Session) {
        self.state().dialog = Some(session);
    }

    pub(super) fn chooser_opened(&self, session: Session, element: Option<dom::BackendNodeId>) {
        self.state().chooser = Some(Chooser { session, element });
    }

    pub(super) fn emulation(&self) -> emulation::Emulation {
        let state = self.state();
        emulation::Emulation {
            options: state.options.clone(),
            viewport: state.viewport.clone(),
            media: state.media.clone(),
            user_agent: state.user_agent.clone(),
        }
    }

    pub(super) fn options(&self) -> ContextOptions {
        self.state().options.clone()
    }

    pub(super) fn set_context_options(&self, options: ContextOptions) {
        self.state().options = options;
    }

    /// The page's own session and those of its frames in other processes.
    pub(super) fn sessions(&self) -> Vec<Session> {
        let mut sessions = vec![self.session.clone()];
        sessions.extend(self.state().children.values().cloned());
        sessions
    }

    pub(super) async fn flush_events(&self) -> Result<()> {
        Ok(self.session.flush().await?)
    }

    fn body_session(&self, request: &RequestId) -> Session {
        self.state()
            .requests
            .get(request)
            .cloned()
            .unwrap_or_else(|| self.session.clone())
    }
}

#[async_trait]
impl PageBackend for CdpPage {
    fn id(&self) -> &PageId {
        &self.id
    }

    fn main_frame(&self) -> FrameId {
        self.main.clone()
    }

    async fn navigate(&self, url: &str) -> Result<Option<LoaderId>> {
        let answer = self
            .session
            .call(&page::Navigate {
                url: url.to_owned(),
                frame_id: Some(self.main.as_str().to_owned()),
                ..Default::default()
            })
            .await;
        let answer = match answer {
            Err(wire::Error::Protocol { .. }) => {
                return Err(Error::InvalidUrl {
                    url: url.to_owned(),
                });
            }
            other => other?,
        };
        match answer.error_text {
            Some(_) if answer.is_download == Some(true) => Ok(None),
            Some(reason) => Err(Error::NavigationFailed {
                url: url.to_owned(),
                reason,
            }),
            None => Ok(answer.loader_id.map(Into::into)),
        }
    }

    async fn reload(&self, ignore_cache: bool) -> Result<()> {
        self.session
            .call(&page::Reload {
                ignore_cache: Some(ignore_cache),
                ..Default::default()
            })
            .await?;
        Ok(())
    }

    async fn go(&self, delta: i32) -> Result<bool> {
        let history = self.session.call(&page::GetNavigationHistory {}).await?;
        let entry = usize::try_from(history.current_index + i64::from(delta))
            .ok()
            .and_then(|index| history.entries.get(index));
        let Some(entry) = entry else { return Ok(false) };
        self.session
            .call(&page::NavigateToHistoryEntry { entry_id: entry.id })
            .await?;
        Ok(true)
    }

    async fn call(&self, frame: &FrameId, function: &str, argument: &Value) -> Result<Value> {
        self.call_core(frame, function, argument).await
    }

    async fn evaluate(
        &self,
        frame: &FrameId,
        expression: &str,
        element: Option<Handle>,
    ) -> Result<Option<Value>> {
        self.evaluate_in_main(frame, expression, element).await
    }

    async fn content_frames(
        &self,
        frame: &FrameId,
        owners: &[Handle],
    ) -> Result<Vec<Option<FrameId>>> {
        self.frames_of(frame, owners).await
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
            Err(wire::Error::Protocol { .. }) => Err(Error::DocumentGone {}),
            Err(error) => Err(error.into()),
        }
    }

    async fn input(&self, steps: &[InputStep]) -> Result<()> {
        self.dispatch(steps).await
    }

    async fn set_input_files(
        &self,
        frame: &FrameId,
        element: Handle,
        files: &[PathBuf],
    ) -> Result<()> {
        let object = self.remote_element(frame, element).await?;
        self.session_for(frame)?
            .call(&dom::SetFileInputFiles {
                files: files
                    .iter()
                    .map(|path| path.display().to_string())
                    .collect(),
                object_id: Some(object),
                ..Default::default()
            })
            .await?;
        Ok(())
    }

    async fn answer_dialog(&self, accept: bool, prompt_text: Option<&str>) -> Result<()> {
        let session = self.state().dialog.take();
        session
            .unwrap_or_else(|| self.session.clone())
            .call(&page::HandleJavaScriptDialog {
                accept,
                prompt_text: prompt_text.map(str::to_owned),
            })
            .await?;
        Ok(())
    }

    async fn answer_file_chooser(&self, files: Option<&[PathBuf]>) -> Result<()> {
        let chooser = self.state().chooser.take();
        let (Some(chooser), Some(files)) = (chooser, files) else {
            return Ok(());
        };
        chooser
            .session
            .call(&dom::SetFileInputFiles {
                files: files
                    .iter()
                    .map(|path| path.display().to_string())
                    .collect(),
                backend_node_id: chooser.element,
                ..Default::default()
            })
            .await?;
        Ok(())
    }

    async fn screenshot(&self, options: &Screenshot) -> Result<Vec<u8>> {
        self.draw(options).await
    }

    async fn pdf(&self, options: &PdfOptions) -> Result<Vec<u8>> {
        self.print(options).await
    }

    async fn set_viewport(&self, viewport: &Viewport) -> Result<()> {
        self.state().viewport = Some(viewport.clone());
        self.apply_viewport().await
    }

    async fn emulate_media(&self, features: &MediaFeatures) -> Result<()> {
        self.state().media = features.clone();
        self.apply_media().await
    }

    async fn response_body(&self, request: &RequestId) -> Result<Vec<u8>> {
        let body = self
            .body_session(request)
            .call(&cdp::network::GetResponseBody {
                request_id: request.as_str().to_owned(),
            })
            .await?;
        network::decoded(body.body, body.base64_encoded)
    }

    async fn request_body(&self, request: &RequestId) -> Result<Option<Vec<u8>>> {
        let body = self
            .body_session(request)
            .call(&cdp::network::GetRequestPostData {
                request_id: request.as_str().to_owned(),
            })
            .await;
        match body {
            Ok(body) => network::decoded(body.post_data, body.base64_encoded).map(Some),
            // Chromium refuses to answer for a request without one.
            Err(wire::Error::Protocol { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn flush(&self) -> Result<()> {
        self.flush_events().await
    }

    async fn activate(&self) -> Result<()> {
        self.session.call(&page::BringToFront {}).await?;
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        self.session
            .connection()
            .root()
            .call(&target::CloseTarget {
                target_id: self.id.as_str().to_owned(),
            })
            .await?;
        Ok(())
    }
}
