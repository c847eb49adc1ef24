//! Reasons of failed requests and navigations.

use serde::{Serialize, Serializer};

/// Why a request or a navigation failed, by the name of Chromium's network stack. The names of other browsers are translated.
/// <https://source.chromium.org/chromium/chromium/src/+/main:net/base/net_error_list.h>
#[derive(Debug, Clone, PartialEq, Eq, strum::Display, strum::EnumString)]
#[expect(missing_docs, reason = "Chromium's list describes them")]
pub enum NetError {
    #[strum(serialize = "net::ERR_ABORTED")]
    Aborted,
    #[strum(serialize = "net::ERR_FAILED")]
    Failed,
    #[strum(serialize = "net::ERR_TIMED_OUT")]
    TimedOut,
    #[strum(serialize = "net::ERR_ACCESS_DENIED")]
    AccessDenied,
    #[strum(serialize = "net::ERR_FILE_NOT_FOUND")]
    FileNotFound,
    #[strum(serialize = "net::ERR_INVALID_URL")]
    InvalidUrl,
    #[strum(serialize = "net::ERR_UNKNOWN_URL_SCHEME")]
    UnknownUrlScheme,
    #[strum(serialize = "net::ERR_UNSAFE_PORT")]
    UnsafePort,
    #[strum(serialize = "net::ERR_BLOCKED_BY_CLIENT")]
    BlockedByClient,
    #[strum(serialize = "net::ERR_BLOCKED_BY_RESPONSE")]
    BlockedByResponse,
    #[strum(serialize = "net::ERR_BLOCKED_BY_CSP")]
    BlockedByCsp,
    #[strum(serialize = "net::ERR_INTERNET_DISCONNECTED")]
    InternetDisconnected,
    #[strum(serialize = "net::ERR_NAME_NOT_RESOLVED")]
    NameNotResolved,
    #[strum(serialize = "net::ERR_ADDRESS_INVALID")]
    AddressInvalid,
    #[strum(serialize = "net::ERR_ADDRESS_UNREACHABLE")]
    AddressUnreachable,
    #[strum(serialize = "net::ERR_CONNECTION_REFUSED")]
    ConnectionRefused,
    #[strum(serialize = "net::ERR_CONNECTION_RESET")]
    ConnectionReset,
    #[strum(serialize = "net::ERR_CONNECTION_CLOSED")]
    ConnectionClosed,
    #[strum(serialize = "net::ERR_CONNECTION_ABORTED")]
    ConnectionAborted,
    #[strum(serialize = "net::ERR_CONNECTION_FAILED")]
    ConnectionFailed,
    #[strum(serialize = "net::ERR_CONNECTION_TIMED_OUT")]
    ConnectionTimedOut,
    #[strum(serialize = "net::ERR_PROXY_CONNECTION_FAILED")]
    ProxyConnectionFailed,
    #[strum(serialize = "net::ERR_PROXY_AUTH_REQUESTED")]
    ProxyAuthRequested,
    #[strum(serialize = "net::ERR_PROXY_CERTIFICATE_INVALID")]
    ProxyCertificateInvalid,
    #[strum(serialize = "net::ERR_SOCKS_CONNECTION_FAILED")]
    SocksConnectionFailed,
    #[strum(serialize = "net::ERR_TUNNEL_CONNECTION_FAILED")]
    TunnelConnectionFailed,
    #[strum(serialize = "net::ERR_CERT_AUTHORITY_INVALID")]
    CertAuthorityInvalid,
    #[strum(serialize = "net::ERR_CERT_COMMON_NAME_INVALID")]
    CertCommonNameInvalid,
    #[strum(serialize = "net::ERR_CERT_DATE_INVALID")]
    CertDateInvalid,
    #[strum(serialize = "net::ERR_EMPTY_RESPONSE")]
    EmptyResponse,
    #[strum(serialize = "net::ERR_INVALID_RESPONSE")]
    InvalidResponse,
    #[strum(serialize = "net::ERR_INVALID_HTTP_RESPONSE")]
    InvalidHttpResponse,
    #[strum(serialize = "net::ERR_CONTENT_LENGTH_MISMATCH")]
    ContentLengthMismatch,
    #[strum(serialize = "net::ERR_INVALID_AUTH_CREDENTIALS")]
    InvalidAuthCredentials,
    #[strum(serialize = "net::ERR_TOO_MANY_REDIRECTS")]
    TooManyRedirects,
    /// Any other error of Chromium, or the text of a browser whose error has no name in Chromium.
    #[strum(default)]
    Other(String),
}

/// The kinds of net errors that need different reactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetErrorClass {
    /// The certificate of the server is not valid.
    Certificate,
    /// The server does not speak TLS as the browser does.
    Tls,
    /// The network is disconnected.
    Offline,
    /// The proxy or the network of this machine failed, before the server was connected to.
    Network,
    /// All other errors.
    Other,
}

impl NetError {
    /// The kind of the error.
    pub fn class(&self) -> NetErrorClass {
        use NetErrorClass as Class;
        const FAMILIES: [(&str, Class); 8] = [
            ("CERT_", Class::Certificate),
            ("SSL_", Class::Tls),
            ("PROXY_", Class::Network),
            ("TUNNEL_", Class::Network),
            ("SOCKS_", Class::Network),
            ("MANDATORY_PROXY_", Class::Network),
            ("NETWORK_", Class::Network),
            ("NO_SUPPORTED_PROXIES", Class::Network),
        ];
        if *self == Self::InternetDisconnected {
            return Class::Offline;
        }
        let text = self.to_string();
        let family = text.strip_prefix("net::ERR_").and_then(|name| {
            let mut families = FAMILIES.iter();
            families.find(|(family, _)| name.starts_with(family))
        });
        family.map_or(Class::Other, |(_, class)| *class)
    }
}

impl Serialize for NetError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_net_error_is_printed_as_it_was_read() {
        for (text, error) in [
            ("net::ERR_ABORTED", NetError::Aborted),
            (
                "net::ERR_HTTP2_PROTOCOL_ERROR",
                NetError::Other("net::ERR_HTTP2_PROTOCOL_ERROR".to_owned()),
            ),
            ("NS_ERROR_X", NetError::Other("NS_ERROR_X".to_owned())),
        ] {
            assert_eq!(NetError::from(text), error);
            assert_eq!(error.to_string(), text);
            assert_eq!(serde_json::to_value(&error).unwrap(), text);
        }
    }

    #[test]
    fn net_errors_are_classified_by_their_names() {
        for (text, class) in [
            ("net::ERR_CERT_DATE_INVALID", NetErrorClass::Certificate),
            ("net::ERR_CERT_REVOKED", NetErrorClass::Certificate),
            ("net::ERR_SSL_PROTOCOL_ERROR", NetErrorClass::Tls),
            ("net::ERR_INTERNET_DISCONNECTED", NetErrorClass::Offline),
            ("net::ERR_PROXY_CONNECTION_FAILED", NetErrorClass::Network),
            ("net::ERR_NETWORK_CHANGED", NetErrorClass::Network),
            ("net::ERR_NO_SUPPORTED_PROXIES", NetErrorClass::Network),
            ("net::ERR_CONNECTION_REFUSED", NetErrorClass::Other),
            ("SSL_ERROR_UNKNOWN", NetErrorClass::Other),
        ] {
            assert_eq!(NetError::from(text).class(), class, "{text}");
        }
    }
}
