//! What every new page, frame process and worker is told before it may run.

use super::page::CdpPage;
use super::worlds::WORLD;
use crate::backend::{ContextOptions, FrameId, PageEvent, PageObserver};
use crate::error::Result;
use crate::task;
use std::sync::Arc;
use wire::cdp::{Command, emulation, fetch, log, network, page, runtime, target};
use wire::{EventStream, Reply, Session};

/// A page that is ready, and has not yet reported anything.
pub(super) struct Prepared {
    pub(super) page: Arc<CdpPage>,
    events: EventStream,
    tree: page::FrameTree,
}

/// Prepares a page and lets it run.
pub(super) async fn page(
    session: Session,
    target: &str,
    options: ContextOptions,
    user_agent: String,
    events: EventStream,
) -> Result<Prepared> {
    let page = Arc::new(CdpPage::new(session.clone(), target, options, user_agent));
    let tree = document(&page, &session).await?;
    Ok(Prepared { page, events, tree })
}

impl Prepared {
    /// Reports what is there already, then everything that happens.
    pub(super) fn listen(self, observer: Arc<dyn PageObserver>) {
        let Self { page, events, tree } = self;
        page.observed_by(observer);
        report_tree(&page, page.session(), &tree);
        let reader = task::spawn(
            "page events",
            super::events::listen(Arc::downgrade(&page), events),
        );
        // Set once, here.
        let _ = page.reader.set(reader);
    }
}

/// Tells a page or a frame's process everything in one go; the answer that matters is the frame tree.
async fn document(page: &CdpPage, session: &Session) -> Result<page::FrameTree> {
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
            // Makes the browser open our world with each document, so that nobody has to ask for it.
            source: String::new(),
            world_name: Some(WORLD.to_owned()),
            run_immediately: Some(true),
            ..Default::default()
        },
    );
    batch.send(session, &auto_attach());
    batch.send(
        session,
        &page::SetInterceptFileChooserDialog {
            enabled: true,
            ..Default::default()
        },
    );
    batch.send(
        session,
        &emulation::SetFocusEmulationEnabled { enabled: true },
    );
    let emulation = page.emulation();
    let is_page = session.id() == page.session().id();
    emulation.send(session, is_page, &mut batch);
    let options = page.options();
    for script in init_scripts(&options) {
        batch.send(
            session,
            &page::AddScriptToEvaluateOnNewDocument {
                source: script,
                ..Default::default()
            },
        );
    }
    if answers_authentication(&options) {
        batch.send(
            session,
            &fetch::Enable {
                handle_auth_requests: Some(true),
                ..Default::default()
            },
        );
    }
    let resumed = session.send(&runtime::RunIfWaitingForDebugger {});
    let tree = tree.await?;
    batch.done().await?;
    resumed.await?;
    Ok(tree.frame_tree)
}

/// A frame's process or a worker was attached below a page.
pub(super) fn child(page: &Arc<CdpPage>, parent: &Session, attached: target::AttachedToTarget) {
    let session = parent.connection().session(attached.session_id.as_str());
    page.child_attached(&session);
    match attached.target_info.kind.as_str() {
        "iframe" => {
            page.frame_moved(&FrameId::from(&attached.target_info.target_id), &session);
            let page = page.clone();
            task::spawn("frame setup", async move {
                match document(&page, &session).await {
                    Ok(tree) => report_tree(&page, &session, &tree),
                    Err(error) => tracing::debug!(%error, "a frame went before it was ready"),
                }
            })
            .detach();
        }
        "worker" => {
            // What a worker answers to these does not matter; it must only not wait.
            drop(session.send(&runtime::Enable {}));
            drop(session.send(&network::Enable::default()));
            drop(session.send(&auto_attach()));
            drop(session.send(&runtime::RunIfWaitingForDebugger {}));
        }
        _ => {
            drop(session.send(&runtime::RunIfWaitingForDebugger {}));
            drop(parent.send(&target::DetachFromTarget {
                session_id: Some(attached.session_id),
            }));
        }
    }
}

fn report_tree(page: &Arc<CdpPage>, session: &Session, tree: &page::FrameTree) {
    let frame = FrameId::from(&tree.frame.id);
    if let Some(parent) = &tree.frame.parent_id {
        let parent = FrameId::from(parent);
        page.frame_attached(frame.clone(), parent.clone(), session.clone());
        page.report(PageEvent::FrameAttached {
            frame: frame.clone(),
            parent,
        });
    }
    page.report(super::events::committed(&tree.frame));
    for child in tree.child_frames.iter().flatten() {
        report_tree(page, session, child);
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

fn init_scripts(options: &ContextOptions) -> Vec<String> {
    let mut scripts = options.init_scripts.clone();
    if options.block_service_workers {
        scripts.push(
            "if (navigator.serviceWorker) navigator.serviceWorker.register = async () => { console.warn('Service workers are blocked by Playhouse'); };"
                .to_owned(),
        );
    }
    scripts
}

pub(super) fn answers_authentication(options: &ContextOptions) -> bool {
    options.http_credentials.is_some()
        || options
            .proxy
            .as_ref()
            .is_some_and(|proxy| proxy.username.is_some())
}

/// Commands that go out together and whose success is all that matters.
#[derive(Default)]
pub(super) struct Batch(Vec<Reply<wire::cdp::Empty>>);

impl Batch {
    pub(super) fn send<C>(&mut self, session: &Session, command: &C)
    where
        C: Command,
        Reply<C::Response>: Acknowledgement,
    {
        session.send(command).put(self);
    }

    /// Waits for all answers. What this browser does not know is let pass: an older one lacks a command or two.
    pub(super) async fn done(self) -> Result<()> {
        for reply in self.0 {
            match reply.await {
                Ok(_) => {}
                Err(error @ wire::Error::Protocol { .. }) => {
                    tracing::debug!(%error, "not supported here")
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// An answer without content, or one whose content is not needed.
pub(super) trait Acknowledgement {
    fn put(self, batch: &mut Batch);
}

impl Acknowledgement for Reply<wire::cdp::Empty> {
    fn put(self, batch: &mut Batch) {
        batch.0.push(self);
    }
}

impl Acknowledgement for Reply<page::AddScriptToEvaluateOnNewDocumentResponse> {
    /// Its identifier is never used; order guarantees that it is in force.
    fn put(self, _batch: &mut Batch) {}
}
