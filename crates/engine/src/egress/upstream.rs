//! Connections through the upstream proxy.

use super::Shared;
use super::dial::{Failure, Stream, connect_to_proxy};
use super::rules::Destination;
use super::socks::{SocksError, connect_v4, connect_v5};
use super::tls::client_config;
use crate::backend::{Endpoint, Proxy, ProxyScheme, TlsOptions};
use crate::error::{NetError, Result as Checked};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{HOST, HeaderValue, PROXY_AUTHORIZATION};
use http::{Method, Request, StatusCode};
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use url::Host;

/// The longest name of a host, with a dot at its end: <https://www.rfc-editor.org/rfc/rfc1035#section-2.3.4>.
const MAX_NAME: usize = 254;

/// The upstream proxy and its protocol.
pub(super) struct Upstream {
    proxy: Proxy,
    endpoint: Endpoint,
    /// The `Proxy-Authorization` header, for an HTTP proxy with a user name.
    authorization: Option<HeaderValue>,
    tls: Option<TlsConnector>,
}

impl fmt::Debug for Upstream {
    /// Omits the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Upstream").field(&self.endpoint).finish()
    }
}

impl Shared {
    /// Returns the proxy for a destination, if it is not bypassed.
    pub(super) fn upstream_for(&self, destination: &Destination) -> Option<&Upstream> {
        let upstream = self.upstream.as_ref()?;
        let bypassed = upstream.proxy.bypasses(&destination.host, destination.port);
        (!bypassed).then_some(upstream)
    }
}

impl Upstream {
    pub(super) fn new(proxy: &Proxy, tls: &TlsOptions, accepts_any: bool) -> Checked<Self> {
        let endpoint = proxy.endpoint()?;
        let password = proxy.password.as_deref().unwrap_or_default();
        let authorization = proxy.username.as_ref().map(|username| {
            let token = STANDARD.encode(format!("{username}:{password}"));
            let value = HeaderValue::try_from(format!("Basic {token}"));
            let mut value = value.expect("Base64 is a header's text");
            value.set_sensitive(true);
            value
        });
        let tls = (endpoint.scheme == ProxyScheme::Https).then(|| client_config(tls, accepts_any));
        Ok(Self {
            proxy: proxy.clone(),
            endpoint,
            authorization,
            tls: tls
                .transpose()?
                .map(|config| TlsConnector::from(Arc::new(config.with_no_client_auth()))),
        })
    }

    /// Returns the credentials for a request in absolute form; `Err` if the proxy does not use HTTP.
    pub(super) fn authorization(&self) -> Result<Option<HeaderValue>, ()> {
        match self.endpoint.scheme {
            ProxyScheme::Http | ProxyScheme::Https => Ok(self.authorization.clone()),
            ProxyScheme::Socks4 | ProxyScheme::Socks4a | ProxyScheme::Socks5 => Err(()),
        }
    }

    /// Returns whether the proxy resolves no names.
    pub(super) fn needs_addresses(&self) -> bool {
        self.endpoint.scheme == ProxyScheme::Socks4
    }

    /// Connects to the proxy itself.
    pub(super) async fn connect(&self) -> Result<Stream, Failure> {
        let Endpoint { host, port, .. } = &self.endpoint;
        let stream = connect_to_proxy(host, *port).await?;
        let Some(tls) = &self.tls else {
            return Ok(Box::new(stream));
        };
        let name = match host {
            Host::Ipv4(address) => ServerName::from(IpAddr::V4(*address)),
            Host::Ipv6(address) => ServerName::from(IpAddr::V6(*address)),
            Host::Domain(name) => ServerName::try_from(name.clone())
                .map_err(|error| self.failed(NetError::ProxyConnectionFailed, error))?,
        };
        let stream = tls.connect(name, stream).await;
        let failed = |error| self.failed(NetError::ProxyCertificateInvalid, error);
        Ok(Box::new(stream.map_err(failed)?))
    }

    /// Connects to a destination through the proxy.
    pub(super) async fn tunnel(&self, destination: &Destination) -> Result<Stream, Failure> {
        if destination.host.to_string().len() > MAX_NAME {
            return Err(Failure::new(
                NetError::NameNotResolved,
                "the name is too long",
            ));
        }
        let mut stream = self.connect().await?;
        let socks_failed = |error: SocksError| self.failed(NetError::SocksConnectionFailed, error);
        let (username, password) = (
            self.proxy.username.as_deref(),
            self.proxy.password.as_deref(),
        );
        match self.endpoint.scheme {
            ProxyScheme::Http | ProxyScheme::Https => {
                return self.connect_method(stream, destination).await;
            }
            ProxyScheme::Socks4 | ProxyScheme::Socks4a => {
                connect_v4(&mut stream, destination, username.unwrap_or_default()).await
            }
            ProxyScheme::Socks5 => {
                connect_v5(&mut stream, destination, username.zip(password)).await
            }
        }
        .map_err(socks_failed)?;
        Ok(stream)
    }

    /// Opens a tunnel: <https://www.rfc-editor.org/rfc/rfc9110#CONNECT>.
    async fn connect_method(
        &self,
        stream: Stream,
        destination: &Destination,
    ) -> Result<Stream, Failure> {
        let failed = |error: hyper::Error| self.failed(NetError::TunnelConnectionFailed, error);
        let mut builder = http1::Builder::new();
        builder.title_case_headers(true);
        let (mut sender, connection) = builder
            .handshake(TokioIo::new(stream))
            .await
            .map_err(failed)?;
        let connection = connection.with_upgrades();
        let _connection = task::spawn("egress upstream", async {
            // The error is also that of the request.
            let _ = connection.await;
        });
        let authority = destination.to_string();
        let mut request = Request::new(Empty::<Bytes>::new());
        *request.method_mut() = Method::CONNECT;
        let (uri, host) = (authority.parse(), HeaderValue::try_from(&authority));
        let (Ok(uri), Ok(host)) = (uri, host) else {
            let reason = format!("{authority} cannot be asked for");
            return Err(self.failed(NetError::TunnelConnectionFailed, reason));
        };
        *request.uri_mut() = uri;
        request.headers_mut().insert(HOST, host);
        if let Some(authorization) = self.authorization.clone() {
            request
                .headers_mut()
                .insert(PROXY_AUTHORIZATION, authorization);
        }
        let response = sender.send_request(request).await.map_err(failed)?;
        self.check(response.status())?;
        if !response.status().is_success() {
            let reason = format!(
                "CONNECT {authority} was answered with {}",
                response.status()
            );
            return Err(self.failed(NetError::TunnelConnectionFailed, reason));
        }
        let upgraded = hyper::upgrade::on(response).await.map_err(failed)?;
        Ok(Box::new(TokioIo::new(upgraded)))
    }

    /// Returns an error for a 407: the browser has only the credentials of the egress proxy.
    pub(super) fn check(&self, status: StatusCode) -> Result<(), Failure> {
        if status != StatusCode::PROXY_AUTHENTICATION_REQUIRED {
            return Ok(());
        }
        let reason = match self.authorization {
            Some(_) => "it does not accept the user name and password",
            None => "it asks for a user name and a password",
        };
        Err(self.failed(NetError::ProxyAuthRequested, reason))
    }

    fn failed(&self, error: NetError, reason: impl ToString) -> Failure {
        let (server, reason) = (&self.proxy.server, reason.to_string());
        tracing::warn!(server, reason, "the proxy server made no connection");
        Failure::new(error, format!("{server}: {reason}"))
    }
}
