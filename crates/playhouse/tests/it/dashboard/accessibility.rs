//! The dashboard with a keyboard alone, and its audit.

use super::{CONTROL, Dashboard, FIELD};
use serde_json::json;
use testkit::{Engine, Site};

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn the_dashboard_has_no_accessibility_violations(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page("/form", FIELD);
    for (scheme, content) in [("light", 1), ("dark", 0)] {
        let preference = "layout.css.prefers-color-scheme.content-override";
        let config = match engine {
            Engine::Firefox => {
                json!({ "launchOptions": { "firefoxUserPrefs": { preference: content } } })
            }
            _ => json!({ "contextOptions": { "colorScheme": scheme } }),
        };
        let dashboard = Dashboard::with_user(engine, &json!({ "browser": config })).await;
        dashboard
            .holds(&format!(
                "() => matchMedia('(prefers-color-scheme: {scheme})').matches"
            ))
            .await;
        let audit = async |what: &str| {
            let audit = dashboard
                .user
                .call("browser_audit_accessibility", json!({}))
                .await;
            assert!(
                audit.text.contains("No violations"),
                "{what} {scheme}: {}",
                audit.text
            );
        };
        audit("no session").await;
        dashboard.open("shopping", &url).await;
        dashboard.shows("#sessions .name", "shopping").await;
        dashboard.click("#sessions button").await;
        dashboard.shows("#calls .name", "navigate").await;
        dashboard
            .shows("#console li", "[log] hello from the page")
            .await;
        dashboard.click("#calls summary").await;
        audit("a session").await;
        dashboard.click("#take-over").await;
        dashboard.shows("#control", CONTROL).await;
        audit("control").await;
        dashboard.click("header button").await;
        dashboard.shows("label", "API key or access token").await;
        audit("login").await;
    }
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn the_dashboard_is_used_by_keyboard(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page("/form", FIELD);
    let dashboard = Dashboard::start(engine).await;
    dashboard.open("first", &url).await;
    dashboard.open("second", &url).await;
    dashboard.shows("#sessions .name", "second").await;
    // The first stop is the button that logs out.
    for _ in 0..3 {
        dashboard.press("Tab").await;
    }
    dashboard.press("Enter").await;
    dashboard.shows("#title", "Session second").await;
    dashboard.shows("#calls .name", "navigate").await;
    dashboard
        .shows("#console li", "[log] hello from the page")
        .await;
    let is_focused = async |id: &str| {
        dashboard
            .holds(&format!("() => document.activeElement.id === '{id}'"))
            .await;
    };
    dashboard.press("Tab").await;
    is_focused("take-over").await;
    dashboard.press("Enter").await;
    dashboard.shows("#control", CONTROL).await;
    is_focused("keyboard").await;
    // Keys go to the page, and Tab does not leave the view.
    for key in ["Tab", "a", "b"] {
        dashboard.press(key).await;
    }
    dashboard.field_has("second", "ab").await;
    dashboard.press("F8").await;
    is_focused("hand-back").await;
    dashboard.press("Enter").await;
    is_focused("take-over").await;
}
