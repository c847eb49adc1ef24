//! The log of the app in the dashboard.

use super::{Project, misbehaving_app_path};
use crate::{evaluated, launch};
use serde_json::json;
use testkit::eventually;

#[testkit::test(chromium, node)]
async fn the_dashboard_shows_the_log_of_the_app() {
    let command = misbehaving_app_path("");
    let project = Project::new();
    let client = project.serve(&command, &["--dashboard"]).await;
    client.success("e2e_start", json!({})).await;
    let stderr = client.stderr_with("?token=").await;
    let link = stderr
        .split_whitespace()
        .find(|word| word.contains("?token="));
    let user = launch(&[]).start().await;
    user.success("navigate", json!({ "url": link })).await;
    user.success("click", json!({ "selector": "#sessions button" }))
        .await;
    let shows = async |text: &str| {
        eventually(async || {
            let log = evaluated(&user, "() => document.querySelector('#log').textContent").await;
            if log.contains(text) { Ok(()) } else { Err(log) }
        })
        .await;
    };
    shows(": listening on").await;
    let save = json!({ "sessionId": "app", "selector": "text=Save" });
    client.success("click", save).await;
    shows("cannot save").await;
}
