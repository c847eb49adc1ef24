//! Emulation: viewport, locale, time zone, geolocation and other overrides of a context.

use crate::harness::{call, eval, eval_in, frame_at, goto, in_a_context, on_a_page, soon};
use engine::{ContextOptions, Error, Geolocation, LoadState, MediaFeatures, Size, Viewport};
use serde_json::json;
use testkit::{Engine, eventually};

#[testkit::test(chromium, not(firefox = "no command emulates media features"))]
fn device_locale_and_time_zone_are_emulated(engine: Engine) {
    let options = ContextOptions {
        user_agent: Some("Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/156.0.0.0 Mobile Safari/537.36".to_owned()),
        locale: Some("de-DE".to_owned()),
        timezone: Some("Asia/Tokyo".to_owned()),
        viewport: Some(Viewport {
            screen: None,
            size: Size { width: 400, height: 700 },
            device_scale_factor: 2.5,
            is_mobile: true,
            has_touch: true,
        }),
        media: MediaFeatures {
            color_scheme: Some("dark".to_owned()),
            reduced_motion: Some("reduce".to_owned()),
            ..MediaFeatures::default()
        },
        extra_headers: vec![("X-Extra".to_owned(), "yes".to_owned())],
        ..ContextOptions::default()
    };
    in_a_context(engine, options, async |stage| {
        let page = &stage.page;
        let there = format!("{}/inner", stage.site.cross_origin_url());
        stage.site.add_page("/inner", "<p>inner");
        stage
            .show("/", &format!("<meta name=viewport content='width=device-width'><iframe src='{there}'></iframe>"))
            .await;
        let facts = "({
            android: navigator.userAgent.includes('Pixel 8'),
            platform: navigator.userAgentData?.platform ?? null,
            language: navigator.language,
            number: (1234.5).toLocaleString(),
            zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
            dark: matchMedia('(prefers-color-scheme: dark)').matches,
            calm: matchMedia('(prefers-reduced-motion: reduce)').matches,
            ratio: devicePixelRatio,
            touch: navigator.maxTouchPoints > 0 && 'ontouchstart' in window,
        })";
        let mut expected = json!({
            "android": true, "platform": "Android", "language": "de-DE", "number": "1.234,5", "zone": "Asia/Tokyo",
            "dark": true, "calm": true, "ratio": 2.5, "touch": true,
        });
        assert_eq!(eval(page, facts).await, expected);
        assert_eq!(
            eval(page, "[innerWidth, innerHeight, screen.width]").await,
            json!([400, 700, 400])
        );
        let frame = frame_at(page, &there).await;
        // Chromium does not apply the scale factor to out-of-process frames.
        expected["ratio"] = eval_in(page, &frame.id, "devicePixelRatio").await;
        expected["touch"] = eval_in(page, &frame.id, "'ontouchstart' in window").await;
        assert_eq!(eval_in(page, &frame.id, facts).await, expected);
        assert_eq!(expected["touch"], true);
        for target in ["/", "/inner"] {
            let requests = stage.site.requests();
            let request = requests
                .iter()
                .find(|request| request.target == target)
                .unwrap();
            assert_eq!(request.header("x-extra"), Some("yes"));
            assert!(request.header("user-agent").unwrap().contains("Pixel 8"));
            assert!(
                request
                    .header("accept-language")
                    .unwrap()
                    .starts_with("de-DE")
            );
        }
        let popup = stage
            .popup(async {
                eval(page, "void open('/inner')").await;
            })
            .await;
        eventually(async || popup.url().ends_with("/inner")).await;
        assert_eq!(
            eval(&popup, "navigator.language + devicePixelRatio").await,
            "de-DE2.5"
        );
    });
}

#[testkit::test(chromium, firefox)]
fn a_time_zone_or_locale_that_does_not_exist_is_an_error(engine: Engine) {
    crate::harness::with_browser(engine, async |browser| {
        for options in [
            ContextOptions {
                timezone: Some("Middle/Earth".to_owned()),
                ..ContextOptions::default()
            },
            ContextOptions {
                locale: Some("not a locale!".to_owned()),
                ..ContextOptions::default()
            },
        ] {
            let context = match browser.new_context(&soon(), options).await {
                Ok(context) => context,
                Err(error) => {
                    assert!(matches!(error, Error::InvalidOption { .. }), "{error:?}");
                    continue;
                }
            };
            let error = context.new_page(&soon()).await.unwrap_err();
            assert!(matches!(error, Error::InvalidOption { .. }), "{error:?}");
            assert!(context.pages().is_empty());
            context.close(&soon()).await.unwrap();
        }
    });
}

#[testkit::test(chromium, firefox)]
fn geolocation_is_emulated_where_it_is_permitted(engine: Engine) {
    let options = ContextOptions {
        geolocation: Some(Geolocation {
            latitude: 52.5,
            longitude: 13.4,
            accuracy: 10.0,
        }),
        permissions: vec!["geolocation".to_owned()],
        ..ContextOptions::default()
    };
    in_a_context(engine, options, async |stage| {
        let page = &stage.page;
        stage.show("/", "").await;
        let asked = "new Promise(done => navigator.geolocation.getCurrentPosition(p => done([p.coords.latitude, p.coords.longitude]), e => done(e.code)))";
        assert_eq!(eval(page, asked).await, json!([52.5, 13.4]));
        let moved = Geolocation {
            latitude: 1.0,
            longitude: 2.0,
            accuracy: 0.0,
        };
        stage
            .context
            .set_geolocation(&soon(), Some(moved))
            .await
            .unwrap();
        assert_eq!(eval(page, asked).await, json!([1, 2]));
    });
    on_a_page(engine, async |stage| {
        stage.show("/", "").await;
        let state = "navigator.permissions.query({ name: 'geolocation' }).then(p => p.state)";
        assert_ne!(eval(&stage.page, state).await, "granted");
        let names = ["geolocation".to_owned()];
        let origin = stage.site.base_url();
        stage
            .context
            .grant_permissions(&soon(), &names, Some(&origin))
            .await
            .unwrap();
        assert_eq!(eval(&stage.page, state).await, "granted");
        let error = stage
            .context
            .grant_permissions(&soon(), &["telepathy".to_owned()], None)
            .await
            .unwrap_err();
        let refused = matches!(error, Error::UnsupportedByBrowser { .. });
        assert!(
            refused || error.to_string().contains("Unknown permission: telepathy"),
            "{error}"
        );
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn offline_mode_is_turned_on_and_off(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let there = format!("{}/inner", stage.site.cross_origin_url());
        stage.site.add_page("/inner", "<p>inner");
        let url = stage
            .show("/", &format!("<iframe src='{there}'></iframe>"))
            .await;
        let frame = frame_at(page, &there).await;
        let fetched = "fetch('/status/200').then(r => r.status, () => 0)";
        stage.context.set_offline(&soon(), true).await.unwrap();
        assert_eq!(eval(page, "navigator.onLine").await, false);
        assert_eq!(eval(page, fetched).await, 0);
        assert_eq!(eval_in(page, &frame.id, fetched).await, 0);
        let second = stage.context.new_page(&soon()).await.unwrap();
        let error = second
            .goto(&soon(), &url, LoadState::Loaded)
            .await
            .unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("net::ERR_INTERNET_DISCONNECTED"),
            "{error}"
        );
        stage.context.set_offline(&soon(), false).await.unwrap();
        assert_eq!(eval(page, fetched).await, 200);
        goto(&second, &url).await;
    });
}

#[testkit::test(
    chromium,
    not(firefox = "no command bypasses a content security policy")
)]
fn content_security_policy_does_not_affect_the_engine_and_can_be_bypassed(engine: Engine) {
    let page = "<script>blocked = false</script><title>Strict</title>";
    let strict =
        || testkit::Resource::html(page).header("content-security-policy", "default-src 'none'");
    on_a_page(engine, async |stage| {
        let url = stage.site.add("/", strict());
        goto(&stage.page, &url).await;
        assert_eq!(stage.page.title(&soon()).await.unwrap(), "Strict");
        assert_eq!(eval(&stage.page, "typeof blocked").await, "undefined");
    });
    let options = ContextOptions {
        bypass_csp: true,
        ..ContextOptions::default()
    };
    in_a_context(engine, options, async |stage| {
        let url = stage.site.add("/", strict());
        goto(&stage.page, &url).await;
        assert_eq!(eval(&stage.page, "blocked").await, false);
    });
}

#[testkit::test(chromium, not(firefox = "no command disables scripts"))]
fn pages_with_disabled_scripts_can_be_read(engine: Engine) {
    let options = ContextOptions {
        java_script_enabled: Some(false),
        ..ContextOptions::default()
    };
    in_a_context(engine, options, async |stage| {
        let page = &stage.page;
        let there = format!("{}/inner", stage.site.cross_origin_url());
        stage.site.add_page(
            "/inner",
            "<title>Inner</title><script>document.title = 'Ran'</script>",
        );
        stage
            .show("/", &format!("<title>Quiet</title><noscript>no scripts</noscript><script>document.title = 'Ran'</script><iframe src='{there}'></iframe>"))
            .await;
        assert_eq!(page.title(&soon()).await.unwrap(), "Quiet");
        assert_eq!(eval(page, "Promise.resolve(document.title)").await, "Quiet");
        let frame = frame_at(page, &there).await;
        assert_eq!(call(page, &frame.id, "title").await.unwrap(), "Inner");
        crate::harness::click(page, 5.0, 5.0).await.unwrap();
    });
}

#[testkit::test(chromium, not(firefox = "no command emulates media features"))]
fn the_viewport_can_be_resized_and_keeps_its_device(engine: Engine) {
    let options = ContextOptions {
        viewport: Some(Viewport {
            screen: None,
            device_scale_factor: 2.0,
            ..Viewport::desktop(500, 400)
        }),
        ..ContextOptions::default()
    };
    in_a_context(engine, options, async |stage| {
        let page = &stage.page;
        stage.show("/", "").await;
        page.resize(&soon(), 640, 480).await.unwrap();
        assert_eq!(
            eval(page, "[innerWidth, innerHeight, devicePixelRatio]").await,
            json!([640, 480, 2])
        );
        let media = MediaFeatures {
            media: Some("print".to_owned()),
            ..MediaFeatures::default()
        };
        page.emulate_media(&soon(), media.clone()).await.unwrap();
        assert_eq!(page.media(), media);
        assert_eq!(eval(page, "matchMedia('print').matches").await, true);
        page.emulate_media(&soon(), MediaFeatures::default())
            .await
            .unwrap();
        assert_eq!(eval(page, "matchMedia('print').matches").await, false);
    });
}
