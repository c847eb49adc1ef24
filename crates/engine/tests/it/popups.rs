//! Popups, and init scripts.

use crate::harness::{call, click, eval, eval_in, frame_at, goto, in_a_context, on_a_page, soon};
use engine::{ContextOptions, LoadState};
use std::time::Duration;
use testkit::{Engine, eventually};

#[testkit::test(chromium, firefox)]
fn a_popup_has_its_opener_and_loads(engine: Engine) {
    on_a_page(engine, async |stage| {
        let url = stage.site.add_page("/popup", "<title>Popup</title>");
        stage.show("/", "<title>Opener</title>").await;
        let popup = stage
            .popup(async {
                eval(&stage.page, &format!("void open('{url}')")).await;
            })
            .await;
        assert_eq!(popup.opener().as_ref(), Some(stage.page.id()));
        eventually(async || popup.url() == url).await;
        assert!(
            popup
                .wait_for_load(LoadState::Loaded, Duration::from_secs(20))
                .await
        );
        assert_eq!(eval(&popup, "opener.document.title").await, "Opener");
        assert_eq!(popup.title(&soon()).await.unwrap(), "Popup");
    });
}

#[testkit::test(chromium, firefox)]
fn a_noopener_popup_has_an_opener(engine: Engine) {
    on_a_page(engine, async |stage| {
        let url = stage.site.add_page("/popup", "<title>Popup</title>");
        stage.show("/", "").await;
        let popup = stage
            .popup(async {
                eval(
                    &stage.page,
                    &format!("void open('{url}', '_blank', 'noopener')"),
                )
                .await;
            })
            .await;
        assert_eq!(popup.opener().as_ref(), Some(stage.page.id()));
        eventually(async || popup.url() == url).await;
        assert_eq!(eval(&popup, "opener").await, serde_json::Value::Null);
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_link_to_a_new_tab_opens_one_also_to_another_site(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.site.add_page("/popup", "<title>Popup</title>");
        let url = format!("{}/popup", stage.site.cross_origin_url());
        stage
            .show(
                "/",
                &format!(
                    "<a href='{url}' target=_blank rel=opener style='position:fixed;inset:0'>x</a>"
                ),
            )
            .await;
        let popup = stage
            .popup(async { click(&stage.page, 50.0, 50.0).await.unwrap() })
            .await;
        eventually(async || popup.url() == url).await;
        eventually(async || popup.frames()[0].loaded).await;
        assert_eq!(popup.title(&soon()).await.unwrap(), "Popup");
        assert_eq!(popup.opener().as_ref(), Some(stage.page.id()));
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_blank_popup_is_written_by_its_opener(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.show("/", "").await;
        let popup = stage
            .popup(async {
                let script = "() => { const w = open('about:blank'); w.document.write('<title>Written</title><p>by hand'); w.document.close(); }";
                eval(&stage.page, script).await;
            })
            .await;
        assert_eq!(popup.title(&soon()).await.unwrap(), "Written");
        assert_eq!(popup.url(), "about:blank");
        assert_eq!(eval(&popup, "document.body.innerText").await, "by hand");
        assert!(
            popup
                .wait_for_load(LoadState::Loaded, Duration::from_secs(20))
                .await
        );
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_popup_that_closes_itself_is_removed_from_the_context(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.show("/", "").await;
        let popup = stage
            .popup(async {
                eval(&stage.page, "void (globalThis.w = open('/status/200'))").await;
            })
            .await;
        eval(&stage.page, "w.close()").await;
        eventually(async || popup.is_closed()).await;
        assert_eq!(stage.context.pages(), std::slice::from_ref(&stage.page));
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn popups_that_close_at_once_are_removed(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.show("/", "").await;
        for _ in 0..10 {
            eval(
                &stage.page,
                "() => { open('/status/200').close(); open('').close(); }",
            )
            .await;
        }
        let last = stage
            .popup(async {
                eval(&stage.page, "void open('about:blank#last')").await;
            })
            .await;
        eventually(async || {
            let pages = stage.context.pages();
            (pages.len() == 2 && pages.contains(&last)).then_some(())
        })
        .await;
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn init_scripts_run_before_scripts_of_every_document(engine: Engine) {
    let options = ContextOptions {
        init_scripts: vec!["globalThis.early = (globalThis.early ?? 0) + 1;".to_owned()],
        ..ContextOptions::default()
    };
    in_a_context(engine, options, async |stage| {
        let page = &stage.page;
        let there = format!("{}/inner", stage.site.cross_origin_url());
        stage
            .site
            .add_page("/inner", "<script>seen = early + later</script>");
        stage
            .context
            .add_init_script(&soon(), "globalThis.later = 10;")
            .await
            .unwrap();
        stage
            .show(
                "/",
                &format!("<script>seen = early + later</script><iframe src='{there}'></iframe><iframe srcdoc='<script>seen = early + later</script>'></iframe>"),
            )
            .await;
        assert_eq!(eval(page, "seen").await, 11);
        for url in [there.as_str(), "about:srcdoc"] {
            let frame = frame_at(page, url).await;
            assert_eq!(eval_in(page, &frame.id, "seen").await, 11, "{url}");
        }
        let popup = stage
            .popup(async {
                eval(page, "void open('/inner')").await;
            })
            .await;
        eventually(async || popup.url().ends_with("/inner") && popup.frames()[0].loaded).await;
        assert_eq!(eval(&popup, "seen").await, 11);
        let blank = stage
            .popup(async {
                eval(page, "void open('about:blank')").await;
            })
            .await;
        assert_eq!(eval(&blank, "early + later").await, 11);
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn the_injected_script_runs_in_a_popup_that_never_navigated(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.show("/", "").await;
        let popup = stage
            .popup(async {
                eval(&stage.page, "void open('')").await;
            })
            .await;
        let main = popup.backend().main_frame();
        assert_eq!(call(&popup, &main, "title").await.unwrap(), "");
        goto(&popup, &stage.site.url("/status/200")).await;
        assert_eq!(call(&popup, &main, "title").await.unwrap(), "Status");
    });
}
