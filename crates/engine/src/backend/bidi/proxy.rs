//! What Firefox calls a proxy.

use crate::backend::Proxy;
use crate::error::{Error, Result};
use wire::bidi::browser;

/// The proxy of a user context.
pub(super) fn of_context(proxy: &Proxy) -> Result<browser::Proxy> {
    let (scheme, address) = parts(proxy);
    let http = matches!(scheme, "http" | "https");
    let socks = matches!(scheme, "socks" | "socks4" | "socks5" | "socks5h");
    if !http && !socks {
        return Err(Error::InvalidOption {
            option: "proxy",
            message: format!("Firefox knows no proxy of the kind {scheme}"),
        });
    }
    Ok(browser::Proxy {
        proxy_type: "manual",
        http_proxy: http.then(|| address.to_owned()),
        ssl_proxy: http.then(|| address.to_owned()),
        socks_proxy: socks.then(|| address.to_owned()),
        socks_version: socks.then_some(if scheme == "socks4" { 4 } else { 5 }),
        no_proxy: exceptions(proxy),
    })
}

/// Scheme, and host with port.
pub(crate) fn parts(proxy: &Proxy) -> (&str, &str) {
    let (scheme, address) = proxy
        .server
        .split_once("://")
        .unwrap_or(("http", &proxy.server));
    (scheme, address.trim_end_matches('/'))
}

/// Hosts that are reached without it. Firefox takes a leading dot for all hosts of a domain.
pub(crate) fn exceptions(proxy: &Proxy) -> Vec<String> {
    let rules = proxy
        .bypass
        .iter()
        .map(|rule| rule.trim().trim_start_matches('*'));
    rules
        .filter(|rule| !rule.is_empty() && !rule.starts_with('<'))
        .map(str::to_owned)
        .collect()
}
