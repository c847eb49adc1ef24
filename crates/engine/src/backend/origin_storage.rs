//! Reading and writing the storage of origins, by scripts in a document of each origin.

use super::ContextBackend;
use crate::error::{Error, Result};
use crate::injected::DATABASES;
use serde::de::DeserializeOwned;
use serde_json::Value;

const ENTRIES: &str = "JSON.stringify(Object.entries(localStorage))";

impl dyn ContextBackend {
    /// Returns the `localStorage` of each of these origins, in their order. Sends no request.
    pub(crate) async fn local_storage(
        &self,
        origins: &[String],
    ) -> Result<Vec<Vec<(String, String)>>> {
        self.read(origins, ENTRIES).await
    }

    /// Replaces the `localStorage` of these origins.
    pub(crate) async fn set_local_storage(
        &self,
        contents: &[(String, Vec<(String, String)>)],
    ) -> Result<()> {
        self.write(contents, |entries| {
            Ok(format!("localStorage.clear(); {}", added(entries)?))
        })
        .await
    }

    /// Adds entries to the `localStorage` of these origins. Entries with the same key are replaced.
    pub(crate) async fn add_local_storage(
        &self,
        contents: &[(String, Vec<(String, String)>)],
    ) -> Result<()> {
        self.write(contents, |entries| added(entries)).await
    }

    /// Returns the IndexedDB databases of each of these origins, in their order, as JSON for `set_databases`.
    pub(crate) async fn databases(&self, origins: &[String]) -> Result<Vec<Value>> {
        let read = format!("{DATABASES}\n__playhouseDatabases.read()");
        self.read(origins, &read).await
    }

    /// Writes databases in place of those with the same name. `only` deletes all others of the origins.
    pub(crate) async fn set_databases(
        &self,
        contents: &[(String, Value)],
        only: bool,
    ) -> Result<()> {
        self.write(contents, |databases| {
            Ok(format!(
                "{DATABASES}\n__playhouseDatabases.write({databases}, {only})"
            ))
        })
        .await
    }

    async fn read<T: DeserializeOwned>(
        &self,
        origins: &[String],
        expression: &str,
    ) -> Result<Vec<T>> {
        let mut contents = Vec::with_capacity(origins.len());
        if origins.is_empty() {
            return Ok(contents);
        }
        let mut documents = self.documents().await?;
        for origin in origins {
            let json = documents.run(origin, expression.to_owned()).await?;
            contents.push(serde_json::from_str(&json).map_err(unexpected)?);
        }
        Ok(contents)
    }

    async fn write<T: Sync>(
        &self,
        contents: &[(String, T)],
        expression: impl Fn(&T) -> Result<String> + Send,
    ) -> Result<()> {
        if contents.is_empty() {
            return Ok(());
        }
        let mut documents = self.documents().await?;
        for (origin, content) in contents {
            documents.run(origin, expression(content)?).await?;
        }
        Ok(())
    }
}

fn added(entries: &[(String, String)]) -> Result<String> {
    let entries = serde_json::to_string(entries).map_err(unexpected)?;
    Ok(format!(
        "for (const [name, value] of {entries}) localStorage.setItem(name, value); ''"
    ))
}

fn unexpected(error: serde_json::Error) -> Error {
    Error::protocol("storage of an origin", error)
}
