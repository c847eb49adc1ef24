//! Storage states of contexts, in the format of Playwright's files.

use crate::backend::{Cookie, Verdict};
use crate::context::{BrowserContext, VisitedOrigins};
use crate::error::{Error, Result};
use crate::page::{LoadState, Page};
use crate::progress::Progress;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Cookies and `localStorage`, as in a storage state file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StorageState {
    /// All cookies.
    pub cookies: Vec<Cookie>,
    /// All origins with entries in `localStorage`.
    pub origins: Vec<OriginStorage>,
}

/// The storage of an origin.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OriginStorage {
    /// The origin, e.g. `https://example.com`.
    pub origin: String,
    /// The `localStorage`.
    #[serde(default)]
    pub local_storage: Vec<StorageItem>,
    /// The `sessionStorage` of one page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub session_storage: Vec<StorageItem>,
    /// The IndexedDB databases; `None`: not included. Values that JSON cannot represent are objects with a key that starts with `$`.
    #[serde(default, rename = "indexedDB", skip_serializing_if = "Option::is_none")]
    pub indexed_db: Option<Value>,
}

/// An entry of `localStorage`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageItem {
    /// The key.
    pub name: String,
    /// The value.
    pub value: String,
}

impl BrowserContext {
    /// Returns cookies, and the `localStorage` of every visited origin.
    pub async fn storage_state(&self, progress: &Progress) -> Result<StorageState> {
        progress
            .run(async {
                let origins = self.visited_origins().origins();
                let cookies = self.backend.cookies().await?;
                let contents = self.backend.local_storage(&origins).await?;
                Ok(StorageState::new(cookies, origins, contents))
            })
            .await
    }

    /// Replaces all cookies and the `localStorage` of every visited origin by a storage state.
    pub async fn restore(&self, progress: &Progress, state: &StorageState) -> Result<()> {
        progress
            .run(async {
                let contents = {
                    let visited_origins = self.visited_origins();
                    for known in &state.origins {
                        visited_origins.add(&known.origin);
                    }
                    state.contents_of(visited_origins.origins())
                };
                self.backend.clear_cookies().await?;
                if !state.cookies.is_empty() {
                    self.backend.set_cookies(&state.cookies).await?;
                }
                self.backend.set_local_storage(&contents).await
            })
            .await
    }

    /// Returns cookies, and the `localStorage` and databases of every visited origin.
    pub async fn full_storage_state(&self, progress: &Progress) -> Result<StorageState> {
        let mut state = self.storage_state(progress).await?;
        let origins = self.visited_origins().origins();
        let databases = progress.run(self.backend.databases(&origins)).await?;
        for (origin, databases) in origins.into_iter().zip(databases) {
            if databases.as_array().is_some_and(|all| !all.is_empty()) {
                state.origin(&origin).indexed_db = Some(databases);
            }
        }
        Ok(state)
    }

    /// Replaces all cookies, and the `localStorage` and databases of every visited origin, by a storage state.
    pub async fn restore_full_state(
        &self,
        progress: &Progress,
        state: &StorageState,
    ) -> Result<()> {
        self.restore(progress, state).await?;
        let none = || Value::Array(Vec::new());
        let contents = self.visited_origins().origins().into_iter();
        let contents = contents.map(|origin| {
            let known = state.origins.iter().find(|known| known.is(&origin));
            let databases = known.and_then(|known| known.indexed_db.clone());
            (origin, databases.unwrap_or_else(none))
        });
        let contents: Vec<_> = contents.collect();
        progress
            .run(self.backend.set_databases(&contents, true))
            .await
    }

    /// Adds a storage state, replacing only the cookies and entries that it contains.
    pub async fn merge(&self, progress: &Progress, state: &StorageState) -> Result<()> {
        progress
            .run(async {
                for known in &state.origins {
                    self.visited_origins().add(&known.origin);
                }
                self.add_state(state).await
            })
            .await
    }

    /// Adds a storage state without the record that its origins were visited.
    pub(crate) async fn add_state(&self, state: &StorageState) -> Result<()> {
        if !state.cookies.is_empty() {
            self.backend.set_cookies(&state.cookies).await?;
        }
        let with_entries = state.origins.iter();
        let with_entries = with_entries.filter(|known| !known.local_storage.is_empty());
        let origins = with_entries.filter_map(OriginStorage::of_site).collect();
        let contents = state.contents_of(origins);
        self.backend.add_local_storage(&contents).await?;
        let databases: Vec<_> = state
            .origins
            .iter()
            .filter_map(|known| Some((known.of_site()?, known.indexed_db.clone()?)))
            .collect();
        self.backend.set_databases(&databases, false).await
    }
}

impl Page {
    /// Returns the `sessionStorage` of each origin in the frames of the page.
    pub async fn session_storage(
        &self,
        progress: &Progress,
    ) -> Result<Vec<(String, Vec<StorageItem>)>> {
        const READ: &str = "() => { try { return [location.origin, Object.entries(sessionStorage)]; } catch { return ['null', []]; } }";
        let mut all: Vec<(String, Vec<StorageItem>)> = Vec::new();
        for frame in self.frames() {
            let answer = match self.evaluate_in(progress, &frame.id, READ).await {
                Ok(answer) => answer.unwrap_or_default(),
                // The frame was removed.
                Err(Error::DocumentGone {}) => continue,
                Err(error) => return Err(error),
            };
            let (origin, entries): (String, Vec<(String, String)>) =
                serde_json::from_value(answer).unwrap_or_default();
            if entries.is_empty() || all.iter().any(|(known, _)| *known == origin) {
                continue;
            }
            let entries = entries.into_iter();
            let entries = entries.map(|(name, value)| StorageItem { name, value });
            all.push((origin, entries.collect()));
        }
        Ok(all)
    }

    /// Replaces the page's `sessionStorage` by that of a state; that of `url` is cleared if the state has none. The page then shows an
    /// empty document.
    pub async fn restore_session_storage(
        &self,
        progress: &Progress,
        state: &StorageState,
        url: &str,
    ) -> Result<()> {
        let known = state.origins.iter();
        let known =
            known.filter_map(|known| Some((known.of_site()?, known.session_storage.as_slice())));
        let mut left: Vec<(String, &[StorageItem])> = known.collect();
        // A blocked origin is not visited.
        left.retain(|(origin, entries)| !entries.is_empty() && self.refusal(origin).is_none());
        let here = VisitedOrigins::default();
        here.add(url);
        for origin in here.origins() {
            let known = left.iter().any(|(known, _)| *known == origin);
            if !known && self.refusal(&origin).is_none() {
                left.push((origin, &[]));
            }
        }
        if left.is_empty() {
            return Ok(());
        }
        let mut interceptor = self.intercept(progress).await?;
        let answering = async {
            while let Some(request) = interceptor.next().await {
                let empty = Verdict::Fulfill {
                    status: 200,
                    headers: vec![("content-type".to_owned(), "text/html".to_owned())],
                    body: Vec::new(),
                };
                request.decide(progress, empty).await?;
            }
            Err(Error::PageClosed {})
        };
        let writing = async {
            for (origin, entries) in left {
                let url = format!("{}/", origin.trim_end_matches('/'));
                self.goto(progress, &url, LoadState::Committed).await?;
                let entries = entries.iter();
                let entries: Vec<_> = entries.map(|entry| (&entry.name, &entry.value)).collect();
                let entries = serde_json::to_string(&entries).unwrap_or_default();
                let write = format!(
                    "() => {{ sessionStorage.clear(); for (const [name, value] of {entries}) sessionStorage.setItem(name, value); }}"
                );
                self.evaluate(progress, &write).await?;
            }
            self.goto(progress, "about:blank", LoadState::Committed)
                .await?;
            Ok(())
        };
        tokio::select! {
            written = writing => written,
            failed = answering => failed,
        }
    }
}

impl StorageState {
    /// Adds the `sessionStorage` of a page.
    pub fn add_session_storage(&mut self, contents: Vec<(String, Vec<StorageItem>)>) {
        for (origin, entries) in contents {
            self.origin(&origin).session_storage = entries;
        }
    }

    /// Returns the storage of an origin, which is added if it is missing.
    fn origin(&mut self, origin: &str) -> &mut OriginStorage {
        let place = self.origins.iter().position(|known| known.is(origin));
        let place = place.unwrap_or_else(|| {
            self.origins.push(OriginStorage {
                origin: origin.to_owned(),
                ..OriginStorage::default()
            });
            self.origins.len() - 1
        });
        &mut self.origins[place]
    }

    /// Combines the storage of each origin; empty ones are omitted.
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
                ..OriginStorage::default()
            })
            .collect();
        Self { cookies, origins }
    }

    /// Returns the contents for each of these origins.
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
    /// Returns the origin as browsers serialize it; `None` for an origin that cannot be visited.
    pub fn of_site(&self) -> Option<String> {
        let url = url::Url::parse(&self.origin).ok()?;
        matches!(url.scheme(), "http" | "https").then(|| url.origin().ascii_serialization())
    }

    /// Compares origins: files may write them with a slash or a default port.
    pub(crate) fn is(&self, origin: &str) -> bool {
        url::Url::parse(&self.origin).is_ok_and(|url| url.origin().ascii_serialization() == origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_origins_can_be_visited() {
        let of = |origin: &str| {
            let known = OriginStorage {
                origin: origin.to_owned(),
                ..OriginStorage::default()
            };
            known.of_site()
        };
        assert_eq!(of("HTTPS://a:443/x").as_deref(), Some("https://a"));
        for other in [
            "file:///etc",
            "chrome://settings",
            "null",
            "about:blank",
            "x",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn storage_state_files_of_playwright_round_trip() {
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
