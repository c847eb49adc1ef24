//! Saving the page as PDF.

use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::config::Capability;
use crate::error::Result;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::PdfOptions;
use engine::codegen::javascript::Options;
use engine::codegen::{Argument, Receiver, Statement};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<PdfSave>()];

/// Save the page as PDF.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PdfSave {
    /// File to write.
    filename: Option<String>,
}

impl Tool for PdfSave {
    const NAME: &'static str = "browser_pdf_save";
    const TITLE: &'static str = "Save as PDF";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Pdf);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let files = tab.files(call).await;
        // Fails before the PDF is created if the file must not be written.
        let named = self.filename.as_deref();
        let named = named.map(|name| files.writable(name)).transpose()?;
        let bytes = tab.page.pdf(&call.navigation(), &LETTER).await?;
        let file = match named {
            Some(file) => file,
            None => files.automatic("page", "pdf").await?,
        };
        files.write_bytes(&file, bytes).await?;
        let options = Options::default().with("path", &file.link);
        let code = format!("await page.pdf({options});");
        let path = Argument::Path(file.link.clone());
        let statement = Statement::new(Receiver::Page, "pdf").option("path", Some(path));
        let reply = Reply::statements(call.language(), code, [statement]);
        Ok(reply.and(Part::File {
            title: "Page as pdf".to_owned(),
            link: file.link,
        }))
    }
}

/// The defaults of `page.pdf` of Playwright.
const LETTER: PdfOptions = PdfOptions {
    width: 8.5,
    height: 11.0,
    background: false,
    landscape: false,
};
