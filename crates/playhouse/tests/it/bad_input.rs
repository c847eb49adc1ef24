//! Whatever is wrong with a call of the session toolset is told by its documented code, and the session is as good as before.

use playhouse::{TOOLSETS, ToolDef, ToolsetName};
use serde_json::{Map, Value, json};
use testkit::{Client, Site, browser_is_there};

use crate::server;
use crate::sessions::until_listed;

const PAGE: &str = "<title>Here</title><ul><li>One</li><li>Two</li></ul><a href=#>Link</a><button id=disabled disabled>Go</button>
<button id=hidden style='display:none'>Go</button><div style='position:relative'><button id=covered>Go</button><p style='position:absolute;inset:0;margin:0'></p></div>
<input id=fixed readonly><input id=off disabled><input id=box type=checkbox disabled><input id=gone hidden><select id=list><option>a</option></select><select id=closed disabled><option>a</option></select>";

fn tools() -> impl Iterator<Item = &'static ToolDef> {
    let toolsets = TOOLSETS
        .iter()
        .filter(|(name, _)| *name == ToolsetName::Session);
    toolsets.flat_map(|(_, toolset)| toolset.tools())
}

async fn told(client: &Client, tool: &str, arguments: &Value) -> Value {
    let answer = client.call(tool, arguments.clone()).await;
    let told = answer.raw["structuredContent"].clone();
    assert_eq!(
        serde_json::from_str::<Value>(&answer.text).ok(),
        Some(told.clone())
    );
    told
}

/// Calls what has to fail with this code, and looks whether all that an error tells is there.
async fn refused(client: &Client, tool: &str, arguments: &Value, code: &str) -> Value {
    let error = told(client, tool, arguments).await;
    assert_eq!(error["errorCode"], code, "{tool} {arguments}: {error}");
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|text| !text.is_empty()),
        "{error}"
    );
    assert!(error["retryable"].is_boolean(), "{error}");
    error
}

async fn is_usable(client: &Client, after: &str) {
    let answer = told(client, "evaluate", &json!({ "script": "document.title" })).await;
    assert_eq!(answer["result"], "Here", "after {after}: {answer}");
}

/// A value of some other type than the schema wants; nothing where any would do.
fn mistyped(schema: &Value) -> Option<Value> {
    if schema["enum"].is_array() {
        return Some("none of them".into());
    }
    match schema["type"].as_str() {
        Some("string" | "object" | "array") => Some(7.into()),
        Some(_) => Some("seven".into()),
        None => schema["anyOf"].is_array().then(|| 7.into()),
    }
}

/// A value that the schema lets through.
fn fitting(name: &str, schema: &Value) -> Value {
    match (name, schema["type"].as_str()) {
        ("selector" | "source" | "target", _) => "a".into(),
        ("script", _) => "1".into(),
        ("url", _) => "about:blank".into(),
        (_, Some("array")) => json!([]),
        (_, Some("object")) => json!({}),
        (_, Some("boolean")) => false.into(),
        (_, Some("number" | "integer")) => 1.into(),
        _ => "a".into(),
    }
}

fn schema_of(tool: &ToolDef) -> (Map<String, Value>, Vec<String>) {
    let schema = Value::Object(tool.input_schema(true));
    let required = schema["required"].as_array().into_iter().flatten();
    let required = required.filter_map(Value::as_str).map(str::to_owned);
    let required = required.collect();
    let properties = schema["properties"].as_object().cloned();
    (properties.unwrap_or_default(), required)
}

/// The fewest arguments that fit.
fn least(tool: &ToolDef) -> Value {
    let (properties, required) = schema_of(tool);
    let members = required.into_iter().map(|name| {
        let value = fitting(&name, &properties[&name]);
        (name, value)
    });
    Value::Object(members.collect())
}

fn names(error: &Value, parameter: &str) -> bool {
    let problems = error["details"]["problems"].as_array();
    problems.is_some_and(|problems| {
        let mut names = problems.iter().filter_map(|it| it["parameter"].as_str());
        names.any(|name| name.starts_with(parameter))
    })
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_named_by_every_tool() {
    if !browser_is_there() {
        return;
    }
    let site = Site::start().await;
    let url = site.add_page("/", PAGE);
    let client = server(&["--toolsets", "session"]).await;
    told(&client, "navigate", &json!({ "url": url })).await;
    for tool in tools() {
        let (properties, required) = schema_of(tool);
        let name = tool.name;
        for parameter in required {
            let mut arguments = least(tool);
            arguments.as_object_mut().unwrap().shift_remove(&parameter);
            let error = refused(&client, name, &arguments, "INVALID_PARAMETERS").await;
            assert!(names(&error, &parameter), "{error}");
        }
        for (parameter, schema) in properties {
            let Some(wrong) = mistyped(&schema) else {
                continue;
            };
            let mut arguments = least(tool);
            arguments[&parameter] = wrong;
            let error = refused(&client, name, &arguments, "INVALID_PARAMETERS").await;
            assert!(names(&error, &parameter), "{name} {parameter}: {error}");
        }
        let mut arguments = least(tool);
        arguments["surplus"] = 1.into();
        let error = refused(&client, name, &arguments, "INVALID_PARAMETERS").await;
        assert!(names(&error, "surplus"), "{error}");
    }
    is_usable(&client, "arguments").await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_browser_is_started_for_a_call_that_cannot_work() {
    let client = server(&["--toolsets", "session"]).await;
    for tool in tools() {
        let (properties, required) = schema_of(tool);
        if properties.contains_key("sessionId") {
            let mut arguments = least(tool);
            arguments["sessionId"] = "00000000-0000-4000-8000-000000000000".into();
            refused(&client, tool.name, &arguments, "SESSION_NOT_FOUND").await;
        }
        if !required.is_empty() {
            refused(&client, tool.name, &json!({}), "INVALID_PARAMETERS").await;
        }
        let mut arguments = least(tool);
        arguments["surplus"] = 1.into();
        refused(&client, tool.name, &arguments, "INVALID_PARAMETERS").await;
    }
    for (option, value, code) in [
        ("storageState", json!("none.json"), "FILE_ERROR"),
        ("storageState", json!("/etc/passwd"), "FILE_ACCESS_DENIED"),
        ("timeout", json!(1e15), "INVALID_PARAMETERS"),
        (
            "viewport",
            json!({ "width": 0, "height": 1 }),
            "INVALID_PARAMETERS",
        ),
        (
            "proxy",
            json!({ "server": "socks5://127.0.0.1:1", "username": "u" }),
            "INVALID_PARAMETERS",
        ),
    ] {
        refused(&client, "create_session", &json!({ option: value }), code).await;
    }
    assert!(crate::faults::browsers(&client).is_empty());
}

#[tokio::test]
async fn a_session_that_is_not_there_is_told_by_every_tool() {
    if !browser_is_there() {
        return;
    }
    let client = server(&["--toolsets", "session"]).await;
    let closed = told(&client, "create_session", &json!({})).await["sessionId"].clone();
    told(&client, "close_session", &json!({ "sessionId": closed })).await;
    let expired = told(&client, "create_session", &json!({ "timeout": 1 })).await;
    let expired = expired["sessionId"].clone();
    until_listed(&client, 0).await;
    let unknown = json!("00000000-0000-4000-8000-000000000000");
    for tool in tools().filter(|tool| schema_of(tool).0.contains_key("sessionId")) {
        for (id, code) in [
            (&unknown, "SESSION_NOT_FOUND"),
            (&closed, "SESSION_NOT_FOUND"),
            (&expired, "SESSION_EXPIRED"),
            (&json!("no id"), "SESSION_NOT_FOUND"),
        ] {
            let mut arguments = least(tool);
            arguments["sessionId"] = id.clone();
            let error = refused(&client, tool.name, &arguments, code).await;
            assert_eq!(&error["sessionId"], id, "{error}");
            assert!(error["suggestion"].is_string(), "{error}");
        }
    }
}

#[tokio::test]
async fn selectors_that_name_no_element_are_told_by_every_tool() {
    // They answer about what is there, whatever that is.
    const OF_ANY_NUMBER: [&str; 4] = [
        "get_all_text",
        "find_elements",
        "element_exists",
        "is_visible",
    ];
    if !browser_is_there() {
        return;
    }
    let site = Site::start().await;
    let url = site.add_page("/", PAGE);
    let client = server(&["--toolsets", "session"]).await;
    told(&client, "navigate", &json!({ "url": url })).await;
    for tool in tools() {
        let (properties, _) = schema_of(tool);
        let Some(parameter) = ["selector", "source"]
            .into_iter()
            .find(|name| properties.contains_key(*name))
        else {
            continue;
        };
        let with = |selector: &str| {
            let mut arguments = least(tool);
            arguments[parameter] = selector.into();
            // Most wait for what is not there yet.
            arguments["timeout"] = 50.into();
            arguments
        };
        for malformed in ["#[", "xpath=//[", "getByRole('button'", "role=", ""] {
            refused(&client, tool.name, &with(malformed), "INVALID_SELECTOR").await;
        }
        if OF_ANY_NUMBER.contains(&tool.name) {
            let answer = told(&client, tool.name, &with("#none")).await;
            assert_eq!(answer["success"], true, "{answer}");
        } else if tool.name == "wait_for_selector" {
            refused(&client, tool.name, &with("#none"), "TIMEOUT").await;
        } else {
            refused(&client, tool.name, &with("#none"), "ELEMENT_NOT_FOUND").await;
            refused(&client, tool.name, &with("e999"), "STALE_REF").await;
            let error = refused(&client, tool.name, &with("li"), "ELEMENT_AMBIGUOUS").await;
            let candidates = error["details"]["candidates"].as_array();
            assert_eq!(candidates.map(Vec::len), Some(2), "{error}");
        }
        is_usable(&client, tool.name).await;
    }
}

#[tokio::test]
async fn an_element_that_cannot_do_it_is_told_with_the_reason() {
    if !browser_is_there() {
        return;
    }
    let site = Site::start().await;
    let url = site.add_page("/", PAGE);
    let client = server(&["--toolsets", "session"]).await;
    told(&client, "navigate", &json!({ "url": url })).await;
    for (tool, selector, code, more) in [
        ("click", "#hidden", "ELEMENT_NOT_CLICKABLE", json!({})),
        ("click", "#disabled", "ELEMENT_NOT_CLICKABLE", json!({})),
        ("click", "#covered", "ELEMENT_NOT_CLICKABLE", json!({})),
        ("hover", "#hidden", "ELEMENT_NOT_INTERACTIVE", json!({})),
        ("check", "#box", "ELEMENT_NOT_CLICKABLE", json!({})),
        ("check", "a", "ELEMENT_NOT_INTERACTIVE", json!({})),
        (
            "fill",
            "#fixed",
            "ELEMENT_NOT_EDITABLE",
            json!({ "value": "x" }),
        ),
        (
            "fill",
            "#off",
            "ELEMENT_NOT_EDITABLE",
            json!({ "value": "x" }),
        ),
        (
            "fill",
            "#gone",
            "ELEMENT_NOT_EDITABLE",
            json!({ "value": "x" }),
        ),
        ("fill", "a", "ELEMENT_NOT_EDITABLE", json!({ "value": "x" })),
        (
            "type",
            "#fixed",
            "ELEMENT_NOT_EDITABLE",
            json!({ "text": "x" }),
        ),
        (
            "type",
            "#off",
            "ELEMENT_NOT_EDITABLE",
            json!({ "text": "x" }),
        ),
        (
            "type",
            "#gone",
            "ELEMENT_NOT_EDITABLE",
            json!({ "text": "x" }),
        ),
        ("type", "a", "ELEMENT_NOT_EDITABLE", json!({ "text": "x" })),
        (
            "select",
            "#closed",
            "ELEMENT_NOT_INTERACTIVE",
            json!({ "value": "a" }),
        ),
        (
            "select",
            "#list",
            "ELEMENT_NOT_INTERACTIVE",
            json!({ "value": "b" }),
        ),
        (
            "select",
            "a",
            "ELEMENT_NOT_INTERACTIVE",
            json!({ "value": "b" }),
        ),
        (
            "upload_file",
            "a",
            "ELEMENT_NOT_INTERACTIVE",
            json!({ "files": [] }),
        ),
        ("extract_table", "a", "ELEMENT_NOT_INTERACTIVE", json!({})),
        (
            "screenshot_element",
            "#hidden",
            "ELEMENT_NOT_INTERACTIVE",
            json!({}),
        ),
    ] {
        let mut arguments = more;
        arguments["selector"] = selector.into();
        arguments["timeout"] = 700.into();
        let error = refused(&client, tool, &arguments, code).await;
        assert!(error["suggestion"].is_string(), "{error}");
        is_usable(&client, tool).await;
    }
    let drag = json!({ "source": "#hidden", "target": "a", "timeout": 700 });
    refused(&client, "drag_and_drop", &drag, "ELEMENT_NOT_INTERACTIVE").await;
}

#[tokio::test]
async fn a_url_that_leads_nowhere_is_told_with_the_reason() {
    if !browser_is_there() {
        return;
    }
    let site = Site::start().await;
    let url = site.add_page("/", PAGE);
    let client = server(&["--toolsets", "session"]).await;
    for (bad, code) in [
        ("http://[", "INVALID_URL"),
        ("http://a b/", "INVALID_URL"),
        ("http://127.0.0.1:99999/", "INVALID_URL"),
        ("http://127.0.0.1:1/", "NAVIGATION_FAILED"),
        ("http://nowhere.invalid/", "NAVIGATION_FAILED"),
        ("nonsense://there", "NAVIGATION_FAILED"),
        ("file:///etc/passwd", "URL_BLOCKED"),
        (&site.url("/never"), "TIMEOUT"),
        (
            &format!("https{}", &site.url("/")[4..]),
            "NAVIGATION_FAILED",
        ),
    ] {
        let mut arguments = json!({ "url": bad });
        if code == "TIMEOUT" {
            arguments["timeout"] = 1_000.into();
        }
        refused(&client, "navigate", &arguments, code).await;
        told(&client, "navigate", &json!({ "url": url })).await;
        is_usable(&client, bad).await;
    }
    refused(&client, "go_forward", &json!({}), "INVALID_PARAMETERS").await;
    is_usable(&client, "go_forward").await;
}
