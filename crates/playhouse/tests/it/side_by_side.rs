//! One client's work never stops another: whatever a client asks for, and whatever its page does, the server answers others.

use crate::launch;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use testkit::{HttpServer, Site, browser_is_there};

/// What `/health` may take beside the work of another client.
const SOON: Duration = Duration::from_millis(200);

/// What is a freeze on any machine, however busy.
const FREEZE: Duration = Duration::from_secs(1);

/// Asks `/health` of two servers, in turn, until it is stopped.
struct Watch {
    stop: Arc<AtomicBool>,
    longest: thread::JoinHandle<(Duration, Duration)>,
}

impl Watch {
    fn begin(watched: &HttpServer, idle: &HttpServer) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (watched, idle) = (watched.authority().to_owned(), idle.authority().to_owned());
        let over = stop.clone();
        let longest = thread::spawn(move || {
            let mut longest = (Duration::ZERO, Duration::ZERO);
            while !over.load(Ordering::Relaxed) {
                longest.0 = longest.0.max(health_takes(&watched));
                longest.1 = longest.1.max(health_takes(&idle));
                thread::sleep(Duration::from_millis(5));
            }
            longest
        });
        Self { stop, longest }
    }

    /// Fails if `/health` of the first took much longer than that of the other, which had nothing to do.
    fn end(self, call: &str) {
        self.stop.store(true, Ordering::Relaxed);
        let (watched, idle) = self.longest.join().expect("the watch does not panic");
        let limit = (SOON + 4 * idle).max(FREEZE);
        assert!(watched < limit, "{call}: {watched:?}, idle {idle:?}");
    }
}

fn health_takes(authority: &str) -> Duration {
    let began = Instant::now();
    let mut stream = TcpStream::connect(authority).expect("the server listens");
    let ask = format!("GET /health HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n\r\n");
    stream.write_all(ask.as_bytes()).expect("the server reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("the server answers");
    assert!(answer.starts_with(b"HTTP/1.1 200"));
    began.elapsed()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn whatever_a_client_asks_for_others_are_answered() {
    if !browser_is_there() {
        return;
    }
    let server = HttpServer::start(launch(&[
        "--toolsets",
        "browser,session",
        "--caps",
        "network",
    ]))
    .await;
    let idle = HttpServer::start(launch(&[])).await;
    let site = Site::start().await;
    let items = "<li><a href=/x>one</a> two".repeat(2_000);
    let page = format!(
        "<p>{}!</p><p>A short paragraph of a few words that ends with a full stop and no colon.</p><ul>{items}</ul>",
        "a".repeat(64)
    );
    let url = site.add_page("/", &page);
    let session = server.begin_session().await;
    let opened = server.call(Some(&session), "navigate", json!({ "url": url }));
    assert_ne!(opened.await["isError"], true);
    let long = "a".repeat(200_000);
    let fetch = "fetch('/' + 'a'.repeat(40000) + '!').then(() => 'came', () => 'refused')";
    let worst = [
        // Expressions that try too many ways.
        ("browser_find", json!({ "regex": "(a+)+$" })),
        ("browser_find", json!({ "regex": r"(\w+\s?)+:$" })),
        ("browser_find", json!({ "text": long })),
        (
            "browser_network_requests",
            json!({ "static": true, "filter": "(.*)*(.*)*(.*)*!" }),
        ),
        ("get_request_log", json!({ "filter": "/(.*)*(.*)*(.*)*!/" })),
        ("wait_for_url", json!({ "url": "/(.*)*(.*)*(.*)*!/" })),
        (
            "wait_for_response",
            json!({ "url": "/(.*)*(.*)*(.*)*!/", "timeout": 1000 }),
        ),
        // Rules about addresses that the page chooses.
        ("block_resource", json!({ "url": "*ads*" })),
        ("evaluate", json!({ "script": fetch })),
        (
            "mock_response",
            json!({ "url": "/(a+)+$/", "response": { "body": "mocked" } }),
        ),
        ("evaluate", json!({ "script": fetch })),
        // What is large.
        ("browser_snapshot", json!({})),
        ("evaluate", json!({ "script": "'x'.repeat(2e6)" })),
        (
            "evaluate",
            json!({ "script": "Array.from({ length: 2e4 }, (_, i) => ({ i }))" }),
        ),
        (
            "browser_evaluate",
            json!({ "function": "() => 'x'.repeat(5e6)" }),
        ),
        ("browser_click", json!({ "target": format!("text={long}") })),
        ("browser_click", json!({ "target": "(".repeat(60_000) })),
        (&long[..100_000], json!({})),
        (
            "browser_run_code_unsafe",
            json!({ "code": "async page => { for (let i = 0; i < 30; i++) console.log('y'.repeat(5e6)); for (;;); }" }),
        ),
    ];
    for (tool, arguments) in worst {
        let shown = arguments.to_string();
        let call = format!(
            "{} {}",
            &tool[..tool.len().min(30)],
            &shown[..shown.len().min(80)]
        );
        let watch = Watch::begin(&server, &idle);
        let params = json!({ "name": tool, "arguments": arguments });
        let headers = [("mcp-session-id", &*session)];
        let answer = server.rpc("/mcp", &headers, "tools/call", params).await;
        watch.end(&call);
        // What it came to is bounded too.
        assert!(
            answer.body.len() < 5_000_000,
            "{call}: {}",
            answer.body.len()
        );
    }
    // The client itself goes on.
    let found = server.call(
        Some(&session),
        "browser_find",
        json!({ "regex": "full (?=stop)" }),
    );
    let found = found.await;
    assert!(text(&found).contains("Found 1 match"), "{found}");
}

#[tokio::test]
async fn files_of_one_session_are_never_anothers() {
    if !browser_is_there() {
        return;
    }
    let client = launch(&["--toolsets", "browser,session"]).start().await;
    let folder = |session: &str| format!(".playwright-mcp/session-{}/", &session[..8]);
    let mut paths = Vec::new();
    for _ in 0..2 {
        let session = client.create_session(json!({})).await;
        let shot = json!({ "sessionId": session });
        let path = client.success("screenshot", shot).await["path"].clone();
        let path = path.as_str().unwrap().to_owned();
        assert!(path.starts_with(&folder(&session)), "{path} of {session}");
        paths.push(path);
    }
    // The one session of a client that creates none has the output folder, as ever.
    let own = client.success("screenshot", json!({})).await["path"].clone();
    let own = own.as_str().unwrap().to_owned();
    let name = own.strip_prefix(".playwright-mcp/");
    assert!(name.is_some_and(|name| !name.contains('/')), "{own}");
    paths.push(own);
    for path in paths {
        assert!(client.workspace().join(&path).is_file(), "{path}");
    }
}

#[tokio::test]
async fn an_expression_that_tries_too_many_ways_is_told_so() {
    if !browser_is_there() {
        return;
    }
    let site = Site::start().await;
    let url = site.add_page("/", &format!("<p>{}!</p>", "a".repeat(64)));
    let client = launch(&["--toolsets", "browser,session"]).start().await;
    client.success("navigate", json!({ "url": url })).await;
    let refused = client
        .call("browser_find", json!({ "regex": "(a+)+$" }))
        .await;
    assert!(refused.is_error);
    assert!(
        refused
            .text
            .contains("The regular expression /(a+)+$/ takes too long on this text"),
        "{}",
        refused.text
    );
    let told = &refused.raw["structuredContent"];
    assert_eq!(told["errorCode"], "INVALID_PARAMETERS", "{told}");
    assert_eq!(told["retryable"], false, "{told}");
    // A rule that cannot be decided keeps the request from the server.
    let rule = json!({ "url": "/(a+)+$/", "response": { "body": "mocked" } });
    client.success("mock_response", rule).await;
    let fetch = "fetch('/' + 'a'.repeat(64) + '!').then(() => 'came', () => 'refused')";
    let told = client.success("evaluate", json!({ "script": fetch })).await;
    assert_eq!(told["result"], "refused", "{told}");
}
