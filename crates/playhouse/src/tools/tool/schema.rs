//! The JSON Schema of a tool's parameters, in the form that clients of `@playwright/mcp` know.

use super::arguments::whole;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The schema of `T`'s parameters; its `description` is the tool's.
pub(super) fn of_parameters<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = of_arguments::<T>();
    list_defaults_as_required(&mut schema);
    schema
}

/// The same of a tool that answers with an object.
pub(super) fn of_object<T: JsonSchema>() -> Map<String, Value> {
    of_arguments::<T>()
}

fn of_arguments<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = of::<T>(&SchemaSettings::draft2020_12(), portable);
    close(&mut schema);
    schema
}

/// The schema of an answer: what is always there is required, `null` or not.
pub(super) fn of_output<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = of::<T>(&SchemaSettings::draft2020_12().for_serialize(), open);
    schema.remove("description");
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.shift_insert(0, "success".to_owned(), json!({ "type": "boolean" }));
    }
    schema
}

/// The schema of an answer as `tools/list` shows it: its members and their types, which are what a program plans with. Each word there is paid
/// for by every conversation; what members of members are stands in docs/tools.md.
pub(super) fn outline(mut schema: Map<String, Value>) -> Map<String, Value> {
    schema.remove("$schema");
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut() {
            as_object(property).retain(|word, _| word == "type");
        }
    }
    schema
}

fn of<T: JsonSchema>(
    settings: &SchemaSettings,
    mend: fn(&mut Map<String, Value>),
) -> Map<String, Value> {
    let generator = settings
        .clone()
        .with(|settings| settings.inline_subschemas = true)
        .into_generator();
    let Value::Object(mut schema) = generator.into_root_schema_for::<T>().to_value() else {
        unreachable!("the schema of a struct is an object");
    };
    mend(&mut schema);
    // A struct without fields has no properties in its schema.
    schema
        .entry("properties")
        .or_insert_with(|| Value::Object(Map::new()));
    schema
}

/// Answers are open, as each may tell of a dialog, and `null` is a value there.
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

/// Keeps to what every client understands: no Rust number formats, no titles, and no `null` for what may be left out.
fn portable(schema: &mut Map<String, Value>) {
    schema.remove("title");
    schema.remove("format");
    match schema.remove("default") {
        // What has no other default than being left out has none.
        None | Some(Value::Null) => {}
        Some(default) => {
            schema.insert("default".into(), whole(default));
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
}

/// The schema as an object: `true`, which means anything, is one that the TypeScript SDK refuses, and with it the whole list of tools.
fn as_object(schema: &mut Value) -> &mut Map<String, Value> {
    if !schema.is_object() {
        *schema = json!({});
    }
    schema.as_object_mut().expect("just made one")
}

fn close(schema: &mut Map<String, Value>) {
    schema.insert("additionalProperties".into(), false.into());
}

/// Hides what only [`super::arguments::leave_out_empty`] reads: which optional parameters may be empty.
pub(super) fn hide_may_be_empty(schema: &mut Map<String, Value>) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            if property.get("minLength").is_some_and(|least| *least == 0) {
                property.remove("minLength");
            }
        }
    }
}

/// `@playwright/mcp` lists parameters that have a default as required, although leaving them out works; so do we.
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

/// A parameter that may be `null`, which means something else than leaving it out.
///
/// Use it as `Option<Nullable<T>>` with `#[serde(default, deserialize_with = "present")]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Nullable<T>(pub(crate) Option<T>);

/// Reads a parameter that is there, `null` included.
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

/// The schema of an `Option<Nullable<T>>`, which `Option` would flatten.
pub(crate) fn nullable<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    Nullable::<T>::json_schema(generator)
}
