//! A window of our own beside the user's pages: it visits an origin without a request leaving the browser, and is told to nobody.

use super::WebDriverContext;
use crate::backend::OriginDocuments;
use crate::backend::webdriver::driver::{FrameTarget, page_error};
use crate::backend::webdriver::inspector::InspectorTarget;
use crate::error::{Error, NetError, Result};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use wire::webdriver::navigation::NavigateTo;

/// How often an empty document is looked for that is on its way.
const POLL_ATTEMPTS: u32 = 500;
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Runs an expression in a document of this origin, once that is there.
const RUN: &str = "
  const [origin, expression] = arguments;
  if (location.origin !== origin || document.readyState === 'loading') return ['wait'];
  return (async () => {
    try { return ['value', String(await (0, eval)(expression))]; } catch (e) { return ['error', String(e)]; }
  })();";

/// The window; it closes when dropped.
pub(super) struct UtilityPage {
    context: Arc<WebDriverContext>,
    place: FrameTarget,
    target: Option<u64>,
}

impl UtilityPage {
    pub(super) async fn open(context: Arc<WebDriverContext>) -> Result<Self> {
        let (window, target) = {
            let _creating = context.creating.lock().await;
            context.open_window().await?
        };
        let visitor = Self {
            place: FrameTarget::window(window),
            target,
            context,
        };
        let context = &visitor.context;
        if let (Some(target), Some(inspector)) = (target, &context.parts.inspector) {
            context.set_utility_target(target, true);
            let to = context.attach(target).await?;
            let all = json!({ "url": ".*", "isRegex": true, "stage": "request" });
            inspector.send(&to, "Network.enable", &json!({}));
            let on = json!({ "enabled": true });
            inspector.send(&to, "Network.setInterceptionEnabled", &on);
            let _: Value = inspector.call(&to, "Network.addInterception", &all).await?;
        }
        Ok(visitor)
    }

    /// Goes to an address; no request leaves the browser where that can be kept from it.
    pub(super) async fn go_to(&self, url: &str) -> Result<()> {
        let to = NavigateTo {
            url: url.to_owned(),
        };
        let driver = &self.context.parts.driver;
        driver
            .at(&self.place, &to)
            .await
            .map(drop)
            .map_err(page_error)
    }

    pub(super) fn frame_target(&self) -> &FrameTarget {
        &self.place
    }

    pub(super) async fn run_at(&self, origin: &str, expression: &str) -> Result<String> {
        for _ in 0..POLL_ATTEMPTS {
            let args = vec![Value::from(origin), Value::from(expression)];
            let answer = self
                .context
                .parts
                .driver
                .run(&self.place, RUN.to_owned(), args)
                .await;
            let answer: Vec<String> = match answer.map_err(page_error) {
                Ok(answer) => serde_json::from_str(answer.get()).unwrap_or_default(),
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
        self.go_to(&format!("{origin}/")).await?;
        self.run_at(origin, &expression).await
    }
}

impl Drop for UtilityPage {
    fn drop(&mut self) {
        let (context, window) = (self.context.clone(), self.place.window.clone());
        let target = self.target;
        task::spawn("closing a window", async move {
            let _creating = context.creating.lock().await;
            let closed = context.close_handle(&window).await;
            tracing::trace!(?closed, "a visit is over");
            if let Some(target) = target {
                context.set_utility_target(target, false);
            }
        })
        .detach();
    }
}

impl WebDriverContext {
    /// Answers a request of a page that visits origins: with nothing at all.
    pub(super) fn answer_utility_request(&self, target: InspectorTarget, params: &str) {
        let request: Value = serde_json::from_str(params).unwrap_or_default();
        let answer = json!({
            "requestId": request["requestId"],
            "content": "<!doctype html>",
            "base64Encoded": false,
            "mimeType": "text/html",
            "status": 200,
            "statusText": "OK",
            "headers": { "content-type": "text/html" },
        });
        if let Some(inspector) = &self.parts.inspector {
            inspector.send(&target, "Network.interceptRequestWithResponse", &answer);
        }
    }
}
