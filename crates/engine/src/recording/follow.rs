//! The recorders of all documents of a browser context: they are started in each new document, and their reports are read.

use super::{Document, Record, Shared};
use crate::backend::{FrameId, PageEvent};
use crate::context::BrowserContext;
use crate::error::{Error, Result};
use crate::page::Page;
use crate::selector::Selector;
use futures_util::stream::{FuturesOrdered, FuturesUnordered};
use futures_util::{FutureExt as _, StreamExt as _};
use serde::Deserialize;
use serde_json::json;
use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How long a document waits for an action before it reports that there is none.
const WAIT: Duration = Duration::from_secs(10);
/// The number of simultaneous reads of a document: a document can navigate while an action is reported.
const READS: usize = 4;
/// How often a document is read where commands wait for promises.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How often is checked whether a document is read.
const READ_INTERVAL: Duration = Duration::from_millis(5);
/// How often a document that does not respond is tried again.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// How long the first document of a new page may take to report the actions of the last one.
const START_TIMEOUT: Duration = Duration::from_secs(1);

/// The report of a document.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    records: Vec<Record>,
    /// Whether the recorder was stopped.
    is_over: bool,
}

/// Returns a name that pages cannot guess.
pub(super) fn random_token() -> String {
    format!("{:016x}", RandomState::new().hash_one(()))
}

/// Records all pages until the recording is stopped. `known` are the pages that were open before.
pub(super) async fn run(
    context: BrowserContext,
    known: Vec<Page>,
    shared: Arc<Shared>,
    mut stopping: watch::Receiver<bool>,
) {
    let mut changes = context.changes();
    let mut followed: HashSet<_> = known.iter().map(|page| page.id().clone()).collect();
    let mut pages = FuturesUnordered::new();
    for page in known {
        pages.push(follow_page(page, false, shared.clone(), stopping.clone()));
    }
    loop {
        changes.mark_unchanged();
        if *stopping.borrow() {
            break;
        }
        for page in context.pages() {
            if followed.insert(page.id().clone()) {
                pages.push(follow_page(page, true, shared.clone(), stopping.clone()));
            }
        }
        tokio::select! {
            Some(()) = pages.next() => {}
            Ok(()) = changes.changed() => {}
            () = wait_for_stop(&mut stopping) => {}
        }
    }
    while pages.next().await.is_some() {}
}

/// Records a page until it is closed or the recording is stopped. `is_new` is true for a page that was opened during the recording.
async fn follow_page(
    page: Page,
    is_new: bool,
    shared: Arc<Shared>,
    mut stopping: watch::Receiver<bool>,
) {
    let mut events = page.events();
    if is_new {
        if page.backend.waits_for_promises() {
            // The action that opened the page may not have been read.
            tokio::time::sleep(4 * POLL_INTERVAL).await;
        }
        let opener = page.opener();
        shared.state().add_page(page.id(), opener.as_ref());
        let url = page.url();
        shared.state().add_document(page.id(), &url);
    }
    let mut changes = page.changes();
    let mut followed: HashSet<Document> = HashSet::new();
    let mut documents = FuturesUnordered::new();
    while !*stopping.borrow() {
        changes.mark_unchanged();
        let shown: HashSet<Document> = page
            .frames()
            .into_iter()
            .map(|frame| (frame.id, frame.document))
            .collect();
        followed.retain(|document| shown.contains(document));
        for document in shown {
            if followed.insert(document.clone()) {
                let followed = follow_document(&page, document, &shared, stopping.clone());
                documents.push(followed.boxed());
            }
        }
        tokio::select! {
            Some(()) = documents.next() => {}
            event = events.next() => match event {
                // Reports of documents that are on their way are recorded before.
                Some(event) => documents.push(on_event(&page, event, &shared).boxed()),
                None => break,
            },
            Ok(()) = changes.changed() => {}
            () = wait_for_stop(&mut stopping) => {}
        }
    }
    while documents.next().await.is_some() {}
}

async fn on_event(page: &Page, event: PageEvent, shared: &Shared) {
    match event {
        PageEvent::NavigationCommitted { frame, url, .. } if frame == page.main_frame() => {
            // The document may have the actions of the last one, which are the cause of the navigation.
            let started = start(page, &frame, &shared.token);
            let _ = tokio::time::timeout(START_TIMEOUT, started).await;
            let _ = tokio::time::timeout(START_TIMEOUT, take(page, &frame, &[], shared)).await;
            shared.state().add_document(page.id(), &url);
        }
        PageEvent::Closed => shared.state().close_page(page.id()),
        _ => {}
    }
}

/// Reads the reports of a document until it is replaced or its recorder is stopped.
async fn follow_document(
    page: &Page,
    (frame, document): Document,
    shared: &Shared,
    stopping: watch::Receiver<bool>,
) {
    loop {
        let read = read_document(page, &frame, shared, &stopping).await;
        if *stopping.borrow() {
            // The recorder may have been started after the others were stopped.
            return stop(page, &frame, shared).await;
        }
        match read {
            Ok(()) | Err(Error::DocumentGone {} | Error::PageClosed {}) => return,
            Err(error) => tracing::debug!(%error, "a document is not recorded"),
        }
        tokio::time::sleep(RETRY_INTERVAL).await;
        let is_shown = page
            .frames()
            .iter()
            .any(|shown| shown.id == frame && shown.document == document);
        if !is_shown {
            return;
        }
    }
}

/// Reads the reports of a document until its recorder is stopped.
async fn read_document(
    page: &Page,
    frame: &FrameId,
    shared: &Shared,
    stopping: &watch::Receiver<bool>,
) -> Result<()> {
    start(page, frame, &shared.token).await?;
    let owners = owners_of(page, frame).await?;
    if page.backend.waits_for_promises() {
        while !*stopping.borrow() && !take(page, frame, &owners, shared).await? {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        return Ok(());
    }
    let wait = u64::try_from(WAIT.as_millis()).unwrap_or(u64::MAX);
    let mut reads = FuturesOrdered::new();
    for _ in 0..READS {
        reads.push_back(read_report(page, frame, wait));
    }
    while let Some(report) = reads.next().await {
        if add(page, report?, &owners, shared) {
            return Ok(());
        }
        reads.push_back(read_report(page, frame, wait));
    }
    Ok(())
}

/// Waits until the recording is stopped or dropped.
async fn wait_for_stop(stopping: &mut watch::Receiver<bool>) {
    // The value is locked as long as its reference exists.
    drop(stopping.wait_for(|stopping| *stopping).await);
}

/// Starts the recorder in a document that has none, and records its actions so far.
pub(super) async fn prepare(page: &Page, frame: &FrameId, shared: &Shared) -> Result<()> {
    start(page, frame, &shared.token).await?;
    if page.backend.waits_for_promises() {
        let owners = owners_of(page, frame).await?;
        take(page, frame, &owners, shared).await?;
        return Ok(());
    }
    // Waits until the document is read.
    while start(page, frame, &shared.token).await? == 0 {
        tokio::time::sleep(READ_INTERVAL).await;
    }
    Ok(())
}

/// Starts the recorder in a document that has none. Returns the number of reads that wait for an action.
async fn start(page: &Page, frame: &FrameId, token: &str) -> Result<usize> {
    page.inject_devtools(frame).await?;
    let test_id = page.state().test_id.clone();
    let token = page.backend.waits_for_promises().then_some(token);
    let argument = json!({ "testIdAttribute": test_id.as_ref(), "token": token });
    page.call(frame, "startRecorder", &argument).await
}

/// Stops the recorder in a document and records the rest of its actions.
pub(super) async fn stop(page: &Page, frame: &FrameId, shared: &Shared) {
    let stopped = async {
        page.inject_devtools(frame).await?;
        let owners = owners_of(page, frame).await?;
        let report = page.call(frame, "stopRecorder", &json!({})).await?;
        add(page, report, &owners, shared);
        Ok::<_, Error>(())
    };
    if let Err(error) = stopped.await {
        tracing::debug!(%error, "a recorder is not stopped");
    }
}

/// Records the actions in a document so far; returns whether its recorder was stopped.
async fn take(page: &Page, frame: &FrameId, owners: &[Selector], shared: &Shared) -> Result<bool> {
    let report = read_report(page, frame, 0).await?;
    Ok(add(page, report, owners, shared))
}

async fn read_report(page: &Page, frame: &FrameId, wait: u64) -> Result<Report> {
    let argument = json!({ "wait": wait });
    page.call(frame, "takeRecords", &argument).await
}

fn add(page: &Page, report: Report, owners: &[Selector], shared: &Shared) -> bool {
    for record in report.records {
        let action = record.into_action(owners);
        shared.state().add_action(page.id(), action);
    }
    report.is_over
}

/// Returns the locators of the frame elements around a document, the outermost first.
async fn owners_of(page: &Page, frame: &FrameId) -> Result<Vec<Selector>> {
    let mut owners = Vec::new();
    let mut frame = frame.clone();
    while let Some((parent, handle)) = page.backend.frame_owner(&frame).await? {
        let owner = crate::locator::Element {
            page: page.clone(),
            frame: parent.clone(),
            handle,
            preview: String::new(),
        };
        let own = crate::locator::generate(std::slice::from_ref(&owner)).await?;
        let own = own.into_iter().flatten().next();
        owners.push(own.ok_or(Error::DocumentGone {})?);
        frame = parent;
    }
    owners.reverse();
    Ok(owners)
}
