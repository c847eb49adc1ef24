//! Mock responses.

use super::request::Headers;
use std::sync::Arc;
use std::time::Duration;
use task::spawn;

/// A mock response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mock {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The delay of the response.
    pub delay: Duration,
}

impl Mock {
    /// Calls `fulfill` with status, headers and body of the response to a request with these headers, after the delay.
    pub(crate) fn respond(
        self: &Arc<Self>,
        request: &Headers,
        fulfill: impl FnOnce(u16, Headers, Vec<u8>) + Send + 'static,
    ) {
        if self.delay.is_zero() {
            let (status, headers, body) = self.response_to(request);
            return fulfill(status, headers, body);
        }
        let (mock, request) = (self.clone(), request.clone());
        spawn("mock", async move {
            tokio::time::sleep(mock.delay).await;
            let (status, headers, body) = mock.response_to(&request);
            fulfill(status, headers, body);
        })
        .detach();
    }

    /// Adds CORS headers, because a page of another origin is expected to be able to read the response.
    fn response_to(&self, request: &Headers) -> (u16, Headers, Vec<u8>) {
        let sent = |wanted: &str| {
            let mut headers = request.iter();
            let found = headers.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(_, value)| value.clone())
        };
        let (mut status, mut headers, mut body) =
            (self.status, self.headers.clone(), self.body.clone());
        let mut add = |name: &str, value: String| {
            let there = |(other, _): &(String, String)| other.eq_ignore_ascii_case(name);
            if !headers.iter().any(there) {
                headers.push((name.to_owned(), value));
            }
        };
        if let Some(origin) = sent("origin") {
            add("access-control-allow-origin", origin);
            add("access-control-allow-credentials", "true".to_owned());
        }
        if let Some(method) = sent("access-control-request-method") {
            add("access-control-allow-methods", method);
            if let Some(names) = sent("access-control-request-headers") {
                add("access-control-allow-headers", names);
            }
            (status, body) = (204, Vec::new());
        }
        (status, headers, body)
    }
}
