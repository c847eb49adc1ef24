//! Tokens with one defect each. The integration tests use tokens of a real authorization server.

use super::*;
use crate::transport::auth::oauth::signature;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use jsonwebtoken::get_current_timestamp;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
};
use serde_json::json;

const ISSUER: &str = "https://id.example";
const RESOURCE: &str = "https://tools.example/mcp";

struct Signer(EcdsaKeyPair);

impl Signer {
    fn new() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random);
        Self(pair.expect("a key"))
    }

    fn key(&self, id: &str) -> Key {
        let point = &self.0.public_key().as_ref()[1..];
        let jwk = json!({
            "kty": "EC", "crv": "P-256", "kid": id, "use": "sig",
            "x": BASE64.encode(&point[..32]), "y": BASE64.encode(&point[32..]),
        });
        Key::of(&jwk).expect("a key")
    }

    fn sign(&self, header: &Value, claims: &Value) -> String {
        let message = message(header, claims);
        let signature = self
            .0
            .sign(&SystemRandom::new(), message.as_bytes())
            .expect("signed");
        format!("{message}.{}", BASE64.encode(signature))
    }
}

fn message(header: &Value, claims: &Value) -> String {
    format!(
        "{}.{}",
        BASE64.encode(header.to_string()),
        BASE64.encode(claims.to_string())
    )
}

fn header() -> Value {
    json!({ "alg": "ES256", "typ": "at+jwt", "kid": "one" })
}

fn claims() -> Value {
    let now = get_current_timestamp();
    json!({ "iss": ISSUER, "aud": RESOURCE, "sub": "ada", "exp": now + 300, "iat": now, "scope": "browser:read openid" })
}

fn with(mut value: Value, name: &str, new: Value) -> Value {
    match new {
        Value::Null => drop(value.as_object_mut().expect("an object").remove(name)),
        new => value[name] = new,
    }
    value
}

fn checked(token: &str, keys: &[Key]) -> Result<Claims, TokenError> {
    signature::install();
    let outline = UnverifiedClaims::of(token)?;
    verify(token, &outline, keys, &[RESOURCE.to_owned()])
}

#[test]
fn a_valid_token_has_subject_and_scopes() {
    let signer = Signer::new();
    let keys = [signer.key("one")];
    let good = |name: &str, value: Value| {
        let claims = checked(&signer.sign(&header(), &with(claims(), name, value)), &keys);
        claims.expect(name)
    };
    let plain = good("iat", Value::Null);
    assert_eq!(plain.subject("I").as_deref(), Some("oauth:I#ada"));
    assert_eq!(plain.scopes(), ["browser:read", "openid"]);
    assert_eq!(
        good("aud", json!(["https://other.example", RESOURCE]))
            .scopes()
            .len(),
        2
    );
    // Clocks may differ by some seconds.
    let now = get_current_timestamp();
    good("exp", json!(now - 10));
    good("nbf", json!(now + 10));
    let client = with(
        with(claims(), "sub", Value::Null),
        "client_id",
        json!("ada"),
    );
    let client = checked(&signer.sign(&header(), &client), &keys).expect("a client");
    assert_eq!(client.subject("I").as_deref(), Some("oauth-client:I#ada"));
    let listed = with(
        with(claims(), "scope", Value::Null),
        "scp",
        json!(["browser:act"]),
    );
    let listed = checked(&signer.sign(&header(), &listed), &keys).expect("a list");
    assert_eq!(listed.scopes(), ["browser:act"]);
}

#[test]
fn a_token_with_one_wrong_claim_is_refused_for_it() {
    let signer = Signer::new();
    let keys = [signer.key("one")];
    let now = get_current_timestamp();
    for (name, value, expected) in [
        ("exp", json!(now - 60), TokenError::Expired),
        ("exp", Value::Null, TokenError::Claims),
        ("exp", json!("tomorrow"), TokenError::Claims),
        ("nbf", json!(now + 60), TokenError::Early),
        ("aud", json!("https://tools.example"), TokenError::Audience),
        (
            "aud",
            json!("https://tools.example/mcp/"),
            TokenError::Audience,
        ),
        (
            "aud",
            json!("https://tools.example/mcp/more"),
            TokenError::Audience,
        ),
        ("aud", json!([]), TokenError::Audience),
        ("aud", Value::Null, TokenError::Claims),
        ("iss", Value::Null, TokenError::Claims),
    ] {
        let token = signer.sign(&header(), &with(claims(), name, value.clone()));
        let refused = checked(&token, &keys).expect_err(name);
        assert_eq!(refused, expected, "{name}: {value}");
    }
}

#[test]
fn an_unsigned_token_is_refused() {
    let (signer, other) = (Signer::new(), Signer::new());
    let keys = [signer.key("one")];
    let refused = |token: &str| checked(token, &keys).expect_err("a bad token");
    // Signed with another key, under the name of the valid key and under its own.
    assert_eq!(
        refused(&other.sign(&header(), &claims())),
        TokenError::Signature
    );
    let named = with(header(), "kid", json!("two"));
    assert_eq!(refused(&signer.sign(&named, &claims())), TokenError::Key);
    // Changed after signing.
    let good = signer.sign(&header(), &claims());
    let signature = good.rsplit('.').next().expect("a signature");
    let changed = message(&header(), &with(claims(), "sub", json!("eve")));
    assert_eq!(
        refused(&format!("{changed}.{signature}")),
        TokenError::Signature
    );
    assert_eq!(refused(&format!("{changed}.")), TokenError::Signature);
    // Without a signature, in the ways of known attacks.
    for none in ["none", "None", "NONE"] {
        let header = with(header(), "alg", json!(none));
        assert_eq!(
            refused(&format!("{}.", message(&header, &claims()))),
            TokenError::Malformed
        );
    }
    // With the public key as the secret of a symmetric algorithm.
    let secret = with(header(), "alg", json!("HS256"));
    let point = signer.0.public_key();
    let mac = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, point.as_ref());
    let message = message(&secret, &claims());
    let signature = BASE64.encode(ring::hmac::sign(&mac, message.as_bytes()));
    assert_eq!(refused(&format!("{message}.{signature}")), TokenError::Key);
    // With an algorithm of another key type.
    for algorithm in ["ES384", "RS256", "EdDSA"] {
        let header = with(header(), "alg", json!(algorithm));
        assert_eq!(
            refused(&signer.sign(&header, &claims())),
            TokenError::Key,
            "{algorithm}"
        );
    }
    // With a critical extension.
    let critical = with(header(), "crit", json!(["b64"]));
    assert_eq!(
        refused(&signer.sign(&critical, &claims())),
        TokenError::Malformed
    );
    for nonsense in ["", "a", "a.b.c", "..", "a.b.c.d", &good[1..]] {
        assert_eq!(refused(nonsense), TokenError::Malformed, "{nonsense}");
    }
}

#[test]
fn each_kind_of_key_is_verified_with_its_algorithm() {
    signature::install();
    let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
    let pair = Ed25519KeyPair::from_pkcs8(document.as_ref()).expect("a key");
    let jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": BASE64.encode(pair.public_key()) });
    let key = Key::of(&jwk).expect("a key");
    let header = json!({ "alg": "EdDSA" });
    let message = message(&header, &claims());
    let token = format!("{message}.{}", BASE64.encode(pair.sign(message.as_bytes())));
    let claims = checked(&token, &[key]).expect("a good token");
    assert_eq!(claims.subject("I").as_deref(), Some("oauth:I#ada"));
}
