//! The keys of a token issuer. They are fetched when they are first needed, in the background when they are old, and again when a token
//! names an unknown one, but not for every forged token.

use super::token::UnverifiedClaims;
use crate::config::is_safe_address;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;
use url::Url;

/// The age at which keys that are in use are fetched again.
const REFRESH_INTERVAL: Duration = Duration::from_secs(600);
/// The age up to which keys remain valid if they cannot be fetched again.
const MAX_KEY_AGE: Duration = Duration::from_secs(24 * 3600);
/// The interval between the end of an attempt and the next one.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);
/// How long an attempt may take, with the metadata and the keys, at all addresses.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest response, in bytes.
const MAX_RESPONSE_BYTES: u64 = 1 << 20;
/// The largest number of keys that are used.
const MAX_KEYS: usize = 100;

/// An issuer and its known keys.
pub(super) struct Issuer {
    url: String,
    agent: ureq::Agent,
    limit: Duration,
    cached: Arc<RwLock<Cached>>,
    /// Locked by the current attempt: others wait for its end.
    attempt: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Clone, Default)]
struct Cached {
    keys: Arc<[Key]>,
    /// The time at which they were fetched.
    fetched: Option<Instant>,
    /// The end of the last attempt.
    tried: Option<Instant>,
}

/// A public key of an issuer.
pub(super) struct Key {
    id: Option<String>,
    /// The algorithms that the key may be used with: those that it states, or otherwise those of its type. Never the one that a token
    /// states.
    algorithms: Vec<Algorithm>,
    public: DecodingKey,
}

/// Why there is no key for a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyError {
    /// The issuer has no such key.
    Unknown,
    /// The issuer cannot be reached.
    Unavailable,
}

impl Issuer {
    /// Creates an issuer with that URL, spelled exactly as in its tokens.
    pub(super) fn new(url: &str) -> Self {
        let config = ureq::Agent::config_builder()
            // Other servers must not decide where keys come from.
            .max_redirects(0)
            .build();
        Self {
            url: url.to_owned(),
            agent: config.into(),
            limit: FETCH_TIMEOUT,
            cached: Arc::default(),
            attempt: Arc::default(),
        }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the keys that may have signed such a token. Known ones are returned at once.
    pub(super) async fn keys(&self, outline: &UnverifiedClaims) -> Result<Arc<[Key]>, KeyError> {
        let mut now = self.cached();
        if now.has(outline) && now.is_younger_than(MAX_KEY_AGE) {
            if !now.is_younger_than(REFRESH_INTERVAL)
                && let Ok(attempt) = self.attempt.clone().try_lock_owned()
                && now.is_due()
            {
                task::spawn("OAuth keys", self.fetch(attempt)).detach();
            }
            return Ok(now.keys);
        }
        let attempt = self.attempt.clone().lock_owned().await;
        // Another request may have waited for the same attempt.
        now = self.cached();
        if now.is_due() {
            // A cancelled request does not end the attempt that others wait for.
            task::run_to_completion("OAuth keys", self.fetch(attempt)).await;
            now = self.cached();
        }
        match now.has(outline) {
            true if now.is_younger_than(MAX_KEY_AGE) => Ok(now.keys),
            // The known keys are those of the last attempt: the issuer has no others.
            false if now.fetched.is_some() && now.fetched == now.tried => Err(KeyError::Unknown),
            _ => Err(KeyError::Unavailable),
        }
    }

    /// Fetches the keys; known keys are kept if that fails.
    fn fetch(&self, attempt: OwnedMutexGuard<()>) -> impl Future<Output = ()> + Send + use<> {
        let (agent, url, limit) = (self.agent.clone(), self.url.clone(), self.limit);
        let cached = self.cached.clone();
        async move {
            let issuer = url.clone();
            let fetched =
                tokio::task::spawn_blocking(move || Attempt::new(agent, limit).keys(&url)).await;
            let now = Some(Instant::now());
            let mut known = cached.write().unwrap_or_else(PoisonError::into_inner);
            known.tried = now;
            match fetched {
                Ok(Ok(keys)) => {
                    known.keys = keys.into();
                    known.fetched = now;
                }
                Ok(Err(reason)) => tracing::warn!(issuer, reason, "no keys"),
                Err(error) => tracing::warn!(issuer, %error, "no keys"),
            }
            drop(known);
            drop(attempt);
        }
    }

    fn cached(&self) -> Cached {
        let cached = self.cached.read().unwrap_or_else(PoisonError::into_inner);
        cached.clone()
    }
}

impl Cached {
    fn has(&self, outline: &UnverifiedClaims) -> bool {
        self.keys.iter().any(|key| key.fits(outline))
    }

    /// Returns whether the retry interval has passed.
    fn is_due(&self) -> bool {
        self.tried
            .is_none_or(|tried| tried.elapsed() >= RETRY_INTERVAL)
    }

    fn is_younger_than(&self, age: Duration) -> bool {
        self.fetched.is_some_and(|fetched| fetched.elapsed() < age)
    }
}

impl Key {
    /// Returns whether the key can have signed such a token.
    pub(super) fn fits(&self, outline: &UnverifiedClaims) -> bool {
        let named = match (&outline.key, &self.id) {
            (Some(wanted), Some(id)) => wanted == id,
            (Some(_), None) => false,
            (None, _) => true,
        };
        named && self.algorithms.contains(&outline.algorithm)
    }

    pub(super) fn public(&self) -> &DecodingKey {
        &self.public
    }

    /// Parses a key of a JWK set; `None` if it is not a signature key of a supported type.
    pub(super) fn of(jwk: &Value) -> Option<Self> {
        let jwk: Jwk = serde_json::from_value(jwk.clone()).ok()?;
        let common = &jwk.common;
        if matches!(&common.public_key_use, Some(used) if *used != PublicKeyUse::Signature) {
            return None;
        }
        if matches!(&common.key_operations, Some(all) if !all.contains(&KeyOperations::Verify)) {
            return None;
        }
        let mut algorithms = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => vec![
                Algorithm::RS256,
                Algorithm::RS384,
                Algorithm::RS512,
                Algorithm::PS256,
                Algorithm::PS384,
                Algorithm::PS512,
            ],
            AlgorithmParameters::EllipticCurve(curve) => match curve.curve {
                EllipticCurve::P256 => vec![Algorithm::ES256],
                EllipticCurve::P384 => vec![Algorithm::ES384],
                _ => return None,
            },
            AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => {
                vec![Algorithm::EdDSA]
            }
            // A symmetric key is not a public key.
            _ => return None,
        };
        if let Some(only) = common.key_algorithm {
            let only = Algorithm::try_from(only).ok()?;
            algorithms.retain(|algorithm| *algorithm == only);
        }
        let public = DecodingKey::from_jwk(&jwk).ok()?;
        (!algorithms.is_empty()).then_some(Self {
            id: jwk.common.key_id,
            algorithms,
            public,
        })
    }
}

/// An attempt to fetch keys, with one deadline.
struct Attempt {
    agent: ureq::Agent,
    deadline: std::time::Instant,
}

impl Attempt {
    fn new(agent: ureq::Agent, limit: Duration) -> Self {
        let deadline = std::time::Instant::now() + limit;
        Self { agent, deadline }
    }

    /// Fetches the keys of an issuer via its metadata: RFC 8414, OpenID Connect Discovery.
    fn keys(&self, issuer: &str) -> Result<Vec<Key>, String> {
        #[derive(Deserialize)]
        struct Metadata {
            issuer: String,
            jwks_uri: String,
        }
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<Value>,
        }
        let mut last = String::new();
        for address in addresses(issuer) {
            let metadata: Metadata = match self.read(&address) {
                Ok(metadata) => metadata,
                Err(error) => {
                    last = error;
                    continue;
                }
            };
            if metadata.issuer != issuer {
                last = format!("{address} is about another issuer, {}", metadata.issuer);
                continue;
            }
            if !is_safe_address(&metadata.jwks_uri) {
                return Err(format!(
                    "its keys are not at an https address: {}",
                    metadata.jwks_uri
                ));
            }
            let set: Set = self.read(&metadata.jwks_uri)?;
            let keys: Vec<_> = set.keys.iter().take(MAX_KEYS).filter_map(Key::of).collect();
            return match keys.is_empty() {
                true => Err(format!("{} has no key that signs", metadata.jwks_uri)),
                false => Ok(keys),
            };
        }
        Err(last)
    }

    fn read<T: for<'a> Deserialize<'a>>(&self, address: &str) -> Result<T, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{address}: {error}");
        let left = self
            .deadline
            .saturating_duration_since(std::time::Instant::now());
        if left.is_zero() {
            return Err(failed(&"there was no time left to ask"));
        }
        let mut response = self
            .agent
            .get(address)
            .config()
            .timeout_global(Some(left))
            .build()
            .header("Accept", "application/json")
            .call()
            .map_err(|error| failed(&error))?;
        let body = response.body_mut().with_config().limit(MAX_RESPONSE_BYTES);
        let text = body.read_to_string().map_err(|error| failed(&error))?;
        serde_json::from_str(&text).map_err(|error| failed(&error))
    }
}

/// Returns the possible URLs of the metadata: the well-known segments before and after the issuer's path.
fn addresses(issuer: &str) -> Vec<String> {
    let Ok(url) = Url::parse(issuer) else {
        return Vec::new();
    };
    let path = url.path().trim_end_matches('/');
    let origin = url.origin().ascii_serialization();
    let before = |word: &str| format!("{origin}/.well-known/{word}{path}");
    let mut addresses = vec![
        before("oauth-authorization-server"),
        before("openid-configuration"),
    ];
    if !path.is_empty() {
        addresses.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use serde_json::json;
    use std::net::TcpListener;

    fn outline(key: &str) -> UnverifiedClaims {
        UnverifiedClaims {
            issuer: String::new(),
            key: Some(key.to_owned()),
            algorithm: Algorithm::RS256,
        }
    }

    /// Returns an issuer that accepts connections but does not respond, whose key `known` was fetched before.
    fn silent(listener: &TcpListener) -> Issuer {
        let jwk = json!({ "kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "known" });
        let now = Some(Instant::now());
        let mut issuer = Issuer::new(&format!("http://{}", listener.local_addr().unwrap()));
        issuer.limit = Duration::from_millis(300);
        *issuer.cached.write().unwrap() = Cached {
            keys: [Key::of(&jwk).unwrap()].into(),
            fetched: now,
            tried: now,
        };
        issuer
    }

    fn attempts(listener: &TcpListener) -> usize {
        listener.set_nonblocking(true).unwrap();
        listener
            .incoming()
            .take_while(|accepted| accepted.is_ok())
            .count()
    }

    /// With paused time, the clock advances only while nothing runs, so an attempt takes its real time.
    #[tokio::test(start_paused = true)]
    async fn keys_that_are_known_are_served_at_once_while_their_issuer_is_silent() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let issuer = silent(&listener);
        let at_once = || issuer.keys(&outline("known")).now_or_never();
        assert!(at_once().unwrap().is_ok());
        assert_eq!(attempts(&listener), 0);
        tokio::time::advance(REFRESH_INTERVAL).await;
        for _ in 0..10 {
            assert!(at_once().unwrap().is_ok());
        }
        // Waits for the attempt in the background.
        drop(issuer.attempt.clone().lock_owned().await);
        assert!(at_once().unwrap().is_ok());
        assert_eq!(attempts(&listener), 1);
        tokio::time::advance(MAX_KEY_AGE).await;
        let stale = issuer.keys(&outline("known")).await;
        assert_eq!(stale.err(), Some(KeyError::Unavailable));
    }

    #[tokio::test(start_paused = true)]
    async fn requests_that_wait_for_keys_wait_for_one_attempt() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let issuer = silent(&listener);
        tokio::time::advance(RETRY_INTERVAL).await;
        let (first, other) = (outline("new"), outline("other"));
        // A cancelled request does not end the attempt.
        assert!(issuer.keys(&first).now_or_never().is_none());
        let asked = (0..20).map(|_| issuer.keys(&other));
        let answers = futures_util::future::join_all(asked).await;
        assert!(
            answers
                .iter()
                .all(|one| matches!(one, Err(KeyError::Unavailable)))
        );
        assert_eq!(attempts(&listener), 1);
    }

    #[test]
    fn metadata_is_fetched_from_both_well_known_paths() {
        assert_eq!(
            addresses("https://id.example/tenant"),
            [
                "https://id.example/.well-known/oauth-authorization-server/tenant",
                "https://id.example/.well-known/openid-configuration/tenant",
                "https://id.example/tenant/.well-known/openid-configuration",
            ]
        );
        assert_eq!(addresses("http://127.0.0.1:3000").len(), 2);
    }

    #[test]
    fn symmetric_keys_are_ignored_and_others_have_their_algorithm() {
        let algorithms = |jwk: Value| Key::of(&jwk).map(|key| key.algorithms);
        let rsa = |more: Value| {
            let mut jwk = json!({ "kty": "RSA", "n": "AQAB", "e": "AQAB" });
            for (name, value) in more.as_object().expect("an object") {
                jwk[name] = value.clone();
            }
            jwk
        };
        assert_eq!(
            algorithms(rsa(json!({ "alg": "RS256" }))),
            Some(vec![Algorithm::RS256])
        );
        assert_eq!(algorithms(rsa(json!({}))).map(|all| all.len()), Some(6));
        for other in [
            rsa(json!({ "alg": "HS256" })),
            rsa(json!({ "alg": "RSA-OAEP" })),
            rsa(json!({ "use": "enc" })),
            rsa(json!({ "key_ops": ["encrypt"] })),
            json!({ "kty": "oct", "k": "c2VjcmV0", "alg": "HS256" }),
            json!({ "kty": "EC", "crv": "P-521", "x": "AQAB", "y": "AQAB" }),
            json!({ "kty": "new" }),
            json!("RSA"),
        ] {
            assert_eq!(algorithms(other.clone()), None, "{other}");
        }
    }
}
