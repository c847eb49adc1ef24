//! Incremental snapshots: after any changes of a page they are what a snapshot of the whole page is.

use crate::harness::{Stage, eval, goto, on_a_page, soon};
use engine::{Layout, SnapshotOptions};
use testkit::{Engine, harness};

/// A page with lists, tables, forms, editors, shadow roots and frames, and `mutate(seed)`, which changes something and says what.
const PAGE: &str = include_str!("incremental.html");
/// The size above which there is an outline, which prefers what is in the viewport.
const MOST: usize = 400;

async fn snapshot(stage: &Stage, incremental: bool) -> [String; 2] {
    let options = SnapshotOptions {
        layout: Layout::Compact,
        max_tokens: Some(MOST),
        incremental,
        ..SnapshotOptions::default()
    };
    let snapshot = stage.page.snapshot(&soon(), &options).await.unwrap();
    [snapshot.text, snapshot.outline.unwrap_or_default()]
}

/// Opens the page several times and changes it; returns each change with the snapshot after it.
fn change(engine: Engine, incremental: bool) -> Vec<Vec<(String, [String; 2])>> {
    let (pages, changes) = match harness::is_nightly() {
        true => (40, 40),
        false => (3, 30),
    };
    // The window of another test can take the focus.
    let has_focus = engine == Engine::Chromium;
    let mut all = Vec::new();
    on_a_page(engine, async |stage| {
        for page in 0..pages {
            goto(&stage.page, &stage.show("/page", PAGE).await).await;
            let mut steps = vec![("nothing".to_owned(), snapshot(stage, incremental).await)];
            for change in 0..changes {
                let seed = page * 1_000 + change;
                let done = eval(&stage.page, &format!("mutate({seed}, {has_focus})")).await;
                steps.push((done.to_string(), snapshot(stage, incremental).await));
            }
            all.push(steps);
        }
    });
    all
}

#[testkit::test(chromium, firefox, webkit)]
fn incremental_snapshots_are_whole_ones(engine: Engine) {
    let [incremental, whole] = [true, false].map(|it| change(engine, it));
    assert!(!whole.is_empty());
    for (one, other) in incremental.iter().zip(&whole) {
        for (step, ((_, one), (_, whole))) in one.iter().zip(other).enumerate() {
            let changes: Vec<&String> = other[..=step].iter().map(|(it, _)| it).collect();
            let differing: Vec<String> = one
                .iter()
                .zip(whole)
                .flat_map(|(one, whole)| one.lines().zip(whole.lines()))
                .filter(|(one, whole)| one != whole)
                .map(|(one, whole)| format!("{one}\n{whole}"))
                .take(6)
                .collect();
            assert!(
                one == whole,
                "after {changes:#?}:\n{}",
                differing.join("\n")
            );
        }
    }
}
