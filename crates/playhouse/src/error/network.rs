//! Classification of net errors.

/// The net error of offline mode.
pub(super) const OFFLINE: &str = "net::ERR_INTERNET_DISCONNECTED";

/// Returns whether the request failed before it reached the site.
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
