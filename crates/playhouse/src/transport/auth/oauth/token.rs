//! Access tokens: what one says before it is believed, and whether it is to be believed.

use super::issuer::Key;
use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use serde::Deserialize;
use serde_json::Value;

/// Clocks differ.
const LEEWAY: u64 = 30;

/// What a token says of itself, unproved: enough to find the key that may prove it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnverifiedClaims {
    pub(super) issuer: String,
    pub(super) key: Option<String>,
    pub(super) algorithm: Algorithm,
}

/// What a token says, proved.
#[derive(Debug, Deserialize)]
pub(super) struct Claims {
    iss: String,
    /// Seconds since 1970.
    pub(super) exp: u64,
    sub: Option<String>,
    client_id: Option<String>,
    azp: Option<String>,
    scope: Option<Value>,
    /// What some issuers call it.
    scp: Option<Value>,
}

/// Why a token is not believed. Fixed sentences: they go to whoever sent it.
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
        // `none` is no algorithm to the parser; extensions that must be understood are not.
        let header = decode_header(token).map_err(|_| TokenError::Malformed)?;
        if header.crit.is_some() {
            return Err(TokenError::Malformed);
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
    /// Who it stands for, unmistakably: somebody, or a program that acts for itself.
    pub(super) fn subject(&self, issuer: &str) -> Option<String> {
        let given = |claim: &Option<String>| claim.clone().filter(|text| !text.is_empty());
        let client = || given(&self.client_id).or_else(|| given(&self.azp));
        match given(&self.sub) {
            Some(sub) => Some(format!("oauth:{issuer}#{sub}")),
            None => Some(format!("oauth-client:{issuer}#{}", client()?)),
        }
    }

    /// Its scopes, one by one.
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

/// What the token says, if one of these keys signed it, its issuer is who it said, and it is for one of these resources, now.
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
    // What is not there would not be looked at.
    validation.set_required_spec_claims(&["exp", "aud", "iss"]);
    let mut last = TokenError::Key;
    for key in keys.iter().filter(|key| key.fits(outline)) {
        match decode::<Claims>(token, key.public(), &validation) {
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
