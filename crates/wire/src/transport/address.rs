//! The host and credentials of an endpoint's URL, and TCP connections to it.

use std::io;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::no_delay::NoDelayStream;
use crate::error::ConnectFailure;

/// Connects to the first address that accepts: `localhost` often has two, and a browser listens on one.
pub(crate) async fn tcp(host: &str, port: u16) -> Result<NoDelayStream, ConnectFailure> {
    let unresolved = |message: String| ConnectFailure::Resolve {
        host: host.into(),
        message,
    };
    let addresses = tokio::net::lookup_host((host, port))
        .await
        .map_err(|error| unresolved(error.to_string()))?;
    let mut failure = unresolved("no address".into());
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(socket) => return Ok(NoDelayStream::new(socket)),
            Err(error) => {
                let address = format!("{}:{port}", address.ip());
                failure = match error.kind() {
                    io::ErrorKind::ConnectionRefused => ConnectFailure::Refused { address },
                    _ => ConnectFailure::Tcp {
                        address,
                        message: error.to_string(),
                    },
                };
            }
        }
    }
    Err(failure)
}

/// Encrypts a connection to the host.
pub(crate) async fn tls(
    host: &str,
    socket: NoDelayStream,
) -> Result<TlsStream<NoDelayStream>, ConnectFailure> {
    let name = ServerName::try_from(host.to_owned())
        .map_err(|error| ConnectFailure::Invalid(error.to_string()))?;
    let roots = rustls::RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    // Without a default provider rustls panics. One that is installed already is kept.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = rustls::ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connected = TlsConnector::from(Arc::new(config)).connect(name, socket);
    let failed = |error: io::Error| ConnectFailure::Handshake(error.to_string());
    connected.await.map_err(failed)
}

/// Returns the range of `user:password` in a URL.
fn userinfo(url: &str) -> Option<std::ops::Range<usize>> {
    let start = url.find("://")? + 3;
    let end = url[start..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |end| start + end);
    let at = url[start..end].rfind('@')?;
    Some(start..start + at)
}

pub(crate) fn without_credentials(url: &str) -> String {
    match userinfo(url) {
        Some(range) => format!("{}{}", &url[..range.start], &url[range.end + 1..]),
        None => url.into(),
    }
}

pub(crate) fn credentials(url: &str) -> Option<Vec<u8>> {
    let text = &url[userinfo(url)?];
    let mut decoded = Vec::with_capacity(text.len() + 1);
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        let escaped = tail
            .get(..2)
            .filter(|_| *byte == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(escaped.unwrap_or(*byte));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    if !text.contains(':') {
        decoded.push(b':');
    }
    Some(decoded)
}

pub(crate) fn excerpt(body: &[u8]) -> String {
    String::from_utf8_lossy(&body[..body.len().min(500)])
        .trim()
        .into()
}
