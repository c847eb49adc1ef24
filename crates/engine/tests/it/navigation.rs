//! Navigations: their start, their results, and their effects.

use crate::harness::{click, click_until, eval, goto, in_a_context, on_a_page, soon};
use engine::{ContextOptions, Error, LoadState, NetError, Page, Progress};
use std::time::Duration;
use testkit::{Engine, Resource, eventually};

fn pending(page: &Page) -> bool {
    page.frames().iter().any(|frame| frame.pending)
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_redirect_ends_at_its_target(engine: Engine) {
    on_a_page(engine, async |stage| {
        let end = stage.site.add_page("/end", "<title>End</title>");
        goto(
            &stage.page,
            &stage.site.url("/redirect?to=/redirect?to=/end"),
        )
        .await;
        assert_eq!(stage.page.url(), end);
        assert_eq!(stage.page.status(), Some((200, "OK".to_owned())));
        assert!(!pending(&stage.page));
    });
}

#[testkit::test(chromium, firefox)]
fn a_204_and_a_download_leave_the_document_as_it_is(engine: Engine) {
    let folder = tempfile::tempdir().unwrap();
    let options = ContextOptions {
        downloads: Some(folder.path().into()),
        ..ContextOptions::default()
    };
    in_a_context(engine, options, async |stage| {
        let url = stage.show("/", "<title>Stays</title><a href='/status/204' style='position:fixed;inset:0 0 50% 0'>a</a><a href='/download' style='position:fixed;inset:50% 0 0 0'>b</a>").await;
        let page = &stage.page;
        for path in ["/status/204", "/download"] {
            goto(page, &stage.site.url(path)).await;
            assert_eq!(page.url(), url);
            eventually(async || !pending(page)).await;
        }
        for y in [100.0, 500.0] {
            let sent = stage.received_requests().len();
            click(page, 100.0, y).await.unwrap();
            // The second navigation would replace the first until that is sent.
            eventually(async || stage.received_requests().len() > sent && !pending(page)).await;
        }
        assert_eq!(page.title(&soon()).await.unwrap(), "Stays");
        goto(page, &stage.site.url("/status/200")).await;
        assert_eq!(page.title(&soon()).await.unwrap(), "Status");
    });
}

#[testkit::test(chromium, firefox)]
fn a_fragment_and_the_history_api_change_the_url_only(engine: Engine) {
    on_a_page(engine, async |stage| {
        let url = stage.show("/", "<title>One</title>").await;
        let page = &stage.page;
        eval(page, "marker = 1").await;
        goto(page, &format!("{url}#there")).await;
        assert_eq!(page.url(), format!("{url}#there"));
        eval(page, "history.pushState({}, '', '/pushed')").await;
        eventually(async || page.url().ends_with("/pushed")).await;
        eval(page, "history.pushState({}, '', '/pushed')").await;
        assert_eq!(eval(page, "marker").await, 1);
        // Two entries of the same URL: nothing changes visibly, but it is a navigation.
        assert!(page.go(&soon(), -1, LoadState::Loaded).await.unwrap());
        assert!(page.go(&soon(), -1, LoadState::Loaded).await.unwrap());
        assert_eq!(page.url(), format!("{url}#there"));
        assert!(page.go(&soon(), -1, LoadState::Loaded).await.unwrap());
        assert_eq!(page.url(), url);
        assert!(page.go(&soon(), 2, LoadState::Loaded).await.unwrap());
        assert!(page.url().ends_with("/pushed"));
        assert_eq!(eval(page, "marker").await, 1);
        assert!(!pending(page));
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn back_and_forward_between_documents(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let there = format!("{}/two", stage.site.cross_origin_url());
        stage
            .site
            .add_page("/two", "<title>Two</title><iframe src=/leaf></iframe>");
        stage.site.add_page("/leaf", "leaf");
        let one = stage
            .show("/one", "<title>One</title><iframe src=/leaf></iframe>")
            .await;
        goto(page, &there).await;
        for _ in 0..3 {
            assert!(page.go(&soon(), -1, LoadState::Loaded).await.unwrap());
            assert_eq!(page.url(), one);
            assert_eq!(page.title(&soon()).await.unwrap(), "One");
            assert_eq!(eval(page, "document.title").await, "One");
            eventually(async || page.frames().len() == 2).await;
            assert!(page.go(&soon(), 1, LoadState::Loaded).await.unwrap());
            assert_eq!(page.url(), there);
            assert_eq!(page.title(&soon()).await.unwrap(), "Two");
        }
        assert!(!page.go(&soon(), 1, LoadState::Loaded).await.unwrap());
    });
}

#[testkit::test(chromium, firefox)]
fn a_history_of_one_entry_has_no_back(engine: Engine) {
    on_a_page(engine, async |stage| {
        assert!(!stage.page.go(&soon(), -1, LoadState::Loaded).await.unwrap());
        assert!(
            !stage
                .page
                .go(&soon(), -100, LoadState::Loaded)
                .await
                .unwrap()
        );
    });
}

#[testkit::test(chromium, firefox)]
fn a_reload_creates_a_new_document(engine: Engine) {
    on_a_page(engine, async |stage| {
        let url = stage.show("/", "<title>Same</title>").await;
        eval(&stage.page, "marker = 1").await;
        stage
            .page
            .reload(&soon(), false, LoadState::Loaded)
            .await
            .unwrap();
        assert_eq!(eval(&stage.page, "typeof marker").await, "undefined");
        assert_eq!(stage.page.url(), url);
        stage
            .page
            .reload(&soon(), true, LoadState::Loaded)
            .await
            .unwrap();
        assert!(
            stage
                .received_requests()
                .last()
                .unwrap()
                .header("cache-control")
                .is_some()
        );
    });
}

#[testkit::test(chromium, firefox)]
fn failed_navigations_have_a_net_error(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        for (url, expected) in [
            ("http://127.0.0.1:9/", NetError::UnsafePort),
            ("http://127.0.0.1:1023/", NetError::ConnectionRefused),
            ("file:///nowhere/at/all", NetError::FileNotFound),
        ] {
            let error = page
                .goto(&soon(), url, LoadState::Loaded)
                .await
                .unwrap_err();
            let Error::NavigationFailed { reason, .. } = &error else {
                panic!("{error:?}")
            };
            assert_eq!(*reason, expected);
            eventually(async || !pending(page)).await;
        }
        let error = page
            .goto(&soon(), "not a url", LoadState::Loaded)
            .await
            .unwrap_err();
        assert!(matches!(error, Error::InvalidUrl { .. }), "{error:?}");
        goto(page, &stage.site.url("/status/404")).await;
        assert_eq!(page.status().unwrap().0, 404);
        goto(page, &stage.site.url("/status/500")).await;
        assert_eq!(page.status().unwrap().0, 500);
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_failed_reload_has_a_net_error(engine: Engine) {
    on_a_page(engine, async |stage| {
        let site = testkit::Site::start().await;
        let url = site.add_page("/", "<title>Once</title>");
        goto(&stage.page, &url).await;
        drop(site);
        let error = stage
            .page
            .reload(&soon(), false, LoadState::Loaded)
            .await
            .unwrap_err();
        assert!(
            matches!(&error, Error::NavigationFailed { reason, .. } if reason.to_string().starts_with("net::ERR_")),
            "{error:?}"
        );
    });
}

#[testkit::test(
    chromium,
    not(firefox = "the answer comes before the document, without the reason of a failure")
)]
fn a_later_navigation_aborts_an_earlier_one(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let end = stage.site.add_page("/end", "<title>End</title>");
        let hang = stage.site.url("/hang");
        stage.show("/", "<title>Start</title>").await;
        let progress = soon();
        let first = page.goto(&progress, &hang, LoadState::Loaded);
        let second = async {
            eventually(async || page.requests().iter().any(|sent| sent.url == hang)).await;
            goto(page, &end).await;
        };
        let (first, ()) = tokio::join!(first, second);
        // The first one was aborted.
        assert!(
            matches!(&first, Err(Error::NavigationFailed { url, .. }) if *url == hang),
            "{first:?}"
        );
        assert_eq!(page.url(), end);
        assert_eq!(page.title(&soon()).await.unwrap(), "End");
        assert!(!pending(page));

        // The page itself navigates away.
        let away = stage
            .site
            .add_page("/away", &format!("<script>location = '{end}'</script>"));
        for _ in 0..5 {
            goto(page, &away).await;
            eventually(async || page.url() == end && !pending(page)).await;
        }
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn an_endless_response_is_shown_and_its_load_times_out(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let url = stage.site.url("/never");
        page.goto(&soon(), &url, LoadState::Committed)
            .await
            .unwrap();
        assert_eq!(page.title(&soon()).await.unwrap(), "Never");
        let short = Progress::new(Duration::from_millis(500));
        let error = page
            .goto(&short, &url, LoadState::Loaded)
            .await
            .unwrap_err();
        assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
        let short = Progress::new(Duration::from_millis(500));
        let hang = stage.site.url("/hang");
        let error = page
            .goto(&short, &hang, LoadState::Committed)
            .await
            .unwrap_err();
        assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
        // The page remains usable.
        goto(page, &stage.site.url("/status/200")).await;
        assert_eq!(page.title(&soon()).await.unwrap(), "Status");
    });
}

#[testkit::test(chromium, firefox)]
fn a_document_can_be_replaced_by_document_write(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage.show("/", "<title>Old</title>").await;
        eval(page, "() => { document.open(); document.write('<title>New</title><p>new'); document.close(); }").await;
        assert_eq!(page.title(&soon()).await.unwrap(), "New");
        assert!(
            page.wait_for_load(LoadState::Loaded, Duration::from_secs(20))
                .await
        );
        assert!(!pending(page));
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_meta_refresh_is_followed(engine: Engine) {
    on_a_page(engine, async |stage| {
        let end = stage.site.add_page("/end", "<title>End</title>");
        stage
            .show("/", "<meta http-equiv=refresh content='0;url=/end'>")
            .await;
        eventually(async || stage.page.url() == end).await;
        assert_eq!(stage.page.title(&soon()).await.unwrap(), "End");
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn links_without_navigation_leave_nothing_pending(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        for href in [
            "javascript:void(clicked = 1)",
            "mailto:someone@example.com",
            "tel:123",
            "unknown-scheme:x",
            "#",
            "blob:nothing",
        ] {
            let html = format!(
                "<title>Stays</title><a href='{href}' onclick='setTimeout(() => after = 1)' style='position:fixed;inset:0'>x</a>"
            );
            let url = stage.show("/", &html).await;
            click(page, 100.0, 100.0).await.unwrap();
            eval(page, "async () => { while (!globalThis.after) await new Promise(r => setTimeout(r)); await new Promise(r => setTimeout(r, 50)); }").await;
            eventually(async || !pending(page)).await;
            assert_eq!(page.url().trim_end_matches('#'), url, "{href}");
            assert_eq!(page.title(&soon()).await.unwrap(), "Stays", "{href}");
        }
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn requests_that_fail_do_not_end_a_navigation(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage.site.add(
            "/late",
            Resource::html("<title>Late</title>").delay(Duration::from_millis(300)),
        );
        stage
            .show(
                "/",
                "<script>go = () => { fetch('/hang').catch(() => 0); const c = new AbortController(); fetch('/hang', { signal: c.signal }).catch(() => 0); location = '/late'; c.abort(); fetch('http://127.0.0.1:9/').catch(() => 0) }</script><button onclick='go()' style='position:fixed;inset:0'>x</button>",
            )
            .await;
        click_until(page, 50.0, 50.0, || pending(page)).await;
        // The navigation is in progress until the document arrives.
        let mut gave_up = false;
        eventually(async || {
            let arrived = page.url().ends_with("/late");
            gave_up |= !arrived && !pending(page);
            arrived
        })
        .await;
        assert!(!gave_up);
    });
}

#[testkit::test(chromium, not(firefox = "no command crashes a page"))]
fn a_crash_is_reported_and_the_page_can_be_closed(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage.show("/", "").await;
        let main = page.backend().main_frame();
        let progress = soon();
        let pending = progress.run(async { page.evaluate(&soon(), "new Promise(() => {})").await });
        let crashing = async {
            let _ = main;
            page.goto(&soon(), "chrome://crash", LoadState::Loaded)
                .await
        };
        let (pending, crashed) = tokio::join!(pending, crashing);
        assert!(
            matches!(pending, Err(Error::PageCrashed {} | Error::DocumentGone {})),
            "{pending:?}"
        );
        assert!(crashed.is_err());
        eventually(async || page.is_crashed()).await;
        let error = page.title(&soon()).await.unwrap_err();
        assert!(matches!(error, Error::PageCrashed {}), "{error:?}");
        let error = page
            .goto(&soon(), &stage.site.url("/"), LoadState::Loaded)
            .await
            .unwrap_err();
        assert!(matches!(error, Error::PageCrashed {}), "{error:?}");
        page.close(&soon()).await.unwrap();
        assert!(stage.context.pages().is_empty());
        let next = stage.context.new_page(&soon()).await.unwrap();
        goto(&next, &stage.site.url("/")).await;
    });
}

#[testkit::test(chromium, firefox)]
fn closing_a_page_ends_its_pending_calls(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage
            .show(
                "/",
                "<script>onbeforeunload = e => e.preventDefault()</script>",
            )
            .await;
        click(page, 10.0, 10.0).await.unwrap();
        let progress = soon();
        let pending = page.evaluate(&progress, "new Promise(() => {})");
        let closing = async { page.close(&soon()).await };
        let (pending, closed) = tokio::join!(pending, closing);
        assert!(matches!(pending, Err(Error::PageClosed {})), "{pending:?}");
        closed.unwrap();
        assert!(page.is_closed());
        page.close(&soon()).await.unwrap();
        assert!(matches!(
            page.title(&soon()).await,
            Err(Error::PageClosed {})
        ));
        assert!(matches!(
            page.goto(&soon(), "about:blank", LoadState::Loaded).await,
            Err(Error::PageClosed {})
        ));
    });
}
