//! Options whose values are objects or have a syntax of their own.

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::{Geolocation, HttpCredentials, Size};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{OptionValue, Problem};

/// A size is written `1280x720` or `1280,720`.
impl OptionValue for Size {
    const WORD: &'static str = "WxH";

    fn parse(text: &str) -> Result<Self, Problem> {
        let (width, height) = text.split_once(['x', ',']).ok_or(Problem::Resolution)?;
        let side = |text: &str| match text.trim().parse::<u32>() {
            Ok(side) if side > 0 => Ok(side),
            _ => Err(Problem::Resolution),
        };
        Ok(Size {
            width: side(width)?,
            height: side(height)?,
        })
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::String(text) => Self::parse(text),
            _ => object(value, "an object with width and height"),
        }
    }

    fn to_json(&self) -> Value {
        json!(self)
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": { "width": side_schema(), "height": side_schema() },
            "required": ["width", "height"],
            "additionalProperties": false
        })
    }
}

fn side_schema() -> Value {
    json!({ "type": "integer", "minimum": 1 })
}

/// Deserializes a value. On failure, the problem is `expected`.
pub(super) fn shaped<T: DeserializeOwned>(value: &Value, expected: &str) -> Result<T, Problem> {
    T::deserialize(value).map_err(|why| Problem::expected(format!("{expected} ({why})")))
}

/// Deserializes an object. A key that the schema does not have is an error.
fn object<T: OptionValue + DeserializeOwned>(value: &Value, expected: &str) -> Result<T, Problem> {
    let schema = T::schema();
    if let (Some(map), Some(known)) = (value.as_object(), schema["properties"].as_object())
        && let Some(key) = map.keys().find(|key| !known.contains_key(*key))
    {
        return Err(Problem::expected(format!(
            "{expected} (unknown field `{key}`)"
        )));
    }
    shaped(value, expected)
}

/// The size of the viewport of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Viewport {
    /// The size of the window (`null` in JSON and as text).
    Window,
    /// A fixed size.
    Fixed(Size),
}

impl OptionValue for Viewport {
    const WORD: &'static str = "WxH";

    fn parse(text: &str) -> Result<Self, Problem> {
        match text {
            "null" => Ok(Viewport::Window),
            _ => Size::parse(text).map(Viewport::Fixed),
        }
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::Null => Ok(Viewport::Window),
            _ => Size::from_json(value).map(Viewport::Fixed),
        }
    }

    fn to_json(&self) -> Value {
        match self {
            Viewport::Window => Value::Null,
            Viewport::Fixed(size) => json!(size),
        }
    }

    fn schema() -> Value {
        json!({ "anyOf": [Size::schema(), { "type": "null" }] })
    }
}

/// Where videos are recorded, in the form of Playwright.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordVideo {
    pub(crate) dir: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<Size>,
}

impl OptionValue for RecordVideo {
    const WORD: &'static str = "JSON";

    fn parse(text: &str) -> Result<Self, Problem> {
        let value = serde_json::from_str(text).unwrap_or(Value::Null);
        Self::from_json(&value)
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        object(value, "an object with dir, perhaps with size")
    }

    fn to_json(&self) -> Value {
        json!(self)
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": { "dir": { "type": "string" }, "size": Size::schema() },
            "required": ["dir"],
            "additionalProperties": false
        })
    }
}

/// Whether service workers are blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockServiceWorkers(pub bool);

impl OptionValue for BlockServiceWorkers {
    const WORD: &'static str = "";

    fn parse(text: &str) -> Result<Self, Problem> {
        match text {
            "block" => Ok(BlockServiceWorkers(true)),
            "allow" => Ok(BlockServiceWorkers(false)),
            _ => bool::parse(text).map(BlockServiceWorkers),
        }
    }

    fn parse_environment(text: &str) -> Result<Option<Self>, Problem> {
        Ok(Self::parse(text).ok())
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        match value.as_str() {
            Some("block") => Ok(BlockServiceWorkers(true)),
            Some("allow") => Ok(BlockServiceWorkers(false)),
            _ => Err(Problem::NotOneOf(&["allow", "block"])),
        }
    }

    fn to_json(&self) -> Value {
        json!(if self.0 { "block" } else { "allow" })
    }

    fn schema() -> Value {
        json!({ "enum": ["allow", "block"] })
    }
}

/// The name of a browser or of a channel of Chromium.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BrowserName(pub &'static str);

const BROWSER_NAMES: &[&str] = &[
    "chrome",
    "chrome-beta",
    "chrome-dev",
    "chrome-canary",
    "msedge",
    "msedge-beta",
    "msedge-dev",
    "msedge-canary",
    "chromium",
    "chrome-for-testing",
    "chromium-headless-shell",
    "firefox",
    "webkit",
];

impl OptionValue for BrowserName {
    const WORD: &'static str = "NAME";

    fn parse(text: &str) -> Result<Self, Problem> {
        let known = BROWSER_NAMES.iter().find(|name| **name == text);
        known
            .copied()
            .map(BrowserName)
            .ok_or(Problem::NotOneOf(BROWSER_NAMES))
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        Self::parse(value.as_str().ok_or(Problem::NotOneOf(BROWSER_NAMES))?)
    }

    fn to_json(&self) -> Value {
        json!(self.0)
    }

    fn schema() -> Value {
        json!({ "enum": BROWSER_NAMES })
    }
}

/// The initial cookies and storage of a browser context.
#[derive(Debug, Clone, PartialEq)]
pub enum StorageStateSource {
    /// The path of a file with the storage state.
    File(PathBuf),
    /// The storage state in the configuration file: `{"cookies": […], "origins": […]}`.
    Inline(Value),
}

impl OptionValue for StorageStateSource {
    const WORD: &'static str = "PATH";

    fn parse(text: &str) -> Result<Self, Problem> {
        PathBuf::parse(text).map(StorageStateSource::File)
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::String(path) => Self::parse(path),
            Value::Object(_) => Ok(StorageStateSource::Inline(value.clone())),
            _ => Err(Problem::expected(
                "a path, or an object with cookies and origins",
            )),
        }
    }

    fn to_json(&self) -> Value {
        match self {
            StorageStateSource::File(path) => path.to_json(),
            StorageStateSource::Inline(state) => state.clone(),
        }
    }

    fn schema() -> Value {
        json!({ "type": ["string", "object"] })
    }
}

/// Client certificates, in the form of Playwright.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ClientCertificates(pub(crate) Vec<ClientCertificate>);

/// A client certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ClientCertificate {
    /// The only origin that gets it.
    pub(crate) origin: String,
    /// The certificate with its chain, in PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cert_path: Option<PathBuf>,
    /// The key, in PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key_path: Option<PathBuf>,
    /// Both in PKCS #12, which is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pfx_path: Option<PathBuf>,
    /// The passphrase of the key, which is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) passphrase: Option<String>,
}

impl OptionValue for ClientCertificates {
    const WORD: &'static str = "JSON";

    fn parse(text: &str) -> Result<Self, Problem> {
        let value = serde_json::from_str(text).unwrap_or(Value::Null);
        Self::from_json(&value)
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        shaped(value, "a list of objects with origin, certPath and keyPath")
    }

    fn to_json(&self) -> Value {
        json!(self)
    }

    fn schema() -> Value {
        json!({
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "origin": { "type": "string" },
                    "certPath": { "type": "string" },
                    "keyPath": { "type": "string" },
                    "pfxPath": { "type": "string" },
                    "passphrase": { "type": "string" }
                },
                "required": ["origin"],
                "additionalProperties": false
            }
        })
    }
}

/// Declares options that are JSON objects. As text, the value is JSON.
macro_rules! objects {
    ($($name:ident: $expected:literal, $schema:tt;)*) => { $(
        impl OptionValue for $name {
            const WORD: &'static str = "JSON";

            fn parse(text: &str) -> Result<Self, Problem> {
                let value: Value =
                    serde_json::from_str(text).map_err(|_| Problem::expected($expected))?;
                Self::from_json(&value)
            }

            fn from_json(value: &Value) -> Result<Self, Problem> {
                object(value, $expected)
            }

            fn to_json(&self) -> Value {
                json!(self)
            }

            fn schema() -> Value {
                json!($schema)
            }
        }
    )* };
}

/// Preferences of Firefox by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct FirefoxPreferences(pub BTreeMap<String, Preference>);

/// The value of a Firefox preference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Preference {
    Flag(bool),
    Number(i32),
    Text(String),
}

impl From<Preference> for Value {
    fn from(preference: Preference) -> Self {
        match preference {
            Preference::Flag(flag) => flag.into(),
            Preference::Number(number) => number.into(),
            Preference::Text(text) => text.into(),
        }
    }
}

/// The recording of an HTTP archive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordHar {
    /// The file.
    pub path: PathBuf,
    /// Whether bodies are embedded.
    #[serde(default)]
    pub content: HarContent,
    /// How much is recorded of each request.
    #[serde(default)]
    pub mode: HarMode,
    /// A glob of the URLs to record; default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url_filter: Option<String>,
}

/// Whether an HTTP archive contains the bodies of responses.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[expect(
    missing_docs,
    reason = "a variant with a comment is a schema of its own, which costs tokens"
)]
pub enum HarContent {
    #[default]
    Embed,
    Omit,
}

/// How much an HTTP archive contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HarMode {
    /// Everything.
    #[default]
    Full,
    /// What a replay needs.
    Minimal,
}

/// Any JSON object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct JsonObject(pub Map<String, Value>);

objects! {
    Geolocation: "an object with latitude and longitude", {
        "type": "object",
        "properties": {
            "latitude": { "type": "number" },
            "longitude": { "type": "number" },
            "accuracy": { "type": "number" }
        },
        "required": ["latitude", "longitude"],
        "additionalProperties": false
    };
    FirefoxPreferences: "an object of booleans, whole numbers and strings", {
        "type": "object",
        "additionalProperties": { "type": ["boolean", "integer", "string"] }
    };
    RecordHar: "an object with path", {
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "content": { "enum": ["embed", "omit"] },
            "mode": { "enum": ["full", "minimal"] },
            "urlFilter": { "type": "string" }
        },
        "required": ["path"],
        "additionalProperties": false
    };
    JsonObject: "a JSON object", { "type": "object" };
    HttpCredentials: "an object with username and password", {
        "type": "object",
        "properties": {
            "username": { "type": "string" },
            "password": { "type": "string" },
            "origin": { "type": "string" }
        },
        "required": ["username", "password"],
        "additionalProperties": false
    };
}
