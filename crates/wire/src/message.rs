//! What all protocols have in common: a command has a method and an answer, an event a method, and bytes travel as text.

use base64::Engine as _;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What can be asked of a browser: the struct is the parameters.
pub trait Command: Serialize + Send + Sync {
    /// Such as `Page.navigate`.
    const METHOD: &'static str;
    /// What the browser answers; [`Empty`] where it only says that it is done.
    type Response: DeserializeOwned + Send + 'static;
}

/// What a browser tells unasked.
pub trait Event: DeserializeOwned {
    /// Such as `Page.frameNavigated`.
    const METHOD: &'static str;
}

/// An answer that carries nothing.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub struct Empty {}

/// Bytes, which travel as Base64.
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
