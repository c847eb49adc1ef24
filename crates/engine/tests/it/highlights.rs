//! Highlights: they follow their elements, and are no part of the page.

use crate::harness::{click, eval, on_a_page, soon};
use engine::{Click, Error, Page, Screenshot, SnapshotOptions};
use testkit::{Engine, eventually};

const PAGE: &str = "<!doctype html><title>Boxes</title><style>* { margin: 0 } body { height: 3000px; background: white }
  button { position: absolute; left: 20px; top: 20px; width: 60px; height: 40px; border: 0; background: white; color: white }</style>
  <button onclick='this.dataset.done = 1'>Go</button>";

const LIME: [u8; 3] = [0, 255, 0];

/// Returns the color of a pixel of the viewport.
async fn pixel(page: &Page, x: u32, y: u32) -> [u8; 3] {
    let options = Screenshot::default();
    let png = page.screenshot(&soon(), &options).await.unwrap();
    let image = image::load_from_memory(&png).unwrap().to_rgb8();
    image.get_pixel(x, y).0
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
fn a_highlight_follows_its_element_and_is_no_part_of_the_page(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.show("/", PAGE).await;
        let page = &stage.page;
        let options = SnapshotOptions::default();
        let before = page.snapshot(&soon(), &options).await.unwrap().text;
        let button = page.locator("button").unwrap();
        button
            .highlight(
                &soon(),
                Some("background: rgb(0, 255, 0); pointer-events: auto"),
            )
            .await
            .unwrap();
        assert_eq!(pixel(page, 50, 40).await, LIME);
        let shown = page.snapshot(&soon(), &options).await.unwrap().text;
        assert_eq!(shown, before);
        // Neither a user nor a tool hits the highlight.
        click(page, 50.0, 40.0).await.unwrap();
        assert_eq!(
            eval(page, "document.querySelector('button').dataset.done").await,
            "1"
        );
        button.click(&soon(), &Click::default()).await.unwrap();
        eval(
            page,
            "void (document.querySelector('button').style.left = '200px')",
        )
        .await;
        eventually(async || pixel(page, 230, 40).await == LIME).await;
        assert_ne!(pixel(page, 50, 40).await, LIME);
        eval(page, "scrollTo(0, 10)").await;
        eventually(async || pixel(page, 230, 11).await == LIME).await;
        button.hide_highlight(&soon()).await.unwrap();
        assert_ne!(pixel(page, 230, 30).await, LIME);
        let left = eval(page, "document.documentElement.children.length").await;
        assert_eq!(left, 2, "nothing is left in the document");
    });
}

#[testkit::test(chromium, firefox, webkit)]
fn several_elements_are_highlighted_until_all_are_hidden(engine: Engine) {
    on_a_page(engine, async |stage| {
        let style = "<style>* { margin: 0 } p, iframe { height: 40px; border: 0; display: block; width: 100px }</style>";
        stage.site.add_page("/inner", &format!("{style}<p>Inner"));
        stage
            .show(
                "/",
                &format!("{style}<p>One<p>Two</p><iframe src=/inner></iframe>"),
            )
            .await;
        let page = &stage.page;
        let lime = Some("background: rgb(0, 255, 0)");
        let all = page.locator("p").unwrap();
        all.highlight(&soon(), lime).await.unwrap();
        let inner = page
            .locator("iframe >> internal:control=enter-frame >> p")
            .unwrap();
        inner.highlight(&soon(), lime).await.unwrap();
        for y in [20, 60, 100] {
            eventually(async || pixel(page, 80, y).await == LIME).await;
        }
        page.hide_highlights(&soon()).await.unwrap();
        for y in [20, 60, 100] {
            assert_ne!(pixel(page, 80, y).await, LIME);
        }
        let missing = page.locator("#missing").unwrap();
        for outcome in [
            missing.highlight(&soon(), None).await,
            missing.hide_highlight(&soon()).await,
        ] {
            assert!(
                matches!(outcome, Err(Error::ElementNotFound { .. })),
                "{outcome:?}"
            );
        }
    });
}
