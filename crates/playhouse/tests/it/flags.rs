//! Flags that affect pages and answers, from the command line to the page.

use serde_json::json;
use std::fs;
use std::time::{Duration, Instant};
use testkit::Site;

use crate::{evaluated, fake_server, server};

#[testkit::test]
async fn answers_have_the_configured_length() {
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Tea</title><button>Green</button>");
    let client = fake_server(&[
        "--snapshot-mode=none",
        "--snapshot-boxes",
        "--file-paths=absolute",
        "--image-responses=omit",
        "--codegen=none",
    ])
    .await;
    let answer = client.call("browser_navigate", json!({ "url": url })).await;
    assert!(answer.section("Page").is_some(), "{}", answer.text);
    assert_eq!(answer.section("Snapshot"), None, "{}", answer.text);
    assert_eq!(
        answer.section("Ran Playwright code"),
        None,
        "{}",
        answer.text
    );
    let answer = client.call("browser_snapshot", json!({})).await;
    let snapshot = answer.section("Snapshot").expect("it was asked for");
    assert!(
        snapshot.contains("button \"Green\"") && snapshot.contains("[box="),
        "{snapshot}"
    );
    let answer = client.call("browser_take_screenshot", json!({})).await;
    let output = client.workspace().join(".playwright-mcp");
    assert!(
        answer
            .text
            .contains(&format!("({}/page-", output.display())),
        "{}",
        answer.text
    );
    let content = answer.raw["content"].as_array().expect("a list");
    assert!(content.iter().all(|part| part["type"] == "text"));
}

#[testkit::test(chromium)]
async fn pages_find_what_the_flags_promise() {
    let site = Site::start().await;
    let url = site.add_page("/", "<script>seen = window.given</script>");
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("writable");
        path.display().to_string()
    };
    let origin = url.trim_end_matches('/');
    let state = json!({ "cookies": [], "origins": [{ "origin": origin, "localStorage": [{ "name": "k", "value": "v" }] }] });
    let client = server(&[
        "--init-script",
        &file("one.js", "window.given = 'one';"),
        "--init-script",
        &file("two.js", "window.given += ' two';"),
        "--storage-state",
        &file("state.json", &state.to_string()),
        "--device=iPhone 15",
        "--viewport-size=400x300",
        "--grant-permissions=geolocation",
        "--shared-browser-context",
    ])
    .await;
    client.navigate(&url).await;
    let seen = "async () => [seen, localStorage.k, screen.width, navigator.userAgent.includes('iPhone'), navigator.maxTouchPoints > 0, devicePixelRatio, (await navigator.permissions.query({ name: 'geolocation' })).state].join()";
    assert_eq!(
        evaluated(&client, seen).await,
        "\"one two,v,393,true,true,3,granted\""
    );
}

#[testkit::test(chromium)]
async fn all_requests_use_the_proxy_except_bypassed_hosts() {
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Here</title>");
    let proxy = "--proxy-server=http://127.0.0.1:1";
    let client = server(&[proxy]).await;
    let answer = client.call("browser_navigate", json!({ "url": url })).await;
    assert!(
        answer.error().contains("net::ERR_PROXY_CONNECTION_FAILED"),
        "{}",
        answer.text
    );
    let client = server(&[proxy, "--proxy-bypass=127.0.0.1"]).await;
    let answer = client.call("browser_navigate", json!({ "url": url })).await;
    assert!(
        answer.text.contains("- Page Title: Here"),
        "{}",
        answer.text
    );
}

#[testkit::test]
async fn slow_motion_waits_after_an_action() {
    let site = Site::start().await;
    let url = site.add_page("/", "<button>Go</button>");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("slow.json");
    let config = json!({ "browser": { "launchOptions": { "slowMo": 700 } } });
    fs::write(&path, config.to_string()).expect("writable");
    let client = fake_server(&["--config", &path.display().to_string()]).await;
    client.navigate(&url).await;
    let before = Instant::now();
    client
        .call("browser_click", json!({ "target": "button" }))
        .await;
    assert!(before.elapsed() >= Duration::from_millis(700));
}

#[testkit::test(chromium)]
async fn a_crashed_tab_is_reported_and_replaced() {
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Fine</title>");
    let client = server(&["--allowed-schemes", "chrome"]).await;
    client.navigate(&url).await;
    let crash = json!({ "action": "new", "url": "chrome://crash" });
    let answer = client.call("browser_tabs", crash).await;
    let reply = answer.error();
    assert!(
        reply.contains("net::ERR_ABORTED") || reply.contains("crashed"),
        "{reply}"
    );
    let mut answer = client.call("browser_snapshot", json!({})).await;
    // The browser may report the crash after it has aborted the navigation.
    if answer.is_error {
        assert!(answer.error().contains("crashed"), "{}", answer.text);
        answer = client.call("browser_snapshot", json!({})).await;
    }
    assert!(!answer.is_error, "{}", answer.text);
    assert!(
        answer.text.contains("- Page URL: about:blank"),
        "{}",
        answer.text
    );
    assert!(answer.text.contains("- 0: [Fine]"), "{}", answer.text);
    let news = answer.section("Events").expect("a line of the console");
    assert!(news.contains("New console entries"), "{news}");
    let answer = client.call("browser_navigate", json!({ "url": url })).await;
    assert!(
        answer.text.contains("- Page Title: Fine"),
        "{}",
        answer.text
    );
}
