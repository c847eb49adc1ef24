//! The inspector of a browser: it reports what happens in the pages, and does what the driver has no command for.

use super::starter::InspectorChannel;
use crate::error::{Error, Result};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use wire::inspector::{InspectedPage, Inspector, InspectorEvent, Relay};

/// How long a browser may go on talking before it is asked where it is.
const EVENT_QUIET_TIMEOUT: Duration = Duration::from_millis(100);
/// What the browser says of a window that is gone.
const NO_WINDOW: &str = "WindowNotFound";

/// How the inspector names a page, and the part of it that shows its document.
#[derive(Debug, Clone)]
pub(super) struct InspectorTarget {
    pub(super) target: u64,
    pub(super) part: Arc<str>,
}

/// The connection to the inspector.
pub(super) struct InspectorLink {
    inspector: Inspector,
    /// The pages that the browser has, known ones or not.
    pub(super) pages: watch::Receiver<Vec<InspectedPage>>,
    relay: Relay,
    /// How many events were handled.
    handled: watch::Sender<u64>,
}

impl InspectorLink {
    /// The connection, and what the inspector reports.
    pub(super) fn new(channel: InspectorChannel) -> (Self, mpsc::Receiver<InspectorEvent>) {
        let link = Self {
            inspector: channel.inspector,
            pages: channel.relay.pages(),
            relay: channel.relay,
            handled: watch::Sender::new(0),
        };
        (link, channel.events)
    }

    /// Holds the reason once the connection is closed.
    pub(super) fn closed(&self) -> watch::Receiver<Option<String>> {
        self.inspector.closed()
    }

    /// Begins to report what happens in a page.
    pub(super) fn attach(&self, target: u64) -> Result<()> {
        Ok(self.inspector.attach(target)?)
    }

    /// Sends a command, without waiting for its answer.
    pub(super) fn send(&self, to: &InspectorTarget, method: &'static str, params: &Value) {
        self.inspector
            .send_command(to.target, &to.part, method, params);
    }

    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        to: &InspectorTarget,
        method: &'static str,
        params: &Value,
    ) -> Result<T> {
        let answer = self
            .inspector
            .call(to.target, &to.part, method, params)
            .await?;
        parse(method, &answer)
    }

    /// Calls the browser for what its driver may ask for.
    pub(super) async fn automate<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: &Value,
    ) -> Result<T> {
        let answer = self.relay.automate(method, params).await;
        let answer = answer.map_err(|refused| match refused {
            wire::Error::Protocol { message, .. } if message.starts_with(NO_WINDOW) => {
                Error::PageClosed {}
            }
            refused => refused.into(),
        })?;
        parse(method, &answer)
    }

    /// Counts an event that was handled.
    pub(super) fn count_event(&self) {
        self.handled.send_modify(|count| *count += 1);
    }

    /// Returns once every event of a page that the browser sent so far was handled.
    pub(super) async fn flush(&self, target: u64) -> Result<()> {
        self.wait_for_events(self.inspector.flush(target).await?)
            .await;
        Ok(())
    }

    /// Returns once every event that the browser sent before its driver's last answer was handled.
    pub(super) async fn drain(&self, target: u64) -> Result<()> {
        match tokio::time::timeout(EVENT_QUIET_TIMEOUT, self.inspector.flush_received()).await {
            Ok(sent) => self.wait_for_events(sent?).await,
            Err(_) => self.flush(target).await?,
        }
        Ok(())
    }

    async fn wait_for_events(&self, sent: u64) {
        let mut handled = self.handled.subscribe();
        // The sender lives in `self`.
        let _ = handled.wait_for(|handled| *handled >= sent).await;
    }
}

fn parse<T: DeserializeOwned>(method: &str, answer: &RawValue) -> Result<T> {
    serde_json::from_str(answer.get()).map_err(|error| Error::protocol(method, error))
}

/// The event's parameters; `None`, and a line in the log, if they are not what we expect.
pub(super) fn read<T: DeserializeOwned>(event: &InspectorEvent) -> Option<T> {
    serde_json::from_str(event.params.get())
        .inspect_err(
            |error| tracing::warn!(%error, method = &*event.method, "an event is not understood"),
        )
        .ok()
}
