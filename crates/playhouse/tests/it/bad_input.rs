//! Invalid calls of the session toolset get their documented error code, and the session remains usable.

use serde_json::{Map, Value, json};
use server::{TOOLSETS, ToolDef, ToolsetName};
use std::time::Duration;
use testkit::{Client, Resource, Site};

use crate::sessions::until_listed;
use crate::{fake_server, server};

const PAGE: &str = "<title>Here</title>";

/// Returns the tools of the toolset that answer with objects.
pub(crate) fn tools() -> impl Iterator<Item = &'static ToolDef> {
    let toolsets = TOOLSETS
        .iter()
        .filter(|(name, _)| *name == ToolsetName::Session);
    let tools = toolsets.flat_map(|(_, toolset)| toolset.tools());
    tools.filter(|tool| tool.output_schema().is_some())
}

pub(crate) async fn structured_content(client: &Client, tool: &str, arguments: &Value) -> Value {
    let answer = client.call(tool, arguments.clone()).await;
    let structured_content = answer.raw["structuredContent"].clone();
    assert_eq!(
        serde_json::from_str::<Value>(&answer.text).ok(),
        Some(structured_content.clone())
    );
    structured_content
}

/// Makes a call that must fail with this code, and checks that the error is complete.
pub(crate) async fn refused(client: &Client, tool: &str, arguments: &Value, code: &str) -> Value {
    let error = structured_content(client, tool, arguments).await;
    assert_error(tool, arguments, &error, code);
    error
}

pub(crate) fn assert_error(tool: &str, arguments: &Value, error: &Value, code: &str) {
    assert_eq!(error["errorCode"], code, "{tool} {arguments}: {error}");
    let message = error["message"].as_str();
    assert!(message.is_some_and(|text| !text.is_empty()), "{error}");
    assert!(error["retryable"].is_boolean(), "{error}");
}

pub(crate) async fn is_usable(client: &Client, session: &str, after: &str) {
    let title = json!({ "sessionId": session, "script": "document.title" });
    let answer = structured_content(client, "evaluate", &title).await;
    assert_eq!(answer["result"], "Here", "after {after}: {answer}");
}

/// Returns a value of a type that the schema rejects; `None` if it accepts any.
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

/// Returns a value that the schema accepts.
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

pub(crate) fn schema_of(tool: &ToolDef) -> (Map<String, Value>, Vec<String>) {
    let schema = Value::Object(tool.input_schema(server::SessionNaming::Optional));
    let required = schema["required"].as_array().into_iter().flatten();
    let required = required.filter_map(Value::as_str).map(str::to_owned);
    let required = required.collect();
    let properties = schema["properties"].as_object().cloned();
    (properties.unwrap_or_default(), required)
}

/// Returns the minimum valid arguments.
pub(crate) fn least(tool: &ToolDef) -> Value {
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

#[testkit::test]
async fn arguments_that_do_not_fit_are_named_by_every_tool() {
    let site = Site::start().await;
    let url = site.add_page("/", PAGE);
    let client = fake_server(&["--toolsets", "session"]).await;
    structured_content(&client, "navigate", &json!({ "url": url })).await;
    for tool in tools() {
        let (properties, required) = schema_of(tool);
        let name = tool.name;
        for parameter in required {
            let mut arguments = least(tool);
            arguments.as_object_mut().unwrap().shift_remove(&parameter);
            let error = refused(&client, name, &arguments, "INVALID_PARAMETERS").await;
            assert!(names(&error, &parameter), "{error}");
            assert_eq!(error["details"]["missing"], json!([parameter]), "{error}");
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
    is_usable(&client, "default", "arguments").await;
}

#[cfg(target_os = "linux")]
#[testkit::test]
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

#[testkit::test]
async fn a_missing_session_is_reported_by_every_tool() {
    let client = fake_server(&["--toolsets", "session"]).await;
    let closed =
        structured_content(&client, "create_session", &json!({})).await["sessionId"].clone();
    structured_content(&client, "close_session", &json!({ "sessionId": closed })).await;
    let expired = structured_content(&client, "create_session", &json!({ "timeout": 1 })).await;
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

#[testkit::test(chromium)]
async fn an_unreachable_url_is_reported_with_the_net_error() {
    let site = Site::start().await;
    let url = site.add_page("/", PAGE);
    let around = site.add(
        "/around",
        Resource::html("").status(302).header("location", "/around"),
    );
    let client = server(&["--toolsets", "session"]).await;
    let created = structured_content(&client, "create_session", &json!({})).await;
    let sessions = ["default", created["sessionId"].as_str().expect("an id")];
    let failed = "NAVIGATION_FAILED";
    let refused_port = format!("http://127.0.0.1:{}/", testkit::unused_port());
    let no_tls = format!("https{}", &url[4..]);
    for (bad, code, reason) in [
        ("http://[", "INVALID_URL", ""),
        ("http://a b/", "INVALID_URL", ""),
        ("http://127.0.0.1:99999/", "INVALID_URL", ""),
        ("http://127.0.0.1:1/", failed, "net::ERR_UNSAFE_PORT"),
        (&refused_port, failed, "net::ERR_CONNECTION_REFUSED"),
        (
            "http://nowhere.invalid/",
            failed,
            "net::ERR_NAME_NOT_RESOLVED",
        ),
        ("nonsense://there", failed, "net::ERR_ABORTED"),
        (&around, failed, "net::ERR_TOO_MANY_REDIRECTS"),
        (&no_tls, failed, "net::ERR_SSL_PROTOCOL_ERROR"),
        ("file:///etc/passwd", "URL_BLOCKED", ""),
        (&site.url("/never"), "TIMEOUT", ""),
        (&site.url("/hang"), "TIMEOUT", ""),
    ] {
        for session in sessions {
            let mut arguments = json!({ "sessionId": session, "url": bad });
            if code == "TIMEOUT" {
                arguments["timeout"] = 500.into();
            }
            let error = refused(&client, "navigate", &arguments, code).await;
            assert_eq!(error["sessionId"], session, "{error}");
            assert!(error["suggestion"].is_string(), "{error}");
            if code != "TIMEOUT" {
                assert_eq!(error["details"]["url"], bad, "{error}");
            }
            if !reason.is_empty() {
                assert_eq!(error["details"]["reason"], reason, "{error}");
            }
            let home = json!({ "sessionId": session, "url": url });
            structured_content(&client, "navigate", &home).await;
            is_usable(&client, session, bad).await;
        }
    }
}

#[testkit::test(chromium)]
async fn a_page_that_does_not_load_is_reported_by_waiting_tools() {
    let site = Site::start().await;
    let url = site.add_page("/", PAGE);
    let client = server(&["--toolsets", "session"]).await;
    for (tool, at_first, then) in [
        ("reload", Duration::ZERO, Duration::from_secs(3600)),
        ("wait_for_load", Duration::from_secs(3600), Duration::ZERO),
    ] {
        let picture = site.add("/picture", Resource::new("image/png", "").delay(at_first));
        let changing = format!("<title>Changing</title><img src='{picture}?{tool}'>");
        let changing = site.add_page("/changing", &changing);
        let go = json!({ "url": changing, "waitUntil": "domcontentloaded" });
        structured_content(&client, "navigate", &go).await;
        if !then.is_zero() {
            let late = Resource::html("").delay(then);
            site.add("/changing", late);
        }
        let error = refused(&client, tool, &json!({ "timeout": 300 }), "TIMEOUT").await;
        assert!(error["suggestion"].is_string(), "{error}");
        structured_content(&client, "navigate", &json!({ "url": url })).await;
        is_usable(&client, "default", tool).await;
    }
    refused(&client, "go_forward", &json!({}), "NOT_FOUND").await;
    is_usable(&client, "default", "go_forward").await;
}

#[testkit::test(chromium)]
async fn a_response_without_a_document_keeps_the_page() {
    let site = Site::start().await;
    let url = site.add_page("/", PAGE);
    let client = server(&["--toolsets", "session"]).await;
    let created = structured_content(&client, "create_session", &json!({})).await;
    for session in ["default", created["sessionId"].as_str().expect("an id")] {
        let go = |url: &str| json!({ "sessionId": session, "url": url });
        structured_content(&client, "navigate", &go(&url)).await;
        for (path, status, file) in [
            ("/status/204", 204, Value::Null),
            ("/redirect?to=/status/204", 204, Value::Null),
            ("/download?name=a.txt", 200, "a.txt".into()),
            ("/redirect?to=/download", 200, "data.txt".into()),
        ] {
            let answer = structured_content(&client, "navigate", &go(&site.url(path))).await;
            assert_eq!(
                (&answer["success"], &answer["stayed"], &answer["url"]),
                (&true.into(), &true.into(), &url.as_str().into()),
                "{path}: {answer}"
            );
            assert_eq!(answer["download"]["name"], file, "{path}: {answer}");
            if file.is_null() {
                assert_eq!(answer["status"], status, "{path}: {answer}");
            }
            is_usable(&client, session, path).await;
        }
    }
}

#[testkit::test(chromium)]
async fn offline_mode_is_not_reported_as_a_site_error() {
    let site = Site::start().await;
    let url = site.add_page("/", PAGE);
    let client = server(&["--toolsets", "session"]).await;
    let go = json!({ "url": url });
    structured_content(&client, "navigate", &go).await;
    structured_content(&client, "set_offline", &json!({ "offline": true })).await;
    let error = refused(&client, "navigate", &go, "NETWORK_ERROR").await;
    assert_eq!(error["retryable"], true, "{error}");
    structured_content(&client, "set_offline", &json!({ "offline": false })).await;
    structured_content(&client, "navigate", &go).await;
    is_usable(&client, "default", "being offline").await;
    let proxy = json!({ "server": format!("http://127.0.0.1:{}", testkit::unused_port()) });
    let session = structured_content(&client, "create_session", &json!({ "proxy": proxy })).await;
    let go = json!({ "sessionId": session["sessionId"], "url": url });
    let error = refused(&client, "navigate", &go, "NETWORK_ERROR").await;
    let reason = error["details"]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("PROXY"), "{error}");
    assert!(site.requests().iter().all(|request| request.target == "/"));
}
