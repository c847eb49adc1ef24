//! Many concurrent operations: none hangs, and no resources accumulate.

use crate::harness::{click_until, eval, eval_in, goto, on_a_page, soon, with_browser};
use engine::{ContextOptions, Error, LoadState, Progress};
use std::time::Duration;
use testkit::harness::input_size;
use testkit::{Engine, eventually};

#[testkit::test(chromium, firefox)]
fn a_page_in_an_endless_loop_times_out_and_can_be_closed(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage
            .show(
                "/",
                // Before `load`, the loop would keep the page from loading.
                "<script>onload = () => setTimeout(() => { document.title = 'looping'; for (;;); }, 100)</script>",
            )
            .await;
        let looping = async || {
            let short = Progress::new(Duration::from_millis(400));
            page.title(&short).await
        };
        let error = async {
            loop {
                if let Err(error) = looping().await {
                    return error;
                }
            }
        };
        let error = tokio::time::timeout(Duration::from_secs(20), error)
            .await
            .unwrap();
        assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
        let short = Progress::new(Duration::from_millis(400));
        let error = page.evaluate(&short, "1").await.unwrap_err();
        assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
        page.close(&soon()).await.unwrap();
        let next = stage.context.new_page(&soon()).await.unwrap();
        goto(&next, &stage.site.url("/status/200")).await;
    });
}

#[testkit::test(chromium, firefox, nightly(firefox), slow)]
fn hundreds_of_contexts_and_pages_leak_no_task(engine: Engine) {
    with_browser(engine, async |browser| {
        let open_and_close = async || {
            let context = browser
                .new_context(&soon(), ContextOptions::default())
                .await
                .unwrap();
            let page = context.new_page(&soon()).await.unwrap();
            assert_eq!(eval(&page, "1").await, 1);
            context.close(&soon()).await.unwrap();
            assert!(page.is_closed());
            (context, page)
        };
        let mut gone = Vec::new();
        // Opening a window of Firefox takes half a second.
        let times = if engine == Engine::Chromium { 100 } else { 30 };
        for _ in 0..input_size(times) {
            let (context, page) = open_and_close().await;
            gone.push((context, std::sync::Arc::downgrade(page.backend())));
        }
        // After the last event, only these references remain.
        let pages: Vec<_> = gone.drain(..).map(|(_, page)| page).collect();
        let none_left = async {
            while pages.iter().any(|page| page.strong_count() > 0) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let limit = Duration::from_secs(20);
        tokio::time::timeout(limit, none_left).await.unwrap();
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn ten_thousand_messages_are_counted(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage.show("/", "").await;
        eval(
            page,
            "() => { for (let i = 0; i < 10_000; i++) console.log('message', i, { i }); }",
        )
        .await;
        eventually(async || page.console_counts().total == 10_000).await;
        assert_eq!(
            page.console(0).last().unwrap().message.text,
            "message 9999 {i: 9999}"
        );
        assert!(!page.is_closed());
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_flood_of_messages_does_not_close_the_page(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage.show("/", "").await;
        // The result of the call would arrive after all of them.
        // A tenth is more than is queued and than is kept, too.
        let count = input_size(100_000);
        let flood = format!(
            "() => setTimeout(() => {{ for (let i = 0; i < {count}; i++) console.log(i); }})"
        );
        eval(page, &flood).await;
        // The test continues as long as events arrive.
        let mut seen = 0;
        while seen < count {
            eventually(async || page.console_counts().total > seen || page.is_closed()).await;
            assert!(!page.is_closed());
            seen = page.console_counts().total;
        }
        assert!(!page.is_closed());
    });
}

#[testkit::test(chromium, firefox, nightly(firefox), slow)]
fn frames_of_three_kinds_load_and_are_removed(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage.site.add_page("/leaf", "leaf");
        let there = format!("{}/leaf", stage.site.cross_origin_url());
        let frames = format!("<iframe src=/leaf></iframe><iframe src='{there}'></iframe><iframe srcdoc=leaf></iframe>").repeat(input_size(100));
        stage.show("/", &frames).await;
        eventually(async || {
            let frames = page.frames();
            frames.len() == 3 * input_size(100) + 1 && frames.iter().all(|frame| frame.loaded)
        })
        .await;
        for frame in page.frames().iter().skip(1) {
            assert_eq!(
                eval_in(page, &frame.id, "document.body.innerText").await,
                "leaf"
            );
        }
        page.reload(&soon(), false, LoadState::Committed)
            .await
            .unwrap();
        goto(page, &stage.site.url("/leaf")).await;
        assert_eq!(page.frames().len(), 1);
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_page_with_endless_alerts_can_be_navigated(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage
            .show(
                "/",
                "<button style='position:fixed;inset:0' onclick='for (;;) alert(1)'>x</button>",
            )
            .await;
        click_until(page, 50.0, 50.0, || page.dialog().is_some()).await;
        for _ in 0..10 {
            eventually(async || page.dialog().is_some()).await;
            page.answer_dialog(&soon(), true, None).await.unwrap();
        }
        page.close(&soon()).await.unwrap();
    });
}
