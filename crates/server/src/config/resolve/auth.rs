//! Resolves how clients authenticate over HTTP.

use std::path::Path;

use url::Url;

use super::required;
use crate::config::{
    error::ConfigError,
    options::Options,
    settings::AuthSettings,
    value::{AuthMode, CommaList},
};

/// Returns the settings of authentication for a server that listens on `host`.
pub(super) fn auth(
    options: &Options,
    host: &str,
    tls: bool,
    cwd: &Path,
    notices: &mut Vec<String>,
) -> Result<AuthSettings, ConfigError> {
    let CommaList(issuers) = options.oauth_issuer.or_empty();
    let settings = AuthSettings {
        mode: options.auth.value().unwrap_or(match issuers.is_empty() {
            true => AuthMode::ApiKey,
            false => AuthMode::Oauth,
        }),
        key: options.api_key.value(),
        keys: options.api_keys.value().map(|path| cwd.join(path)),
        issuers,
        resource: options.oauth_resource.value(),
    };
    let given = [
        ("--api-key", AuthMode::ApiKey, settings.key.is_some()),
        ("--api-keys", AuthMode::ApiKey, settings.keys.is_some()),
        (
            "--oauth-issuer",
            AuthMode::Oauth,
            !settings.issuers.is_empty(),
        ),
        (
            "--oauth-resource",
            AuthMode::Oauth,
            settings.resource.is_some(),
        ),
    ];
    // An option of another mode is an error: ignoring it would give a false impression of security.
    if let Some((option, ..)) = given
        .into_iter()
        .find(|(_, of, is)| *is && *of != settings.mode)
    {
        let mode = settings.mode.into();
        return Err(ConfigError::NotOfThisAuth { mode, option });
    }
    if settings
        .key
        .as_ref()
        .is_some_and(|key| key.is_empty() || !key.chars().all(|c| c.is_ascii_graphic()))
    {
        return Err(ConfigError::BadApiKey);
    }
    if settings.mode == AuthMode::Oauth && settings.issuers.is_empty() {
        return Err(ConfigError::NoIssuer);
    }
    for issuer in &settings.issuers {
        let url = Url::parse(issuer).ok();
        let is_plain = url.is_some_and(|url| url.query().is_none() && url.fragment().is_none());
        if !is_plain || !is_safe_address(issuer) {
            return Err(ConfigError::Issuer(issuer.clone()));
        }
    }
    if let Some(resource) = &settings.resource {
        let url = Url::parse(resource).ok();
        if !url.is_some_and(|url| url.has_host() && url.fragment().is_none()) {
            return Err(ConfigError::Resource(resource.clone()));
        }
    }
    if !is_loopback(host) && !required(&options.insecure) {
        if settings.mode == AuthMode::None {
            return Err(ConfigError::OpenToAll(host.to_owned()));
        }
        if !tls {
            notices.push("Keys and tokens cross the network in clear: give --tls-cert and --tls-key, or have a proxy with TLS in front and listen on localhost.".to_owned());
        }
    }
    Ok(settings)
}

/// Whether only programs of this machine can connect to the host.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let ip = bare.parse::<std::net::IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
}

/// Whether a response from the address is authentic: it comes over TLS or from this machine.
pub(crate) fn is_safe_address(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| match (url.scheme(), url.host_str()) {
        ("https", Some(_)) => true,
        ("http", Some(host)) => is_loopback(host),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_safe_over_tls_or_on_this_machine() {
        for safe in [
            "https://a.example/k",
            "http://localhost:1/k",
            "http://127.0.0.1/k",
            "http://[::1]/k",
        ] {
            assert!(is_safe_address(safe), "{safe}");
        }
        for unsafe_ in [
            "http://a.example/k",
            "http://localhost.evil/k",
            "file:///k",
            "k",
        ] {
            assert!(!is_safe_address(unsafe_), "{unsafe_}");
        }
    }
}
