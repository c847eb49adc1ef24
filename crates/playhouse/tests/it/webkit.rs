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
