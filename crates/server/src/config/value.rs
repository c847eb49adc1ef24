//! The types of options, and how their values are parsed from text (flags, environment, INI) and from JSON.

mod choices;
mod lists;
mod servers;
mod structured;

use std::{
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize as _;
use serde_json::{Value, json};

pub use choices::{
    AnswerStyle, AuthMode, Capability, ColorScheme, ConsoleLevel, Contrast, FilePaths,
    ForcedColors, ImageResponses, LogFormat, LogLevel, ReducedMotion, SessionExpiry, SnapshotMode,
    ToolsetName,
};
pub(crate) use choices::{LogDestination, Switch, Transport};
pub use lists::ToolRule;
pub(crate) use lists::{
    Arguments, CapabilityNames, CommaList, Headers, IgnoredArguments, Map, OriginList, Ports,
    Scripts, ToolRules, ToolsetNames,
};
pub(crate) use servers::{CommandLine, NamedServer, NamedServers};
pub(crate) use structured::{
    BlockServiceWorkers, BrowserName, ClientCertificate, ClientCertificates, FirefoxPreferences,
    JsonObject, RecordVideo,
};
pub use structured::{HarContent, HarMode, RecordHar, StorageStateSource, Viewport};

/// A type of an option's value.
pub(crate) trait OptionValue: Clone + PartialEq + fmt::Debug + Sized {
    /// The placeholder of the value in help and reference (`MS`, `PATH`); empty for a switch.
    const WORD: &'static str;

    /// Parses the text of a flag or an INI line.
    fn parse(text: &str) -> Result<Self, Problem>;

    /// Parses the text of an environment variable. `None` means that the variable counts as unset.
    fn parse_environment(text: &str) -> Result<Option<Self>, Problem> {
        Self::parse(text).map(Some)
    }

    /// Parses a value of a JSON file.
    fn from_json(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::String(text) => Self::parse(text),
            _ => Err(Problem::expected("a string")),
        }
    }

    /// Returns the value as JSON, which `from_json` parses back.
    fn to_json(&self) -> Value;

    /// Returns the JSON Schema of the value in a configuration file.
    fn schema() -> Value;

    /// Adds a later value of the same layer. Lists append; any other value is replaced.
    fn extend(&mut self, later: Self) {
        *self = later;
    }

    /// Resolves the paths of a value from a configuration file in `folder` that are relative to the file.
    fn rebase(&mut self, _folder: &Path) {}
}

/// Why a text or a JSON value is not valid for its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The value is not one of these words.
    NotOneOf(&'static [&'static str]),
    /// The value is not a size.
    Resolution,
    /// The value is not what this text describes.
    Expected(String),
}

impl Problem {
    pub(crate) fn expected(what: impl Into<String>) -> Problem {
        Problem::Expected(what.into())
    }
}

impl OptionValue for bool {
    const WORD: &'static str = "";

    fn parse(text: &str) -> Result<Self, Problem> {
        match text {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(Problem::NotOneOf(&["true", "false"])),
        }
    }

    fn parse_environment(text: &str) -> Result<Option<Self>, Problem> {
        Ok(Self::parse(text).ok())
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        value
            .as_bool()
            .ok_or_else(|| Problem::expected("true or false"))
    }

    fn to_json(&self) -> Value {
        json!(self)
    }

    fn schema() -> Value {
        json!({ "type": "boolean" })
    }
}

impl OptionValue for String {
    const WORD: &'static str = "TEXT";

    fn parse(text: &str) -> Result<Self, Problem> {
        Ok(text.to_owned())
    }

    fn to_json(&self) -> Value {
        json!(self)
    }

    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

impl OptionValue for PathBuf {
    const WORD: &'static str = "PATH";

    fn parse(text: &str) -> Result<Self, Problem> {
        match text {
            "" => Err(Problem::expected("a path")),
            _ => Ok(PathBuf::from(text)),
        }
    }

    fn to_json(&self) -> Value {
        json!(self.to_string_lossy())
    }

    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

/// Declares types of whole numbers: the integer type, the range, the placeholder in help, and the description in errors.
macro_rules! numbers {
    ($($(#[doc = $doc:literal])* $name:ident($type:ty) $range:expr, $word:literal, $expected:literal;)*) => { $(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) struct $name(pub $type);

        impl $name {
            fn checked(number: Option<$type>) -> Result<Self, Problem> {
                let number = number.filter(|number| $range.contains(number));
                number.map(Self).ok_or_else(|| Problem::expected($expected))
            }
        }

        impl OptionValue for $name {
            const WORD: &'static str = $word;

            fn parse(text: &str) -> Result<Self, Problem> {
                Self::checked(text.trim().parse().ok())
            }

            fn from_json(value: &Value) -> Result<Self, Problem> {
                Self::checked(<$type>::deserialize(value).ok())
            }

            fn to_json(&self) -> Value {
                json!(self.0)
            }

            fn schema() -> Value {
                let mut schema = json!({ "type": "integer", "minimum": $range.start() });
                // Numbers beyond 64 bits do not occur, so the schema needs no maximum for them.
                if size_of::<$type>() < size_of::<usize>() {
                    schema["maximum"] = json!($range.end());
                }
                schema
            }
        }
    )* };
}

numbers! {
    /// A duration in whole milliseconds.
    Milliseconds(u64) (0..=u64::MAX), "MS", "a whole number of milliseconds";
    /// A whole number, which may be 0.
    Number(usize) (0..=usize::MAX), "N", "a whole number";
    /// A whole number of at least 1.
    Count(usize) (1..=usize::MAX), "N", "a whole number of at least 1";
    /// A TCP port. With 0, the system selects a free port.
    Port(u16) (0..=u16::MAX), "PORT", "a port: a whole number up to 65535";
    /// A size in whole bytes.
    Bytes(u64) (0..=u64::MAX), "BYTES", "a whole number of bytes";
}

impl From<Milliseconds> for Duration {
    fn from(Milliseconds(ms): Milliseconds) -> Duration {
        Duration::from_millis(ms)
    }
}

impl OptionValue for f64 {
    const WORD: &'static str = "NUMBER";

    fn parse(text: &str) -> Result<Self, Problem> {
        match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(Problem::expected("a number")),
        }
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        value.as_f64().ok_or_else(|| Problem::expected("a number"))
    }

    fn to_json(&self) -> Value {
        // A whole number is written as 2, not as 2.0, as in most files.
        match *self {
            whole if whole.fract() == 0.0 && whole.abs() < 1e15 => json!(whole as i64),
            number => json!(number),
        }
    }

    fn schema() -> Value {
        json!({ "type": "number" })
    }
}

/// The value of an option that this release does not support. It is parsed only so that the error can name the option.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unsupported(pub(crate) Value);

impl OptionValue for Unsupported {
    const WORD: &'static str = "VALUE";

    fn parse(text: &str) -> Result<Self, Problem> {
        Ok(Unsupported(json!(text)))
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        Ok(Unsupported(value.clone()))
    }

    fn to_json(&self) -> Value {
        self.0.clone()
    }

    fn schema() -> Value {
        json!(false)
    }
}
