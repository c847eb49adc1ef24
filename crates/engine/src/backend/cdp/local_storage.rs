//! `localStorage` of whole contexts, whether or not a page of the origin is open.

use super::context::CdpContext;
use crate::error::{Error, Result};

/// What becomes of the entries that were there before.
#[derive(Clone, Copy)]
pub(super) enum Before {
    Goes,
    Stays,
}

const READ: &str = "JSON.stringify(Object.entries(localStorage))";

impl CdpContext {
    pub(super) async fn read_local_storage(
        &self,
        origins: &[String],
    ) -> Result<Vec<Vec<(String, String)>>> {
        let mut contents = Vec::with_capacity(origins.len());
        if origins.is_empty() {
            return Ok(contents);
        }
        let mut page = self.scratch_page().await?;
        for origin in origins {
            let json = page.at(origin, READ.to_owned()).await?;
            contents.push(serde_json::from_str(&json).map_err(unexpected)?);
        }
        Ok(contents)
    }

    pub(super) async fn write_local_storage(
        &self,
        contents: &[(String, Vec<(String, String)>)],
        before: Before,
    ) -> Result<()> {
        if contents.is_empty() {
            return Ok(());
        }
        let clear = match before {
            Before::Goes => "localStorage.clear(); ",
            Before::Stays => "",
        };
        let mut page = self.scratch_page().await?;
        for (origin, entries) in contents {
            let entries = serde_json::to_string(entries).map_err(unexpected)?;
            let write = format!(
                "{clear}for (const [name, value] of {entries}) localStorage.setItem(name, value); ''"
            );
            page.at(origin, write).await?;
        }
        Ok(())
    }
}

pub(super) fn unexpected(error: serde_json::Error) -> Error {
    Error::Protocol {
        method: "Runtime.evaluate".to_owned(),
        message: error.to_string(),
    }
}
