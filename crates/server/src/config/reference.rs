//! Documents that are generated from the table of options: `docs/config.md` and the JSON Schema of the configuration file.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{
    options::OPTIONS,
    show::plain,
    table::{ContractVariable, OptionDef},
};

const INTRODUCTION: &str = "\
# Configuration

<!-- Generated from the table of options; `UPDATE_EXPECT=1 cargo test` writes it anew. -->

Each option can be given as a flag, as an environment variable, or in a configuration file; a flag
beats a variable, a variable beats the file. `playhouse config show` prints every value and where
it came from.

- **Flags**: of a flag given twice the last one counts; flags that take a list append. A switch is
  `--headless`, `--headless=false`, or `--no-headless`.
- **Variables**: `PLAYHOUSE_` and the flag's name, such as `PLAYHOUSE_VIEWPORT_SIZE`. Variables of
  `@playwright/mcp` (`PLAYWRIGHT_MCP_…`) work as well, where there are any; those of Playhouse
  take precedence. A switch is
  `true` or `1`, `false` or `0`; anything else is as if unset. Unknown variables with one of these
  prefixes are errors.
- **File**: `--config FILE`, JSON with nested objects, or INI with dotted keys
  (`browser.contextOptions.viewport = 640x480`; a list is `key[] = value`, repeated). Unknown keys
  are errors. `docs/config.schema.json` is its JSON Schema.
";

/// Returns the text of `docs/config.md`.
pub fn reference() -> String {
    let mut text = INTRODUCTION.to_owned();
    let mut section = "";
    for def in OPTIONS.iter().filter(|def| !def.spec.hidden) {
        if def.section != section {
            section = def.section;
            let _ = write!(
                text,
                "\n## {section}\n\n| option | file | variables | default | |\n|---|---|---|---|---|\n"
            );
        }
        let _ = writeln!(text, "{}", row(def));
    }
    text
}

fn row(def: &OptionDef) -> String {
    let flag = match (def.spec.flag, def.is_switch()) {
        (false, _) => String::new(),
        (true, true) => format!("`--{}`", def.long()),
        (true, false) => format!("`--{} {}`", def.long(), def.word),
    };
    let keys: Vec<_> = def.keys().map(|key| format!("`{key}`")).collect();
    let variables = match (def.spec.flag, def.spec.contract_variable) {
        (false, _) => String::new(),
        (true, ContractVariable::None) => "own".to_owned(),
        (true, ContractVariable::Regular) => "both".to_owned(),
        (true, ContractVariable::Named(name) | ContractVariable::Negated(name)) => {
            format!("own, `{name}`")
        }
    };
    let fixed = (def.default)().map(|value| format!("`{}`", plain(&value)));
    let default = fixed
        .or(def.spec.default.map(str::to_owned))
        .unwrap_or_default();
    let doc = match def.spec.later {
        Some(why) => format!("{} Refused: {why}.", def.doc()),
        None => def.doc(),
    };
    format!(
        "| {flag} | {} | {variables} | {default} | {doc} |",
        keys.join(" ")
    )
}

/// Returns the JSON Schema (2020-12) of a configuration file.
pub fn schema() -> Value {
    let mut root = object();
    for def in OPTIONS.iter().filter(|def| def.spec.later.is_none()) {
        for key in def.keys() {
            insert(&mut root, key, leaf(def));
        }
    }
    let mut schema = Map::new();
    schema.insert(
        "$schema".into(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    schema.insert("title".into(), json!("Configuration of Playhouse"));
    if let Value::Object(root) = root {
        schema.extend(root);
    }
    schema["properties"]["$schema"] = json!({ "type": "string" });
    Value::Object(schema)
}

fn object() -> Value {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}

fn leaf(def: &OptionDef) -> Value {
    let mut schema = (def.schema)();
    if let Value::Object(schema) = &mut schema {
        schema.insert("description".into(), json!(def.doc()));
        if let Some(default) = (def.default)() {
            schema.insert("default".into(), default);
        }
    }
    schema
}

fn insert(schema: &mut Value, key: &str, leaf: Value) {
    let properties = &mut schema["properties"];
    match key.split_once('.') {
        None => properties[key] = leaf,
        Some((first, rest)) => {
            if properties.get(first).is_none() {
                properties[first] = object();
            }
            insert(&mut properties[first], rest, leaf);
        }
    }
}
