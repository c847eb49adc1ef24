//! The shutdown of servers, and their continuation after other processes have ended.

use serde_json::json;
use testkit::{Client, Engine, Site};

use crate::{fake_server, launch, server, server_on};

/// Starts a server whose browser shows a page with an open connection to the site.
async fn with_a_page_open(engine: Engine, site: &Site) -> Client {
    let client = server_on(engine, &[]).await;
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

#[testkit::test(chromium, firefox, webkit)]
async fn the_browser_exits_when_the_client_disconnects(engine: Engine) {
    let site = Site::start().await;
    let client = with_a_page_open(engine, &site).await;
    assert!(client.end().await.success());
    site.listeners(0).await;
}

#[cfg(unix)]
#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_signal_ends_the_server_and_its_browser(engine: Engine) {
    use rustix::process::{Pid, Signal, kill_process};
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let site = Site::start().await;
        let mut client = with_a_page_open(engine, &site).await;
        let pid = client.pid().expect("the server runs");
        let pid = Pid::from_raw(pid.cast_signed()).expect("not 0");
        kill_process(pid, signal).expect("it is ours");
        assert!(client.exit_status().await.success(), "{signal:?}");
        site.listeners(0).await;
    }
}

#[testkit::test]
async fn a_running_call_does_not_delay_shutdown() {
    let client = server(&[]).await;
    client.navigate("about:blank").await;
    let _waits = client
        .begin(
            "tools/call",
            json!({ "name": "browser_wait_for", "arguments": { "time": 30 } }),
        )
        .await;
    assert!(client.end().await.success());
}

#[testkit::test]
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
        assert_eq!(
            answer.raw["structuredContent"]["errorCode"],
            "BROWSER_ERROR"
        );
        assert_eq!(answer.raw["structuredContent"]["retryable"], true);
    }
    assert!(!client.list_tools().await.is_empty());
}

#[testkit::test]
async fn a_closed_browser_is_started_again_by_the_next_call() {
    let client = fake_server(&[]).await;
    client.navigate("data:text/html,<title>One</title>").await;
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
#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_killed_browser_is_replaced_and_reported(engine: Engine) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let site = Site::start().await;
    let client = with_a_page_open(engine, &site).await;
    let server = client.pid().expect("the server runs");
    // The browser may be the child of any of the server's threads; it has its own process group.
    let threads = std::fs::read_dir(format!("/proc/{server}/task")).expect("Linux tells them");
    let children: String = threads
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .collect();
    let browser = children.split_whitespace().next().expect("there is one");
    let group = Pid::from_raw(browser.parse().expect("a number")).expect("not 0");
    kill_process_group(group, Signal::KILL).expect("it is ours");
    site.listeners(0).await;
    // A call before the server has detected it reports that the browser has closed; the next one gets another browser.
    let mut reply = String::new();
    for _ in 0..2 {
        let url = json!({ "url": site.url("/") });
        let answer = client.call("browser_navigate", url).await;
        reply += &answer.text;
        if !answer.is_error {
            break;
        }
        assert_eq!(
            answer.raw["structuredContent"]["errorCode"],
            "BROWSER_ERROR"
        );
    }
    assert!(reply.contains("a new one was started"), "{reply}");
    assert!(reply.contains("- Page Title: Here"), "{reply}");
}

#[testkit::test]
async fn a_server_without_reader_exits() {
    let program = env!("CARGO_BIN_EXE_playhouse");
    #[expect(clippy::disallowed_methods, reason = "a client that is half gone")]
    let mut server = tokio::process::Command::new(program)
        .args(["--headless", "--isolated"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it was built");
    drop(server.stdout.take());
    let mut input = server.stdin.take().expect("it is piped");
    tokio::io::AsyncWriteExt::write_all(&mut input, b"not JSON\n")
        .await
        .expect("it reads");
    let limit = std::time::Duration::from_secs(30);
    let status = tokio::time::timeout(limit, server.wait()).await;
    assert!(status.expect("it ends").expect("it is ours").success());
}

#[testkit::test]
async fn calls_received_before_stdin_closes_are_answered() {
    let client = launch(&[]).spawn();
    client.initialize(json!({})).await;
    let list = client.begin("tools/list", json!({})).await;
    let mut calls = Vec::new();
    for _ in 0..5 {
        let go = json!({ "name": "browser_navigate", "arguments": { "url": "about:blank" } });
        calls.push(client.begin("tools/call", go).await);
    }
    let ended = client.end();
    let answered = async {
        assert!(list.answer().await.is_ok());
        for call in calls {
            let answer = call.answer().await.expect("an answer");
            assert!(answer["isError"] == true || answer["content"].is_array());
        }
    };
    let (status, ()) = tokio::join!(ended, answered);
    assert!(status.success());
}

#[testkit::test]
async fn two_hundred_calls_at_once_are_done_in_their_order() {
    let client = fake_server(&[]).await;
    let page = "data:text/html,<script>const seen = []</script>";
    client.navigate(page).await;
    let mut calls = Vec::new();
    for number in 0..200 {
        let push = json!({ "name": "browser_evaluate", "arguments": { "function": format!("() => seen.push({number})") } });
        calls.push(client.begin("tools/call", push).await);
    }
    for (number, call) in calls.into_iter().enumerate() {
        let answer = call.answer().await.expect("an answer");
        let text = answer["content"][0]["text"].as_str().unwrap_or_default();
        let expected = format!("### Result\n{}\n", number + 1);
        assert!(text.starts_with(&expected), "{text}");
    }
}
