//! The creation of a browser context, which may be given up half-way.

use super::ContextBackend;
use crate::error::{Error, Result};
use std::fmt::Debug;
use std::sync::Arc;
use task::{self, Undo};

/// Creates a context, also if the caller gives up: its name is known only when the browser answers. The context is closed unless the
/// undo that comes with it is disarmed.
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
