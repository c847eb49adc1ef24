//! Storage state: what a context remembers of the sites it visited, in the shape of Playwright's files.

use crate::backend::Cookie;
use crate::context::{BrowserContext, Visits};
use crate::error::Result;
use crate::progress::Progress;
use serde::{Deserialize, Serialize};

/// Cookies and `localStorage`, as a storage state file holds them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StorageState {
    /// Every cookie.
    pub cookies: Vec<Cookie>,
    /// Every origin with something in its `localStorage`.
    pub origins: Vec<OriginStorage>,
}

/// What an origin remembers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OriginStorage {
    /// Scheme, host and port, e.g. `https://example.com`.
    pub origin: String,
    /// Its `localStorage`.
    #[serde(default)]
    pub local_storage: Vec<StorageItem>,
}

/// One entry of a `localStorage`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageItem {
    /// Its key.
    pub name: String,
    /// What it holds.
    pub value: String,
}

impl BrowserContext {
    /// Cookies, and the `localStorage` of every origin that was visited.
    pub async fn storage_state(&self, progress: &Progress) -> Result<StorageState> {
        progress
            .run(async {
                let origins = self.visits().origins();
                let cookies = self.backend.cookies().await?;
                let contents = self.backend.local_storage(&origins).await?;
                Ok(StorageState::new(cookies, origins, contents))
            })
            .await
    }

    /// Puts a storage state in the place of all cookies and of the `localStorage` of every origin that was visited.
    pub async fn restore(&self, progress: &Progress, state: &StorageState) -> Result<()> {
        progress
            .run(async {
                let contents = {
                    let visits = self.visits();
                    for known in &state.origins {
                        visits.add(&known.origin);
                    }
                    state.contents_of(visits.origins())
                };
                self.backend.clear_cookies().await?;
                if !state.cookies.is_empty() {
                    self.backend.set_cookies(&state.cookies).await?;
                }
                self.backend.set_local_storage(&contents).await
            })
            .await
    }

    /// Adds what a storage state holds, replacing only the cookies and entries that it names.
    pub async fn merge(&self, progress: &Progress, state: &StorageState) -> Result<()> {
        progress
            .run(async {
                let visits = Visits::default();
                for known in &state.origins {
                    visits.add(&known.origin);
                    self.visits().add(&known.origin);
                }
                if !state.cookies.is_empty() {
                    self.backend.set_cookies(&state.cookies).await?;
                }
                let contents = state.contents_of(visits.origins());
                self.backend.add_local_storage(&contents).await
            })
            .await
    }
}

impl StorageState {
    /// Puts together what was read of each origin; those with nothing are left out.
    pub(crate) fn new(
        cookies: Vec<Cookie>,
        origins: Vec<String>,
        contents: Vec<Vec<(String, String)>>,
    ) -> Self {
        let origins = origins
            .into_iter()
            .zip(contents)
            .filter(|(_, entries)| !entries.is_empty())
            .map(|(origin, entries)| OriginStorage {
                origin,
                local_storage: entries
                    .into_iter()
                    .map(|(name, value)| StorageItem { name, value })
                    .collect(),
            })
            .collect();
        Self { cookies, origins }
    }

    /// What each of these origins is to hold.
    pub(crate) fn contents_of(&self, origins: Vec<String>) -> Vec<(String, Vec<(String, String)>)> {
        let entries = |origin: &str| {
            let known = self.origins.iter().find(|known| known.is(origin));
            let entries = known.into_iter().flat_map(|known| &known.local_storage);
            entries
                .map(|entry| (entry.name.clone(), entry.value.clone()))
                .collect()
        };
        origins
            .into_iter()
            .map(|origin| {
                let entries = entries(&origin);
                (origin, entries)
            })
            .collect()
    }
}

impl OriginStorage {
    /// Files may write an origin with a slash or a default port.
    fn is(&self, origin: &str) -> bool {
        url::Url::parse(&self.origin).is_ok_and(|url| url.origin().ascii_serialization() == origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_playwright_is_read_and_written_alike() {
        let file = serde_json::json!({
            "cookies": [{
                "name": "a", "value": "b", "domain": "example.com", "path": "/", "expires": -1,
                "httpOnly": true, "secure": false, "sameSite": "Lax"
            }],
            "origins": [{
                "origin": "https://example.com",
                "localStorage": [{ "name": "theme", "value": "dark" }]
            }]
        });
        let state: StorageState = serde_json::from_value(file.clone()).unwrap();
        assert_eq!(serde_json::to_value(&state).unwrap(), file);
        let bare: StorageState =
            serde_json::from_str(r#"{"origins":[{"origin":"http://x"}]}"#).unwrap();
        assert!(bare.cookies.is_empty() && bare.origins[0].local_storage.is_empty());
    }
}
