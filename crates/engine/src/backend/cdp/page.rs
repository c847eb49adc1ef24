//! A page of Chromium: one session for itself and one for each frame that lives in another process.

use super::worlds::Worlds;
use super::{emulation, network};
use crate::backend::{
    ContextOptions, Fetched, FrameId, Handle, Headers, InputStep, LoaderId, MediaFeatures,
    PageBackend, PageEvent, PageId, PageObserver, PdfOptions, RequestId, Screenshot, Verdict,
    Viewport,
};
use crate::error::{Error, Result};
use crate::task::Task;
use async_trait::async_trait;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::oneshot;
use url::Url;
use wire::Session;
use wire::cdp::fetch::RequestPaused;
use wire::cdp::{self, dom, page, runtime, target};

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
    /// Init scripts and headers of this page alone, beside those of its context.
    own_scripts: Vec<String>,
    own_headers: Headers,
    viewport: Option<Viewport>,
    media: MediaFeatures,
    user_agent: String,
    /// All frames but the main one.
    frames: HashMap<FrameId, Place>,
    /// All sessions but the page's own.
    children: HashMap<Arc<str>, Child>,
    /// The newest requests.
    requests: HashMap<RequestId, Sent>,
    /// The newest navigation of the main frame.
    newest: Option<LoaderId>,
    dialog: Option<Session>,
    chooser: Option<Chooser>,
    /// Requests whose server has asked who we are.
    challenged: HashSet<String>,
    /// Requests wait until somebody has decided about them.
    intercepts: bool,
    /// Requests whose answers somebody waits for.
    fetching: HashMap<String, oneshot::Sender<RequestPaused>>,
}

/// A session below the page's own.
#[derive(Clone)]
pub(super) struct Child {
    pub(super) session: Session,
    /// The process of a frame; otherwise a worker, which knows no documents.
    pub(super) is_frame: bool,
}

/// What is remembered of a request.
struct Sent {
    /// Who has its body.
    session: Session,
    /// The frame that it loads a document for.
    navigates: Option<FrameId>,
}

/// Where a frame is.
struct Place {
    parent: FrameId,
    /// The session of the process that draws it.
    session: Session,
    /// That session has told of a document here.
    shown: bool,
}

#[derive(Clone)]
struct Chooser {
    session: Session,
    element: Option<dom::BackendNodeId>,
}

/// Timers are numbered one after the other; a page that had more than this many keeps the oldest.
const STOP_TIMERS: &str = "for (let last = setTimeout(String), id = last; id > Math.max(0, last - 1e6); id--) clearTimeout(id)";
/// Requests that are remembered; the bodies of older ones are asked of the page itself.
const REQUESTS: usize = 10_000;
/// Challenges that are remembered; whoever is challenged again after so many others is taken for new.
const CHALLENGES: usize = 1_000;

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
                own_scripts: Vec::new(),
                own_headers: Headers::new(),
                user_agent,
                frames: HashMap::new(),
                children: HashMap::new(),
                requests: HashMap::new(),
                newest: None,
                dialog: None,
                chooser: None,
                challenged: HashSet::new(),
                intercepts: false,
                fetching: HashMap::new(),
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

    pub(super) fn observer(&self) -> Option<&Arc<dyn PageObserver>> {
        self.observer.get()
    }

    pub(super) fn intercepts(&self) -> bool {
        self.state().intercepts
    }

    pub(super) fn set_intercepts(&self, on: bool) {
        self.state().intercepts = on;
    }

    /// The answer of the request that waits by this name; forgotten when the receiver is.
    pub(super) fn awaits(&self, key: &str) -> oneshot::Receiver<RequestPaused> {
        let (tell, answer) = oneshot::channel();
        let fetching = &mut self.state().fetching;
        fetching.retain(|_, waiting| !waiting.is_closed());
        fetching.insert(key.to_owned(), tell);
        answer
    }

    /// Gives an answer to who waits for it; gives it back if nobody does.
    pub(super) fn answered(&self, key: &str, paused: RequestPaused) -> Option<RequestPaused> {
        match self.state().fetching.remove(key) {
            Some(waiting) => waiting.send(paused).err(),
            None => Some(paused),
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
        id.and_then(|id| Some(self.state().children.get(id)?.session.clone()))
            .unwrap_or_else(|| self.session.clone())
    }

    pub(super) fn frame_attached(&self, frame: FrameId, parent: FrameId, session: Session) {
        let place = Place {
            parent,
            session,
            shown: false,
        };
        self.state().frames.insert(frame, place);
    }

    /// The frame's document comes from another process from now on.
    pub(super) fn frame_moved(&self, frame: &FrameId, session: &Session) {
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
            worlds.frame_gone(inner);
        }
    }

    /// Whether this session has told what the frame shows.
    pub(super) fn shown_by(&self, frame: &FrameId, session: &Session) -> bool {
        self.state()
            .frames
            .get(frame)
            .is_some_and(|place| place.shown && place.session.id() == session.id())
    }

    pub(super) fn frame_gone(&self, frame: &FrameId) {
        let mut state = self.state();
        let mut gone = state.inside(frame);
        gone.push(frame.clone());
        for frame in &gone {
            state.frames.remove(frame);
        }
        drop(state);
        let mut worlds = self.worlds();
        for frame in &gone {
            worlds.frame_gone(frame);
        }
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

    pub(super) fn request_sent(
        &self,
        request: RequestId,
        session: Session,
        navigates: Option<FrameId>,
    ) {
        let mut state = self.state();
        if state.requests.len() >= REQUESTS {
            state.requests.clear();
        }
        state.requests.insert(request, Sent { session, navigates });
    }

    /// The frame that waits for this request's document.
    pub(super) fn navigated_by(&self, request: &RequestId) -> Option<FrameId> {
        self.state().requests.get(request)?.navigates.clone()
    }

    pub(super) fn navigation_started(&self, frame: &FrameId, loader: Option<&LoaderId>) {
        if *frame == self.main {
            self.state().newest = loader.cloned();
        }
    }

    /// Whether the request is challenged for the first time.
    pub(super) fn first_challenge(&self, request: &str) -> bool {
        let challenged = &mut self.state().challenged;
        if challenged.len() >= CHALLENGES {
            challenged.clear();
        }
        challenged.insert(request.to_owned())
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
            options: state.options(),
            viewport: state.viewport.clone(),
            media: state.media.clone(),
            user_agent: state.user_agent.clone(),
        }
    }

    pub(super) fn options(&self) -> ContextOptions {
        self.state().options()
    }

    pub(super) fn own_script(&self, source: &str) {
        self.state().own_scripts.push(source.to_owned());
    }

    pub(super) fn set_own_headers(&self, headers: &Headers) {
        self.state().own_headers = headers.clone();
    }

    pub(super) fn set_context_options(&self, options: ContextOptions) {
        self.state().options = options;
    }

    /// All sessions below the page's own.
    pub(super) fn children(&self) -> Vec<Child> {
        self.state().children.values().cloned().collect()
    }

    pub(super) async fn flush_events(&self) -> Result<()> {
        Ok(self.session.flush().await?)
    }

    fn body_session(&self, request: &RequestId) -> Session {
        self.state()
            .requests
            .get(request)
            .map_or_else(|| self.session.clone(), |sent| sent.session.clone())
    }
}

impl State {
    /// What the page's context and the page itself want.
    fn options(&self) -> ContextOptions {
        let mut options = self.options.clone();
        options.init_scripts.extend_from_slice(&self.own_scripts);
        options.extra_headers.retain(|(name, _)| {
            let own = |(own, _): &(String, String)| own.eq_ignore_ascii_case(name);
            !self.own_headers.iter().any(own)
        });
        options.extra_headers.extend_from_slice(&self.own_headers);
        options
    }

    /// All frames inside a frame, however deep.
    fn inside(&self, frame: &FrameId) -> Vec<FrameId> {
        let mut found = Vec::new();
        let mut next = vec![frame];
        while let Some(parent) = next.pop() {
            let children = self
                .frames
                .iter()
                .filter(|(_, place)| place.parent == *parent);
            for (child, _) in children {
                found.push(child.clone());
                next.push(child);
            }
        }
        found
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
        let loader = answer.loader_id.map(LoaderId::from);
        match answer.error_text {
            Some(_) if answer.is_download == Some(true) => Ok(None),
            Some(reason) if reason == "net::ERR_ABORTED" => {
                // Given up for another navigation, or ended without a document, as by a 204. Which one it was is known once the
                // browser has answered anything else.
                self.session.call(&page::GetNavigationHistory {}).await?;
                self.flush_events().await?;
                if self.state().newest == loader && is_opened_here(url) {
                    Ok(None)
                } else {
                    Err(navigation_failed(url, reason))
                }
            }
            Some(reason) => Err(navigation_failed(url, reason)),
            None => Ok(loader),
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

    async fn call(&self, frame: &FrameId, function: &str, argument: &Value) -> Result<String> {
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

    async fn evaluate_all(
        &self,
        frame: &FrameId,
        function: &str,
        elements: &[Handle],
    ) -> Result<Option<Value>> {
        self.evaluate_all_in_main(frame, function, elements).await
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
            Err(error) => Err(self.document_lost(error)),
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
        object
            .session()
            .call(&dom::SetFileInputFiles {
                files: files
                    .iter()
                    .map(|path| path.display().to_string())
                    .collect(),
                object_id: Some(object.id()),
                ..Default::default()
            })
            .await?;
        Ok(())
    }

    async fn set_interception(&self, on: bool) -> Result<()> {
        self.intercept(on).await
    }

    async fn add_init_script(&self, source: &str) -> Result<()> {
        self.own_script(source);
        self.tell_init_script(source).await
    }

    async fn set_extra_headers(&self, headers: &Headers) -> Result<()> {
        self.set_own_headers(headers);
        self.apply_extra_headers().await
    }

    async fn decide(&self, key: &str, verdict: Verdict) -> Result<()> {
        self.decide_about(key, verdict).await
    }

    async fn fetch(&self, key: &str, changes: Verdict) -> Result<Fetched> {
        self.fetch_for(key, changes).await
    }

    async fn answer_dialog(&self, accept: bool, prompt_text: Option<&str>) -> Result<()> {
        let session = self.state().dialog.take();
        // Without one the browser says that none is open.
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
        let Some(files) = files else {
            self.state().chooser = None;
            return Ok(());
        };
        let chooser = self.state().chooser.clone();
        let chooser = chooser.ok_or_else(|| Error::Protocol {
            method: "DOM.setFileInputFiles".to_owned(),
            message: "No file chooser is open".to_owned(),
        })?;
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
        // Until here it can be answered again; the page may have opened the next one.
        self.state()
            .chooser
            .take_if(|open| open.element == chooser.element);
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
        let asked = cdp::network::GetResponseBody {
            request_id: request.as_str().to_owned(),
        };
        let mut body = self.body_session(request).call(&asked).await;
        if let (Err(wire::Error::Protocol { .. }), Some(frame)) =
            (&body, self.navigated_by(request))
        {
            // The document went to another process than the one that asked for it.
            body = self.session_for(&frame)?.call(&asked).await;
        }
        let body = body?;
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

    fn stop_loading(&self) {
        drop(self.session.send(&page::StopLoading {}));
    }

    async fn answers(&self, frame: &FrameId) -> Result<()> {
        let session = self.session_for(frame)?;
        let asked = runtime::Evaluate {
            expression: "0".to_owned(),
            silent: Some(true),
            ..Default::default()
        };
        match session.call(&asked).await {
            // A document without scripts refuses, which is an answer.
            Ok(_) | Err(wire::Error::Protocol { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn halt(&self, frame: &FrameId) {
        if let Ok(session) = self.session_for(frame) {
            drop(session.send(&runtime::TerminateExecution {}));
        }
    }

    async fn halted(&self, frame: &FrameId) -> Result<()> {
        let halted = self.session_for(frame)?;
        match halted.call(&runtime::TerminateExecution {}).await {
            Ok(_) | Err(wire::Error::Protocol { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn stop_timers(&self, frame: &FrameId) {
        // In our world, where the functions are the browser's own.
        let Some(world) = self.worlds().isolated(frame) else {
            return;
        };
        if let Ok(session) = self.session_for(frame) {
            drop(session.send(&runtime::Evaluate {
                expression: STOP_TIMERS.to_owned(),
                unique_context_id: Some(world.unique.to_string()),
                silent: Some(true),
                ..Default::default()
            }));
        }
    }

    fn end_renderer(&self) {
        drop(self.session.send(&page::Crash {}));
        self.report(PageEvent::Crashed);
    }

    async fn flush(&self) -> Result<()> {
        self.flush_events().await
    }

    async fn activate(&self) -> Result<()> {
        self.session.call(&page::BringToFront {}).await?;
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        let closed = self
            .session
            .connection()
            .root()
            .call(&target::CloseTarget {
                target_id: self.id.as_str().to_owned(),
            })
            .await;
        match closed {
            // It does not find the page: that one is gone already.
            Err(wire::Error::Protocol { .. }) => Err(Error::PageClosed {}),
            other => Ok(other.map(drop)?),
        }
    }
}

/// With the URL as browsers write it.
fn navigation_failed(url: &str, reason: String) -> Error {
    let url = Url::parse(url).map_or_else(|_| url.to_owned(), String::from);
    Error::NavigationFailed { url, reason }
}

/// Whether the browser opens it itself, so that it can end without a document in good order; what other programs open it does not.
fn is_opened_here(url: &str) -> bool {
    let scheme = Url::parse(url).map(|url| url.scheme().to_owned());
    matches!(
        scheme.as_deref(),
        Ok("http" | "https" | "file" | "blob" | "data" | "chrome")
    )
}
