//! Authentication over HTTP: from the headers of a request to an identity with a [`Permission`], or to an error response. Over stdio there
//! is none.

mod api_key;
mod oauth;

use crate::access::principal::{Permission, Principal};
use crate::config::{AuthMode, AuthSettings};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, RETRY_AFTER, WWW_AUTHENTICATE};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Response, StatusCode, Uri};
use serde_json::Value;
use std::time::SystemTime;

use api_key::Keys;
pub(crate) use api_key::KeysError;
use oauth::OAuth;

/// The path of the protected resource metadata, RFC 9728.
pub(crate) const METADATA: &str = "/.well-known/oauth-protected-resource";

/// The authentication of a server.
pub(crate) struct Authenticator {
    way: AuthMethod,
}

enum AuthMethod {
    /// No authentication.
    Open,
    /// API keys.
    Keys(Keys),
    /// Access tokens of trusted issuers.
    Tokens(OAuth),
}

/// An authenticated client.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    /// The principal.
    pub(crate) principal: Principal,
    /// The expiry of the credentials; `None`: never.
    pub(crate) until: Option<SystemTime>,
    /// The scopes of the token.
    scopes: Vec<String>,
    asked: RequestTarget,
}

/// The path of a request, and the host name by which the client reaches the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RequestTarget {
    path: String,
    host: String,
}

impl RequestTarget {
    /// Returns the target of a request to that path.
    pub(crate) fn at(path: &str, uri: &Uri, headers: &HeaderMap) -> Self {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = uri.authority().map(Authority::as_str).or(host);
        Self {
            path: path.to_owned(),
            host: host.unwrap_or_default().to_ascii_lowercase(),
        }
    }
}

/// Why a request is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AuthError {
    status: StatusCode,
    message: String,
    challenge: Option<String>,
}

impl Authenticator {
    /// Creates the authenticator of a server at these addresses, such as `https://host:8931`, the preferred one first. Also returns the
    /// generated API key, if keys are required and none is configured.
    pub(crate) fn new(
        settings: &AuthSettings,
        addresses: &[String],
    ) -> Result<(Self, Option<String>), KeysError> {
        let (way, made) = match settings.mode {
            AuthMode::None => (AuthMethod::Open, None),
            AuthMode::ApiKey => {
                let keys = Keys::new(settings.key.as_deref(), settings.keys.as_deref())?;
                match keys {
                    Some(keys) => (AuthMethod::Keys(keys), None),
                    None => {
                        let (keys, key) = Keys::generate()?;
                        (AuthMethod::Keys(keys), Some(key))
                    }
                }
            }
            AuthMode::Oauth => {
                let resource = settings.resource.as_deref();
                (
                    AuthMethod::Tokens(OAuth::new(&settings.issuers, resource, addresses)),
                    None,
                )
            }
        };
        Ok((Self { way }, made))
    }

    /// Returns whether clients need credentials.
    pub(crate) fn needs_credentials(&self) -> bool {
        !matches!(self.way, AuthMethod::Open)
    }

    /// Authenticates a request by its headers.
    pub(crate) async fn identify(
        &self,
        asked: RequestTarget,
        headers: &HeaderMap,
    ) -> Result<Identity, AuthError> {
        match &self.way {
            AuthMethod::Open => Ok(Identity::of(Principal::anonymous(), asked)),
            AuthMethod::Keys(keys) => {
                let principal = keys.identify(headers)?;
                Ok(Identity::of(principal, asked))
            }
            AuthMethod::Tokens(oauth) => oauth.identify(asked, headers).await,
        }
    }

    /// Rejects a message that needs more permissions than the caller has, if the client can request more. Otherwise the answer of the call
    /// reports the error.
    pub(crate) fn allow(
        &self,
        identity: &Identity,
        what: &str,
        needed: Permission,
    ) -> Result<(), AuthError> {
        match &self.way {
            AuthMethod::Tokens(oauth) if identity.principal.permission() < needed => {
                Err(oauth.insufficient(&identity.asked, &identity.scopes, what, needed))
            }
            _ => Ok(()),
        }
    }

    /// Returns the metadata for OAuth clients at [`METADATA`] and the path below it.
    pub(crate) fn metadata(&self, asked: &RequestTarget) -> Option<Value> {
        match &self.way {
            AuthMethod::Tokens(oauth) => oauth.metadata(asked),
            AuthMethod::Open | AuthMethod::Keys(_) => None,
        }
    }
}

impl Identity {
    /// Resolves when the credentials expire.
    pub(crate) async fn expired(until: Option<SystemTime>) {
        match until {
            Some(until) => {
                let left = until.duration_since(SystemTime::now()).unwrap_or_default();
                tokio::time::sleep(left).await;
            }
            None => std::future::pending().await,
        }
    }

    fn of(principal: Principal, asked: RequestTarget) -> Self {
        Self {
            principal,
            until: None,
            scopes: Vec::new(),
            asked,
        }
    }

    /// Returns the host name with the port by which the client reaches the server.
    pub(crate) fn host(&self) -> &str {
        &self.asked.host
    }
}

impl AuthError {
    /// Returns the HTTP response.
    pub(crate) fn response(&self) -> Response<String> {
        let mut response = Response::new(self.message.clone());
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("text/plain; charset=utf-8"),
        );
        if let Some(challenge) = &self.challenge
            && let Ok(challenge) = HeaderValue::from_str(challenge)
        {
            headers.insert(WWW_AUTHENTICATE, challenge);
        }
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}

/// Removes the credentials from the headers of an authenticated request.
pub(crate) fn forget(headers: &mut HeaderMap) {
    headers.remove(AUTHORIZATION);
    headers.remove(api_key::OWN_HEADER);
}

/// Returns the bearer token in the header of that name; `None` without the header, or with another scheme.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?.trim();
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
