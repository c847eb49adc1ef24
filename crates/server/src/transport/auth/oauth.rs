//! OAuth 2.1 as the protected resource: metadata with the trusted issuers (RFC 9728), verification of access tokens, and challenges for
//! more scopes (RFC 6750). <https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization>

mod issuer;
mod signature;
mod token;

use super::{AuthError, Identity, METADATA, RequestTarget, bearer};
use crate::access::principal::{Permission, Principal};
use http::{HeaderMap, StatusCode};
use issuer::{Issuer, KeyError};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::{Duration, UNIX_EPOCH};
use token::{TokenError, UnverifiedClaims};
use url::Url;

/// The scopes that a client should request initially: enough to work with pages.
const INITIAL_SCOPES: [Permission; 2] = [Permission::Read, Permission::Act];

/// The endpoints that can be the audience of a token.
const ENDPOINTS: [&str; 4] = ["/mcp", "/message", "/sse", "/ws"];

/// The protected resource of authorization servers.
pub(super) struct OAuth {
    issuers: Vec<Issuer>,
    resources: Resources,
}

/// The resource URIs of tokens.
enum Resources {
    /// A configured URI, for all endpoints.
    Named(String),
    /// The URIs of the endpoints, below each address of the server.
    Derived(Vec<String>),
}

impl OAuth {
    /// Creates the resource. `resource` is the URI that tokens must be for; without it, the URIs of the endpoints below `addresses`.
    pub(super) fn new(issuers: &[String], resource: Option<&str>, addresses: &[String]) -> Self {
        signature::install();
        Self {
            issuers: issuers.iter().map(|url| Issuer::new(url)).collect(),
            resources: match resource {
                Some(resource) => Resources::Named(resource.to_owned()),
                None => Resources::Derived(addresses.to_vec()),
            },
        }
    }

    pub(super) async fn identify(
        &self,
        asked: RequestTarget,
        headers: &HeaderMap,
    ) -> Result<Identity, AuthError> {
        let Some(token) = bearer(headers) else {
            return Err(AuthError {
                status: StatusCode::UNAUTHORIZED,
                message: "Authentication is required: send an access token as \"Authorization: Bearer TOKEN\"\n".to_owned(),
                challenge: Some(self.challenge(&asked, None, &scopes(&INITIAL_SCOPES))),
            });
        };
        if token.is_empty() || token.contains(char::is_whitespace) {
            let error = ("invalid_request", "The Bearer scheme has no token");
            return Err(AuthError {
                status: StatusCode::BAD_REQUEST,
                message: format!("{}\n", error.1),
                challenge: Some(self.challenge(&asked, Some(error), "")),
            });
        }
        let invalid = |error: TokenError| self.invalid(&asked, &error);
        let outline = UnverifiedClaims::of(token).map_err(invalid)?;
        let issuer = self
            .issuers
            .iter()
            .find(|issuer| issuer.url() == outline.issuer);
        let issuer = issuer.ok_or_else(|| invalid(TokenError::Issuer))?;
        let keys = match issuer.keys(&outline).await {
            Ok(keys) => keys,
            Err(KeyError::Unknown) => return Err(invalid(TokenError::Key)),
            Err(KeyError::Unavailable) => return Err(unavailable(issuer.url())),
        };
        let claims = token::verify(token, &outline, &keys, &self.resources.accepted());
        let claims = claims.map_err(invalid)?;
        let subject = claims.subject(issuer.url());
        let subject = subject.ok_or_else(|| invalid(TokenError::Claims))?;
        let granted = claims.scopes();
        let permission = Permission::of_scopes(granted.iter().map(String::as_str));
        let Some(permission) = permission else {
            return Err(self.insufficient(&asked, &granted, "This server", Permission::Read));
        };
        Ok(Identity {
            principal: Principal::named(&subject).with(permission),
            until: UNIX_EPOCH.checked_add(Duration::from_secs(claims.exp)),
            scopes: granted,
            asked,
        })
    }

    /// Returns a challenge for additional scopes. Clients request only the scopes of the challenge, so it includes the scopes of the
    /// current token.
    pub(super) fn insufficient(
        &self,
        asked: &RequestTarget,
        granted: &[String],
        what: &str,
        needed: Permission,
    ) -> AuthError {
        let mut wanted: Vec<&str> = granted.iter().map(String::as_str).collect();
        if !wanted.contains(&needed.scope()) {
            wanted.push(needed.scope());
        }
        let description = format!("{what} needs the scope {}", needed.scope());
        let error = ("insufficient_scope", &*description);
        AuthError {
            status: StatusCode::FORBIDDEN,
            message: format!("{description}\n"),
            challenge: Some(self.challenge(asked, Some(error), &wanted.join(" "))),
        }
    }

    /// Returns the protected resource metadata. The path is that of the endpoint, or empty.
    pub(super) fn metadata(&self, asked: &RequestTarget) -> Option<Value> {
        let resource = self.resources.at(asked)?;
        let issuers: Vec<_> = self.issuers.iter().map(Issuer::url).collect();
        Some(json!({
            "resource": resource,
            "authorization_servers": issuers,
            "scopes_supported": Permission::ALL.map(Permission::scope),
            "bearer_methods_supported": ["header"],
            "resource_name": "Playhouse",
        }))
    }

    fn invalid(&self, asked: &RequestTarget, error: &TokenError) -> AuthError {
        let description = error.to_string();
        let challenge = self.challenge(
            asked,
            Some(("invalid_token", &description)),
            &scopes(&INITIAL_SCOPES),
        );
        AuthError {
            status: StatusCode::UNAUTHORIZED,
            message: format!("{description}\n"),
            challenge: Some(challenge),
        }
    }

    fn challenge(&self, asked: &RequestTarget, error: Option<(&str, &str)>, scope: &str) -> String {
        let mut challenge = format!(
            "Bearer resource_metadata=\"{}\"",
            self.resources.metadata(asked)
        );
        if let Some((error, description)) = error {
            let _ = write!(
                challenge,
                ", error=\"{error}\", error_description=\"{}\"",
                quoted(description)
            );
        }
        if !scope.is_empty() {
            let _ = write!(challenge, ", scope=\"{}\"", quoted(scope));
        }
        challenge
    }
}

impl Resources {
    /// Returns the valid audiences of a token.
    fn accepted(&self) -> Vec<String> {
        match self {
            // A root URI has two equivalent spellings, and clients send either.
            Self::Named(resource) => match Url::parse(resource) {
                Ok(url) if url.path() == "/" && url.query().is_none() => {
                    let bare = resource.trim_end_matches('/');
                    vec![bare.to_owned(), format!("{bare}/")]
                }
                _ => vec![resource.clone()],
            },
            Self::Derived(addresses) => {
                let of = |base: &String| ENDPOINTS.map(|path| format!("{base}{path}"));
                addresses.iter().flat_map(of).collect()
            }
        }
    }

    /// Returns the resource that is described at that path, if any.
    fn at(&self, asked: &RequestTarget) -> Option<String> {
        let path = asked.path.trim_end_matches('/');
        match self {
            Self::Named(resource) => {
                let own = path_of(resource);
                let known = path.is_empty() || path == own || ENDPOINTS.contains(&path);
                known.then(|| resource.clone())
            }
            Self::Derived(addresses) => {
                let path = if path.is_empty() { "/mcp" } else { path };
                let base = address_for(asked, addresses)?;
                ENDPOINTS.contains(&path).then(|| format!("{base}{path}"))
            }
        }
    }

    /// Returns the URL of the metadata for an endpoint: the well-known segment precedes the path.
    fn metadata(&self, asked: &RequestTarget) -> String {
        match self {
            Self::Named(resource) => {
                let own = path_of(resource);
                let origin = resource.trim_end_matches('/');
                let origin = origin.strip_suffix(&own).unwrap_or(origin);
                format!("{origin}{METADATA}{own}")
            }
            Self::Derived(addresses) => {
                let path = match ENDPOINTS.contains(&&*asked.path) {
                    true => &asked.path,
                    false => "/mcp",
                };
                let base = address_for(asked, addresses).map_or("", String::as_str);
                format!("{base}{METADATA}{path}")
            }
        }
    }
}

/// Returns the address that the client used, or the preferred one.
fn address_for<'a>(asked: &RequestTarget, addresses: &'a [String]) -> Option<&'a String> {
    let used = |address: &&String| {
        let authority = address.split_once("://").map(|(_, authority)| authority);
        authority == Some(&*asked.host)
    };
    addresses.iter().find(used).or_else(|| addresses.first())
}

/// Returns the path of a URI, empty for the root.
fn path_of(resource: &str) -> String {
    let url = Url::parse(resource);
    url.map_or(String::new(), |url| {
        url.path().trim_end_matches('/').to_owned()
    })
}

fn scopes(permissions: &[Permission]) -> String {
    let scopes: Vec<_> = permissions.iter().map(|one| one.scope()).collect();
    scopes.join(" ")
}

/// Escapes a text for a quoted string in a header.
fn quoted(text: &str) -> String {
    let may = |c: &char| matches!(c, ' '..='~') && !matches!(c, '"' | '\\');
    text.chars().filter(may).collect()
}

fn unavailable(issuer: &str) -> AuthError {
    tracing::warn!(issuer, "the keys of an issuer cannot be read");
    AuthError {
        status: StatusCode::SERVICE_UNAVAILABLE,
        message: "The token cannot be checked: its issuer does not answer\n".to_owned(),
        challenge: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_and_challenges_name_the_resource() {
        let addresses = ["http://localhost:8931", "http://127.0.0.1:8931"].map(str::to_owned);
        let at = |path: &str, host: &str| RequestTarget {
            path: path.to_owned(),
            host: host.to_owned(),
        };
        let of = |resource, path: &str| {
            let asked = at(path, "localhost:8931");
            let oauth = OAuth::new(&["https://id.example".to_owned()], resource, &addresses);
            let challenge = oauth.challenge(&asked, None, "browser:read");
            let described = oauth
                .metadata(&asked)
                .map(|metadata| metadata["resource"].clone());
            (
                challenge,
                described.and_then(|uri| Some(uri.as_str()?.to_owned())),
            )
        };
        let mcp = "http://localhost:8931/mcp".to_owned();
        let (challenge, described) = of(None, "/mcp");
        assert_eq!(
            challenge,
            "Bearer resource_metadata=\"http://localhost:8931/.well-known/oauth-protected-resource/mcp\", scope=\"browser:read\""
        );
        assert_eq!(described, Some(mcp.clone()));
        assert_eq!(of(None, "").1, Some(mcp));
        assert_eq!(
            of(None, "/ws").1,
            Some("http://localhost:8931/ws".to_owned())
        );
        assert_eq!(of(None, "/other").1, None);
        // Each name of this machine is valid, and other names are not.
        let oauth = OAuth::new(&[], None, &addresses);
        let at = |host| {
            oauth
                .metadata(&at("/mcp", host))
                .map(|m| m["resource"].clone())
        };
        assert_eq!(
            at("127.0.0.1:8931"),
            Some(json!("http://127.0.0.1:8931/mcp"))
        );
        assert_eq!(at("evil.example"), Some(json!("http://localhost:8931/mcp")));
        assert_eq!(oauth.resources.accepted().len(), 8);
        let named = "https://tools.example/playhouse/mcp";
        let (challenge, described) = of(Some(named), "/mcp");
        assert!(
            challenge.contains(
                "\"https://tools.example/.well-known/oauth-protected-resource/playhouse/mcp\""
            ),
            "{challenge}"
        );
        assert_eq!(described.as_deref(), Some(named));
        assert_eq!(of(Some(named), "/playhouse/mcp").1.as_deref(), Some(named));
        let (challenge, _) = of(Some("https://tools.example/"), "/mcp");
        assert!(
            challenge.contains("\"https://tools.example/.well-known/oauth-protected-resource\""),
            "{challenge}"
        );
    }

    #[test]
    fn only_a_root_has_two_equivalent_forms() {
        let accepted = |uri: &str| Resources::Named(uri.to_owned()).accepted();
        assert_eq!(
            accepted("https://a.example"),
            ["https://a.example", "https://a.example/"]
        );
        assert_eq!(
            accepted("https://a.example/"),
            ["https://a.example", "https://a.example/"]
        );
        assert_eq!(accepted("https://a.example/mcp"), ["https://a.example/mcp"]);
    }

    #[test]
    fn a_step_up_keeps_what_was_granted() {
        let oauth = OAuth::new(&[], None, &["http://localhost:1".to_owned()]);
        let granted = ["openid", "browser:read"].map(str::to_owned);
        let denied = oauth.insufficient(
            &RequestTarget::default(),
            &granted,
            "The tool \"click\"",
            Permission::Act,
        );
        assert_eq!(denied.status, StatusCode::FORBIDDEN);
        let challenge = denied.challenge.expect("a challenge");
        assert!(
            challenge.contains("error=\"insufficient_scope\""),
            "{challenge}"
        );
        assert!(
            challenge.contains("scope=\"openid browser:read browser:act\""),
            "{challenge}"
        );
        assert!(!challenge.contains("\"click\""), "{challenge}");
    }
}
