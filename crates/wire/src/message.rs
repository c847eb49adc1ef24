//! The types that all protocols share: commands with methods and results, events, and Base64 data.

use base64::Engine as _;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A command: the struct is its parameters.
pub trait Command: Serialize + Send + Sync {
    /// The protocol: `cdp` or `bidi`.
    const PROTOCOL: &'static str;
    /// The method, such as `Page.navigate`.
    const METHOD: &'static str;
    /// The type of the result; [`Empty`] for a result without data.
    type Response: DeserializeOwned + Send + 'static;
}

/// An event: the struct is its parameters.
pub trait Event: DeserializeOwned {
    /// The method, such as `Page.frameNavigated`.
    const METHOD: &'static str;
}

/// An empty result.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub struct Empty {}

/// Bytes, which are encoded as Base64.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Binary(pub Vec<u8>);

impl Serialize for Binary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&base64::display::Base64Display::new(
            &self.0,
            &base64::engine::general_purpose::STANDARD,
        ))
    }
}

impl<'de> Deserialize<'de> for Binary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        base64::engine::general_purpose::STANDARD
            .decode(text.as_bytes())
            .map(Self)
            .map_err(D::Error::custom)
    }
}

impl From<Vec<u8>> for Binary {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl std::fmt::Debug for Binary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Binary({} bytes)", self.0.len())
    }
}
