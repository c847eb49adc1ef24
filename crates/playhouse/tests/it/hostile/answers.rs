//! Invalid responses of servers: each failure has its net error, and the next page works.

use serde_json::json;
use testkit::Resource;

use super::HostilePage;
use crate::PATIENT;

#[testkit::test(chromium)]
async fn navigation_errors_carry_the_net_error() {
    let visit = HostilePage::with(&PATIENT).await;
    let site = &visit.site;
    let there = site.url("/fine");
    let looping = site.add(
        "/loop",
        Resource::html("").status(302).header("location", "/loop"),
    );
    let closed_port = format!("http://127.0.0.1:{}/", testkit::unused_port());
    for (url, reason, hint) in [
        (looping, "net::ERR_TOO_MANY_REDIRECTS", "redirect loop"),
        (
            there.replace("http:", "https:"),
            "net::ERR_SSL_PROTOCOL_ERROR",
            "try http",
        ),
        (closed_port, "net::ERR_CONNECTION_REFUSED", "server runs"),
        // The net error depends on the resolver of the machine.
        (
            "http://nowhere.invalid/".to_owned(),
            "net::ERR_",
            "Check the",
        ),
    ] {
        let answer = visit.call("browser_navigate", json!({ "url": url })).await;
        assert!(answer.error().contains(reason), "{url}: {}", answer.text);
        assert!(answer.error().contains(&url), "{url}: {}", answer.text);
        let facts = &answer.raw["structuredContent"];
        assert_eq!(facts["errorCode"], "NAVIGATION_FAILED", "{url}: {facts}");
        assert_eq!(facts["retryable"], false);
        let advice = facts["suggestion"].as_str().unwrap_or_default();
        assert!(advice.contains(hint), "{url}: {advice}");
        visit.assert_usable(&url).await;
    }
}

#[testkit::test(chromium)]
async fn a_crashed_tab_is_reported_and_replaced() {
    let visit = HostilePage::with(&["--allowed-schemes", "chrome"]).await;
    visit.open("<title>Crashes</title>").await;
    let gone = visit
        .call("browser_navigate", json!({ "url": "chrome://crash" }))
        .await;
    let seen = visit.call("browser_snapshot", json!({})).await;
    // The crash occurs before, between or after the two; if its tab was replaced already, the console reports it.
    let tells = |text: &str| text.contains("crashed") || text.contains("New console entries");
    let reply = [&gone, &seen].map(|answer| tells(&answer.text));
    assert!(reply.contains(&true), "{}\n{}", gone.text, seen.text);
    visit.assert_usable("a crash").await;
}
