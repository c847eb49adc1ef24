//! A window beside the user's pages that is reported to no observer: it shows documents of any origin, and no request leaves the browser
//! for them.

use super::WebKitContext;
use crate::backend::OriginDocuments;
use crate::error::{Error, NetError, Result};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// The number of polls for the document that the window navigates to.
const POLL_ATTEMPTS: u32 = 500;
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Runs an expression in a document of this origin, unless that is not loaded yet. Each document runs one, which distinguishes it from the
/// next document of the same origin.
const RUN: &str = "function(origin, expression) {
  const used = Symbol.for('playhouse.used');
  if (location.origin !== origin || document.readyState === 'loading' || window[used]) return ['wait'];
  window[used] = true;
  return (async () => {
    try { return ['value', String(await (0, eval)(expression))]; } catch (e) { return ['error', String(e)]; }
  })();
}";

/// The window. It is closed when this is dropped.
pub(super) struct UtilityPage {
    context: Arc<WebKitContext>,
    window: String,
}

impl UtilityPage {
    pub(super) async fn open(context: Arc<WebKitContext>) -> Result<Self> {
        let window = {
            let _creating = context.creating.lock().await;
            context.open_window().await?
        };
        let page = Self { window, context };
        page.context.parts.targets.isolate(&page.window).await?;
        Ok(page)
    }

    pub(super) fn window(&self) -> &str {
        &self.window
    }

    async fn navigate(&self, url: &str) -> Result<()> {
        let to = json!({ "handle": self.window, "url": url, "pageLoadStrategy": "None" });
        let method = "Automation.navigateBrowsingContext";
        let targets = &self.context.parts.targets;
        targets.automate::<Value>(method, &to).await.map(drop)
    }

    /// Shows the document at a URL.
    pub(super) async fn load(&self, url: &Url) -> Result<()> {
        self.navigate(url.as_str()).await?;
        self.run_at(&url.origin().ascii_serialization(), "''")
            .await?;
        Ok(())
    }

    async fn run_at(&self, origin: &str, expression: &str) -> Result<String> {
        let targets = &self.context.parts.targets;
        for _ in 0..POLL_ATTEMPTS {
            let arguments = [json!(origin), json!(expression)];
            let answer: Vec<String> = match targets.run(&self.window, RUN, &arguments).await {
                Ok(answer) => serde_json::from_value(answer).unwrap_or_default(),
                Err(Error::DocumentGone {}) => Vec::new(),
                Err(error) => return Err(error),
            };
            match answer.as_slice() {
                [kind, text] if kind == "value" => return Ok(text.clone()),
                [kind, text] if kind == "error" => {
                    return Err(Error::Script {
                        message: text.clone(),
                    });
                }
                _ => tokio::time::sleep(POLL_INTERVAL).await,
            }
        }
        Err(Error::NavigationFailed {
            url: origin.to_owned(),
            reason: NetError::TimedOut,
        })
    }
}

#[async_trait]
impl OriginDocuments for UtilityPage {
    async fn run(&mut self, origin: &str, expression: String) -> Result<String> {
        self.navigate(&format!("{origin}/")).await?;
        self.run_at(origin, &expression).await
    }
}

impl Drop for UtilityPage {
    fn drop(&mut self) {
        let (context, window) = (self.context.clone(), self.window.clone());
        task::spawn("closing a window", async move {
            let _creating = context.creating.lock().await;
            let closed = context.close_handle(&window).await;
            tracing::trace!(?closed, "closed a utility page");
        })
        .detach();
    }
}
