//! A user who takes a session over, and the calls of the agent meanwhile.

use super::{Dashboard, FIELD, click, contains_text, open_dashboard};
use crate::{evaluated, launch};
use serde_json::json;
use testkit::{Engine, Site, eventually};

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_user_takes_a_session_over_and_hands_it_back(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page("/form", FIELD);
    let dashboard = Dashboard::start(engine).await;
    dashboard.open_and_take_over(&url).await;
    dashboard
        .matches("#sessions .facts", "key:ada · .+ · taken over")
        .await;
    dashboard.click("#screen").await;
    for key in ["H", "i", "Backspace", "o", " "] {
        dashboard.press(key).await;
    }
    // A key of another layout.
    let other = "() => document.querySelector('#keyboard').dispatchEvent(new KeyboardEvent('keydown', { key: 'ü' }))";
    evaluated(&dashboard.user, other).await;
    // An input method writes without the keys of its characters.
    let written = "() => document.execCommand('insertText', false, '日本')";
    evaluated(&dashboard.user, written).await;
    // Tools that only read are not held up.
    dashboard.field_has("shopping", "Ho ü日本").await;
    let fill = json!({ "sessionId": "shopping", "selector": "input", "value": "agent" });
    let mut brief = fill.clone();
    brief["timeout"] = json!(100);
    let refused = dashboard.call("fill", brief).await;
    let code = &refused["structuredContent"]["errorCode"];
    assert_eq!(code, "USER_HAS_CONTROL", "{refused}");
    assert_eq!(refused["structuredContent"]["retryable"], true, "{refused}");
    // A call that waits is executed when the user hands the session back.
    let hand_back = async {
        dashboard.shows("#calls summary", "fill running").await;
        dashboard.click("#hand-back").await;
    };
    let (filled, ()) = tokio::join!(dashboard.success("fill", fill), hand_back);
    assert_eq!(filled["structuredContent"]["userActed"], true, "{filled}");
    dashboard
        .holds("() => document.querySelector('#hand-back').hidden")
        .await;
    // The view shows the page only.
    dashboard.click("#screen").await;
    dashboard.press("x").await;
    dashboard.field_has("shopping", "agent").await;
    for accept in [false, true] {
        dashboard
            .user
            .call("click", json!({ "selector": "#close" }))
            .await;
        let answer = json!({ "accept": accept });
        let asked = dashboard.user.call("browser_handle_dialog", answer).await;
        assert!(!asked.is_error, "{}", asked.text);
        if !accept {
            dashboard.shows("#sessions .name", "shopping").await;
        }
    }
    dashboard
        .shows(
            "#no-sessions",
            "There are no sessions. One appears with the first call that opens a page.",
        )
        .await;
    let closed = dashboard
        .call("browser_snapshot", json!({ "sessionId": "shopping" }))
        .await;
    assert_eq!(closed["isError"], true, "{closed}");
}

#[testkit::test(chromium)]
async fn control_ends_with_the_dashboard() {
    let site = Site::start().await;
    let page = format!(
        "{FIELD}<p id=released></p><script>onkeyup = ({{ key }}) => released.append(`released ${{key}}`)</script>"
    );
    let url = site.add_page("/form", &page);
    let dashboard = Dashboard::start(Engine::Chromium).await;
    dashboard.open_and_take_over(&url).await;
    // A key that is pressed is released.
    let down = "() => document.querySelector('#keyboard').dispatchEvent(new KeyboardEvent('keydown', { key: 'w' }))";
    dashboard.click("#screen").await;
    evaluated(&dashboard.user, down).await;
    dashboard.field_has("shopping", "w").await;
    let released = json!({ "sessionId": "shopping", "selector": "#released" });
    let released = async || {
        let text = dashboard.success("get_text", released.clone()).await;
        text["structuredContent"]["text"].clone()
    };
    assert_eq!(released().await, "");
    dashboard.user.navigate(&url).await;
    eventually(async || match released().await {
        text if text == "released w" => Ok(()),
        text => Err(text.to_string()),
    })
    .await;
    let fill = json!({ "sessionId": "shopping", "selector": "input", "value": "agent" });
    dashboard.success("fill", fill).await;
}

/// A page that logs what is typed.
fn page() -> String {
    format!(
        "{FIELD}<script>oninput = ({{ target }}) => console.log(`typed ${{target.value}}`)</script>"
    )
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
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

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_password_that_the_user_types_is_masked_in_what_the_page_sends(engine: Engine) {
    let password = "tr0ub4dor&3";
    let site = Site::start().await;
    let page = "<!doctype html><style>input { position: fixed; inset: 0; width: 100vw; height: 100vh }</style>
        <input type=password oninput='fetch(`/sent`, { method: `POST`, body: `p=${value}` })'>";
    let url = site.add_page("/form", page);
    let dashboard = Dashboard::start(engine).await;
    dashboard.open_and_take_over(&url).await;
    dashboard.click("#screen").await;
    for key in password.chars() {
        dashboard.press(&key.to_string()).await;
    }
    let sent = || {
        site.requests()
            .iter()
            .filter(|request| request.target == "/sent")
            .count()
    };
    eventually(async || sent() == password.len()).await;
    dashboard.click("#hand-back").await;
    let mut bodies = 0;
    for index in 1..=password.len() + 3 {
        let request = json!({ "sessionId": "shopping", "index": index, "part": "request-body" });
        let answer = dashboard
            .call("browser_network_request", request)
            .await
            .to_string();
        bodies += usize::from(answer.contains("p=•"));
        for end in 4..=password.len() {
            let shown = format!("p={}", &password[..end]);
            assert!(!answer.contains(&shown), "{shown}: {answer}");
        }
    }
    assert!(bodies > 0, "the page has sent it");
}
