//! A value with the layer it came from: the rule of who wins lives here and nowhere else.

use std::{fmt, path::PathBuf};

use super::value::OptionValue;

/// Where a value came from, weakest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// Nobody said anything.
    Default,
    /// The configuration file.
    File(PathBuf),
    /// An environment variable, by name.
    Environment(String),
    /// A flag, with its dashes.
    Flag(String),
}

impl Source {
    fn rank(&self) -> u8 {
        match self {
            Source::Default => 0,
            Source::File(_) => 1,
            Source::Environment(_) => 2,
            Source::Flag(_) => 3,
        }
    }

    /// Whether a value from here yields to one from `other`.
    pub(crate) fn is_weaker_than(&self, other: &Source) -> bool {
        self.rank() < other.rank()
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::File(path) => write!(f, "file {}", path.display()),
            Source::Environment(name) => write!(f, "environment variable {name}"),
            Source::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}

/// An option's value after the layers offered so far, in whatever order they came.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layered<T>(Option<(T, Source)>);

impl<T> Default for Layered<T> {
    fn default() -> Self {
        Layered(None)
    }
}

impl<T: OptionValue> Layered<T> {
    /// Takes the value unless a stronger layer has spoken. Within a layer lists append, and of
    /// anything else the last one wins.
    pub(crate) fn offer(&mut self, source: Source, value: T) {
        match &mut self.0 {
            Some((_, current)) if source.is_weaker_than(current) => {}
            Some((old, current)) if current.rank() == source.rank() => {
                old.extend(value);
                *current = source;
            }
            _ => self.0 = Some((value, source)),
        }
    }

    /// Takes the value if it would beat what is there without a tie: for what an option implies
    /// about another one.
    pub(crate) fn imply(&mut self, source: &Source, value: T) {
        if self.source().is_none_or(|mine| mine.is_weaker_than(source)) {
            self.0 = Some((value, source.clone()));
        }
    }

    /// The value, if any layer gave one.
    pub(crate) fn get(&self) -> Option<&T> {
        self.0.as_ref().map(|(value, _)| value)
    }

    /// The layer that won.
    pub(crate) fn source(&self) -> Option<&Source> {
        self.0.as_ref().map(|(_, source)| source)
    }

    /// A copy of the value.
    pub(crate) fn value(&self) -> Option<T> {
        self.get().cloned()
    }

    /// Changes the value in place and leaves its layer.
    pub(crate) fn map(&mut self, change: impl FnOnce(&mut T)) {
        if let Some((value, _)) = &mut self.0 {
            change(value);
        }
    }
}

impl<T: OptionValue + Default> Layered<T> {
    /// The value, or the type's own nothing.
    pub(crate) fn or_empty(&self) -> T {
        self.value().unwrap_or_default()
    }
}
