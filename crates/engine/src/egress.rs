//! The egress proxy of a browser context: a forward proxy on the loopback interface that enforces the rules about origins and addresses,
//! forwards to the upstream proxy, and implements throttling and offline mode.
//!
//! The browser uses [`Egress::address`] as an HTTP proxy for all connections, including loopback. It requests `http` (and in WebKit `ws`)
//! in absolute form and the rest with `CONNECT`. Blocked and failed connections are network failures for the page; [`Egress::refusal`] and
//! [`Egress::failure`] return the reason. The proxy serves only processes of the current user, which it checks on Linux; on other systems
//! only the number of its port protects it, which any local process can find out.
//! <https://www.rfc-editor.org/rfc/rfc9110#name-intermediaries>

mod certificate;
mod connection;
mod dial;
mod forward;
mod outcomes;
mod pool;
mod rules;
mod socks;
mod throttle;
mod tls;
mod tunnel;
mod upstream;

#[cfg(test)]
mod tests;

use crate::addresses::AddressRules;
use crate::backend::{Proxy, Throttling, TlsOptions};
use crate::error::{Error, NetError, Result};
use crate::origins::OriginRules;
pub(crate) use certificate::own_public_key_hash;
use outcomes::{Outcome, Outcomes};
use rules::{Destination, Rules};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use task::{self, Task};
use throttle::Throttle;
use tls::Termination;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use upstream::Upstream;
use url::Url;

/// The largest number of concurrent connections; further ones wait to be accepted.
const MAX_CONNECTIONS: usize = 512;

/// The interval between attempts to accept a connection after an error such as too many open files.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// The rules of an egress proxy.
#[derive(Debug, Clone, Default)]
pub(crate) struct EgressOptions {
    /// The rules about origins.
    pub(crate) origins: OriginRules,
    /// The rules about addresses and ports.
    pub(crate) addresses: AddressRules,
    /// The upstream proxy.
    pub(crate) upstream: Option<Proxy>,
    /// Whether offline mode is on.
    pub(crate) offline: bool,
    /// The throttling.
    pub(crate) throttling: Throttling,
    /// The certificates with which servers are verified, and those that they get. If there are any, TLS is terminated here.
    pub(crate) tls: TlsOptions,
    /// Whether to accept any certificate of an `https://` upstream proxy, and of servers.
    pub(crate) ignore_https_errors: bool,
}

/// The forward proxy of one browser context. Dropping it closes its listener and all connections.
pub(crate) struct Egress {
    shared: Arc<Shared>,
    _listener: Task,
}

/// The state that the connections share.
struct Shared {
    address: SocketAddr,
    rules: Rules,
    upstream: Option<Upstream>,
    tls: Option<Termination>,
    throttle: Arc<Throttle>,
    offline: watch::Sender<bool>,
    outcomes: Outcomes,
}

impl Egress {
    /// Starts to listen on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if the upstream proxy or a certificate is invalid, [`Error::LaunchFailed`] if no port is free.
    pub(crate) async fn start(options: EgressOptions) -> Result<Self> {
        let upstream = options.upstream.as_ref();
        let (tls, accepts_any) = (&options.tls, options.ignore_https_errors);
        let upstream = upstream.map(|proxy| Upstream::new(proxy, tls, accepts_any));
        let upstream = upstream.transpose()?;
        let tls = (!tls.is_empty()).then(|| Termination::new(tls, accepts_any));
        let tls = tls.transpose()?;
        let failed = |error: std::io::Error| Error::LaunchFailed {
            reason: format!("the proxy of the browser context cannot listen on 127.0.0.1: {error}"),
            log: String::new(),
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.map_err(failed)?;
        let shared = Arc::new(Shared {
            address: listener.local_addr().map_err(failed)?,
            rules: Rules {
                origins: options.origins,
                addresses: options.addresses,
            },
            upstream,
            tls,
            throttle: Arc::new(Throttle::new(options.throttling)),
            offline: watch::Sender::new(options.offline),
            outcomes: Outcomes::default(),
        });
        Ok(Self {
            _listener: task::spawn("egress", accept(listener, shared.clone())),
            shared,
        })
    }

    /// Returns the address of the listener, which uses HTTP.
    pub(crate) fn address(&self) -> SocketAddr {
        self.shared.address
    }

    /// Turns offline mode on, which closes all connections, or off.
    pub(crate) fn set_offline(&self, offline: bool) {
        self.shared.offline.send_replace(offline);
    }

    /// Sets the throttling of existing and new connections.
    pub(crate) fn set_throttling(&self, throttling: Throttling) {
        self.shared.throttle.set(throttling);
    }

    /// Returns the text of the rule that blocks the URL. Rules about addresses are known for resolved names.
    pub(crate) fn refusal(&self, url: &str) -> Option<String> {
        let url = Url::parse(url).ok()?;
        let destination = Destination::of(&url)?;
        let rules = &self.shared.rules;
        rules.refusal(url.scheme(), &destination).or_else(|| {
            match self.shared.outcomes.of(&destination)? {
                Outcome::Refused(rule) => Some(rule),
                Outcome::Failed(_) => None,
            }
        })
    }

    /// Returns why the last connection for the URL failed; `None` if it succeeded.
    pub(crate) fn failure(&self, url: &str) -> Option<NetError> {
        if *self.shared.offline.borrow() {
            return Some(NetError::InternetDisconnected);
        }
        let destination = Destination::of(&Url::parse(url).ok()?)?;
        match self.shared.outcomes.of(&destination)? {
            Outcome::Failed(error) => Some(error),
            Outcome::Refused(_) => None,
        }
    }
}

/// Accepts connections until it is dropped, which closes them.
async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut offline = shared.offline.subscribe();
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Ok(()) = offline.changed() => {
                if *offline.borrow_and_update() {
                    connections.abort_all();
                }
            }
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                Ok(_) if *shared.offline.borrow() => {}
                Ok((stream, peer)) => {
                    connections.spawn(connection::serve(shared.clone(), stream, peer));
                }
                Err(error) => {
                    tracing::warn!(%error, "a browser's connection cannot be accepted");
                    tokio::time::sleep(ACCEPT_RETRY_INTERVAL).await;
                }
            },
        }
    }
}
