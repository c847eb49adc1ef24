//! A Firefox with its contexts.

use super::context::BidiContext;
use super::interception::InterceptionSwitch;
use super::page_index::PageIndex;
use super::parts::ContextParts;
use super::windows::Windows;
use crate::backend::{
    BrowserBackend, Capabilities, ContextBackend, ContextObserver, ContextOptions, Feature,
    creation,
};
use crate::error::Result;
use crate::launch::source::{FileStager, Source};
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use task::{self, Task};
use tokio::sync::watch;
use wire::bidi::{browser, browsing_context, network, session};
use wire::{Connection, EventStream, Session};

mod downloads;
mod events;
mod requests;

/// The longest time in which Firefox may close by itself before it is killed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// The events to subscribe to.
const EVENTS: &[&str] = &[
    "browsingContext",
    "network",
    "log.entryAdded",
    "input.fileDialogOpened",
];

/// A Firefox that Playhouse started or is connected to.
pub(crate) struct BidiBrowser {
    shared: Arc<Shared>,
    closed: watch::Receiver<Option<String>>,
    _events: Task,
}

/// The state that the event task shares with the browser.
struct Shared {
    root: Session,
    product: String,
    source: Arc<Source>,
    contexts: Mutex<HashMap<String, Arc<BidiContext>>>,
    pages: Arc<PageIndex>,
    interception: Arc<InterceptionSwitch>,
    windows: Arc<Windows>,
}

impl BidiBrowser {
    /// Initializes the connection and starts to read events. `version` is that of the browser if the connection has a session already.
    /// `source` ends with the browser. `is_headless`: its windows are not visible.
    pub(crate) async fn start(
        connection: Connection,
        events: EventStream,
        version: Option<String>,
        source: Source,
        is_headless: bool,
    ) -> Result<Arc<dyn BrowserBackend>> {
        let root = connection.root();
        let version = match version {
            Some(version) => version,
            None => new_session(&root).await?,
        };
        // The tabs of a persistent profile are pages of its context.
        let reuses_windows = is_headless && !source.has_persistent_profile();
        let shared = Arc::new(Shared {
            root: root.clone(),
            product: format!("Firefox/{version}"),
            source: Arc::new(source),
            contexts: Mutex::default(),
            pages: Arc::default(),
            interception: Arc::new(InterceptionSwitch::new(root.clone())),
            windows: Arc::new(Windows::new(root.clone(), reuses_windows)),
        });
        let browser = Self {
            closed: connection.closed(),
            _events: task::spawn(
                "browser events",
                events::listen(Arc::downgrade(&shared), events),
            ),
            shared,
        };
        root.call(&session::Subscribe {
            events: EVENTS.iter().map(|&event| event.to_owned()).collect(),
        })
        .await?;
        // Otherwise the browser shows a dialog for credentials.
        root.call(&network::AddIntercept {
            phases: vec![network::InterceptPhase::AuthRequired],
            contexts: None,
        })
        .await?;
        Ok(Arc::new(browser))
    }
}

/// Creates the session. Returns the version of the browser.
async fn new_session(root: &Session) -> Result<String> {
    let always_match = session::CapabilityRequest {
        unhandled_prompt_behavior: Some(user_prompt_handler()),
        ..Default::default()
    };
    let capabilities = session::Capabilities { always_match };
    let begun = root.call(&session::New { capabilities }).await?;
    Ok(begun.capabilities.browser_version)
}

/// Returns the handler with which dialogs stay open until a command handles them.
pub(crate) fn user_prompt_handler() -> session::UserPromptHandler {
    session::UserPromptHandler {
        default: Some(session::UserPromptHandlerType::Ignore),
        // A dismissed file dialog is reported but not shown.
        file: Some(session::UserPromptHandlerType::Dismiss),
    }
}

#[async_trait]
impl BrowserBackend for BidiBrowser {
    fn product(&self) -> &str {
        &self.shared.product
    }

    fn capabilities(&self) -> &'static Capabilities {
        match *self.shared.source {
            Source::Started(_) => &super::CAPABILITIES,
            Source::Granted(_) | Source::Reached | Source::Extension => &super::REMOTE,
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
                // The proxy of a context is the egress proxy, which is an HTTP proxy.
                let address = proxy.server.trim_start_matches("http://");
                browser::Proxy::http(address)
            }),
            unhandled_prompt_behavior: None,
        };
        let (shared, options) = (self.shared.clone(), options.clone());
        let (context, undo) = creation::created(async move {
            let created = shared.root.call(&create).await?;
            let context = shared.new_context(&created.user_context, &options, observer);
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
        self.shared.windows.stop_reuse();
        let context = self.shared.new_context(browser::DEFAULT, options, observer);
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
        let grace = if self.shared.source.must_exit_cleanly() {
            CLOSE_TIMEOUT
        } else {
            Duration::ZERO
        };
        let request_close = async {
            let _ = self.shared.root.call(&browser::Close {}).await;
        };
        if !self.shared.source.end(grace, request_close).await {
            // A browser that Playhouse did not start remains open, without the contexts of Playhouse.
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
    fn new_context(
        self: &Arc<Self>,
        id: &str,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Arc<BidiContext> {
        let shared = Arc::downgrade(self);
        let on_closed = move |id: &str| {
            if let Some(shared) = shared.upgrade() {
                shared.contexts_by_id().remove(id);
            }
        };
        let parts = ContextParts::new(
            self.root.clone(),
            id,
            FileStager::new(&self.source),
            self.interception.clone(),
            self.windows.clone(),
        );
        let pages = self.pages.clone();
        let context =
            BidiContext::new(parts, pages, Box::new(on_closed), options.clone(), observer);
        self.contexts_by_id().insert(id.to_owned(), context.clone());
        context
    }

    fn contexts_by_id(&self) -> MutexGuard<'_, HashMap<String, Arc<BidiContext>>> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns all open contexts.
    fn contexts(&self) -> Vec<Arc<BidiContext>> {
        self.contexts_by_id().values().cloned().collect()
    }

    fn context(&self, user_context: &str) -> Option<Arc<BidiContext>> {
        self.contexts_by_id().get(user_context).cloned()
    }

    /// Adds a page that existed before, with its frames.
    fn add_existing_page(&self, context: &Arc<BidiContext>, info: &browsing_context::Info) {
        if self.pages.get(&info.context).is_some() {
            return;
        }
        context.on_page_created(info);
        let Some(page) = self.pages.get(&info.context) else {
            return;
        };
        let mut next: Vec<_> = info.children.iter().flatten().collect();
        while let Some(frame) = next.pop() {
            self.pages.insert(&frame.context, page.clone());
            page.frame_attached(frame, frame.parent.as_deref().unwrap_or(&info.context));
            next.extend(frame.children.iter().flatten());
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.root.connection().close();
    }
}
