//! Authentication over HTTP: from the headers of a request to whoever asks, or to a refusal. What they may do is a matter of their
//! [`Permission`]; over stdio nobody is asked.

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

/// Where the description of our OAuth stands: RFC 9728.
pub(crate) const METADATA: &str = "/.well-known/oauth-protected-resource";

/// Who is let in.
pub(crate) struct Authenticator {
    way: AuthMethod,
}

enum AuthMethod {
    /// Everybody.
    Open,
    /// Who has a key.
    Keys(Keys),
    /// Who has a token of an issuer that we trust.
    Tokens(OAuth),
}

/// Whoever asks.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    /// Who it is.
    pub(crate) principal: Principal,
    /// Until when we may believe that; `None` for ever.
    pub(crate) until: Option<SystemTime>,
    /// The scopes of its token.
    scopes: Vec<String>,
    asked: RequestTarget,
}

/// Where a request goes: the path, and the host under which the client knows us.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RequestTarget {
    path: String,
    host: String,
}

impl RequestTarget {
    /// What such a request asks, at that path.
    pub(crate) fn at(path: &str, uri: &Uri, headers: &HeaderMap) -> Self {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = uri.authority().map(Authority::as_str).or(host);
        Self {
            path: path.to_owned(),
            host: host.unwrap_or_default().to_ascii_lowercase(),
        }
    }
}

/// Why somebody is not let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AuthError {
    status: StatusCode,
    message: String,
    challenge: Option<String>,
}

impl Authenticator {
    /// The authenticator of a server that is reached at these addresses, such as `https://host:8931`, the one that is told first; and the key that was made for it, if it is one that
    /// asks for keys and nobody gave one.
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

    /// Who asks, with these headers.
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

    /// Refuses what needs more than the caller may do, if the caller can get more for the asking. Others are told by the answer of the
    /// call itself.
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

    /// What OAuth clients read at [`METADATA`] and the path below it.
    pub(crate) fn metadata(&self, asked: &RequestTarget) -> Option<Value> {
        match &self.way {
            AuthMethod::Tokens(oauth) => oauth.metadata(asked),
            AuthMethod::Open | AuthMethod::Keys(_) => None,
        }
    }
}

impl Identity {
    /// Resolves when it is not to be believed any more.
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

    /// The name under which the client knows us, with its port.
    pub(crate) fn host(&self) -> &str {
        &self.asked.host
    }
}

impl AuthError {
    /// What the client gets.
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

/// Takes the credentials out of a request that was let in.
pub(crate) fn forget(headers: &mut HeaderMap) {
    headers.remove(AUTHORIZATION);
    headers.remove(api_key::OWN_HEADER);
}

/// What stands behind `Bearer` in the header of that name; `None` where there is no such header, or one of another scheme.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?.trim();
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
