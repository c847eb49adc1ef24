//! WebKit: a driver, a browser and a screen of our own for each session, of which nothing may be left.

use serde_json::json;
use testkit::{Client, Processes, Site, webkit_is_there};

use crate::faults::kill;
use crate::{launch, server};

const WEBKIT: [&str; 2] = ["--browser", "webkit"];

fn processes(client: &Client) -> Processes {
    Processes::from(client.pid().expect("it runs"))
}

async fn shown(client: &Client, url: &str) {
    let answer = client.call("browser_navigate", json!({ "url": url })).await;
    assert!(!answer.is_error, "{}", answer.text);
}

#[tokio::test]
async fn nothing_is_left_of_webkit_when_its_server_was_killed() {
    if !webkit_is_there() {
        return;
    }
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Here</title>");
    let mut client = launch(&WEBKIT).start().await;
    shown(&client, &url).await;
    let running = processes(&client);
    for part in ["WebKitWebDriver", "MiniBrowser", "WebKitWebProcess", "Xvfb"] {
        assert!(!running.mentioning(part).is_empty(), "{part}: {running:?}");
    }
    kill(client.pid().expect("it runs"));
    client.exit_status().await;
    running.gone().await;
}

#[tokio::test]
async fn a_webkit_that_dies_takes_its_session_and_nothing_else() {
    if !webkit_is_there() {
        return;
    }
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Here</title><p>here</p>");
    let client = server(&["--browser", "webkit", "--toolsets", "session"]).await;
    let browsers = || processes(&client).mentioning("MiniBrowser");
    let mut sessions = Vec::new();
    for _ in 0..2 {
        let before = browsers();
        let id = client.create_session(json!({})).await;
        let go = json!({ "sessionId": id, "url": url });
        client.success("navigate", go).await;
        let mark = json!({ "sessionId": id, "script": "window.mark = 'kept'" });
        client.success("evaluate", mark).await;
        let mut own = browsers();
        own.retain(|browser| !before.contains(browser));
        sessions.push((id, own));
    }
    let [(dies, own), (lives, others)] = &sessions[..] else {
        panic!("two sessions");
    };
    assert!(!own.is_empty() && !others.is_empty(), "{sessions:?}");
    for browser in own {
        kill(*browser);
    }
    let text = json!({ "sessionId": dies, "selector": "p" });
    let told = client.object("get_text", text.clone()).await;
    assert_eq!(told["errorCode"], "BROWSER_CRASHED", "{told}");
    assert_eq!(told["retryable"], true, "{told}");
    assert_eq!(told["details"]["lostPages"], json!([url]), "{told}");
    let mark = json!({ "sessionId": lives, "script": "window.mark" });
    let kept = client.object("evaluate", mark.clone()).await;
    assert_eq!(kept["result"], "kept", "{kept}");
    // The session that lost its browser has another one, and the other its own still.
    let go = json!({ "sessionId": dies, "url": url });
    let again = client.object("navigate", go).await;
    assert_eq!(again["title"], "Here", "{again}");
    assert_eq!(client.object("get_text", text).await["success"], true);
    let kept = client.object("evaluate", mark).await;
    assert_eq!(kept["result"], "kept", "{kept}");
    assert!(others.iter().all(|browser| browsers().contains(browser)));
    let running = processes(&client);
    for (id, _) in &sessions {
        let close = json!({ "sessionId": id });
        client.success("close_session", close).await;
    }
    assert!(client.end().await.success());
    running.gone().await;
}

#[tokio::test]
async fn nothing_is_left_of_webkit_when_its_server_ends() {
    if !webkit_is_there() {
        return;
    }
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Here</title>");
    let client = server(&WEBKIT).await;
    shown(&client, &url).await;
    let running = processes(&client);
    assert!(client.end().await.success());
    running.gone().await;
}
