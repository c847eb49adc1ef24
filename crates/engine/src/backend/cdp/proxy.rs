//! What Chromium calls a proxy's exceptions.

use crate::backend::Proxy;

/// A proxy is meant for local addresses too, unless they are listed.
pub(crate) fn proxy_bypass(proxy: &Proxy) -> String {
    let mut rules: Vec<&str> = proxy.bypass.iter().map(|rule| rule.trim()).collect();
    if !rules.contains(&"<-loopback>") && !rules.iter().any(|rule| is_loopback(rule)) {
        // Rules are looked at from the last to the first: whatever is listed wins over this one.
        rules.insert(0, "<-loopback>");
    }
    rules.join(";")
}

fn is_loopback(rule: &str) -> bool {
    let host = rule.rsplit_once("//").map_or(rule, |(_, host)| host);
    host.starts_with("localhost") || host.starts_with("127.") || host.starts_with("[::1]")
}
