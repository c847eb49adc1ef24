//! Annotations of the user. The input is sent below the engine's actions, as that of a user.

use crate::harness::{click, eval, goto, on_a_page, soon};
use engine::{Annotations, InputStep, MouseButton, Page, Point, Result};
use std::time::Duration;
use testkit::{Engine, eventually};

/// A page that records the input that it receives.
const PAGE: &str = "<!doctype html><title>Page</title><style>* { margin: 0 } button { position: absolute; left: 20px; top: 20px; width: 80px; height: 30px }</style>
  <main style='height: 300px'><button>Buy</button></main><script>
  const seen = [];
  for (const type of ['mousedown', 'click', 'keydown', 'input', 'focusin', 'pointerdown', 'message'])
    addEventListener(type, (event) => seen.push(type), true);
  </script>";

/// Annotates the page while `user` acts.
async fn annotated(page: &Page, user: impl Future<Output = ()>) -> Result<Option<Annotations>> {
    let progress = soon();
    let user = async {
        wait_for_tools(page).await;
        user.await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        annotated = page.annotate(&progress) => annotated,
        () = user => unreachable!("the user waits for the end"),
    }
}

async fn wait_for_tools(page: &Page) {
    let shown = "!!document.querySelector('x-playhouse-overlay')";
    eventually(async || {
        let shown = page.evaluate(&soon(), shown).await;
        matches!(shown, Ok(Some(serde_json::Value::Bool(true))))
    })
    .await;
    // Firefox replaces the first document of the frame, and WebKit takes input for it later. No event reports either outside the frame.
    tokio::time::sleep(Duration::from_millis(300)).await;
}

async fn type_text(page: &Page, text: &str) {
    page.type_text(&soon(), text, Duration::ZERO).await.unwrap();
}

async fn submit(page: &Page) {
    page.press(&soon(), "Control+Enter").await.unwrap();
}

async fn drag(page: &Page, from: Point, to: Point) {
    let buttons = || vec![MouseButton::Left];
    let move_to = |to, buttons| InputStep::MouseMove {
        to,
        buttons,
        modifiers: vec![],
    };
    let steps = [
        move_to(from, vec![]),
        InputStep::MouseDown {
            at: from,
            button: MouseButton::Left,
            buttons: buttons(),
            count: 1,
            modifiers: vec![],
        },
        move_to(to, buttons()),
        InputStep::MouseUp {
            at: to,
            button: MouseButton::Left,
            buttons: vec![],
            count: 1,
            modifiers: vec![],
        },
    ];
    soon().run(page.backend().input(&steps)).await.unwrap();
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
fn a_user_marks_elements_and_areas_and_the_page_sees_none_of_it(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.show("/", PAGE).await;
        let page = &stage.page;
        let done = annotated(page, async {
            click(page, 60.0, 35.0).await.unwrap();
            type_text(page, "Too \"small\"").await;
            let (from, to) = (Point { x: 10.0, y: 100.0 }, Point { x: 210.0, y: 200.0 });
            drag(page, from, to).await;
            type_text(page, "Empty").await;
            submit(page).await;
        })
        .await;
        let done = done.unwrap().expect("the user submitted");
        let marks: Vec<_> = done
            .marks
            .iter()
            .map(|mark| {
                let (facts, locator) = mark.element.as_ref().unwrap();
                let at = [mark.area.x, mark.area.y, mark.area.width, mark.area.height];
                (
                    mark.text.as_str(),
                    at,
                    facts.tag.as_str(),
                    locator.to_string(),
                )
            })
            .collect();
        let button = "getByRole('button', { name: 'Buy' })".to_owned();
        let main = marks[1].3.clone();
        assert_eq!(
            marks,
            [
                ("Too \"small\"", [20.0, 20.0, 80.0, 30.0], "button", button),
                ("Empty", [10.0, 100.0, 200.0, 100.0], "main", main),
            ]
        );
        // The refs are valid.
        let reference = &done.marks[0].element.as_ref().unwrap().0.reference;
        let locator = page.locator(reference).unwrap();
        assert_eq!(locator.text(&soon()).await.unwrap(), "Buy");
        let image = image::load_from_memory(&done.screenshot).unwrap().to_rgb8();
        assert_eq!(
            image.get_pixel(109, 100).0,
            [220, 38, 38],
            "the area is marked"
        );
        assert_eq!(eval(page, "seen").await, serde_json::json!([]));
        assert_eq!(
            eval(page, "document.querySelector('x-playhouse-overlay')").await,
            serde_json::Value::Null
        );
    });
}

#[testkit::test(chromium, firefox, webkit)]
fn a_user_can_cancel_and_a_new_document_has_the_tools(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.show("/", PAGE).await;
        let other = stage.site.add_page("/other", PAGE);
        let page = &stage.page;
        let done = annotated(page, async {
            click(page, 60.0, 35.0).await.unwrap();
            goto(page, &other).await;
            wait_for_tools(page).await;
            click(page, 60.0, 35.0).await.unwrap();
            page.press(&soon(), "Escape").await.unwrap();
        })
        .await;
        assert!(done.unwrap().is_none());
        assert_eq!(
            eval(page, "document.querySelector('x-playhouse-overlay')").await,
            serde_json::Value::Null
        );
    });
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
fn scripts_of_the_page_cannot_annotate(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.show("/", PAGE).await;
        let page = &stage.page;
        let forged = "(() => { const host = document.querySelector('x-playhouse-overlay');
            if (host.shadowRoot || window.length || document.querySelector('iframe')) throw new Error('reachable');
            for (const type of ['mousedown', 'mouseup', 'click']) host.dispatchEvent(new MouseEvent(type, { bubbles: true, composed: true, clientX: 60, clientY: 35 }));
            host.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true, composed: true }));
            host.remove(); })()";
        let done = annotated(page, async {
            eval(page, forged).await;
            // The tools are shown again.
            wait_for_tools(page).await;
            click(page, 60.0, 35.0).await.unwrap();
            submit(page).await;
        })
        .await;
        let done = done.unwrap().expect("the user submitted");
        assert_eq!(done.marks.len(), 1);
        assert_eq!(done.marks[0].text, "");
    });
}
