//! The text and JSON of `config show`: each value and its source.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{
    options::{OPTIONS, Options},
    table::OptionDef,
};

/// The text that replaces a secret.
const MASK: &str = "***";

/// A value and its source.
pub(crate) struct Shown {
    /// The key of the configuration file, or the flag of an option without a key.
    pub(crate) name: String,
    /// The value. Secrets are masked.
    pub(crate) value: Value,
    /// The source: `flag --x`, `environment variable X`, `file PATH`, `default`.
    pub(crate) source: String,
}

/// Returns each option that has a value, in the order of the table.
pub(crate) fn shown(options: &Options) -> Vec<Shown> {
    let shown = |def: &OptionDef| {
        let (value, source) = (def.get)(options)?;
        let name = def
            .spec
            .key
            .map_or_else(|| format!("--{}", def.long()), str::to_owned);
        Some(Shown {
            name,
            value: masked(def, value),
            source: source.to_string(),
        })
    };
    OPTIONS.iter().filter_map(shown).collect()
}

/// Returns the lines of `config show`: name, value and source, in columns.
pub(crate) fn text(options: &Options) -> String {
    let rows: Vec<_> = shown(options)
        .into_iter()
        .map(|row| (row.name, plain(&row.value), row.source))
        .collect();
    let width = |column: fn(&(String, String, String)) -> &String| {
        // A long value must not move the sources of all options out of the window.
        rows.iter()
            .map(|row| column(row).chars().count())
            .filter(|width| *width <= 48)
            .max()
            .unwrap_or(0)
    };
    let (names, values) = (width(|row| &row.0), width(|row| &row.1));
    let mut text = String::new();
    for (name, value, source) in &rows {
        let _ = writeln!(text, "{name:names$}  {value:values$}  {source}");
    }
    text
}

/// Returns a list of objects with `option`, `value`, `source`.
pub(crate) fn json(options: &Options) -> Value {
    let row = |row: Shown| json!({ "option": row.name, "value": row.value, "source": row.source });
    shown(options).into_iter().map(row).collect()
}

/// Returns the options in the shape of a configuration file. Secrets are masked.
pub(crate) fn merged(options: &Options) -> Value {
    let mut merged = Map::new();
    for def in OPTIONS {
        if let (Some(key), Some((value, _))) = (def.spec.key, (def.get)(options)) {
            insert(&mut merged, key, masked(def, value));
        }
    }
    Value::Object(merged)
}

fn insert(map: &mut Map<String, Value>, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            map.insert(key.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = map
                .entry(first)
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

/// Replaces the strings of a secret by the mask. The names of headers are kept.
fn masked(def: &OptionDef, value: Value) -> Value {
    if !def.spec.secret {
        return value;
    }
    match value {
        Value::Object(map) => map
            .into_iter()
            .map(|(name, _)| (name, json!(MASK)))
            .collect(),
        _ => json!(MASK),
    }
}

/// Returns a value as a user would write it in a flag.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            items.iter().map(plain).collect::<Vec<_>>().join(",")
        }
        Value::Object(map) => match (map.get("width"), map.get("height")) {
            (Some(width), Some(height)) => format!("{width}x{height}"),
            _ => value.to_string(),
        },
        _ => value.to_string(),
    }
}
