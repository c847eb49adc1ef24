//! Forwarding requests in absolute form to their server or to the upstream proxy.

use super::connection::{Body, Connection, MAX_HEAD_BYTES, MAX_HEADERS, closing};
use super::dial::{Failure, Stream, in_time};
use super::pool::{PooledConnection, To};
use super::rules::Destination;
use super::tunnel::{Server, Tunnel};
use crate::error::NetError;
use http::header::{
    CONNECTION, EXPECT, HOST, HeaderName, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE,
    UPGRADE,
};
use http::uri::{PathAndQuery, Scheme, Uri};
use http::{HeaderMap, Request, Response, StatusCode, Version};
use http_body_util::Either;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

impl Connection {
    /// Forwards a request, and returns its response.
    pub(super) async fn forward(
        &self,
        mut request: Request<Incoming>,
    ) -> Result<Response<Body>, Failure> {
        let uri = request.uri();
        let scheme = match uri.scheme_str() {
            Some("http") => "http",
            Some("ws") => "ws",
            _ => return Ok(closing(StatusCode::BAD_REQUEST)),
        };
        let authority = uri.authority();
        let destination = authority.and_then(|it| Destination::of_authority(it, Some(80)));
        let Some(destination) = destination else {
            return Ok(closing(StatusCode::BAD_REQUEST));
        };
        let path = uri.path_and_query().cloned();
        let path = path.unwrap_or(PathAndQuery::from_static("/"));
        if let Some(rule) = self.shared.rules.refusal(scheme, &destination) {
            return Err(Failure::Refused(rule));
        }

        let upgrade = take_upgrade(request.headers());
        remove_hop_by_hop(request.headers_mut());
        request.headers_mut().remove(EXPECT);
        let browser = upgrade.as_ref().map(|_| hyper::upgrade::on(&mut request));
        if let Some(protocol) = upgrade {
            put_upgrade(request.headers_mut(), protocol);
        }
        let host = destination.host.to_string();
        let host = match destination.port {
            80 => host,
            port => format!("{host}:{port}"),
        };
        let unusable = |error: http::Error| Failure::new(NetError::InvalidUrl, error);
        let host_header = HeaderValue::try_from(&host).map_err(|error| unusable(error.into()))?;
        request.headers_mut().insert(HOST, host_header);
        *request.version_mut() = Version::HTTP_11;

        // A protocol switch needs a tunnel, and a checked address must be the one that is used.
        let upstream = self.shared.upstream_for(&destination);
        let authorization = upstream
            .filter(|_| browser.is_none() && !self.shared.rules.need_addresses())
            .and_then(|upstream| upstream.authorization().ok());
        let to = match authorization {
            Some(authorization) => {
                let parts = Uri::builder().scheme(Scheme::HTTP).authority(host);
                *request.uri_mut() = parts.path_and_query(path).build().map_err(unusable)?;
                let headers = request.headers_mut();
                headers.extend(authorization.map(|value| (PROXY_AUTHORIZATION, value)));
                To::Upstream
            }
            None => {
                *request.uri_mut() = path.into();
                To::Server(destination.clone())
            }
        };

        let asked = upstream.filter(|_| to == To::Upstream);
        let sent = self.send(request, to, &destination).await;
        let sent = sent.and_then(|response| match asked {
            Some(upstream) => upstream.check(response.status()).map(|()| response),
            None => Ok(response),
        });
        self.shared.note(&destination, sent.as_ref().err());
        let mut response = sent?;
        *response.version_mut() = Version::HTTP_11;
        let upgrade = take_upgrade(response.headers());
        remove_hop_by_hop(response.headers_mut());
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            let (Some(browser), Some(protocol)) = (browser, upgrade) else {
                return Err(Failure::new(
                    NetError::InvalidHttpResponse,
                    "the server switches protocols, which it was not asked for",
                ));
            };
            put_upgrade(response.headers_mut(), protocol);
            let server = Server::Switching(hyper::upgrade::on(&mut response));
            let tunnel = Tunnel { browser, server };
            *self.tunnel.lock().expect("not poisoned") = Some(tunnel);
        }
        Ok(response.map(Either::Left))
    }

    /// Sends a request over the previous connection, if it has the same destination, otherwise over a new one.
    async fn send(
        &self,
        mut request: Request<Incoming>,
        to: To,
        destination: &Destination,
    ) -> Result<Response<Incoming>, Failure> {
        let held = self.held.lock().expect("not poisoned").take();
        let mut held = held.filter(|held| held.to == to);
        loop {
            let is_new = held.is_none();
            let mut connection = match held.take() {
                Some(connection) => connection,
                None => self.dial(&to, destination).await?,
            };
            let sent = match connection.sender.ready().await {
                Ok(()) => connection.sender.try_send_request(request).await,
                Err(_) if !is_new => continue,
                Err(error) => return Err(no_answer(&error)),
            };
            match sent {
                Ok(response) => {
                    *self.held.lock().expect("not poisoned") = Some(connection);
                    return Ok(response);
                }
                // The server had closed the connection before the request was sent.
                Err(mut error) => match error.take_message() {
                    Some(unsent) if !is_new => request = unsent,
                    _ => return Err(no_answer(error.error())),
                },
            }
        }
    }

    async fn dial(&self, to: &To, destination: &Destination) -> Result<PooledConnection, Failure> {
        let upstream = self.shared.upstream.as_ref();
        let stream: Stream = match (to, upstream) {
            (To::Upstream, Some(upstream)) => in_time(upstream.connect()).await?,
            _ => self.shared.open(destination).await?,
        };
        let (sender, driver) = http1::Builder::new()
            .preserve_header_case(true)
            .title_case_headers(true)
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .ignore_invalid_headers_in_responses(true)
            .max_headers(MAX_HEADERS)
            .max_header_size(MAX_HEAD_BYTES)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| no_answer(&error))?;
        let driver = driver.with_upgrades();
        let _driver = task::spawn("egress request", async {
            // The error is also that of the request.
            let _ = driver.await;
        });
        Ok(PooledConnection {
            to: to.clone(),
            sender,
            _driver,
        })
    }
}

fn no_answer(error: &hyper::Error) -> Failure {
    let net_error = match error.is_incomplete_message() || error.is_canceled() {
        true => NetError::EmptyResponse,
        false => NetError::InvalidHttpResponse,
    };
    Failure::new(net_error, error)
}

/// Returns the protocol that a message proposes to switch to.
fn take_upgrade(headers: &HeaderMap) -> Option<HeaderValue> {
    let mut options = headers.get_all(CONNECTION).iter().flat_map(options);
    let has_upgrade = options.any(|option| option == UPGRADE);
    has_upgrade.then(|| headers.get(UPGRADE).cloned()).flatten()
}

fn put_upgrade(headers: &mut HeaderMap, protocol: HeaderValue) {
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, protocol);
}

fn options(value: &HeaderValue) -> impl Iterator<Item = HeaderName> {
    let options = value.as_bytes().split(|byte| *byte == b',');
    options.filter_map(|option| HeaderName::from_bytes(option.trim_ascii()).ok())
}

/// Removes hop-by-hop headers: <https://www.rfc-editor.org/rfc/rfc9110#field.connection>. `Transfer-Encoding` is kept, because hyper uses
/// it.
fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named = headers.get_all(CONNECTION).iter().flat_map(options);
    let named: Vec<_> = named.filter(|name| name != HOST).collect();
    for name in named {
        headers.remove(name);
    }
    let more = ["keep-alive", "proxy-connection"].map(HeaderName::from_static);
    let known = [
        CONNECTION,
        PROXY_AUTHENTICATE,
        PROXY_AUTHORIZATION,
        TE,
        UPGRADE,
    ];
    for name in known.into_iter().chain(more) {
        headers.remove(name);
    }
}
