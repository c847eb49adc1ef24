//! Floods of windows, messages and requests.

use serde_json::json;
use testkit::harness::input_step;

use super::HostilePage;
use crate::PATIENT;

#[testkit::test(chromium)]
async fn a_page_that_opens_windows_without_end_can_be_left() {
    let visit = HostilePage::measured(&["--timeout-action", "3000"]).await;
    let all = [
        "<button onclick=\"for (;;) window.open('/fine')\">Go</button>",
        "<button onclick=\"setInterval(() => window.open('/fine'), 0)\">Go</button>",
    ];
    for opens in all.into_iter().step_by(input_step(2)) {
        visit.open(opens).await;
        visit
            .call("browser_click", json!({ "target": "getByRole('button')" }))
            .await;
        visit.assert_usable(opens).await;
        let tabs = visit
            .call("browser_tabs", json!({ "action": "list" }))
            .await;
        let listed = tabs.result().lines().count();
        assert!(listed <= 51, "{}", tabs.text);
    }
    visit.is_lean();
}

#[testkit::test(chromium)]
async fn a_flood_of_messages_and_requests_does_not_hold_up_the_page() {
    let visit = HostilePage::measured(&PATIENT).await;
    let all = [
        // Ten thousand small messages per second, fewer on a busy machine, on which an interval would leave the page no time for a click.
        "const flood = () => { for (let i = 0; i < 1000; i++) console.log('m', i, { i }); setTimeout(flood, 100) }; flood()",
        // Ten large messages per second.
        "const text = 'x'.repeat(1e6); setInterval(() => console.error(text), 100)",
        "setInterval(() => { for (let i = 0; i < 20; i++) fetch('/fine?' + Math.random()); }, 100)",
    ];
    for flood in all.into_iter().step_by(input_step(2)) {
        visit
            .open(&format!(
                "<button onclick=\"this.textContent = 'clicked'\">Go</button><script>{flood}</script>"
            ))
            .await;
        visit.call("browser_wait_for", json!({ "time": 1 })).await;
        let clicked = visit
            .call("browser_click", json!({ "target": "getByRole('button')" }))
            .await;
        assert!(!clicked.is_error, "{flood}: {}", clicked.text);
        visit.assert_usable(flood).await;
    }
    visit.is_lean();
}

/// Each snapshot reads the listeners while the page adds some.
#[testkit::test(chromium, slow)]
async fn a_page_that_adds_listeners_all_the_time_keeps_its_tab() {
    let visit = HostilePage::measured(&[]).await;
    visit
        .open(
            "<h1>Listeners</h1><ul></ul><script>
            const listen = () => 1;
            setInterval(() => {
              for (let n = 0; n < 900; n++) addEventListener('wheel', listen, { capture: true, passive: true });
              const item = document.createElement('li');
              item.addEventListener('click', () => 2);
              item.textContent = 'Item';
              const list = document.querySelector('ul');
              list.append(item);
              if (list.children.length > 50) list.replaceChildren();
            }, 5);</script>",
        )
        .await;
    for _ in 0..60 {
        let answer = visit.call("browser_snapshot", json!({})).await;
        assert!(!answer.is_error, "{}", answer.text);
    }
}
