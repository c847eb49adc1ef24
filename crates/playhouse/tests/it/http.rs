//! The server over HTTP: endpoints, access, and lifetimes.

use crate::{fake_launch, launch};
use serde_json::{Value, json};
use testkit::{HttpServer, Site};

async fn served(args: &[&str]) -> HttpServer {
    HttpServer::start(fake_launch(args)).await
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

const JSON: (&str, &str) = ("content-type", "application/json");
const BOTH: (&str, &str) = ("accept", "application/json, text/event-stream");
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// Returns the client configuration that a server prints.
fn printed(answer: &str) -> Value {
    let config: String = answer
        .lines()
        .skip_while(|line| *line != "{")
        .take_while(|line| !line.starts_with(char::is_alphanumeric))
        .collect();
    let config = serde_json::from_str::<Value>(&config);
    config.expect(answer)["mcpServers"]["playhouse"].clone()
}

#[testkit::test]
async fn the_listening_address_is_printed_as_clients_expect() {
    let mut server = served(&[]).await;
    let url = server.url().to_owned();
    let stderr = server.process().stderr();
    assert!(
        stderr.starts_with(&format!("Listening on {url}\n")),
        "{stderr}"
    );
    let expected = json!({ "type": "http", "url": format!("{url}/mcp") });
    assert_eq!(printed(&stderr), expected);
    let health = server.ask("GET", "/health", &[], "").await;
    assert_eq!(
        (health.status, &health.json()["status"]),
        (200, &json!("ok"))
    );
}

#[testkit::test]
async fn required_credentials_are_printed_without_the_key_of_the_user() {
    let given = ["--api-key", "mysecretkey-0123456789"];
    let issuer = ["--oauth-issuer", "https://id.example"];
    for (args, header) in [
        (&given[..], Some("Bearer YOUR_API_KEY")),
        (&issuer[..], None),
    ] {
        let mut server = HttpServer::start_guarded(launch(args)).await;
        let stderr = server.process().stderr();
        let entry = printed(&stderr);
        let shown = entry["headers"]["Authorization"].as_str();
        assert_eq!(shown, header, "{stderr}");
        assert!(!stderr.contains("mysecretkey"), "{stderr}");
        assert_eq!(
            stderr.contains("Bearer YOUR_ACCESS_TOKEN"),
            args == issuer,
            "{stderr}"
        );
    }
}

#[testkit::test]
async fn event_streams_require_an_accept_header() {
    let server = served(&[]).await;
    for accept in ["*/*", "application/json"] {
        let accept = ("accept", accept);
        let bare = server.ask("GET", "/mcp", &[accept], "").await;
        assert_eq!(bare.status, 400, "{bare:?}");
        let headers = [accept, ("mcp-session-id", "1")];
        let bare = server.ask("GET", "/mcp", &headers, "").await;
        assert_eq!(bare.status, 406, "{bare:?}");
        assert!(
            bare.body.contains("must accept text/event-stream"),
            "{bare:?}"
        );
    }
}

#[testkit::test]
async fn health_and_metrics_contain_no_client_data() {
    let server = served(&[]).await;
    let health = async || server.ask("GET", "/health", &[], "").await.json();
    let facts = |answer: &Value, name: &str| answer[name].as_u64();
    let answer = health().await;
    let mut names: Vec<_> = answer
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["browsers", "sessions", "status", "uptime", "version"]
    );
    assert_eq!(answer["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        (facts(&answer, "browsers"), facts(&answer, "sessions")),
        (Some(0), Some(0))
    );
    assert!(facts(&answer, "uptime").is_some(), "{answer}");

    let session = server.begin_session().await;
    let secret = "data:text/html,<title>private title</title>";
    server.navigate(Some(&session), secret).await;
    let answer = health().await;
    assert_eq!(
        (facts(&answer, "browsers"), facts(&answer, "sessions")),
        (Some(1), Some(1)),
        "{answer}"
    );
    server
        .call(Some(&session), "click", json!({ "selector": "!!" }))
        .await;
    let metrics = server.ask("GET", "/metrics", &[], "").await;
    for line in ["playhouse_browsers 1", "playhouse_mcp_sessions 1"] {
        assert!(metrics.body.lines().any(|answer| answer == line), "{line}");
    }
    for answer in [metrics.body, answer.to_string()] {
        assert!(
            !answer.contains("private title") && !answer.contains(&session),
            "{answer}"
        );
    }
}

#[testkit::test(chromium)]
async fn each_mcp_session_has_a_default_session_of_its_own() {
    let server = HttpServer::start(launch(&[])).await;
    let site = Site::start().await;
    let (one, other) = (server.begin_session().await, server.begin_session().await);
    let url = site.url("/title.html");
    server.navigate(Some(&one), &url).await;
    let tabs = async |session: &str| {
        let listed = json!({ "action": "list" });
        text(&server.call(Some(session), "browser_tabs", listed).await).to_owned()
    };
    assert!(tabs(&one).await.contains(&url));
    assert!(!tabs(&other).await.contains(&url));
}

#[testkit::test]
async fn default_sessions_do_not_count_against_the_limit() {
    let server = served(&["--max-sessions=1"]).await;
    for _ in 0..2 {
        let session = server.begin_session().await;
        let opened = json!({ "url": "data:text/html,<title>there</title>" });
        let page = server.call(Some(&session), "navigate", opened).await;
        assert_eq!(page["structuredContent"]["title"], "there", "{page}");
    }
    let session = server.begin_session().await;
    let created = server
        .call(Some(&session), "create_session", json!({}))
        .await;
    assert_eq!(created["structuredContent"]["success"], true, "{created}");
    let refused = server
        .call(Some(&session), "create_session", json!({}))
        .await;
    assert_eq!(
        refused["structuredContent"]["errorCode"],
        "MAX_SESSIONS_REACHED"
    );
}

#[testkit::test]
async fn a_client_that_ends_its_mcp_session_closes_its_isolated_browser_session() {
    const IDLE: &str = "sessions{state=\"idle\"}";
    for toolsets in ["--toolsets=all", "--toolsets=browser"] {
        let server = served(&[toolsets]).await;
        let page = "data:text/html,<title>still here</title>";
        for _ in 0..3 {
            let client = server.begin_session().await;
            server.navigate(Some(&client), page).await;
            assert_eq!(server.metric(IDLE).await, 1);
            let header = [("mcp-session-id", &*client)];
            let gone = server.ask("DELETE", "/mcp", &header, "").await;
            assert_eq!(gone.status, 200, "{gone:?}");
            let late = server.rpc("/mcp", &header, "ping", json!({})).await;
            assert_eq!(late.status, 404);
            server.metric_is(IDLE, 0).await;
        }
    }
}

#[testkit::test]
async fn large_initialize_requests_are_rejected_and_mcp_sessions_are_limited() {
    let server = served(&[]).await;
    let hello = |name: &str| {
        json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": name, "version": "1" },
        })
    };
    let large = server
        .rpc("/mcp", &[], "initialize", hello(&"x".repeat(70_000)))
        .await;
    assert_eq!(large.status, 400, "{large:?}");
    assert!(
        large.body.contains("initialize is longer than"),
        "{large:?}"
    );
    let first = server.begin_session().await;
    let mut last = String::new();
    for _ in 0..260 {
        last = server.begin_session().await;
    }
    assert_eq!(server.metric("mcp_sessions").await, 256);
    let ping = async |id: &str| {
        let header = [("mcp-session-id", id)];
        server.rpc("/mcp", &header, "ping", json!({})).await.status
    };
    assert_eq!((ping(&first).await, ping(&last).await), (404, 200));
}

#[testkit::test]
async fn connections_without_a_key_keep_nobody_out() {
    let flags = ["--api-key=mysecretkey-0123456789", "--max-connections=40"];
    let server = HttpServer::start_guarded(fake_launch(&flags)).await;
    let mut idle = Vec::new();
    for round in 0..3 {
        for number in 0..40 {
            let mut connection = server.connection().await;
            if number % 2 == 0 {
                let headers = [("host", server.authority()), ("x-api-key", "wrong")];
                connection.ask("POST", "/mcp", &headers, PING).await;
            }
            idle.push(connection);
        }
        let key = [("x-api-key", "mysecretkey-0123456789"), JSON, BOTH];
        // The place of a connection that was ended is free a moment later; until then, clients get an error, and retry.
        testkit::eventually(async || {
            let answer = server.ask("POST", "/message", &key, PING).await;
            match answer.status {
                200 => Ok(()),
                _ => Err(format!("{round}: {answer:?}")),
            }
        })
        .await;
    }
}

#[testkit::test]
async fn a_message_needs_no_mcp_session_and_keeps_the_default_one() {
    let server = served(&[]).await;
    let page = "data:text/html,<title>kept</title>";
    server.navigate(None, page).await;
    let metadata = server.call(None, "get_page_metadata", json!({})).await;
    assert_eq!(metadata["structuredContent"]["title"], "kept");
    // The plain form of S4.
    let plain = server.ask("POST", "/message", &[JSON], PING).await;
    assert_eq!(
        (plain.status, plain.json()),
        (200, json!({ "jsonrpc": "2.0", "id": 1, "result": {} }))
    );
    let got = server.ask("GET", "/message", &[], "").await;
    assert_eq!(got.status, 405);
}

#[testkit::test]
async fn an_invalid_message_gets_a_json_rpc_error() {
    let server = served(&["--max-request-size=10000"]).await;
    for path in ["/mcp", "/message"] {
        for (body, code) in [
            ("{", -32700),
            ("", -32700),
            ("[]", -32600),
            ("7", -32600),
            (r#"{"id":1}"#, -32600),
        ] {
            let answer = server.ask("POST", path, &[JSON, BOTH], body).await;
            assert_eq!(answer.status, 400, "{path} {body}");
            assert_eq!(answer.json()["error"]["code"], code, "{path} {body}");
        }
        let large = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{}"}}}}"#,
            "x".repeat(10_000)
        );
        assert_eq!(
            server.ask("POST", path, &[JSON, BOTH], &large).await.status,
            413
        );
        let kind = ("content-type", "text/plain");
        assert_eq!(
            server.ask("POST", path, &[kind, BOTH], PING).await.status,
            415
        );
    }
    assert_eq!(server.ask("POST", "/mcp", &[JSON], PING).await.status, 406);
    assert_eq!(
        server.ask("POST", "/mcp", &[JSON, BOTH], PING).await.status,
        400
    );
    assert_eq!(server.ask("GET", "/nowhere", &[], "").await.status, 404);
}

#[testkit::test]
async fn only_allowed_hosts_and_origins_are_accepted() {
    let server = served(&[]).await;
    let refused = server
        .ask("POST", "/message", &[JSON, ("host", "evil.example")], PING)
        .await;
    assert_eq!(refused.status, 403);
    assert!(
        refused
            .body
            .starts_with("Access is only allowed at localhost:"),
        "{refused:?}"
    );
    let of_page = |origin: &'static str| [JSON, ("origin", origin)];
    for origin in ["http://evil.example", "null", "http://localhost"] {
        for path in ["/mcp", "/message", "/sse", "/ws", "/metrics", "/health"] {
            let refused = server.ask("GET", path, &of_page(origin), "").await;
            assert_eq!(refused.status, 403, "{path} {origin}");
        }
    }
    let ours = format!("http://{}", server.authority());
    let answer = server
        .ask("POST", "/message", &[JSON, ("origin", &ours)], PING)
        .await;
    assert_eq!(
        (answer.status, answer.header("access-control-allow-origin")),
        (200, &*ours)
    );
}

#[testkit::test]
async fn rate_limited_clients_get_retry_after() {
    let server = served(&["--rate-limit=1"]).await;
    let mut answers = Vec::new();
    for _ in 0..20 {
        answers.push(server.ask("POST", "/message", &[JSON], PING).await);
    }
    let limited = answers.iter().find(|answer| answer.status == 429);
    assert_eq!(limited.expect("one too many").header("retry-after"), "1");
    assert_eq!(server.ask("GET", "/health", &[], "").await.status, 200);
}

#[testkit::test]
async fn methods_that_the_newest_revision_has_no_more_are_unknown_there() {
    let server = served(&[]).await;
    let params = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "testkit", "version": "1" },
    } });
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
    ] {
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
        ];
        let answer = server.rpc("/mcp", &headers, method, params.clone()).await;
        assert_eq!(answer.status, 404, "{method}: {answer:?}");
        assert_eq!(answer.json()["error"]["code"], -32601, "{method}");
    }
}
