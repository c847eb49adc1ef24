//! Navigation and the history of a page.

use super::CdpPage;
use crate::backend::address::{is_opened_here, navigation_failed};
use crate::backend::{FrameId, LoaderId, Navigation};
use crate::error::{Error, NetError, Result};
use async_trait::async_trait;
use std::time::Duration;
use wire::Command;
use wire::cdp::page;

/// The errors of commands while no document is active, which lasts until the next one was rendered.
const NO_ACTIVE_PAGE_ERRORS: [&str; 2] = [
    "Not attached to an active page",
    "Unable to capture screenshot",
];
/// The state lasts a moment, but no event reports its end.
const FIRST_RETRY_INTERVAL: Duration = Duration::from_millis(5);
/// After this interval the command is not repeated any more.
const MAX_RETRY_INTERVAL: Duration = Duration::from_secs(1);

impl CdpPage {
    pub(super) fn navigation_started(&self, frame: &FrameId, loader: Option<&LoaderId>) {
        if *frame == self.main {
            self.state().newest = loader.cloned();
        }
    }

    /// Calls a command that only the active document can execute. Retries while the document is being replaced and none is active.
    pub(super) async fn call_in_front<C: Command>(&self, command: &C) -> wire::Result<C::Response> {
        let mut pause = FIRST_RETRY_INTERVAL;
        loop {
            match self.session.call(command).await {
                Err(wire::Error::Protocol { message, .. })
                    if NO_ACTIVE_PAGE_ERRORS.contains(&&*message) && pause < MAX_RETRY_INTERVAL =>
                {
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
                other => return other,
            }
        }
    }
}

#[async_trait]
impl Navigation for CdpPage {
    async fn navigate(&self, url: &str) -> Result<Option<LoaderId>> {
        let answer = self
            .call_in_front(&page::Navigate {
                url: url.to_owned(),
                frame_id: Some(self.main.as_str().to_owned()),
                ..Default::default()
            })
            .await;
        let answer = match answer {
            Err(wire::Error::Protocol { message, .. })
                if !NO_ACTIVE_PAGE_ERRORS.contains(&&*message) =>
            {
                return Err(Error::InvalidUrl {
                    url: url.to_owned(),
                });
            }
            other => other?,
        };
        let loader = answer.loader_id.map(LoaderId::from);
        match answer.error_text.as_deref().map(NetError::from) {
            Some(_) if answer.is_download == Some(true) => Ok(None),
            Some(NetError::Aborted) => {
                // The navigation was superseded by another one, or ended without a document, as with a 204 response. Another response of the
                // browser is needed to know which.
                self.call_in_front(&page::GetNavigationHistory {}).await?;
                self.session.flush().await?;
                if self.state().newest == loader && is_opened_here(url) {
                    Ok(None)
                } else {
                    Err(navigation_failed(url, NetError::Aborted))
                }
            }
            Some(reason) => Err(navigation_failed(url, reason)),
            None => Ok(loader),
        }
    }

    async fn reload(&self, ignore_cache: bool) -> Result<()> {
        self.call_in_front(&page::Reload {
            ignore_cache: Some(ignore_cache),
            ..Default::default()
        })
        .await?;
        Ok(())
    }

    async fn go(&self, delta: i32) -> Result<bool> {
        let history = self.call_in_front(&page::GetNavigationHistory {}).await?;
        let entry = usize::try_from(history.current_index + i64::from(delta))
            .ok()
            .and_then(|index| history.entries.get(index));
        let Some(entry) = entry else { return Ok(false) };
        self.call_in_front(&page::NavigateToHistoryEntry { entry_id: entry.id })
            .await?;
        Ok(true)
    }

    fn stop_loading(&self) {
        self.session.post(&page::StopLoading {});
    }
}
