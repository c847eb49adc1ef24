//! Requests of pages: only to allowed origins, and never to blocked ones, for every kind of request.

use serde_json::json;
use testkit::{Engine, Resource, Site};

use crate::server_on;

/// All kinds of requests from scripts to `OTHER`.
const ASKS: &str = "
fetch('OTHER/WHO-fetch', {mode: 'no-cors'}).catch(() => {});
try { new WebSocket('WS/WHO-ws').onerror = () => {}; } catch {}
";

fn script(who: &str, other: &Site) -> String {
    ASKS.replace("OTHER", &other.base_url())
        .replace("WS", &other.base_url().replace("http", "ws"))
        .replace("WHO", who)
}

#[testkit::test(chromium, firefox, webkit)]
async fn a_blocked_origin_gets_no_request(engine: Engine) {
    let (site, other) = (Site::start().await, Site::start().await);
    let other_url = other.base_url();
    for worker in ["worker", "shared", "service"] {
        let text = script(worker, &other) + "self.onmessage = e => postMessage(1);";
        site.add(
            &format!("/{worker}.js"),
            Resource::new("text/javascript", text),
        );
    }
    site.add_page(
        "/child",
        &format!(
            "<img src={other_url}/child-img><script>{}</script>",
            script("child", &other)
        ),
    );
    let cross = site.cross_origin_url();
    let url = site.add_page(
        "/",
        &format!(
            "<title>open</title><img src={other_url}/img><img src='/redirect?to={other_url}/redirected'>
            <iframe src={other_url}/frame></iframe><iframe src={cross}/child></iframe>
            <iframe srcdoc='<img src={other_url}/srcdoc>'></iframe>
            <button onclick=\"open('{other_url}/popup'); open('/child')\">Open</button>
            <script>{}
            new Worker('/worker.js'); new SharedWorker('/shared.js');
            navigator.sendBeacon('{other_url}/beacon', 'x');
            async function registered() {{
                await navigator.serviceWorker.register('/service.js');
                await navigator.serviceWorker.ready;
            }}
            window.refused = new Promise(done => {{ new WebSocket('{}/again').onerror = () => done('refused'); }});
            </script>",
            script("page", &other),
            other_url.replace("http", "ws"),
        ),
    );
    let blocked = format!("127.0.0.1:{}", other.port());
    let client = server_on(
        engine,
        &["--blocked-origins", &format!("example.org; {blocked}")],
    )
    .await;
    let answer = client.call("browser_navigate", json!({ "url": url })).await;
    assert!(answer.text.contains("Page Title: open"), "{}", answer.text);
    let function =
        "async () => { await registered(); await fetch('/echo'); return await refused; }";
    let answer = client
        .call("browser_evaluate", json!({ "function": function }))
        .await;
    assert_eq!(answer.result(), "\"refused\"");
    client
        .call("browser_click", json!({ "target": "button" }))
        .await;
    client
        .call("browser_tabs", json!({ "action": "select", "index": 0 }))
        .await;

    let refused = client
        .call(
            "browser_navigate",
            json!({ "url": format!("{other_url}/direct") }),
        )
        .await;
    let text = format!("net::ERR_BLOCKED_BY_CLIENT at {other_url}/direct");
    assert!(refused.error().contains(&text), "{}", refused.text);
    client.call("browser_close", json!({})).await;

    let asked: Vec<_> = other
        .requests()
        .into_iter()
        .map(|request| request.target)
        .collect();
    assert!(asked.is_empty(), "{asked:?}");
    // The documents with these requests were loaded.
    let seen: Vec<_> = site
        .requests()
        .into_iter()
        .map(|request| request.target)
        .collect();
    for path in [
        "/worker.js",
        "/shared.js",
        "/service.js",
        "/child",
        "/redirect",
    ] {
        assert!(
            seen.iter().any(|seen| seen.starts_with(path)),
            "{path}: {seen:?}"
        );
    }
}

#[testkit::test(chromium, firefox, webkit)]
async fn only_allowed_origins_get_requests_and_blocked_wins(engine: Engine) {
    let (site, other) = (Site::start().await, Site::start().await);
    let url = site.add_page("/", "<title>here</title><p>allowed</p>");
    let ours = site.base_url();
    let client = server_on(
        engine,
        &[
            "--allowed-origins",
            &format!("{ours};http://localhost:*"),
            "--blocked-origins",
            &format!("localhost:{}", other.port()),
        ],
    )
    .await;
    let answer = client.call("browser_navigate", json!({ "url": url })).await;
    assert!(answer.text.contains("Page Title: here"), "{}", answer.text);
    let sockets = format!(
        "async () => {{
            const open = url => new Promise(done => {{
                try {{
                    const socket = new WebSocket(url);
                    socket.onopen = () => done('open');
                    socket.onerror = () => done('error');
                }} catch {{ done('refused'); }}
            }});
            const get = url => fetch(url, {{mode: 'no-cors'}}).then(() => 'got', () => 'refused');
            return [await open('{}/ws'), await open('{}/ws'), await open('/ws'),
                await get('{}'), await get('{}'), await get('{}')];
        }}",
        ours.replace("http", "ws"),
        other.base_url().replace("http", "ws"),
        site.cross_origin_url(),
        other.base_url(),
        other.cross_origin_url(),
    );
    let answer = client
        .call("browser_evaluate", json!({ "function": sockets }))
        .await;
    let seen: Vec<String> = serde_json::from_str(answer.result()).expect("a list");
    assert_eq!(seen, ["open", "error", "open", "got", "refused", "refused"]);
    assert!(other.requests().is_empty());
}

#[testkit::test(chromium, firefox, webkit)]
async fn a_storage_state_is_restored_without_requests(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page("/", "<title>here</title>");
    let client = server_on(
        engine,
        &["--allowed-origins", &site.base_url(), "--caps", "storage"],
    )
    .await;
    let item = json!([{ "name": "k", "value": "v" }]);
    let origins = json!([
        { "origin": "http://elsewhere.test", "localStorage": item },
        { "origin": site.base_url(), "localStorage": item },
    ]);
    let state = json!({ "cookies": [], "origins": origins });
    std::fs::write(client.workspace().join("s.json"), state.to_string()).expect("writable");
    let restored = client
        .call("browser_set_storage_state", json!({ "filename": "s.json" }))
        .await;
    assert!(!restored.is_error, "{}", restored.text);
    client.navigate(&url).await;
    let stored = client
        .call("browser_localstorage_get", json!({ "key": "k" }))
        .await;
    assert_eq!(stored.result(), "k=v");
}
