//! Upstream proxies, which are validated before a browser starts.

use crate::error::{Error, Result};
use crate::origins::is_like;
use std::net::IpAddr;
use url::{Host, Url};

/// A proxy server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proxy {
    /// `http://host:port`, `https://…`, `socks4://…`, `socks5://…`, or `host:port` for HTTP.
    pub server: String,
    /// The hosts that are reached without the proxy: `example.com`, `.example.com` for its subdomains, `*` within either, with a
    /// port or without; `10.0.0.0/8` for addresses; `<local>` for names without a dot.
    pub bypass: Vec<String>,
    /// The user name, if the proxy requires one.
    pub username: Option<String>,
    /// The password, if the proxy requires one.
    pub password: Option<String>,
}

/// The protocol of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum ProxyScheme {
    Http,
    /// HTTP over TLS.
    Https,
    /// SOCKS4, which supports only IPv4 addresses.
    Socks4,
    Socks4a,
    /// SOCKS5 with name resolution by the proxy, which browsers use for both spellings.
    #[strum(serialize = "socks5", serialize = "socks5h", serialize = "socks")]
    Socks5,
}

/// The address of a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) scheme: ProxyScheme,
    pub(crate) host: Host<String>,
    pub(crate) port: u16,
}

impl Proxy {
    /// Creates a proxy after validating its parts. The rules of `bypass` are separated by commas.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] describes what is invalid: the address, a bypass rule, or the user name and password.
    pub fn new(
        server: &str,
        bypass: Option<&str>,
        username: Option<String>,
        password: Option<String>,
    ) -> Result<Self> {
        let bypass = bypass.unwrap_or_default().split(',').map(str::trim);
        let proxy = Self {
            server: server.trim().to_owned(),
            bypass: bypass
                .filter(|rule| !rule.is_empty())
                .map(str::to_ascii_lowercase)
                .collect(),
            username,
            password,
        };
        proxy.endpoint()?;
        Ok(proxy)
    }

    /// Whether the connection to the proxy uses TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.server.starts_with("https://")
    }

    /// Returns the address of the proxy.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub(crate) fn endpoint(&self) -> Result<Endpoint> {
        let endpoint = endpoint(&self.server)
            .map_err(|why| invalid(format!("The proxy server {:?} {why}.", self.server)))?;
        for rule in &self.bypass {
            if rule.contains("://") {
                let why =
                    format!("The proxy bypass {rule:?} has a scheme: give host or host:port.");
                return Err(invalid(why));
            }
        }
        let lengths = [&self.username, &self.password].map(|text| text.as_ref().map(String::len));
        let wrong = match (endpoint.scheme, lengths) {
            (_, [None, Some(_)]) => "has a password and no user name",
            (ProxyScheme::Socks4 | ProxyScheme::Socks4a, [_, Some(_)]) => {
                "cannot take a password: use socks5"
            }
            (ProxyScheme::Socks4 | ProxyScheme::Socks4a, [Some(0 | 251..), _]) => {
                "takes user names of 1 to 250 bytes"
            }
            (ProxyScheme::Socks5, [Some(0 | 256..), _] | [_, Some(0 | 256..)]) => {
                "takes user names and passwords of 1 to 255 bytes"
            }
            (ProxyScheme::Socks5, [Some(_), None]) => "has a user name and no password",
            _ => return Ok(endpoint),
        };
        Err(invalid(format!(
            "The proxy server {:?} {wrong}.",
            self.server
        )))
    }

    /// Whether a host is reached without the proxy.
    pub(crate) fn bypasses(&self, host: &Host<String>, port: u16) -> bool {
        let text = host.to_string();
        let text = text.strip_suffix('.').unwrap_or(&text);
        let address = match host {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(IpAddr::V4(*address)),
            Host::Ipv6(address) => Some(IpAddr::V6(*address)),
        };
        self.bypass.iter().any(|rule| match rule.split_once('/') {
            Some((network, bits)) => {
                address.is_some_and(|address| contains(network, bits, address) == Some(true))
            }
            None if rule == "<local>" => address.is_none() && !text.contains('.'),
            None => {
                let with_port = format!("{text}:{port}");
                let fits = |rule: &str| is_like(rule, text) || is_like(rule, &with_port);
                match rule.strip_prefix('.') {
                    Some(_) => fits(&format!("*{rule}")),
                    None => fits(rule),
                }
            }
        })
    }
}

fn invalid(message: String) -> Error {
    Error::InvalidOption {
        option: "proxy",
        message,
    }
}

/// Parses `scheme://host:port`. The error describes what is invalid.
fn endpoint(server: &str) -> Result<Endpoint, String> {
    if server.is_empty() {
        return Err("is empty: give scheme://host:port".to_owned());
    }
    let (scheme, rest) = server.split_once("://").unwrap_or(("http", server));
    let scheme = scheme.to_ascii_lowercase();
    let scheme: ProxyScheme = scheme.parse().map_err(|_| {
        format!("has the unknown scheme {scheme:?}: use http, https, socks4, socks4a or socks5")
    })?;
    // The URL is parsed with two schemes, because each omits its default port.
    let read = |scheme: &str| Url::parse(&format!("{scheme}://{rest}"));
    let (url, other) = match (read("http"), read("https")) {
        (Ok(url), Ok(other)) => (url, other),
        (Err(error), _) | (_, Err(error)) => {
            return Err(format!("is not a valid address: {error}"));
        }
    };
    let Some(host) = url.host().map(|host| host.to_owned()) else {
        return Err("has no host".to_owned());
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err("contains a user name: give user name and password on their own".to_owned());
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err("has more than scheme, host and port".to_owned());
    }
    let port = url.port().or(other.port()).unwrap_or(match scheme {
        ProxyScheme::Http => 80,
        ProxyScheme::Https => 443,
        _ => 1080,
    });
    if port == 0 {
        return Err("has port 0".to_owned());
    }
    Ok(Endpoint { scheme, host, port })
}

/// Whether the network `network/bits` contains the address; `None` if it is not a network.
fn contains(network: &str, bits: &str, address: IpAddr) -> Option<bool> {
    let network: IpAddr = network.trim_matches(['[', ']']).parse().ok()?;
    let bits: u32 = bits.parse().ok()?;
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            let mask = u32::MAX.checked_shl(32_u32.checked_sub(bits)?).unwrap_or(0);
            Some(network.to_bits() & mask == address.to_bits() & mask)
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            let mask = u128::MAX
                .checked_shl(128_u32.checked_sub(bits)?)
                .unwrap_or(0);
            Some(network.to_bits() & mask == address.to_bits() & mask)
        }
        _ => Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_scheme_a_host_and_a_port() {
        for (server, scheme, host, port) in [
            ("proxy:3128", ProxyScheme::Http, "proxy", 3128),
            ("http://proxy", ProxyScheme::Http, "proxy", 80),
            ("HTTP://Proxy:443/", ProxyScheme::Http, "proxy", 443),
            ("https://proxy", ProxyScheme::Https, "proxy", 443),
            ("https://proxy:80", ProxyScheme::Https, "proxy", 80),
            ("socks5://[::1]", ProxyScheme::Socks5, "[::1]", 1080),
            ("socks5h://127.1:80", ProxyScheme::Socks5, "127.0.0.1", 80),
            ("socks4://proxy:9", ProxyScheme::Socks4, "proxy", 9),
        ] {
            let endpoint = Proxy::new(server, None, None, None).expect(server);
            let endpoint = endpoint.endpoint().expect(server);
            let host = Host::parse(host).expect("a host");
            assert_eq!(endpoint, Endpoint { scheme, host, port }, "{server}");
        }
    }

    #[test]
    fn invalid_proxy_addresses_are_refused() {
        for (server, why) in [
            ("", "is empty"),
            ("  ", "is empty"),
            ("http://", "is not a valid address"),
            ("nonsense://x", "unknown scheme"),
            ("direct://", "unknown scheme"),
            ("http://proxy:99999", "is not a valid address"),
            ("proxy:0", "has port 0"),
            ("http://a b:80", "is not a valid address"),
            ("http://me:word@proxy:80", "contains a user name"),
            ("http://proxy:80/path", "has more than"),
            ("http=a:1;https=b:2", "is not a valid address"),
        ] {
            let error = Proxy::new(server, None, None, None).expect_err(server);
            assert!(error.to_string().contains(why), "{server}: {error}");
            assert_eq!(error.code(), "INVALID_OPTION");
        }
        let long = "x".repeat(256);
        for (server, username, password) in [
            ("http://proxy", None, Some("word")),
            ("socks4://proxy", Some("me"), Some("word")),
            ("socks5://proxy", Some("me"), None),
            ("socks5://proxy", Some(long.as_str()), Some("word")),
        ] {
            let [username, password] = [username, password].map(|text| text.map(str::to_owned));
            assert!(Proxy::new(server, None, username, password).is_err());
        }
        assert!(Proxy::new("proxy:1", Some("a, http://b"), None, None).is_err());
    }

    #[test]
    fn a_bypass_names_hosts_domains_and_networks() {
        for (rule, host, bypassed) in [
            ("example.com", "example.com", true),
            ("example.com", "EXAMPLE.com.", true),
            ("example.com", "www.example.com", false),
            (".example.com", "www.example.com", true),
            (".example.com", "example.com", false),
            ("*.example.com", "www.example.com", true),
            ("*", "example.com", true),
            ("example.com:8080", "example.com", true),
            ("example.com:81", "example.com", false),
            ("[::1]:8080", "[::1]", true),
            ("10.0.0.0/8", "10.1.2.3", true),
            ("10.0.0.0/8", "11.1.2.3", false),
            ("0.0.0.0/0", "11.1.2.3", true),
            ("fd00::/8", "[fd12::1]", true),
            ("<local>", "intranet", true),
            ("<local>", "example.com", false),
            ("<-loopback>", "localhost", false),
        ] {
            let proxy = Proxy::new("proxy:1", Some(rule), None, None).expect(rule);
            let host = Host::parse(host).expect("a host");
            assert_eq!(proxy.bypasses(&host, 8080), bypassed, "{rule} and {host}");
        }
    }
}
