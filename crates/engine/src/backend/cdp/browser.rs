//! A Chromium with its contexts and targets.

use super::context::{CdpContext, Host};
use super::{origins, proxy_bypass_list, targets};
use crate::backend::{
    BrowserBackend, Capabilities, ContextBackend, ContextObserver, ContextOptions, DownloadEvent,
    Feature, WorkerKind, creation,
};
use crate::error::Result;
use crate::launch::source::{FileStager, Source};
use crate::origins::OriginRules;
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use task::{self, Task};
use tokio::sync::watch;
use wire::cdp::{browser, fetch, runtime, target};
use wire::{Connection, EventStream, RawEvent, Session};

/// The longest time in which Chromium may close by itself before it is killed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// A Chromium that Playhouse started or is connected to.
pub(crate) struct CdpBrowser {
    shared: Arc<Shared>,
    closed: watch::Receiver<Option<String>>,
    _events: Task,
}

/// The state that the event task shares with the browser.
pub(super) struct Shared {
    root: Session,
    product: String,
    user_agent: String,
    source: Arc<Source>,
    contexts: Mutex<Contexts>,
}

#[derive(Default)]
struct Contexts {
    by_id: HashMap<String, Arc<CdpContext>>,
    /// The default context, once it is used.
    default: Option<Arc<CdpContext>>,
    /// The identifier of the default context, if the browser reports it.
    default_id: Option<String>,
    /// The contexts of the downloads in progress.
    downloads: HashMap<String, Arc<CdpContext>>,
}

impl CdpBrowser {
    /// Initializes the connection and starts to read events. `source` ends with the browser.
    pub(crate) async fn start(
        connection: Connection,
        events: EventStream,
        source: Source,
    ) -> Result<Arc<dyn BrowserBackend>> {
        let root = connection.root();
        let version = root.call(&browser::GetVersion {}).await?;
        let closed = connection.closed();
        let shared = Arc::new(Shared {
            root: root.clone(),
            product: version.product,
            user_agent: version.user_agent,
            source: Arc::new(source),
            contexts: Mutex::default(),
        });
        let listening = listen(Arc::downgrade(&shared), events);
        let browser = Self {
            shared,
            closed,
            _events: task::spawn("browser events", listening),
        };
        root.call(&target::SetAutoAttach {
            auto_attach: true,
            // Otherwise a popup would run before it is prepared. All targets are resumed.
            wait_for_debugger_on_start: true,
            flatten: Some(true),
            filter: Some(target_filter()),
        })
        .await?;
        Ok(Arc::new(browser))
    }
}

/// Returns the filter for pages and workers, without windows and popups of the browser itself.
fn target_filter() -> target::TargetFilter {
    let excluded = ["browser", "tab", "browser_ui", "webview", "other"];
    let mut filter: Vec<_> = excluded
        .iter()
        .map(|kind| target::FilterEntry {
            exclude: Some(true),
            kind: Some((*kind).to_owned()),
        })
        .collect();
    filter.push(target::FilterEntry::default());
    filter
}

/// Returns the kind of a worker that belongs to a context and not to a page.
fn worker_kind(target: &str) -> Option<WorkerKind> {
    match target {
        "shared_worker" => Some(WorkerKind::Shared),
        "service_worker" => Some(WorkerKind::Service),
        _ => None,
    }
}

#[async_trait]
impl BrowserBackend for CdpBrowser {
    fn product(&self) -> &str {
        &self.shared.product
    }

    fn capabilities(&self) -> &'static Capabilities {
        self.shared.capabilities()
    }

    async fn new_context(
        &self,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Result<Arc<dyn ContextBackend>> {
        self.capabilities().require(Feature::IsolatedContext)?;
        let create = target::CreateBrowserContext {
            dispose_on_detach: Some(true),
            proxy_server: options.proxy.as_ref().map(|proxy| proxy.server.clone()),
            proxy_bypass_list: options.proxy.as_ref().map(proxy_bypass_list),
            ..Default::default()
        };
        let (shared, options) = (self.shared.clone(), options.clone());
        let (context, undo) = creation::created(async move {
            let id = shared.root.call(&create).await?.browser_context_id;
            let context = shared.context(Some(id.clone()), &options, observer);
            shared.contexts().by_id.insert(id, context.clone());
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
        let options = ContextOptions {
            is_anothers: matches!(*self.shared.source, Source::Reached | Source::Extension),
            ..options.clone()
        };
        self.capabilities().require_if(
            options.ignore_https_errors,
            Feature::IgnoreCertificatesInProfile,
        )?;
        let context = self.shared.context(None, &options, observer);
        let response = self
            .shared
            .root
            .call(&target::GetBrowserContexts {})
            .await?;
        {
            let mut contexts = self.shared.contexts();
            contexts.default = Some(context.clone());
            contexts.default_id = response.default_browser_context_id;
        }
        context.prepare().await?;
        // Pages and workers that existed before are attached again, and so reported.
        let targets = self
            .shared
            .root
            .call(&target::GetTargets::default())
            .await?;
        // A page whose automatic attachment was not handled yet would be attached to twice.
        self.shared.root.flush().await?;
        let mut attached = Vec::new();
        for info in targets.target_infos {
            let is_own = self.shared.contexts().owner(&info).is_some();
            let is_page = info.kind == "page" && !context.has_page(&info.target_id);
            let is_worker =
                worker_kind(&info.kind).is_some() && !context.has_worker(&info.target_id);
            if is_own && (is_page || is_worker) {
                attached.push(self.shared.root.send(&target::AttachToTarget {
                    target_id: info.target_id,
                    flatten: Some(true),
                }));
            }
        }
        for attached in futures_util::future::join_all(attached).await {
            // The page may have been closed meanwhile.
            if let Err(error) = attached {
                tracing::debug!(%error, "a page cannot be attached to");
            }
        }
        // The pages are being prepared once their events were handled.
        self.shared.root.flush().await?;
        context.settle_pages().await;
        Ok(context)
    }

    fn closed(&self) -> watch::Receiver<Option<String>> {
        self.closed.clone()
    }

    async fn close(&self) -> Result<()> {
        let request_close = async {
            let _ = self.shared.root.call(&browser::Close {}).await;
        };
        if !self.shared.source.end(CLOSE_TIMEOUT, request_close).await {
            // A browser that Playhouse did not start remains open, without the contexts of Playhouse.
            let contexts: Vec<_> = self.shared.contexts().by_id.values().cloned().collect();
            for context in contexts {
                // The connection may be closed.
                let _ = context.close().await;
            }
        }
        self.shared.root.connection().close();
        Ok(())
    }
}

impl Shared {
    fn capabilities(&self) -> &'static Capabilities {
        match *self.source {
            Source::Started(_) => &super::CAPABILITIES,
            Source::Granted(_) | Source::Reached => &super::REMOTE,
            Source::Extension => &super::EXTENSION,
        }
    }

    fn context(
        self: &Arc<Self>,
        id: Option<String>,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Arc<CdpContext> {
        let shared = Arc::downgrade(self);
        let on_closed = move |context: &CdpContext| {
            if let Some(shared) = shared.upgrade() {
                shared.contexts().remove(context);
            }
        };
        CdpContext::new(
            Host {
                root: self.root.clone(),
                files: FileStager::new(&self.source),
                user_agent: self.user_agent.clone(),
                capabilities: self.capabilities(),
            },
            Box::new(on_closed),
            id,
            options.clone(),
            observer,
        )
    }

    fn contexts(&self) -> MutexGuard<'_, Contexts> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn on(&self, event: &RawEvent) {
        if let Some(Ok(attached)) = event.parse::<target::AttachedToTarget>() {
            self.on_target_attached(attached);
        } else if let Some(Ok(detached)) = event.parse::<target::DetachedFromTarget>() {
            for context in self.contexts().all() {
                context.page_detached(&detached.session_id);
                context.worker_detached(&detached.session_id);
            }
        } else if let Some(Ok(crashed)) = event.parse::<target::TargetCrashed>() {
            for context in self.contexts().all() {
                context.page_crashed(&crashed.target_id);
            }
        } else if let Some(Ok(paused)) = event.parse::<fetch::RequestPaused>() {
            let rules = self.contexts().rules();
            origins::decide(&self.root, &rules, paused);
        } else if let Some(Ok(download)) = event.parse::<browser::DownloadWillBegin>() {
            self.on_download_will_begin(download);
        } else if let Some(Ok(progress)) = event.parse::<browser::DownloadProgress>() {
            self.on_download_progress(&progress);
        }
    }

    fn on_target_attached(&self, attached: target::AttachedToTarget) {
        let session = self.root.connection().session(attached.session_id.as_str());
        let owner = self.contexts().owner(&attached.target_info);
        let kind = attached.target_info.kind.clone();
        match owner {
            Some(context) if kind == "page" => {
                let new = attached.waiting_for_debugger;
                context.page_attached(session, attached.target_info, new);
            }
            owner => {
                for rules in self.contexts().rules() {
                    targets::guard(&session, &rules);
                }
                if let (Some(context), Some(kind)) = (owner, worker_kind(&kind)) {
                    return context.worker_attached(session, attached.target_info, kind);
                }
                tracing::debug!(
                    kind,
                    url = attached.target_info.url,
                    "a target that is not driven"
                );
                // A target that is not used waits for the debugger. The events of a worker would only fill a queue. A page has no events without
                // enabled domains, and detaching from it would reset the media type that its owner emulates.
                match &*kind {
                    "page" => session.post(&runtime::RunIfWaitingForDebugger {}),
                    _ => targets::detach_target(session, &self.root, attached.session_id),
                }
            }
        }
    }

    fn on_download_will_begin(&self, download: browser::DownloadWillBegin) {
        let mut contexts = self.contexts();
        let all = contexts.all();
        let (context, page) = match all
            .iter()
            .find_map(|context| Some((context, context.page_of_frame(&download.frame_id)?)))
        {
            Some((context, page)) => (context.clone(), Some(page)),
            // The page of the download was closed at once. If there is only one context, it belongs to that one.
            None => match all.as_slice() {
                [only] => (only.clone(), None),
                _ => return,
            },
        };
        contexts
            .downloads
            .insert(download.guid.clone(), context.clone());
        drop(contexts);
        context.observer().download(DownloadEvent::Started {
            id: download.guid,
            page,
            url: download.url,
            suggested_name: download.suggested_filename,
        });
    }

    fn on_download_progress(&self, progress: &browser::DownloadProgress) {
        let event = |context: &CdpContext| match progress.state {
            browser::DownloadState::Completed => Some(DownloadEvent::Finished {
                id: progress.guid.clone(),
                path: match &progress.file_path {
                    Some(path) => path.into(),
                    None => context.downloads()?.join(&progress.guid),
                },
            }),
            browser::DownloadState::Canceled => Some(DownloadEvent::Failed {
                id: progress.guid.clone(),
                reason: "canceled".to_owned(),
            }),
            _ => None,
        };
        let context = self.contexts().downloads.get(&progress.guid).cloned();
        if let Some(context) = context
            && let Some(event) = event(&context)
        {
            self.contexts().downloads.remove(&progress.guid);
            context.observer().download(event);
        }
    }
}

impl Contexts {
    fn all(&self) -> Vec<Arc<CdpContext>> {
        self.by_id.values().chain(&self.default).cloned().collect()
    }

    /// Removes a context that was closed.
    fn remove(&mut self, context: &CdpContext) {
        let is_context = |other: &Arc<CdpContext>| std::ptr::eq(&**other, context);
        self.by_id.retain(|_, other| !is_context(other));
        self.downloads.retain(|_, other| !is_context(other));
        self.default.take_if(|other| is_context(other));
    }

    /// Returns the rules about origins of all contexts.
    fn rules(&self) -> Vec<OriginRules> {
        let rules = self.all().into_iter().filter_map(|context| context.rules());
        rules.collect()
    }

    /// Returns the context of a target. Targets of other clients have none.
    fn owner(&self, info: &target::TargetInfo) -> Option<Arc<CdpContext>> {
        let id = info.browser_context_id.as_ref();
        if let Some(context) = id.and_then(|id| self.by_id.get(id)) {
            return Some(context.clone());
        }
        let is_default =
            self.default_id.is_none() || id.is_none() || id == self.default_id.as_ref();
        self.default.clone().filter(|_| is_default)
    }
}

async fn listen(shared: Weak<Shared>, mut events: EventStream) {
    while let Some(event) = events.next().await {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        shared.on(&event);
    }
    let Some(shared) = shared.upgrade() else {
        return;
    };
    for context in shared.contexts().all() {
        context.on_browser_closed();
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.root.connection().close();
    }
}
