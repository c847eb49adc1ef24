//! Isolation of clients: no call of a client and no page blocks the calls of other clients.

mod expensive_calls;

use crate::{launch, shared};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use testkit::harness::is_nightly;
use testkit::{Engine, HttpServer, Site};

/// How long `/health` may take during another client's call, on an idle machine.
const SOON: Duration = Duration::from_millis(200);

/// The number of attempts of a call that delayed `/health`.
const TRIES: usize = 3;

/// The longest response times of the server and of the control during a call.
#[derive(Debug, Clone, Copy, Default)]
struct Longest {
    health: Duration,
    control: Duration,
}

/// Sends requests to two listeners until it is stopped.
///
/// A busy machine also responds late. The delay is measured and not estimated: a control, a listener on an idle thread of this process,
/// gets requests in parallel with the server, so that anything that delays threads (other tests, other processes, memory) delays the
/// control as well. `/health` may take 200 ms longer than the longest response of the control during the same call. Which of the two is
/// affected by a single pause is random, but the computation of a call repeats with the call: so a call fails only if it delays `/health`
/// in each of three attempts.
struct Watch {
    stop: Arc<AtomicBool>,
    asking: [thread::JoinHandle<Duration>; 2],
}

impl Watch {
    fn begin(server: &HttpServer, control: &str) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let asking = [server.authority(), control].map(|authority| {
            let (authority, over) = (authority.to_owned(), stop.clone());
            thread::spawn(move || {
                let mut longest = Duration::ZERO;
                while !over.load(Ordering::Relaxed) {
                    longest = longest.max(health_latency(&authority));
                    thread::sleep(Duration::from_millis(5));
                }
                longest
            })
        });
        Self { stop, asking }
    }

    fn end(self) -> Longest {
        self.stop.store(true, Ordering::Relaxed);
        let [health, control] = self
            .asking
            .map(|asking| asking.join().expect("the watch does not panic"));
        Longest { health, control }
    }
}

fn health_latency(authority: &str) -> Duration {
    let began = Instant::now();
    let mut stream = TcpStream::connect(authority).expect("the server listens");
    let ask = format!("GET /health HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n\r\n");
    stream.write_all(ask.as_bytes()).expect("the server reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("the server answers");
    assert!(answer.starts_with(b"HTTP/1.1 200"));
    began.elapsed()
}

/// Starts a listener that responds to everything at once, until the process ends; returns its address.
fn control() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let authority = listener.local_addr().expect("its address").to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut head = [0; 1024];
            let _ = stream.read(&mut head);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
        }
    });
    authority
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

#[testkit::test(chromium, slow, nightly)]
async fn expensive_calls_do_not_block_other_clients() {
    // Some calls wait that long for an element that does not exist.
    let timeout = if is_nightly() { "30000" } else { "10000" };
    let server = HttpServer::start(launch(&[
        "--toolsets",
        "browser,session",
        "--caps",
        "network,storage,testing,devtools,pdf",
        "--timeout-action",
        timeout,
        "--max-answer-tokens",
        "6000",
    ]))
    .await;
    let control = control();
    let site = Site::start().await;
    let url = site.add_page("/", &expensive_calls::large_page());
    let session = server.begin_session().await;
    let opened = server.call(Some(&session), "navigate", json!({ "url": url }));
    assert_ne!(opened.await["isError"], true);
    for (tool, arguments) in expensive_calls::calls() {
        let shown = arguments.to_string();
        let call = format!(
            "{} {}",
            &tool[..tool.len().min(30)],
            &shown[..shown.len().min(80)]
        );
        let mut tries = Vec::new();
        loop {
            let watch = Watch::begin(&server, &control);
            let params = json!({ "name": tool, "arguments": arguments });
            let headers = [("mcp-session-id", &*session)];
            let answer = server.rpc("/mcp", &headers, "tools/call", params).await;
            let longest = watch.end();
            // The size of the result is limited too; an image is larger than a text.
            let limit = match tool.contains("screenshot") {
                true => 5_000_000,
                false => expensive_calls::size(),
            };
            let size = answer.body.len();
            assert!(size < limit, "{call}: {size}");
            tries.push(longest);
            if longest.health < SOON + longest.control {
                break;
            }
            assert!(tries.len() < TRIES, "{call}: {tries:?}");
        }
    }
    // The client itself remains usable.
    let opened = server.call(Some(&session), "navigate", json!({ "url": url }));
    assert_ne!(opened.await["isError"], true);
    let found = server.call(
        Some(&session),
        "browser_find",
        json!({ "regex": "full (?=stop)" }),
    );
    let found = found.await;
    assert!(text(&found).contains("Found 1 match"), "{found}");
}

#[testkit::test(chromium)]
async fn files_of_one_session_are_never_anothers() {
    let client = shared(Engine::Chromium, &[]).await;
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
    // The default session of a client uses the output folder itself.
    let own = client.success("screenshot", json!({})).await["path"].clone();
    let own = own.as_str().unwrap().to_owned();
    let name = own.strip_prefix(".playwright-mcp/");
    assert!(name.is_some_and(|name| !name.contains('/')), "{own}");
    paths.push(own);
    for path in paths {
        assert!(client.workspace().join(&path).is_file(), "{path}");
    }
}

#[testkit::test(chromium)]
async fn an_expression_with_too_much_backtracking_is_refused() {
    let site = Site::start().await;
    let url = site.add_page("/", &format!("<p>{}!</p>", "a".repeat(64)));
    let client = shared(Engine::Chromium, &[]).await;
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
    let answer = &refused.raw["structuredContent"];
    assert_eq!(answer["errorCode"], "INVALID_PARAMETERS", "{answer}");
    assert_eq!(answer["retryable"], false, "{answer}");
    // A rule that cannot be evaluated keeps the request from the server.
    let rule = json!({ "url": "/(a+)+$/", "response": { "body": "mocked" } });
    client.success("mock_response", rule).await;
    let fetch = "fetch('/' + 'a'.repeat(64) + '!').then(() => 'came', () => 'refused')";
    let answer = client.success("evaluate", json!({ "script": fetch })).await;
    assert_eq!(answer["result"], "refused", "{answer}");
}
