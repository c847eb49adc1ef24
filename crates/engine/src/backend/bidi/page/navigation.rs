//! Navigation and the history of a page.

use super::BidiPage;
use super::evaluation::sandbox_target;
use crate::backend::address::{is_opened_here, is_within_document, navigation_failed};
use crate::backend::bidi::network;
use crate::backend::{LoaderId, Navigation, PageEvent};
use crate::error::{Error, NetError, Result};
use async_trait::async_trait;
use wire::bidi::browsing_context::{Navigate, ReadinessState, Reload, TraverseHistory};
use wire::bidi::network::SetCacheBehavior;
use wire::bidi::{error, script};

/// Part of Firefox's internal message for a navigation that was superseded by another one.
const INTERRUPTED: &str = "A new navigation interrupted an unfinished navigation";

impl BidiPage {
    /// Records the start of a navigation of the main frame.
    pub(crate) fn navigation_began(&self, navigation: Option<&str>) {
        let mut state = self.state();
        state.navigations += 1;
        state.newest = navigation.map(LoaderId::from);
    }

    /// Records that the document of a navigation of the main frame could not be loaded.
    pub(crate) fn navigation_failed(&self, navigation: &str, reason: NetError) {
        self.state().failure = Some((LoaderId::from(navigation), reason));
    }

    fn cache(&self, cache_behavior: &'static str) -> SetCacheBehavior {
        SetCacheBehavior {
            cache_behavior,
            contexts: Some(vec![self.name()]),
        }
    }
}

#[async_trait]
impl Navigation for BidiPage {
    async fn navigate(&self, url: &str) -> Result<Option<LoaderId>> {
        self.parts.grants.grant_to_visited(url).await?;
        let stays = is_within_document(&self.url(), url);
        let (before, call) = {
            let mut state = self.state();
            state.navigate_calls += 1;
            (state.navigations, state.navigate_calls)
        };
        let answer = self
            .root()
            .call(&Navigate {
                context: self.name(),
                url: url.to_owned(),
                wait: ReadinessState::None,
            })
            .await;
        match answer {
            Ok(_) if stays => Ok(None),
            Ok(answer) => Ok(answer.navigation.map(LoaderId::from)),
            Err(wire::Error::Refused {
                error: name,
                message,
                ..
            }) => {
                if name == error::INVALID_ARGUMENT {
                    return Err(Error::InvalidUrl {
                        url: url.to_owned(),
                    });
                }
                if name == error::NO_SUCH_FRAME {
                    return Err(Error::PageClosed {});
                }
                self.root().flush().await?;
                let (newest, own, failure) = {
                    let state = self.state();
                    let newest = state.navigations <= before + 1 && state.navigate_calls == call;
                    let own = state.newest.clone().filter(|_| state.navigations > before);
                    (newest, own, state.failure.clone())
                };
                if message.contains(INTERRUPTED) && self.state().navigate_calls == call {
                    // The page itself started the other navigation, and its document is the one to wait for.
                    return Ok(None);
                }
                let reported = network::net_error(message.trim_start_matches("Error: "));
                let reason = match failure {
                    Some((failed, reason)) if newest && own.as_ref() == Some(&failed) => reason,
                    // Firefox reports the failure of the navigation that this one has replaced.
                    Some((_, reason)) if newest && own.is_some() && reason == reported => {
                        return Ok(own);
                    }
                    _ => reported,
                };
                // The navigation ended without a document, as with a 204 response, and was not superseded.
                if reason == NetError::Aborted && newest && is_opened_here(url) {
                    self.report(PageEvent::NavigationAborted {
                        frame: self.main.clone(),
                        loader: None,
                        reason: None,
                    });
                    return Ok(None);
                }
                Err(navigation_failed(url, reason))
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn reload(&self, ignore_cache: bool) -> Result<()> {
        if !ignore_cache {
            let command = Reload {
                context: self.name(),
                wait: ReadinessState::None,
            };
            return match self.root().call(&command).await {
                Err(wire::Error::Refused { message, .. }) => Err(Error::NavigationFailed {
                    url: self.url(),
                    reason: network::net_error(message.trim_start_matches("Error: ")),
                }),
                other => Ok(other.map(drop)?),
            };
        }
        self.root().call(&self.cache("bypass")).await?;
        let loaded = self.root().send(&Reload {
            context: self.name(),
            wait: ReadinessState::Complete,
        });
        let (root, as_before) = (self.root().clone(), self.cache("default"));
        task::spawn("reload", async move {
            // The cache is turned on again, whatever the result.
            let _ = loaded.await;
            root.post(&as_before);
        })
        .detach();
        Ok(())
    }

    async fn go(&self, delta: i32) -> Result<bool> {
        let before = self.state().navigations;
        let result = self
            .root()
            .call(&TraverseHistory {
                context: self.name(),
                delta,
            })
            .await;
        match result {
            Err(wire::Error::Refused { error: name, .. })
                if name == error::NO_SUCH_HISTORY_ENTRY =>
            {
                return Ok(false);
            }
            other => other?,
        };
        // Firefox does not report a history entry that differs only in its fragment.
        self.root().flush().await?;
        if self.state().navigations > before {
            return Ok(true);
        }
        let href = self
            .root()
            .call(&script::Evaluate {
                expression: "location.href".to_owned(),
                await_promise: false,
                target: sandbox_target(&self.main),
            })
            .await;
        self.root().flush().await?;
        if let Ok(answer) = href
            && self.state().navigations == before
        {
            let url = answer.result.decode::<String>();
            self.on_url_changed(&self.main, url.unwrap_or_else(|| self.url()));
        }
        Ok(true)
    }

    fn stop_loading(&self) {
        self.run_in_background("window.stop()", &self.main);
    }
}
