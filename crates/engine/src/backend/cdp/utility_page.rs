//! A utility page, which opens an origin without sending a request and is not reported.

use crate::backend::OriginDocuments;
use crate::error::{Error, Result};
use async_trait::async_trait;
use wire::cdp::{Binary, fetch, network, page, runtime, target};
use wire::{EventStream, Session};

/// A utility page, which is closed when it is dropped.
pub(super) struct UtilityPage {
    session: Session,
    events: EventStream,
    target: target::TargetId,
}

impl UtilityPage {
    /// Takes a page that was just attached and waits for the debugger. Returns `None` if it was closed.
    pub(super) fn take_over(session: Session, target: target::TargetId) -> Option<Self> {
        let events = session.connection().take_events(session.id()?)?;
        session.post(&network::Enable::default());
        session.post(&network::SetBypassServiceWorker { bypass: true });
        session.post(&fetch::Enable {
            patterns: Some(vec![fetch::RequestPattern::default()]),
            ..Default::default()
        });
        session.post(&runtime::RunIfWaitingForDebugger {});
        Some(Self {
            session,
            events,
            target,
        })
    }

    async fn go_to_origin(&mut self, origin: &str) -> Result<()> {
        let mut navigated = self.session.send(&page::Navigate {
            url: format!("{origin}/"),
            ..Default::default()
        });
        let navigated = loop {
            tokio::select! {
                navigated = &mut navigated => break navigated?,
                event = self.events.next() => {
                    let Some(event) = event else { return Err(Error::PageClosed {}) };
                    if let Some(Ok(paused)) = event.parse::<fetch::RequestPaused>() {
                        self.answer(paused);
                    }
                }
            }
        };
        match navigated.error_text {
            Some(reason) => Err(Error::NavigationFailed {
                url: origin.to_owned(),
                reason: reason.as_str().into(),
            }),
            None => Ok(()),
        }
    }

    fn answer(&self, paused: fetch::RequestPaused) {
        let html = fetch::HeaderEntry {
            name: "content-type".to_owned(),
            value: "text/html".to_owned(),
        };
        self.session.post(&fetch::FulfillRequest {
            request_id: paused.request_id,
            response_code: 200,
            response_headers: Some(vec![html]),
            body: Some(Binary::default()),
            ..Default::default()
        });
    }
}

#[async_trait]
impl OriginDocuments for UtilityPage {
    async fn run(&mut self, origin: &str, expression: String) -> Result<String> {
        self.go_to_origin(origin).await?;
        let answer = self
            .session
            .call(&runtime::Evaluate {
                expression,
                return_by_value: Some(true),
                await_promise: Some(true),
                silent: Some(true),
                ..Default::default()
            })
            .await?;
        if let Some(details) = answer.exception_details {
            return Err(Error::Script {
                message: super::console::exception(&details),
            });
        }
        let text = answer.result.value.as_ref();
        Ok(text
            .and_then(|json| serde_json::from_str(json.get()).ok())
            .unwrap_or_default())
    }
}

impl Drop for UtilityPage {
    fn drop(&mut self) {
        let root = self.session.connection().root();
        root.post(&target::CloseTarget {
            target_id: self.target.clone(),
        });
    }
}
