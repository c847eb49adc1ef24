//! Sessions of different browsers in one server.

use serde_json::json;
use testkit::{Site, browser_is_there, firefox_is_there, webkit_is_there};

use crate::faults::{browsers, until};
use crate::server;

/// What each name stands for in `list_sessions`.
const ENGINES: [(&str, &str); 3] = [
    ("chromium", "Chrome"),
    ("firefox", "Firefox/"),
    ("webkit", "WebKit/"),
];

#[tokio::test]
async fn sessions_of_different_browsers_live_side_by_side() {
    if !browser_is_there() || !firefox_is_there() || !webkit_is_there() {
        return;
    }
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Here</title><p>here</p>");
    let client = server(&["--toolsets", "browser,session"]).await;
    let mut sessions = Vec::new();
    for (name, product) in ENGINES {
        let session = client
            .success("create_session", json!({ "browser": name }))
            .await;
        let id = session["sessionId"].as_str().expect("an id").to_owned();
        client
            .success("navigate", json!({ "sessionId": id, "url": url }))
            .await;
        let script = format!("document.cookie = 'of={name}'; localStorage.of = '{name}'");
        let evaluate = json!({ "sessionId": id, "script": script });
        client.success("evaluate", evaluate).await;
        sessions.push((id, name, product));
    }
    let list = client.success("list_sessions", json!({})).await;
    for (index, (id, name, product)) in sessions.iter().enumerate() {
        let listed = &list["sessions"][index];
        assert_eq!(listed["id"], *id, "{list}");
        assert_eq!(listed["browserId"], index + 1, "{list}");
        assert!(
            listed["browser"]
                .as_str()
                .is_some_and(|browser| browser.contains(product)),
            "{list}"
        );
        let evaluate = json!({
            "sessionId": id,
            "script": "document.cookie + ' ' + localStorage.of",
        });
        let seen = client.success("evaluate", evaluate).await;
        assert_eq!(seen["result"], format!("of={name} {name}"));
    }
    // The default one is of the server's browser, and shares it.
    client.call("browser_navigate", json!({ "url": url })).await;
    let list = client.success("list_sessions", json!({})).await;
    assert_eq!(list["sessions"][0]["browserId"], 1, "{list}");
    // A process that a browser is about to start looks like the browser itself.
    until("there is one browser of each kind", || {
        browsers(&client).len() == ENGINES.len()
    })
    .await;
    for (id, ..) in &sessions {
        client
            .success("close_session", json!({ "sessionId": id }))
            .await;
    }
}

#[tokio::test]
async fn what_a_browser_cannot_do_is_said_before_there_is_a_session() {
    if !firefox_is_there() {
        return;
    }
    let client = server(&["--toolsets", "session", "--device", "iPhone 15"]).await;
    let refused = client
        .call("create_session", json!({ "browser": "firefox" }))
        .await;
    assert!(refused.is_error);
    let error = &refused.raw["structuredContent"];
    assert_eq!(
        error["errorCode"], "UNSUPPORTED_BY_BROWSER",
        "{}",
        refused.text
    );
    let list = client.success("list_sessions", json!({})).await;
    assert_eq!(list["sessions"], json!([]));
    let unknown = client
        .call("create_session", json!({ "browser": "mosaic" }))
        .await;
    assert!(
        unknown.is_error && unknown.text.contains("firefox"),
        "{}",
        unknown.text
    );
}

#[tokio::test]
async fn a_firefox_has_the_preferences_of_the_configuration() {
    if !firefox_is_there() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("config.json");
    let preferences =
        json!({ "general.useragent.override": "Own/1", "dom.maxHardwareConcurrency": 3 });
    let options = json!({ "browser": { "launchOptions": { "firefoxUserPrefs": preferences } } });
    std::fs::write(&config, options.to_string()).expect("a file");
    let config = config.display().to_string();
    let client = server(&["--browser", "firefox", "--config", &config]).await;
    let evaluate = json!({ "function": "() => [navigator.userAgent, navigator.hardwareConcurrency <= 3].join()" });
    let told = client.call("browser_evaluate", evaluate).await;
    assert!(told.text.contains("Own/1,true"), "{}", told.text);
}
