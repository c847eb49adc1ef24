//! The link to the dashboard over stdio.

use super::{FIELD, dashboard_link, send};
use crate::{evaluated, launch};
use serde_json::{Value, json};
use testkit::{Client, Site, eventually};

/// Uses a link, and waits until the server has printed that many links.
async fn redeem(client: &Client, link: &str, links: usize) -> String {
    let rest = link.strip_prefix("http://").expect("a link");
    let (host, path) = rest.split_at(rest.find('/').expect("a path"));
    let opened = send(host, "GET", path, &[("host", host)], "").await;
    assert_eq!(opened.status, 303, "{opened:?}");
    eventually(async || {
        let stderr = client.stderr();
        let found: Vec<_> = stderr
            .split_whitespace()
            .filter(|word| word.contains("?token="))
            .collect();
        match found.len() == links {
            true => Ok(found[links - 1].to_owned()),
            false => Err(stderr),
        }
    })
    .await
}

async fn set_level(client: &Client, level: &str) {
    let set = client
        .request("logging/setLevel", json!({ "level": level }))
        .await;
    set.expect("a result");
}

fn message(link: &str) -> Value {
    let data = format!("Dashboard (this link is valid once): {link}");
    json!({ "level": "notice", "logger": "dashboard", "data": data })
}

#[testkit::test]
async fn links_are_logged_to_the_client_from_its_level_on() {
    let client = launch(&["--dashboard"]).start().await;
    let first = dashboard_link(&client).await;
    let logged = client.next_unmatched().await;
    assert_eq!(logged["method"], "notifications/message", "{logged}");
    assert_eq!(logged["params"], message(&first), "{logged}");
    set_level(&client, "warning").await;
    let second = redeem(&client, &first, 2).await;
    client.call("click", json!({})).await;
    let failed = client.next_unmatched().await;
    assert_eq!(
        failed["params"]["logger"], "tools",
        "the second link is not logged: {failed}"
    );
    set_level(&client, "notice").await;
    let third = redeem(&client, &second, 3).await;
    let logged = client.next_unmatched().await;
    assert_eq!(logged["params"], message(&third), "{logged}");
}

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
