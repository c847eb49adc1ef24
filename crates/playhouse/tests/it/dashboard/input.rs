//! The mouse of a user who has taken a session over.

use super::Dashboard;
use serde_json::json;
use testkit::{Engine, Site, eventually};

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn double_and_triple_clicks_reach_the_page(engine: Engine) {
    let site = Site::start().await;
    let page = "<style>p { position: fixed; inset: 0; margin: 0; font-size: 20vh }</style><p>alpha beta</p>\
        <output></output><script>const output = document.querySelector('output');
        for (const kind of ['click', 'dblclick']) addEventListener(kind, ({ type, detail }) =>
            output.append(`${type} ${detail} ${getSelection().toString().trim()}, `))</script>";
    let url = site.add_page("/text", page);
    let dashboard = Dashboard::start(engine).await;
    dashboard.open_and_take_over(&url).await;
    let events = json!({ "sessionId": "shopping", "selector": "output" });
    let events_are = async |expected: &str| {
        eventually(async || {
            let events = dashboard.success("get_text", events.clone()).await;
            match events["structuredContent"]["text"].as_str() {
                Some(events) if events.trim_end_matches([',', ' ']) == expected => Ok(()),
                _ => Err(events.to_string()),
            }
        })
        .await;
    };
    let place = "() => { const { left, top, width } = document.querySelector('#screen').getBoundingClientRect();
        return [left + width * 0.05, left + width * 0.9, top + 30]; }";
    let place = crate::evaluated(&dashboard.user, place).await;
    let [word, empty, y]: [f64; 3] = serde_json::from_str(&place).expect("three numbers");
    let click = async |x: f64, count: u32| {
        let click = json!({ "x": x, "y": y, "clickCount": count });
        let clicked = dashboard.user.call("browser_mouse_click_xy", click).await;
        assert!(!clicked.is_error, "{}", clicked.text);
    };
    // Clicks at different places do not belong together.
    click(empty, 1).await;
    click(word, 3).await;
    events_are("click 1 , click 1 , click 2 alpha, dblclick 2 alpha, click 3 alpha beta").await;
}
