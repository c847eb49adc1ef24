//! The JSON Schemas of parameters and answers, in the form that clients of `@playwright/mcp` expect.

use super::arguments::with_integers;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Returns the schema of the parameters `T` of a tool with a Markdown answer. Its `description` is that of the tool.
pub(super) fn of_parameters<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = of_arguments::<T>();
    list_defaults_as_required(&mut schema);
    schema
}

/// Returns the schema of the parameters `T` of a tool with a JSON answer. Its `description` is that of the tool.
pub(super) fn of_object<T: JsonSchema>() -> Map<String, Value> {
    of_arguments::<T>()
}

fn of_arguments<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = of::<T>(&SchemaSettings::draft2020_12(), portable);
    // It is the default dialect of MCP, and would cost 16 tokens for each tool.
    schema.remove("$schema");
    close(&mut schema);
    schema
}

/// Returns the schema of a JSON answer. Members that are always present are required, even if they can be `null`.
pub(super) fn of_output<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = of::<T>(&SchemaSettings::draft2020_12().for_serialize(), open);
    schema.remove("description");
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.shift_insert(0, "success".to_owned(), json!({ "type": "boolean" }));
    }
    schema
}

/// Returns the outline of an answer's schema for `tools/list`: its members and their types. Each word in `tools/list` costs tokens in every
/// conversation; docs/tools.md has the full schemas. No member is required, because errors have other members, and the official
/// TypeScript SDK checks their structured content against this schema too.
pub(super) fn outline(mut schema: Map<String, Value>) -> Map<String, Value> {
    schema.remove("$schema");
    schema.remove("required");
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut() {
            as_object(property).retain(|word, _| word == "type");
        }
    }
    schema
}

fn of<T: JsonSchema>(
    settings: &SchemaSettings,
    adapt: fn(&mut Map<String, Value>),
) -> Map<String, Value> {
    let generator = settings
        .clone()
        .with(|settings| settings.inline_subschemas = true)
        .into_generator();
    let Value::Object(mut schema) = generator.into_root_schema_for::<T>().to_value() else {
        unreachable!("the schema of a struct is an object");
    };
    adapt(&mut schema);
    // The schema of a struct without fields has no `properties`.
    schema
        .entry("properties")
        .or_insert_with(|| Value::Object(Map::new()));
    schema
}

/// Allows other members in answers, because each answer can report a dialog, and keeps `null` as a value.
fn open(schema: &mut Map<String, Value>) {
    for word in ["title", "format", "minimum", "maximum", "default"] {
        schema.remove(word);
    }
    for key in ["properties", "items", "additionalProperties"] {
        match schema.get_mut(key) {
            Some(Value::Object(below)) if key == "properties" => {
                for property in below.values_mut() {
                    open(as_object(property));
                }
            }
            Some(below) if below.is_object() || key == "items" => open(as_object(below)),
            _ => {}
        }
    }
}

/// Removes what not every client supports: Rust number formats, titles, and `null` for optional members.
fn portable(schema: &mut Map<String, Value>) {
    schema.remove("title");
    schema.remove("format");
    match schema.remove("default") {
        // A default of `null` means that the parameter is left out.
        None | Some(Value::Null) => {}
        Some(default) => {
            schema.insert("default".into(), with_integers(default));
        }
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".into(), only);
            if let Some(Value::Array(values)) = schema.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
        }
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut() {
            portable(as_object(property));
        }
        close(schema);
    }
    if let Some(items) = schema.get_mut("items") {
        portable(as_object(items));
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        for choice in choices {
            portable(as_object(choice));
        }
    }
}

/// Returns the schema as an object. The schema `true` becomes `{}`, because the TypeScript SDK rejects the whole list of tools otherwise.
fn as_object(schema: &mut Value) -> &mut Map<String, Value> {
    if !schema.is_object() {
        *schema = json!({});
    }
    schema.as_object_mut().expect("just made one")
}

fn close(schema: &mut Map<String, Value>) {
    schema.insert("additionalProperties".into(), false.into());
}

/// Removes `minLength: 0`, which only [`super::arguments::remove_empty`] uses, as a mark of optional parameters that may be empty.
pub(super) fn hide_may_be_empty(schema: &mut Map<String, Value>) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            if property.get("minLength").is_some_and(|least| *least == 0) {
                property.remove("minLength");
            }
        }
    }
}

/// Removes `x-addition`, the mark of parameters that `@playwright/mcp` does not have, and with `is_drop_in` these parameters too.
pub(super) fn hide_additions(schema: &mut Map<String, Value>, is_drop_in: bool) {
    const MARK: &str = "x-addition";
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.retain(|_, property| {
            let mark = property
                .as_object_mut()
                .and_then(|property| property.shift_remove(MARK));
            mark.is_none() || !is_drop_in
        });
    }
}

/// Lists parameters with a default as required, as `@playwright/mcp` does, although they can be left out.
fn list_defaults_as_required(schema: &mut Map<String, Value>) {
    let required = schema.get("required").and_then(Value::as_array);
    let names: Vec<Value> = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter(|(name, property)| {
            required.is_some_and(|required| required.contains(&Value::from(name.as_str())))
                || property.get("default").is_some()
        })
        .map(|(name, _)| name.as_str().into())
        .collect();
    if !names.is_empty() {
        schema.insert("required".into(), names.into());
    }
}

/// A parameter for which `null` has another meaning than leaving it out.
///
/// Use it as `Option<Nullable<T>>` with `#[serde(default, deserialize_with = "present")]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Nullable<T>(pub(crate) Option<T>);

/// Deserializes a parameter that is present, with `null` as a value.
pub(crate) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl<T: JsonSchema> JsonSchema for Nullable<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Nullable{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [T::json_schema(generator), { "type": "null" }] })
    }
}

/// Returns the schema of an `Option<Nullable<T>>`, which `Option` would flatten.
pub(crate) fn nullable<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    Nullable::<T>::json_schema(generator)
}
