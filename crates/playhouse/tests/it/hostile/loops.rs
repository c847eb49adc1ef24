//! Endless scripts.

use serde_json::json;
use testkit::harness::input_step;

use super::HostilePage;

const BUTTON: &str = "<button>Go</button>";

#[testkit::test(chromium, slow)]
async fn a_page_in_an_endless_loop_can_be_left() {
    let visit = HostilePage::with_hurry(&["--timeout-action", "2000"]).await;
    let all = [
        "setTimeout(() => { for (;;); }, 100)",
        "setInterval(() => { for (;;); }, 100)",
        "setTimeout(function step() { Promise.resolve().then(step); }, 100)",
        "addEventListener('beforeunload', () => { for (;;); })",
        "addEventListener('pagehide', () => { for (;;); })",
        // Commands do not reach this page, because a navigation is in progress.
        "setTimeout(() => { location.href = '/fine'; for (;;); }, 100)",
        // Nor this one: no script runs during a synchronous request.
        "setTimeout(() => { const request = new XMLHttpRequest(); request.open('GET', '/hang', false); request.send(); }, 100)",
    ];
    // A timer, an event of the document that is left, and a synchronous request.
    for loops in all.into_iter().step_by(input_step(3)) {
        visit
            .open(&format!("{BUTTON}<script>{loops}</script>"))
            .await;
        // By then the loop runs, if it starts by itself.
        visit.call("browser_wait_for", json!({ "time": 0.3 })).await;
        visit
            .call("browser_click", json!({ "target": "getByRole('button')" }))
            .await;
        visit.assert_usable(loops).await;
    }
}

#[testkit::test(chromium)]
async fn a_call_that_never_ends_times_out() {
    let visit =
        HostilePage::with_hurry(&["--timeout-navigation", "2000", "--timeout-action", "2000"])
            .await;
    visit.open(BUTTON).await;
    for endless in ["() => { for (;;); }", "() => new Promise(() => {})"] {
        let given_up = visit
            .call("browser_evaluate", json!({ "function": endless }))
            .await;
        assert_eq!(given_up.error(), "TimeoutError: Timeout 2000ms exceeded.");
        // The script was terminated: the page is unchanged.
        let seen = visit.call("browser_snapshot", json!({})).await;
        assert!(
            seen.text.contains("button \"Go\""),
            "{endless}: {}",
            seen.text
        );
    }
    let given_up = visit
        .call(
            "browser_evaluate",
            json!({ "function": "() => { for (;;); }", "target": "getByRole('button')" }),
        )
        .await;
    assert!(
        given_up.error().contains("Timeout 2000ms exceeded."),
        "{}",
        given_up.text
    );
    visit.open("<button onclick='for (;;);'>Go</button>").await;
    let given_up = visit
        .call("browser_click", json!({ "target": "getByRole('button')" }))
        .await;
    assert!(
        given_up.error().contains("Timeout 2000ms exceeded."),
        "{}",
        given_up.text
    );
    visit.assert_usable("a click that never ends").await;
    for endless in [
        format!("{BUTTON}<script>for (;;);</script>"),
        format!("{BUTTON}<script src=/hang></script>"),
    ] {
        let given_up = visit.open(&endless).await;
        assert!(
            given_up.error().contains("Timeout 2000ms exceeded."),
            "{}",
            given_up.text
        );
        visit.assert_usable(&endless).await;
    }
    for endless in ["/hang", "/never"] {
        let url = visit.site.url(endless);
        let given_up = visit.call("browser_navigate", json!({ "url": url })).await;
        assert!(
            given_up.error().contains("Timeout 2000ms exceeded."),
            "{}",
            given_up.text
        );
        visit.assert_usable(endless).await;
    }
}

#[testkit::test(chromium, webkit)]
async fn a_page_with_repeated_dialogs_can_be_left() {
    let visit = HostilePage::with(&[]).await;
    for asks in [
        "setTimeout(() => { for (;;) alert('again'); }, 0)",
        "setInterval(() => alert('again'), 0)",
        "for (;;) confirm('again')",
    ] {
        visit
            .open(&format!("{BUTTON}<script>{asks}</script>"))
            .await;
        for _ in 0..3 {
            visit
                .call("browser_handle_dialog", json!({ "accept": true }))
                .await;
        }
        visit.assert_usable(asks).await;
    }
    visit
        .open("<script>onpagehide = onunload = () => { prompt('stay'); confirm('stay'); }</script>")
        .await;
    visit
        .assert_usable("a page that asks when it is left")
        .await;
}

#[testkit::test(chromium)]
async fn a_page_that_asks_whether_to_leave_it_can_be_left() {
    let visit = HostilePage::with(&[]).await;
    // Only a page with user activation may open a beforeunload dialog, which the client must handle.
    visit
        .open(&format!(
            "{BUTTON}<script>onbeforeunload = (event) => event.preventDefault()</script>"
        ))
        .await;
    visit
        .call("browser_click", json!({ "target": "getByRole('button')" }))
        .await;
    let url = visit.site.url("/fine");
    let asked = visit.call("browser_navigate", json!({ "url": url })).await;
    assert!(
        asked.text.contains("\"beforeunload\" dialog"),
        "{}",
        asked.text
    );
    visit
        .call("browser_handle_dialog", json!({ "accept": true }))
        .await;
    visit
        .assert_usable("a page that asked whether to leave it")
        .await;
}
