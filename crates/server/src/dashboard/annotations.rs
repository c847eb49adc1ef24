//! Annotations that the user begins: the next answer of the session contains them.

use super::Dashboard;
use crate::answers::notes;
use crate::answers::reply::Event;
use crate::error::Result;
use crate::sessions::session::Session;
use crate::sessions::session::control::ANNOTATION_TIMEOUT;
use engine::{Annotations, Page, Progress};
use std::sync::{Arc, MutexGuard, PoisonError};
use task::Task;

impl Dashboard {
    /// Shows the user tools to mark the shown page, which the user has taken over, until they submit or cancel.
    pub(super) async fn annotate(&self) -> Result<()> {
        let owned = self.selected()?;
        let page = self.page_for_input(&owned)?;
        self.record("dashboard/annotate", &owned).await?;
        let session = owned.session;
        let task = task::spawn("annotations of the user", async move {
            let annotated = session.control().begin_annotation(&page);
            let outcome = annotate(&session, &page).await;
            drop(annotated);
            if let Err(error) = outcome {
                tracing::warn!(%error, "the page was not annotated");
            }
        });
        *self.annotation() = Some(task);
        Ok(())
    }

    /// Removes the tools from the page.
    pub(super) fn stop_annotation(&self) {
        let task = self.annotation().take();
        drop(task);
    }

    fn annotation(&self) -> MutexGuard<'_, Option<Task>> {
        self.annotation
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

async fn annotate(session: &Arc<Session>, page: &Page) -> Result<()> {
    let annotated = page.annotate(&Progress::new(ANNOTATION_TIMEOUT)).await?;
    let Some(Annotations {
        comment,
        marks,
        screenshot,
    }) = annotated
    else {
        return Ok(());
    };
    let notes = notes::lines(&comment, &marks);
    if notes.is_empty() {
        return Ok(());
    }
    let active = session.context_or_active(None)?;
    let image = match active.known_output() {
        Some(output) => {
            let file = output.automatic("annotations", "png").await?;
            output.write_bytes(&file, screenshot).await?;
            Some(file.link)
        }
        None => None,
    };
    active.report_event(Event::UserAnnotated { notes, image });
    Ok(())
}
