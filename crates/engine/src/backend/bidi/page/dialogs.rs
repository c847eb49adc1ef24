//! Dialogs and file choosers of a page.

use super::BidiPage;
use super::evaluation::sandbox_target;
use crate::backend::bidi::CAPABILITIES;
use crate::backend::{Dialogs, FrameId, Handle, PageEvent};
use crate::error::{Error, Result};
use async_trait::async_trait;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use wire::bidi::browsing_context::HandleUserPrompt;
use wire::bidi::input::{FileDialogOpened, SetFiles};
use wire::bidi::script::{CallFunction, LocalValue, SharedReference};

/// Waits for a click that opens a file chooser, and returns whether the input accepts several files.
const NEXT_CLICK: &str = include_str!("dialogs.js");

impl BidiPage {
    pub(crate) fn chooser_opened(self: &Arc<Self>, dialog: FileDialogOpened) {
        let element = dialog.element.and_then(|element| element.shared_id);
        let Some(shared_id) = element else { return };
        let element = SharedReference { shared_id };
        self.set_open_chooser(&dialog.context, &element, dialog.multiple);
        let again = report_next_click(Arc::downgrade(self), dialog.context, element);
        task::spawn("file field", again).detach();
    }

    fn set_open_chooser(&self, context: &str, element: &SharedReference, multiple: bool) {
        self.state().chooser = Some((context.to_owned(), element.clone()));
        self.report(PageEvent::FileChooserOpened { multiple });
    }

    /// Waits until the file chooser of an input is opened again. Returns `None` if its document is replaced.
    async fn next_click(&self, context: &str, field: &SharedReference) -> Option<bool> {
        let frame = FrameId::from(context);
        let document = self.document_of(&frame).ok()?;
        let call = self.root().send(&CallFunction {
            function_declaration: NEXT_CLICK.to_owned(),
            await_promise: true,
            target: sandbox_target(&frame),
            arguments: vec![LocalValue::Reference(field.clone())],
            user_activation: None,
            serialization_options: None,
        });
        tokio::select! {
            answer = call => answer.ok()?.result.decode(),
            _ = self.document_replaced(&frame, document) => None,
        }
    }
}

#[async_trait]
impl Dialogs for BidiPage {
    async fn answer_dialog(&self, accept: bool, prompt_text: Option<&str>) -> Result<()> {
        self.root()
            .call(&HandleUserPrompt {
                context: self.name(),
                accept,
                user_text: prompt_text.map(str::to_owned),
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
        let (context, element) =
            chooser.ok_or_else(|| Error::protocol("input.setFiles", "No file chooser is open"))?;
        CAPABILITIES.require_for_files(files)?;
        let files = self.parts.files.stage(files).await?;
        self.root()
            .call(&SetFiles {
                context,
                element: element.clone(),
                files,
            })
            .await?;
        // The chooser could be handled until here. Meanwhile the page may have opened the next one.
        self.state().chooser.take_if(|(_, open)| *open == element);
        Ok(())
    }

    async fn set_input_files(
        &self,
        frame: &FrameId,
        element: Handle,
        files: &[PathBuf],
    ) -> Result<()> {
        CAPABILITIES.require_for_files(files)?;
        let files = self.parts.files.stage(files).await?;
        let element = self.shared(frame, element).await?;
        self.root()
            .call(&SetFiles {
                context: frame.as_str().to_owned(),
                element,
                files,
            })
            .await?;
        Ok(())
    }
}

/// Reports the file chooser of an input when it is opened again, because Firefox reports it only once.
async fn report_next_click(page: Weak<BidiPage>, context: String, field: SharedReference) {
    while let Some(page) = page.upgrade() {
        match page.next_click(&context, &field).await {
            Some(multiple) => page.set_open_chooser(&context, &field, multiple),
            None => return,
        }
    }
}
