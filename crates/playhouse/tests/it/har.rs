//! HTTP archives: what is recorded is valid by the schemas of npm's `har-validator`, and replaces the server that it was recorded from,
//! in Playhouse and in Playwright.

use crate::{evaluated, launch_on, shared};
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use testkit::{Client, Engine, Resource, Site, eventually, node};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/har");
const PLAYWRIGHT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/playwright");

/// Panics with the differences from the schemas if the archive is invalid.
#[expect(
    clippy::disallowed_methods,
    reason = "a test runs the validator that it tests with"
)]
fn validate(archive: &str) {
    let mut process = Command::new(node(FOLDER))
        .arg(format!("{FOLDER}/validate.mjs"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Node starts");
    let mut stdin = process.stdin.take().expect("stdin is piped");
    stdin.write_all(archive.as_bytes()).expect("Node reads");
    drop(stdin);
    let output = process.wait_with_output().expect("Node ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{archive}");
}

/// Returns what a function returns in a page for which Playwright replays an archive.
#[expect(
    clippy::disallowed_methods,
    reason = "Playwright is a library for Node"
)]
fn replayed_by_playwright(archive: &Path, url: &str, function: &str) -> Value {
    let run = Command::new(node(PLAYWRIGHT))
        .arg(format!("{PLAYWRIGHT}/replay-har.mjs"))
        .arg(Engine::Chromium.executable())
        .arg(archive)
        .args([url, function])
        .output()
        .expect("Node starts");
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{errors}");
    serde_json::from_slice(&run.stdout).expect("JSON")
}

async fn call(client: &Client, tool: &str, arguments: Value) -> String {
    let answer = client.call(tool, arguments).await;
    assert!(!answer.is_error, "{tool}: {}", answer.text);
    answer.text
}

/// Sends a request with each of two bodies, one that is redirected, and one for binary data.
const REQUESTS: &str = "async () => {
    const text = async (url, init) => (await fetch(url, init)).text();
    const echo = async body => JSON.parse(await text('/echo', { method: 'POST', body })).body;
    const bytes = new Uint8Array(await (await fetch('/bytes')).arrayBuffer());
    return [await echo('one'), await echo('two'), await text('/redirect?to=/data'), [...bytes].join()];
}";

fn entry<'a>(har: &'a Value, url: &str) -> &'a Value {
    let entries = har["log"]["entries"].as_array().expect("entries");
    let mut entries = entries.iter();
    let found = entries.find(|entry| entry["request"]["url"].as_str().unwrap().ends_with(url));
    found.unwrap_or_else(|| panic!("no {url} in {har:#}"))
}

#[testkit::test(chromium, firefox, webkit, node, nightly(firefox, webkit))]
async fn a_recorded_har_is_valid_and_replaces_its_server(engine: Engine) {
    let client = shared(engine, &[]).await;
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Recorded</title><h1>Recorded</h1>");
    site.add_page("/data", "data");
    site.add(
        "/bytes",
        Resource::new("application/octet-stream", vec![0, 255, 1]),
    );
    let start = json!({ "filename": "site.har" });
    call(&client, "browser_har_start", start.clone()).await;
    let again = client.call("browser_har_start", start).await;
    assert!(again.text.contains("recorded already"), "{}", again.text);
    call(&client, "browser_navigate", json!({ "url": url })).await;
    let recorded = evaluated(&client, REQUESTS).await;
    assert!(recorded.contains("\"0,255,1\""), "{recorded}");
    let stopped = call(&client, "browser_har_stop", json!({})).await;
    assert!(
        stopped.contains("requests") && stopped.contains("site.har"),
        "{stopped}"
    );
    let again = client.call("browser_har_stop", json!({})).await;
    assert!(
        again.text.contains("No HAR is being recorded"),
        "{}",
        again.text
    );

    let file = client.workspace().join("site.har");
    let archive = fs::read_to_string(&file).expect("a HAR");
    validate(&archive);
    let har: Value = serde_json::from_str(&archive).expect("JSON");
    assert_eq!(har["log"]["pages"][0]["title"], "Recorded");
    let posted = entry(&har, "/echo");
    assert_eq!(posted["request"]["method"], "POST");
    assert_eq!(posted["request"]["postData"]["text"], "one");
    assert_eq!(posted["response"]["status"], 200);
    assert_eq!(
        entry(&har, "/bytes")["response"]["content"]["encoding"],
        "base64"
    );
    let redirect = &entry(&har, "/redirect?to=/data")["response"];
    let target = redirect["redirectURL"].as_str().expect("a URL");
    assert!(target.ends_with("/data"), "{redirect:#}");

    drop(site);
    call(&client, "browser_navigate", json!({ "url": "about:blank" })).await;
    let failed = client.call("browser_navigate", json!({ "url": url })).await;
    assert!(failed.is_error, "the server is stopped: {}", failed.text);
    let route = json!({ "pattern": "**", "har": "site.har" });
    let routed = call(&client, "browser_route", route).await;
    assert!(routed.contains("routeFromHAR('site.har'"), "{routed}");
    let shown = call(&client, "browser_navigate", json!({ "url": url })).await;
    assert!(shown.contains("Recorded"), "{shown}");
    assert_eq!(evaluated(&client, REQUESTS).await, recorded);
    let results: Value = serde_json::from_str(&recorded).expect("JSON");
    assert_eq!(replayed_by_playwright(&file, &url, REQUESTS), results);
    let lacking = "() => fetch('/lacking').then(() => 'sent', () => 'failed')";
    assert_eq!(evaluated(&client, lacking).await, "\"failed\"");
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_har_falls_back_to_the_server_for_what_it_lacks(engine: Engine) {
    let client = shared(engine, &[]).await;
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Server</title>");
    site.add_page("/data", "server");
    let archive = json!({ "log": { "version": "1.2", "creator": { "name": "test", "version": "1" }, "entries": [{
        "request": { "method": "GET", "url": format!("{url}data"), "headers": [] },
        "response": {
            "status": 203,
            "headers": [{ "name": "content-type", "value": "text/plain" }],
            "content": { "mimeType": "text/plain", "size": 7, "text": "archive" },
        },
    }] } });
    fs::write(client.workspace().join("one.har"), archive.to_string()).expect("writable");
    let route = json!({ "pattern": "**", "har": "one.har", "notFound": "fallback" });
    call(&client, "browser_route", route).await;
    call(&client, "browser_navigate", json!({ "url": url })).await;
    let read = "async () => { const got = await fetch('/data'); return [got.status, await got.text(), document.title].join() }";
    assert_eq!(evaluated(&client, read).await, "\"203,archive,Server\"");
    fs::write(client.workspace().join("bad.har"), "{}").expect("writable");
    let bad = json!({ "pattern": "**", "har": "bad.har" });
    let bad = client.call("browser_route", bad).await;
    assert!(bad.text.contains("bad.har is not a HAR"), "{}", bad.text);
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit), node)]
async fn a_configured_har_is_written_when_the_context_closes(engine: Engine) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("deep/all.har");
    let config = folder.path().join("config.json");
    let record =
        json!({ "path": path, "mode": "minimal", "content": "omit", "urlFilter": "**/data" });
    let keys = json!({ "browser": { "contextOptions": { "recordHar": record } } });
    fs::write(&config, keys.to_string()).expect("writable");
    let client = launch_on(engine, &["--config"])
        .args([config.into_os_string()])
        .start()
        .await;
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Recorded</title>");
    site.add_page("/data", "data");
    call(&client, "browser_navigate", json!({ "url": url })).await;
    evaluated(&client, "() => fetch('/data').then(got => got.text())").await;
    assert!(!path.exists());
    call(&client, "browser_close", json!({})).await;
    eventually(async || path.exists()).await;
    let archive = fs::read_to_string(&path).expect("a HAR");
    validate(&archive);
    let har: Value = serde_json::from_str(&archive).expect("JSON");
    assert_eq!(
        har["log"]["entries"].as_array().map(Vec::len),
        Some(1),
        "{har:#}"
    );
    let content = &entry(&har, "/data")["response"]["content"];
    assert_eq!(content["text"], Value::Null, "{content:#}");
}
