use super::*;
use crate::backend::{DialogKind, PageEvent, RequestEvent};
use crate::page::fake::Fake;
use crate::task::{Task, spawn};

/// A document that says this when it has come to rest, after so long.
fn resting(after: u64, seen: bool) -> Fake {
    Fake::new(
        move |function, argument| {
            let looking = function == "settled";
            // What was seen elsewhere is an effect for the page too, and needs no patience.
            let effect = argument["effect"] == true;
            Box::pin(async move {
                if looking {
                    let after = if effect { 80 } else { after };
                    tokio::time::sleep(Duration::from_millis(after)).await;
                    return Ok(json!({ "seen": seen || effect, "quiet": true }));
                }
                Ok(Value::Null)
            })
        },
        |_| Box::pin(async { Ok(()) }),
    )
}

/// Tells of these events, each so many milliseconds after the start.
fn telling(fake: &Fake, events: Vec<(u64, PageEvent)>) -> Task {
    let observer = fake.page.observer();
    spawn("events", async move {
        let start = Instant::now();
        for (at, event) in events {
            tokio::time::sleep_until(start + Duration::from_millis(at)).await;
            observer.event(event);
        }
    })
}

async fn settle(fake: &Fake, events: Vec<(u64, PageEvent)>) -> (Settled, u128) {
    let progress = Progress::new(Duration::from_secs(5));
    let watch = fake.page.watch(&progress).await;
    let before = Instant::now();
    let _telling = telling(fake, events);
    let settled = watch.settle(&SettleOptions::default()).await;
    (settled, before.elapsed().as_millis())
}

fn sent(id: &str, url: &str) -> PageEvent {
    PageEvent::Request(RequestEvent::Started {
        id: id.into(),
        frame: Some("main".into()),
        loader: None,
        url: url.into(),
        method: "GET".into(),
        resource_type: "fetch".into(),
        headers: vec![],
        has_body: false,
        body: None,
        is_navigation: false,
        at: 1.0,
    })
}

fn finished(id: &str) -> PageEvent {
    PageEvent::Request(RequestEvent::Finished {
        id: id.into(),
        size: 1,
        at: 2.0,
    })
}

fn started(loader: &str) -> PageEvent {
    PageEvent::NavigationStarted {
        frame: "main".into(),
        loader: Some(loader.into()),
        url: "http://a/".into(),
    }
}

fn committed(loader: &str) -> PageEvent {
    PageEvent::NavigationCommitted {
        frame: "main".into(),
        loader: loader.into(),
        url: "http://a/".into(),
        name: String::new(),
    }
}

fn loaded(loader: &str) -> PageEvent {
    PageEvent::Load {
        frame: "main".into(),
        loader: loader.into(),
    }
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_is_over_ends_the_wait() {
    let fake = resting(83, true);
    assert_eq!(settle(&fake, vec![]).await, (Settled::Quiet, 83));
}

#[tokio::test(start_paused = true)]
async fn without_any_effect_the_whole_limit_is_waited() {
    let fake = resting(500, false);
    assert_eq!(settle(&fake, vec![]).await, (Settled::Unchanged, 500));
}

#[tokio::test(start_paused = true)]
async fn a_request_is_waited_for_and_then_the_rest() {
    let fake = resting(500, false);
    let events = vec![(20, sent("1", "/a")), (320, finished("1"))];
    assert_eq!(settle(&fake, events).await, (Settled::Quiet, 400));
}

#[tokio::test(start_paused = true)]
async fn a_chain_of_requests_is_waited_for_to_its_end() {
    let fake = resting(500, false);
    let events = vec![
        (1, sent("1", "/a")),
        (100, finished("1")),
        (130, sent("2", "/b")),
        (230, finished("2")),
        (260, sent("3", "/c")),
        (360, finished("3")),
    ];
    assert_eq!(settle(&fake, events).await, (Settled::Quiet, 440));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_never_answered_is_given_up() {
    let fake = resting(500, false);
    let (settled, took) = settle(&fake, vec![(10, sent("1", "/never"))]).await;
    assert_eq!(settled, Settled::TimedOut);
    assert_eq!(took, 5_000);
}

#[tokio::test(start_paused = true)]
async fn a_long_poll_from_before_holds_up_nothing() {
    let fake = resting(90, true);
    fake.tell(sent("poll", "/poll?1"));
    let events = vec![(20, finished("poll")), (21, sent("next", "/poll?2"))];
    assert_eq!(settle(&fake, events).await, (Settled::Quiet, 90));
}

#[tokio::test(start_paused = true)]
async fn a_navigation_by_a_timer_is_waited_for_until_it_is_loaded() {
    let fake = resting(500, false);
    let events = vec![
        (300, started("L")),
        (320, committed("L")),
        (400, loaded("L")),
    ];
    assert_eq!(settle(&fake, events).await, (Settled::Navigated, 480));
}

#[tokio::test(start_paused = true)]
async fn a_navigation_that_is_over_already_is_noticed() {
    let fake = resting(500, false);
    let progress = Progress::new(Duration::from_secs(5));
    let watch = fake.page.watch(&progress).await;
    for event in [started("L"), committed("L"), loaded("L")] {
        fake.tell(event);
    }
    assert_eq!(
        watch.settle(&SettleOptions::default()).await,
        Settled::Navigated
    );
}

#[tokio::test(start_paused = true)]
async fn a_document_that_leads_to_another_is_followed() {
    let fake = resting(500, false);
    let events = vec![
        (1, started("1")),
        (2, committed("1")),
        (3, loaded("1")),
        (40, started("2")),
        (41, committed("2")),
        (100, loaded("2")),
    ];
    assert_eq!(settle(&fake, events).await, (Settled::Navigated, 180));
}

#[tokio::test(start_paused = true)]
async fn a_download_leaves_the_document_and_ends_the_wait() {
    let fake = resting(500, false);
    let aborted = PageEvent::NavigationAborted {
        frame: "main".into(),
        loader: Some("L".into()),
        reason: String::new(),
    };
    let events = vec![(5, started("L")), (25, aborted)];
    assert_eq!(settle(&fake, events).await, (Settled::Quiet, 105));
}

#[tokio::test(start_paused = true)]
async fn a_document_that_never_loads_is_given_up() {
    let fake = resting(500, false);
    let events = vec![(5, started("L")), (25, committed("L"))];
    assert_eq!(settle(&fake, events).await, (Settled::TimedOut, 10_000));
}

#[tokio::test(start_paused = true)]
async fn a_dialog_ends_the_wait_at_once() {
    let fake = resting(500, false);
    let dialog = PageEvent::DialogOpened {
        kind: DialogKind::Alert,
        message: String::new(),
        default_value: String::new(),
    };
    assert_eq!(
        settle(&fake, vec![(200, dialog)]).await,
        (Settled::Dialog, 200)
    );
}

#[tokio::test(start_paused = true)]
async fn a_file_chooser_ends_the_wait_at_once() {
    let fake = resting(500, false);
    let chooser = PageEvent::FileChooserOpened { multiple: false };
    assert_eq!(
        settle(&fake, vec![(7, chooser)]).await,
        (Settled::FileChooser, 7)
    );
}

#[tokio::test(start_paused = true)]
async fn a_page_that_closes_itself_ends_the_wait() {
    let fake = resting(500, false);
    assert_eq!(
        settle(&fake, vec![(7, PageEvent::Closed)]).await,
        (Settled::Closed, 7)
    );
}

#[tokio::test(start_paused = true)]
async fn an_effect_elsewhere_counts_as_one() {
    let fake = resting(500, false);
    let progress = Progress::new(Duration::from_secs(5));
    let watch = fake.page.watch(&progress).await;
    let before = Instant::now();
    let popup = tokio::time::sleep(Duration::from_millis(30));
    let settled = watch.settle_with(&SettleOptions::default(), popup).await;
    assert_eq!(
        (settled, before.elapsed().as_millis()),
        (Settled::Quiet, 110)
    );
}

#[tokio::test(start_paused = true)]
async fn a_popup_is_waited_for_until_it_is_loaded() {
    let fake = resting(500, false);
    let popup = resting(500, false);
    let progress = Progress::new(Duration::from_secs(5));
    let watch = fake.page.watch(&progress).await;
    let before = Instant::now();
    fake.page.popup_opened(popup.page.clone());
    let events = vec![(20, started("L")), (50, committed("L")), (200, loaded("L"))];
    let _telling = telling(&popup, events);
    let settled = watch.settle(&SettleOptions::default()).await;
    assert_eq!(
        (settled, before.elapsed().as_millis()),
        (Settled::Quiet, 280)
    );
}

#[tokio::test(start_paused = true)]
async fn a_page_that_does_not_answer_is_given_up() {
    let fake = resting(60_000, false);
    let (settled, took) = settle(&fake, vec![]).await;
    assert_eq!((settled, took), (Settled::TimedOut, 2_500));
}
