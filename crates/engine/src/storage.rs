//! Storage state: the cookies and local storage of a context as one value, in the form of Playwright's files.

use crate::backend::{Cookie, FrameId};
use crate::context::BrowserContext;
use crate::error::Result;
use crate::page::{LoadState, Page};
use crate::progress::Progress;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Cookies and local storage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StorageState {
    /// Every cookie.
    #[serde(default)]
    pub cookies: Vec<Cookie>,
    /// Local storage by origin.
    #[serde(default)]
    pub origins: Vec<OriginStorage>,
}

/// What one origin has stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OriginStorage {
    /// Scheme, host and port.
    pub origin: String,
    /// Its local storage.
    #[serde(default)]
    pub local_storage: Vec<StorageItem>,
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageItem {
    /// The key.
    pub name: String,
    /// The value.
    pub value: String,
}

/// Tells the origin and the items of a document's local storage; nothing for a document without one.
const READ: &str = "() => { try { return [location.origin, Object.entries(localStorage)]; } catch { return null; } }";

impl BrowserContext {
    /// The cookies of the context, and the local storage of the documents that are open in it.
    pub async fn storage_state(&self, progress: &Progress) -> Result<StorageState> {
        let mut origins = BTreeMap::new();
        for page in self.pages() {
            for frame in page.all_frames() {
                // A frame that goes meanwhile, or hangs with a dialog, has nothing to tell.
                let told = progress.run(page.evaluate_in(&frame, READ)).await;
                let Ok(Some(told)) = told else { continue };
                let Ok((origin, items)) =
                    serde_json::from_value::<(String, Vec<(String, String)>)>(told)
                else {
                    continue;
                };
                if !items.is_empty() && origin != "null" {
                    origins.insert(origin, items);
                }
            }
        }
        Ok(StorageState {
            cookies: self.cookies(progress).await?,
            origins: origins
                .into_iter()
                .map(|(origin, items)| OriginStorage {
                    origin,
                    local_storage: items
                        .into_iter()
                        .map(|(name, value)| StorageItem { name, value })
                        .collect(),
                })
                .collect(),
        })
    }

    /// Replaces the cookies and the local storage of the state's origins by those of the state.
    pub async fn restore(&self, progress: &Progress, state: &StorageState) -> Result<()> {
        self.remove_cookies(progress, |_| true).await?;
        if !state.cookies.is_empty() {
            self.set_cookies(progress, &state.cookies).await?;
        }
        if state.origins.is_empty() {
            return Ok(());
        }
        let page = self.new_page(progress).await?;
        let restored = restore_origins(progress, &page, &state.origins).await;
        page.close(progress).await?;
        restored
    }
}

/// Shows an empty document of each origin, and stores what belongs there.
async fn restore_origins(
    progress: &Progress,
    page: &Page,
    origins: &[OriginStorage],
) -> Result<()> {
    progress.run(page.backend.keep_off_the_network()).await?;
    for OriginStorage {
        origin,
        local_storage,
    } in origins
    {
        page.goto(progress, origin, LoadState::DomContentLoaded)
            .await?;
        let items: Vec<_> = local_storage
            .iter()
            .map(|item| [item.name.as_str(), item.value.as_str()])
            .collect();
        let items = serde_json::json!(items);
        let store = format!(
            "() => {{ localStorage.clear(); for (const [name, value] of {items}) localStorage.setItem(name, value); }}"
        );
        page.evaluate(progress, &store).await?;
    }
    Ok(())
}

impl Page {
    fn all_frames(&self) -> Vec<FrameId> {
        let state = self.state();
        let mut frames = vec![state.frames.main_id().clone()];
        frames.extend(state.frames.below_main(usize::MAX));
        frames
    }

    async fn evaluate_in(
        &self,
        frame: &FrameId,
        function: &str,
    ) -> Result<Option<serde_json::Value>> {
        self.unless_interrupted(self.backend.evaluate(frame, function, None))
            .await
    }
}
