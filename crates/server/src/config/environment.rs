//! The environment variables. No other module reads them.

use std::{borrow::Cow, collections::BTreeMap, path::PathBuf};

use super::{
    error::ConfigError,
    layered::Source,
    options::{OPTIONS, Options},
    table::ContractVariable,
};
use crate::error::nearest::nearest;

/// A variable of tests that shortens timeouts. It is not an option and not documented, and may change at any time.
const TIMEOUT_DIVISOR: &str = "PLAYHOUSE_TEST_TIMEOUT_DIVISOR";
/// The prefix of variables of tests.
const OF_TESTS: &str = "PLAYHOUSE_TEST_";
/// The prefix of the variables that Playhouse sets for the commands of an app under test.
const OF_APPS: &str = "PLAYHOUSE_URL_";

/// The prefixes of the variables of options.
const PREFIXES: [&str; 2] = ["PLAYHOUSE_", "PLAYWRIGHT_MCP_"];

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

    /// Applies for each option its variable with the highest precedence. Fails if there is an unknown variable of Playhouse or of
    /// `@playwright/mcp`: it may be a restriction with a wrong name.
    pub(crate) fn apply(&self, options: &mut Options) -> Result<(), ConfigError> {
        for def in OPTIONS {
            let set = |name: &String| self.get(name).is_some();
            let Some(name) = def.variables().into_iter().find(set) else {
                continue;
            };
            let text = self.get(&name).unwrap_or_default().to_owned();
            let is_negated =
                matches!(def.spec.contract_variable, ContractVariable::Negated(it) if it == name);
            let text = match (is_negated, text.as_str()) {
                (false, _) => text,
                (true, "true" | "1") => "false".to_owned(),
                (true, _) => "true".to_owned(),
            };
            let source = Source::Environment(name.clone());
            (def.apply_environment)(options, source, &text).map_err(|problem| {
                ConfigError::Invalid {
                    name,
                    text,
                    problem,
                }
            })?;
        }
        self.require_known()
    }

    fn require_known(&self) -> Result<(), ConfigError> {
        let known: Vec<_> = OPTIONS.iter().flat_map(|def| def.variables()).collect();
        let is_unknown = |name: &&String| {
            let is_option = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
            let is_other =
                name.starts_with(OF_APPS) || (cfg!(debug_assertions) && name.starts_with(OF_TESTS));
            is_option && !is_other && !known.contains(name)
        };
        let is_set = |name: &&String| self.get(name).is_some();
        let unknown = self.0.keys().filter(is_set).find(is_unknown);
        unknown.map_or(Ok(()), |name| {
            let nearest = nearest(name, known.iter().map(String::as_str));
            Err(ConfigError::UnknownVariable {
                name: name.clone(),
                nearest: nearest.map(str::to_owned),
            })
        })
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
