//! An issuer of tokens: where its keys are, and the keys, fetched when they are first needed, again when they are old, and again when a
//! token names one that is not among them, but not for every token that somebody makes up.

use super::token::Outline;
use crate::config::is_safe_address;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// After this time keys are fetched again.
const FRESH: Duration = Duration::from_secs(600);
/// For this time they are good all the same when they cannot be fetched.
const STALE: Duration = Duration::from_secs(24 * 3600);
/// The pause between two attempts, whoever wants what.
const PAUSE: Duration = Duration::from_secs(5);
/// How long an issuer may take to answer.
const ANSWER: Duration = Duration::from_secs(5);
/// The largest answer, in bytes.
const LARGEST: u64 = 1 << 20;
/// The most keys that are looked at.
const MOST_KEYS: usize = 100;

/// An issuer, and its keys as far as they are known.
pub(super) struct Issuer {
    url: String,
    agent: ureq::Agent,
    cached: RwLock<Cached>,
    /// One asks, the others wait for what it hears.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Clone, Default)]
struct Cached {
    keys: Arc<[Key]>,
    /// When they came.
    fetched: Option<Instant>,
    /// When they were last asked for.
    tried: Option<Instant>,
}

/// A public key of an issuer.
pub(super) struct Key {
    id: Option<String>,
    /// What it may have signed with: what it says, or else what its kind can. Never what a token says.
    algorithms: Vec<Algorithm>,
    public: DecodingKey,
}

/// Why there is no key for a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoKey {
    /// The issuer has none like it.
    Unknown,
    /// The issuer cannot be asked.
    Unavailable,
}

impl Issuer {
    /// The issuer of that URL, letter for letter as its tokens say it.
    pub(super) fn new(url: &str) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(ANSWER))
            // Where keys come from is not for others to say.
            .max_redirects(0)
            .build();
        Self {
            url: url.to_owned(),
            agent: config.into(),
            cached: RwLock::default(),
            asking: tokio::sync::Mutex::new(()),
        }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// The keys that may have signed such a token.
    pub(super) async fn keys(&self, outline: &Outline) -> Result<Arc<[Key]>, NoKey> {
        let before = self.cached();
        if before.has(outline) && before.is_younger_than(FRESH) {
            return Ok(before.keys);
        }
        let asking = self.asking.lock().await;
        // Somebody may have asked while we waited.
        let mut now = self.cached();
        if now.tried.is_none_or(|tried| tried.elapsed() >= PAUSE) {
            now = self.fetch(now).await;
        }
        drop(asking);
        match now.has(outline) {
            true if now.is_younger_than(STALE) => Ok(now.keys),
            // The keys that we have came with the last attempt: the issuer knows no other.
            false if now.fetched.is_some() && now.fetched == now.tried => Err(NoKey::Unknown),
            _ => Err(NoKey::Unavailable),
        }
    }

    /// Asks for the keys; what is known stays when that fails.
    async fn fetch(&self, mut known: Cached) -> Cached {
        let tried = Instant::now();
        let (agent, url) = (self.agent.clone(), self.url.clone());
        let fetched = tokio::task::spawn_blocking(move || fetch(&agent, &url)).await;
        known.tried = Some(tried);
        match fetched {
            Ok(Ok(keys)) => {
                known.keys = keys.into();
                known.fetched = Some(tried);
            }
            Ok(Err(reason)) => tracing::warn!(issuer = self.url, reason, "no keys"),
            Err(error) => tracing::warn!(issuer = self.url, %error, "no keys"),
        }
        *self.cached.write().unwrap_or_else(PoisonError::into_inner) = known.clone();
        known
    }

    fn cached(&self) -> Cached {
        let cached = self.cached.read().unwrap_or_else(PoisonError::into_inner);
        cached.clone()
    }
}

impl Cached {
    fn has(&self, outline: &Outline) -> bool {
        self.keys.iter().any(|key| key.fits(outline))
    }

    fn is_younger_than(&self, age: Duration) -> bool {
        self.fetched.is_some_and(|fetched| fetched.elapsed() < age)
    }
}

impl Key {
    /// Whether it can be the one that signed such a token.
    pub(super) fn fits(&self, outline: &Outline) -> bool {
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

    /// A key of a JWK set, if it is one that signs and that we can check with.
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
            // A secret is nobody's public key.
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

/// The keys of an issuer, by way of its metadata: RFC 8414, OpenID Connect Discovery.
fn fetch(agent: &ureq::Agent, issuer: &str) -> Result<Vec<Key>, String> {
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
        let metadata: Metadata = match read(agent, &address) {
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
        let set: Set = read(agent, &metadata.jwks_uri)?;
        let keys: Vec<_> = set
            .keys
            .iter()
            .take(MOST_KEYS)
            .filter_map(Key::of)
            .collect();
        return match keys.is_empty() {
            true => Err(format!("{} has no key that signs", metadata.jwks_uri)),
            false => Ok(keys),
        };
    }
    Err(last)
}

/// Where the metadata may be: the well-known words before the issuer's path, and behind it.
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

fn read<T: for<'a> Deserialize<'a>>(agent: &ureq::Agent, address: &str) -> Result<T, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{address}: {error}");
    let mut response = agent
        .get(address)
        .header("Accept", "application/json")
        .call()
        .map_err(|error| failed(&error))?;
    let body = response.body_mut().with_config().limit(LARGEST);
    let text = body.read_to_string().map_err(|error| failed(&error))?;
    serde_json::from_str(&text).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn metadata_is_looked_for_before_and_behind_the_path() {
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
    fn a_key_says_what_it_signs_with_and_secrets_are_none() {
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
