//! Screencasts: the frames that a page shows.

use crate::harness::{eval, goto, in_a_context, on_a_page, soon};
use engine::{ContextOptions, LoadState, Screencast, Viewport};
use image::{ImageFormat, Rgb};
use std::time::{Duration, SystemTime};
use testkit::{Engine, eventually};

const RED: [u8; 3] = [255, 0, 0];
const BLUE: [u8; 3] = [0, 0, 255];
const LIME: [u8; 3] = [0, 255, 0];

fn coloured(colour: &str) -> String {
    format!("<!doctype html><title>{colour}</title><body style='background:{colour}'>")
}

/// Waits for a frame with this colour in the middle. Returns its size and its time.
async fn wait_for_colour(screencast: &mut Screencast, colour: [u8; 3]) -> ((u32, u32), SystemTime) {
    let found = async {
        loop {
            let frame = screencast.next().await.expect("the page is open");
            let image = image::load_from_memory_with_format(&frame.jpeg, ImageFormat::Jpeg)
                .unwrap()
                .into_rgb8();
            let Rgb(middle) = *image.get_pixel(image.width() / 2, image.height() / 2);
            // JPEG is not exact.
            if middle.iter().zip(colour).all(|(a, b)| a.abs_diff(b) < 8) {
                return (image.dimensions(), frame.time);
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), found)
        .await
        .expect("the colour is shown")
}

#[testkit::test(chromium, firefox, webkit)]
fn a_screencast_shows_changes_and_survives_navigations(engine: Engine) {
    let options = ContextOptions {
        viewport: Some(Viewport::desktop(640, 360)),
        ..ContextOptions::default()
    };
    in_a_context(engine, options, async |stage| {
        let began = SystemTime::now();
        stage.show("/red", &coloured("red")).await;
        let mut frames = stage.page.screencast(&soon()).await.unwrap();
        let (size, time) = wait_for_colour(&mut frames, RED).await;
        assert_eq!(size, (640, 360));
        assert!(time >= began - Duration::from_secs(1) && time <= SystemTime::now());
        eval(&stage.page, "document.body.style.background = 'blue'").await;
        wait_for_colour(&mut frames, BLUE).await;
        // Another host is another process in Chromium.
        let url = stage.site.add_page("/lime", &coloured("lime"));
        goto(&stage.page, &url.replace("127.0.0.1", "localhost")).await;
        wait_for_colour(&mut frames, LIME).await;
    });
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
fn subscribers_share_a_screencast_that_ends_with_the_last(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage.show("/red", &coloured("red")).await;
        let mut first = page.screencast(&soon()).await.unwrap();
        wait_for_colour(&mut first, RED).await;
        let mut second = page.screencast(&soon()).await.unwrap();
        wait_for_colour(&mut second, RED).await;
        drop(first);
        eval(page, "document.body.style.background = 'blue'").await;
        wait_for_colour(&mut second, BLUE).await;
        drop(second);
        // It can begin again at once.
        let mut third = page.screencast(&soon()).await.unwrap();
        wait_for_colour(&mut third, BLUE).await;
        page.close(&soon()).await.unwrap();
        while third.next().await.is_some() {}
        assert!(page.screencast(&soon()).await.is_err());
    });
}

#[testkit::test(chromium, not(firefox = "no command crashes a page"))]
fn a_screencast_ends_with_a_crash(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage.show("/red", &coloured("red")).await;
        let mut frames = page.screencast(&soon()).await.unwrap();
        wait_for_colour(&mut frames, RED).await;
        let crashed = page
            .goto(&soon(), "chrome://crash", LoadState::Loaded)
            .await;
        assert!(crashed.is_err());
        eventually(async || page.is_crashed()).await;
        while frames.next().await.is_some() {}
    });
}
