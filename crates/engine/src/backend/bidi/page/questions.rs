//! What a page asks of its user: dialogs, and files to choose.

use super::BidiPage;
use crate::backend::{FrameId, Handle, PageEvent};
use crate::error::{Error, Result};
use std::path::PathBuf;
use wire::bidi::browsing_context::HandleUserPrompt;
use wire::bidi::input::{FileDialogOpened, SetFiles};
use wire::bidi::script::SharedReference;

impl BidiPage {
    pub(in crate::backend::bidi) fn chooser_opened(&self, dialog: FileDialogOpened) {
        let element = dialog.element.and_then(|element| element.shared_id);
        let Some(shared_id) = element else { return };
        self.state().chooser = Some((dialog.context, SharedReference { shared_id }));
        self.report(PageEvent::FileChooserOpened {
            multiple: dialog.multiple,
        });
    }

    pub(super) async fn answer_open_dialog(
        &self,
        accept: bool,
        prompt_text: Option<&str>,
    ) -> Result<()> {
        self.root
            .call(&HandleUserPrompt {
                context: self.name(),
                accept,
                user_text: prompt_text.map(str::to_owned),
            })
            .await?;
        Ok(())
    }

    pub(super) async fn answer_open_chooser(&self, files: Option<&[PathBuf]>) -> Result<()> {
        let Some(files) = files else {
            self.state().chooser = None;
            return Ok(());
        };
        let chooser = self.state().chooser.clone();
        let (context, element) = chooser.ok_or_else(|| Error::Protocol {
            method: "input.setFiles".to_owned(),
            message: "No file chooser is open".to_owned(),
        })?;
        self.root
            .call(&SetFiles {
                context,
                element: element.clone(),
                files: paths(files),
            })
            .await?;
        // Until here it can be answered again; the page may have opened the next one.
        self.state().chooser.take_if(|(_, open)| *open == element);
        Ok(())
    }

    pub(super) async fn fill_file_input(
        &self,
        frame: &FrameId,
        element: Handle,
        files: &[PathBuf],
    ) -> Result<()> {
        let element = self.shared(frame, element).await?;
        self.root
            .call(&SetFiles {
                context: frame.as_str().to_owned(),
                element,
                files: paths(files),
            })
            .await?;
        Ok(())
    }
}

fn paths(files: &[PathBuf]) -> Vec<String> {
    let text = |path: &PathBuf| path.display().to_string();
    files.iter().map(text).collect()
}
