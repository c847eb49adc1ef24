//! Annotations: the user marks areas and elements of the page and writes notes.

use crate::access::principal::Permission;
use crate::answers::notes;
use crate::answers::reply::{Image, Part, Reply, SnapshotRequest};
use crate::calls::Call;
use crate::config::Capability;
use crate::error::{Error, Result};
use crate::sessions::session::control::ANNOTATION_TIMEOUT;
use crate::tools::image_size;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::Annotations;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Annotate>()];

/// Have the user mark areas of the page and write notes; returns both.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Annotate {}

impl Tool for Annotate {
    const NAME: &'static str = "browser_annotate";
    const TITLE: &'static str = "Annotate the current page";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Devtools);
    const EXTRA_TIME: Duration = ANNOTATION_TIMEOUT;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        // At the dashboard, the user sees a page without a window too.
        let is_watched = tab.session.control().is_watched();
        if call.settings.browser.headless && !is_watched {
            return Err(Error::NoBrowserWindow {
                tool: call.tool.name,
            });
        }
        tab.page.activate(&call.action()).await?;
        call.set_status("waiting for the user to annotate the page");
        let progress = call.within(call.timeout_or(ANNOTATION_TIMEOUT));
        let _annotated = tab.session.control().begin_annotation(&tab.page);
        let annotated = tab.page.annotate(&progress).await;
        let annotations = match annotated {
            Ok(annotations) => annotations,
            Err(engine::Error::Timeout { .. }) => {
                return Ok(Reply::text(
                    "The user has submitted no annotations yet. Call browser_annotate again to go on waiting.",
                ));
            }
            Err(error) => return Err(error.into()),
        };
        match annotations {
            Some(annotations) => reply(&tab, call, annotations).await,
            None => Ok(Reply::text("Annotation cancelled.")),
        }
    }
}

/// Returns the notes with the screenshot and a snapshot, to whose refs the notes refer.
async fn reply(tab: &CurrentTab, call: &Call, annotations: Annotations) -> Result<Reply> {
    let Annotations {
        comment,
        marks,
        screenshot,
    } = annotations;
    if marks.is_empty() && comment.is_empty() {
        return Ok(Reply::text("No annotations were submitted."));
    }
    let files = tab.files(call).await;
    let file = files.automatic("annotations", "png").await?;
    files.write_bytes(&file, screenshot.clone()).await?;
    let size = image_size::size(&screenshot).unwrap_or_default();
    tab.record_screenshot(&files, &file, size, false);
    let mut reply = Reply::text("The user annotated the page:");
    for line in notes::lines(&comment, &marks) {
        reply = reply.and_text(line);
    }
    reply = reply.and(Part::File {
        title: "Annotation image".to_owned(),
        link: file.link,
    });
    reply.snapshot = SnapshotRequest::ForChanges;
    Ok(reply.and(Part::Image(Image {
        bytes: screenshot,
        mime_type: "image/png".to_owned(),
    })))
}
