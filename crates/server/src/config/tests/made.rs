//! Tests of the settings and the engine options that follow from options.

use super::*;

/// Returns the width and height of pages; `None` if they fill the window.
fn viewport(context: &ContextSettings) -> Option<(u32, u32)> {
    let size = context.options.viewport.as_ref()?.size;
    (!context.fills_window).then_some((size.width, size.height))
}

#[test]
fn a_window_needs_a_display() {
    let headless = |environment: &[(&str, &str)]| {
        load(&[], environment, None)
            .expect("valid")
            .settings
            .browser
            .headless
    };
    assert_eq!(headless(&[]), cfg!(target_os = "linux"));
    assert!(!headless(&[("DISPLAY", ":0")]));
    assert!(!headless(&[("WAYLAND_DISPLAY", "wayland-0")]));
    assert_eq!(
        viewport(&settings(&["--headless"]).context),
        Some((1280, 720))
    );
    assert_eq!(viewport(&settings(&["--no-headless"]).context), None);
}

#[test]
fn a_browser_is_chosen_by_the_stronger_layer_and_then_by_the_channel() {
    use ::engine::{BrowserChoice, Channel};
    let choice = |args: &[&str], file: Option<&str>| {
        load(args, &[], file)
            .expect("valid")
            .settings
            .browser
            .choice
    };
    let file =
        r#"{"browser": {"browserName": "chromium", "launchOptions": {"channel": "msedge"}}}"#;
    assert_eq!(choice(&[], None), BrowserChoice::Any);
    assert_eq!(
        choice(&[], Some(file)),
        BrowserChoice::Channel(Channel::Msedge)
    );
    assert_eq!(
        choice(&["--browser=chrome"], Some(file)),
        BrowserChoice::Channel(Channel::Chrome)
    );
    assert_eq!(
        choice(&["--browser=chromium"], Some(file)),
        BrowserChoice::Channel(Channel::Chromium)
    );
    let family = r#"{"browser": {"browserName": "chromium"}}"#;
    assert_eq!(choice(&[], Some(family)), BrowserChoice::Any);
    assert!(matches!(
        choice(&["--executable-path=x"], Some(file)),
        BrowserChoice::Program(..)
    ));
}

#[test]
fn a_device_supplies_settings_that_were_not_given() {
    let context = settings(&["--device=iPhone 15"]).context;
    assert_eq!(viewport(&context), Some((393, 659)));
    let shape = context.options.viewport.expect("a fixed one");
    assert!(shape.is_mobile && shape.has_touch && shape.device_scale_factor == 3.0);
    let context = settings(&["--device=iPhone 15", "--viewport-size=400x300"]).context;
    assert_eq!(viewport(&context), Some((400, 300)));
    let file = r#"{"browser": {"contextOptions": {"viewport": {"width": 9, "height": 9}, "userAgent": "mine"}}}"#;
    let context = load(&["--mobile"], &[], Some(file))
        .expect("valid")
        .settings
        .context;
    assert_eq!(viewport(&context), Some((360, 732)));
    assert!(
        context
            .options
            .user_agent
            .is_some_and(|agent| agent.contains("Pixel 10"))
    );
    let settings = settings(&["--device=iphone 15"]);
    assert_eq!(
        settings.notices,
        ["unknown device \"iphone 15\" is ignored. Did you mean \"iPhone 15\"?"]
    );
}

#[test]
fn a_profile_belongs_to_a_workspace_and_a_channel() {
    let settings = load(
        &["--browser=msedge"],
        &[("PWMCP_PROFILES_DIR_FOR_TEST", "/profiles")],
        None,
    )
    .expect("valid")
    .settings;
    let profile = settings.profile_dir(Path::new("/some/workspace"));
    assert_eq!(profile, Path::new("/profiles/mcp-msedge-4d5418a"));
    assert_ne!(profile, settings.profile_dir(Path::new("/other")));
}

#[test]
fn settings_become_what_the_engine_opens() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("init.js");
    fs::write(&script, "window.ready = true").expect("writable");
    let script = format!("--init-script={}", script.display());
    let file = r#"{"browser": {"contextOptions": {"colorScheme": "no-preference", "acceptDownloads": false}}}"#;
    let args = ["--device=Pixel 10", &script];
    let settings = load(&args, &[], Some(file)).expect("valid").settings;
    let options = settings
        .context
        .options("Chrome/156.0.1.2", "/downloads".into())
        .expect("readable");
    let viewport = options.viewport.expect("a fixed one");
    assert_eq!((viewport.size.width, viewport.size.height), (360, 732));
    assert!(viewport.is_mobile && viewport.has_touch);
    assert!(
        options
            .user_agent
            .is_some_and(|agent| agent.contains("Chrome/156.0.1.2 Mobile"))
    );
    assert_eq!(options.media.color_scheme.as_deref(), Some("no-preference"));
    assert_eq!(options.downloads, None);
    assert_eq!(options.init_scripts, ["window.ready = true"]);
    drop(folder);
    assert!(
        settings
            .context
            .options("Chrome/1", "/downloads".into())
            .is_err()
    );
}

#[test]
fn a_headless_shell_will_do_without_windows_and_extensions() {
    let accepts = |args: &[&str]| settings(args).browser.search.headless_shell;
    assert!(accepts(&["--headless"]));
    assert!(!accepts(&["--no-headless"]));
    let file = r#"{"browser": {"launchOptions": {"args": ["--load-extension=/a"]}}}"#;
    let settings = load(&["--headless"], &[], Some(file))
        .expect("valid")
        .settings;
    assert!(!settings.browser.search.headless_shell);
}

#[test]
fn settings_become_what_the_engine_starts() {
    let found = ::engine::FoundBrowser {
        path: "/browser".into(),
        channel: None,
        headless_shell: true,
    };
    let file = r#"{"browser": {"launchOptions": {"args": ["--a"], "ignoreDefaultArgs": ["--b"], "env": {"TZ": "UTC"}, "firefoxUserPrefs": {"a.b": true}}}}"#;
    let args = [
        "--proxy-server=http://p:1",
        "--proxy-bypass=.a, b,",
        "--no-sandbox",
        "--headless",
    ];
    let settings = load(&args, &[], Some(file)).expect("valid").settings;
    let options = settings.browser.launch_options(found, None);
    assert!(options.headless && options.headless_shell);
    assert_eq!(options.sandbox, Some(false));
    assert_eq!(options.args, ["--a"]);
    assert_eq!(options.ignore_default_args, ["--b"]);
    assert_eq!(options.preferences, [("a.b".to_owned(), true.into())]);
    assert_eq!(options.env, [("TZ".to_owned(), "UTC".to_owned())]);
    let proxy = options.proxy.expect("one");
    assert_eq!(
        (proxy.server.as_str(), proxy.bypass),
        ("http://p:1", vec![".a".to_owned(), "b".to_owned()])
    );
}

#[test]
fn the_extension_has_time_for_the_approval() {
    let of = |flags: &[&str]| {
        let flags = [&["--extension"], flags].concat();
        let browser = settings(&flags).browser;
        let extension = browser.extension.clone().expect("it is used");
        // The reason is reported before the launch times out.
        assert!(browser.launch_timeout > extension.timeout);
        (
            extension.timeout.as_secs(),
            browser.connect_options().is_some(),
        )
    };
    assert_eq!(of(&[]), (120, true));
    assert_eq!(of(&["--extension-token=x"]), (30, true));
    assert_eq!(of(&["--cdp-timeout=60000"]), (60, true));
    assert_eq!(
        of(&["--extension-token=x", "--cdp-timeout=90000"]),
        (90, true)
    );
    assert_eq!(settings(&["--extension-token=x"]).browser.extension, None);
}
