//! The tools of `--caps performance`, judged by the library `web-vitals` and by the trace engine of Chrome DevTools.

use crate::clients::output_of;
use crate::{evaluated, shared};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use testkit::{Client, Engine, Resource, Site, clients, eventually};

/// A page with a large image that arrives late, a layout shift, and a button that blocks the main thread. `{head}` is replaced.
const PAGE: &str = "<!doctype html><title>Vitals</title><link rel=stylesheet href=/style.css>{head}\
    <style>body { font: 16px/20px monospace; margin: 0 }</style><h1>Heading</h1><div id=slot></div><p>It moves down</p>\
    <img src=/hero.svg alt=Hero><button onclick='slow()'>Slow</button><script src=/app.js></script>";
const SCRIPT: &str = "function slow() {\n  const end = performance.now() + 300;\n  while (performance.now() < end);\n  \
    document.querySelector('p').textContent = 'Clicked';\n}\n\
    setTimeout(() => { slot.style.height = '300px'; }, 500);";

/// An image that is large enough for LCP, which ignores images of few bytes.
fn hero() -> String {
    let filler = "x".repeat(100_000);
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='600' height='400'><linearGradient id='a'><stop stop-color='red'/>\
        <stop offset='1' stop-color='blue'/></linearGradient><rect width='600' height='400' fill='url(#a)'/><!--{filler}--></svg>"
    )
}

async fn site_with(head: &str) -> (Site, String) {
    let site = Site::start().await;
    site.add(
        "/hero.svg",
        Resource::new("image/svg+xml", hero()).delay(Duration::from_millis(300)),
    );
    let style = Resource::new("text/css", "h1 { font-size: 30px }");
    site.add("/style.css", style.delay(Duration::from_millis(100)));
    site.add("/app.js", Resource::new("text/javascript", SCRIPT));
    let url = site.add_page("/", &PAGE.replace("{head}", head));
    (site, url)
}

async fn call(client: &Client, tool: &str, arguments: Value) -> String {
    let answer = client.call(tool, arguments).await;
    assert!(!answer.is_error, "{tool}: {}", answer.text);
    answer.text
}

/// Loads the page, waits for its shift, and clicks its button.
async fn use_page(client: &Client, url: &str) {
    call(client, "browser_navigate", json!({ "url": url })).await;
    call(client, "browser_wait_for", json!({ "time": 1 })).await;
    let button = json!({ "target": "getByRole('button')" });
    call(client, "browser_click", button).await;
    // The entries of the click are added after its next paint.
    call(client, "browser_wait_for", json!({ "time": 0.5 })).await;
}

/// Returns the number that follows the words.
fn number(text: &str, words: &str) -> Option<f64> {
    let (_, rest) = text.split_once(words)?;
    let end = rest.find(|char: char| !char.is_ascii_digit() && char != '.');
    rest[..end.unwrap_or(rest.len())].parse().ok()
}

fn is_close(one: f64, other: f64, tolerance: f64) -> bool {
    (one - other).abs() <= tolerance
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit), clients)]
async fn vitals_are_those_of_the_library_web_vitals(engine: Engine) {
    let library = clients()
        .folder
        .join("node_modules/web-vitals/dist/web-vitals.iife.js");
    let library = std::fs::read_to_string(library).expect("the library");
    let (site, url) = site_with(
        "<script src=/web-vitals.js></script><script>var vitals = {}; for (const name of ['LCP', 'CLS', 'INP', 'TTFB', 'FCP']) \
        webVitals['on' + name](({ value }) => { vitals[name] = value }, { reportAllChanges: true })</script>",
    )
    .await;
    site.add("/web-vitals.js", Resource::new("text/javascript", library));
    let client = shared(engine, &[]).await;
    use_page(&client, &url).await;
    let ours = call(&client, "browser_vitals", json!({})).await;
    let theirs = evaluated(&client, "() => vitals").await;
    let theirs: Value = serde_json::from_str(&theirs).expect("JSON");
    for (name, tolerance) in [
        ("LCP", 0.51),
        ("CLS", 0.000_51),
        ("INP", 0.51),
        ("TTFB", 0.51),
        ("FCP", 0.51),
    ] {
        let own = number(&ours, &format!("{name} "));
        let matches = match (own, theirs[name].as_f64()) {
            (Some(own), Some(value)) => is_close(own, value, tolerance),
            // What a browser does not report is named.
            (None, None) => ours.contains(&format!("{name}: not reported by")),
            _ => false,
        };
        assert!(matches, "{name}\n{ours}\n{theirs}");
    }
    assert!(number(&ours, "TTFB ").is_some(), "{ours}");
    if engine == Engine::Chromium {
        assert!(ours.contains("img \"Hero\" [ref="), "{ours}");
        assert!(ours.contains("button \"Slow\" [ref="), "{ours}");
    }
}

#[testkit::test(chromium, clients)]
async fn insights_are_those_of_the_trace_engine_of_devtools() {
    let clients = clients();
    let (site, url) = site_with("").await;
    let client = shared(Engine::Chromium, &[]).await;
    call(&client, "browser_performance_start", json!({})).await;
    use_page(&client, &url).await;
    let stop = json!({ "filename": "trace.json" });
    let ours = call(&client, "browser_performance_stop", stop).await;
    let file = client.workspace().join("trace.json");
    let script = clients.folder.join("trace.mjs");
    let arguments: [&Path; 2] = [&script, &file];
    let theirs = output_of(&clients.node, &arguments).await;
    let inp = &theirs["inp"];
    for (words, value) in [
        ("LCP ", &theirs["lcp"]),
        ("TTFB ", &theirs["ttfb"]),
        ("load delay ", &theirs["loadDelay"]),
        ("load duration ", &theirs["loadDuration"]),
        ("render delay ", &theirs["renderDelay"]),
        ("INP ", &inp["duration"]),
        ("input delay ", &inp["inputDelay"]),
        ("processing ", &inp["processing"]),
        ("presentation ", &inp["presentation"]),
    ] {
        let (own, value) = (number(&ours, words), value.as_f64());
        // Chromium rounds the durations of events in the one and not in the other field.
        let is_same = own
            .zip(value)
            .is_some_and(|(own, value)| is_close(own, value, 8.0));
        assert!(is_same, "{words}\n{ours}\n{theirs}");
    }
    let cls = theirs["cls"].as_f64().expect("a score");
    let own = number(&ours, "CLS ").expect("a score");
    assert!(
        cls > 0.0 && is_close(own, cls, 0.000_51),
        "{ours}\n{theirs}"
    );
    let blocking = theirs["blocking"].as_array().expect("a list");
    assert!(
        blocking.contains(&json!(site.url("/style.css"))),
        "{theirs}"
    );
    for request in blocking {
        assert!(ours.contains(request.as_str().expect("a URL")), "{ours}");
    }
    let hot = format!("slow {}:", site.url("/app.js"));
    assert!(ours.contains(&hot), "{ours}");
}

/// Returns how long a fixed computation takes, in ms.
async fn computation(client: &Client) -> f64 {
    let function = "() => { const start = performance.now(); for (let i = 0, x = 0; i < 3e7; i++) x += i % 7; return performance.now() - start }";
    let time = evaluated(client, function).await;
    time.parse().expect("a number")
}

#[testkit::test(chromium, nightly)]
async fn a_throttled_processor_is_slow_in_later_documents_and_tabs_until_it_is_reset() {
    let (site, url) = site_with("").await;
    let other = site.url("/other").replace("127.0.0.1", "localhost");
    site.add_page("/other", "<title>Other</title>");
    let client = shared(Engine::Chromium, &[]).await;
    call(&client, "browser_navigate", json!({ "url": url })).await;
    let usual = computation(&client).await;
    call(&client, "browser_throttle", json!({ "cpu": 20 })).await;
    let slow = async || {
        let time = computation(&client).await;
        assert!(time > 3.0 * usual, "{time} ms instead of {usual} ms");
    };
    slow().await;
    // Another site has another process.
    call(&client, "browser_navigate", json!({ "url": other })).await;
    slow().await;
    let tab = json!({ "action": "new", "url": url });
    call(&client, "browser_tabs", tab).await;
    slow().await;
    call(&client, "browser_throttle", json!({ "cpu": 1 })).await;
    // A busy machine delays some computations, but not all.
    eventually(async || match computation(&client).await {
        time if time < 3.0 * usual => Ok(()),
        time => Err(format!("{time} ms instead of {usual} ms")),
    })
    .await;
}

#[testkit::test(firefox, webkit)]
async fn profiles_are_refused_before_anything_changes(engine: Engine) {
    let client = shared(engine, &[]).await;
    for (tool, arguments) in [
        ("browser_performance_start", json!({})),
        (
            "browser_performance_stop",
            json!({ "filename": "trace.json" }),
        ),
        (
            "browser_heap_snapshot",
            json!({ "filename": "heap.heapsnapshot" }),
        ),
        ("browser_coverage", json!({ "action": "start" })),
        (
            "browser_throttle",
            json!({ "network": "Fast 4G", "cpu": 4 }),
        ),
    ] {
        let answer = client.call(tool, arguments).await;
        assert!(answer.is_error, "{tool}: {}", answer.text);
        assert!(answer.text.contains("not supported by"), "{}", answer.text);
    }
    let files = std::fs::read_dir(client.workspace()).expect("the workspace");
    let files: Vec<_> = files.flatten().map(|file| file.file_name()).collect();
    assert!(!files.iter().any(|name| name == "trace.json"), "{files:?}");
    assert!(
        !files.iter().any(|name| name == "heap.heapsnapshot"),
        "{files:?}"
    );
}
