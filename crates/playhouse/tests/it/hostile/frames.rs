//! Frames that come and go.

use crate::{PATIENT, shared};
use serde_json::json;
use testkit::harness::is_nightly;
use testkit::{Engine, Site};

/// Each snapshot reads frames of another site while the page removes them.
#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit), slow)]
async fn a_page_that_replaces_its_frames_keeps_its_tab(engine: Engine) {
    let site = Site::start().await;
    site.add_page("/inner", "<button>Inner</button>");
    let inner = format!("{}/inner", site.cross_origin_url());
    let url = site.add_page(
        "/",
        &format!(
            "<title>Frames</title><h1>Outer</h1><div></div><script>
            window.own = 1;
            setInterval(() => {{
              const frame = document.createElement('iframe');
              frame.src = '{inner}';
              document.querySelector('div').replaceChildren(frame);
            }}, 100);</script>"
        ),
    );
    let client = shared(engine, &PATIENT).await;
    client.navigate(&url).await;
    for _ in 0..if is_nightly() { 20 } else { 5 } {
        let answer = client.call("browser_snapshot", json!({})).await;
        assert!(!answer.is_error, "{}", answer.text);
        assert!(answer.text.contains("Outer"), "{}", answer.text);
        let own = json!({ "function": "() => window.own" });
        let answer = client.call("browser_evaluate", own).await;
        assert_eq!(answer.section("Result"), Some("1"), "{}", answer.text);
    }
}
