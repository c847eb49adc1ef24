//! Dialogs and file choosers of a page.

use super::CdpPage;
use crate::backend::{Dialogs, FrameId, Handle, PageEvent};
use crate::error::{Error, Result};
use async_trait::async_trait;
use std::path::PathBuf;
use wire::Session;
use wire::cdp::{dom, page};

/// An open file chooser.
#[derive(Clone)]
pub(super) struct Chooser {
    pub(super) session: Session,
    element: Option<dom::BackendNodeId>,
}

impl CdpPage {
    pub(super) fn dialog_opened(&self, session: Session) {
        self.state().dialog = Some(session);
    }

    pub(super) fn chooser_opened(&self, session: Session, element: Option<dom::BackendNodeId>) {
        self.state().chooser = Some(Chooser { session, element });
    }
}

#[async_trait]
impl Dialogs for CdpPage {
    async fn answer_dialog(&self, accept: bool, prompt_text: Option<&str>) -> Result<()> {
        let session = self.state().dialog.take();
        // If none is open, the browser returns an error.
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
        let chooser = chooser
            .ok_or_else(|| Error::protocol("DOM.setFileInputFiles", "No file chooser is open"))?;
        let Some(element) = chooser.element else {
            self.state().chooser = None;
            self.report(PageEvent::FileChooserClosed);
            return Err(Error::ElementMismatch {
                selector: "showOpenFilePicker()".to_owned(),
                reason: "The page opened the file chooser with showOpenFilePicker(), to which no files can be given. It is closed now. Drop the files onto the page, or use a file input.".to_owned(),
            });
        };
        let files = self.files.stage(files).await?;
        chooser
            .session
            .call(&dom::SetFileInputFiles {
                files,
                backend_node_id: Some(element),
                ..Default::default()
            })
            .await?;
        // The chooser could be handled until here. Meanwhile the page may have opened the next one.
        self.state()
            .chooser
            .take_if(|open| open.element == chooser.element);
        Ok(())
    }

    async fn set_input_files(
        &self,
        frame: &FrameId,
        element: Handle,
        files: &[PathBuf],
    ) -> Result<()> {
        let files = self.files.stage(files).await?;
        let object = self.remote_element(frame, element).await?;
        object
            .session()
            .call(&dom::SetFileInputFiles {
                files,
                object_id: Some(object.id()),
                ..Default::default()
            })
            .await?;
        Ok(())
    }
}
