//! The creation of a browser context, which can be cancelled.

use super::ContextBackend;
use crate::error::{Error, Result};
use std::fmt::Debug;
use std::sync::Arc;
use task::{self, Undo};

/// Creates a context and returns it with an undo guard that closes it. The creation continues if the caller is dropped, because the
/// identifier of the context is known only from the response.
pub(super) async fn created<C, F>(
    create: F,
) -> Result<(
    Arc<C>,
    Undo<impl Future<Output: Debug> + Send + 'static + use<C, F>>,
)>
where
    C: ContextBackend + 'static,
    F: Future<Output = Result<Arc<C>>> + Send + 'static,
{
    let created = task::run_to_completion("creating context", async move {
        let context = create.await?;
        let close = context.clone();
        let undo = Undo::by("closing context", async move { close.close().await });
        Ok((context, undo))
    });
    created.await.unwrap_or(Err(Error::PageClosed {}))
}
