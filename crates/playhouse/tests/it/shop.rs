//! The example shop from the perspective of an agent.

use serde_json::json;
use testkit::{Engine, Site};

use crate::{server, shared};

#[testkit::test(chromium)]
async fn signing_in_needs_the_right_password() {
    let (site, client) = (Site::start().await, shared(Engine::Chromium, &[]).await);
    client.navigate(&site.url("/shop/login.html")).await;
    for (password, page) in [
        ("babbage", "/shop/login.html?wrong"),
        ("lovelace", "/shop/account.html"),
    ] {
        client
            .call(
                "browser_type",
                json!({ "target": "getByLabel('Email')", "text": "ada@example.com" }),
            )
            .await;
        client
            .call(
                "browser_type",
                json!({ "target": "getByLabel('Password')", "text": password }),
            )
            .await;
        let answer = client
            .call(
                "browser_click",
                json!({ "target": "main button[type=submit]" }),
            )
            .await;
        let url = format!("- Page URL: {}", site.url(page));
        assert!(
            answer
                .section("Page")
                .is_some_and(|lines| lines.contains(&url)),
            "{}",
            answer.text
        );
    }
    let welcome = client
        .call("browser_wait_for", json!({ "text": "Welcome back, Ada." }))
        .await;
    assert!(!welcome.is_error, "{}", welcome.text);
}

#[testkit::test(chromium)]
async fn the_browser_exits_with_a_killed_server() {
    let (site, mut client) = (Site::start().await, server(&[]).await);
    let page = site.add_page(
        "/",
        "<script>new WebSocket(`ws://${location.host}/presence`)</script>",
    );
    client.navigate(&page).await;
    site.listeners(1).await;
    client.kill().await;
    site.listeners(0).await;
}
