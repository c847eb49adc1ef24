use super::*;
use crate::backend::{DialogKind, MouseButton, PageEvent, Point};
use crate::error::Obstacle;
use crate::page::fake::Fake;
use serde_json::Value;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// Returns a page that never changes by itself, with one button, for which `aim` returns this.
fn button(aim: impl Fn(u32) -> Value + Send + Sync + 'static) -> Fake {
    let looks = AtomicU32::new(0);
    Fake::new(
        move |function, _| {
            let answer = match function {
                "query" => {
                    json!({ "count": 1, "elements": [{ "handle": 1, "preview": "<button>Go</button>" }] })
                }
                "aim" => aim(looks.fetch_add(1, Ordering::Relaxed)),
                "stopInterceptor" => Value::Null,
                _ => return Box::pin(std::future::pending()),
            };
            Box::pin(async move { Ok(answer) })
        },
        |_| Box::pin(async { Ok(()) }),
    )
}

fn ready() -> Value {
    json!({ "point": { "x": 5.0, "y": 6.0 } })
}

fn seconds(seconds: u64) -> Progress {
    Progress::new(Duration::from_secs(seconds))
}

async fn click(fake: &Fake, progress: &Progress) -> Result<()> {
    let button = fake.page.locator("button").unwrap();
    button.click(progress, &Click::default()).await
}

#[tokio::test(start_paused = true)]
async fn a_click_waits_until_the_element_is_enabled() {
    let fake = button(|look| match look {
        0..3 => json!({ "lacks": "enabled" }),
        _ => ready(),
    });
    click(&fake, &seconds(5)).await.unwrap();
    assert_eq!(fake.input(), ["move 5,6", "down left 1", "up left 1"]);
}

#[tokio::test(start_paused = true)]
async fn a_click_waits_until_the_element_receives_events() {
    let fake = button(|look| match look {
        0 => json!({ "cover": "<div class=\"veil\"></div>", "from": "<body>…</body>" }),
        _ => ready(),
    });
    let progress = seconds(5);
    click(&fake, &progress).await.unwrap();
    let expected =
        "  <div class=\"veil\"></div> from <body>…</body> subtree intercepts pointer events";
    assert!(
        progress.steps().iter().any(|step| step == expected),
        "{:?}",
        progress.steps()
    );
}

/// Returns a page with one button that the events of the first `misses` actions do not reach.
fn covered_button(misses: u32) -> Fake {
    let actions = AtomicU32::new(0);
    Fake::answering(move |function, _| match function {
        "query" => json!({ "count": 1, "elements": [{ "handle": 1, "preview": "<b>" }] }),
        "aim" => ready(),
        "stopInterceptor" if actions.fetch_add(1, Ordering::Relaxed) < misses => {
            json!({ "cover": "<i>Cover</i>" })
        }
        "missed" if actions.load(Ordering::Relaxed) < misses => json!({ "gone": true }),
        _ => Value::Null,
    })
}

#[tokio::test(start_paused = true)]
async fn a_click_that_reaches_another_element_is_repeated_without_moving() {
    let fake = covered_button(1);
    let progress = seconds(5);
    click(&fake, &progress).await.unwrap();
    assert_eq!(
        fake.input(),
        [
            "move 5,6",
            "down left 1",
            "up left 1",
            "down left 1",
            "up left 1"
        ]
    );
    let expected = "  <i>Cover</i> intercepts pointer events";
    assert!(progress.steps().iter().any(|step| step == expected));
}

#[tokio::test(start_paused = true)]
async fn a_forced_click_is_not_checked() {
    let fake = covered_button(u32::MAX);
    let forced = Click {
        force: true,
        ..Click::default()
    };
    let locator = fake.page.locator("b").unwrap();
    locator.click(&seconds(1), &forced).await.unwrap();
    assert!(click(&fake, &seconds(1)).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_drag_that_begins_on_another_element_is_released_and_repeated() {
    let fake = covered_button(1);
    let card = fake.page.locator("b").unwrap();
    card.drag_to(&seconds(5), &card).await.unwrap();
    let presses = [
        "move 5,6",
        "down left 1",
        "up left 1",
        "move 5,6",
        "down left 1",
    ];
    assert_eq!(fake.input()[..5], presses);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_reports_the_last_failed_check_and_the_call_log() {
    let fake = button(|_| json!({ "lacks": "enabled" }));
    let error = click(&fake, &seconds(1)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Timeout 1000ms exceeded.
Call log:
  - waiting for locator('button')
    - locator resolved to <button>Go</button>
  - attempting click action
    2 × waiting for element to be visible, enabled and stable
      - element is not enabled
      - retrying click action
    - waiting 20ms
    2 × waiting for element to be visible, enabled and stable
      - element is not enabled
      - retrying click action
      - waiting 100ms
    2 × waiting for element to be visible, enabled and stable
      - element is not enabled
      - retrying click action
      - waiting 500ms"
    );
    let Error::Timeout { obstacle, .. } = error else {
        panic!("{error}")
    };
    assert!(matches!(
        obstacle.as_deref(),
        Some(Error::NotActionable {
            obstacle: Obstacle::NotEnabled,
            ..
        })
    ));
    assert!(fake.input().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_target_that_matches_nothing_fails_at_once() {
    let fake = Fake::answering(|_, _| json!({ "count": 0, "elements": [] }));
    let before = tokio::time::Instant::now();
    let error = click(&fake, &seconds(5)).await.unwrap_err();
    assert_eq!(error.to_string(), "\"button\" does not match any elements.");
    assert_eq!(before.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_replaced_element_is_resolved_again() {
    let queries = AtomicU32::new(0);
    let fake = Fake::answering(move |function, _| match function {
        "query" => match queries.fetch_add(1, Ordering::Relaxed) {
            1 => json!({ "count": 0, "elements": [] }),
            n => json!({ "count": 1, "elements": [{ "handle": n, "preview": "<b>" }] }),
        },
        "aim" if queries.load(Ordering::Relaxed) == 1 => json!({ "gone": true }),
        "aim" => ready(),
        _ => Value::Null,
    });
    click(&fake, &seconds(5)).await.unwrap();
    assert_eq!(fake.input().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn strictness_errors_list_a_locator_for_each_match() {
    let fake = Fake::answering(|function, _| match function {
        "query" => json!({ "count": 12, "elements": [
            { "handle": 1, "preview": "<b>1</b>" }, { "handle": 2, "preview": "<b>2</b>" }] }),
        "generate" => json!([[{ "engine": "text", "text": { "text": "1" } }], null]),
        _ => Value::Null,
    });
    let error = fake
        .page
        .locator("b")
        .unwrap()
        .click(&seconds(5), &Click::default())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "strict mode violation: locator('b') resolved to 12 elements:
    1) <b>1</b> aka getByText('1')
    2) <b>2</b> aka locator('b').nth(1)
    ...
"
    );
}

#[tokio::test(start_paused = true)]
async fn a_dialog_that_the_click_opens_ends_it() {
    let page = std::sync::Arc::new(Mutex::new(None::<Page>));
    let seen = page.clone();
    let fake = Fake::new(
        |function, _| {
            let answer = match function {
                "query" => json!({ "count": 1, "elements": [{ "handle": 1, "preview": "<b>" }] }),
                _ => ready(),
            };
            Box::pin(async move { Ok(answer) })
        },
        move |_| {
            if let Some(page) = &*seen.lock().unwrap() {
                page.observer().event(PageEvent::DialogOpened {
                    kind: DialogKind::Alert,
                    message: String::new(),
                    default_value: String::new(),
                });
            }
            // The browser does not acknowledge input before the dialog is handled.
            Box::pin(std::future::pending())
        },
    );
    *page.lock().unwrap() = Some(fake.page.clone());
    click(&fake, &seconds(5)).await.unwrap();
    assert!(fake.page.dialog().is_some());
    let error = click(&fake, &seconds(5)).await.unwrap_err();
    assert_eq!(error.code(), "DIALOG_OPEN");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_click_releases_the_button() {
    let fake = button(|_| ready());
    let held = Click {
        delay: Duration::from_secs(60),
        modifiers: vec![crate::backend::Modifier::Shift],
        ..Click::default()
    };
    let locator = fake.page.locator("button").unwrap();
    let error = locator.click(&seconds(1), &held).await.unwrap_err();
    assert_eq!(error.code(), "TIMEOUT");
    tokio::task::yield_now().await;
    assert_eq!(
        fake.input(),
        ["+Shift", "move 5,6", "down left 1", "up left 1", "-Shift"]
    );
    assert!(fake.page.state().pressed.buttons.is_empty());
    assert!(fake.page.state().pressed.modifiers.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_explicitly_pressed_button_stays_down() {
    let fake = button(|_| ready());
    let at = Point { x: 1.0, y: 2.0 };
    fake.page.mouse_move(&seconds(1), at).await.unwrap();
    fake.page
        .mouse_down(&seconds(1), MouseButton::Left, 1)
        .await
        .unwrap();
    tokio::task::yield_now().await;
    assert_eq!(fake.input(), ["move 1,2", "down left 1"]);
    fake.page
        .mouse_up(&seconds(1), MouseButton::Left, 1)
        .await
        .unwrap();
    assert_eq!(fake.input().last().unwrap(), "up left 1");
}

#[tokio::test(start_paused = true)]
async fn filling_types_over_the_selected_text() {
    let fake = Fake::answering(|function, _| match function {
        "query" => json!({ "count": 1, "elements": [{ "handle": 1, "preview": "<input/>" }] }),
        "fill" => json!({ "done": "selected" }),
        _ => Value::Null,
    });
    let field = fake.page.locator("input").unwrap();
    field.fill(&seconds(1), "new").await.unwrap();
    field.fill(&seconds(1), "").await.unwrap();
    assert_eq!(fake.input(), ["insert new", "+Delete", "-Delete"]);
}

#[tokio::test(start_paused = true)]
async fn elements_that_cannot_be_filled_fail_at_once() {
    let fake = Fake::answering(|function, _| match function {
        "query" => json!({ "count": 1, "elements": [{ "handle": 1, "preview": "<input/>" }] }),
        _ => json!({ "mismatch": "kind", "tag": "input", "type": "checkbox" }),
    });
    let error = fake
        .page
        .locator("input")
        .unwrap()
        .fill(&seconds(1), "x")
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "Input of type \"checkbox\" cannot be filled"
    );
}

#[tokio::test(start_paused = true)]
async fn a_box_that_does_not_change_when_clicked_is_an_error() {
    let fake = Fake::answering(|function, _| match function {
        "query" => json!({ "count": 1, "elements": [{ "handle": 1, "preview": "<input/>" }] }),
        "states" => {
            json!({ "visible": true, "enabled": true, "editable": null, "checked": false, "radio": false, "focused": false })
        }
        "aim" => ready(),
        _ => Value::Null,
    });
    let field = fake.page.locator("input").unwrap();
    field.set_checked(&seconds(1), false).await.unwrap();
    assert!(fake.input().is_empty());
    let error = field.set_checked(&seconds(1), true).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Clicking the checkbox did not change its state"
    );
}

#[tokio::test(start_paused = true)]
async fn a_drag_without_target_presses_nothing() {
    let fake = Fake::answering(|function, argument| match function {
        "query" if argument["steps"].to_string().contains("nope") => {
            json!({ "count": 0, "elements": [] })
        }
        "query" => json!({ "count": 1, "elements": [{ "handle": 1, "preview": "<b>" }] }),
        "aim" => ready(),
        _ => Value::Null,
    });
    let source = fake.page.locator("b").unwrap();
    let missing = fake.page.locator("#nope").unwrap();
    assert!(source.drag_to(&seconds(1), &missing).await.is_err());
    assert!(fake.input().is_empty());
    source.drag_to(&seconds(9), &source).await.unwrap();
    assert_eq!(
        fake.input(),
        [
            "move 5,6",
            "down left 1",
            "move 5,6",
            "move 5,6",
            "move 5,6",
            "move 5,6",
            "move 5,6",
            "move 6,6",
            "move 5,6",
            "move 6,6",
            "move 5,6",
            "move 6,6",
            "move 5,6",
            "move 6,6",
            "move 5,6",
            "up left 1"
        ]
    );
}

#[test]
fn actions_can_run_on_any_thread() {
    fn sent(_: impl Send) {}
    let fake = button(|_| ready());
    let locator = fake.page.locator("button").unwrap();
    let progress = Progress::new(Duration::ZERO);
    let payload = Payload::default();
    sent(locator.click(&progress, &Click::default()));
    sent(locator.drag_to(&progress, &locator));
    sent(locator.drop(&progress, &payload));
    sent(locator.press_sequentially(&progress, "x", Duration::ZERO));
    sent(locator.set_checked(&progress, true));
    sent(async {
        let watch = fake.page.watch(&progress).await;
        watch.settle(&crate::settle::SettleOptions::default()).await
    });
}
