use super::*;
use crate::backend::{DialogKind, PageEvent, RequestEvent};
use crate::page::fake::Fake;
use task::{Task, spawn};

/// Returns a document in which nothing changes after so many milliseconds.
fn quiet_after(after: u64) -> Fake {
    waiting(after, false)
}

/// Returns such a document that indicates loading, or does not.
fn waiting(after: u64, waits: bool) -> Fake {
    Fake::new(
        move |function, _| {
            let answer = match function {
                "watch" => json!([]),
                "waits" => json!(waits),
                "pending" => json!({ "pending": false, "within": [] }),
                _ => json!({ "quiet": true, "opens": false }),
            };
            let settles = function == "settled";
            Box::pin(async move {
                if settles {
                    tokio::time::sleep(Duration::from_millis(after)).await;
                }
                Ok(answer)
            })
        },
        |_| Box::pin(async { Ok(()) }),
    )
}

/// Reports these events, each so many milliseconds after the start.
fn report_later(fake: &Fake, events: Vec<(u64, PageEvent)>) -> Task {
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
    let _telling = report_later(fake, events);
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
        failed: None,
    }
}

fn loaded(loader: &str) -> PageEvent {
    PageEvent::Load {
        frame: "main".into(),
        loader: loader.into(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_document_in_which_nothing_changes_ends_the_wait() {
    let fake = quiet_after(25);
    assert_eq!(settle(&fake, vec![]).await, (Settled::Quiet, 25));
}

#[tokio::test(start_paused = true)]
async fn a_request_is_waited_for_and_then_what_it_changes() {
    let fake = quiet_after(25);
    let events = vec![(20, sent("1", "/a")), (320, finished("1"))];
    assert_eq!(settle(&fake, events).await, (Settled::Quiet, 345));
}

#[tokio::test(start_paused = true)]
async fn a_chain_of_requests_is_waited_for_to_its_end() {
    let fake = quiet_after(25);
    let events = vec![
        (1, sent("1", "/a")),
        (100, finished("1")),
        (120, sent("2", "/b")),
        (220, finished("2")),
        (240, sent("3", "/c")),
        (340, finished("3")),
    ];
    assert_eq!(settle(&fake, events).await, (Settled::Quiet, 365));
}

#[tokio::test(start_paused = true)]
async fn a_request_without_response_times_out() {
    let fake = quiet_after(25);
    let (settled, took) = settle(&fake, vec![(10, sent("1", "/never"))]).await;
    assert_eq!(settled, Settled::TimedOut);
    assert_eq!(took, 5_000);
}

#[tokio::test(start_paused = true)]
async fn a_long_poll_from_before_is_not_waited_for() {
    let fake = quiet_after(25);
    fake.report(sent("poll", "/poll?1"));
    let events = vec![(20, finished("poll")), (21, sent("next", "/poll?2"))];
    assert_eq!(settle(&fake, events).await, (Settled::Quiet, 25));
}

#[tokio::test(start_paused = true)]
async fn without_a_watched_document_only_what_started_is_waited_for() {
    let fake = quiet_after(25);
    let before = Instant::now();
    let quiet = fake.page.watch_events();
    let requesting = fake.page.watch_events();
    assert_eq!(
        quiet.settle(&SettleOptions::default()).await,
        Settled::Quiet
    );
    assert_eq!(before.elapsed().as_millis(), 0);
    fake.report(sent("1", "/a"));
    let _telling = report_later(&fake, vec![(200, finished("1"))]);
    assert_eq!(
        requesting.settle(&SettleOptions::default()).await,
        Settled::Quiet
    );
    assert_eq!(before.elapsed().as_millis(), 225);
}

#[tokio::test(start_paused = true)]
async fn what_input_caused_is_waited_for() {
    let fake = Fake::new(
        |function, _| {
            let is_settled = function == "settled";
            Box::pin(async move {
                if is_settled {
                    tokio::time::sleep(Duration::from_millis(300)).await;
                    return Ok(json!({ "quiet": true, "opens": false }));
                }
                Ok(json!({ "pending": true, "within": [] }))
            })
        },
        |_| Box::pin(async { Ok(()) }),
    );
    let untracked = SettleOptions {
        causes: Duration::ZERO,
        ..SettleOptions::default()
    };
    for (options, took) in [(untracked, 0), (SettleOptions::default(), 300)] {
        let before = Instant::now();
        let settled = fake.page.watch_events().settle(&options).await;
        assert_eq!(
            (settled, before.elapsed().as_millis()),
            (Settled::Quiet, took)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_navigation_that_has_begun_is_waited_for_until_it_is_loaded() {
    let fake = quiet_after(25);
    let events = vec![
        (20, started("L")),
        (320, committed("L")),
        (400, loaded("L")),
    ];
    assert_eq!(settle(&fake, events).await, (Settled::Navigated, 425));
}

#[tokio::test(start_paused = true)]
async fn a_finished_navigation_is_detected() {
    let fake = quiet_after(25);
    let progress = Progress::new(Duration::from_secs(5));
    let watch = fake.page.watch(&progress).await;
    for event in [started("L"), committed("L"), loaded("L")] {
        fake.report(event);
    }
    assert_eq!(
        watch.settle(&SettleOptions::default()).await,
        Settled::Navigated
    );
}

#[tokio::test(start_paused = true)]
async fn a_redirecting_document_is_followed() {
    let fake = quiet_after(25);
    let events = vec![
        (1, started("1")),
        (2, committed("1")),
        (3, loaded("1")),
        (20, started("2")),
        (41, committed("2")),
        (100, loaded("2")),
    ];
    assert_eq!(settle(&fake, events).await, (Settled::Navigated, 125));
}

/// Returns how long a loaded document with a request of the given duration is waited for.
async fn first_request(fake: Fake, takes: u64) -> u128 {
    for event in [started("L"), committed("L"), sent("1", "/a"), loaded("L")] {
        fake.report(event);
    }
    let before = Instant::now();
    let _telling = report_later(&fake, vec![(takes, finished("1"))]);
    fake.page.settle_loaded().await;
    before.elapsed().as_millis()
}

#[tokio::test(start_paused = true)]
async fn first_requests_are_waited_for_until_shown() {
    assert_eq!(first_request(quiet_after(25), 200).await, 225);
}

#[tokio::test(start_paused = true)]
async fn the_wait_for_first_requests_is_bounded() {
    assert_eq!(first_request(quiet_after(25), 2_000).await, 300);
}

#[tokio::test(start_paused = true)]
async fn a_document_that_shows_a_loading_indicator_gets_more_time() {
    assert_eq!(first_request(waiting(25, true), 800).await, 825);
    assert_eq!(first_request(waiting(25, true), 2_000).await, 1_000);
}

#[tokio::test(start_paused = true)]
async fn a_loaded_document_that_fetches_nothing_is_not_waited_for() {
    let fake = quiet_after(25);
    for event in [started("L"), committed("L"), loaded("L")] {
        fake.report(event);
    }
    let before = Instant::now();
    fake.page.settle_loaded().await;
    assert_eq!(before.elapsed().as_millis(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_download_leaves_the_document_and_ends_the_wait() {
    let fake = quiet_after(25);
    let aborted = PageEvent::NavigationAborted {
        frame: "main".into(),
        loader: Some("L".into()),
        reason: None,
    };
    let events = vec![(5, started("L")), (35, aborted)];
    assert_eq!(settle(&fake, events).await, (Settled::Quiet, 60));
}

#[tokio::test(start_paused = true)]
async fn a_document_that_never_loads_times_out() {
    let fake = quiet_after(25);
    let events = vec![(5, started("L")), (25, committed("L"))];
    assert_eq!(settle(&fake, events).await, (Settled::TimedOut, 10_000));
}

#[tokio::test(start_paused = true)]
async fn a_dialog_ends_the_wait_at_once() {
    let fake = quiet_after(25);
    let dialog = PageEvent::DialogOpened {
        kind: DialogKind::Alert,
        message: String::new(),
        default_value: String::new(),
    };
    assert_eq!(settle(&fake, vec![(7, dialog)]).await, (Settled::Dialog, 7));
}

#[tokio::test(start_paused = true)]
async fn a_file_chooser_ends_the_wait_at_once() {
    let fake = quiet_after(25);
    let chooser = PageEvent::FileChooserOpened { multiple: false };
    assert_eq!(
        settle(&fake, vec![(7, chooser)]).await,
        (Settled::FileChooser, 7)
    );
}

#[tokio::test(start_paused = true)]
async fn a_page_that_closes_itself_ends_the_wait() {
    let fake = quiet_after(25);
    assert_eq!(
        settle(&fake, vec![(7, PageEvent::Closed)]).await,
        (Settled::Closed, 7)
    );
}

#[tokio::test(start_paused = true)]
async fn a_requested_download_is_waited_for_until_it_begins() {
    let fake = quiet_after(25);
    let progress = Progress::new(Duration::from_secs(5));
    for (begins, took) in [(130, 155), (900, 525)] {
        let watch = fake.page.watch(&progress).await;
        let before = Instant::now();
        fake.report(PageEvent::OpeningRequested);
        let download = tokio::time::sleep(Duration::from_millis(begins));
        let settled = watch
            .settle_with(&SettleOptions::default(), download, None)
            .await;
        assert_eq!(
            (settled, before.elapsed().as_millis()),
            (Settled::Quiet, took)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_popup_is_waited_for_until_it_is_loaded() {
    let fake = quiet_after(25);
    let popup = quiet_after(25);
    let progress = Progress::new(Duration::from_secs(5));
    let watch = fake.page.watch(&progress).await;
    let before = Instant::now();
    fake.page.record_popup(popup.page.clone());
    let events = vec![(20, started("L")), (50, committed("L")), (200, loaded("L"))];
    let _telling = report_later(&popup, events);
    let settled = watch.settle(&SettleOptions::default()).await;
    assert_eq!(
        (settled, before.elapsed().as_millis()),
        (Settled::Quiet, 225)
    );
}

#[tokio::test(start_paused = true)]
async fn an_unresponsive_page_times_out() {
    let fake = quiet_after(60_000);
    let (settled, took) = settle(&fake, vec![]).await;
    assert_eq!((settled, took), (Settled::TimedOut, 2_500));
}
