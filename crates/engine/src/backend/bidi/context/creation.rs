//! The creation of a page, which is repeated if Firefox loses the page that it has created, or the window for it.

use super::BidiContext;
use crate::backend::PageBackend;
use crate::backend::bidi::page::BidiPage;
use crate::backend::bidi::windows::EmptyWindow;
use crate::error::Result;
use std::sync::Arc;
use wire::bidi::browsing_context::{Close, Create, CreateType, GetTree, Info};

/// Firefox's internal message for a page that it has created and cannot identify.
const LOST: &str = "WeakMap key null";

impl BidiContext {
    /// Creates a page and returns its identifier. Its event precedes the response. The caller must hold `creating`.
    pub(super) async fn create(&self, kind: CreateType) -> Result<String> {
        let empty = match kind {
            CreateType::Window => self.parts.windows.take_empty().await?,
            CreateType::Tab => None,
        };
        let create = |empty: Option<&EmptyWindow<'_>>| Create {
            kind: match empty {
                Some(_) => CreateType::Tab,
                None => kind,
            },
            user_context: Some(self.parts.id.clone()),
            reference_context: empty.map(|window| window.tab.clone()),
            background: (kind == CreateType::Tab).then_some(true),
        };
        let before = self.pages.open();
        match self.parts.root.call(&create(empty.as_ref())).await {
            Err(wire::Error::Refused { message, .. })
                if empty.is_some() || message.contains(LOST) =>
            {
                tracing::debug!(message, "creating a page once more");
            }
            created => return Ok(created?.context),
        }
        let created = self.parts.root.call(&create(None)).await?.context;
        self.close_lost(&before, &created).await?;
        Ok(created)
    }

    /// Closes pages that were created without a response: blank, without an opener, and not present before.
    async fn close_lost(&self, before: &[Arc<BidiPage>], created: &str) -> Result<()> {
        let tree = self.parts.root.call(&GetTree::default()).await?;
        let is_lost = |info: &Info| {
            info.user_context.as_deref() == Some(&*self.parts.id)
                && info.original_opener.is_none()
                && info.url == "about:blank"
                && info.context != created
                && !before.iter().any(|page| page.id().as_str() == info.context)
                && !self.utility_pages.contains(&info.context)
        };
        for info in tree.contexts.into_iter().filter(is_lost) {
            self.utility_pages.remove_appeared(&info.context);
            let close = Close {
                context: info.context,
                prompt_unload: Some(false),
            };
            let closed = self.parts.root.call(&close).await;
            tracing::debug!(?closed, "a page that was lost");
        }
        Ok(())
    }
}
