//! The reference documents of tools and errors. They are generated from the code and committed; a test checks that they are current.

mod browsers;

pub use browsers::{BrowserColumn, browser_reference};

use crate::config::{DEFAULT_SESSION_TOOLS, ToolsetName};
use crate::error::ErrorCode;
use crate::toolbox::TOOLSETS;
use crate::tools::tool::{Effect, ToolDef, Toolset};
use serde_json::{Map, Value};
use std::fmt::Write as _;
use strum::{EnumMessage as _, IntoEnumIterator as _};

/// Returns the text of `docs/tools.md`: a table of all tools with the browsers they work in, and each tool with its parameters.
pub fn tool_reference(browsers: &[BrowserColumn]) -> String {
    let mut text = String::from(
        "# Tools\n\nThis file is generated from the code: `UPDATE_EXPECT=1 cargo test -p playhouse --test generated`.\n\n\
         `--caps` adds tools that are off by default, `--tools +name,-name` allows and denies single tools, and `playhouse tools` prints the list that a set of flags gives.\n\n",
    );
    text.push_str(&tool_table(browsers));
    text.push_str(
        "\n✓: every test case of the tool passes in this browser; 4/6: four of six cases do; –: not supported. [browsers.md](browsers.md) lists the cases that differ.\n",
    );
    for (_, toolset) in TOOLSETS {
        let Toolset { name, about, .. } = toolset;
        let _ = write!(text, "\n## Toolset `{name}`\n\n{about}\n");
        for tool in toolset.tools() {
            describe(&mut text, tool);
        }
    }
    text
}

fn describe(text: &mut String, tool: &ToolDef) {
    let _ = write!(text, "\n### `{}`\n\n{}", tool.name, tool.description());
    let effect = match tool.effect {
        Effect::Reads => "Reads only.",
        Effect::Acts => "Changes something.",
    };
    let _ = write!(text, " {effect} Scope `{}`.", tool.permission.scope());
    if let Some(capability) = tool.capability {
        let capability: &str = capability.into();
        let _ = write!(text, " Needs `--caps {capability}`.");
    }
    text.push('\n');
    let schema = tool.full_schema();
    let parameters = parameters(&schema, "");
    if parameters.is_empty() {
        return;
    }
    text.push_str("\n| parameter | type | |\n|---|---|---|\n");
    for [name, kind, about] in parameters {
        let _ = writeln!(text, "| {name} | {kind} | {about} |");
    }
}

/// Returns a row for each parameter. The members of objects in a list follow the list.
fn parameters(schema: &Map<String, Value>, prefix: &str) -> Vec<[String; 3]> {
    let mut rows = Vec::new();
    let required = schema.get("required").and_then(Value::as_array);
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let Value::Object(property) = property else {
            continue;
        };
        let about = property.get("description").and_then(Value::as_str);
        let mut about = about.unwrap_or_default().to_owned();
        match property.get("default") {
            Some(default) => {
                let _ = write!(about, " Default `{default}`.");
            }
            None if required.is_some_and(|names| names.contains(&name.as_str().into())) => {
                about.push_str(" **Required.**");
            }
            None => {}
        }
        rows.push([format!("`{prefix}{name}`"), kind(property), about]);
        if let Some(Value::Object(items)) = property.get("items") {
            rows.extend(parameters(items, &format!("{prefix}{name}[].")));
        }
    }
    rows
}

fn kind(schema: &Map<String, Value>) -> String {
    if let Some(Value::Array(values)) = schema.get("enum") {
        let values: Vec<_> = values.iter().map(|value| format!("`{value}`")).collect();
        return values.join(", ");
    }
    if let Some(Value::Array(choices)) = schema.get("anyOf") {
        let kinds: Vec<_> = choices
            .iter()
            .filter_map(Value::as_object)
            .map(kind)
            .collect();
        return kinds.join(", ");
    }
    let name = schema.get("type").and_then(Value::as_str);
    match (name.unwrap_or_default(), schema.get("items")) {
        ("array", Some(Value::Object(items))) => format!("list of {}", kind(items)),
        ("null", _) => "`null`".to_owned(),
        (name, _) => name.to_owned(),
    }
}

/// Returns a table with a row for each tool and a column for each browser.
fn tool_table(browsers: &[BrowserColumn]) -> String {
    let mut text = String::from("| tool | what it does | needs |");
    for browser in browsers {
        let _ = write!(text, " {} |", browser.name);
    }
    let _ = writeln!(text, "\n|---|---|---|{}", ":-:|".repeat(browsers.len()));
    for (name, toolset) in TOOLSETS {
        for tool in toolset.tools() {
            let needs = match tool.capability {
                Some(capability) => format!("`--caps {}`", <&str>::from(capability)),
                None if *name == ToolsetName::E2e => "`--server-command`".to_owned(),
                None if *name == ToolsetName::Browser
                    || DEFAULT_SESSION_TOOLS.contains(&tool.name) =>
                {
                    String::new()
                }
                None => format!("`--toolsets {}`", toolset.name),
            };
            let about = tool.description();
            let _ = write!(text, "| [`{0}`](#{0}) | {about} | {needs} |", tool.name);
            for browser in browsers {
                let _ = write!(text, " {} |", browser.cell(tool.name));
            }
            text.push('\n');
        }
    }
    text
}

/// Returns the text of `docs/errors.md`: each error code with its suggestion.
pub fn error_reference() -> String {
    let mut text = String::from(
        "# Errors\n\nThis file is generated from the code: `UPDATE_EXPECT=1 cargo test -p playhouse --test generated`.\n\nA tool that fails answers with `isError: true`, a sentence, and in `structuredContent` an object with `errorCode`, `message`, `details`, `retryable` and `suggestion`. *Retryable* says that the same call may succeed when it is made again. *Exit* is the exit status of `playhouse do` and `playhouse run` ([command-line.md](command-line.md)).\n\n| code | when | retryable | exit | what to do |\n|---|---|---|---|---|\n",
    );
    for code in ErrorCode::iter() {
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} |",
            code.name(),
            code.get_documentation().unwrap_or_default(),
            if code.retryable() { "yes" } else { "no" },
            code.class().exit_status(),
            code.suggestion().unwrap_or_default()
        );
    }
    text
}

/// Returns all tools, enabled or not, in the order of `tools/list`.
pub fn all_tools() -> impl Iterator<Item = &'static ToolDef> {
    TOOLSETS.iter().flat_map(|(_, toolset)| toolset.tools())
}
