//! A Firefox: its contexts, and whose each event is.

use super::context::BidiContext;
use super::page::BidiPage;
use crate::backend::{
    BrowserBackend, Capabilities, ContextBackend, ContextObserver, ContextOptions, Feature,
    FrameId, creation,
};
use crate::error::Result;
use crate::launch::source::Source;
use crate::task::{self, Task};
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::watch;
use wire::bidi::{browser, browsing_context, network, session};
use wire::{Connection, EventStream, Session};

/// How long Firefox may take to close by itself before it is killed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// What we hear of.
const EVENTS: &[&str] = &[
    "browsingContext",
    "network",
    "log.entryAdded",
    "input.fileDialogOpened",
];

/// One Firefox that we started.
pub(crate) struct BidiBrowser {
    shared: Arc<Shared>,
    closed: watch::Receiver<Option<String>>,
    _events: Task,
}

/// What the event task shares with the browser and its contexts.
pub(super) struct Shared {
    pub(super) root: Session,
    product: String,
    pub(super) source: Source,
    state: Mutex<State>,
    /// The requests that stop by us; held while that changes.
    pub(super) intercept: tokio::sync::Mutex<Option<String>>,
}

#[derive(Default)]
struct State {
    by_id: HashMap<String, Arc<BidiContext>>,
    /// Whose frame it is.
    frames: HashMap<FrameId, Arc<BidiPage>>,
}

impl BidiBrowser {
    /// Shakes hands and begins to listen. `version` is the browser's if somebody has begun the session of this connection already. What
    /// `source` is ends with the browser.
    pub(crate) async fn start(
        connection: Connection,
        events: EventStream,
        version: Option<String>,
        source: Source,
    ) -> Result<Arc<dyn BrowserBackend>> {
        let root = connection.root();
        let version = match version {
            Some(version) => version,
            None => new_session(&root).await?,
        };
        let shared = Arc::new(Shared {
            root: root.clone(),
            product: format!("Firefox/{version}"),
            source,
            state: Mutex::default(),
            intercept: tokio::sync::Mutex::default(),
        });
        let browser = Self {
            closed: connection.closed(),
            _events: task::spawn(
                "browser events",
                super::events::listen(Arc::downgrade(&shared), events),
            ),
            shared,
        };
        root.call(&session::Subscribe {
            events: EVENTS.iter().map(|&event| event.to_owned()).collect(),
        })
        .await?;
        // Otherwise the browser asks its user, whom nobody sees.
        root.call(&network::AddIntercept {
            phases: vec![network::InterceptPhase::AuthRequired],
            contexts: None,
        })
        .await?;
        Ok(Arc::new(browser))
    }
}

/// Begins the session; the browser's version.
async fn new_session(root: &Session) -> Result<String> {
    let always_match = session::CapabilityRequest {
        unhandled_prompt_behavior: Some(user_prompt_handler()),
        ..Default::default()
    };
    let capabilities = session::Capabilities { always_match };
    let begun = root.call(&session::New { capabilities }).await?;
    Ok(begun.capabilities.browser_version)
}

/// Dialogs are for us to answer.
pub(crate) fn user_prompt_handler() -> session::UserPromptHandler {
    session::UserPromptHandler {
        default: Some(session::UserPromptHandlerType::Ignore),
        // It is told of all the same, and shows nothing.
        file: Some(session::UserPromptHandlerType::Dismiss),
    }
}

#[async_trait]
impl BrowserBackend for BidiBrowser {
    fn product(&self) -> &str {
        &self.shared.product
    }

    fn capabilities(&self) -> &'static Capabilities {
        match self.shared.source {
            Source::Started(_) => &super::CAPABILITIES,
            Source::Granted(_) | Source::Reached => &super::REMOTE,
        }
    }

    async fn new_context(
        &self,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Result<Arc<dyn ContextBackend>> {
        let create = browser::CreateUserContext {
            accept_insecure_certs: Some(options.ignore_https_errors),
            proxy: options.proxy.as_ref().map(|proxy| {
                // It is an egress.
                let address = proxy.server.trim_start_matches("http://");
                browser::Proxy::http(address)
            }),
            unhandled_prompt_behavior: None,
        };
        let (shared, options) = (self.shared.clone(), options.clone());
        let (context, undo) = creation::created(async move {
            let created = shared.root.call(&create).await?;
            let context = shared.context(&created.user_context, &options, observer);
            Ok(context)
        })
        .await?;
        context.prepare().await?;
        undo.disarm();
        Ok(context)
    }

    async fn default_context(
        &self,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Result<Arc<dyn ContextBackend>> {
        if options.ignore_https_errors {
            super::CAPABILITIES.require(Feature::IgnoreCertificatesInProfile)?;
        }
        let context = self.shared.context(browser::DEFAULT, options, observer);
        context.prepare().await?;
        let tree = self
            .shared
            .root
            .call(&browsing_context::GetTree::default())
            .await?;
        for page in tree.contexts {
            if page.user_context.as_deref() == Some(browser::DEFAULT) {
                self.shared.add_existing_page(&context, &page);
            }
        }
        Ok(context)
    }

    fn closed(&self) -> watch::Receiver<Option<String>> {
        self.closed.clone()
    }

    async fn close(&self) -> Result<()> {
        // A profile that goes with the browser has nothing to be written to.
        let grace = if self.shared.source.has_persistent_profile() {
            CLOSE_TIMEOUT
        } else {
            Duration::ZERO
        };
        let ask = async {
            let _ = self.shared.root.call(&browser::Close {}).await;
        };
        if !self.shared.source.end(grace, ask).await {
            // It is left as it is, without our contexts, and for others to take up.
            for context in self.shared.contexts() {
                let _ = context.close().await;
            }
            let _ = self.shared.root.call(&session::End {}).await;
        }
        self.shared.root.connection().close();
        Ok(())
    }
}

impl Shared {
    fn context(
        self: &Arc<Self>,
        id: &str,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Arc<BidiContext> {
        let context = BidiContext::new(self, id, options.clone(), observer);
        let mut state = self.state();
        state.by_id.insert(id.to_owned(), context.clone());
        context
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All contexts that somebody has.
    pub(super) fn contexts(&self) -> Vec<Arc<BidiContext>> {
        self.state().by_id.values().cloned().collect()
    }

    pub(super) fn context_of(&self, user_context: &str) -> Option<Arc<BidiContext>> {
        self.state().by_id.get(user_context).cloned()
    }

    /// The page that a frame, or the page itself, belongs to.
    pub(super) fn page_of(&self, context: &str) -> Option<Arc<BidiPage>> {
        self.state().frames.get(&FrameId::from(context)).cloned()
    }

    pub(super) fn insert_frame(&self, frame: FrameId, page: Arc<BidiPage>) {
        self.state().frames.insert(frame, page);
    }

    pub(super) fn remove_frame(&self, frame: &FrameId) {
        self.state().frames.remove(frame);
    }

    pub(super) fn remove_page(&self, gone: &BidiPage) {
        self.state()
            .frames
            .retain(|_, page| !std::ptr::eq(&**page, gone));
    }

    /// A context that is closed: nothing can happen in it any more.
    pub(super) fn forget(&self, context: &BidiContext) {
        self.state().by_id.remove(context.id());
    }

    /// A page that was there before us, with its frames.
    fn add_existing_page(&self, context: &Arc<BidiContext>, info: &browsing_context::Info) {
        if self.page_of(&info.context).is_some() {
            return;
        }
        context.on_page_created(self, info);
        let Some(page) = self.page_of(&info.context) else {
            return;
        };
        let mut next: Vec<_> = info.children.iter().flatten().collect();
        while let Some(frame) = next.pop() {
            self.insert_frame(FrameId::from(&frame.context), page.clone());
            page.frame_attached(frame, frame.parent.as_deref().unwrap_or(&info.context));
            next.extend(frame.children.iter().flatten());
        }
    }
}

/// Whoever listens holds no browser.
pub(super) fn upgrade(shared: &Weak<Shared>) -> Option<Arc<Shared>> {
    shared.upgrade()
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.root.connection().close();
    }
}
