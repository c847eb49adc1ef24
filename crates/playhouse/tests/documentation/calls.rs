//! Calls in the form `tool {json}`, in sentences and in blocks, match the schemas of the tools.

use std::collections::BTreeMap;

use serde_json::Value;
use testkit::Launch;

use crate::assert_none;
use crate::blocks::{Use, use_of};
use crate::document::documents;

/// A parameter that every tool accepts, whether its schema lists it or not.
const COMMON: &str = "maxTokens";

/// All of them.
const CAPABILITIES: &str =
    "config,contexts,network,pdf,performance,storage,testing,vision,devtools,webmcp,audit";

/// The input schemas of all tools, by name.
struct Schemas(BTreeMap<String, Value>);

impl Schemas {
    /// Lists the tools of a server with all of them.
    async fn read() -> Self {
        let server =
            Launch::new(env!("CARGO_BIN_EXE_playhouse")).args(["--headless", "--isolated"]);
        let server = server.args(["--toolsets", "all", "--caps", CAPABILITIES]);
        let server = server.args(["--server-command", "playhouse app -- npm start"]);
        let tools = server.start().await.list_tools().await;
        let schema = |mut tool: Value| {
            let name = tool["name"].as_str().expect("a name").to_owned();
            (name, tool["inputSchema"].take())
        };
        Self(tools.into_iter().map(schema).collect())
    }

    /// Returns the calls in a text with their arguments, which may span lines.
    fn calls(&self, text: &str) -> Vec<(String, Result<Value, String>)> {
        let mut found = Vec::new();
        for (at, _) in text.match_indices(" {") {
            let before = &text[..at];
            let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            let name = &before[before.trim_end_matches(is_part).len()..];
            if self.0.contains_key(name) {
                let arguments = serde_json::Deserializer::from_str(&text[at + 1..])
                    .into_iter()
                    .next()
                    .expect("it begins with a brace");
                found.push((
                    name.to_owned(),
                    arguments.map_err(|error| error.to_string()),
                ));
            }
        }
        found
    }

    /// Returns why arguments are invalid.
    fn misfit(&self, tool: &str, arguments: &Value) -> Option<String> {
        let Some(schema) = self.0.get(tool) else {
            return Some(format!("there is no tool {tool}"));
        };
        let mut own = arguments.clone();
        if schema["properties"].get(COMMON).is_none() {
            own.as_object_mut()?.remove(COMMON);
        }
        let mut steps = arguments["steps"].as_array().into_iter().flatten();
        testkit::misfit(schema, &own).or_else(|| {
            steps.find_map(|step| {
                let tool = step["tool"].as_str().unwrap_or_default();
                self.misfit(tool, &step["arguments"])
            })
        })
    }
}

#[testkit::test]
async fn calls_match_the_schemas_of_their_tools() {
    let schemas = Schemas::read().await;
    let (mut count, mut wrong) = (0, Vec::new());
    for document in documents() {
        let path = &document.path;
        let spans = document.spans.iter();
        let spans = spans.map(|(line, text)| (format!("{path}:{line}"), text));
        // Other blocks have no calls, or are executed.
        let blocks = document.blocks.iter();
        let blocks =
            blocks.filter(|block| matches!(use_of(block), Some(Use::Text | Use::Transcript)));
        let blocks = blocks.map(|block| (block.place.clone(), &block.text));
        for (place, text) in spans.chain(blocks) {
            for (tool, arguments) in schemas.calls(text) {
                count += 1;
                let error = match arguments {
                    Ok(arguments) => schemas.misfit(&tool, &arguments),
                    Err(error) => Some(error),
                };
                wrong.extend(error.map(|error| format!("{place}: {tool}: {error}")));
            }
        }
    }
    assert!(count > 25, "only {count} calls were found");
    assert_none(wrong);
}

#[testkit::test]
async fn wrong_calls_are_found() {
    let schemas = Schemas::read().await;
    let text = "`browser_click {\"target\": \"e6\"}`, browser_click {\"targets\": \"e6\"}, browser_click {\"target\": …}, other {}";
    let calls = schemas.calls(text);
    let results: Vec<_> = calls
        .iter()
        .map(|(tool, arguments)| match arguments {
            Ok(arguments) => schemas.misfit(tool, arguments).is_none(),
            Err(_) => false,
        })
        .collect();
    assert_eq!(results, [true, false, false]);
    let step =
        serde_json::json!({ "steps": [{ "tool": "browser_click", "arguments": { "e": 1 } }] });
    assert!(schemas.misfit("browser_batch", &step).is_some());
}
