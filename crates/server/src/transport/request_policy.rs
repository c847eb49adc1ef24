//! Checks of each HTTP request: allowed Host and Origin headers, and the rate limit.

use super::rate_limit::RateLimit;
use crate::access::principal::Principal;
use crate::config::HttpSettings;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;

/// The headers of responses to preflight requests: <https://fetch.spec.whatwg.org/#http-responses>.
const PREFLIGHT_HEADERS: [(HeaderName, &str); 2] = [
    (header::ACCESS_CONTROL_ALLOW_METHODS, "GET,POST,DELETE"),
    (
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        concat!(
            "authorization,content-type,accept,x-api-key,last-event-id,mcp-session-id,",
            "mcp-protocol-version,mcp-method,mcp-name,x-request-id,traceparent,tracestate"
        ),
    ),
];

/// The headers of all other responses.
const CORS_HEADERS: [(HeaderName, &str); 1] = [(
    header::ACCESS_CONTROL_EXPOSE_HEADERS,
    "mcp-session-id,x-request-id,www-authenticate",
)];

/// The request policy of a server.
pub(crate) struct RequestPolicy {
    /// The allowed hosts; `None`: any.
    hosts: Option<Vec<String>>,
    origins: Option<Vec<String>>,
    /// The port of a `Host` header without one.
    port: u16,
    rate: Option<RateLimit>,
}

impl RequestPolicy {
    /// Creates the policy of a server that listens at `address`.
    pub(crate) fn new(settings: &HttpSettings, address: SocketAddr) -> Self {
        let hosts = settings.allowed_hosts.clone();
        let hosts = hosts.unwrap_or_else(|| own_hosts(&settings.host, address));
        let any = |list: &[String]| list.iter().any(|item| item == "*");
        let lower = |list: Vec<String>| -> Vec<String> {
            list.iter().map(|item| item.to_ascii_lowercase()).collect()
        };
        Self {
            hosts: (!any(&hosts)).then(|| lower(hosts)),
            origins: settings.allowed_origins.clone().map(lower),
            port: if settings.tls.is_some() { 443 } else { 80 },
            rate: settings
                .rate
                .and_then(NonZeroU32::new)
                .map(RateLimit::per_second),
        }
    }

    /// Creates the policy of pages that only this machine reaches, at this address.
    pub(crate) fn local(address: SocketAddr) -> Self {
        Self {
            hosts: Some(own_hosts("localhost", address)),
            origins: None,
            port: 80,
            rate: None,
        }
    }

    /// Rejects requests with a foreign host or an origin that is not allowed: a page could resolve its own host name to this machine (DNS
    /// rebinding). <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning>
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Box<Response>> {
        let host = headers
            .get(header::HOST)
            .and_then(|host| host.to_str().ok());
        let Some(host) = uri.authority().map(|host| host.as_str()).or(host) else {
            return Err(refusal(StatusCode::BAD_REQUEST, "Missing host"));
        };
        if headers.get_all(header::HOST).iter().count() > 1 {
            return Err(refusal(StatusCode::BAD_REQUEST, "More than one host"));
        }
        if let Some(hosts) = &self.hosts
            && !names(hosts, host, self.port)
        {
            let message = format!("Access is only allowed at {}", hosts.join(", "));
            return Err(refusal(StatusCode::FORBIDDEN, message));
        }
        match headers.get(header::ORIGIN) {
            Some(origin) if !self.may_ask(origin) => Err(refusal(
                StatusCode::FORBIDDEN,
                "Origin not allowed (--allowed-http-origins)",
            )),
            _ => Ok(()),
        }
    }

    fn may_ask(&self, origin: &HeaderValue) -> bool {
        let Ok(origin) = origin.to_str() else {
            return false;
        };
        let origin = origin.to_ascii_lowercase();
        match (&self.origins, &self.hosts) {
            (Some(origins), _) => origins.iter().any(|one| *one == origin || one == "*"),
            // Allowing any host does not allow any origin.
            (None, None) => false,
            (None, Some(hosts)) => {
                let parts = origin.split_once("://");
                parts.is_some_and(|(scheme, host)| {
                    names(hosts, host, if scheme == "https" { 443 } else { 80 })
                })
            }
        }
    }

    /// Rejects requests above the rate limit.
    pub(crate) fn count(&self, principal: &Principal) -> Result<(), Box<Response>> {
        let Some(rate) = &self.rate else {
            return Ok(());
        };
        rate.check(principal).map_err(|wait| {
            let seconds = wait.as_secs() + 1;
            let mut refusal = refusal(
                StatusCode::TOO_MANY_REQUESTS,
                format!("Too many requests: wait {seconds} s"),
            );
            refusal
                .headers_mut()
                .insert(header::RETRY_AFTER, seconds.into());
            refusal
        })
    }

    /// Waits while a principal exceeds the rate limit on a persistent connection.
    pub(crate) async fn pace(&self, principal: &Principal) {
        if let Some(rate) = &self.rate {
            rate.wait(principal).await;
        }
    }
}

/// Limits pages to requests that name this machine and come from no other page.
pub(crate) fn local(pages: Router, address: SocketAddr) -> Router {
    let policy = Arc::new(RequestPolicy::local(address));
    pages.layer(middleware::from_fn_with_state(policy, admit))
}

async fn admit(State(policy): State<Arc<RequestPolicy>>, request: Request, next: Next) -> Response {
    match policy.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => *refusal,
    }
}

/// Answers preflight requests, and lets pages of allowed origins read all other responses.
pub(crate) async fn cors(
    State(policy): State<Arc<RequestPolicy>>,
    request: Request,
    next: Next,
) -> Response {
    let origin = request.headers().get(header::ORIGIN);
    let origin = origin.filter(|origin| policy.may_ask(origin)).cloned();
    let (mut response, added) = match *request.method() == Method::OPTIONS {
        true => (Response::default(), &PREFLIGHT_HEADERS[..]),
        false => (next.run(request).await, &CORS_HEADERS[..]),
    };
    let headers = response.headers_mut();
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    for (name, value) in added {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.extend(origin.map(|origin| (header::ACCESS_CONTROL_ALLOW_ORIGIN, origin)));
    response
}

/// Returns the host names of a server at that address.
fn own_hosts(host: &str, address: SocketAddr) -> Vec<String> {
    let ip = address.ip();
    let port = address.port();
    match ip.is_loopback() || ip.is_unspecified() {
        true => ["localhost", "127.0.0.1", "[::1]"]
            .map(|host| format!("{host}:{port}"))
            .to_vec(),
        false if ip.is_ipv6() && host.contains(':') => vec![format!("[{ip}]:{port}")],
        false => vec![format!("{host}:{port}")],
    }
}

/// Returns whether the list contains the host, with its port or for any. Clients omit the default port.
fn names(hosts: &[String], host: &str, usual_port: u16) -> bool {
    let host = host.to_ascii_lowercase();
    let end = host.rfind(']').map_or(0, |bracket| bracket + 1);
    let (bare, whole) = match host[end..].find(':') {
        Some(colon) => (&host[..end + colon], host.clone()),
        None => (&*host, format!("{host}:{usual_port}")),
    };
    hosts.iter().any(|one| *one == whole || one == bare)
}

fn refusal(status: StatusCode, message: impl Into<Body>) -> Box<Response> {
    Box::new((status, message.into()).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_named_with_its_port_or_for_any() {
        let hosts = ["localhost:80", "example.com", "[::1]:80", "[::2]"].map(str::to_owned);
        for host in [
            "localhost:80",
            "LOCALHOST:80",
            "localhost",
            "example.com",
            "example.com:1",
            "[::1]:80",
            "[::1]",
            "[::2]:9",
        ] {
            assert!(names(&hosts, host, 80), "{host}");
        }
        for host in [
            "localhost:81",
            "evil.com",
            "example.com.evil.com",
            "[::1]:443",
            "",
        ] {
            assert!(!names(&hosts, host, 80), "{host}");
        }
        for host in ["localhost", "[::1]"] {
            assert!(!names(&hosts, host, 443), "{host}");
        }
    }
}
