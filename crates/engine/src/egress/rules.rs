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

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: u16 = 8080;
    /// Spellings of an address that is private.
    const ADDRESS: [&str; 11] = [
        "127.0.0.2",
        "2130706434",
        "0177.0.0.2",
        "0x7f000002",
        "127.2",
        "\u{ff11}\u{ff12}\u{ff17}.0.0.2",
        "127.0.0.2.",
        "[::ffff:127.0.0.2]",
        "[::ffff:7f00:2]",
        "me:secret@127.0.0.2",
        "127.0.0.1@0x7f.2",
    ];
    /// Spellings of a name.
    const NAME: [&str; 6] = [
        "a.evil.test",
        "A.EVIL.test",
        "a.evil.test.",
        "\u{ff41}.\u{ff45}vil.test",
        "127.0.0.1@a.evil.test",
        "a%2eevil.test",
    ];

    /// A rule: whether it is about origins, what it allows and blocks, and whether it blocks private addresses.
    type Row = (bool, Option<&'static str>, &'static str, bool);

    fn rules((is_origin, allowed, blocked, block_private): Row) -> Rules {
        let list =
            |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
        let (allowed, blocked) = (allowed.map(list), list(blocked));
        let origins = match is_origin {
            true => OriginRules::new(allowed.as_deref(), &blocked),
            false => OriginRules::default().with_domains(allowed.as_deref(), &blocked),
        };
        Rules {
            origins,
            addresses: AddressRules {
                block_private,
                allowed_ports: None,
            },
        }
    }

    /// Returns whether the rules block a spelling with any scheme that connects; all schemes must be treated alike.
    fn are_blocked(rules: &Rules, host: &str) -> bool {
        let blocked = ["http", "https", "ws", "wss"].map(|scheme| {
            let url = Url::parse(&format!("{scheme}://{host}:{PORT}/")).expect(host);
            let destination = Destination::of(&url).expect(host);
            rules.refusal(scheme, &destination).is_some()
        });
        assert!(
            blocked.iter().all(|it| *it == blocked[0]),
            "{host}: {blocked:?}"
        );
        blocked[0]
    }

    #[test]
    fn each_rule_judges_all_spellings_of_a_destination_alike() {
        let table: [(Row, bool, bool); 18] = [
            ((false, Some("127.0.0.2"), "", false), false, true),
            ((false, Some("0x7f.2"), "", false), false, true),
            ((false, Some("127.0.0.1"), "", false), true, true),
            ((false, Some("a.evil.test"), "", false), true, false),
            ((false, Some("*.evil.test"), "", false), true, false),
            ((false, Some("evil.test"), "", false), true, true),
            ((false, None, "127.0.0.2", false), true, false),
            ((false, None, "*.evil.test", false), false, true),
            ((false, Some("*"), "a.evil.test", false), false, true),
            ((true, Some("127.0.0.2:8080"), "", false), false, true),
            (
                (true, Some("127.0.0.2:8081 a.evil.test"), "", false),
                true,
                true,
            ),
            ((true, Some("*.evil.test:*"), "", false), true, false),
            ((true, None, "127.0.0.2:*", false), true, false),
            (
                (true, None, "127.0.0.2:8081 a.evil.test:8080", false),
                false,
                true,
            ),
            ((false, None, "", true), true, false),
            ((false, Some("*"), "", true), true, false),
            (
                (false, Some("127.0.0.2 a.evil.test"), "", true),
                false,
                false,
            ),
            ((true, Some("127.0.0.2:8080"), "", true), false, true),
        ];
        for (row, blocks_address, blocks_name) in table {
            let rules = rules(row);
            for host in ADDRESS {
                assert_eq!(are_blocked(&rules, host), blocks_address, "{row:?}: {host}");
            }
            for host in NAME {
                assert_eq!(are_blocked(&rules, host), blocks_name, "{row:?}: {host}");
            }
        }
    }

    #[test]
    fn a_blocked_loopback_address_is_blocked_in_each_form() {
        let blocked = |blocked, host| are_blocked(&rules((false, None, blocked, false)), host);
        for host in ["127.0.0.1", "0.0.0.0", "0", "0x0.0", "[::ffff:0.0.0.0]"] {
            for rule in ["127.0.0.1", "127.0.0.1:8080", "127.*"] {
                assert!(blocked(rule, host), "{rule}: {host}");
            }
            assert!(!blocked("127.0.0.1:8081", host), "{host}");
        }
        assert!(blocked("[::1]", "[::]") && !blocked("127.0.0.2", "0.0.0.0"));
        assert!(blocked("10.0.0.1", "[64:ff9b::10.0.0.1]"));
    }

    #[test]
    fn a_name_is_judged_by_its_addresses_too() {
        let table: [(Row, &str, bool); 11] = [
            ((false, None, "", false), "127.0.0.2", false),
            ((false, None, "127.0.0.2", false), "127.0.0.2", true),
            ((false, None, "127.0.0.2", false), "::ffff:127.0.0.2", true),
            ((false, None, "127.0.0.1", false), "0.0.0.0", true),
            ((false, None, "127.0.0.1", false), "::ffff:0.0.0.0", true),
            ((true, None, "127.0.0.2:8081", false), "127.0.0.2", false),
            ((false, None, "", true), "127.0.0.2", true),
            ((false, Some("*.evil.test"), "", true), "10.0.0.1", true),
            ((false, Some("a.evil.test"), "", true), "10.0.0.1", true),
            (
                (false, Some("a.evil.test 10.0.0.1"), "", true),
                "10.0.0.1",
                false,
            ),
            ((false, Some("*.evil.test"), "", true), "192.0.43.8", false),
        ];
        for (row, address, is_blocked) in table {
            let rules = rules(row);
            let address: IpAddr = address.parse().expect("an address");
            for host in NAME {
                let url = Url::parse(&format!("http://{host}:{PORT}/")).expect(host);
                let destination = Destination::of(&url).expect(host);
                let refusal = rules.refusal_of_address(&destination, address);
                assert_eq!(
                    refusal.is_some(),
                    is_blocked,
                    "{row:?}: {host}: {refusal:?}"
                );
            }
        }
    }
}
