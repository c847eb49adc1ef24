//! API keys: authentication over HTTP, and the isolation of principals.

use crate::cli::run;
use crate::{fake_launch, launch};
use serde_json::{Value, json};
use testkit::{HttpServer, NoAnswer};

const JSON: (&str, &str) = ("content-type", "application/json");
const BOTH: (&str, &str) = ("accept", "application/json, text/event-stream");
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// The endpoints that require authentication.
pub(crate) const ENDPOINTS: [(&str, &str); 11] = [
    ("GET", "/"),
    ("POST", "/"),
    ("GET", "/mcp"),
    ("POST", "/mcp"),
    ("DELETE", "/mcp"),
    ("POST", "/message"),
    ("GET", "/sse"),
    ("POST", "/sse"),
    ("GET", "/ws"),
    ("GET", "/metrics"),
    ("POST", "/metrics"),
];

async fn guarded(args: &[&str]) -> HttpServer {
    HttpServer::start_guarded(fake_launch(args)).await
}

/// Returns the status of a request to that endpoint with these additional headers.
pub(crate) async fn send_request(
    server: &HttpServer,
    (method, path): (&str, &str),
    headers: &[(&str, &str)],
) -> (u16, String) {
    let upgrade = [
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    let mut all = vec![JSON, BOTH];
    if path == "/ws" {
        all.extend(upgrade);
    }
    all.extend(headers);
    let body = if method == "POST" { PING } else { "" };
    let answer = server.ask(method, path, &all, body).await;
    (answer.status, answer.body)
}

fn as_code(result: &Value) -> &Value {
    &result["structuredContent"]["errorCode"]
}

#[testkit::test]
async fn a_server_without_a_key_makes_one_and_shows_it_at_start() {
    let mut server = guarded(&[]).await;
    let stderr = server.process().stderr();
    let key = stderr
        .lines()
        .find_map(|line| line.strip_prefix("API key: "));
    let key = key.expect("a key").to_owned();
    assert!(key.len() >= 43, "{stderr}");
    assert!(
        stderr.contains(&format!("\"Authorization\": \"Bearer {key}\"")),
        "{stderr}"
    );
    let message = ("POST", "/message");
    let (status, body) = send_request(&server, message, &[]).await;
    assert_eq!(status, 401);
    assert!(body.contains("Authentication is required"), "{body}");
    let bearer = format!("Bearer {key}");
    assert_eq!(
        send_request(&server, message, &[("authorization", &bearer)])
            .await
            .0,
        200
    );
    assert_eq!(
        send_request(&server, message, &[("x-api-key", &key)])
            .await
            .0,
        200
    );
    // Never logged.
    let wrong = format!("{key}x");
    assert_eq!(
        send_request(&server, message, &[("x-api-key", &wrong)])
            .await
            .0,
        403
    );
    assert_eq!(server.process().stderr().matches(&key).count(), 2);
}

#[testkit::test]
async fn every_endpoint_requires_the_key() {
    let server = guarded(&["--api-key", "mysecretkey", "--log-level", "trace"]).await;
    for endpoint in ENDPOINTS {
        assert_eq!(
            send_request(&server, endpoint, &[]).await.0,
            401,
            "{endpoint:?}"
        );
        for wrong in [
            [("authorization", "Bearer mysecretkey2")],
            [("authorization", "bearer MYSECRETKEY")],
            [("x-api-key", "mysecretke")],
        ] {
            assert_eq!(
                send_request(&server, endpoint, &wrong).await.0,
                403,
                "{endpoint:?}"
            );
        }
    }
    let in_the_address = (
        "POST",
        "/message?api_key=mysecretkey&access_token=mysecretkey",
    );
    assert_eq!(send_request(&server, in_the_address, &[]).await.0, 401);
    // Monitoring needs no key, and reads no data of clients.
    assert_eq!(server.ask("GET", "/health", &[], "").await.status, 200);
    let mut server = server.with_header("authorization", "Bearer mysecretkey");
    server.begin_session().await;
    assert_eq!(server.ask("GET", "/metrics", &[], "").await.status, 200);
    // A page of an allowed origin passes the preflight without a key.
    let origin = format!("http://{}", server.authority());
    let preflight = [
        ("origin", &*origin),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization,x-api-key"),
    ];
    let allowed = server.ask("OPTIONS", "/mcp", &preflight, "").await;
    assert_eq!(allowed.header("access-control-allow-origin"), origin);
    let methods = allowed.header("access-control-allow-methods");
    assert_eq!(methods, "GET,POST,DELETE");
    let headers = allowed.header("access-control-allow-headers");
    assert!(headers.starts_with("authorization,"), "{headers}");
    assert!(headers.contains(",x-api-key,"), "{headers}");
    let metadata = server.ask("GET", "/.well-known/oauth-protected-resource", &[], "");
    assert_eq!(metadata.await.status, 404);
    let stderr = server.process().stderr();
    assert!(!stderr.contains("mysecretkey"), "{stderr}");
}

#[testkit::test]
async fn each_key_has_its_own_sessions_and_scopes() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("keys");
    let keys = "# ours\nada adaskey\nbob bobskey browser:read\neve eveskey browser:act\n";
    std::fs::write(&file, keys).expect("a file");
    let server = guarded(&["--api-keys", &file.to_string_lossy()]).await;
    let call = async |key: &str, tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        let header = [("x-api-key", key)];
        let answer = server.rpc("/message", &header, "tools/call", params).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["result"].clone()
    };
    let created = call("adaskey", "create_session", json!({})).await;
    let id = &created["structuredContent"]["sessionId"];
    assert!(id.is_string(), "{created}");
    let named = json!({ "sessionId": id });
    let listed = call("bobskey", "list_sessions", json!({})).await;
    let ids = listed["structuredContent"]["sessions"]
        .as_array()
        .expect("a list");
    assert!(ids.iter().all(|session| session["id"] != *id), "{listed}");
    let others = call("eveskey", "close_session", named.clone()).await;
    assert_eq!(as_code(&others), "SESSION_NOT_FOUND", "{others}");
    for (key, tool, arguments) in [
        ("bobskey", "navigate", json!({ "url": "about:blank" })),
        ("bobskey", "create_session", json!({})),
        ("bobskey", "evaluate", json!({ "script": "1" })),
        ("eveskey", "get_cookies", json!({})),
        ("eveskey", "save_state", json!({})),
        (
            "eveskey",
            "browser_run_code_unsafe",
            json!({ "code": "async page => 1" }),
        ),
    ] {
        let refused = call(key, tool, arguments).await;
        assert_eq!(
            as_code(&refused),
            "INSUFFICIENT_SCOPE",
            "{key} {tool}: {refused}"
        );
    }
    let acted = call("eveskey", "create_session", json!({})).await;
    assert_eq!(acted["structuredContent"]["success"], true, "{acted}");
    // An MCP session belongs to its owner too.
    let as_ada = server.with_header("x-api-key", "adaskey");
    let session = as_ada.begin_session().await;
    let ping = [JSON, BOTH, ("mcp-session-id", &*session)];
    assert_eq!(as_ada.ask("POST", "/mcp", &ping, PING).await.status, 200);
    let mut stolen = ping.to_vec();
    stolen.push(("authorization", "Bearer eveskey"));
    // The first valid key counts, and that is Eve's.
    assert_eq!(as_ada.ask("POST", "/mcp", &stolen, PING).await.status, 404);
    // Other principals cannot resume its stream, with their session or without.
    let eve = server_as(&as_ada, "eveskey").await;
    let last = format!("{session}:common/1");
    for named in [&*eve, &*session, ""] {
        let mut headers = vec![
            BOTH,
            ("authorization", "Bearer eveskey"),
            ("last-event-id", &*last),
        ];
        if !named.is_empty() {
            headers.push(("mcp-session-id", named));
        }
        let answer = as_ada.ask("GET", "/mcp", &headers, "").await;
        assert_eq!(answer.status, 404, "{named}: {answer:?}");
    }
}

/// Begins a session of the principal with that key.
async fn server_as(server: &HttpServer, key: &str) -> String {
    let bearer = format!("Bearer {key}");
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "testkit", "version": "1" },
    });
    let headers = [("authorization", &*bearer)];
    let begun = server.rpc("/mcp", &headers, "initialize", params).await;
    begun.header("mcp-session-id").to_owned()
}

#[testkit::test]
async fn stdio_requires_no_key() {
    let client = launch(&["--api-key", "mysecretkey", "--caps", "config"]).spawn();
    client.initialize(json!({})).await;
    let shown = client.call("browser_get_config", json!({})).await;
    assert!(
        !shown.is_error && !shown.text.contains("mysecretkey"),
        "{}",
        shown.text
    );
    let answer: Result<Value, NoAnswer> = client.request("ping", json!({})).await;
    assert_eq!(answer, Ok(json!({})));
}

#[testkit::test]
fn an_insecure_configuration_does_not_start() {
    for (args, message) in [
        (
            &["--port=0", "--auth=none", "--host=0.0.0.0"][..],
            "--auth none on 0.0.0.0 would let everybody in who gets there",
        ),
        (
            &["--port=0", "--auth=none", "--api-key=x"],
            "--api-key has no effect with --auth none: leave one of them out",
        ),
        (
            &[
                "--port=0",
                "--auth=api-key",
                "--oauth-issuer=https://id.example",
            ],
            "--oauth-issuer has no effect with --auth api-key",
        ),
        (
            &["--port=0", "--auth=oauth"],
            "--auth oauth needs --oauth-issuer",
        ),
        (
            &["--port=0", "--oauth-issuer=http://id.example"],
            "--oauth-issuer http://id.example must be an https URL",
        ),
        (
            &["--port=0", "--api-key="],
            "--api-key must be visible ASCII",
        ),
        (
            &["--port=0", "--api-keys=/nowhere/keys"],
            "cannot read the API keys of /nowhere/keys",
        ),
        (
            &["--port=0", "--api-keys=keys", "--allowed-schemes=file"],
            "--allowed-schemes file has no place on a server with --api-keys or OAuth",
        ),
        (
            &[
                "--port=0",
                "--oauth-issuer=https://id.example",
                "--allow-unrestricted-file-access",
            ],
            "--allow-unrestricted-file-access has no place on a server with --api-keys or OAuth",
        ),
    ] {
        let output = run(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && stderr.contains(message),
            "{args:?}: {stderr}"
        );
    }
}

#[testkit::test]
fn a_key_is_not_shown_with_the_configuration() {
    for json in [&["config", "show"][..], &["config", "show", "--json"]] {
        let args = [&["--port=0", "--api-key=mysecretkey"], json].concat();
        let output = run(&args);
        let answer = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{output:?}");
        assert!(
            answer.contains("api-key") && !answer.contains("mysecretkey"),
            "{answer}"
        );
    }
}
