//! The destination of a connection, and the rules that apply to it.

use crate::addresses::AddressRules;
use crate::origins::OriginRules;
use std::fmt;
use std::net::IpAddr;
use url::{Host, Url};

/// A host and a port. All notations of an IP address are one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Destination {
    pub(super) host: Host<String>,
    pub(super) port: u16,
}

impl Destination {
    /// Returns the destination of an `http`, `https`, `ws` or `wss` URL.
    pub(super) fn of(url: &Url) -> Option<Self> {
        if !matches!(url.scheme(), "http" | "https" | "ws" | "wss") {
            return None;
        }
        Some(Self::new(
            url.host()?.to_owned(),
            url.port_or_known_default()?,
        ))
    }

    /// Returns the destination of a request; `port` is the default.
    pub(super) fn of_authority(
        authority: &http::uri::Authority,
        port: Option<u16>,
    ) -> Option<Self> {
        let host = Host::parse(authority.host()).ok()?;
        let port = authority.port_u16().or(port)?;
        (port != 0).then(|| Self::new(host, port))
    }

    fn new(host: Host<String>, port: u16) -> Self {
        let host = match host {
            Host::Ipv6(address) => match address.to_ipv4_mapped() {
                Some(address) => Host::Ipv4(address),
                None => Host::Ipv6(address),
            },
            host => host,
        };
        Self { host, port }
    }

    pub(super) fn of_address(address: std::net::SocketAddr) -> Self {
        let host = match address.ip() {
            IpAddr::V4(address) => Host::Ipv4(address),
            IpAddr::V6(address) => Host::Ipv6(address),
        };
        Self::new(host, address.port())
    }

    /// Returns the IP address, if the host is not a name.
    pub(super) fn ip(&self) -> Option<IpAddr> {
        match &self.host {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(IpAddr::V4(*address)),
            Host::Ipv6(address) => Some(IpAddr::V6(*address)),
        }
    }

    /// Returns whether the host is a name that always resolves to loopback: <https://www.rfc-editor.org/rfc/rfc6761#section-6.3>.
    pub(super) fn is_localhost(&self) -> bool {
        let Host::Domain(name) = &self.host else {
            return false;
        };
        let name = name.strip_suffix('.').unwrap_or(name);
        name == "localhost" || name.ends_with(".localhost")
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// The rules of an egress proxy.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) origins: OriginRules,
    pub(super) addresses: AddressRules,
}

impl Rules {
    /// Returns the rule that blocks a destination, as far as it does not depend on addresses.
    pub(super) fn refusal(&self, scheme: &str, destination: &Destination) -> Option<String> {
        let by_origin = self.origins.refusal(&format!("{scheme}://{destination}/"));
        by_origin
            .or_else(|| self.addresses.refusal_of_port(destination.port))
            .or_else(|| self.refusal_of_address(destination, destination.ip()?))
    }

    /// Returns the rule that blocks the destination at one of its addresses.
    pub(super) fn refusal_of_address(
        &self,
        destination: &Destination,
        address: IpAddr,
    ) -> Option<String> {
        let port = destination.port;
        let leads_to = match destination.ip() {
            Some(_) => format!("{} is", destination.host),
            None => format!("{} resolves to {address},", destination.host),
        };
        if let Some(rule) = self.origins.refusal_of_address(address, port) {
            return Some(rule);
        }
        let kind = self.addresses.refused_kind(address)?;
        // The owner of a name can change its address at any time, so only the address itself can be exempt.
        let host = match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        let is_exempt = self.origins.allow_literally(&host, port)
            || destination.is_localhost()
                && address.is_loopback()
                && self
                    .origins
                    .allow_literally(&destination.host.to_string(), port);
        (!is_exempt).then(|| format!("{leads_to} {kind}"))
    }

    /// Returns whether the rules need the addresses of a name even if a proxy connects to it.
    pub(super) fn need_addresses(&self) -> bool {
        self.addresses.block_private
    }
}
