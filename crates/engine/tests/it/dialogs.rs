//! Dialogs and file choosers, which block the page until they are handled.

use crate::harness::{
    Stage, click_until, eval, eval_in, frame_at, on_a_page, soon, wait_until_drawn,
};
use engine::{DialogKind, Error, LoadState};
use testkit::{Engine, eventually};

/// A page that consists of a button that runs `script`.
async fn button(stage: &Stage, script: &str) {
    let html = format!(
        "<title>Dialogs</title><button onclick=\"{script}\" style='position:fixed;inset:0'>x</button>"
    );
    stage.show("/", &html).await;
}

async fn opened(stage: &Stage) -> engine::Dialog {
    click_until(&stage.page, 50.0, 50.0, || stage.page.dialog().is_some()).await;
    stage.page.dialog().unwrap()
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn dialogs_of_all_kinds_are_answered(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        for (script, kind, accept, text, answer) in [
            (
                "r = alert('hi')",
                DialogKind::Alert,
                true,
                None,
                "undefined",
            ),
            ("r = confirm('hi')", DialogKind::Confirm, true, None, "true"),
            (
                "r = confirm('hi')",
                DialogKind::Confirm,
                false,
                None,
                "false",
            ),
            (
                "r = prompt('hi', 'there')",
                DialogKind::Prompt,
                true,
                Some("you"),
                "you",
            ),
            (
                "r = prompt('hi', 'there')",
                DialogKind::Prompt,
                true,
                None,
                "",
            ),
            (
                "r = prompt('hi', 'there')",
                DialogKind::Prompt,
                false,
                None,
                "null",
            ),
        ] {
            button(stage, script).await;
            let dialog = opened(stage).await;
            assert_eq!((dialog.kind, dialog.message.as_str()), (kind, "hi"));
            let error = page.title(&soon()).await.unwrap_err();
            assert!(matches!(error, Error::DialogOpen {}), "{error:?}");
            page.answer_dialog(&soon(), accept, text).await.unwrap();
            assert_eq!(page.dialog(), None);
            assert_eq!(eval(page, "String(r)").await, answer, "{script} {accept}");
        }
        let error = page.answer_dialog(&soon(), true, None).await.unwrap_err();
        assert!(matches!(error, Error::Protocol { .. }), "{error:?}");
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn one_dialog_follows_another(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        button(stage, "for (let i = 0; i < 5; i++) alert(i); done = 1").await;
        opened(stage).await;
        for number in 0..5 {
            let expected = number.to_string();
            eventually(async || {
                page.dialog()
                    .is_some_and(|dialog| dialog.message == expected)
            })
            .await;
            page.answer_dialog(&soon(), true, None).await.unwrap();
        }
        assert_eq!(eval(page, "done").await, 1);
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_dialog_of_a_frame_in_another_process_is_answered(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let there = format!("{}/inner", stage.site.cross_origin_url());
        stage.site.add_page(
            "/inner",
            "<button onclick=\"r = confirm('inside')\" style='position:fixed;inset:0'>x</button>",
        );
        stage
            .show("/", &format!("<body style='margin:0'><iframe src='{there}' style='border:0;width:200px;height:200px'></iframe>"))
            .await;
        let frame = frame_at(page, &there).await;
        wait_until_drawn(page, &frame).await;
        assert_eq!(opened(stage).await.message, "inside");
        page.answer_dialog(&soon(), true, None).await.unwrap();
        assert_eq!(eval_in(page, &frame.id, "r").await, true);
    });
}

#[testkit::test(chromium, firefox)]
fn a_dialog_while_a_page_loads_ends_the_call(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let url = stage
            .site
            .add_page("/", "<script>alert('first')</script><title>After</title>");
        page.goto(&soon(), &url, LoadState::Loaded).await.unwrap();
        assert_eq!(page.dialog().unwrap().message, "first");
        page.answer_dialog(&soon(), true, None).await.unwrap();
        eventually(async || page.frames()[0].loaded).await;
        assert_eq!(page.title(&soon()).await.unwrap(), "After");
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_beforeunload_dialog_is_reported(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let html = "<title>Asks</title><script>onbeforeunload = e => e.preventDefault()</script><button style='position:fixed;inset:0' onclick='clicked = 1'>x</button>";
        let url = stage.show("/", html).await;
        let other = stage.site.url("/status/200");
        crate::harness::click(page, 50.0, 50.0).await.unwrap();
        let error = page
            .goto(&soon(), &other, LoadState::Loaded)
            .await
            .unwrap_err();
        assert!(matches!(error, Error::DialogOpen {}), "{error:?}");
        assert_eq!(page.dialog().unwrap().kind, DialogKind::Beforeunload);
        page.answer_dialog(&soon(), false, None).await.unwrap();
        eventually(async || !page.frames()[0].pending).await;
        assert_eq!(page.url(), url);
        assert_eq!(page.title(&soon()).await.unwrap(), "Asks");

        let error = page
            .goto(&soon(), &other, LoadState::Loaded)
            .await
            .unwrap_err();
        assert!(matches!(error, Error::DialogOpen {}), "{error:?}");
        page.answer_dialog(&soon(), true, None).await.unwrap();
        eventually(async || page.url() == other).await;
        assert_eq!(page.title(&soon()).await.unwrap(), "Status");
    });
}

#[testkit::test(chromium, firefox)]
fn a_dialog_is_closed_with_its_page(engine: Engine) {
    on_a_page(engine, async |stage| {
        button(stage, "alert('bye')").await;
        opened(stage).await;
        stage.page.close(&soon()).await.unwrap();
        assert!(stage.context.pages().is_empty());
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn file_choosers_are_answered(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let folder = tempfile::tempdir().unwrap();
        let files: Vec<_> = ["a.txt", "b.txt"]
            .iter()
            .map(|name| folder.path().join(name))
            .collect();
        for file in &files {
            std::fs::write(file, file.display().to_string()).unwrap();
        }
        let there = format!("{}/inner", stage.site.cross_origin_url());
        let input = "<body style='margin:0'><input type=file style='width:200px;height:100px' onchange=\"names = [...this.files].map(file => file.name)\"";
        stage.site.add_page("/inner", &format!("{input} multiple>"));
        let opened = async || {
            click_until(page, 30.0, 10.0, || page.file_chooser().is_some()).await;
            page.file_chooser().unwrap()
        };

        stage.show("/", &format!("{input}>")).await;
        assert!(!opened().await.multiple);
        page.answer_file_chooser(&soon(), Some(&files[..1]))
            .await
            .unwrap();
        assert_eq!(eval(page, "names").await, serde_json::json!(["a.txt"]));
        assert_eq!(page.file_chooser(), None);

        // Cancelled: the field keeps its files, and can be used again.
        opened().await;
        page.answer_file_chooser(&soon(), None).await.unwrap();
        assert_eq!(page.file_chooser(), None);
        assert_eq!(eval(page, "names").await, serde_json::json!(["a.txt"]));
        opened().await;

        // An error leaves it open.
        let missing = [folder.path().join("missing.txt")];
        let refused = page.answer_file_chooser(&soon(), Some(&missing)).await;
        assert!(matches!(refused, Err(engine::Error::File { .. })));
        assert!(page.file_chooser().is_some());
        page.answer_file_chooser(&soon(), Some(&files[1..]))
            .await
            .unwrap();
        assert_eq!(eval(page, "names").await, serde_json::json!(["b.txt"]));
        let none_open = page.answer_file_chooser(&soon(), Some(&files[1..])).await;
        assert!(matches!(none_open, Err(engine::Error::Protocol { .. })));

        stage
            .show(
                "/",
                &format!("<body style='margin:0'><iframe style='border:0' src='{there}'>"),
            )
            .await;
        let frame = frame_at(page, &there).await;
        wait_until_drawn(page, &frame).await;
        assert!(opened().await.multiple);
        page.answer_file_chooser(&soon(), Some(&files))
            .await
            .unwrap();
        assert_eq!(
            eval_in(page, &frame.id, "names").await,
            serde_json::json!(["a.txt", "b.txt"])
        );
    });
}
