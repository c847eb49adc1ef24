//! Requests that a page has sent: who has their bodies, who waits for their answers.

use super::CdpPage;
use crate::backend::interception::decode_body;
use crate::backend::{FrameId, RequestId, Requests};
use crate::error::Result;
use async_trait::async_trait;
use tokio::sync::oneshot;
use wire::Session;
use wire::cdp;
use wire::cdp::fetch::RequestPaused;

/// What an unreadable body is an answer to.
const METHOD: &str = "Network.getResponseBody";
/// Requests that are remembered; the bodies of older ones are asked of the page itself.
const REQUESTS: usize = 10_000;
/// Challenges that are remembered; whoever is challenged again after so many others is taken for new.
const CHALLENGES: usize = 1_000;

/// What is remembered of a request.
pub(super) struct RequestRecord {
    /// Who has its body.
    session: Session,
    /// The frame that it loads a document for.
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
        if state.requests.len() >= REQUESTS {
            state.requests.clear();
        }
        state
            .requests
            .insert(request, RequestRecord { session, navigates });
    }

    /// The frame that waits for this request's document.
    pub(super) fn navigated_by(&self, request: &RequestId) -> Option<FrameId> {
        self.state().requests.get(request)?.navigates.clone()
    }

    /// Whether the request is challenged for the first time.
    pub(super) fn first_challenge(&self, request: &str) -> bool {
        let challenged = &mut self.state().challenged;
        if challenged.len() >= CHALLENGES {
            challenged.clear();
        }
        challenged.insert(request.to_owned())
    }

    /// The answer of the request that waits by this name; forgotten when the receiver is.
    pub(super) fn awaits(&self, key: &str) -> oneshot::Receiver<RequestPaused> {
        let (tell, answer) = oneshot::channel();
        let fetching = &mut self.state().fetching;
        fetching.retain(|_, waiting| !waiting.is_closed());
        fetching.insert(key.to_owned(), tell);
        answer
    }

    /// Gives an answer to who waits for it; gives it back if nobody does.
    pub(super) fn answered(&self, key: &str, paused: RequestPaused) -> Option<RequestPaused> {
        match self.state().fetching.remove(key) {
            Some(waiting) => waiting.send(paused).err(),
            None => Some(paused),
        }
    }

    fn body_session(&self, request: &RequestId) -> Session {
        self.state()
            .requests
            .get(request)
            .map_or_else(|| self.session.clone(), |sent| sent.session.clone())
    }
}

#[async_trait]
impl Requests for CdpPage {
    async fn response_body(&self, request: &RequestId) -> Result<Vec<u8>> {
        let asked = cdp::network::GetResponseBody {
            request_id: request.as_str().to_owned(),
        };
        let mut body = self.body_session(request).call(&asked).await;
        if let (Err(wire::Error::Protocol { .. }), Some(frame)) =
            (&body, self.navigated_by(request))
        {
            // The document went to another process than the one that asked for it.
            body = self.session_for(&frame)?.call(&asked).await;
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
            // Chromium refuses to answer for a request without one.
            Err(wire::Error::Protocol { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
