//! Rules that apply to every tool, and the comparison of schemas with those of `@playwright/mcp`.

use serde_json::{Map, Value, json};
use server::{
    Capability, Effect, OutputFormat, Permission, SessionNaming, TOOLSETS, ToolDef, ToolSettings,
    Toolbox, ToolsetName, all_tools,
};
use std::collections::BTreeSet;

/// The tools of the browser toolset in Playwright 1.65.1: measured, without descriptions.
const CONTRACT: &str = include_str!("contract.jsonl");

/// The largest size of the default tools for a model, in characters of `tools/list` without the parts that models do not see: annotations
/// and the schemas of answers. 11,700 of them are 2,650 tokens of o200k for these 25 tools.
const BUDGET: usize = 11_700;

/// The largest size of the tools of the session toolset, with the session that each of them names: 5,460 tokens.
const SESSION_BUDGET: usize = 24_560;

/// The capabilities that `@playwright/mcp` does not have.
const OWN: [Capability; 4] = [
    Capability::Audit,
    Capability::Contexts,
    Capability::Performance,
    Capability::Webmcp,
];

/// The tools of capabilities of `@playwright/mcp` that it does not have.
const OWN_TOOLS: [&str; 6] = [
    "browser_emulate",
    "browser_get_styles",
    "browser_har_start",
    "browser_har_stop",
    "browser_export_test",
    "browser_workers",
];

fn contract() -> impl Iterator<Item = Value> {
    CONTRACT
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
}

/// Calls `visit` with each nested schema, outermost first.
fn walk(schema: &Value, path: &str, visit: &mut impl FnMut(&str, &Map<String, Value>)) {
    let Value::Object(object) = schema else {
        panic!("{path} is {schema}, which the TypeScript SDK does not take for a schema");
    };
    visit(path, object);
    for (name, property) in object
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        walk(property, &format!("{path}.{name}"), visit);
    }
    if let Some(items) = object.get("items") {
        walk(items, &format!("{path}[]"), visit);
    }
}

#[test]
fn the_tools_that_are_the_same_on_each_engine_exist() {
    let tools: Vec<_> = all_tools().map(|tool| tool.name).collect();
    for name in testkit::SAME_ON_EACH_ENGINE {
        assert!(tools.contains(&name), "{name}");
    }
}

fn of_toolset(wanted: ToolsetName) -> impl Iterator<Item = &'static ToolDef> {
    let toolsets = TOOLSETS.iter().filter(move |(name, _)| *name == wanted);
    toolsets.flat_map(|(_, toolset)| toolset.tools())
}

fn schema_of(tool: &ToolDef) -> Value {
    Value::Object(tool.input_schema(SessionNaming::Impossible))
}

/// Returns the schema without descriptions.
fn bare(mut schema: Value) -> Value {
    fn strip(schema: &mut Value) {
        match schema {
            Value::Object(object) => {
                object.retain(|key, value| !(key == "description" && value.is_string()));
                object.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut schema);
    schema
}

#[test]
fn the_browser_tools_are_those_of_the_contract_in_its_order() {
    let ours: Vec<_> = of_toolset(ToolsetName::Browser)
        .filter(|tool| !matches!(tool.capability, Some(capability) if OWN.contains(&capability)))
        .filter(|tool| !OWN_TOOLS.contains(&tool.name))
        .map(|tool| {
            serde_json::json!({
                "name": tool.name,
                "default": tool.capability.is_none(),
                "title": tool.title,
                "readOnly": tool.effect == Effect::Reads,
                "inputSchema": bare(schema_of(tool)),
            })
        })
        .collect();
    for (ours, theirs) in ours.iter().zip(contract()) {
        assert_eq!(*ours, theirs);
    }
    assert_eq!(ours.len(), contract().count());
}

#[test]
fn names_are_unique_and_say_the_toolset() {
    let names: Vec<_> = all_tools().map(|tool| tool.name).collect();
    let unique: BTreeSet<_> = names.iter().collect();
    assert_eq!(names.len(), unique.len());
    assert!(of_toolset(ToolsetName::Browser).all(|tool| tool.name.starts_with("browser_")));
    assert!(of_toolset(ToolsetName::Session).all(|tool| {
        let answers_with_text = tool.output_format == OutputFormat::Markdown;
        tool.name.starts_with("browser_") == answers_with_text
    }));
}

#[test]
fn every_tool_and_parameter_is_described_in_a_sentence() {
    for tool in all_tools() {
        assert!(tool.description().ends_with('.'), "{}", tool.name);
        walk(&schema_of(tool), tool.name, &mut |path, schema| {
            if path == tool.name || path.ends_with("[]") {
                return;
            }
            let text = schema.get("description").and_then(Value::as_str);
            assert!(
                text.is_some_and(|text| text.ends_with(['.', '?']) && !text.contains('\n')),
                "{path}: {text:?}"
            );
        });
    }
}

#[test]
fn schemas_keep_to_what_every_client_understands() {
    for tool in all_tools() {
        walk(&schema_of(tool), tool.name, &mut |path, schema| {
            for key in [
                "$schema", "$ref", "$defs", "oneOf", "allOf", "format", "title", "const",
            ] {
                assert!(!schema.contains_key(key), "{path} has {key}");
            }
            if path == tool.name {
                assert_eq!(schema.get("type").and_then(Value::as_str), Some("object"));
                assert!(!schema.contains_key("anyOf"), "{path}");
            }
            assert!(
                !schema.get("type").is_some_and(Value::is_array),
                "{path} has several types"
            );
        });
    }
}

#[test]
fn schemas_of_answers_are_objects_all_the_way_down() {
    for tool in all_tools() {
        if let Some(schema) = tool.output_schema() {
            walk(&Value::Object(schema), tool.name, &mut |_, _| {});
        }
    }
}

/// The official TypeScript SDK throws an error of its own otherwise, and the caller gets nothing.
#[test]
fn errors_fit_the_schemas_of_answers() {
    let error = json!({
        "errorCode": "A", "message": "b", "sessionId": "c", "details": {}, "retryable": false,
        "suggestion": "d", "evidence": {}
    });
    for tool in all_tools() {
        let entry = tool.to_json(SessionNaming::Impossible);
        if let Some(schema) = entry.get("outputSchema") {
            assert_eq!(testkit::misfit(schema, &error), None, "{}", tool.name);
        }
    }
}

#[test]
fn the_tools_are_within_their_budget() {
    for (toolset, budget) in [
        (ToolsetName::Browser, BUDGET),
        (ToolsetName::Session, SESSION_BUDGET),
    ] {
        let cost = cost_of(toolset);
        assert!(cost <= budget, "{toolset:?}: {cost} characters");
    }
}

fn cost_of(toolset: ToolsetName) -> usize {
    let settings = ToolSettings {
        toolsets: vec![toolset],
        ..ToolSettings::default()
    };
    Toolbox::new(&settings)
        .to_json()
        .map(|mut shown| {
            if let Value::Object(shown) = &mut shown {
                shown.shift_remove("annotations");
                shown.shift_remove("outputSchema");
            }
            shown.to_string().len()
        })
        .sum()
}

#[test]
fn sensitive_tools_need_the_admin_permission() {
    for tool in all_tools() {
        let is_sensitive = matches!(
            tool.capability,
            Some(Capability::Storage | Capability::Config)
        );
        let least = match tool.effect {
            _ if is_sensitive => Permission::Admin,
            Effect::Reads => Permission::Read,
            Effect::Acts => Permission::Act,
        };
        assert!(tool.permission >= least, "{}", tool.name);
    }
    for word in ["\"cookies\"", "\"requestHeaders\"", "\"responseHeaders\""] {
        let answers_with = |tool: &&ToolDef| {
            let schema = Value::Object(tool.output_schema().unwrap_or_default());
            schema.to_string().contains(word)
        };
        let mut tools = all_tools().filter(answers_with).peekable();
        assert!(tools.peek().is_some(), "{word}");
        for tool in tools {
            assert_eq!(tool.permission, Permission::Admin, "{}", tool.name);
        }
    }
}
