//! The preparation of new pages, frame processes and workers before they run.

use super::worlds::WORLD;
use super::{CdpPage, Child, ContextParts};
use crate::backend::cdp::targets::{detach_target, guard};
use crate::backend::guard::guard as guard_script;
use crate::backend::{FrameId, LoaderId, PageEvent, RunningWorker, WorkerKind};
use crate::error::{Error, Result};
use crate::injected::VITALS;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use wire::cdp::{Command, Empty, emulation, log, network, page, runtime, target};
use wire::{EventStream, Reply, Session};

/// Part of the error message for an override that another page of the same process has set. There is no code for the error.
const OVERRIDDEN: &str = "already in effect";
/// Passes the events of a pressed button to the injected script, if it is present, before listeners of the page are called.
const INTERCEPT: &str = "for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'])
  addEventListener(type, (event) => globalThis.__playhouseCore?.intercept(event), true)";

/// A page that is ready and has not reported an event.
pub(crate) struct Prepared {
    pub(crate) page: Arc<CdpPage>,
    pub(super) events: EventStream,
    pub(super) tree: page::FrameTree,
}

/// Prepares a page and lets it run.
pub(crate) async fn page(
    session: Session,
    target: &str,
    parts: ContextParts,
    events: EventStream,
) -> Result<Prepared> {
    let page = Arc::new(CdpPage::new(session.clone(), target, parts, None));
    let tree = PendingSetup::document(&page, &session).answer().await?;
    Ok(Prepared { page, events, tree })
}

/// A requested frame tree; `None` if the page or frame was closed before the response.
pub(super) type PendingDocument = BoxFuture<'static, Option<AttachedDocument>>;

/// The documents that a session reports when it is attached.
pub(super) struct AttachedDocument {
    pub(super) session: Session,
    pub(super) tree: page::FrameTree,
    /// Whether the document comes from the back/forward cache.
    pub(super) restored: bool,
}

/// The pending commands that prepare a page or a frame process, and the request for its frame tree.
struct PendingSetup {
    tree: Reply<page::GetFrameTreeResponse>,
    commands: Batch,
    resumed: Reply<Empty>,
}

impl PendingSetup {
    fn document(page: &CdpPage, session: &Session) -> Self {
        let mut batch = Batch::default();
        batch.send(session, &page::Enable::default());
        let tree = session.send(&page::GetFrameTree {});
        batch.send(session, &page::SetLifecycleEventsEnabled { enabled: true });
        batch.send(session, &runtime::Enable {});
        batch.send(session, &log::Enable {});
        batch.send(session, &network::Enable::default());
        batch.send(
            session,
            &page::AddScriptToEvaluateOnNewDocument {
                // The browser creates the isolated world with each document.
                source: INTERCEPT.to_owned(),
                world_name: Some(WORLD.to_owned()),
                run_immediately: Some(true),
                ..Default::default()
            },
        );
        if page.options().observe_vitals {
            batch.send(
                session,
                &page::AddScriptToEvaluateOnNewDocument {
                    source: VITALS.script.to_owned(),
                    world_name: Some(WORLD.to_owned()),
                    ..Default::default()
                },
            );
        }
        batch.send(session, &auto_attach());
        batch.send(
            session,
            &page::SetInterceptFileChooserDialog {
                enabled: true,
                ..Default::default()
            },
        );
        let facts = page.emulation();
        if !facts.options.is_anothers {
            batch.send(
                session,
                &emulation::SetFocusEmulationEnabled { enabled: true },
            );
        }
        let is_page = session.id() == page.session.id();
        facts.send(session, is_page, &mut batch);
        let options = page.options();
        let guard = (!options.origins.is_empty()).then(|| guard_script(&options.origins));
        let scripts = options.all_init_scripts().map(str::to_owned);
        if let Some(source) = options.timers_script() {
            batch.send(
                session,
                &page::AddScriptToEvaluateOnNewDocument {
                    source,
                    // The first document of a page is there already.
                    run_immediately: (!options.is_anothers).then_some(true),
                    ..Default::default()
                },
            );
        }
        for source in guard.into_iter().chain(scripts) {
            batch.send(
                session,
                &page::AddScriptToEvaluateOnNewDocument {
                    source,
                    ..Default::default()
                },
            );
        }
        if let Some(enable) = page.interception() {
            batch.send(session, &enable);
        }
        let resumed = session.send(&runtime::RunIfWaitingForDebugger {});
        Self {
            tree,
            commands: batch,
            resumed,
        }
    }

    async fn answer(self) -> Result<page::FrameTree> {
        let tree = self.tree.await?;
        self.commands.done().await?;
        self.resumed.await?;
        Ok(tree.frame_tree)
    }
}

/// Prepares a frame process or a worker of a page. Returns the request for the frame tree of a frame.
pub(super) fn child(
    page: &Arc<CdpPage>,
    parent: &Session,
    attached: target::AttachedToTarget,
) -> Option<PendingDocument> {
    let session = parent.connection().session(attached.session_id.as_str());
    let child = |worker| Child {
        session: session.clone(),
        worker,
    };
    match attached.target_info.kind.as_str() {
        "iframe" => {
            page.child_attached(child(None));
            page.set_frame_session(&FrameId::from(&attached.target_info.target_id), &session);
            // Only the tree is awaited, so that it is reported before later events.
            let PendingSetup { tree, .. } = PendingSetup::document(page, &session);
            let parent = attached.target_info.parent_frame_id;
            Some(Box::pin(async move {
                let mut tree = tree
                    .await
                    .inspect_err(
                        |error| tracing::debug!(%error, "a frame went before it was ready"),
                    )
                    .ok()?
                    .frame_tree;
                // The process of the frame does not have the parent frame.
                tree.frame.parent_id = tree.frame.parent_id.or(parent);
                Some(AttachedDocument {
                    session,
                    tree,
                    restored: false,
                })
            }))
        }
        "worker" => {
            page.child_attached(child(Some(RunningWorker {
                id: attached.target_info.target_id.into(),
                kind: WorkerKind::Dedicated,
                url: attached.target_info.url.into(),
            })));
            worker(page, session);
            None
        }
        _ => {
            detach_target(session, parent, attached.session_id);
            None
        }
    }
}

/// Prepares a worker before it runs.
pub(super) fn worker(page: &Arc<CdpPage>, session: Session) {
    let mut batch = Batch::default();
    batch.send(&session, &runtime::Enable {});
    batch.send(&session, &network::Enable::default());
    guard(&session, &page.options().origins);
    page.emulation().send_to_worker(&session, &mut batch);
    if let Some(enable) = page.interception() {
        batch.send(&session, &enable);
    }
    let held = session.send(&auto_attach());
    task::spawn("a worker's start", async move {
        // If both commands were sent at once, the worker could run before its own workers are held. The worker must be resumed whatever
        // the result.
        let _ = held.await;
        session.post(&runtime::RunIfWaitingForDebugger {});
        // The results of a worker are not needed.
        drop(batch.done().await);
    })
    .detach();
}

/// Requests the frame tree of a document from the back/forward cache.
pub(super) fn load_restored_frames(session: &Session) -> PendingDocument {
    let session = session.clone();
    Box::pin(async move {
        let tree = session.call(&page::GetFrameTree {}).await.ok()?;
        Some(AttachedDocument {
            session,
            tree: tree.frame_tree,
            restored: true,
        })
    })
}

/// Reports the frames and documents that no event has reported.
pub(super) fn report(page: &CdpPage, document: &AttachedDocument) {
    report_tree(page, document, &document.tree);
}

fn report_tree(page: &CdpPage, document: &AttachedDocument, tree: &page::FrameTree) {
    let frame = FrameId::from(&tree.frame.id);
    if let Some(parent) = &tree.frame.parent_id
        && !page.has_frame(&tree.frame.id)
    {
        let parent = FrameId::from(parent);
        page.frame_attached(frame.clone(), parent.clone(), document.session.clone());
        page.report(PageEvent::FrameAttached {
            frame: frame.clone(),
            parent,
        });
    }
    // The commit of the restored document was reported by its event.
    let is_reported = page.has_reported_document(&frame, &document.session)
        || document.restored && tree.frame.id == document.tree.frame.id;
    if !is_reported {
        page.set_frame_document(&frame, &document.session);
        page.report(committed(&tree.frame));
    }
    if document.restored {
        let loader = LoaderId::from(&tree.frame.loader_id);
        page.report(PageEvent::Load { frame, loader });
    }
    for child in tree.child_frames.iter().flatten() {
        report_tree(page, document, child);
    }
}

/// Converts a document of a frame tree or a commit to an event.
pub(super) fn committed(frame: &page::Frame) -> PageEvent {
    PageEvent::NavigationCommitted {
        frame: frame.id.as_str().into(),
        loader: frame.loader_id.as_str().into(),
        url: frame.url.clone() + frame.url_fragment.as_deref().unwrap_or_default(),
        name: frame.name.clone().unwrap_or_default(),
        failed: frame.unreachable_url.clone(),
    }
}

fn auto_attach() -> target::SetAutoAttach {
    target::SetAutoAttach {
        auto_attach: true,
        wait_for_debugger_on_start: true,
        flatten: Some(true),
        ..Default::default()
    }
}

/// Commands that are sent together and must succeed.
#[derive(Default)]
pub(super) struct Batch {
    sent: Vec<Reply<Empty>>,
    /// Commands with the option that each applies.
    demanded: Vec<(&'static str, Reply<Empty>)>,
}

impl Batch {
    pub(super) fn send<C>(&mut self, session: &Session, command: &C)
    where
        C: Command,
        Reply<C::Response>: Acknowledgement,
    {
        session.send(command).put(self);
    }

    /// Adds a command whose value comes from the caller. On failure, the error names the option.
    pub(super) fn send_required(
        &mut self,
        session: &Session,
        option: &'static str,
        command: &impl Command<Response = Empty>,
    ) {
        self.demanded.push((option, session.send(command)));
    }

    /// Waits for all results. Errors of unknown commands are ignored, because older browsers lack a few.
    pub(super) async fn done(self) -> Result<()> {
        for reply in self.sent {
            check_accepted(reply.await)?;
        }
        for (option, reply) in self.demanded {
            match reply.await {
                Err(wire::Error::Protocol { message, .. }) if !message.contains(OVERRIDDEN) => {
                    return Err(Error::InvalidOption { option, message });
                }
                other => check_accepted(other)?,
            }
        }
        Ok(())
    }
}

fn check_accepted(answer: wire::Result<Empty>) -> Result<()> {
    match answer {
        Ok(_) => Ok(()),
        Err(error @ wire::Error::Protocol { .. }) => {
            tracing::debug!(%error, "not supported here");
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

/// A result without content, or one whose content is not needed.
pub(super) trait Acknowledgement {
    fn put(self, batch: &mut Batch);
}

impl Acknowledgement for Reply<Empty> {
    fn put(self, batch: &mut Batch) {
        batch.sent.push(self);
    }
}

impl Acknowledgement for Reply<page::AddScriptToEvaluateOnNewDocumentResponse> {
    /// The identifier is not needed: commands take effect in order.
    fn put(self, _batch: &mut Batch) {}
}
