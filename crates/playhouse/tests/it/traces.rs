//! Traces, read by the loader of Playwright's trace viewer.

use crate::{launch_on, shared};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::{Client, Engine, Resource, Site, eventually, node};

const READER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/playwright");

/// Returns what the loader finds in an archive.
#[expect(
    clippy::disallowed_methods,
    reason = "the loader is a library for Node"
)]
fn read(archive: &Path) -> Value {
    let run = Command::new(node(READER))
        .arg(format!("{READER}/read-trace.mjs"))
        .arg(archive)
        .output()
        .expect("Node starts");
    let errors = String::from_utf8_lossy(&run.stderr);
    serde_json::from_slice(&run.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"))
}

/// Returns the only archive in a folder.
fn archive_in(folder: &Path) -> PathBuf {
    let entries = fs::read_dir(folder).expect("the folder of traces");
    let mut archives = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "zip"));
    let archive = archives.next().expect("an archive");
    assert_eq!(archives.next(), None);
    archive
}

async fn call(client: &Client, tool: &str, arguments: Value) -> String {
    let answer = client.call(tool, arguments).await;
    assert!(!answer.is_error, "{tool}: {}", answer.text);
    answer.text
}

/// Returns the action of a tool.
fn action<'a>(trace: &'a Value, tool: &str) -> &'a Value {
    let actions = trace["actions"].as_array().expect("actions");
    let found = actions.iter().find(|action| action["method"] == tool);
    found.unwrap_or_else(|| panic!("{tool} is not in {actions:#?}"))
}

/// Returns the request of a URL that ends like this.
fn request<'a>(trace: &'a Value, end: &str) -> &'a Value {
    let requests = trace["resources"].as_array().expect("requests");
    let ends = |request: &&Value| {
        request["url"]
            .as_str()
            .is_some_and(|url| url.ends_with(end))
    };
    let found = requests.iter().find(ends);
    found.unwrap_or_else(|| panic!("{end} is not in {requests:#?}"))
}

fn assert_contains(text: &Value, parts: &[&str]) {
    let text = text.as_str().unwrap_or_default();
    for part in parts {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

const PAGE: &str = "<!doctype html><title>Order</title><link rel=stylesheet href=/style.css>\
    <style id=own></style><h1>Tea</h1><label>Amount <input id=amount value=1></label>\
    <label><input type=checkbox id=gift> Gift</label>\
    <select id=size><option>Small<option>Large</select><textarea id=note></textarea>\
    <div id=box style='height:40px;overflow:auto'><p style='height:200px'>long</p></div>\
    <div id=host></div><iframe src=/inner></iframe>\
    <button id=buy onclick='buy()'>Buy</button><p id=out>nothing</p><form><input name=attributes><input name=childNodes></form>\
    <script>host.attachShadow({ mode: 'open' }).innerHTML = '<p>in the shadow</p>';\
    own.sheet.insertRule('h1 { color: teal }'); size.selectedIndex = 1; gift.checked = true; note.value = 'hot'; box.scrollTop = 30;\
    async function buy() { const answer = await fetch('/order', { method: 'POST', body: JSON.stringify({ tea: amount.value }) });\
    out.textContent = 'bought ' + (await answer.json()).id; console.log('order', out.textContent); setTimeout(() => { throw new TypeError('too hot') }) }\
    console.warn('welcome')</script>";

fn site_pages(site: &Site) -> String {
    site.add_page("/inner", "<title>Inner</title><b>inner text</b>");
    let css = Resource::new("text/css", "h1 { font-size: 40px }");
    site.add("/style.css", css);
    let order = Resource::new("application/json", "{\"id\": 4711}").header("x-shop", "tea");
    site.add("/order", order);
    site.add_page("/", PAGE)
}

#[testkit::test(chromium, firefox, webkit, node, nightly(firefox, webkit))]
async fn the_trace_viewer_reads_a_trace(engine: Engine) {
    let site = Site::start().await;
    let url = site_pages(&site);
    let client = shared(engine, &[]).await;
    // What was loaded before belongs to the trace, because its snapshots need it.
    call(&client, "browser_navigate", json!({ "url": url })).await;
    call(&client, "browser_start_tracing", json!({})).await;
    let target = json!({ "target": "#amount", "text": "3" });
    call(&client, "browser_type", target).await;
    call(&client, "browser_click", json!({ "target": "#buy" })).await;
    call(
        &client,
        "browser_wait_for",
        json!({ "text": "bought 4711" }),
    )
    .await;
    let missing = client
        .call("browser_click", json!({ "target": "#missing" }))
        .await;
    assert!(missing.is_error);
    let endless = json!({ "function": "() => fetch('/running').then(() => new Promise(() => 0))" });
    let running = client.begin(
        "tools/call",
        json!({ "name": "browser_evaluate", "arguments": endless }),
    );
    let running = running.await;
    let is_running = || site.requests().iter().any(|it| it.target == "/running");
    eventually(async || is_running()).await;
    let cancelled = json!({ "requestId": running.id(), "reason": "no longer needed" });
    client.notify("notifications/cancelled", cancelled).await;
    let steps = json!({ "steps": [{ "tool": "browser_hover", "arguments": { "target": "h1" } }] });
    call(&client, "browser_batch", steps).await;
    call(&client, "browser_stop_tracing", json!({})).await;

    let trace = read(&archive_in(
        &client.workspace().join(".playwright-mcp/traces"),
    ));
    assert_eq!(trace["browserName"], engine.name());
    let actions = trace["actions"].as_array().expect("actions");
    assert!(actions.iter().all(|action| action["isEnded"] == true));

    let typed = action(&trace, "browser_type");
    assert_contains(&typed["params"]["locator"], &["locator('#amount')"]);
    assert_contains(&typed["params"]["code"], &[".fill('3')"]);
    assert_eq!(typed["title"], "Type text {locator}");
    assert_contains(&typed["before"], &["__playwright_value_=\"1\""]);
    assert_contains(&typed["after"], &["__playwright_value_=\"3\""]);

    let clicked = action(&trace, "browser_click");
    assert!(clicked["point"]["x"].as_f64() > Some(0.0), "{clicked}");
    let id = clicked["callId"].as_str().unwrap_or_default();
    let mark = format!("__playwright_target__=\"{id}\"");
    assert_contains(&clicked["input"], &["nothing", &mark]);
    assert_contains(
        &action(&trace, "browser_wait_for")["after"],
        &[
            "<!DOCTYPE html>",
            "<H1>Tea</H1>",
            "bought 4711",
            "h1 { color: teal",
            "__playwright_checked_=\"true\"",
            "__playwright_value_=\"hot\"",
            "__playwright_selected_=\"true\">Large",
            "__playwright_scroll_top_=\"30\"",
            "<template __playwright_shadow_root_=\"open\"><P>in the shadow</P></template>",
            "<INPUT name=\"childNodes\"",
        ],
    );
    assert_contains(&clicked["frames"][0], &["<B>inner text</B>"]);
    let failed = actions
        .iter()
        .find(|action| action["params"]["target"] == "#missing");
    assert_contains(&failed.expect("the failed call")["error"], &["#missing"]);
    let error = &action(&trace, "browser_evaluate")["error"];
    assert_contains(error, &["The call was cancelled"]);
    let step = action(&trace, "browser_hover");
    assert_eq!(step["parentId"], action(&trace, "browser_batch")["callId"]);

    let line = clicked["line"].as_u64().expect("a line");
    let source = &trace["source"][usize::try_from(line - 1).expect("a line")];
    assert_eq!(*source, json!("browser_click({\"target\":\"#buy\"});"));

    let order = request(&trace, "/order");
    assert_eq!(
        (&order["method"], &order["status"]),
        (&json!("POST"), &json!(200))
    );
    assert_eq!(order["posted"], "{\"tea\":\"3\"}");
    assert_eq!(order["body"], "{\"id\": 4711}");
    assert_eq!(order["headers"]["x-shop"], "tea");
    assert_eq!(
        request(&trace, "/style.css")["body"],
        "h1 { font-size: 40px }"
    );
    assert_contains(&request(&trace, "/")["body"], &["<title>Order"]);

    let events = trace["events"].as_array().expect("events");
    let has = |text: &str| events.iter().any(|event| event.to_string().contains(text));
    assert!(has("order bought 4711"), "{events:#?}");
    let error = events.iter().find(|event| event["method"] == "pageError");
    let error = &error.expect("an uncaught error")["params"]["error"]["error"];
    assert_eq!(error["message"], "too hot");

    let images = trace["images"].as_array().expect("images");
    assert!(images.len() >= 3, "{images:?}");
    assert!(
        images.iter().all(|image| image["isJpeg"] == true),
        "{images:?}"
    );
    assert_eq!(images[0]["width"], 1280);
}

#[testkit::test(chromium, node)]
async fn each_context_is_traced_with_save_trace(engine: Engine) {
    let site = Site::start().await;
    let url = site_pages(&site);
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("config.json");
    let traces = folder.path().join("traces");
    let settings =
        json!({ "saveTrace": true, "browser": { "launchOptions": { "tracesDir": traces } } });
    fs::write(&config, settings.to_string()).expect("writable");
    let args = [
        "--caps",
        "devtools",
        "--config",
        config.to_str().expect("UTF-8"),
    ];
    let client = launch_on(engine, &args).start().await;
    call(&client, "browser_navigate", json!({ "url": url })).await;
    let again = client.call("browser_start_tracing", json!({})).await;
    assert!(
        again.is_error && again.text.contains("already been started"),
        "{}",
        again.text
    );
    call(&client, "browser_click", json!({ "target": "#buy" })).await;
    call(&client, "browser_close", json!({})).await;
    let trace = read(&archive_in(&traces));
    let navigated = action(&trace, "browser_navigate");
    assert_eq!(navigated["params"]["url"], url);
    assert_contains(&navigated["after"], &["<H1>Tea</H1>"]);
    assert_eq!(request(&trace, "/order")["posted"], "{\"tea\":\"1\"}");
    assert!(action(&trace, "browser_close")["error"].is_null());
    let stopped = client.call("browser_stop_tracing", json!({})).await;
    assert!(stopped.is_error && stopped.text.contains("Tracing is not started"));
}

/// Sends more requests than bodies can be read at the same time, and when `/go` exists, one to `/loop` before an endless loop.
const STUCK: &str = "<title>Stuck</title><script>(async () => {
    await Promise.all(Array.from({ length: 400 }, async (_, n) => (await fetch('/data?n=' + n)).text()));
    while (!(await fetch('/go')).ok) await new Promise(done => setTimeout(done, 50));
    const request = new XMLHttpRequest();
    request.open('GET', '/loop', false);
    request.send();
    for (;;);
})()</script>";

#[testkit::test(chromium, firefox, webkit, node, nightly(firefox, webkit))]
async fn a_trace_of_a_page_in_an_endless_loop_is_written(engine: Engine) {
    let site = Site::start().await;
    site.add("/data", Resource::new("text/plain", "data"));
    let url = site.add_page("/stuck", STUCK);
    let client = shared(engine, &[]).await;
    call(&client, "browser_navigate", json!({ "url": url })).await;
    site.add_page("/go", "");
    let loops = || site.requests().iter().any(|it| it.target == "/loop");
    eventually(async || loops()).await;
    call(&client, "browser_start_tracing", json!({})).await;
    call(&client, "browser_stop_tracing", json!({})).await;
    let trace = read(&archive_in(
        &client.workspace().join(".playwright-mcp/traces"),
    ));
    assert_contains(&request(&trace, "/stuck")["type"], &["text/html"]);
    for number in 0..400 {
        let data = request(&trace, &format!("/data?n={number}"));
        let is_explained = data["comment"] == "The browser did not return the body in time";
        assert!(is_explained || data["body"] == "data", "{data}");
    }
}
