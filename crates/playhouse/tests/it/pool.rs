//! The browser pool: the assignment of sessions, the effect of a crash, and the close of idle browsers.

use serde_json::json;
use std::collections::BTreeMap;
use testkit::{Client, Engine, Site, eventually};

use crate::faults::{browsers, kill};
use crate::server;
use crate::sessions::until_listed;

/// Returns the sessions of each browser.
async fn by_browser(client: &Client) -> BTreeMap<u64, Vec<String>> {
    let list = client.object("list_sessions", json!({})).await;
    let mut homes: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for session in list["sessions"].as_array().expect("a list") {
        let browser = session["browserId"].as_u64().expect("a browser");
        let id = session["id"].as_str().expect("an id").to_owned();
        homes.entry(browser).or_default().push(id);
    }
    homes
}

#[testkit::test(chromium)]
async fn a_crashed_browser_affects_only_its_own_sessions_and_is_replaced() {
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Here</title><p>here</p>");
    let client = server(&[
        "--toolsets",
        "session",
        "--min-browsers",
        "2",
        "--max-browsers",
        "2",
    ])
    .await;
    // They are launched in advance.
    eventually(async || browsers(&client).len() == 2).await;
    for _ in 0..5 {
        let id = client.create_session(json!({})).await;
        client
            .object("navigate", json!({ "sessionId": id, "url": url }))
            .await;
        let rule = json!({ "sessionId": id, "url": "**/none" });
        client.object("block_resource", rule).await;
        let cut = json!({ "sessionId": id, "offline": true });
        client.object("set_offline", cut).await;
    }
    let homes = by_browser(&client).await;
    let mut sizes: Vec<_> = homes.values().map(Vec::len).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [2, 3], "{homes:?}");

    let running = browsers(&client);
    let dead = running[0];
    kill(dead);
    let mut lost = Vec::new();
    for id in homes.values().flatten() {
        let text = json!({ "sessionId": id, "selector": "p" });
        let answer = client.object("get_text", text.clone()).await;
        if answer["success"] == true {
            continue;
        }
        assert_eq!(
            (&answer["errorCode"], &answer["retryable"]),
            (&"BROWSER_CRASHED".into(), &true.into()),
            "{answer}"
        );
        assert_eq!(
            (&answer["sessionId"], &answer["details"]["lostPages"]),
            (&id.as_str().into(), &json!([url]))
        );
        assert_eq!(
            answer["details"]["lost"],
            json!(["cookies", "storage", "offline", "rules"])
        );
        lost.push(id.clone());
        // The session continues in a working browser.
        let again = client
            .object("navigate", json!({ "sessionId": id, "url": url }))
            .await;
        assert_eq!(again["title"], "Here", "{again}");
        assert_eq!(client.object("get_text", text).await["success"], true);
    }
    assert!(
        homes.values().any(|sessions| *sessions == lost),
        "{lost:?} of {homes:?}"
    );
    eventually(async || {
        let now = browsers(&client);
        now.len() == 2 && !now.contains(&dead)
    })
    .await;
}

#[testkit::test(chromium)]
async fn an_idle_browser_is_closed() {
    let client = server(&[
        "--toolsets",
        "session",
        "--max-browsers",
        "3",
        "--pool-idle-timeout",
        "1",
    ])
    .await;
    let (one, other) = (
        client.create_session(json!({})).await,
        client.create_session(json!({})).await,
    );
    assert_eq!(by_browser(&client).await.len(), 2);
    client
        .object("close_session", json!({ "sessionId": one }))
        .await;
    eventually(async || browsers(&client).len() == 1).await;
    let third = client.create_session(json!({})).await;
    let homes = by_browser(&client).await;
    assert_eq!(homes.values().flatten().count(), 2);
    for id in [other, third] {
        client
            .object("close_session", json!({ "sessionId": id }))
            .await;
    }
    eventually(async || browsers(&client).is_empty()).await;
    client.create_session(json!({})).await;
}

#[testkit::test(chromium)]
async fn the_browser_stays_when_the_last_session_is_over() {
    let client = server(&["--toolsets", "session"]).await;
    let id = client.create_session(json!({})).await;
    let running = browsers(&client);
    assert_eq!(running.len(), 1);
    client
        .object("close_session", json!({ "sessionId": id }))
        .await;
    assert_eq!(browsers(&client), running);
    client
        .object("create_session", json!({ "timeout": 1 }))
        .await;
    until_listed(&client, 0).await;
    client.create_session(json!({})).await;
    assert_eq!(browsers(&client), running);
}

#[testkit::test(chromium)]
async fn a_browser_is_idle_too_when_no_session_could_begin_in_it() {
    let client = server(&["--toolsets", "session", "--pool-idle-timeout", "1"]).await;
    // The browser detects the error after the context was created.
    let cookie = json!({ "name": "a;b", "value": "1", "domain": "a.test", "path": "/" });
    let state = json!({ "cookies": [cookie], "origins": [] });
    let path = client.workspace().join("state.json");
    std::fs::write(path, state.to_string()).expect("writable");
    let refused = json!({ "storageState": "state.json" });
    let refused = client.object("create_session", refused).await;
    assert_eq!(refused["errorCode"], "BROWSER_ERROR", "{refused}");
    eventually(async || browsers(&client).is_empty()).await;
    client.create_session(json!({})).await;
}

#[testkit::test(chromium)]
async fn a_failed_session_does_not_affect_its_browser() {
    let client = server(&["--toolsets", "session"]).await;
    let first = client.create_session(json!({})).await;
    client
        .object("close_session", json!({ "sessionId": first }))
        .await;
    let running = browsers(&client);
    assert_eq!(running.len(), 1);
    let mars = json!({ "timezone": "Mars/Base" });
    let refused = client.object("create_session", mars).await;
    assert_eq!(refused["errorCode"], "INVALID_PARAMETERS", "{refused}");
    client.create_session(json!({})).await;
    assert_eq!(browsers(&client), running);
}

#[testkit::test(chromium)]
async fn a_browser_that_does_not_start_is_tried_again() {
    let browser = Engine::Chromium.executable();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = folder.path().join("browser");
    let text = format!(
        "#!/bin/sh\nmkdir \"$0.tried\" 2>/dev/null && exit 1\nexec {} \"$@\"\n",
        browser.display()
    );
    std::fs::write(&script, text).expect("it can be written");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, executable).expect("it is ours");
    let path = script.to_str().expect("a plain path");
    let client = server(&[
        "--toolsets",
        "session",
        "--executable-path",
        path,
        "--min-browsers",
        "1",
    ])
    .await;
    eventually(async || !browsers(&client).is_empty()).await;
    assert!(folder.path().join("browser.tried").exists());
}

#[testkit::test(chromium)]
async fn a_browser_that_a_session_started_is_replaced_like_any_other() {
    let client = server(&["--toolsets", "session", "--min-browsers", "1"]).await;
    let id = client.create_session(json!({})).await;
    let first = browsers(&client);
    kill(first[0]);
    // The first of these reports the loss, the next gets another browser.
    let blank = json!({ "sessionId": id, "url": "about:blank" });
    client.object("navigate", blank.clone()).await;
    client.object("navigate", blank).await;
    let second = browsers(&client);
    assert!(!second.contains(&first[0]));
    for browser in &second {
        kill(*browser);
    }
    eventually(async || {
        let now = browsers(&client);
        now.len() == 1 && !second.contains(&now[0])
    })
    .await;
}
