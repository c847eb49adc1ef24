//! The requests of a page: which session has their bodies, and which calls wait for their responses.

use super::CdpPage;
use crate::backend::interception::decode_body;
use crate::backend::{FrameId, RequestId, Requests};
use crate::error::Result;
use async_trait::async_trait;
use tokio::sync::oneshot;
use wire::Session;
use wire::cdp;
use wire::cdp::fetch::RequestPaused;

/// The command that an undecodable body is the result of.
const METHOD: &str = "Network.getResponseBody";
/// The largest number of requests whose session is stored. Bodies of others are requested from the session of the page.
const MAX_REQUESTS: usize = 10_000;
/// The largest number of stored challenges. Later ones are treated as first challenges.
const MAX_CHALLENGES: usize = 1_000;

/// The stored data of a request.
pub(super) struct RequestRecord {
    /// The session that has the body.
    session: Session,
    /// The frame whose document the request loads.
    navigates: Option<FrameId>,
}

impl CdpPage {
    pub(super) fn request_sent(
        &self,
        request: RequestId,
        session: Session,
        navigates: Option<FrameId>,
    ) {
        let mut state = self.state();
        if state.requests.len() >= MAX_REQUESTS {
            state.requests.clear();
        }
        state
            .requests
            .insert(request, RequestRecord { session, navigates });
    }

    /// Returns the frame whose document the request loads.
    pub(super) fn navigated_by(&self, request: &RequestId) -> Option<FrameId> {
        self.state().requests.get(request)?.navigates.clone()
    }

    /// Records a challenge of a request. Returns whether it is the first one.
    pub(super) fn first_challenge(&self, request: &str) -> bool {
        let challenged = &mut self.state().challenged;
        if challenged.len() >= MAX_CHALLENGES {
            challenged.clear();
        }
        challenged.insert(request.to_owned())
    }

    /// Returns a receiver of the response to a paused request. It is unregistered when it is dropped.
    pub(super) fn add_fetching(&self, key: &str) -> oneshot::Receiver<RequestPaused> {
        let (sender, answer) = oneshot::channel();
        let fetching = &mut self.state().fetching;
        fetching.retain(|_, waiting| !waiting.is_closed());
        fetching.insert(key.to_owned(), sender);
        answer
    }

    /// Passes a response to the call that waits for it, or returns it if there is none.
    pub(super) fn complete_fetching(
        &self,
        key: &str,
        paused: RequestPaused,
    ) -> Option<RequestPaused> {
        match self.state().fetching.remove(key) {
            Some(waiting) => waiting.send(paused).err(),
            None => Some(paused),
        }
    }

    fn body_session(&self, request: &RequestId) -> Session {
        let own = self.session_that_sent(request);
        own.or_else(|| self.context_workers().session_that_sent(request))
            .unwrap_or_else(|| self.session.clone())
    }

    /// Returns the session of a request of this page.
    pub(super) fn session_that_sent(&self, request: &RequestId) -> Option<Session> {
        let sent = self.state().requests.get(request)?.session.clone();
        Some(sent)
    }
}

#[async_trait]
impl Requests for CdpPage {
    async fn response_body(&self, request: &RequestId) -> Result<Vec<u8>> {
        let command = cdp::network::GetResponseBody {
            request_id: request.as_str().to_owned(),
        };
        let mut body = self.body_session(request).call(&command).await;
        if let (Err(wire::Error::Protocol { .. }), Some(frame)) =
            (&body, self.navigated_by(request))
        {
            // The document moved to another process than the one that requested it.
            body = self.session_for(&frame)?.call(&command).await;
        }
        let body = body?;
        decode_body(METHOD, body.body, body.base64_encoded)
    }

    async fn request_body(&self, request: &RequestId) -> Result<Option<Vec<u8>>> {
        let body = self
            .body_session(request)
            .call(&cdp::network::GetRequestPostData {
                request_id: request.as_str().to_owned(),
            })
            .await;
        match body {
            Ok(body) => decode_body(METHOD, body.post_data, body.base64_encoded).map(Some),
            // Chromium returns an error for a request without a body.
            Err(wire::Error::Protocol { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
