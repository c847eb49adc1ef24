//! The app under test in the dashboard.

use super::{Project, failed, misbehaving_app_path};
use crate::dashboard::{click, contains_text, open_dashboard};
use serde_json::{Value, json};

#[testkit::test(chromium, node)]
async fn the_dashboard_shows_the_log_of_the_app() {
    let command = misbehaving_app_path("");
    let project = Project::new();
    let client = project.serve(&command, &["--dashboard"]).await;
    client.success("e2e_start", json!({})).await;
    let user = open_dashboard(&client).await;
    contains_text(&user, "#log", ": listening on").await;
    let save = json!({ "sessionId": "app", "selector": "text=Save" });
    client.success("click", save).await;
    contains_text(&user, "#log", "cannot save").await;
}

/// Calls a tool while the user has taken the session over: it fails after its timeout, and again, it succeeds once the user has handed the
/// browser back. Returns the answers of `e2e_start` and of the tool.
async fn waits_for_the_user(tool: &str) -> (Value, Value) {
    let command = misbehaving_app_path("");
    let project = Project::new();
    let client = project.serve(&command, &["--dashboard"]).await;
    let started = client.success("e2e_start", json!({})).await;
    let user = open_dashboard(&client).await;
    click(&user, "#take-over").await;
    contains_text(&user, "#control", "You have control").await;
    let refused = failed(&client, tool, json!({ "timeout": 100 })).await;
    assert_eq!(refused["errorCode"], "USER_HAS_CONTROL", "{refused}");
    let status = client.success("e2e_status", json!({})).await;
    assert_eq!(status["servers"][0]["pid"], started["pid"], "{status}");
    let hand_back = async {
        contains_text(&user, "#calls", &format!("{tool} running")).await;
        click(&user, "#hand-back").await;
    };
    let (answer, ()) = tokio::join!(client.success(tool, json!({})), hand_back);
    (started, answer)
}

#[testkit::test(chromium, node)]
async fn a_restart_waits_until_the_user_hands_the_browser_back() {
    let (started, restarted) = waits_for_the_user("e2e_restart").await;
    assert_eq!(restarted["previousPid"], started["pid"], "{restarted}");
}

#[testkit::test(chromium, node)]
async fn a_stop_waits_until_the_user_hands_the_browser_back() {
    let (_, stopped) = waits_for_the_user("e2e_stop").await;
    assert_eq!(stopped["servers"][0]["status"], "stopped", "{stopped}");
}
