//! Making a page: once more, if Firefox loses sight of the one that it has made.

use super::BidiContext;
use crate::backend::PageBackend;
use crate::backend::bidi::page::BidiPage;
use crate::error::Result;
use std::sync::Arc;
use wire::bidi::browsing_context::{Close, Create, CreateType, GetTree, Info};

/// What Firefox says, in the words of its own program, of a page that it has made and cannot name.
const LOST: &str = "WeakMap key null";

impl BidiContext {
    /// Makes a page, and answers its name; it was told of before. Whoever calls it holds `creating`.
    pub(super) async fn create(&self, kind: CreateType) -> Result<String> {
        let create = Create {
            kind,
            user_context: Some(self.parts.id.clone()),
            background: (kind == CreateType::Tab).then_some(true),
        };
        let before = self.pages.open();
        match self.parts.root.call(&create).await {
            Err(wire::Error::Refused { message, .. }) if message.contains(LOST) => {
                tracing::debug!(message, "a page is made once more");
            }
            created => return Ok(created?.context),
        }
        let created = self.parts.root.call(&create).await?.context;
        self.close_lost(&before, &created).await?;
        Ok(created)
    }

    /// Closes what was made and not answered for: it is blank, nobody has opened it, and it was not there before.
    async fn close_lost(&self, before: &[Arc<BidiPage>], created: &str) -> Result<()> {
        let tree = self.parts.root.call(&GetTree { root: None }).await?;
        let lost = |info: &Info| {
            info.user_context.as_deref() == Some(&*self.parts.id)
                && info.original_opener.is_none()
                && info.url == "about:blank"
                && info.context != created
                && !before.iter().any(|page| page.id().as_str() == info.context)
                && !self.utility_pages.contains(&info.context)
        };
        for info in tree.contexts.into_iter().filter(lost) {
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
