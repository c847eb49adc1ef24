//! Rules about the origins that pages may request. Backends and the egress proxy enforce them.

use crate::addresses::embedded;
use std::net::{IpAddr, Ipv6Addr};
use url::{Host, Url};

/// Rules that allow and block origins; blocking has priority.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OriginRules {
    allowed: Option<Vec<Pattern>>,
    blocked: Vec<Pattern>,
}

/// A pattern of a scheme and a host with its port, where `*` matches any text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    /// The pattern as it was given.
    text: String,
    scheme: String,
    host: String,
    /// Whether the pattern matches any port.
    any_port: bool,
}

impl OriginRules {
    /// Creates rules of origins (`https://example.com:8080`) and hosts (`example.com`: on the default port of the scheme), both with `*`
    /// for any text (`http://localhost:*`). Without `allowed`, everything is allowed; blocked origins are blocked even if they are allowed.
    pub fn new(allowed: Option<&[String]>, blocked: &[String]) -> Self {
        let patterns = |texts: &[String]| texts.iter().map(|text| Pattern::new(text)).collect();
        Self {
            allowed: allowed.map(patterns),
            blocked: with_unspecified(patterns(blocked)),
        }
    }

    /// Adds rules of domains: hosts on any port and scheme (`example.com`, `*.example.com` for its subdomains, without itself). The rules
    /// allow what either kind allows, and block what either kind blocks.
    pub fn with_domains(mut self, allowed: Option<&[String]>, blocked: &[String]) -> Self {
        let patterns = |texts: &[String]| {
            let patterns = texts.iter().map(|text| Pattern::domain(text));
            patterns.collect::<Vec<_>>()
        };
        if let Some(allowed) = allowed {
            let known = self.allowed.get_or_insert_default();
            known.extend(patterns(allowed));
        }
        self.blocked.extend(with_unspecified(patterns(blocked)));
        self
    }

    /// Returns whether the rules allow everything.
    pub fn is_empty(&self) -> bool {
        self.allowed.is_none() && self.blocked.is_empty()
    }

    /// Returns whether a URL may be requested. URLs without a host (`data:`, `about:`, `blob:`) are allowed.
    pub fn allow(&self, address: &str) -> bool {
        self.refusal(address).is_none()
    }

    /// Returns the text of the rule that blocks a URL.
    pub fn refusal(&self, address: &str) -> Option<String> {
        let url = Url::parse(address).ok()?;
        let host = canonical(url.host_str().filter(|host| !host.is_empty())?);
        if !matches!(url.scheme(), "http" | "https" | "ws" | "wss") {
            return None;
        }
        let fits = |pattern: &Pattern| pattern.fits(url.scheme(), &host, url.port());
        if let Some(blocked) = self.blocked.iter().find(|pattern| fits(pattern)) {
            return Some(format!("{} is blocked", blocked.text));
        }
        let allowed = self.allowed.as_ref()?;
        if allowed.iter().any(fits) {
            return None;
        }
        let texts: Vec<_> = allowed
            .iter()
            .map(|pattern| pattern.text.as_str())
            .collect();
        Some(match texts.is_empty() {
            true => "nothing is allowed".to_owned(),
            false => format!("only {} is allowed", texts.join(", ")),
        })
    }

    /// Returns whether a host or address is allowed literally, not by a pattern with `*`.
    pub(crate) fn allow_literally(&self, host: &str, port: u16) -> bool {
        let host = canonical(host);
        let mut allowed = self.allowed.iter().flatten();
        allowed.any(|pattern| pattern.is_literal() && pattern.fits_any_scheme(&host, port))
    }

    /// Returns the rule that blocks an IP address, independently of the name.
    pub(crate) fn refusal_of_address(&self, address: IpAddr, port: u16) -> Option<String> {
        let mut blocked = self.blocked.iter().filter(|pattern| pattern.is_literal());
        let hosts = [address, embedded(address)].map(|address| match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        });
        let is_of = |pattern: &&Pattern| {
            let mut hosts = hosts.iter();
            hosts.any(|host| pattern.fits_any_scheme(host, port))
        };
        let rule = blocked.find(is_of)?;
        Some(format!("{} is blocked", rule.text))
    }

    /// Returns the patterns of allowed and of blocked origins as JavaScript regular expressions over `scheme://host:port`.
    pub(crate) fn expressions(&self) -> (Option<Vec<String>>, Vec<String>) {
        let all = |patterns: &Vec<Pattern>| patterns.iter().map(Pattern::expression).collect();
        (self.allowed.as_ref().map(all), all(&self.blocked))
    }
}

impl Pattern {
    fn domain(text: &str) -> Self {
        Self {
            any_port: true,
            ..Self::new(text)
        }
    }

    fn new(given: &str) -> Self {
        let text = given.trim().to_ascii_lowercase();
        let (scheme, rest) = text.split_once("://").unwrap_or(("*", &text));
        let host = rest.split('/').next().unwrap_or_default();
        let standard = match scheme {
            "http" | "ws" => ":80",
            "https" | "wss" => ":443",
            _ => "",
        };
        let host = host.strip_suffix(standard).unwrap_or(host);
        let host = match host.parse::<Ipv6Addr>() {
            Ok(address) => canonical(&format!("[{address}]")),
            Err(_) => {
                let (name, port) = split_port(host);
                canonical(name) + port
            }
        };
        Self {
            text: given.trim().to_owned(),
            scheme: scheme.to_owned(),
            host,
            any_port: false,
        }
    }

    /// Returns whether the pattern is a single host, on any ports.
    fn is_literal(&self) -> bool {
        !split_port(&self.host).0.contains('*')
    }

    fn fits_any_scheme(&self, host: &str, port: u16) -> bool {
        let schemes = [("http", 80), ("https", 443), ("ws", 80), ("wss", 443)];
        schemes
            .iter()
            .any(|&(scheme, standard)| self.fits(scheme, host, (port != standard).then_some(port)))
    }

    fn has_port(&self) -> bool {
        let port = self.host.rsplit_once(':').map(|(_, port)| port);
        port.is_some_and(|port| !port.ends_with(']'))
    }

    fn fits(&self, scheme: &str, host: &str, port: Option<u16>) -> bool {
        // A WebSocket belongs to the http origin of its destination.
        let http = match scheme {
            "ws" => "http",
            "wss" => "https",
            other => other,
        };
        let scheme_fits = is_like(&self.scheme, scheme) || is_like(&self.scheme, http);
        let host_fits = match port {
            Some(_) if self.any_port && !self.has_port() => is_like(&self.host, host),
            Some(port) => is_like(&self.host, &format!("{host}:{port}")),
            None => is_like(&self.host, host),
        };
        scheme_fits && (self.host == "*" || host_fits)
    }

    fn expression(&self) -> String {
        let escaped = |text: &str| {
            let mut expression = String::new();
            for c in text.chars() {
                match c {
                    '*' => expression.push_str(".*"),
                    c if c.is_alphanumeric() || c == '-' => expression.push(c),
                    c => expression.extend(['\\', c]),
                }
            }
            expression
        };
        let port = match self.any_port && !self.has_port() {
            true => "(:\\d+)?",
            false => "",
        };
        format!(
            "^{}:\\/\\/{}{port}$",
            escaped(&self.scheme),
            escaped(&self.host)
        )
    }
}

/// Adds the unspecified address to patterns of the loopback address: a connection to `0.0.0.0` or `[::]` reaches this machine.
fn with_unspecified(mut patterns: Vec<Pattern>) -> Vec<Pattern> {
    let reaching = patterns.iter().filter_map(|pattern| {
        let (name, port) = split_port(&pattern.host);
        let of = |loopback, unspecified: &str| {
            let is_meant = is_like(name, loopback) && !is_like(name, unspecified);
            is_meant.then(|| Pattern {
                host: format!("{unspecified}{port}"),
                ..pattern.clone()
            })
        };
        of("127.0.0.1", "0.0.0.0").or_else(|| of("[::1]", "[::]"))
    });
    let reaching: Vec<_> = reaching.collect();
    patterns.extend(reaching);
    patterns
}

/// Returns the canonical form of a host: IDN as Punycode, any notation of IPv4 as four numbers, an IPv4-mapped IPv6 address as IPv4, and
/// without a trailing dot.
fn canonical(host: &str) -> String {
    let text = match Host::parse(host) {
        Ok(Host::Ipv6(address)) => match address.to_ipv4_mapped() {
            Some(address) => address.to_string(),
            None => format!("[{address}]"),
        },
        Ok(host) => host.to_string(),
        Err(_) => host.to_owned(),
    };
    text.strip_suffix('.').map_or(text.clone(), str::to_owned)
}

/// Splits a host and its port with the colon.
fn split_port(host: &str) -> (&str, &str) {
    let colon = host.rfind(':').filter(|&at| !host[at..].contains(']'));
    host.split_at(colon.unwrap_or(host.len()))
}

/// Returns whether the text matches the pattern, in which `*` is any text. Each part is searched once, because pages control the length of
/// names.
pub fn is_like(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let inner = text.strip_prefix(start);
    let Some(mut inner) = inner.and_then(|text| text.strip_suffix(end)) else {
        return false;
    };
    middle.split('*').all(|part| {
        let found = inner.find(part);
        inner = found.map_or("", |at| &inner[at + part.len()..]);
        found.is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(allowed: Option<&[&str]>, blocked: &[&str]) -> OriginRules {
        let owned = |texts: &[&str]| {
            texts
                .iter()
                .map(|&text| text.to_owned())
                .collect::<Vec<_>>()
        };
        OriginRules::new(allowed.map(owned).as_deref(), &owned(blocked))
    }

    #[test]
    fn an_origin_is_a_scheme_a_host_and_a_port() {
        for (pattern, address, fits) in [
            ("example.com", "https://example.com/a", true),
            ("example.com", "http://example.com", true),
            ("example.com", "http://example.com:8080", false),
            ("example.com:8080", "http://example.com:8080", true),
            ("example.com", "http://www.example.com", false),
            ("*.example.com", "http://www.example.com", true),
            ("*.example.com", "http://example.com.evil.org", false),
            ("https://example.com", "http://example.com", false),
            ("https://example.com:443/path", "https://example.com/", true),
            ("HTTP://Example.COM", "http://example.com", true),
            ("http://example.com:*", "http://example.com:81", true),
            ("http://example.com:*", "https://example.com:81", false),
            ("http://example.com", "ws://example.com/socket", true),
            ("ws://example.com", "http://example.com", false),
            ("*", "https://[::1]:3/", true),
            ("http://*", "http://x:1", true),
            ("example.com", "http://user:pass@example.com/", true),
            ("example.com", "http://example.com@evil.org/", false),
        ] {
            let allow = rules(Some(&[pattern]), &[]).allow(address);
            assert_eq!(allow, fits, "{pattern} and {address}");
        }
    }

    #[test]
    fn blocking_wins_over_allowing_and_urls_without_host_are_ignored() {
        let rules = rules(Some(&["*"]), &["a.org"]);
        assert!(!rules.allow("http://a.org/") && rules.allow("http://b.org/"));
        let nothing = OriginRules::new(Some(&[]), &[]);
        assert!(!nothing.allow("http://a.org/"));
        for address in [
            "about:blank",
            "data:text/html,x",
            "blob:http://a.org/1",
            "file:///x",
        ] {
            assert!(nothing.allow(address), "{address}");
        }
        assert!(OriginRules::default().is_empty() && !nothing.is_empty());
    }

    #[test]
    fn a_domain_is_a_host_on_any_port() {
        let owned = |text: &str| vec![text.to_owned()];
        for (pattern, address, fits) in [
            ("example.com", "https://example.com:8443/a", true),
            ("example.com", "ws://example.com:81/", true),
            ("example.com", "http://www.example.com/", false),
            ("*.example.com", "http://www.example.com:8080/", true),
            ("*.example.com", "http://a.b.example.com/", true),
            ("*.example.com", "http://example.com/", false),
            ("*.example.com", "http://example.com.evil.org/", false),
            ("*.example.com", "http://evil.org/.example.com", false),
            ("example.com:81", "http://example.com:82/", false),
            ("[::1]", "http://[::1]:3/", true),
            ("127.0.0.1", "http://127.0.0.1:5/", true),
        ] {
            let rules = OriginRules::default().with_domains(Some(&owned(pattern)), &[]);
            assert_eq!(rules.allow(address), fits, "{pattern} and {address}");
            let rules = OriginRules::default().with_domains(None, &owned(pattern));
            assert_eq!(rules.allow(address), !fits, "{pattern} and {address}");
        }
    }

    #[test]
    fn all_notations_of_a_host_are_equal() {
        for (pattern, address) in [
            ("127.0.0.1", "http://2130706433/"),
            ("127.0.0.1", "http://0x7f.1/"),
            ("127.0.0.1", "http://0177.0.0.1/"),
            ("127.0.0.1", "http://127.0.0.1./"),
            ("127.0.0.1", "http://[::ffff:127.0.0.1]/"),
            ("[::ffff:127.0.0.1]", "http://127.0.0.1/"),
            ("0x7f.1", "http://127.0.0.1/"),
            ("::1", "http://[0:0:0:0:0:0:0:1]/"),
            ("[0::1]", "http://[::1]/"),
            ("example.com", "http://example.com./"),
            ("example.com.", "http://EXAMPLE.com/"),
            ("b\u{fc}cher.example", "http://xn--bcher-kva.example/"),
            ("*.b\u{fc}cher.example", "http://a.B\u{dc}CHER.example/"),
            ("example.com", "http://\u{ff45}xample.com/"),
        ] {
            let rules = rules(None, &[pattern]);
            assert!(!rules.allow(address), "{pattern} and {address}");
        }
    }

    #[test]
    fn a_literal_is_no_pattern() {
        let rules = rules(
            Some(&["*", "10.0.0.5", "http://localhost:*"]),
            &["10.0.0.6"],
        );
        assert!(rules.allow_literally("10.0.0.5", 443) && rules.allow_literally("localhost", 3));
        assert!(!rules.allow_literally("10.0.0.7", 80) && !rules.allow_literally("10.0.0.5", 81));
        let refusal = |text: &str| rules.refusal_of_address(text.parse().expect("one"), 80);
        assert_eq!(refusal("10.0.0.6"), Some("10.0.0.6 is blocked".to_owned()));
        assert_eq!(refusal("::ffff:10.0.0.6"), refusal("10.0.0.6"));
        assert_eq!(refusal("10.0.0.5"), None);
    }

    #[test]
    fn origins_and_domains_add_up_and_a_refusal_names_its_rule() {
        let rules = rules(Some(&["http://a.org"]), &["b.org"])
            .with_domains(Some(&["*.c.org".to_owned()]), &["bad.c.org".to_owned()]);
        assert_eq!(rules.refusal("http://a.org/"), None);
        assert_eq!(rules.refusal("https://x.c.org:1/"), None);
        let refusal = |address| rules.refusal(address).unwrap_or_default();
        assert_eq!(refusal("https://bad.c.org:1/"), "bad.c.org is blocked");
        assert_eq!(
            refusal("http://d.org"),
            "only http://a.org, *.c.org is allowed"
        );
    }
}
