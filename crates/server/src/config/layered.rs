//! Values with their sources, and the rule about which source takes precedence.

use std::{fmt, path::PathBuf};

use super::value::OptionValue;

/// The source of a value. Later variants take precedence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// A default of Playhouse.
    Default,
    /// The defaults of the background server, which differ from the general ones.
    #[cfg_attr(windows, expect(dead_code, reason = "it has no background server"))]
    Background,
    /// The configuration file.
    File(PathBuf),
    /// The environment variable with this name.
    Environment(String),
    /// The flag, with its dashes.
    Flag(String),
}

impl Source {
    fn rank(&self) -> u8 {
        match self {
            Source::Default => 0,
            Source::Background => 1,
            Source::File(_) => 2,
            Source::Environment(_) => 3,
            Source::Flag(_) => 4,
        }
    }

    /// Whether a value from this source is overridden by one from `other`.
    pub(crate) fn is_weaker_than(&self, other: &Source) -> bool {
        self.rank() < other.rank()
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::Background => f.write_str("default of the background server"),
            Source::File(path) => write!(f, "file {}", path.display()),
            Source::Environment(name) => write!(f, "environment variable {name}"),
            Source::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}

/// The value of an option after the layers that were applied, in any order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layered<T>(Option<(T, Source)>);

impl<T> Default for Layered<T> {
    fn default() -> Self {
        Layered(None)
    }
}

impl<T: OptionValue> Layered<T> {
    /// Sets the value unless there is one from a stronger layer. Lists of the same layer are appended; any other value of
    /// the same layer is replaced.
    pub(crate) fn apply(&mut self, source: Source, value: T) {
        match &mut self.0 {
            Some((_, current)) if source.is_weaker_than(current) => {}
            Some((old, current)) if current.rank() == source.rank() => {
                old.extend(value);
                *current = source;
            }
            _ => self.0 = Some((value, source)),
        }
    }

    /// Sets the value if its layer is stronger than that of the present value. For a value that another option implies.
    pub(crate) fn imply(&mut self, source: &Source, value: T) {
        if self
            .source()
            .is_none_or(|current| current.is_weaker_than(source))
        {
            self.0 = Some((value, source.clone()));
        }
    }

    /// Returns the value, if any layer has one.
    pub(crate) fn get(&self) -> Option<&T> {
        self.0.as_ref().map(|(value, _)| value)
    }

    /// Returns the source of the value, if there is a value.
    pub(crate) fn source(&self) -> Option<&Source> {
        self.0.as_ref().map(|(_, source)| source)
    }

    /// Returns a copy of the value, if any layer has one.
    pub(crate) fn value(&self) -> Option<T> {
        self.get().cloned()
    }

    /// Changes the value without changing its source.
    pub(crate) fn map(&mut self, change: impl FnOnce(&mut T)) {
        if let Some((value, _)) = &mut self.0 {
            change(value);
        }
    }
}

impl<T: OptionValue + Default> Layered<T> {
    /// Returns a copy of the value, or the default of its type.
    pub(crate) fn or_empty(&self) -> T {
        self.value().unwrap_or_default()
    }
}
