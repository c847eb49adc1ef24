//! Telemetry: request ids in the log, the audit log and answers; metrics; traces.

mod open_metrics;

use crate::{fake_launch, launch, launch_on};
use open_metrics::Exposition;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use testkit::{
    Client, Collector, Engine, ExportedSpan, HttpServer, Launch, NoAnswer, Resource, Site,
    eventually,
};

const TRACEPARENT: &str = "00-0123456789012345678901234567890a-0011223344556677-01";
const TRACE: &str = "0123456789012345678901234567890a";
const PARENT: &str = "0011223344556677";

/// Returns the lines of a file, each of which is an object.
fn objects(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("a file");
    let parse = |line| serde_json::from_str(line).expect(line);
    text.lines().map(parse).collect()
}

/// Returns a member of the innermost span of a log line that has it.
fn of_span<'a>(line: &'a Value, name: &str) -> Option<&'a str> {
    let spans = line["spans"].as_array()?;
    spans.iter().rev().find_map(|span| span[name].as_str())
}

#[testkit::test]
async fn the_log_the_audit_log_and_the_response_have_the_id_of_the_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, audit) = (folder.path().join("log"), folder.path().join("audit"));
    let paths = [log.to_str().unwrap(), audit.to_str().unwrap()];
    let server = HttpServer::start(fake_launch(&[
        "--answers=compact",
        "--log-level=debug",
        "--log-format=json",
        "--log-file",
        paths[0],
        "--audit-log",
        paths[1],
    ]))
    .await;
    let site = Site::start().await;
    let page = site.add_page("/", "<button>One</button>");
    let called = async |headers: &[(&str, &str)], tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        server.rpc("/message", headers, "tools/call", params).await
    };
    let own = [
        ("x-request-id", "client-id-1"),
        ("traceparent", TRACEPARENT),
    ];
    let opened = called(&own, "browser_navigate", json!({ "url": page })).await;
    assert_eq!(opened.header("x-request-id"), "client-id-1");
    assert_ne!(opened.json()["result"]["isError"], true, "{opened:?}");
    let traced = [("traceparent", TRACEPARENT)];
    let failed = called(&traced, "browser_click", json!({ "target": "!!" })).await;
    assert_eq!(failed.header("x-request-id"), TRACE);
    let result = &failed.json()["result"];
    assert_eq!(result["isError"], true, "{failed:?}");
    assert_eq!(result["_meta"]["playhouse/requestId"], TRACE, "{failed:?}");
    let clicked = called(
        &[("x-request-id", "not valid")],
        "click",
        json!({ "selector": "button" }),
    );
    let clicked = clicked.await;
    let made = clicked.header("x-request-id");
    assert!(made.len() == 32 && made != TRACE, "{made}");
    let result = &clicked.json()["result"];
    assert_ne!(result["isError"], true, "{clicked:?}");
    assert_eq!(
        result["_meta"]["playhouse/requestId"],
        Value::Null,
        "{clicked:?}"
    );

    let expected = [
        ("browser_navigate", "client-id-1"),
        ("browser_click", TRACE),
        ("click", made),
    ];
    let records = objects(&audit);
    let recorded = records.iter().map(|record| {
        let of = |name: &str| record[name].as_str().unwrap_or_default();
        (of("tool"), of("requestId"))
    });
    assert_eq!(recorded.collect::<Vec<_>>(), expected);

    let lines = objects(&log);
    // Each call logs its settling or its end.
    let logged: BTreeSet<_> = lines
        .iter()
        .filter_map(|line| Some((of_span(line, "tool")?, of_span(line, "request_id")?)))
        .collect();
    assert_eq!(logged, BTreeSet::from(expected), "{lines:?}");
    let ends = lines
        .iter()
        .filter(|line| line["message"] == "the call has ended");
    let ends: Vec<_> = ends
        .map(|line| (line["result"].as_str(), of_span(line, "session")))
        .collect();
    let results = ["ok", "INVALID_SELECTOR", "ok"];
    let expected_ends = results.map(|result| (Some(result), Some("default")));
    assert_eq!(ends, expected_ends, "{lines:?}");
    let settled = lines.iter().find(|line| line["message"] == "settled");
    let settled = settled.expect("a click settles");
    assert_eq!(of_span(settled, "request_id"), Some(made), "{settled}");
}

#[testkit::test]
async fn errors_in_the_answers_of_playwright_have_no_request_id() {
    let client = fake_launch(&["--answers=playwright"]).start().await;
    let failed = client
        .call("browser_click", json!({ "target": "!!" }))
        .await;
    assert!(failed.is_error, "{failed:?}");
    assert!(failed.raw.get("_meta").is_none(), "{failed:?}");
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn metrics_are_histograms_of_calls_browsers_and_commands(engine: Engine) {
    let server = HttpServer::start(launch_on(engine, &[])).await;
    let site = Site::start().await;
    let page = site.add_page("/secret-page", "<button>One</button>");
    let session = server.begin_session().await;
    server.navigate(Some(&session), &page).await;
    for (target, is_error) in [("button", false), ("button", false), ("!!", true)] {
        let click = json!({ "target": target });
        let clicked = server.call(Some(&session), "browser_click", click).await;
        assert_eq!(clicked["isError"] == true, is_error, "{clicked}");
    }
    let id = [("mcp-session-id", &*session)];
    let unknown = json!({ "name": "no_such_tool", "arguments": {} });
    let unknown = server.rpc("/mcp", &id, "tools/call", unknown).await;
    assert_eq!(unknown.json()["error"]["code"], -32601, "{unknown:?}");
    let answer = server.ask("GET", "/metrics", &[], "").await;
    let media_type = answer.header("content-type");
    assert!(
        media_type.starts_with("application/openmetrics-text; version=1.0.0"),
        "{media_type}"
    );
    let metrics = Exposition::parse(&answer.body);
    let count = |tool, outcome| {
        let labels = [("tool", tool), ("outcome", outcome)];
        metrics.value("playhouse_tool_call_duration_seconds_count", &labels)
    };
    assert_eq!(count("browser_navigate", "success"), 1.0, "{}", answer.body);
    assert_eq!(count("browser_click", "success"), 2.0, "{}", answer.body);
    assert_eq!(count("browser_click", "error"), 1.0, "{}", answer.body);
    let total = |name| metrics.value(name, &[]);
    assert_eq!(total("playhouse_tool_calls_in_progress"), 0.0);
    // The invalid selector fails in its turn.
    assert_eq!(total("playhouse_turn_wait_duration_seconds_count"), 4.0);
    assert_eq!(total("playhouse_answer_size_bytes_count"), 4.0);
    assert_eq!(total("playhouse_answer_length_tokens_count"), 4.0);
    let idle = metrics.value("playhouse_sessions", &[("state", "idle")]);
    assert_eq!(idle, 1.0, "{}", answer.body);
    let started = [("browser", engine.name()), ("outcome", "success")];
    let started = metrics.value("playhouse_browser_start_duration_seconds_count", &started);
    assert_eq!(started, 1.0, "{}", answer.body);
    let protocol = match engine {
        Engine::Chromium => "cdp",
        Engine::Firefox => "bidi",
        Engine::Webkit => "inspector",
    };
    let labels = [("protocol", protocol), ("outcome", "success")];
    let commands = metrics.value("playhouse_protocol_command_duration_seconds_count", &labels);
    assert!(commands >= 5.0, "{}", answer.body);
    let tools = metrics.labels("playhouse_tool_call_duration_seconds_count");
    assert!(
        tools
            .iter()
            .all(|labels| labels["tool"].starts_with("browser_")),
        "{tools:?}"
    );
    for private in ["secret-page", "no_such_tool", &session] {
        assert!(!answer.body.contains(private), "{private}");
    }
}

/// Adds the variables of a process that exports its spans at once.
fn exporting(launch: Launch, collector: &Collector) -> Launch {
    launch
        .args(["--otlp-endpoint", collector.url()])
        .env("OTEL_BSP_SCHEDULE_DELAY", "20")
}

/// Returns whether a span is below another one.
fn is_below(span: &ExportedSpan, root: &ExportedSpan, all: &[ExportedSpan]) -> bool {
    let parent = all.iter().find(|other| other.id == span.parent);
    parent.is_some_and(|parent| parent.id == root.id || is_below(parent, root, all))
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_call_is_one_trace_down_to_its_protocol_commands(engine: Engine) {
    let collector = Collector::start().await;
    let client = exporting(launch_on(engine, &[]), &collector)
        .env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc")
        .env(
            "OTEL_RESOURCE_ATTRIBUTES",
            "deployment.environment.name=test",
        )
        .start()
        .await;
    let site = Site::start().await;
    let page = site.add_page("/", "<button>One</button>");
    client.navigate(&page).await;
    let opened = collector.trace("tools/call browser_navigate").await;
    let names: BTreeSet<_> = opened.iter().map(|span| &*span.name).collect();
    for part in ["browser start", "wait for turn", "snapshot"] {
        assert!(names.contains(part), "{part}: {names:?}");
    }

    let click = json!({
        "name": "browser_click",
        "arguments": { "target": "button" },
        "_meta": { "traceparent": TRACEPARENT },
    });
    let clicked = client.request("tools/call", click).await;
    let clicked = clicked.expect("an answer");
    assert_ne!(clicked["isError"], true, "{clicked}");
    let spans = collector.trace("tools/call browser_click").await;
    let root = spans.iter().find(|span| span.parent == PARENT);
    let root = root.expect("a child of the client's span");
    assert_eq!((&*root.trace, root.kind), (TRACE, 2), "{root:?}");
    assert_eq!(root.name, "tools/call browser_click");
    assert_eq!(root.attribute("mcp.method.name"), "tools/call");
    assert_eq!(root.attribute("gen_ai.tool.name"), "browser_click");
    assert_eq!(root.attribute("gen_ai.operation.name"), "execute_tool");
    assert_eq!(root.attribute("playhouse.session.id"), "default");
    assert!(!root.attribute("jsonrpc.request.id").is_empty(), "{root:?}");
    assert_eq!(root.attribute("playhouse.request.id").len(), 32, "{root:?}");
    assert!(!root.is_error, "{root:?}");
    let others: Vec<_> = spans.iter().filter(|span| span.id != root.id).collect();
    for span in &others {
        assert!(is_below(span, root, &spans), "{span:?}");
        assert!(span.duration <= root.duration, "{span:?}");
        assert_eq!(span.events, 0, "{span:?}");
    }
    for part in ["action", "settle", "snapshot"] {
        assert!(
            others.iter().any(|span| span.name == part),
            "{part}: {others:?}"
        );
    }
    let system = match engine {
        Engine::Chromium => "cdp",
        Engine::Firefox => "bidi",
        Engine::Webkit => "inspector",
    };
    let commands = others
        .iter()
        .filter(|span| span.attribute("rpc.system.name") == system);
    let commands: Vec<_> = commands.collect();
    assert!(!commands.is_empty(), "{others:?}");
    assert!(
        commands
            .iter()
            .all(|span| span.kind == 3 && span.attribute("rpc.method") == span.name),
        "{commands:?}"
    );
    let input = match engine {
        Engine::Chromium => "Input.dispatchMouseEvent",
        Engine::Firefox => "input.performActions",
        Engine::Webkit => "Automation.performInteractionSequence",
    };
    let action = others.iter().find(|span| span.name == "action").unwrap();
    let input = commands.iter().find(|span| span.name == input);
    let input = input.unwrap_or_else(|| panic!("no input: {commands:?}"));
    assert!(is_below(input, action, &spans), "{input:?}");

    let resource = &root.resource;
    assert_eq!(resource["service.name"], "playhouse");
    assert_eq!(resource["service.version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(resource["deployment.environment.name"], "test");
    let headers = collector.headers();
    let authorization = headers
        .first()
        .and_then(|headers| headers.get("authorization"));
    assert_eq!(authorization.unwrap(), "Bearer abc");
}

#[testkit::test]
async fn over_http_the_span_of_the_message_is_the_parent_and_that_of_the_request_a_link() {
    const OF_HTTP: &str = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01";
    let collector = Collector::start().await;
    let server = HttpServer::start(exporting(fake_launch(&[]), &collector)).await;
    let call = async |tool: &str, meta: Value| {
        let params = json!({ "name": tool, "arguments": {}, "_meta": meta });
        let headers = [("traceparent", OF_HTTP)];
        let answer = server.rpc("/message", &headers, "tools/call", params).await;
        let name = format!("tools/call {tool}");
        let spans = collector.trace(&name).await;
        let root = spans.into_iter().find(|span| span.name == name);
        let root = root.expect("a span");
        let is_error = answer.json()["result"]["isError"] == true;
        assert_eq!(root.is_error, is_error, "{root:?} {answer:?}");
        root
    };
    let both = call("list_sessions", json!({ "traceparent": TRACEPARENT })).await;
    assert!(!both.is_error, "{both:?}");
    assert_eq!((&*both.trace, &*both.parent), (TRACE, PARENT), "{both:?}");
    assert_eq!(both.links, ["bbbbbbbbbbbbbbbb"], "{both:?}");
    let of_request = call("close_session", json!({})).await;
    assert_eq!(of_request.parent, "bbbbbbbbbbbbbbbb", "{of_request:?}");
    assert!(of_request.links.is_empty(), "{of_request:?}");
    let unsampled = TRACEPARENT.replace("-01", "-00");
    let params = json!({ "name": "create_session", "_meta": { "traceparent": unsampled } });
    let created = server.rpc("/message", &[], "tools/call", params).await;
    let success = &created.json()["result"]["structuredContent"]["success"];
    assert_eq!(success, true, "{created:?}");
    // A span that is exported later shows that the one before it was not.
    let failed = call("browser_click", json!({})).await;
    assert!(failed.is_error, "{failed:?}");
    assert_eq!(failed.attribute("error.type"), "tool_error");
    let spans = collector.spans();
    assert!(
        !spans
            .iter()
            .any(|span| span.name.ends_with("create_session")),
        "{spans:?}"
    );
    let metrics = Exposition::parse(&server.ask("GET", "/metrics", &[], "").await.body);
    let exported = [("outcome", "exported")];
    let exported = metrics.value("playhouse_trace_spans_total", &exported);
    assert!(exported >= 3.0, "{exported}");
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn no_trace_contains_what_a_page_or_a_client_says(engine: Engine) {
    const SECRETS: [&str; 8] = [
        "typed-secret",
        "page-secret",
        "query-secret",
        "script-secret",
        "cookie-secret",
        "title-secret",
        "dialog-secret",
        "missing-secret",
    ];
    let collector = Collector::start().await;
    let args = ["--caps=storage,network,devtools"];
    let client = exporting(launch_on(engine, &args), &collector)
        .start()
        .await;
    let site = Site::start().await;
    let page = "<title>title-secret</title><input type=password id=field><p>page-secret</p>\
        <button onclick=\"alert('dialog-secret')\">Open</button>";
    let url = site.add_page("/", page) + "?token=query-secret";
    let url = url.replace("http://", "http://user:query-secret@");
    let cookie = json!({ "name": "a", "value": "cookie-secret" });
    for (tool, arguments, is_error) in [
        ("browser_navigate", json!({ "url": url }), false),
        (
            "browser_type",
            json!({ "target": "#field", "text": "typed-secret" }),
            false,
        ),
        (
            "browser_evaluate",
            json!({ "function": "() => 'script-secret'" }),
            false,
        ),
        (
            "browser_evaluate",
            json!({ "function": "() => { throw Error('script-secret') }" }),
            true,
        ),
        ("browser_cookie_set", cookie, false),
        (
            "browser_click",
            json!({ "target": "text=missing-secret", "timeout": 100 }),
            true,
        ),
        ("browser_click", json!({ "target": "button" }), false),
        ("browser_handle_dialog", json!({ "accept": true }), false),
    ] {
        let answer = client.call(tool, arguments).await;
        assert_eq!(answer.is_error, is_error, "{tool}: {}", answer.text);
    }
    let unknown = client.try_call("missing-secret", json!({})).await;
    assert!(
        matches!(unknown, Err(NoAnswer::Refused { code: -32601, .. })),
        "{unknown:?}"
    );
    collector.trace("tools/call unknown").await;
    let spans = collector.spans();
    assert!(
        spans
            .iter()
            .any(|span| span.name == "tools/call browser_handle_dialog")
    );
    let failed = spans
        .iter()
        .filter(|span| span.is_error && span.name.starts_with("tools/call "));
    let failed: Vec<_> = failed.map(|span| &*span.name).collect();
    let expected = ["browser_evaluate", "browser_click", "unknown"];
    assert_eq!(failed, expected.map(|tool| format!("tools/call {tool}")));
    for secret in SECRETS {
        assert!(!collector.contains(secret), "{secret}");
    }
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_trace_ends_with_its_call_even_if_a_dialog_holds_up_a_command(engine: Engine) {
    let collector = Collector::start().await;
    let client = exporting(launch_on(engine, &[]), &collector).start().await;
    let site = Site::start().await;
    let page = site.add_page("/", "<button onclick='alert(1)'>Open</button>");
    client.navigate(&page).await;
    let click = json!({ "target": "button" });
    let opened = client.call("browser_click", click).await;
    let dialog = "- [\"alert\" dialog with message \"1\"]: can be handled by browser_handle_dialog";
    assert_eq!(opened.section("Modal state"), Some(dialog), "{opened:?}");
    collector.trace("tools/call browser_click").await;
    let closed = json!({ "accept": true });
    let closed = client.call("browser_handle_dialog", closed).await;
    assert!(!closed.is_error, "{}", closed.text);
    collector.trace("tools/call browser_handle_dialog").await;
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_command_of_a_cancelled_call_has_failed(engine: Engine) {
    let collector = Collector::start().await;
    let server = exporting(launch_on(engine, &[]), &collector);
    let client = server.start().await;
    let site = Site::start().await;
    let open = json!({ "url": site.add_page("/", "") });
    client.success("browser_navigate", open).await;
    site.add("/begun", Resource::html(""));
    let function = "() => { fetch('/begun'); return new Promise(() => {}) }";
    let params = json!({
        "name": "browser_evaluate",
        "arguments": { "function": function },
    });
    let pending = client.begin("tools/call", params).await;
    eventually(async || {
        let requests = site.requests();
        requests.iter().any(|request| request.target == "/begun")
    })
    .await;
    let cancel = json!({ "requestId": pending.id() });
    client.notify("notifications/cancelled", cancel).await;
    let spans = collector.trace("tools/call browser_evaluate").await;
    // The span of the call can end before that of the command.
    let command = eventually(async || {
        let is_cancelled = |span: &ExportedSpan| {
            span.trace == spans[0].trace
                && span.attribute("error.type") == "cancelled"
                && !span.attribute("rpc.method").is_empty()
        };
        let command = collector.spans().into_iter().find(is_cancelled);
        command.ok_or("no command was cancelled")
    })
    .await;
    assert!(command.is_error, "{command:?}");
}

#[cfg(unix)]
#[testkit::test]
async fn a_cancelled_start_of_a_browser_has_failed() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let browser = folder.path().join("browser");
    fs::write(&browser, "#!/bin/sh\n: > \"$0.begun\"\nexec sleep 60\n").expect("a script");
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).expect("an executable");
    let collector = Collector::start().await;
    let path = browser.to_str().expect("UTF-8");
    let server = exporting(launch(&["--executable-path", path]), &collector);
    let client = server.start().await;
    let open = json!({ "name": "browser_navigate", "arguments": { "url": "about:blank" } });
    let pending = client.begin("tools/call", open).await;
    eventually(async || folder.path().join("browser.begun").exists()).await;
    let cancel = json!({ "requestId": pending.id() });
    client.notify("notifications/cancelled", cancel).await;
    let spans = collector.trace("tools/call browser_navigate").await;
    let start = spans.iter().find(|span| span.name == "browser start");
    let start = start.unwrap_or_else(|| panic!("{spans:?}"));
    assert!(start.is_error, "{start:?}");
    assert_eq!(start.attribute("error.type"), "cancelled");
}

#[testkit::test]
async fn an_unreachable_collector_does_no_harm_and_is_reported_once() {
    // The first address has no listener; the listener of the others does not respond.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("http://{}", silent.local_addr().unwrap());
    for (endpoint, timeout, is_reported) in [
        ("http://127.0.0.1:9", "10000", true),
        (&*silent, "10000", false),
        (&*silent, "50", true),
    ] {
        let client = fake_launch(&[])
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
            .env("OTEL_EXPORTER_OTLP_TIMEOUT", timeout)
            .env("OTEL_BSP_SCHEDULE_DELAY", "5")
            .start()
            .await;
        let tabs = async || {
            client
                .success("browser_tabs", json!({ "action": "list" }))
                .await
        };
        tabs().await;
        if is_reported {
            client.stderr_with("does not accept spans").await;
            for _ in 0..20 {
                tabs().await;
            }
        }
        let stderr = ended(client).await;
        let reports = stderr.matches("does not accept spans").count();
        assert_eq!(reports, usize::from(is_reported), "{stderr}");
    }
}

/// Ends a server, and returns what it wrote to stderr.
async fn ended(client: Client) -> String {
    client.close_input().await;
    client.whole_stderr().await
}

#[testkit::test]
async fn without_a_request_nothing_is_exported() {
    let collector = Collector::start().await;
    for (name, value) in [
        ("OTEL_SERVICE_NAME", "other"),
        ("OTEL_SDK_DISABLED", "true"),
        ("OTEL_TRACES_EXPORTER", "none"),
    ] {
        let mut launched = launch(&[]).env(name, value);
        if name != "OTEL_SERVICE_NAME" {
            launched = launched.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
        }
        let client = launched.start().await;
        client.success("list_sessions", json!({})).await;
        ended(client).await;
    }
    assert_eq!(collector.spans(), []);
    // The last spans are exported at the end of the process.
    let client = launch(&[])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url())
        .env("OTEL_SERVICE_NAME", "other")
        .start()
        .await;
    client.success("list_sessions", json!({})).await;
    ended(client).await;
    let spans = collector.spans();
    assert_eq!(spans.len(), 1, "{spans:?}");
    assert_eq!(spans[0].resource["service.name"], "other");
}
