//! Annotations of a user in the live view.

use super::{CONTROL, Dashboard, FIELD};
use serde_json::json;
use testkit::{Engine, Site};

/// Returns whether a line is the first note of the user, on an element.
fn is_note(line: &str, note: &str) -> bool {
    line.starts_with("1. [ref=e") && line.ends_with(&format!("}}: {note:?}"))
}

#[testkit::test(chromium)]
async fn a_user_annotates_a_page_without_a_window() {
    let site = Site::start().await;
    let url = site.add_page("/form", FIELD);
    let dashboard = Dashboard::start(Engine::Chromium).await;
    dashboard.open("shopping", &url).await;
    dashboard.shows("#sessions .name", "shopping").await;
    dashboard.click("#sessions button").await;
    dashboard.shows("#calls .name", "navigate").await;
    let mark = async |note: &str| {
        // The tools are dark, at the bottom of the page.
        dashboard
            .holds(
                "() => { const screen = document.querySelector('#screen');
                const [red, , , alpha] = screen.getContext('2d').getImageData(screen.width / 2 - 100, screen.height - 30, 1, 1).data;
                return alpha > 0 && red < 90 && /annotations|Mark/.test(document.querySelector('#control').textContent); }",
            )
            .await;
        dashboard.click("#screen").await;
        for key in note.chars() {
            dashboard.press(&key.to_string()).await;
        }
        dashboard.press("Control+Enter").await;
    };
    // The agent requests annotations.
    let in_session = json!({ "sessionId": "shopping" });
    let (annotated, ()) = tokio::join!(
        dashboard.success("browser_annotate", in_session),
        mark("red")
    );
    let texts = annotated["content"].as_array().expect("content").iter();
    let mut lines = texts.flat_map(|item| item["text"].as_str().unwrap_or_default().lines());
    assert!(lines.any(|line| is_note(line, "red")), "{annotated}");
    // The user annotates by themselves.
    dashboard.click("#take-over").await;
    dashboard.shows("#control", CONTROL).await;
    dashboard.click("#annotate").await;
    mark("blue").await;
    dashboard.shows("#control", CONTROL).await;
    dashboard.click("#hand-back").await;
    let fill = json!({ "sessionId": "shopping", "selector": "input", "value": "agent" });
    let filled = dashboard.success("fill", fill).await;
    let notes = &filled["structuredContent"]["userAnnotations"]["notes"];
    let note = notes[0].as_str().unwrap_or_default();
    assert!(is_note(note, "blue"), "{filled}");
}
