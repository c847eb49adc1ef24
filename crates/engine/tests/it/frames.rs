//! In-process and out-of-process frames: attaching, detaching and navigating.

use crate::harness::{
    Stage, call, click, eval, eval_in, frame_at, goto, on_a_page, soon, wait_until_drawn,
};
use engine::{Error, FrameFacts, FrameId, Page};
use serde_json::Value;
use testkit::{Engine, eventually};

/// Returns the URL of a path on the other origin.
fn elsewhere(stage: &Stage, path: &str) -> String {
    format!("{}{path}", stage.site.cross_origin_url())
}

/// Returns handles of the frame elements inside a frame.
async fn owners(page: &Page, frame: &FrameId) -> Vec<u64> {
    let inner: Vec<FrameFacts> = page
        .frames()
        .into_iter()
        .filter(|inner| inner.parent.as_ref() == Some(frame))
        .collect();
    let mut handles = Vec::new();
    for inner in inner {
        let owner = soon()
            .run(page.backend().frame_owner(&inner.id))
            .await
            .unwrap();
        let (parent, handle) = owner.unwrap();
        assert_eq!(parent, *frame);
        handles.push(handle);
    }
    handles
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn scripts_run_in_every_nested_frame_of_two_origins(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let outer = elsewhere(stage, "/outer");
        let back = stage.site.url("/back");
        stage.site.add_page(
            "/outer",
            &format!("<p>outer</p><iframe name=back src='{back}'></iframe>"),
        );
        stage.site.add_page("/back", "<p>back</p>");
        let same = stage.site.add_page("/same", "<p>same</p>");
        stage
            .show(
                "/",
                &format!(
                    "<p>main</p><iframe src='{same}'></iframe><iframe src='{outer}'></iframe><iframe srcdoc='<p>inline</p>'></iframe>"
                ),
            )
            .await;
        let main = page.backend().main_frame();
        let mut found = Vec::new();
        for url in [same.as_str(), &outer, &back, "about:srcdoc"] {
            let frame = frame_at(page, url).await;
            found.push(eval_in(page, &frame.id, "document.body.innerText.trim()").await);
            assert_eq!(call(page, &frame.id, "title").await.unwrap(), "");
        }
        assert_eq!(found, ["same", "outer", "back", "inline"]);
        let frames = page.frames();
        assert_eq!(frames.len(), 5);
        assert_eq!(frames[0].id, main);
        let (outer, back) = (frame_at(page, &outer).await, frame_at(page, &back).await);
        assert_eq!(back.parent.as_ref(), Some(&outer.id));
        assert_eq!(back.name, "back");

        // From frame to element and back.
        let handles = owners(page, &main).await;
        let held = soon()
            .run(page.backend().content_frames(&main, &handles))
            .await
            .unwrap();
        let expected: Vec<_> = frames
            .iter()
            .filter(|frame| frame.parent.as_ref() == Some(&main))
            .map(|frame| Some(frame.id.clone()))
            .collect();
        assert_eq!(held, expected);
        let handles = owners(page, &outer.id).await;
        let held = soon()
            .run(page.backend().content_frames(&outer.id, &handles))
            .await
            .unwrap();
        assert_eq!(held, [Some(back.id.clone())]);
        assert_eq!(
            soon().run(page.backend().frame_owner(&main)).await.unwrap(),
            None
        );
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_frame_moves_between_processes_and_keeps_its_name(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let here = stage
            .site
            .add_page("/here", "<p>here</p><iframe src=/leaf></iframe>");
        let there = elsewhere(stage, "/there");
        stage
            .site
            .add_page("/there", "<p>there</p><iframe src=/leaf></iframe>");
        stage.site.add_page("/leaf", "<p>leaf</p>");
        stage
            .show("/", &format!("<iframe src='{here}'></iframe>"))
            .await;
        let first = frame_at(page, &here).await;
        for round in 0..3 {
            for (url, text) in [(&there, "there"), (&here, "here")] {
                eval(
                    page,
                    &format!("document.querySelector('iframe').src = '{url}'"),
                )
                .await;
                let frame = frame_at(page, url).await;
                assert_eq!(frame.id, first.id);
                assert_eq!(
                    eval_in(page, &frame.id, "document.body.innerText.trim()").await,
                    text,
                    "round {round}"
                );
                assert_eq!(call(page, &frame.id, "title").await.unwrap(), "");
                let leaf = eventually(async || {
                    let frames = page.frames();
                    let leaf = frames
                        .iter()
                        .find(|leaf| leaf.parent.as_ref() == Some(&frame.id) && leaf.loaded)?;
                    assert_eq!(frames.len(), 3, "{frames:?}");
                    Some(leaf.clone())
                })
                .await;
                assert_eq!(
                    eval_in(page, &leaf.id, "document.body.innerText").await,
                    "leaf"
                );
            }
        }
    });
}

#[testkit::test(chromium, firefox)]
fn frames_come_and_go(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let there = elsewhere(stage, "/there");
        stage.site.add_page("/there", "<iframe src=/leaf></iframe>");
        stage.site.add_page("/leaf", "leaf");
        stage.show("/", "<body></body>").await;
        for _ in 0..5 {
            for url in ["/leaf", &there] {
                eval(
                    page,
                    &format!("document.body.append(Object.assign(document.createElement('iframe'), {{ src: '{url}' }}))"),
                )
                .await;
            }
            eventually(async || {
                page.frames().len() == 4 && page.frames().iter().all(|frame| frame.loaded)
            })
            .await;
            let inner = frame_at(page, &there).await;
            eval(
                page,
                "document.querySelectorAll('iframe').forEach(frame => frame.remove())",
            )
            .await;
            eventually(async || page.frames().len() == 1).await;
            let error = call(page, &inner.id, "title").await.unwrap_err();
            assert!(matches!(error, Error::DocumentGone {}), "{error:?}");
        }
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_cross_site_navigation_removes_all_frames(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let there = elsewhere(stage, "/there");
        stage.site.add_page("/there", "<iframe src=/leaf></iframe>");
        stage.site.add_page("/leaf", "leaf");
        let here = stage.site.add_page(
            "/here",
            &format!("<iframe src=/leaf></iframe><iframe src='{there}'></iframe>"),
        );
        for _ in 0..3 {
            goto(page, &here).await;
            eventually(async || page.frames().len() == 4).await;
            goto(page, &there).await;
            eventually(async || page.frames().len() == 2).await;
            let leaf = frame_at(page, &elsewhere(stage, "/leaf")).await;
            assert_eq!(
                eval_in(page, &leaf.id, "document.body.innerText").await,
                "leaf"
            );
        }
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_click_by_coordinates_reaches_into_a_frame_of_another_process(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let there = elsewhere(stage, "/there");
        stage.site.add_page(
            "/there",
            "<body style='margin:0'><button style='width:100px;height:50px' onclick='this.textContent = event.isTrusted'>no</button>",
        );
        stage
            .show(
                "/",
                &format!(
                    "<body style='margin:0'><div style='height:100px'></div><iframe style='border:0;margin-left:40px' src='{there}'></iframe>"
                ),
            )
            .await;
        let frame = frame_at(page, &there).await;
        wait_until_drawn(page, &frame).await;
        click(page, 60.0, 120.0).await.unwrap();
        assert_eq!(
            eval_in(
                page,
                &frame.id,
                "document.querySelector('button').textContent"
            )
            .await,
            "true"
        );
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_call_during_a_navigation_can_be_retried(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let other = stage.site.add_page("/other", "<title>Other</title>");
        stage.show("/", "<title>One</title>").await;
        let main = page.backend().main_frame();
        let progress = soon();
        let waiting = progress.run(
            page.backend()
                .evaluate(&main, "new Promise(() => {})", None),
        );
        let (waited, ()) = tokio::join!(waiting, goto(page, &other));
        assert!(matches!(waited, Err(Error::DocumentGone {})), "{waited:?}");
        assert_eq!(page.title(&soon()).await.unwrap(), "Other");

        // Then to another process.
        let there = elsewhere(stage, "/other");
        let progress = soon();
        let waiting = progress.run(
            page.backend()
                .evaluate(&main, "new Promise(() => {})", None),
        );
        let (waited, ()) = tokio::join!(waiting, goto(page, &there));
        assert!(matches!(waited, Err(Error::DocumentGone {})), "{waited:?}");
        assert_eq!(page.title(&soon()).await.unwrap(), "Other");
    });
}

#[testkit::test(chromium, firefox)]
fn a_call_in_a_removed_frame_ends(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let there = elsewhere(stage, "/leaf");
        let leaf = stage.site.add_page("/leaf", "leaf");
        for url in [&leaf, &there] {
            stage
                .show("/", &format!("<iframe src='{url}'></iframe>"))
                .await;
            let frame = frame_at(page, url).await;
            let progress = soon();
            let waiting = progress.run(page.backend().evaluate(
                &frame.id,
                "new Promise(() => {})",
                None,
            ));
            let (waited, _) = tokio::join!(
                waiting,
                eval(page, "document.querySelector('iframe').remove()")
            );
            assert!(matches!(waited, Err(Error::DocumentGone {})), "{waited:?}");
        }
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn calls_survive_repeated_navigations(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let urls = [stage.site.url("/x"), elsewhere(stage, "/x")];
        stage
            .site
            .add_page("/x", "<title>X</title><iframe src=/leaf></iframe>");
        stage.site.add_page("/leaf", "leaf");
        let main = page.backend().main_frame();
        let asking = async {
            let mut answers = 0;
            while answers < 200 {
                match call(page, &main, "title").await {
                    Ok(Value::String(_)) => answers += 1,
                    Err(Error::DocumentGone {}) => {}
                    other => panic!("{other:?}"),
                }
            }
        };
        let navigating = async {
            for _ in 0..10 {
                for url in &urls {
                    goto(page, url).await;
                }
            }
        };
        tokio::join!(asking, navigating);
    });
}
