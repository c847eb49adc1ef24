//! `localStorage` and IndexedDB of whole contexts, whether or not a page of the origin is open.

use super::context::BidiContext;
use crate::error::{Error, Result};
use crate::injected::DATABASES;
use serde_json::Value;

const READ: &str = "JSON.stringify(Object.entries(localStorage))";

impl BidiContext {
    pub(super) async fn read_local_storage(
        &self,
        origins: &[String],
    ) -> Result<Vec<Vec<(String, String)>>> {
        let mut contents = Vec::with_capacity(origins.len());
        if origins.is_empty() {
            return Ok(contents);
        }
        let page = self.scratch_page().await?;
        for origin in origins {
            let json = page.at(origin, READ.to_owned()).await?;
            contents.push(serde_json::from_str(&json).map_err(unexpected)?);
        }
        Ok(contents)
    }

    /// `anew`: nothing of what was there stays.
    pub(super) async fn write_local_storage(
        &self,
        contents: &[(String, Vec<(String, String)>)],
        anew: bool,
    ) -> Result<()> {
        if contents.is_empty() {
            return Ok(());
        }
        let clear = if anew { "localStorage.clear(); " } else { "" };
        let page = self.scratch_page().await?;
        for (origin, entries) in contents {
            let entries = serde_json::to_string(entries).map_err(unexpected)?;
            let write = format!(
                "{clear}for (const [name, value] of {entries}) localStorage.setItem(name, value); ''"
            );
            page.at(origin, write).await?;
        }
        Ok(())
    }

    pub(super) async fn read_databases(&self, origins: &[String]) -> Result<Vec<Value>> {
        let mut contents = Vec::with_capacity(origins.len());
        if origins.is_empty() {
            return Ok(contents);
        }
        let page = self.scratch_page().await?;
        for origin in origins {
            let read = format!("{DATABASES}\n__playhouseDatabases.read()");
            let json = page.at(origin, read).await?;
            contents.push(serde_json::from_str(&json).map_err(unexpected)?);
        }
        Ok(contents)
    }

    pub(super) async fn write_databases(
        &self,
        contents: &[(String, Value)],
        only: bool,
    ) -> Result<()> {
        if contents.is_empty() {
            return Ok(());
        }
        let page = self.scratch_page().await?;
        for (origin, databases) in contents {
            let write = format!("{DATABASES}\n__playhouseDatabases.write({databases}, {only})");
            page.at(origin, write).await?;
        }
        Ok(())
    }
}

fn unexpected(error: serde_json::Error) -> Error {
    Error::Protocol {
        method: "script.evaluate".to_owned(),
        message: error.to_string(),
    }
}
