//! Very large pages: the memory of the server stays limited, whether or not reading them times out.

use serde_json::json;
use testkit::harness::is_nightly;

use super::HostilePage;
use crate::PATIENT;

const BUTTON: &str = "<title>Giant</title><button>Go</button>";

#[testkit::test(chromium, nightly, slow)]
async fn a_page_of_many_megabytes_uses_bounded_memory() {
    // Reading the page may take longer.
    let timeouts = ["--timeout-action", "20000", "--timeout-navigation", "40000"];
    let visit = HostilePage::measured(&timeouts).await;
    let size = if is_nightly() { 50_000_000 } else { 10_000_000 };
    let giant = "lorem ipsum ".repeat(size / 12);
    visit.open(&format!("{BUTTON}{giant}")).await;
    let seen = visit.call("browser_snapshot", json!({})).await;
    // A timeout is reported.
    if seen.is_error {
        assert!(seen.error().contains("very large"), "{}", seen.text);
    } else {
        assert!(seen.text.len() < 200_000, "{}", seen.text.len());
    }
    visit.assert_usable("megabytes of text").await;
    // It uses 70 MB; a server that reads the whole page has several copies of it.
    visit.uses_less_than(100_000);
}

#[testkit::test(chromium)]
async fn a_text_and_a_name_of_megabytes_are_cut() {
    let limited = [&PATIENT[..], &["--max-answer-tokens", "6000"]].concat();
    let visit = HostilePage::measured(&limited).await;
    let (text, name) = ("lorem ".repeat(200_000), "x".repeat(2_000_000));
    let opened = visit
        .open(&format!(
            "{BUTTON}<p>{text}</p><a href='/{name}'>link</a><button aria-label='{name}'>named</button>"
        ))
        .await;
    assert!(!opened.is_error, "{}", opened.text);
    let seen = visit.call("browser_snapshot", json!({})).await;
    assert!(seen.text.contains("button \"Go\""), "{}", seen.text.len());
    assert!(seen.text.len() < 60_000, "{}", seen.text.len());
    let part = visit
        .call("browser_snapshot", json!({ "target": "p" }))
        .await;
    assert!(part.text.contains(" characters ("), "{}", part.text.len());
    assert!(part.text.contains("lore…"), "{}", part.text.len());
    assert!(part.text.len() < 60_000, "{}", part.text.len());
    let clicked = visit
        .call("browser_click", json!({ "target": "getByText('named')" }))
        .await;
    assert!(!clicked.is_error, "{}", clicked.text);
    visit.assert_usable("large texts").await;
    visit.is_lean();
}

#[testkit::test(chromium)]
async fn a_tree_that_is_too_large_to_be_shown_is_searched_as_a_whole() {
    let visit = HostilePage::measured(&PATIENT).await;
    let texts: String = (0..45)
        .map(|number| format!("<p>{number}{}</p>", "lorem ipsum ".repeat(8_300)))
        .collect();
    visit.open(&format!("{texts}<button>Needle</button>")).await;
    let found = visit
        .call("browser_find", json!({ "text": "needle" }))
        .await;
    assert!(found.text.contains("Found 1 match"), "{}", found.text.len());
    assert!(
        found.text.contains("button \"Needle\""),
        "{}",
        found.text.len()
    );
    visit.is_lean();
}

#[testkit::test(chromium)]
async fn output_of_client_code_uses_bounded_memory() {
    let visit = HostilePage::measured(&PATIENT).await;
    visit.open(BUTTON).await;
    let code = "async page => { for (let i = 0; i < 20; i++) console.log('x'.repeat(1e7)); return 'done'; }";
    let ran = visit
        .call("browser_run_code_unsafe", json!({ "code": code }))
        .await;
    assert!(
        !ran.is_error && ran.text.contains("done"),
        "{}",
        ran.text.len()
    );
    assert!(ran.text.contains("more bytes)"), "{}", ran.text.len());
    visit.is_lean();
}

#[testkit::test(chromium)]
async fn a_page_with_too_many_nodes_is_shown_in_part() {
    let visit = HostilePage::measured(&[&PATIENT[..], &["--snapshot-mode", "none"]].concat()).await;
    // Fewer nodes with longer texts are as large.
    let (count, words) = if is_nightly() {
        (100_000, 1)
    } else {
        (5_000, 48)
    };
    let text = "one of very many ".repeat(words);
    let items = format!("<li>{text}</li>").repeat(count);
    visit
        .open(&format!("{BUTTON}<h1>Part</h1><ul>{items}</ul>"))
        .await;
    let seen = visit.call("browser_snapshot", json!({})).await;
    if !seen.is_error {
        assert!(seen.text.contains("button \"Go\""));
        assert!(seen.text.contains("The page is too large"));
        let part = visit
            .call("browser_snapshot", json!({ "target": "h1" }))
            .await;
        assert!(part.text.contains("heading \"Part\""), "{}", part.text);
    }
    visit.assert_usable("many nodes").await;
    visit.is_lean();
}

#[testkit::test(chromium, nightly)]
async fn five_hundred_frames_do_not_hold_up_the_next_page() {
    let visit = HostilePage::measured(&[&PATIENT[..], &["--snapshot-mode", "none"]].concat()).await;
    visit
        .open(&format!(
            "{BUTTON}{}",
            "<iframe src=/fine></iframe><iframe></iframe><iframe></iframe><iframe></iframe><iframe></iframe>".repeat(100)
        ))
        .await;
    visit
        .call("browser_click", json!({ "target": "getByRole('button')" }))
        .await;
    visit.assert_usable("500 frames").await;
    visit.is_lean();
}
