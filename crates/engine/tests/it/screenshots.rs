//! Screenshots and PDFs: formats and sizes.

use crate::harness::{in_a_context, on_a_page, soon};
use engine::{ContextOptions, PdfOptions, Screenshot, ScreenshotArea, ScreenshotFormat, Viewport};
use testkit::Engine;
use testkit::harness::input_size;

fn png() -> Screenshot {
    Screenshot {
        css_scale: false,
        ..Screenshot::default()
    }
}

/// Reads width and height from the header of a PNG.
fn png_size(bytes: &[u8]) -> (u32, u32) {
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn areas_and_scales(engine: Engine) {
    let options = ContextOptions {
        viewport: Some(Viewport {
            screen: None,
            device_scale_factor: 2.0,
            ..Viewport::desktop(300, 200)
        }),
        ..ContextOptions::default()
    };
    in_a_context(engine, options, async |stage| {
        let page = &stage.page;
        stage
            .show("/", "<!doctype html><body style='margin:0'><div style='height:1000px;width:500px;background:linear-gradient(red,blue)'></div>")
            .await;
        crate::harness::eval(page, "scrollTo(0, 100)").await;
        let clip = ScreenshotArea::Clip {
            x: 10.0,
            y: 20.0,
            width: 30.0,
            height: 40.0,
        };
        for (area, css_scale, size) in [
            (ScreenshotArea::Viewport, false, (600, 400)),
            (ScreenshotArea::Viewport, true, (300, 200)),
            (ScreenshotArea::FullPage, false, (1000, 2000)),
            (ScreenshotArea::FullPage, true, (500, 1000)),
            (clip, false, (60, 80)),
            (clip, true, (30, 40)),
        ] {
            let wanted = Screenshot {
                area,
                css_scale,
                ..Screenshot::default()
            };
            let drawn = page.screenshot(&soon(), &wanted).await.unwrap();
            assert_eq!(png_size(&drawn), size, "{wanted:?}");
        }
        // The screenshot did not change the page.
        assert_eq!(
            crate::harness::eval(page, "[innerWidth, innerHeight, scrollY]").await,
            serde_json::json!([300, 200, 100])
        );
    });
}

#[testkit::test(chromium, firefox)]
fn formats(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.show("/", "<p>x").await;
        let jpeg = Screenshot {
            format: ScreenshotFormat::Jpeg,
            quality: Some(50),
            ..png()
        };
        let drawn = stage.page.screenshot(&soon(), &jpeg).await.unwrap();
        assert_eq!(&drawn[..3], b"\xff\xd8\xff");
        let webp = Screenshot {
            format: ScreenshotFormat::Webp,
            ..png()
        };
        let drawn = stage.page.screenshot(&soon(), &webp).await.unwrap();
        assert_eq!(
            (&drawn[..4], &drawn[8..12]),
            (b"RIFF".as_slice(), b"WEBP".as_slice())
        );
        let letter = PdfOptions {
            width: 8.5,
            height: 11.0,
            background: true,
            landscape: false,
        };
        let printed = stage.page.pdf(&soon(), &letter).await.unwrap();
        assert_eq!(&printed[..5], b"%PDF-");
        // Firefox compresses it.
        if engine == Engine::Chromium {
            assert!(String::from_utf8_lossy(&printed).contains("/MediaBox [0 0 612 792]"));
        }
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_page_that_reloads_continuously_can_be_captured(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage
            .show(
                "/",
                "<h1>Again</h1><script>setTimeout(() => location.reload(), 30)</script>",
            )
            .await;
        for _ in 0..input_size(100) {
            let picture = page.screenshot(&soon(), &png()).await;
            assert!(!picture.unwrap().is_empty());
        }
    });
}
