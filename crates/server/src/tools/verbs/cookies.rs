//! Setting cookies: their attributes, and what a cookie without some of them gets from a URL.

use engine::codegen::Argument;
use engine::{Cookie, SameSite};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use url::Url;

/// A cookie to set.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewCookie {
    /// Its name.
    name: String,
    /// Its value.
    value: String,
    /// Its domain; the page's by default.
    domain: Option<String>,
    /// Its path; / by default.
    path: Option<String>,
    /// When it expires, in Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "whole")]
    expires: Option<f64>,
    /// Hidden from scripts.
    #[serde(skip_serializing_if = "Option::is_none")]
    http_only: Option<bool>,
    /// Over HTTPS only.
    #[serde(skip_serializing_if = "Option::is_none")]
    secure: Option<bool>,
    /// Cross-site rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    same_site: Option<SameSite>,
}

/// Why a cookie cannot be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidCookie {
    #[error("The page has no domain: give the cookie one")]
    NoDomain,
    #[error("Invalid domain")]
    InvalidDomain,
    #[error("A cookie needs a name")]
    EmptyName,
}

impl InvalidCookie {
    /// Returns the name of the parameter.
    pub(crate) fn parameter(self) -> &'static str {
        match self {
            Self::NoDomain | Self::InvalidDomain => "domain",
            Self::EmptyName => "name",
        }
    }
}

impl NewCookie {
    /// Returns the cookie with all attributes. Without a domain, it gets the host of `url`, or of the page. A cookie of an `https` URL is
    /// secure unless it says otherwise.
    pub(crate) fn complete(
        self,
        url: Option<&Url>,
        page_url: &str,
    ) -> Result<Cookie, InvalidCookie> {
        let page = Url::parse(page_url).ok();
        let host = url.or(page.as_ref()).and_then(Url::host_str);
        let host = host.map(str::to_owned);
        let domain = self.domain.or(host).ok_or(InvalidCookie::NoDomain)?;
        let host = domain.trim_start_matches('.');
        // The host of a URL may have percent-encoded characters, that of a cookie may not.
        if host.contains('%') || url::Host::parse(host).is_err() {
            return Err(InvalidCookie::InvalidDomain);
        }
        if self.name.is_empty() {
            return Err(InvalidCookie::EmptyName);
        }
        Ok(Cookie {
            name: self.name,
            value: self.value,
            domain,
            path: self.path.unwrap_or_else(|| "/".to_owned()),
            expires: self.expires.unwrap_or(-1.0),
            http_only: self.http_only.unwrap_or_default(),
            secure: self
                .secure
                .unwrap_or_else(|| url.is_some_and(|url| url.scheme() == "https")),
            same_site: self.same_site,
        })
    }

    /// Returns the argument of `addCookies` in Playwright for the completed cookie.
    pub(crate) fn to_playwright(&self, complete: &Cookie) -> Value {
        json!(Self {
            domain: Some(complete.domain.clone()),
            path: Some(complete.path.clone()),
            ..self.clone()
        })
    }
}

impl NewCookie {
    /// Returns the completed cookie for generated code in other languages than TypeScript, with the attributes that were given.
    pub(crate) fn argument(&self, complete: &Cookie) -> Argument {
        let mut fields: Vec<(&'static str, Argument)> = vec![
            ("domain", complete.domain.as_str().into()),
            ("path", complete.path.as_str().into()),
        ];
        fields.extend(self.expires.map(|expires| ("expires", expires.into())));
        fields.extend(
            self.http_only
                .map(|http_only| ("httpOnly", http_only.into())),
        );
        fields.extend(self.secure.map(|secure| ("secure", secure.into())));
        fields.extend(self.same_site.map(|same_site| {
            let value = same_site.to_string();
            let class = "SameSiteAttribute";
            ("sameSite", Argument::Choice { class, value })
        }));
        Argument::Cookie(self.name.clone(), self.value.clone(), fields)
    }
}

/// Serializes a number without a fraction as a whole number.
#[expect(clippy::ref_option, reason = "the signature that serde requires")]
fn whole<S: Serializer>(number: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "only for whole numbers that fit"
    )]
    match number {
        Some(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            serializer.serialize_i64(*number as i64)
        }
        number => number.serialize(serializer),
    }
}
