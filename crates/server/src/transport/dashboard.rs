//! The page of the dashboard: its files, its login, and the WebSocket that connects it with the sessions of its principal.

mod logins;
mod socket;

use super::request_policy::RequestPolicy;
use super::upgrade::WebSocketUpgrade;
use crate::access::principal::Principal;
use crate::server::Server;
use crate::transport::auth::{Authenticator, RequestTarget};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Extension, Query, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use logins::{Link, Login, Logins, Scheme};
use serde::Deserialize;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::SystemTime;
use tokio_util::sync::CancellationToken;

use super::listener::ConnectionSlot;

/// The path of the dashboard.
pub(crate) const PATH: &str = "/dashboard";

/// The path of the page on which the user logs in.
const LOGIN_PATH: &str = "/dashboard/login";

/// The largest form, in bytes.
const MAX_BYTES: usize = 16 * 1024;

const PAGE: &str = include_str!("../../dashboard/dashboard.html");
const LOGIN: &str = include_str!("../../dashboard/login.html");
const STYLE: &str = include_str!("../../dashboard/style.css");
const SCRIPT: &str = include_str!("../../dashboard/dist/dashboard.js");

/// The page loads its own files, connects to its own server and is shown in no other page.
const HEADERS: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; \
         frame-ancestors 'none'; base-uri 'none'",
    ),
    (header::CACHE_CONTROL, "no-store"),
    // With `no-referrer`, a browser would send the form with a null origin.
    (header::REFERRER_POLICY, "same-origin"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
];

/// How users log in.
enum Credentials {
    /// With an API key or an access token, or without any.
    Keys(Arc<Authenticator>),
    /// With the link that was printed at start.
    Link(Link),
}

/// The state of the endpoints of the dashboard.
struct Site {
    server: Arc<Server>,
    policy: Arc<RequestPolicy>,
    credentials: Credentials,
    logins: Logins,
    /// Cancelled when connections must end.
    end: CancellationToken,
}

/// Who uses the dashboard, and until when.
struct Visitor {
    principal: Principal,
    until: Option<SystemTime>,
    /// Cancelled when the login ends.
    ended: CancellationToken,
}

/// Returns the router of the dashboard of an HTTP server, whose request policy is applied elsewhere.
pub(crate) fn pages<S: Clone + Send + Sync + 'static>(
    server: Arc<Server>,
    policy: Arc<RequestPolicy>,
    authenticator: Arc<Authenticator>,
    address: SocketAddr,
    is_secure: bool,
    end: CancellationToken,
) -> Router<S> {
    let site = Site {
        server,
        policy,
        credentials: Credentials::Keys(authenticator),
        logins: Logins::new(address.port(), is_secure),
        end,
    };
    router(Arc::new(site))
}

/// Returns the router of the dashboard of a server over stdio, at this loopback address, and prints a link to stderr.
pub(crate) fn local_pages(
    server: Arc<Server>,
    address: SocketAddr,
    end: CancellationToken,
) -> Router {
    let site = Site {
        server,
        policy: Arc::new(RequestPolicy::local(address)),
        credentials: Credentials::Link(Link::new(format!("http://{address}{PATH}"))),
        logins: Logins::new(address.port(), false),
        end,
    };
    super::request_policy::local(router(Arc::new(site)), address)
}

fn router<S: Clone + Send + Sync + 'static>(site: Arc<Site>) -> Router<S> {
    let file = |kind: &'static str, text: &'static str| {
        get(move || async move { answer(StatusCode::OK, kind, text) })
    };
    let below = |name: &str| format!("{PATH}/{name}");
    Router::new()
        .route(PATH, get(page))
        .route(&below("login"), get(show_login).post(login))
        .route(&below("logout"), post(logout))
        .route(&below("socket"), get(connect))
        .route(&below("dashboard.js"), file("text/javascript", SCRIPT))
        .route(&below("style.css"), file("text/css", STYLE))
        .layer(DefaultBodyLimit::max(MAX_BYTES))
        .with_state(site)
}

impl Site {
    /// Identifies the user of a request by its cookie, or by the headers with which clients authenticate. With a cookie, a request that
    /// uses sessions also needs what only the page has.
    async fn identify(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
        page: Option<&str>,
    ) -> Result<Visitor, StatusCode> {
        let login = self.logins.find(headers);
        if let Some(login) = login.filter(|login| page.is_none_or(|page| login.is_of_page(page))) {
            let Login {
                principal,
                until,
                ended,
                ..
            } = login;
            return Ok(Visitor {
                principal,
                until: Some(until),
                ended,
            });
        }
        match &self.credentials {
            Credentials::Keys(authenticator) => self.check(authenticator, uri, headers).await,
            Credentials::Link(_) => Err(StatusCode::UNAUTHORIZED),
        }
    }

    async fn check(
        &self,
        authenticator: &Authenticator,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<Visitor, StatusCode> {
        // The audience of tokens is the endpoint of MCP.
        let target = RequestTarget::at("/mcp", uri, headers);
        match authenticator.identify(target, headers).await {
            Ok(identity) => Ok(Visitor {
                principal: identity.principal,
                until: identity.until,
                ended: CancellationToken::new(),
            }),
            Err(denied) => Err(denied.response().status()),
        }
    }
}

#[derive(Deserialize)]
struct Opened {
    token: Option<String>,
}

/// `GET /dashboard`
async fn page(
    State(site): State<Arc<Site>>,
    Query(opened): Query<Opened>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    if let (Some(token), Credentials::Link(link)) = (&opened.token, &site.credentials) {
        return match link.redeem(token) {
            true => {
                let login = site.logins.add(Principal::anonymous(), None, Scheme::Http);
                to_dashboard(login)
            }
            false => login_page(StatusCode::FORBIDDEN, &site, true),
        };
    }
    match site.identify(&uri, &headers, None).await {
        Ok(_) => {
            let has_login = match &site.credentials {
                Credentials::Keys(authenticator) => authenticator.needs_credentials(),
                Credentials::Link(_) => true,
            };
            let page = PAGE.replace("{{logout}}", hidden(!has_login));
            answer(StatusCode::OK, "text/html", page)
        }
        // The rate limit also applies to attempts to guess keys.
        Err(_) => match site.policy.count(&Principal::anonymous()) {
            Ok(()) => to(LOGIN_PATH, None),
            Err(refusal) => *refusal,
        },
    }
}

/// `GET /dashboard/login`
async fn show_login(State(site): State<Arc<Site>>) -> Response {
    login_page(StatusCode::OK, &site, false)
}

/// `POST /dashboard/login`
async fn login(
    State(site): State<Arc<Site>>,
    uri: Uri,
    mut headers: HeaderMap,
    body: Bytes,
) -> Response {
    // The rate limit also applies to attempts to guess keys.
    if let Err(refusal) = site.policy.count(&Principal::anonymous()) {
        return *refusal;
    }
    let Credentials::Keys(authenticator) = &site.credentials else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let Some(scheme) = own_page(&headers) else {
        return StatusCode::FORBIDDEN.into_response();
    };
    let key = url::form_urlencoded::parse(&body).find(|(name, _)| name == "key");
    let key = key
        .map(|(_, key)| key.trim().to_owned())
        .unwrap_or_default();
    let Ok(bearer) = HeaderValue::from_str(&format!("Bearer {key}")) else {
        return login_page(StatusCode::FORBIDDEN, &site, true);
    };
    headers.insert(header::AUTHORIZATION, bearer);
    match site.check(authenticator, &uri, &headers).await {
        Ok(visitor) => {
            let Visitor {
                principal, until, ..
            } = visitor;
            to_dashboard(site.logins.add(principal, until, scheme))
        }
        // A browser that gets 401 expects a challenge.
        Err(StatusCode::UNAUTHORIZED) => login_page(StatusCode::FORBIDDEN, &site, true),
        Err(status) => login_page(status, &site, true),
    }
}

/// `POST /dashboard/logout`
async fn logout(State(site): State<Arc<Site>>, headers: HeaderMap) -> Response {
    let Some(scheme) = own_page(&headers) else {
        return StatusCode::FORBIDDEN.into_response();
    };
    to(LOGIN_PATH, Some(site.logins.remove(&headers, scheme)))
}

#[derive(Deserialize)]
struct Connecting {
    #[serde(default)]
    page: String,
}

/// `GET /dashboard/socket`
async fn connect(
    State(site): State<Arc<Site>>,
    Query(connecting): Query<Connecting>,
    Extension(place): Extension<ConnectionSlot>,
    uri: Uri,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    if own_page(&headers).is_none() {
        return StatusCode::FORBIDDEN.into_response();
    }
    match site.identify(&uri, &headers, Some(&connecting.page)).await {
        Ok(visitor) => {
            place.on_authenticated();
            socket::serve(upgrade, site, visitor, place)
        }
        Err(status) => match site.policy.count(&Principal::anonymous()) {
            Ok(()) => status.into_response(),
            Err(refusal) => *refusal,
        },
    }
}

/// Returns the scheme of the page of this server that sent a request; `None` if another page sent it. Other ports of the same host are the
/// same site for browsers, which send them the cookie, so that the origin is compared.
fn own_page(headers: &HeaderMap) -> Option<Scheme> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let site = HeaderName::from_static("sec-fetch-site");
    if text(site).is_some_and(|site| site != "same-origin") {
        return None;
    }
    let (scheme, authority) = text(header::ORIGIN)?.split_once("://")?;
    let is_own = text(header::HOST)?.eq_ignore_ascii_case(authority);
    is_own.then(|| match scheme.eq_ignore_ascii_case("https") {
        true => Scheme::Https,
        false => Scheme::Http,
    })
}

/// Sends the browser to the dashboard. The fragment of a URL reaches its page only.
fn to_dashboard((cookie, page): (HeaderValue, String)) -> Response {
    let location = HeaderValue::from_str(&format!("{PATH}#{page}"));
    let location = location.expect("a path and digits are visible ASCII");
    let mut response = to(PATH, Some(cookie));
    response.headers_mut().insert(header::LOCATION, location);
    response
}

/// Sends the browser to a page, perhaps with another cookie.
fn to(path: &'static str, cookie: Option<HeaderValue>) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    headers.extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    headers.insert(header::LOCATION, HeaderValue::from_static(path));
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Returns the page on which the user logs in.
fn login_page(status: StatusCode, site: &Site, has_failed: bool) -> Response {
    let (form, text) = match (&site.credentials, has_failed) {
        (Credentials::Keys(_), false) => (true, ""),
        (Credentials::Keys(_), true) => (true, "This key is not valid."),
        (Credentials::Link(_), false) => {
            (false, "Open the link that the server printed to stderr.")
        }
        (Credentials::Link(_), true) => (
            false,
            "This link is not valid any more. The server printed a new one to stderr.",
        ),
    };
    let html = LOGIN
        .replace("{{form}}", hidden(!form))
        .replace("{{alert}}", hidden(text.is_empty()))
        .replace("{{text}}", text);
    answer(status, "text/html", html)
}

/// Returns the attribute that hides an element.
fn hidden(is_hidden: bool) -> &'static str {
    if is_hidden { "hidden" } else { "" }
}

fn answer(status: StatusCode, kind: &'static str, text: impl Into<Body>) -> Response {
    let mut response = (status, text.into()).into_response();
    let headers = response.headers_mut();
    let kind = HeaderValue::from_str(&format!("{kind}; charset=utf-8"));
    headers.extend(kind.map(|kind| (header::CONTENT_TYPE, kind)));
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_same_origin_may_act() {
        let (http, https) = (Some(Scheme::Http), Some(Scheme::Https));
        for (origin, host, scheme) in [
            (Some("http://localhost:8931"), "localhost:8931", http),
            (
                Some("https://tools.example.com"),
                "tools.example.com",
                https,
            ),
            (Some("http://localhost:3000"), "localhost:8931", None),
            (Some("null"), "localhost:8931", None),
            (None, "localhost:8931", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static(host));
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
            }
            assert_eq!(own_page(&headers), scheme, "{origin:?} {host}");
            let site = HeaderName::from_static("sec-fetch-site");
            headers.insert(site.clone(), HeaderValue::from_static("same-site"));
            assert_eq!(own_page(&headers), None, "{origin:?} {host}");
            headers.insert(site, HeaderValue::from_static("same-origin"));
            assert_eq!(own_page(&headers), scheme, "{origin:?} {host}");
        }
    }
}
