//! What the dashboard shows of a session.

use super::{Dashboard, FIELD};
use crate::evaluated;
use serde_json::json;
use testkit::{Engine, Site};

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn the_dashboard_shows_sessions_calls_and_the_page(engine: Engine) {
    let site = Site::start().await;
    site.add(
        "/data.json",
        testkit::Resource::new("application/json", "{}"),
    );
    let url = site.add_page("/form", FIELD);
    let dashboard = Dashboard::start(engine).await;
    dashboard.open("shopping", &url).await;
    dashboard.shows("#sessions .name", "shopping").await;
    dashboard.shows("#sessions .url", &url).await;
    dashboard
        .matches(
            "#sessions .facts",
            r"key:ada · \d+ s old · expires in \d+ (s|min|h \d+ min) · \d+ calls?",
        )
        .await;
    dashboard.click("#sessions button").await;
    dashboard.shows("#calls .name", "navigate").await;
    dashboard
        .shows("#console li", "[log] hello from the page")
        .await;
    dashboard
        .matches(
            "#requests li",
            r"200 GET http:\/\/[^ ]+\/data\.json \([\d.]+ m?s\)",
        )
        .await;
    dashboard
        .holds(
            "() => { const screen = document.querySelector('#screen');
            const [red, green, blue] = screen.getContext('2d').getImageData(screen.width / 2, screen.height / 2, 1, 1).data;
            return red > 150 && green < 90 && blue < 90; }",
        )
        .await;
    // A call appears while it runs, and with its duration when it has ended.
    let failing = json!({ "sessionId": "shopping", "selector": "#missing", "timeout": 100 });
    dashboard.call("click", failing).await;
    dashboard
        .matches("#calls summary", r"click failed, [\d.]+ m?s")
        .await;
    let foreign = "() => performance.getEntriesByType('resource').filter(({ name }) => new URL(name).origin !== location.origin).length";
    assert_eq!(evaluated(&dashboard.user, foreign).await, "0");
}

#[testkit::test(chromium)]
async fn secrets_are_masked_in_the_dashboard() {
    let site = Site::start().await;
    let page = "<input id=a><input id=b type=password><script>a.oninput = () => console.log('typed ' + a.value)</script>";
    let url = site.add_page("/form", page);
    let dashboard = Dashboard::start(Engine::Chromium).await;
    dashboard.open("login", &url).await;
    let fill = |selector: &str, value: &str| json!({ "sessionId": "login", "selector": selector, "value": value });
    dashboard
        .success("fill", fill("#b", "correct horse battery"))
        .await;
    dashboard
        .success("fill", fill("#a", "correct horse battery, and plain text"))
        .await;
    dashboard.shows("#sessions .name", "login").await;
    dashboard.click("#sessions button").await;
    let masked = "•".repeat("correct horse battery".len());
    let typed = format!("[log] typed {masked}, and plain text");
    dashboard.shows("#console li", &typed).await;
    dashboard
        .holds("() => document.querySelectorAll('#calls li').length >= 3")
        .await;
    let all = evaluated(&dashboard.user, "() => document.body.textContent").await;
    assert!(
        all.contains("plain text") && !all.contains("horse"),
        "{all}"
    );
}
