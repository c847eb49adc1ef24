//! Created sessions: isolation, concurrency, and expiry.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use testkit::{Client, Engine, RemoteBrowser, Resource, Site, eventually};

use crate::faults::kill_pages;
use crate::{fake_server, server, server_on, shared};

async fn object(client: &Client, tool: &str, arguments: Value) -> Value {
    let answer = client.call(tool, arguments).await;
    let reply = answer.raw["structuredContent"].clone();
    assert_eq!(
        serde_json::from_str::<Value>(&answer.text).ok(),
        Some(reply.clone())
    );
    reply
}

async fn created(client: &Client) -> String {
    let session = object(client, "create_session", json!({})).await;
    session["sessionId"]
        .as_str()
        .unwrap_or_else(|| panic!("{session}"))
        .to_owned()
}

/// Waits until at most so many sessions are listed.
pub(crate) async fn until_listed(client: &Client, count: usize) {
    eventually(async || {
        let list = object(client, "list_sessions", json!({})).await;
        let sessions = list["sessions"].as_array().map(Vec::len);
        (sessions == Some(count)).then_some(()).ok_or(list)
    })
    .await;
}

#[testkit::test(chromium)]
async fn a_closed_session_leaves_no_data_in_the_browser() {
    let mut browser = RemoteBrowser::start().await;
    let endpoint = browser.http();
    let args = ["--toolsets", "session", "--cdp-endpoint", &endpoint];
    let client = server(&args).await;
    let before = browser.contexts().await;
    let (stays, goes) = (created(&client).await, created(&client).await);
    assert_eq!(browser.contexts().await, before + 2);
    object(&client, "close_session", json!({ "sessionId": goes })).await;
    assert_eq!(browser.contexts().await, before + 1);
    // One that expires during a call, and one that is never used.
    let short = object(&client, "create_session", json!({ "timeout": 2_000 })).await;
    let used = json!({ "sessionId": short["sessionId"], "script": "1" });
    object(&client, "evaluate", used).await;
    object(&client, "create_session", json!({ "timeout": 1 })).await;
    until_listed(&client, 1).await;
    eventually(async || browser.contexts().await == before + 1).await;
    // The browser remains available for other and new sessions.
    let script = json!({ "sessionId": stays, "script": "1" });
    let answer = object(&client, "evaluate", script).await;
    assert_eq!(answer["result"], 1, "{answer}");
    object(&client, "close_session", json!({ "sessionId": stays })).await;
    assert_eq!(browser.contexts().await, before);
    created(&client).await;
    assert_eq!(browser.contexts().await, before + 1);
    assert!(browser.is_running());
}

#[testkit::test]
async fn the_default_limits_are_ten_sessions_and_five_minutes() {
    let client = fake_server(&["--toolsets", "session"]).await;
    for _ in 0..10 {
        let session = object(&client, "create_session", json!({})).await;
        let times = session["expiresAt"].as_u64();
        let times = times.zip(session["createdAt"].as_u64());
        let lifetime = times.map(|(end, start)| end - start);
        assert_eq!(lifetime, Some(300_000), "{session}");
    }
    let answer = object(&client, "create_session", json!({})).await;
    assert_eq!(
        (&answer["errorCode"], &answer["details"]["maxSessions"]),
        (&"MAX_SESSIONS_REACHED".into(), &10.into()),
        "{answer}"
    );
}

#[testkit::test(chromium)]
async fn a_session_begins_with_all_that_another_has_saved() {
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Here</title>");
    let client = server(&["--toolsets", "session"]).await;
    object(&client, "navigate", json!({ "url": url })).await;
    let store = "document.cookie = 'a=1'; localStorage.a = 1; sessionStorage.a = 2; return new Promise((done) => { const open = indexedDB.open('a'); open.onupgradeneeded = () => open.result.createObjectStore('s').put('kept', 1); open.onsuccess = () => { open.result.close(); done(1); }; })";
    let stored = object(&client, "evaluate", json!({ "script": store })).await;
    assert_eq!(stored["result"], 1, "{stored}");
    object(&client, "save_state", json!({ "path": "state.json" })).await;
    let with = json!({ "storageState": "state.json" });
    let id = object(&client, "create_session", with).await["sessionId"].clone();
    let to = json!({ "sessionId": id, "url": url });
    object(&client, "navigate", to).await;
    let look = "async () => { const open = indexedDB.open('a'); await new Promise((done) => { open.onsuccess = done; }); const found = open.result.transaction('s').objectStore('s').get(1); await new Promise((done) => { found.onsuccess = done; }); return [document.cookie, localStorage.a, sessionStorage.a, found.result]; }";
    let seen = json!({ "sessionId": id, "script": look });
    let seen = object(&client, "evaluate", seen).await;
    assert_eq!(seen["result"], json!(["a=1", "1", "2", "kept"]), "{seen}");
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn sessions_share_only_a_browser(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Here</title>");
    let client = server_on(engine, &["--toolsets", "session"]).await;
    let (one, other) = (created(&client).await, created(&client).await);
    for id in [&one, &other] {
        let arrived = object(&client, "navigate", json!({ "sessionId": id, "url": url })).await;
        assert_eq!(
            (&arrived["title"], &arrived["status"]),
            (&"Here".into(), &200.into())
        );
    }
    let store = "document.cookie = 'a=1'; localStorage.a = 1; sessionStorage.a = 1; return new Promise((done) => { indexedDB.open('a').onsuccess = done; }).then(() => 1)";
    let stored = object(
        &client,
        "evaluate",
        json!({ "sessionId": one, "script": store }),
    )
    .await;
    assert_eq!(stored["result"], 1, "{stored}");
    let look = "async () => [document.cookie, localStorage.length, sessionStorage.length, (await indexedDB.databases()).length]";
    let look = |id: &str| json!({ "sessionId": id, "script": look });
    let seen = object(&client, "evaluate", look(&one)).await;
    assert_eq!(seen["result"], json!(["a=1", 1, 1, 1]));
    let seen = object(&client, "evaluate", look(&other)).await;
    assert_eq!(seen["result"], json!(["", 0, 0, 0]));
    let list = object(&client, "list_sessions", json!({})).await;
    let listed = list["sessions"].as_array().expect("a list");
    let ids: Vec<_> = listed
        .iter()
        .map(|session| session["id"].as_str())
        .collect();
    assert_eq!(ids, [Some(one.as_str()), Some(other.as_str())]);
    let closed = object(&client, "close_session", json!({ "sessionId": one })).await;
    assert_eq!(closed["success"], true);
    for (tool, more) in [
        ("close_session", json!({})),
        ("click", json!({ "selector": "a" })),
    ] {
        let mut arguments = more;
        arguments["sessionId"] = one.as_str().into();
        let answer = object(&client, tool, arguments).await;
        assert_eq!(
            (&answer["errorCode"], &answer["sessionId"]),
            (&"SESSION_NOT_FOUND".into(), &one.as_str().into())
        );
    }
    let still = object(&client, "evaluate", look(&other)).await;
    assert_eq!(still["success"], true, "{still}");
}

#[testkit::test(
    chromium,
    firefox,
    not(webkit = "the browser asks its user for passwords and permissions"),
    nightly(firefox)
)]
async fn browser_data_of_one_session_is_not_visible_to_others(engine: Engine) {
    let site = Site::start().await;
    let kept = testkit::Resource::html("kept").header("cache-control", "max-age=3600");
    site.add("/kept", kept);
    let url = site.add_page("/", "<title>Here</title>");
    let client = server_on(engine, &["--toolsets", "browser,session"]).await;
    let (one, other) = (created(&client).await, created(&client).await);
    let go = async |id: &str, url: &str| {
        let go = json!({ "sessionId": id, "url": url });
        let arrived = object(&client, "navigate", go).await;
        arrived["status"].as_u64()
    };
    let evaluated = async |id: &str, script: &str| {
        let script = json!({ "sessionId": id, "script": script });
        object(&client, "evaluate", script).await["result"].clone()
    };

    // User names and passwords.
    let door = site.url("/auth/basic");
    let key = door.replacen("http://", "http://user:secret@", 1);
    assert_eq!(go(&one, &key).await, Some(200));
    assert_eq!(go(&one, &door).await, Some(200));
    assert_eq!(go(&other, &door).await, Some(401));

    // The cache.
    let asked = || {
        let asked = site.requests();
        asked
            .iter()
            .filter(|request| request.target == "/kept")
            .count()
    };
    let load = "() => fetch('/kept').then((response) => response.text())";
    for (id, requests) in [(&one, 1), (&one, 1), (&other, 2)] {
        go(id, &url).await;
        assert_eq!(evaluated(id, load).await, "kept");
        assert_eq!(asked(), requests);
    }

    // Permissions.
    let grant = "async (page) => page.context().grantPermissions(['geolocation'])";
    let grant = json!({ "sessionId": one, "code": grant });
    let granted = client.call("browser_run_code_unsafe", grant).await;
    assert!(!granted.is_error, "{}", granted.text);
    let ask =
        "() => navigator.permissions.query({ name: 'geolocation' }).then((answer) => answer.state)";
    assert_eq!(evaluated(&one, ask).await, "granted");
    assert_ne!(evaluated(&other, ask).await, "granted");
}

#[testkit::test]
async fn there_are_no_more_sessions_than_there_may_be() {
    let client = fake_server(&["--toolsets", "session", "--max-sessions", "3"]).await;
    let mut pending = Vec::new();
    for _ in 0..6 {
        let call = json!({ "name": "create_session", "arguments": {} });
        pending.push(client.begin("tools/call", call).await);
    }
    let (mut ids, mut refused) = (BTreeSet::new(), 0);
    for answer in pending {
        let reply = answer.answer().await.expect("an answer")["structuredContent"].clone();
        match reply["sessionId"].as_str() {
            Some(id) => assert!(ids.insert(id.to_owned()), "{id} twice"),
            None => {
                assert_eq!(reply["errorCode"], "MAX_SESSIONS_REACHED");
                refused += 1;
            }
        }
    }
    assert_eq!((ids.len(), refused), (3, 3));
    let first = ids.first().expect("three");
    object(&client, "close_session", json!({ "sessionId": first })).await;
    created(&client).await;
}

#[testkit::test]
async fn an_unused_session_expires() {
    let client = fake_server(&["--toolsets", "session"]).await;
    let session = object(&client, "create_session", json!({ "timeout": 1 })).await;
    let lifetime = session["expiresAt"]
        .as_u64()
        .zip(session["createdAt"].as_u64());
    assert!(
        lifetime.is_some_and(|(end, start)| end >= start),
        "{session}"
    );
    let id = &session["sessionId"];
    until_listed(&client, 0).await;
    let answer = object(
        &client,
        "get_text",
        json!({ "sessionId": id, "selector": "body" }),
    )
    .await;
    assert_eq!(
        (&answer["errorCode"], &answer["sessionId"]),
        (&"SESSION_EXPIRED".into(), id)
    );
}

#[testkit::test]
async fn a_session_does_not_wait_for_another() {
    let client = fake_server(&["--toolsets", "session"]).await;
    let (one, other) = (created(&client).await, created(&client).await);
    let waits = json!({ "sessionId": one, "selector": "#never", "timeout": 600_000 });
    let call = json!({ "name": "wait_for_selector", "arguments": waits });
    let waiting = client.begin("tools/call", call).await;
    let answer = object(
        &client,
        "evaluate",
        json!({ "sessionId": other, "script": "1 + 1" }),
    )
    .await;
    assert_eq!(answer["result"], 2);
    drop(waiting);
}

#[testkit::test(chromium)]
async fn a_session_has_what_it_was_created_with() {
    let client = server(&["--toolsets", "session"]).await;
    let options = json!({ "userAgent": "Tester/1", "viewport": { "width": 640, "height": 480 }, "locale": "de-DE", "timezone": "Asia/Tokyo" });
    let session = object(&client, "create_session", options).await;
    let script = "[navigator.userAgent, innerWidth, innerHeight, navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone]";
    let seen = json!({ "sessionId": session["sessionId"], "script": script });
    let seen = object(&client, "evaluate", seen).await;
    assert_eq!(
        seen["result"],
        json!(["Tester/1", 640, 480, "de-DE", "Asia/Tokyo"])
    );
}

#[testkit::test]
async fn browser_tools_can_name_a_session_and_need_to_where_there_is_no_default_one() {
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Mine</title>");
    let client = fake_server(&["--toolsets", "browser,session", "--require-session"]).await;
    let refused = client.call("browser_navigate", json!({ "url": url })).await;
    assert_eq!(
        refused.raw["structuredContent"]["errorCode"],
        "INVALID_PARAMETERS"
    );
    let default = json!({ "url": url, "sessionId": "default" });
    let refused = client.call("browser_navigate", default).await;
    let answer = &refused.raw["structuredContent"];
    assert_eq!(answer["errorCode"], "INVALID_PARAMETERS");
    assert_eq!(answer["details"]["missing"], json!(["sessionId"]));
    for tool in client.list_tools().await {
        let schema = &tool["inputSchema"];
        let takes = schema["properties"].get("sessionId").is_some();
        let required = schema["required"].as_array().into_iter().flatten();
        assert!(
            !takes || required.into_iter().any(|name| name == "sessionId"),
            "{tool}"
        );
    }
    let id = created(&client).await;
    let arrived = client
        .call("browser_navigate", json!({ "url": url, "sessionId": id }))
        .await;
    assert!(
        arrived.text.contains("Page Title: Mine"),
        "{}",
        arrived.text
    );
    let list = object(&client, "list_sessions", json!({})).await;
    assert_eq!(list["sessions"][0]["title"], "Mine");
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_page_in_an_endless_loop_can_be_left(engine: Engine) {
    let site = Site::start().await;
    let endless = site.add_page(
        "/endless",
        "<script>setTimeout(() => { for (;;); }, 100)</script>",
    );
    let fine = site.add_page("/fine", "<title>Fine</title>");
    let client = server_on(engine, &["--toolsets", "session"]).await;
    let id = created(&client).await;
    let go = |url: &str| json!({ "sessionId": id, "url": url });
    object(&client, "navigate", go(&endless)).await;
    let arrived = object(&client, "navigate", go(&fine)).await;
    assert_eq!(arrived["title"], "Fine", "{arrived}");
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox))]
async fn a_page_in_an_endless_loop_holds_up_no_other_session(engine: Engine) {
    let site = Site::start().await;
    let stuck = "<script>(async () => {
        while (!(await fetch('/busy')).ok) await new Promise(done => setTimeout(done, 50));
        for (;;);
    })()</script>";
    let stuck = site.add_page("/stuck", stuck);
    site.add_page("/fine", "<title>Fine</title><p>Here</p>");
    // Of another site, which has a process of its own.
    let fine = format!("{}/fine", site.cross_origin_url());
    let client = server_on(engine, &["--toolsets", "session"]).await;
    let (busy, other) = (created(&client).await, created(&client).await);
    let go = |id: &str, url: &str| json!({ "sessionId": id, "url": url });
    object(&client, "navigate", go(&busy, &stuck)).await;
    eventually(async || site.requests().iter().any(|sent| sent.target == "/busy")).await;
    for _ in 0..3 {
        let arrived = object(&client, "navigate", go(&other, &fine)).await;
        assert_eq!(arrived["title"], "Fine", "{arrived}");
        let asked = json!({ "sessionId": other, "selector": "p" });
        let seen = object(&client, "get_text", asked).await;
        assert_eq!(seen["text"], "Here", "{seen}");
    }
}

#[testkit::test(chromium)]
async fn a_state_is_restored_though_the_page_is_in_an_endless_loop() {
    let site = Site::start().await;
    let stuck = "<script>(async () => {
        while (!(await fetch('/busy')).ok) await new Promise(done => setTimeout(done, 50));
        for (;;);
    })()</script>";
    let stuck = site.add_page("/stuck", stuck);
    let fine = site.add_page("/fine", "<title>Fine</title>");
    let client = server(&["--toolsets", "session"]).await;
    object(&client, "navigate", json!({ "url": stuck })).await;
    let before = site.requests().len();
    site.add_page("/busy", "");
    eventually(async || site.requests().len() > before).await;
    let kept =
        json!({ "origin": site.url("/"), "localStorage": [{ "name": "a", "value": "kept" }] });
    let state = json!({ "state": { "origins": [kept] } });
    let restored = object(&client, "restore_state", state).await;
    assert_eq!(restored["success"], true, "{restored}");
    object(&client, "navigate", json!({ "url": fine })).await;
    let found = object(&client, "evaluate", json!({ "script": "localStorage.a" })).await;
    assert_eq!(found["result"], "kept", "{found}");
}

#[testkit::test]
async fn closing_a_session_cancels_what_is_under_way_and_later_calls_find_it_gone() {
    let client = fake_server(&["--toolsets", "browser,session"]).await;
    let id = created(&client).await;
    let begun = async |tool: &str, arguments: Value| {
        let call = json!({ "name": tool, "arguments": arguments });
        client.begin("tools/call", call).await
    };
    let waits = json!({ "sessionId": id, "selector": "#never", "timeout": 600_000 });
    let holds = begun("wait_for_selector", waits).await;
    let close = begun("close_session", json!({ "sessionId": id })).await;
    let mut late = Vec::new();
    for (tool, arguments) in [
        ("browser_context_create", json!({ "name": "late" })),
        ("browser_context_list", json!({})),
        ("browser_tabs", json!({ "action": "list" })),
    ] {
        let mut arguments = arguments;
        arguments["sessionId"] = id.as_str().into();
        late.push(begun(tool, arguments).await);
    }
    // It arrives after them, so they are waiting by now.
    object(&client, "list_sessions", json!({})).await;
    let held = holds.answer().await.expect("an answer");
    let reply = &held["structuredContent"];
    assert_eq!(reply["errorCode"], "CANCELLED", "{reply}");
    assert_eq!(reply["sessionId"], id, "{reply}");
    let closed = close.answer().await.expect("an answer");
    assert_eq!(closed["structuredContent"]["success"], true, "{closed}");
    for late in late {
        let reply = late.answer().await.expect("an answer");
        assert_eq!(
            reply["structuredContent"]["errorCode"], "SESSION_NOT_FOUND",
            "{reply}"
        );
    }
}

#[testkit::test(chromium)]
async fn an_invalid_setting_is_reported_by_its_parameter() {
    let client = server(&["--toolsets", "session"]).await;
    let id = created(&client).await;
    let huge = json!({ "width": 5e9, "height": 1 });
    for (tool, arguments, parameter) in [
        (
            "create_session",
            json!({ "timezone": "Mars/Base" }),
            "timezone",
        ),
        ("create_session", json!({ "locale": "n o n e" }), "locale"),
        (
            "create_session",
            json!({ "viewport": huge }),
            "viewport.width",
        ),
        ("create_session", json!({ "timeout": 1e15 }), "timeout"),
        (
            "get_text",
            json!({ "selector": "body", "timeout": 1e22, "sessionId": id }),
            "timeout",
        ),
    ] {
        let answer = object(&client, tool, arguments).await;
        assert_eq!(
            (
                &answer["errorCode"],
                &answer["details"]["problems"][0]["parameter"]
            ),
            (&"INVALID_PARAMETERS".into(), &parameter.into()),
            "{answer}"
        );
    }
}

#[testkit::test(chromium)]
async fn a_page_that_crashed_between_two_calls_is_reported_once_and_replaced() {
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Here</title><p>here</p>");
    let client = server(&["--toolsets", "session"]).await;
    let go = json!({ "url": url });
    let text = json!({ "selector": "p" });
    for tool in ["get_text", "navigate", "evaluate"] {
        assert_eq!(
            object(&client, "navigate", go.clone()).await["title"],
            "Here"
        );
        kill_pages(&client);
        let arguments = match tool {
            "navigate" => go.clone(),
            "evaluate" => json!({ "script": "document.title" }),
            _ => text.clone(),
        };
        let answer = object(&client, tool, arguments).await;
        assert_eq!(answer["errorCode"], "BROWSER_CRASHED", "{answer}");
        assert_eq!(answer["retryable"], true, "{answer}");
        assert_eq!(answer["details"]["lostPages"], json!([url]), "{answer}");
        assert_eq!(
            answer["details"]["lost"],
            json!(["sessionStorage", "history"])
        );
        // It works again, with a new page.
        let now = object(&client, "evaluate", json!({ "script": "location.href" })).await;
        assert_eq!(now["result"], "about:blank", "{now}");
    }
}

#[testkit::test(chromium, firefox, webkit)]
async fn a_call_for_a_tab_that_closed_since_the_last_answer_does_nothing(engine: Engine) {
    let site = Site::start().await;
    let opener = site.add_page(
        "/",
        "<title>Opener</title><button onclick=\"window.open('/popup')\">Go</button>",
    );
    let popup = site.add_page(
        "/popup",
        "<button onclick='setTimeout(() => window.close(), 2000)'>Go</button>",
    );
    let flags = ["--answers", "compact", "--timeout-settle", "100"];
    let client = shared(engine, &flags).await;
    let go = json!({ "target": "getByRole('button')" });
    client.navigate(&opener).await;
    client.call("browser_click", go.clone()).await;
    let popup_tab = json!({ "action": "select", "index": 1 });
    client.call("browser_tabs", popup_tab).await;
    client.call("browser_click", go.clone()).await;
    let popups = || {
        let requests = site.requests().into_iter();
        requests.filter(|it| it.target == "/popup").count()
    };
    tokio::time::sleep(Duration::from_secs(3)).await;
    let gone = client.call("browser_click", go.clone()).await;
    let expected = format!(
        "The tab with {popup} has closed; nothing was done. The current tab is 0: {opener}"
    );
    assert!(
        gone.is_error && gone.text.contains(&expected),
        "{}",
        gone.text
    );
    assert_eq!(popups(), 1, "the click reached the other tab");
    let clicked = client.call("browser_click", go).await;
    assert!(!clicked.is_error, "{}", clicked.text);
    assert_eq!(popups(), 2);
}

#[testkit::test(chromium)]
async fn a_page_that_crashes_during_a_navigation_is_reported_once_and_replaced() {
    let site = Site::start().await;
    let slow = Resource::new("text/javascript", "1").delay(Duration::from_secs(600));
    site.add("/slow.js", slow);
    let url = site.add_page("/", "<title>Here</title><script src=/slow.js></script>");
    let client = server(&["--toolsets", "browser,session"]).await;
    for tool in ["navigate", "browser_navigate"] {
        let asked = || {
            let requests = site.requests();
            requests
                .iter()
                .filter(|one| one.target == "/slow.js")
                .count()
        };
        let before = asked();
        let params = json!({ "name": tool, "arguments": { "url": url } });
        let pending = client.begin("tools/call", params).await;
        eventually(async || asked() > before).await;
        kill_pages(&client);
        let reply = pending.answer().await.expect("an answer");
        let reply = &reply["structuredContent"];
        assert_eq!(reply["errorCode"], "BROWSER_CRASHED", "{tool}: {reply}");
        let now = client
            .success("evaluate", json!({ "script": "location.href" }))
            .await;
        assert_eq!(now["result"], "about:blank", "{tool}: {now}");
    }
}

#[testkit::test]
async fn every_error_names_the_session_that_the_call_named() {
    let client = fake_server(&["--toolsets", "browser,session", "--tools=-get_value"]).await;
    let named = json!({ "name": "buyer" });
    object(&client, "create_session", named).await;
    for (tool, arguments) in [
        ("browser_click", json!({ "target": "e99" })),
        ("browser_click", json!({})),
        ("browser_navigate", json!({ "url": "chrome://version" })),
        ("click", json!({ "selector": "#x", "timeout": "soon" })),
        ("get_value", json!({ "selector": "#x" })),
        ("browser_pdf_save", json!({})),
    ] {
        let mut arguments = arguments;
        arguments["sessionId"] = "buyer".into();
        let failed = client.call(tool, arguments).await;
        let answer = &failed.raw["structuredContent"];
        assert!(failed.is_error, "{tool}: {}", failed.text);
        assert_eq!(answer["sessionId"], "buyer", "{tool}: {answer}");
    }
    let lost = json!({ "target": "e99", "sessionId": null });
    let lost = client.call("browser_click", lost).await;
    let answer = &lost.raw["structuredContent"];
    assert_eq!(answer["errorCode"], "INVALID_PARAMETERS", "{answer}");
}

#[testkit::test]
async fn named_contexts_count_as_sessions_do_and_a_session_lives_no_longer_than_the_server_allows()
{
    let flags = ["--max-sessions=2", "--session-timeout=600000"];
    let client = fake_server(&flags).await;
    let long = json!({ "name": "long", "timeout": 2_592_000_000_u64 });
    let created = object(&client, "create_session", long).await;
    let lives = |created: &Value| {
        let at = |name: &str| created[name].as_u64();
        Some(at("expiresAt")? - at("createdAt")?)
    };
    assert_eq!(lives(&created), Some(600_000), "{created}");
    let in_session = json!({ "sessionId": "long", "name": "inner" });
    let inner = client.call("browser_context_create", in_session).await;
    assert!(!inner.is_error, "{}", inner.text);
    for (tool, arguments) in [
        ("browser_context_create", json!({ "name": "more" })),
        ("create_session", json!({})),
    ] {
        let full = client.call(tool, arguments).await;
        let answer = &full.raw["structuredContent"];
        assert_eq!(
            answer["errorCode"], "MAX_SESSIONS_REACHED",
            "{tool}: {answer}"
        );
    }
    object(&client, "close_session", json!({ "sessionId": "long" })).await;
    let more = client.call("browser_context_create", json!({ "name": "more" }));
    assert!(!more.await.is_error);
    let for_ever = server(&["--session-timeout=0"]).await;
    let created = object(&for_ever, "create_session", json!({})).await;
    assert_eq!(created["success"], true, "{created}");
    assert_eq!(created.get("expiresAt"), None, "{created}");
    let again = json!({ "sessionId": created["sessionId"], "url": "about:blank" });
    let alive = object(&for_ever, "navigate", again).await;
    assert_eq!(alive["success"], true, "{alive}");
}
