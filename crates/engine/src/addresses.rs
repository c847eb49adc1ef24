//! Rules about IP addresses and ports. The egress proxy enforces them after name resolution.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Rules about the addresses and ports that pages may connect to, under any host name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressRules {
    /// Blocks addresses that are not globally reachable (loopback, private, link-local, shared, reserved) and those of cloud metadata
    /// services. An address that [`crate::OriginRules`] allow literally is exempt, and `localhost` if it is allowed literally.
    pub block_private: bool,
    /// The ports that may be connected to; `None`: all.
    pub allowed_ports: Option<Vec<u16>>,
}

/// The addresses of cloud metadata services, which return credentials: AWS, Azure, Google, Oracle, Alibaba.
const METADATA: [IpAddr; 9] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
];

impl AddressRules {
    /// Returns whether the rules allow everything.
    pub fn is_empty(&self) -> bool {
        !self.block_private && self.allowed_ports.is_none()
    }

    /// Returns the text of the rule that blocks a port, if any.
    pub(crate) fn refusal_of_port(&self, port: u16) -> Option<String> {
        let allowed = self.allowed_ports.as_ref()?;
        if allowed.contains(&port) {
            return None;
        }
        let ports: Vec<_> = allowed.iter().map(u16::to_string).collect();
        Some(format!(
            "port {port} is none of the allowed ports ({})",
            ports.join(", ")
        ))
    }

    /// Returns the kind of an address that is blocked; `None` if it is allowed.
    pub(crate) fn refused_kind(&self, address: IpAddr) -> Option<&'static str> {
        if !self.block_private {
            return None;
        }
        let address = embedded(address);
        if METADATA.contains(&address) {
            return Some("the address of a cloud metadata service");
        }
        let is_private = match address {
            IpAddr::V4(address) => is_private_v4(address),
            IpAddr::V6(address) => is_private_v6(address),
        };
        is_private.then_some("a private address")
    }
}

/// Returns the IPv4 address that is embedded in an IPv6 address, or the address itself.
pub(crate) fn embedded(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else {
        return address;
    };
    let [_, b, c, .., y, z] = v6.segments();
    let of = |high: u16, low: u16| {
        IpAddr::V4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
    };
    match v6.segments() {
        // Mapped, https://www.rfc-editor.org/rfc/rfc4291#section-2.5.5.2
        [0, 0, 0, 0, 0, 0xffff, ..] => of(y, z),
        // Translated, https://www.rfc-editor.org/rfc/rfc2765
        [0, 0, 0, 0, 0xffff, 0, ..] => of(y, z),
        // NAT64, https://www.rfc-editor.org/rfc/rfc6052
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => of(y, z),
        // 6to4, https://www.rfc-editor.org/rfc/rfc3056
        [0x2002, ..] => of(b, c),
        // Teredo, https://www.rfc-editor.org/rfc/rfc4380: the client's address, inverted.
        [0x2001, 0, ..] => of(!y, !z),
        // IPv4-compatible, except `::` and `::1`.
        [0, 0, 0, 0, 0, 0, high, _] if high != 0 => of(y, z),
        _ => address,
    }
}

/// Returns whether the address is not globally reachable: <https://www.iana.org/assignments/iana-ipv4-special-registry>.
fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || a == 0
        || a == 100 && (64..128).contains(&b)
        || (a, b, c) == (192, 0, 0)
        || a == 198 && (18..20).contains(&b)
        || a >= 224
}

/// Returns whether the address is not globally reachable: <https://www.iana.org/assignments/iana-ipv6-special-registry>.
fn is_private_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, ..] = address.segments();
    address.is_unspecified()
        || address.is_loopback()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || address.is_multicast()
        // Site-local, NAT64 of a local network, discard-only, documentation.
        || a & 0xffc0 == 0xfec0
        || (a, b, c) == (0x64, 0xff9b, 1)
        || (a, b) == (0x100, 0)
        || (a, b) == (0x2001, 0xdb8)
        || a == 0x3fff && b < 0x1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_and_metadata_addresses_are_refused_in_every_notation() {
        let rules = AddressRules {
            block_private: true,
            ..AddressRules::default()
        };
        let kind = |text: &str| rules.refused_kind(text.parse().expect("an address"));
        for text in [
            "0.0.0.0",
            "10.0.0.5",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.0.9",
            "169.254.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fdff::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "::ffff:0:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::192.168.0.1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:c0a8:101::1",
            "2001:0:1:2:3:4:80ff:fffe",
            "2001:db8::1",
        ] {
            assert_eq!(kind(text), Some("a private address"), "{text}");
        }
        for text in [
            "169.254.169.254",
            "fd00:ec2::254",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "2002:a9fe:a9fe::1",
            "168.63.129.16",
            "100.100.100.200",
        ] {
            let metadata = Some("the address of a cloud metadata service");
            assert_eq!(kind(text), metadata, "{text}");
        }
        for text in [
            "1.1.1.1",
            "100.128.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.20.0.1",
            "2606:4700::1111",
            "64:ff9b::101:101",
            "2002:101:101::1",
        ] {
            assert_eq!(kind(text), None, "{text}");
        }
        assert_eq!(
            AddressRules::default().refused_kind(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            None
        );
    }

    #[test]
    fn ports_are_those_of_the_list() {
        let rules = |ports: &[u16]| AddressRules {
            allowed_ports: Some(ports.to_vec()),
            ..AddressRules::default()
        };
        assert_eq!(rules(&[80, 443]).refusal_of_port(443), None);
        assert_eq!(
            rules(&[80, 443]).refusal_of_port(22).as_deref(),
            Some("port 22 is none of the allowed ports (80, 443)")
        );
        assert!(rules(&[]).refusal_of_port(80).is_some());
        assert!(AddressRules::default().is_empty() && !rules(&[]).is_empty());
    }
}
