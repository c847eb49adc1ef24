//! The one way out of a browser context: a forward proxy on loopback that enforces the rules about origins and
//! addresses, passes requests on to the user's own proxy, and throttles or cuts the network.
//!
//! The browser is told to use [`Egress::address`] as an HTTP proxy for everything, loopback included. It asks for
//! `http` (and, as WebKit does, for `ws`) in absolute form and for the rest with `CONNECT`. What the rules refuse, and
//! what cannot be connected to, fails in the page like a network failure; [`Egress::refusal`] and [`Egress::failure`]
//! say why. It serves processes of the user who runs this one: that is checked on Linux; elsewhere only the number of
//! its port, which any local process can find out, protects it. <https://www.rfc-editor.org/rfc/rfc9110#name-intermediaries>

mod connection;
mod dial;
mod forward;
mod outcomes;
mod peer;
mod pool;
mod rules;
mod throttle;
mod tunnel;
mod upstream;

#[cfg(test)]
mod tests;

use crate::addresses::AddressRules;
use crate::backend::{Proxy, Throttling};
use crate::error::{Error, Result};
use crate::origins::OriginRules;
use outcomes::{Outcome, Outcomes};
use rules::{Destination, Rules};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use task::{self, Task};
use throttle::Throttle;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use upstream::Upstream;
use url::Url;

/// How many connections of a browser are served at once; more wait to be accepted.
const MAX_CONNECTIONS: usize = 512;

/// How long to wait when no connection can be accepted, as there are too many open files.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// What an egress enforces.
#[derive(Debug, Clone, Default)]
pub(crate) struct EgressOptions {
    /// Which origins may be requested.
    pub(crate) origins: OriginRules,
    /// Which addresses and ports may be connected to.
    pub(crate) addresses: AddressRules,
    /// The user's own proxy, through which everything goes.
    pub(crate) upstream: Option<Proxy>,
    /// Connect to nothing.
    pub(crate) offline: bool,
    /// How slow the network is.
    pub(crate) throttling: Throttling,
    /// Accept any certificate of an `https://` upstream.
    pub(crate) ignore_https_errors: bool,
}

/// A forward proxy for one browser context. Dropping it closes its listener and all connections.
pub(crate) struct Egress {
    shared: Arc<Shared>,
    _listener: Task,
}

/// What all connections of an egress share.
struct Shared {
    address: SocketAddr,
    rules: Rules,
    upstream: Option<Upstream>,
    throttle: Arc<Throttle>,
    offline: watch::Sender<bool>,
    outcomes: Outcomes,
}

impl Egress {
    /// Starts listening on a port of 127.0.0.1 that the system chooses.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if the upstream is none, [`Error::LaunchFailed`] if no port is free.
    pub(crate) async fn start(options: EgressOptions) -> Result<Self> {
        let upstream = options.upstream.as_ref();
        let upstream = upstream.map(|proxy| Upstream::new(proxy, options.ignore_https_errors));
        let upstream = upstream.transpose()?;
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
            throttle: Arc::new(Throttle::new(options.throttling)),
            offline: watch::Sender::new(options.offline),
            outcomes: Outcomes::default(),
        });
        Ok(Self {
            _listener: task::spawn("egress", accept(listener, shared.clone())),
            shared,
        })
    }

    /// Where it listens; it speaks HTTP.
    pub(crate) fn address(&self) -> SocketAddr {
        self.shared.address
    }

    /// Ends all connections and refuses new ones, or connects again.
    pub(crate) fn set_offline(&self, offline: bool) {
        self.shared.offline.send_replace(offline);
    }

    /// Throttles all connections from now on, those that exist too.
    pub(crate) fn set_throttling(&self, throttling: Throttling) {
        self.shared.throttle.set(throttling);
    }

    /// The rule, in words, by which the URL is refused. A rule about addresses is known for names that were resolved.
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

    /// Why the last connection for the URL failed, by the name that Chromium gives the error: `net::ERR_…`. `None` if
    /// it did not fail.
    pub(crate) fn failure(&self, url: &str) -> Option<&'static str> {
        if *self.shared.offline.borrow() {
            return Some("net::ERR_INTERNET_DISCONNECTED");
        }
        let destination = Destination::of(&Url::parse(url).ok()?)?;
        match self.shared.outcomes.of(&destination)? {
            Outcome::Failed(error) => Some(error),
            Outcome::Refused(_) => None,
        }
    }
}

/// Serves connections until it is dropped, which ends them.
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
