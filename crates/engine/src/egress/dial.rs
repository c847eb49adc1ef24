//! Opening connections: a name is resolved once, its addresses are checked, and the connection uses a checked address.

use super::Shared;
use super::outcomes::Outcome;
use super::rules::Destination;
use crate::error::NetError;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{sleep, timeout};
use url::Host;

/// How long establishing a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// How long to wait for an address before the next one is tried in parallel: <https://www.rfc-editor.org/rfc/rfc8305#section-5>.
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// The largest number of addresses of a name that are tried through a proxy, one after the other.
const MAX_PROXIED_ADDRESSES: usize = 3;

/// A connection to a server or through a proxy.
pub(super) type Stream = Box<dyn Connected>;

pub(super) trait Connected: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Connected for S {}

/// Why a connection failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Failure {
    #[error("{0}")]
    Refused(String),
    /// A failure of the network or the upstream proxy, with the details.
    #[error("{error}: {reason}")]
    Failed { error: NetError, reason: String },
}

impl Failure {
    pub(super) fn new(error: NetError, reason: impl ToString) -> Self {
        Self::Failed {
            error,
            reason: reason.to_string(),
        }
    }

    fn outcome(&self) -> Outcome {
        match self {
            Self::Refused(rule) => Outcome::Refused(rule.clone()),
            Self::Failed { error, .. } => Outcome::Failed(error.clone()),
        }
    }
}

impl Shared {
    /// Connects to a destination, directly or through the upstream proxy, and records the outcome.
    pub(super) async fn open(&self, destination: &Destination) -> Result<Stream, Failure> {
        let opened = in_time(self.try_to_open(destination)).await;
        self.note(destination, opened.as_ref().err());
        opened
    }

    /// Records the outcome of a connection, for [`super::Egress::refusal`] and [`super::Egress::failure`].
    pub(super) fn note(&self, destination: &Destination, failure: Option<&Failure>) {
        if let Some(failure) = failure {
            tracing::debug!(%destination, %failure, "no connection");
        }
        let outcome = failure.map(Failure::outcome);
        self.outcomes.record(destination, outcome);
    }

    async fn try_to_open(&self, destination: &Destination) -> Result<Stream, Failure> {
        let Some(upstream) = self.upstream_for(destination) else {
            let (addresses, refused) = self.resolve(destination).await?;
            return match (connect(&addresses).await, refused) {
                (Ok(stream), _) => Ok(Box::new(stream)),
                (Err(_), Some(rule)) => Err(Failure::Refused(rule)),
                (Err(error), None) => Err(network_failure(error)),
            };
        };
        if !upstream.needs_addresses() && !self.rules.need_addresses() {
            return upstream.tunnel(destination).await;
        }
        let (addresses, refused) = self.resolve(destination).await?;
        let mut failure = Failure::new(NetError::NameNotResolved, "no address");
        for address in addresses.into_iter().take(MAX_PROXIED_ADDRESSES) {
            match upstream.tunnel(&Destination::of_address(address)).await {
                Ok(stream) => return Ok(stream),
                Err(error) => failure = error,
            }
        }
        Err(refused.map_or(failure, Failure::Refused))
    }

    /// Returns the addresses of a destination that the rules allow, and the rule that blocks the others.
    async fn resolve(
        &self,
        destination: &Destination,
    ) -> Result<(Vec<SocketAddr>, Option<String>), Failure> {
        let port = destination.port;
        let all = match &destination.host {
            _ if destination.is_localhost() => vec![
                IpAddr::V4(Ipv4Addr::LOCALHOST),
                IpAddr::V6(Ipv6Addr::LOCALHOST),
            ],
            Host::Ipv4(address) => vec![IpAddr::V4(*address)],
            Host::Ipv6(address) => vec![IpAddr::V6(*address)],
            Host::Domain(name) => lookup(name).await?,
        };
        let mut refusal = None;
        let mut allowed = Vec::with_capacity(all.len());
        for address in all {
            let socket = SocketAddr::new(address, port);
            let rule = match socket == self.address {
                true => Some("it is the proxy of the browser context itself".to_owned()),
                false => self.rules.refusal_of_address(destination, address),
            };
            match rule {
                Some(rule) => refusal = Some(rule),
                None => allowed.push(socket),
            }
        }
        Ok((allowed, refusal))
    }
}

/// Awaits `opening`, and fails on timeout.
pub(super) async fn in_time(
    opening: impl Future<Output = Result<Stream, Failure>>,
) -> Result<Stream, Failure> {
    let opened = timeout(CONNECT_TIMEOUT, opening).await;
    opened.unwrap_or_else(|_| {
        let reason = format!("no connection within {CONNECT_TIMEOUT:?}");
        Err(Failure::new(NetError::ConnectionTimedOut, reason))
    })
}

async fn lookup(name: &str) -> Result<Vec<IpAddr>, Failure> {
    let not_resolved = |reason: String| Failure::new(NetError::NameNotResolved, reason);
    let found = lookup_host((name, 0)).await;
    let found = found.map_err(|error| not_resolved(format!("{name}: {error}")))?;
    let addresses: Vec<_> = found.map(|address| address.ip().to_canonical()).collect();
    match addresses.is_empty() {
        true => Err(not_resolved(format!("{name} has no address"))),
        false => Ok(addresses),
    }
}

/// Connects to the first address that accepts.
async fn connect(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut rest = addresses.iter();
    let mut attempts = FuturesUnordered::new();
    let mut failure = io::Error::from(ErrorKind::AddrNotAvailable);
    loop {
        attempts.extend(rest.next().map(|address| TcpStream::connect(*address)));
        tokio::select! {
            attempt = attempts.next() => match attempt {
                Some(Ok(stream)) => {
                    stream.set_nodelay(true)?;
                    return Ok(stream);
                }
                Some(Err(error)) => failure = error,
                None => return Err(failure),
            },
            () = sleep(ATTEMPT_DELAY), if rest.len() > 0 => {}
        }
    }
}

/// Connects to the upstream proxy, to which no rule applies.
pub(super) async fn connect_to_proxy(host: &Host<String>, port: u16) -> Result<TcpStream, Failure> {
    let failed = |reason: String| {
        tracing::warn!(%host, port, reason, "the proxy server cannot be reached");
        Failure::new(NetError::ProxyConnectionFailed, reason)
    };
    let addresses = match host {
        Host::Ipv4(address) => vec![IpAddr::V4(*address)],
        Host::Ipv6(address) => vec![IpAddr::V6(*address)],
        Host::Domain(name) => lookup(name)
            .await
            .map_err(|error| failed(error.to_string()))?,
    };
    let addresses: Vec<_> = addresses
        .into_iter()
        .map(|address| SocketAddr::new(address, port))
        .collect();
    connect(&addresses)
        .await
        .map_err(|error| failed(error.to_string()))
}

/// Converts an error of a connection to a net error.
fn network_failure(error: io::Error) -> Failure {
    let net_error = match error.kind() {
        ErrorKind::ConnectionRefused => NetError::ConnectionRefused,
        ErrorKind::ConnectionReset => NetError::ConnectionReset,
        ErrorKind::TimedOut => NetError::ConnectionTimedOut,
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => NetError::AddressUnreachable,
        ErrorKind::AddrNotAvailable => NetError::AddressInvalid,
        _ => NetError::ConnectionFailed,
    };
    Failure::new(net_error, error)
}
