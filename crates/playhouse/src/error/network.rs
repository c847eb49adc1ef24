//! Failures of the way to a site, by the network stack's names for them.

/// The network stack's name for a network that is cut.
pub(super) const OFFLINE: &str = "net::ERR_INTERNET_DISCONNECTED";

/// Whether it failed on the way, before any site could be asked.
pub(super) fn is_network(reason: &str) -> bool {
    const WAYS: [&str; 6] = [
        "net::ERR_PROXY_",
        "net::ERR_TUNNEL_",
        "net::ERR_SOCKS_",
        "net::ERR_MANDATORY_PROXY_",
        "net::ERR_NETWORK_",
        "net::ERR_NO_SUPPORTED_PROXIES",
    ];
    reason == OFFLINE || WAYS.iter().any(|way| reason.starts_with(way))
}
