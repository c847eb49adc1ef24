//! Calls that close a session while a user controls it.

use super::{Dashboard, FIELD, click, contains_text, open_dashboard};
use crate::launch;
use serde_json::json;
use testkit::{Engine, Site};

/// A page that logs what is typed.
fn page() -> String {
    format!(
        "{FIELD}<script>oninput = ({{ target }}) => console.log(`typed ${{target.value}}`)</script>"
    )
}

#[testkit::test(chromium, firefox, webkit)]
async fn closing_waits_until_the_user_hands_the_session_back(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page("/form", &page());
    let dashboard = Dashboard::start(engine).await;
    dashboard.open_and_take_over(&url).await;
    let close = json!({ "sessionId": "shopping" });
    let hand_back = async {
        dashboard.click("#screen").await;
        dashboard.press("x").await;
        dashboard.shows("#console li", "[log] typed x").await;
        dashboard.click("#hand-back").await;
    };
    tokio::join!(dashboard.success("close_session", close.clone()), hand_back);
    let closed = dashboard.call("close_session", close).await;
    let code = &closed["structuredContent"]["errorCode"];
    assert_eq!(code, "SESSION_NOT_FOUND", "{closed}");
}

#[testkit::test(chromium)]
async fn closing_the_default_session_waits_too() {
    let site = Site::start().await;
    let url = site.add_page("/form", &page());
    let agent = launch(&["--dashboard"]).start().await;
    agent.success("navigate", json!({ "url": url })).await;
    let user = open_dashboard(&agent).await;
    click(&user, "#take-over").await;
    contains_text(&user, "#control", "You have control").await;
    let hand_back = async {
        click(&user, "#screen").await;
        let pressed = user.call("browser_press_key", json!({ "key": "x" })).await;
        assert!(!pressed.is_error, "{}", pressed.text);
        contains_text(&user, "#console", "typed x").await;
        click(&user, "#hand-back").await;
    };
    let close = json!({ "sessionId": "default" });
    tokio::join!(agent.success("close_session", close), hand_back);
    contains_text(&user, "#url", "No page is open.").await;
}
