//! The environment variables. No other module reads them.

use std::{borrow::Cow, collections::BTreeMap, path::PathBuf};

use super::{
    error::ConfigError,
    layered::Source,
    options::{OPTIONS, Options},
};
use crate::error::nearest::nearest;

/// A variable of tests that shortens timeouts. It is not an option and not documented, and may change at any time.
const TIMEOUT_DIVISOR: &str = "PLAYHOUSE_TEST_TIMEOUT_DIVISOR";

/// A copy of the environment variables by name; on Windows by the name in capitals, because the case does not matter there.
#[derive(Debug, Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Reads the variables of this process. Invalid UTF-8 is replaced.
    pub fn of_process() -> Environment {
        let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        Environment(
            std::env::vars_os()
                .map(|(name, value)| (key(&text(name)).into_owned(), text(value)))
                .collect(),
        )
    }

    /// Returns the value of a variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .get(&*key(name))
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Returns the path in a variable that is set and not empty.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from)
    }

    /// Returns the divisor of the timeouts that no option sets: that of tests, and 1 in a release build.
    pub(super) fn timeout_divisor(&self) -> u32 {
        let divisor = self.get(TIMEOUT_DIVISOR).and_then(|text| text.parse().ok());
        divisor.filter(|_| cfg!(debug_assertions)).unwrap_or(1)
    }

    /// Applies for each option its variable with the highest precedence. Returns notices about unknown `PLAYHOUSE_*`
    /// variables.
    pub(crate) fn apply(&self, options: &mut Options) -> Result<Vec<String>, ConfigError> {
        for def in OPTIONS {
            let set = |name: &String| self.get(name).is_some();
            let Some(name) = def.variables().into_iter().find(set) else {
                continue;
            };
            let text = self.get(&name).unwrap_or_default().to_owned();
            let source = Source::Environment(name.clone());
            (def.apply_environment)(options, source, &text).map_err(|problem| {
                ConfigError::Invalid {
                    name,
                    text,
                    problem,
                }
            })?;
        }
        Ok(self.unknown_variables())
    }

    fn unknown_variables(&self) -> Vec<String> {
        let known: Vec<_> = OPTIONS.iter().flat_map(|def| def.variables()).collect();
        let own = self.0.keys().filter(|name| name.starts_with("PLAYHOUSE_"));
        let is_unknown = |name: &&String| match name.as_str() {
            TIMEOUT_DIVISOR => !cfg!(debug_assertions),
            _ => !known.contains(name),
        };
        let unknown = own.filter(is_unknown);
        let notice = |name: &String| match nearest(name, known.iter().map(String::as_str)) {
            Some(nearest) => {
                format!("unknown environment variable {name}. Did you mean {nearest}?")
            }
            None => format!("unknown environment variable {name}"),
        };
        unknown.map(notice).collect()
    }
}

fn key(name: &str) -> Cow<'_, str> {
    match cfg!(windows) {
        true => name.to_ascii_uppercase().into(),
        false => name.into(),
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Environment {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(variables: I) -> Environment {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Environment(variables.into_iter().map(owned).collect())
    }
}
