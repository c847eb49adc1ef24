//! IndexedDB of whole contexts, whether or not a page of the origin is open.

use super::context::CdpContext;
use super::local_storage::unexpected;
use crate::error::Result;
use crate::injected::DATABASES;
use serde_json::Value;

impl CdpContext {
    pub(super) async fn read_databases(&self, origins: &[String]) -> Result<Vec<Value>> {
        let mut contents = Vec::with_capacity(origins.len());
        if origins.is_empty() {
            return Ok(contents);
        }
        let mut page = self.scratch_page().await?;
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
        let mut page = self.scratch_page().await?;
        for (origin, databases) in contents {
            let write = format!("{DATABASES}\n__playhouseDatabases.write({databases}, {only})");
            page.at(origin, write).await?;
        }
        Ok(())
    }
}
