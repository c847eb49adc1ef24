//! The configuration file: JSON in nested objects, or INI with dotted keys.

use std::{fs, path::Path};

use jsonc_parser::ParseOptions;
use serde_json::Value;

use super::{
    error::ConfigError,
    ini,
    layered::Source,
    options::{OPTIONS, Options},
    table::OptionDef,
    value::Problem,
};
use crate::error::nearest::nearest;

/// JSON with comments and trailing commas.
pub(crate) const JSON_WITH_COMMENTS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Parses the file at `path`, an absolute path, and applies its values to the options.
pub(crate) fn apply(path: &Path, options: &mut Options) -> Result<(), ConfigError> {
    let text = fs::read_to_string(path).map_err(|error| ConfigError::Unreadable {
        path: path.to_owned(),
        error,
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut file = File { path, options };
    let is_ini = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("ini"));
    let start = text.trim_start();
    let is_json = ["{", "//", "/*"].iter().any(|mark| start.starts_with(mark))
        || serde_json::from_str::<Value>(text).is_ok();
    if is_ini || !is_json {
        file.ini(text)
    } else {
        file.json(text)
    }
}

struct File<'a> {
    path: &'a Path,
    options: &'a mut Options,
}

impl File<'_> {
    fn json(&mut self, text: &str) -> Result<(), ConfigError> {
        let value = jsonc_parser::parse_to_serde_value::<Value>(text, &JSON_WITH_COMMENTS)
            .map_err(|error| self.syntax(error.to_string()))?;
        self.walk("", &value)
    }

    fn walk(&mut self, prefix: &str, value: &Value) -> Result<(), ConfigError> {
        let Value::Object(map) = value else {
            let problem = Problem::expected("an object");
            return Err(self.invalid(prefix, value.to_string(), problem));
        };
        for (name, value) in map {
            let key = if prefix.is_empty() {
                name.clone()
            } else {
                format!("{prefix}.{name}")
            };
            if let Some(def) = by_key(&key) {
                let folder = self.path.parent().unwrap_or(Path::new(""));
                (def.apply_json)(self.options, self.source(), value, folder)
                    .map_err(|problem| self.invalid(&key, value.to_string(), problem))?;
            } else if is_prefix(&key) {
                self.walk(&key, value)?;
            } else if key != "$schema" {
                return Err(self.unknown(key));
            }
        }
        Ok(())
    }

    fn ini(&mut self, text: &str) -> Result<(), ConfigError> {
        for entry in ini::parse(text).map_err(|reason| self.syntax(reason))? {
            let (name, value) = (entry.key, &*entry.value);
            let name = name.strip_suffix("[]").unwrap_or(name).trim();
            let key = match entry.section {
                Some(section) => format!("{section}.{name}"),
                None => name.to_owned(),
            };
            match (by_key(&key), entry_of(&key)) {
                (Some(def), _) => self.text(def, &key, value)?,
                (None, Some((def, name))) => self.walk_entry(def, &key, name, value)?,
                (None, None) => return Err(self.unknown(key)),
            }
        }
        Ok(())
    }

    /// Applies an entry of an option that is an object of strings: `secrets.NAME = value`.
    fn walk_entry(
        &mut self,
        def: &OptionDef,
        key: &str,
        name: &str,
        value: &str,
    ) -> Result<(), ConfigError> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let entry = serde_json::json!({ name: value });
        (def.apply_json)(self.options, self.source(), &entry, folder)
            .map_err(|problem| self.invalid(key, value.to_owned(), problem))
    }

    fn text(&mut self, def: &OptionDef, key: &str, text: &str) -> Result<(), ConfigError> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        (def.apply_ini)(self.options, self.source(), text, folder)
            .map_err(|problem| self.invalid(key, text.to_owned(), problem))
    }

    fn source(&self) -> Source {
        Source::File(self.path.to_owned())
    }

    fn syntax(&self, reason: String) -> ConfigError {
        ConfigError::Syntax {
            path: self.path.to_owned(),
            reason,
        }
    }

    fn invalid(&self, key: &str, text: String, problem: Problem) -> ConfigError {
        let name = format!("{key} in {}", self.path.display());
        ConfigError::Invalid {
            name,
            text,
            problem,
        }
    }

    fn unknown(&self, key: String) -> ConfigError {
        let nearest = nearest_key(&key).map(str::to_owned);
        ConfigError::UnknownKey {
            path: self.path.to_owned(),
            key,
            nearest,
        }
    }
}

fn keys() -> impl Iterator<Item = &'static str> {
    OPTIONS.iter().flat_map(OptionDef::keys)
}

fn by_key(key: &str) -> Option<&'static OptionDef> {
    OPTIONS
        .iter()
        .find(|def| def.keys().any(|known| known == key))
}

/// Returns the option that is an object of strings, and the name in it with which the key ends.
fn entry_of(key: &str) -> Option<(&'static OptionDef, &str)> {
    OPTIONS.iter().find_map(|def| {
        let (known, name) = def
            .keys()
            .find_map(|known| Some((known, key.strip_prefix(known)?.strip_prefix('.')?)))?;
        let schema = (def.schema)();
        let kinds = &schema["additionalProperties"]["type"];
        let is_map = kinds == "string"
            || kinds
                .as_array()
                .is_some_and(|all| all.contains(&"string".into()));
        (is_map && !known.is_empty()).then_some((def, name))
    })
}

fn is_prefix(key: &str) -> bool {
    keys().any(|known| {
        known
            .strip_prefix(key)
            .is_some_and(|rest| rest.starts_with('.'))
    })
}

/// Returns the key with the same last segment, or else the key with the most similar spelling.
fn nearest_key(key: &str) -> Option<&'static str> {
    fn last(key: &str) -> &str {
        key.rsplit('.').next().unwrap_or(key)
    }
    let misplaced = keys().find(|known| last(known).eq_ignore_ascii_case(last(key)));
    let objects = keys().flat_map(|key| key.match_indices('.').map(|(dot, _)| &key[..dot]));
    let word = || {
        let word = nearest(last(key), keys().map(last))?;
        keys().find(|known| last(known) == word)
    };
    misplaced
        .or_else(|| nearest(key, keys().chain(objects)))
        .or_else(word)
}
