//! What an option can hold, and how it is read from text (flags, environment, INI) and from JSON.

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
    AuthMode, Capability, ColorScheme, ConsoleLevel, Contrast, FilePaths, ForcedColors,
    ImageResponses, LogFormat, LogLevel, ReducedMotion, SessionExpiry, SnapshotMode, ToolsetName,
};
pub(crate) use choices::{LogDestination, Switch, Transport};
pub use lists::ToolRule;
pub(crate) use lists::{
    Arguments, CapabilityNames, CommaList, Headers, IgnoredArguments, Map, OriginList, Ports,
    Scripts, ToolRules, ToolsetNames,
};
pub(crate) use servers::{CommandLine, NamedServer, NamedServers};
pub(crate) use structured::{BlockServiceWorkers, BrowserName, FirefoxPreferences, JsonObject};
pub use structured::{StorageStateSource, Viewport};

/// A type that an option can have.
pub(crate) trait OptionValue: Clone + PartialEq + fmt::Debug + Sized {
    /// What help and reference call the value (`MS`, `PATH`); empty for a switch.
    const WORD: &'static str;

    /// Reads the text of a flag or an INI line.
    fn parse(text: &str) -> Result<Self, Problem>;

    /// Reads the text of an environment variable; `None` is "as if unset".
    fn parse_environment(text: &str) -> Result<Option<Self>, Problem> {
        Self::parse(text).map(Some)
    }

    /// Reads a value of a JSON file.
    fn from_json(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::String(text) => Self::parse(text),
            _ => Err(Problem::expected("a string")),
        }
    }

    /// The value as a JSON file would have it; `from_json` reads it back.
    fn to_json(&self) -> Value;

    /// The JSON Schema of the file's value.
    fn schema() -> Value;

    /// Adds what the same layer says later. Only lists add; of anything else the last one wins.
    fn extend(&mut self, later: Self) {
        *self = later;
    }

    /// Resolves relative paths that a file in `folder` gave, where they are relative to it.
    fn rebase(&mut self, _folder: &Path) {}
}

/// Why a text or a JSON value is not one of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The words that would have been right.
    NotOneOf(&'static [&'static str]),
    /// Not a size.
    Resolution,
    /// Anything else: what it should have been.
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

/// Declares whole numbers: what they count, the smallest and the largest, the word of help and what messages say.
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
                // JSON has no limit that these do not have.
                if size_of::<$type>() < size_of::<usize>() {
                    schema["maximum"] = json!($range.end());
                }
                schema
            }
        }
    )* };
}

numbers! {
    /// A span of time, written as a whole number of milliseconds.
    Milliseconds(u64) (0..=u64::MAX), "MS", "a whole number of milliseconds";
    /// How many there are; perhaps none.
    Number(usize) (0..=usize::MAX), "N", "a whole number";
    /// How many there may be: at least one.
    Count(usize) (1..=usize::MAX), "N", "a whole number of at least 1";
    /// A TCP port; 0 is any that is free.
    Port(u16) (0..=u16::MAX), "PORT", "a port: a whole number up to 65535";
    /// A size, as a whole number of bytes.
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
        // 2, not 2.0: as the file most likely says it.
        match *self {
            whole if whole.fract() == 0.0 && whole.abs() < 1e15 => json!(whole as i64),
            number => json!(number),
        }
    }

    fn schema() -> Value {
        json!({ "type": "number" })
    }
}

/// A value that this release does not act on yet: it is read only to be refused by name.
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
