//! Sessions of different browsers in one server.

use serde_json::{Value, json};
use testkit::{Client, Engine, Site, eventually};

use crate::faults::browsers;
use crate::{server, shared};

/// The browser names in `list_sessions`.
const ENGINES: [(&str, &str); 3] = [
    ("chromium", "Chrome"),
    ("firefox", "Firefox/"),
    ("webkit", "WebKit/"),
];

#[testkit::test(chromium, firefox, webkit)]
async fn sessions_of_different_browsers_live_side_by_side() {
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
    // The default session uses the server's browser, and shares it.
    client.call("browser_navigate", json!({ "url": url })).await;
    let list = client.success("list_sessions", json!({})).await;
    assert_eq!(list["sessions"][0]["browserId"], 1, "{list}");
    // A process that is being started has the command line of the browser itself.
    eventually(async || browsers(&client).len() == ENGINES.len()).await;
    for (id, ..) in &sessions {
        client
            .success("close_session", json!({ "sessionId": id }))
            .await;
    }
}

#[testkit::test(firefox)]
async fn unsupported_features_are_reported_before_a_session_is_created() {
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

#[testkit::test(webkit)]
async fn unsupported_features_of_webkit_are_refused_before_launch() {
    let refused = async |client: &Client, tool: &str, arguments: Value, feature: &str| {
        let answer = client.call(tool, arguments).await;
        let error = &answer.raw["structuredContent"];
        assert_eq!(
            error["errorCode"], "UNSUPPORTED_BY_BROWSER",
            "{}",
            answer.text
        );
        let sentence = format!("{feature} is not supported by WebKit. ");
        assert!(answer.text.contains(&sentence), "{}", answer.text);
        assert!(
            answer.text.contains("--browser=chromium"),
            "{}",
            answer.text
        );
    };
    let client = shared(Engine::Webkit, &[]).await;
    let grant = "async (page) => page.context().grantPermissions(['geolocation'])";
    let grant = json!({ "code": grant });
    let feature = "Granting this permission";
    let reply = client.call("browser_run_code_unsafe", grant).await;
    let sentence = format!("{feature} is not supported by WebKit. ");
    assert!(reply.text.contains(&sentence), "{}", reply.text);

    // Settings of the server apply to all of its sessions, and are rejected for each.
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("config.json");
    let options = json!({ "browser": { "contextOptions": { "permissions": ["geolocation"] } } });
    std::fs::write(&config, options.to_string()).expect("a file");
    let config = config.display().to_string();
    let client = server(&["--browser", "webkit", "--config", &config]).await;
    let go = json!({ "url": "about:blank" });
    refused(&client, "browser_navigate", go, feature).await;
}

#[testkit::test(firefox)]
async fn a_firefox_has_the_preferences_of_the_configuration() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("config.json");
    let preferences =
        json!({ "general.useragent.override": "Own/1", "dom.maxHardwareConcurrency": 3 });
    let options = json!({ "browser": { "launchOptions": { "firefoxUserPrefs": preferences } } });
    std::fs::write(&config, options.to_string()).expect("a file");
    let config = config.display().to_string();
    let client = server(&["--browser", "firefox", "--config", &config]).await;
    let evaluate = json!({ "function": "() => [navigator.userAgent, navigator.hardwareConcurrency <= 3].join()" });
    let answer = client.call("browser_evaluate", evaluate).await;
    assert!(answer.text.contains("Own/1,true"), "{}", answer.text);
}

/// A window of Chromium without a display stays.
#[testkit::test(webkit, nightly(webkit))]
async fn a_page_that_was_opened_for_a_download_is_closed() {
    let site = Site::start().await;
    let page = site.add_page(
        "/",
        "<button onclick=\"window.open('/download?name=a.txt')\">Save</button>\
         <button onclick=\"window.open('about:blank').document.title = 'Kept'\">Open</button>",
    );
    let client = shared(Engine::Webkit, &[]).await;
    client.navigate(&page).await;
    for button in ["Save", "Open"] {
        let target = json!({ "target": format!("getByText('{button}')") });
        client.call("browser_click", target).await;
    }
    eventually(async || {
        let tabs = client
            .call("browser_tabs", json!({ "action": "list" }))
            .await;
        match tabs.result().lines().count() == 2 && tabs.result().contains("[Kept]") {
            true => Ok(()),
            false => Err(tabs.text),
        }
    })
    .await;
    let file = client.workspace().join(".playwright-mcp").join("a.txt");
    eventually(async || file.exists()).await;
}
