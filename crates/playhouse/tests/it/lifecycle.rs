//! How servers end, and how they go on when something else ends.

use serde_json::json;
use testkit::{Client, Site, browser_is_there};

use crate::{launch, server};

/// A server whose browser shows a page that holds a connection to the site.
async fn with_a_page_open(site: &Site) -> Client {
    let client = server(&[]).await;
    let page = site.add_page(
        "/",
        "<title>Here</title><script>new WebSocket(`ws://${location.host}/presence`)</script>",
    );
    let answer = client
        .call("browser_navigate", json!({ "url": page }))
        .await;
    assert!(!answer.is_error, "{}", answer.text);
    site.listeners(1).await;
    client
}

#[tokio::test]
async fn the_browser_goes_when_the_client_leaves() {
    if !browser_is_there() {
        return;
    }
    let site = Site::start().await;
    let client = with_a_page_open(&site).await;
    assert!(client.end().await.success());
    site.listeners(0).await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_signal_ends_the_server_and_its_browser() {
    use rustix::process::{Pid, Signal, kill_process};
    if !browser_is_there() {
        return;
    }
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let site = Site::start().await;
        let mut client = with_a_page_open(&site).await;
        let pid = client.pid().expect("the server runs");
        let pid = Pid::from_raw(pid.cast_signed()).expect("not 0");
        kill_process(pid, signal).expect("it is ours");
        assert!(client.exit_status().await.success(), "{signal:?}");
        site.listeners(0).await;
    }
}

#[tokio::test]
async fn a_call_under_way_does_not_hold_up_the_end() {
    if !browser_is_there() {
        return;
    }
    let client = server(&[]).await;
    client
        .call("browser_navigate", json!({ "url": "about:blank" }))
        .await;
    let _waits = client
        .begin(
            "tools/call",
            json!({ "name": "browser_wait_for", "arguments": { "time": 30 } }),
        )
        .await;
    assert!(client.end().await.success());
}

#[tokio::test]
async fn a_browser_that_does_not_start_is_an_error_each_time_and_the_server_lives() {
    let client = launch(&["--executable-path", "/nowhere/chrome"])
        .start()
        .await;
    for _ in 0..2 {
        let answer = client.call("browser_snapshot", json!({})).await;
        assert!(answer.is_error);
        assert!(
            answer.error().contains("/nowhere/chrome"),
            "{}",
            answer.text
        );
        assert_eq!(answer.raw["structuredContent"]["code"], "BROWSER_ERROR");
        assert_eq!(answer.raw["structuredContent"]["retryable"], true);
    }
    assert!(!client.list_tools().await.is_empty());
}

#[tokio::test]
async fn a_closed_browser_is_started_again_by_the_next_call() {
    if !browser_is_there() {
        return;
    }
    let client = server(&[]).await;
    client
        .call(
            "browser_navigate",
            json!({ "url": "data:text/html,<title>One</title>" }),
        )
        .await;
    let closed = client.call("browser_close", json!({})).await;
    assert_eq!(
        closed.result(),
        "No open tabs. Navigate to a URL to create one."
    );
    let tabs = client
        .call("browser_tabs", json!({ "action": "list" }))
        .await;
    assert_eq!(tabs.result(), "- 0: (current) [](about:blank)");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_killed_browser_is_replaced_and_that_is_told() {
    use rustix::process::{Pid, Signal, kill_process_group};
    if !browser_is_there() {
        return;
    }
    let site = Site::start().await;
    let client = with_a_page_open(&site).await;
    let server = client.pid().expect("the server runs");
    // The browser may be the child of any of the server's threads; it has a process group of its own.
    let threads = std::fs::read_dir(format!("/proc/{server}/task")).expect("Linux tells them");
    let children: String = threads
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .collect();
    let browser = children.split_whitespace().next().expect("there is one");
    let group = Pid::from_raw(browser.parse().expect("a number")).expect("not 0");
    kill_process_group(group, Signal::KILL).expect("it is ours");
    site.listeners(0).await;
    // A call that comes before the server has heard of it is told that the browser is gone; the next one has another.
    let mut told = String::new();
    for _ in 0..2 {
        let url = json!({ "url": site.url("/") });
        let answer = client.call("browser_navigate", url).await;
        told += &answer.text;
        if !answer.is_error {
            break;
        }
        assert_eq!(answer.raw["structuredContent"]["code"], "BROWSER_ERROR");
    }
    assert!(told.contains("a new one was started"), "{told}");
    assert!(told.contains("- Page Title: Here"), "{told}");
}
