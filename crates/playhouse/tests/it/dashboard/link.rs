//! The link to the dashboard over stdio.

use super::{FIELD, dashboard_link};
use crate::{evaluated, launch};
use serde_json::json;
use testkit::{Client, Site, eventually};

#[testkit::test(chromium)]
async fn over_stdio_a_link_on_stderr_opens_the_dashboard_once() {
    let site = Site::start().await;
    let url = site.add_page("/form", FIELD);
    let agent = launch(&["--dashboard"]).start().await;
    agent.success("navigate", json!({ "url": url })).await;
    let link = dashboard_link(&agent).await;
    let user = launch(&[]).start().await;
    user.success("navigate", json!({ "url": link })).await;
    let has = async |user: &Client, text: &str| {
        eventually(async || {
            let shown = evaluated(user, "() => location.href + document.body.innerText").await;
            if shown.contains(text) {
                Ok(shown)
            } else {
                Err(shown)
            }
        })
        .await
    };
    let shown = has(&user, &url).await;
    assert!(!shown.contains("token="), "{shown}");
    let other = launch(&[]).start().await;
    other.success("navigate", json!({ "url": link })).await;
    has(&other, "not valid any more").await;
    let stderr = agent.stderr();
    assert_eq!(stderr.matches("?token=").count(), 2, "{stderr}");
    let none = launch(&[]).start().await;
    none.success("navigate", json!({ "url": url })).await;
    assert!(!none.stderr().contains("Dashboard"), "{}", none.stderr());
}
