//! Access tokens: unverified claims, and their verification.

use super::issuer::Key;
use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use serde::Deserialize;
use serde_json::Value;

/// The allowed clock difference, in seconds.
const LEEWAY: u64 = 30;

/// The unverified claims that are needed to find the key.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnverifiedClaims {
    pub(super) issuer: String,
    pub(super) key: Option<String>,
    pub(super) algorithm: Algorithm,
}

/// The verified claims.
#[derive(Debug, Deserialize)]
pub(super) struct Claims {
    iss: String,
    /// The expiry, in seconds since 1970.
    #[serde(deserialize_with = "whole_seconds")]
    pub(super) exp: u64,
    sub: Option<String>,
    client_id: Option<String>,
    azp: Option<String>,
    scope: Option<Value>,
    /// Another name of the scopes, which some issuers use.
    scp: Option<Value>,
    /// The type of the token, which some issuers have here.
    typ: Option<String>,
    nonce: Option<Value>,
    at_hash: Option<Value>,
    c_hash: Option<Value>,
}

/// Reads a time, which may have a fraction: <https://www.rfc-editor.org/rfc/rfc7519#section-2>.
fn whole_seconds<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates: a negative time is in the past"
    )]
    Ok(seconds as u64)
}

/// Why a token is rejected. The texts are constant because they are sent to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum TokenError {
    #[error("The access token is not a signed JWT")]
    Malformed,
    #[error("The access token is not from an issuer that this server trusts")]
    Issuer,
    #[error("The access token is signed with a key that its issuer does not have")]
    Key,
    #[error("The signature of the access token is wrong")]
    Signature,
    #[error("The token is not an access token")]
    Kind,
    #[error("The access token has expired")]
    Expired,
    #[error("The access token is not valid yet")]
    Early,
    #[error("The access token is not for this server")]
    Audience,
    #[error("The access token lacks a claim: iss, aud, exp, and sub or client_id are needed")]
    Claims,
}

impl UnverifiedClaims {
    pub(super) fn of(token: &str) -> Result<Self, TokenError> {
        #[derive(Deserialize)]
        struct RawClaims {
            iss: Option<String>,
        }
        // The parser rejects the algorithm `none`, but not critical extensions.
        let header = decode_header(token).map_err(|_| TokenError::Malformed)?;
        if header.crit.is_some() {
            return Err(TokenError::Malformed);
        }
        // <https://www.rfc-editor.org/rfc/rfc9068#section-4>, and issuers without it.
        let kinds = ["JWT", "at+jwt", "application/at+jwt"];
        let is_access = |typ: &String| kinds.iter().any(|kind| kind.eq_ignore_ascii_case(typ));
        if !header.typ.as_ref().is_none_or(is_access) {
            return Err(TokenError::Kind);
        }
        let said: RawClaims = jsonwebtoken::dangerous::insecure_decode_claims(token)
            .map_err(|_| TokenError::Malformed)?;
        Ok(Self {
            issuer: said.iss.ok_or(TokenError::Claims)?,
            key: header.kid,
            algorithm: header.alg,
        })
    }
}

impl Claims {
    /// Returns a unique name of the subject: a user or a client.
    pub(super) fn subject(&self, issuer: &str) -> Option<String> {
        let given = |claim: &Option<String>| claim.clone().filter(|text| !text.is_empty());
        let client = || given(&self.client_id).or_else(|| given(&self.azp));
        match given(&self.sub) {
            Some(sub) => Some(format!("oauth:{issuer}#{sub}")),
            None => Some(format!("oauth-client:{issuer}#{}", client()?)),
        }
    }

    /// Returns whether the token is one for the client itself, such as an ID token, although its audience is this server. It has claims that
    /// access tokens do not have: <https://openid.net/specs/openid-connect-core-1_0.html#IDToken>.
    fn is_for_client(&self) -> bool {
        let names = ["ID", "Refresh", "Offline", "Logout"];
        let is_named = |typ: &String| names.iter().any(|name| name.eq_ignore_ascii_case(typ));
        self.typ.as_ref().is_some_and(is_named)
            || [&self.nonce, &self.at_hash, &self.c_hash]
                .iter()
                .any(|claim| claim.is_some())
    }

    /// Returns the scopes.
    pub(super) fn scopes(&self) -> Vec<String> {
        match self.scope.as_ref().or(self.scp.as_ref()) {
            Some(Value::String(text)) => text.split_whitespace().map(str::to_owned).collect(),
            Some(Value::Array(items)) => {
                let texts = items.iter().filter_map(Value::as_str);
                texts.map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Returns the claims, if one of these keys signed the token, its issuer matches, it is for one of these resources, and it is valid now.
pub(super) fn verify(
    token: &str,
    outline: &UnverifiedClaims,
    keys: &[Key],
    resources: &[String],
) -> Result<Claims, TokenError> {
    let mut validation = Validation::new(outline.algorithm);
    validation.leeway = LEEWAY;
    validation.validate_nbf = true;
    validation.set_audience(resources);
    validation.set_issuer(&[&outline.issuer]);
    // Missing claims would not be verified.
    validation.set_required_spec_claims(&["exp", "aud", "iss"]);
    let mut last = TokenError::Key;
    for key in keys.iter().filter(|key| key.fits(outline)) {
        match decode::<Claims>(token, key.public(), &validation) {
            Ok(token) if token.claims.is_for_client() => return Err(TokenError::Kind),
            Ok(token) if token.claims.iss == outline.issuer => return Ok(token.claims),
            Ok(_) => last = TokenError::Issuer,
            Err(error) => last = reason(&error),
        }
    }
    Err(last)
}

fn reason(error: &jsonwebtoken::errors::Error) -> TokenError {
    use jsonwebtoken::errors::ErrorKind;
    match error.kind() {
        ErrorKind::ExpiredSignature => TokenError::Expired,
        ErrorKind::ImmatureSignature => TokenError::Early,
        ErrorKind::InvalidAudience => TokenError::Audience,
        ErrorKind::InvalidIssuer => TokenError::Issuer,
        ErrorKind::MissingRequiredClaim(_) | ErrorKind::InvalidClaimFormat(_) => TokenError::Claims,
        ErrorKind::Json(_) | ErrorKind::Utf8(_) => TokenError::Claims,
        _ => TokenError::Signature,
    }
}

#[cfg(test)]
mod tests;
