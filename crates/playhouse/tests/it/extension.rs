//! `--extension`: tabs of the user's own browser, which its extension gives.

use crate::faults::kill;
use serde_json::{Value, json};
use testkit::{
    BrowserOpener, Client, Launch, Resource, Site, UserBrowser, WebSocketClient, eventually,
};

/// Creates a server that opens pages of Playhouse's extension with that program.
fn launch(opener: &BrowserOpener, args: &[&str]) -> Launch {
    let program = opener.program();
    Launch::new(env!("CARGO_BIN_EXE_playhouse"))
        .args([
            "--extension",
            "--extension-id",
            UserBrowser::EXTENSION,
            "--toolsets=all",
            "--content-boundaries=off",
        ])
        .args(["--executable-path".as_ref(), program.as_os_str()])
        .args(args)
}

/// Calls a tool, which must succeed. Returns the text of the answer.
async fn call(client: &Client, tool: &str, arguments: Value) -> String {
    let answer = client.call(tool, arguments).await;
    assert!(!answer.is_error, "{tool}: {}", answer.text);
    answer.text
}

/// Returns the parameter of the extension's page with the URL that it must connect to.
fn relay_of(page: &str) -> String {
    let page = url::Url::parse(page).unwrap();
    let mut parameters = page.query_pairs();
    let (_, relay) = parameters.find(|(name, _)| name == "mcpRelayUrl").unwrap();
    relay.into_owned()
}

/// Begins a call that needs a page. It does not end before the extension has connected.
async fn begin(client: &Client) -> testkit::Pending {
    let snapshot = json!({ "name": "browser_snapshot", "arguments": {} });
    client.begin("tools/call", snapshot).await
}

fn text_of(answer: &Value) -> &str {
    answer["content"][0]["text"].as_str().unwrap_or_default()
}

#[testkit::test(extensions)]
async fn the_tab_that_the_user_chose_is_used() {
    let site = Site::start().await;
    site.add_page(
        "/inner",
        "<button onclick='textContent = `pressed`'>Inner</button>",
    );
    site.add_page("/popup", "<title>Popup</title><p>in a popup</p>");
    site.add("/data", Resource::new("text/plain", "data"));
    let chosen = site.add_page(
        "/chosen",
        &format!(
            "<title>Chosen</title><input aria-label=Name><button onclick='console.log(`hello ` + document.querySelector(`input`).value); fetch(`/data`)'>Greet</button>
            <a href=/popup target=_blank>Open</a><iframe src={}/inner></iframe>",
            site.cross_origin_url()
        ),
    );
    let other = site.add_page("/other", "<title>Other</title>");
    let (user, opener) = (UserBrowser::start().await, BrowserOpener::new());
    user.open(&chosen).await;
    user.open(&other).await;
    let server = launch(&opener, &["--caps=network,testing"]).start().await;
    let first = begin(&server).await;
    let page = opener.page().await;
    user.allow(&page, Some(&chosen)).await;
    let snapshot = first.answer().await.expect("an answer");
    let snapshot = text_of(&snapshot);
    assert!(snapshot.contains("Page Title: Chosen"), "{snapshot}");
    // The frame has a process of its own, and so a session of its own.
    assert!(snapshot.contains("button \"Inner\""), "{snapshot}");
    let tabs = call(&server, "browser_tabs", json!({ "action": "list" })).await;
    assert!(
        !tabs.contains("/other") && !tabs.contains("connect.html"),
        "{tabs}"
    );

    let typing = json!({ "target": "input", "text": "Ada" });
    call(&server, "browser_type", typing).await;
    call(&server, "browser_click", json!({ "target": "button" })).await;
    let console = call(&server, "browser_console_messages", json!({})).await;
    assert!(console.contains("hello Ada"), "{console}");
    let requests = call(&server, "browser_network_requests", json!({})).await;
    assert!(requests.contains("/data => [200]"), "{requests}");
    let inner = json!({ "target": "iframe >> internal:control=enter-frame >> button" });
    call(&server, "browser_click", inner).await;
    let snapshot = call(&server, "browser_snapshot", json!({})).await;
    assert!(snapshot.contains("button \"pressed\""), "{snapshot}");
    let title = json!({ "function": "() => document.title" });
    let title = call(&server, "browser_evaluate", title).await;
    assert!(title.contains("\"Chosen\""), "{title}");
    let shot = server.call("browser_take_screenshot", json!({})).await;
    assert!(!shot.is_error, "{}", shot.text);
    assert_eq!(shot.images.len(), 1);

    call(&server, "browser_click", json!({ "target": "a" })).await;
    eventually(async || {
        let tabs = call(&server, "browser_tabs", json!({ "action": "list" })).await;
        tabs.contains("/popup").then_some(()).ok_or(tabs)
    })
    .await;
    let new = json!({ "action": "new", "url": site.url("/inner") });
    call(&server, "browser_tabs", new).await;
    eventually(async || user.urls().await.contains(&site.url("/inner"))).await;
    let closing = json!({ "action": "close" });
    call(&server, "browser_tabs", closing).await;
    eventually(async || !user.urls().await.contains(&site.url("/inner"))).await;

    // The tabs of the user remain.
    assert!(server.end().await.success());
    let urls = user.urls().await;
    assert!(urls.contains(&chosen) && urls.contains(&other), "{urls:?}");
    let status = format!("chrome-extension://{}/status.html", UserBrowser::EXTENSION);
    let status = user.open(&status).await;
    let is_free = "!!document.querySelector('#none') && !document.querySelector('#none').hidden && document.querySelector('#token').textContent !== ''";
    eventually(async || user.evaluate(&status, is_free).await == true).await;
}

#[testkit::test(extensions)]
async fn two_servers_have_tabs_of_their_own() {
    let site = Site::start().await;
    let shared = site.add_page("/first", "<title>First</title>");
    let (user, opener) = (UserBrowser::start().await, BrowserOpener::new());
    user.open(&shared).await;
    let (one, two) = (
        launch(&opener, &[]).start().await,
        launch(&opener, &[]).start().await,
    );
    let first = begin(&one).await;
    user.allow(&opener.page().await, Some(&shared)).await;
    first.answer().await.expect("an answer");
    let second = begin(&two).await;
    let page = user.open(&opener.page().await).await;
    // A tab that another server uses is not offered.
    let is_shown = "document.querySelector('#choice')?.hidden === false";
    eventually(async || user.evaluate(&page, is_shown).await == true).await;
    let offered = user
        .evaluate(&page, "document.querySelector('#tabs').textContent")
        .await;
    assert!(!offered.to_string().contains("/first"), "{offered}");
    user.click(&page, "Allow in a new tab", "").await;
    second.answer().await.expect("an answer");
    let url = site.add_page("/second", "<title>Second</title>");
    call(&two, "browser_navigate", json!({ "url": url })).await;
    let list = json!({ "action": "list" });
    let tabs = call(&one, "browser_tabs", list.clone()).await;
    assert!(
        tabs.contains("/first") && !tabs.contains("/second"),
        "{tabs}"
    );
    let tabs = call(&two, "browser_tabs", list.clone()).await;
    assert!(
        !tabs.contains("/first") && tabs.contains("/second"),
        "{tabs}"
    );
    assert!(one.end().await.success());
    let tabs = call(&two, "browser_tabs", list).await;
    assert!(tabs.contains("/second"), "{tabs}");
}

#[testkit::test(extensions)]
async fn a_disconnection_by_the_user_is_reported() {
    let site = Site::start().await;
    let (user, opener) = (UserBrowser::start().await, BrowserOpener::new());
    let server = launch(&opener, &[]).start().await;
    let first = begin(&server).await;
    user.allow(&opener.page().await, None).await;
    first.answer().await.expect("an answer");
    let url = site.add_page("/page", "<title>Page</title>");
    call(&server, "browser_navigate", json!({ "url": url })).await;
    let endless = json!({
        "name": "browser_evaluate",
        "arguments": { "function": "() => fetch('/began').then(() => new Promise(() => {}))" },
    });
    let waiting = server.begin("tools/call", endless).await;
    let began = async || site.requests().iter().any(|sent| sent.target == "/began");
    eventually(began).await;
    let status = format!("chrome-extension://{}/status.html", UserBrowser::EXTENSION);
    let status = user.open(&status).await;
    user.click(&status, "Disconnect", "/page").await;
    let failed = waiting.answer().await.expect("an answer");
    let text = text_of(&failed);
    assert!(text.contains("The user has ended the connection"), "{text}");
    // The page remains, and the next call asks the user again.
    let again = begin(&server).await;
    user.allow(&opener.page().await, Some(&url)).await;
    let again = again.answer().await.expect("an answer");
    assert!(text_of(&again).contains("Page Title: Page"), "{again}");
}

#[testkit::test(extensions)]
async fn a_token_replaces_the_approval() {
    let (user, opener) = (UserBrowser::start().await, BrowserOpener::new());
    let status = format!("chrome-extension://{}/status.html", UserBrowser::EXTENSION);
    let status = user.open(&status).await;
    let token = "document.querySelector('#token')?.textContent || null";
    let token = eventually(async || {
        let token = user.evaluate(&status, token).await;
        token.as_str().map(str::to_owned)
    })
    .await;
    let with_token = |token: &str| {
        launch(&opener, &["--cdp-timeout=5000"]).env("PLAYWRIGHT_MCP_EXTENSION_TOKEN", token)
    };
    let wrong = with_token("wrong").start().await;
    let first = begin(&wrong).await;
    let page = user.open(&opener.page().await).await;
    let refusal = "document.querySelector('#status.error')?.textContent || null";
    let refusal = eventually(async || {
        let refusal = user.evaluate(&page, refusal).await;
        refusal.as_str().map(str::to_owned)
    })
    .await;
    assert!(refusal.contains("token"), "{refusal}");
    let failed = first.answer().await.expect("an answer");
    let text = text_of(&failed);
    assert!(
        text.contains("PLAYWRIGHT_MCP_EXTENSION_TOKEN") && !text.contains("wrong"),
        "{text}"
    );

    let server = with_token(&token).start().await;
    let first = begin(&server).await;
    user.open(&opener.page().await).await;
    let first = first.answer().await.expect("an answer");
    assert!(text_of(&first).contains("about:blank"), "{first}");
}

#[testkit::test]
async fn the_browser_outlives_the_server() {
    for is_killed in [false, true] {
        let opener = BrowserOpener::staying();
        let mut server = launch(&opener, &[]).start().await;
        let _waits = begin(&server).await;
        let (_page, browser) = opener.page_and_process().await;
        if is_killed {
            kill(server.pid().expect("it runs"));
            server.exit_status().await;
        } else {
            server.end().await;
        }
        // The command line of a process that has ended is empty; that of the script is another one until it executes the last command.
        let command = || std::fs::read_to_string(format!("/proc/{browser}/cmdline"));
        eventually(async || command().unwrap_or_default().starts_with("sleep")).await;
        kill(browser);
    }
}

#[testkit::test]
async fn only_the_extension_can_connect() {
    let opener = BrowserOpener::new();
    let server = launch(&opener, &[]).start().await;
    let first = begin(&server).await;
    let relay = relay_of(&opener.page().await);
    assert!(relay.starts_with("ws://127.0.0.1:"), "{relay}");
    let own = format!("chrome-extension://{}", UserBrowser::EXTENSION);
    let connect = async |url: &str, origin: &str| {
        let headers = [("origin", origin), ("user-agent", "Test Chrome/150.0.0.0")];
        WebSocketClient::try_connect(url, "", &headers).await
    };
    // A connection that sends nothing delays no other one.
    let address = relay.trim_start_matches("ws://").split('/').next().unwrap();
    let _silent = tokio::net::TcpStream::connect(address).await.unwrap();
    let guess = format!("ws://{address}/extension/00000000-0000-4000-8000-000000000000");
    assert_eq!(connect(&guess, &own).await.err(), Some(404));
    for origin in [
        "",
        "https://example.com",
        "chrome-extension://mmlmfjhmonkocbjadbfplnigmagldckm",
    ] {
        assert_eq!(connect(&relay, origin).await.err(), Some(403), "{origin}");
    }
    let mut extension = connect(&relay, &own).await.expect("it is allowed");
    extension
        .text(r#"{"method":"extension.initialized","params":[]}"#)
        .await;
    // The next call of the server opens a tab, which this extension cannot.
    let request = extension.next().await.expect("a message");
    assert_eq!(request["method"], "chrome.tabs.create");
    assert!(
        connect(&relay, &own).await.is_err(),
        "there is one connection"
    );
    let refusal = json!({ "id": request["id"], "error": "no tabs today" });
    extension.text(&refusal.to_string()).await;
    let failed = first.answer().await.expect("an answer");
    assert!(text_of(&failed).contains("no tabs today"), "{failed}");
}

#[testkit::test]
async fn an_extension_that_does_not_connect_is_reported_with_the_next_step() {
    let opener = BrowserOpener::new();
    let server = launch(&opener, &["--cdp-timeout=300"]).start().await;
    let failed = server.call("browser_snapshot", json!({})).await;
    assert!(failed.is_error, "{}", failed.text);
    for part in [
        "did not connect within 300ms",
        "click Allow",
        "chromewebstore",
    ] {
        assert!(failed.text.contains(part), "{}", failed.text);
    }
    // The page of that time cannot connect any more; the next call opens another one.
    let old = relay_of(&opener.page().await);
    assert!(WebSocketClient::try_connect(&old, "", &[]).await.is_err());
    let _waits = begin(&server).await;
    assert_ne!(relay_of(&opener.page().await), old);
}

#[testkit::test]
async fn what_tabs_of_the_user_cannot_do_is_refused_before_a_page_opens() {
    let opener = BrowserOpener::new();
    let server = launch(&opener, &["--caps=contexts"]).start().await;
    for (tool, arguments) in [
        ("create_session", json!({})),
        ("create_session", json!({ "browser": "chromium" })),
    ] {
        let refused = server.call(tool, arguments).await;
        assert!(
            refused.text.contains("UNSUPPORTED_BY_BROWSER"),
            "{}",
            refused.text
        );
    }
    assert_eq!(opener.count(), 0);
    let first = begin(&server).await;
    opener.page().await;
    drop(first);
}

#[testkit::test]
async fn a_browser_that_ends_at_once_is_reported() {
    let opener = BrowserOpener::new();
    let program = opener.program();
    std::fs::write(&program, "#!/bin/sh\nexit 3\n").expect("writable");
    let server = launch(&opener, &[]).start().await;
    let failed = server.call("browser_snapshot", json!({})).await;
    let reason = format!(
        "Failed to launch {}: it has ended: exit status: 3",
        program.display()
    );
    assert!(failed.text.contains(&reason), "{}", failed.text);
}
