//! Launching, connecting to and closing browsers.

use crate::harness::{eval, goto, soon, with_browser, with_options};
use engine::{
    Browser, CdpEndpoint, ConnectOptions, ContextOptions, Error, LaunchOptions, LoadState,
    MediaFeatures,
};
use std::path::PathBuf;
use std::time::Duration;
use testkit::{Engine, RemoteBrowser, Site, eventually};

/// Returns the processes whose command line contains `text`.
fn processes(text: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|process| {
            let command = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&command).contains(text)
        })
        .collect()
}

/// Returns the profile directory of the browser that has this mark in its command line.
fn profile(mark: &str) -> PathBuf {
    let process = processes(mark)[0];
    let command = std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap();
    let mut arguments = command.split(['\0', ' ']);
    let folder = arguments.find_map(|argument| match argument {
        "--profile" => Some(None),
        _ => argument.strip_prefix("--user-data-dir=").map(Some),
    });
    // Firefox has it in the next argument.
    let folder = folder.unwrap().or_else(|| arguments.next());
    folder.unwrap().into()
}

/// A script in place of a browser.
fn script(commands: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("browser");
    std::fs::write(&program, format!("#!/bin/sh\n{commands}\n")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    (folder, program)
}

async fn until_exited(mark: &str) {
    eventually(async || processes(mark).is_empty()).await;
}

fn marked(options: &LaunchOptions, mark: &str) -> LaunchOptions {
    // Tests of several engines run at the same time.
    let kind = <&str>::from(options.kind);
    let mark = format!("--playhouse-test={mark}-{kind}-{}", std::process::id());
    LaunchOptions {
        args: vec![mark],
        ..options.clone()
    }
}

#[testkit::test(chromium, firefox)]
fn a_closed_browser_leaves_no_process_and_no_profile(engine: Engine) {
    with_options(engine, async |options| {
        let options = marked(&options, "closed");
        let browser = Browser::launch(&soon(), &options).await.unwrap();
        let context = browser
            .new_context(&soon(), ContextOptions::default())
            .await
            .unwrap();
        context.new_page(&soon()).await.unwrap();
        let profile = profile(&options.args[0]);
        assert!(profile.exists());
        browser.close(&soon()).await.unwrap();
        assert!(!profile.exists(), "{} is left", profile.display());
        until_exited(&options.args[0]).await;
        assert!(browser.closed_reason().is_some());
        assert!(matches!(
            context.new_page(&soon()).await,
            Err(Error::BrowserClosed { .. })
        ));
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_dropped_browser_is_killed_with_its_whole_group(engine: Engine) {
    with_options(engine, async |options| {
        let options = marked(&options, "dropped");
        let browser = Browser::launch(&soon(), &options).await.unwrap();
        let context = browser
            .new_context(&soon(), ContextOptions::default())
            .await
            .unwrap();
        let page = context.new_page(&soon()).await.unwrap();
        let profile = profile(&options.args[0]);
        drop(browser);
        until_exited(&options.args[0]).await;
        eventually(async || !profile.exists()).await;
        assert!(page.title(&soon()).await.is_err());
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_browser_outlives_the_thread_that_started_it(engine: Engine) {
    with_options(engine, async |options| {
        let options = marked(&options, "thread");
        let runtime = tokio::runtime::Handle::current();
        let started = std::thread::spawn(move || {
            let browser = runtime.block_on(Browser::launch(&soon(), &options));
            browser.unwrap()
        });
        let browser = started.join().unwrap();
        let context = browser
            .new_context(&soon(), ContextOptions::default())
            .await
            .unwrap();
        context.new_page(&soon()).await.unwrap();
        browser.close(&soon()).await.unwrap();
    });
}

#[testkit::test(chromium, firefox)]
fn a_missing_executable_is_named(engine: Engine) {
    with_options(engine, async |options| {
        let options = LaunchOptions {
            executable: "/nowhere/browser".into(),
            ..options
        };
        let error = Browser::launch(&soon(), &options).await.unwrap_err();
        let name = engine.name();
        assert_eq!(
            error.to_string(),
            format!("Failed to launch {name} because executable doesn't exist at /nowhere/browser")
        );
    });
}

#[testkit::test(chromium, firefox)]
fn the_output_of_a_browser_that_exits_at_start_is_reported(engine: Engine) {
    with_options(engine, async |options| {
        let (_folder, program) = script("echo out of luck >&2\nexit 3");
        let options = LaunchOptions {
            executable: program,
            ..options
        };
        let error = Browser::launch(&soon(), &options).await.unwrap_err();
        let Error::LaunchFailed { reason, log } = error else {
            panic!("{error:?}");
        };
        assert!(reason.contains("exit status: 3"), "{reason}");
        assert!(log.contains("out of luck"), "{log}");
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_persistent_profile_keeps_its_cookies(engine: Engine) {
    with_options(engine, async |options| {
        let site = Site::start().await;
        let profile = tempfile::tempdir().unwrap();
        let options = LaunchOptions {
            user_data_dir: Some(profile.path().into()),
            ..options
        };
        for round in 0..2 {
            let browser = Browser::launch(&soon(), &options).await.unwrap();
            let context = browser
                .default_context(&soon(), ContextOptions::default())
                .await
                .unwrap();
            let page = context.new_page(&soon()).await.unwrap();
            goto(&page, &site.url("/status/200")).await;
            if round == 0 {
                eval(&page, "document.cookie = 'kept=yes; max-age=10000'").await;
            } else {
                assert_eq!(eval(&page, "document.cookie").await, "kept=yes");
            }
            browser.close(&soon()).await.unwrap();
        }
        assert!(profile.path().exists());
    });
}

#[testkit::test(firefox, nightly(firefox))]
fn a_new_profile_starts_with_the_startup_cache_of_an_earlier_one(engine: Engine) {
    with_options(engine, async |options| {
        let (cache, profile) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let first = LaunchOptions {
            cache_dir: Some(cache.path().into()),
            ..options
        };
        let second = LaunchOptions {
            user_data_dir: Some(profile.path().into()),
            ..first.clone()
        };
        for options in [&first, &second] {
            let browser = Browser::launch(&soon(), options).await.unwrap();
            browser.close(&soon()).await.unwrap();
        }
        // Firefox renames a cache of scripts that it has read.
        let used = profile.path().join("startupCache/scriptCache-current.bin");
        assert!(used.exists());
    });
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox))]
fn a_browser_needs_no_writable_home(engine: Engine) {
    with_options(engine, async |options| {
        let options = LaunchOptions {
            env: vec![("HOME".to_owned(), "/proc/none".to_owned())],
            ..options
        };
        let browser = Browser::launch(&soon(), &options).await.unwrap();
        browser.close(&soon()).await.unwrap();
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_profile_in_use_is_reported(engine: Engine) {
    with_options(engine, async |options| {
        let profile = tempfile::tempdir().unwrap();
        let options = LaunchOptions {
            user_data_dir: Some(profile.path().into()),
            ..options
        };
        let first = Browser::launch(&soon(), &options).await.unwrap();
        let error = Browser::launch(&soon(), &options).await;
        assert!(
            matches!(error, Err(Error::ProfileInUse { .. })),
            "{error:?}"
        );
        // A closing browser is waited for.
        let progress = soon();
        let (closed, second) = tokio::join!(first.close(&progress), async {
            tokio::task::yield_now().await;
            Browser::launch(&progress, &options).await
        });
        closed.unwrap();
        second.unwrap().close(&soon()).await.unwrap();
    });
}

#[testkit::test(chromium, firefox)]
fn the_browser_makes_no_requests_of_its_own(engine: Engine) {
    with_options(engine, async |options| {
        let proxy = testkit::Proxy::http(None).await;
        let options = LaunchOptions {
            proxy: Some(engine::Proxy {
                server: proxy.address(),
                ..engine::Proxy::default()
            }),
            ..options
        };
        let site = Site::start().await;
        let browser = Browser::launch(&soon(), &options).await.unwrap();
        let context = browser
            .new_context(&soon(), ContextOptions::default())
            .await
            .unwrap();
        let page = context.new_page(&soon()).await.unwrap();
        let url = site.add_page("/", "<title>Quiet</title>");
        goto(&page, &url).await;
        // A browser sends its own requests in the first seconds.
        tokio::time::sleep(Duration::from_secs(3)).await;
        browser.close(&soon()).await.unwrap();
        let seen = proxy.seen();
        let foreign: Vec<_> = seen
            .iter()
            .filter(|line| !line.contains(&format!("127.0.0.1:{}", site.port())))
            .collect();
        assert!(!seen.is_empty());
        assert!(foreign.is_empty(), "{foreign:?}");
    });
}

#[testkit::test(
    chromium,
    not(firefox = "navigator.webdriver is true, as WebDriver requires")
)]
fn pages_cannot_detect_automation(engine: Engine) {
    with_browser(engine, async |browser| {
        let context = browser
            .new_context(&soon(), ContextOptions::default())
            .await
            .unwrap();
        let page = context.new_page(&soon()).await.unwrap();
        assert_eq!(eval(&page, "navigator.webdriver").await, false);
        assert_eq!(
            eval(
                &page,
                "Object.keys(globalThis).filter(name => /playhouse/i.test(name))"
            )
            .await,
            serde_json::json!([])
        );
        context.close(&soon()).await.unwrap();
    });
}

async fn connect(endpoint: String) -> engine::Result<Browser> {
    let options = ConnectOptions::Cdp(CdpEndpoint {
        profiles: Vec::new(),
        endpoint,
        headers: vec![],
        timeout: Duration::from_secs(10),
    });
    Browser::connect(&soon(), &options).await
}

#[testkit::test(chromium)]
async fn a_running_browser_is_connected_by_both_kinds_of_endpoint_and_kept_running() {
    let mut elsewhere = RemoteBrowser::start().await;
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Here</title>");
    for endpoint in [elsewhere.web_socket(), elsewhere.http()] {
        let browser = connect(endpoint).await.unwrap();
        let context = browser
            .new_context(&soon(), ContextOptions::default())
            .await
            .unwrap();
        let page = context.new_page(&soon()).await.unwrap();
        goto(&page, &url).await;
        assert_eq!(page.title(&soon()).await.unwrap(), "Here");
        browser.close(&soon()).await.unwrap();
        assert!(elsewhere.is_running());
    }
}

#[testkit::test(chromium)]
async fn a_browser_of_this_user_is_found_by_its_profile() {
    let elsewhere = RemoteBrowser::start().await;
    let stale = tempfile::tempdir().unwrap();
    std::fs::write(stale.path().join("DevToolsActivePort"), "1\n/gone").unwrap();
    let none = tempfile::tempdir().unwrap();
    let connect = async |profiles: &[&std::path::Path]| {
        let named = |path: &&std::path::Path| ("Test".to_owned(), path.to_path_buf());
        let options = ConnectOptions::Cdp(CdpEndpoint {
            endpoint: engine::AUTO.to_owned(),
            profiles: profiles.iter().map(named).collect(),
            headers: vec![],
            timeout: Duration::from_secs(10),
        });
        Browser::connect(&soon(), &options).await
    };
    let profiles = [none.path(), stale.path(), elsewhere.profile()];
    let browser = connect(&profiles).await.unwrap();
    assert!(
        browser.product().contains("Chrome"),
        "{}",
        browser.product()
    );
    browser.close(&soon()).await.unwrap();
    let refused = connect(&profiles[..2])
        .await
        .map(drop)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("chrome://inspect"), "{refused}");
}

#[testkit::test(chromium)]
async fn existing_pages_of_a_connected_browser_are_attached() {
    let elsewhere = RemoteBrowser::start().await;
    let endpoint = elsewhere.http();
    let site = Site::start().await;
    let inner = format!("{}/inner", site.cross_origin_url());
    site.add_page("/inner", "<p>inner");
    let url = site.add_page(
        "/",
        &format!("<title>Old</title><iframe src='{inner}'></iframe>"),
    );

    let first = connect(endpoint.clone()).await.unwrap();
    let context = first
        .default_context(&soon(), ContextOptions::default())
        .await
        .unwrap();
    let pages = context.pages();
    assert_eq!(pages.len(), 1);
    goto(&pages[0], &url).await;
    first.close(&soon()).await.unwrap();

    let second = connect(endpoint).await.unwrap();
    let context = second
        .default_context(&soon(), ContextOptions::default())
        .await
        .unwrap();
    let pages = context.pages();
    assert_eq!(pages.len(), 1);
    let page = &pages[0];
    assert_eq!(page.url(), url);
    assert_eq!(page.title(&soon()).await.unwrap(), "Old");
    assert!(
        page.wait_for_load(LoadState::Loaded, Duration::from_secs(10))
            .await
    );
    let frame = crate::harness::frame_at(page, &inner).await;
    assert_eq!(
        crate::harness::eval_in(page, &frame.id, "document.body.innerText").await,
        "inner"
    );
    second.close(&soon()).await.unwrap();
}

#[testkit::test(chromium)]
async fn attaching_leaves_the_media_type_that_another_client_emulates() {
    let elsewhere = RemoteBrowser::start().await;
    let first = connect(elsewhere.http()).await.unwrap();
    let context = first
        .default_context(&soon(), ContextOptions::default())
        .await
        .unwrap();
    let page = &context.pages()[0];
    let print = MediaFeatures {
        media: Some("print".to_owned()),
        ..Default::default()
    };
    page.emulate_media(&soon(), print).await.unwrap();

    let second = connect(elsewhere.http()).await.unwrap();
    let own = second
        .new_context(&soon(), ContextOptions::default())
        .await
        .unwrap();
    goto(&own.new_page(&soon()).await.unwrap(), "about:blank").await;
    let shared = second
        .default_context(&soon(), ContextOptions::default())
        .await
        .unwrap();
    let query = "matchMedia('print').matches";
    assert_eq!(eval(&shared.pages()[0], query).await, true);
    assert_eq!(eval(page, query).await, true);
    second.close(&soon()).await.unwrap();
    first.close(&soon()).await.unwrap();
}

#[testkit::test(chromium)]
async fn an_unresponsive_existing_tab_does_not_block_others() {
    let elsewhere = RemoteBrowser::start().await;
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Busy</title>");
    let first = connect(elsewhere.http()).await.unwrap();
    let context = first
        .default_context(&soon(), ContextOptions::default())
        .await
        .unwrap();
    let page = &context.pages()[0];
    goto(page, &url).await;
    eval(page, "void fetch('/busy').then(() => { for (;;); })").await;
    eventually(async || {
        page.requests()
            .iter()
            .any(|sent| sent.url.ends_with("/busy"))
    })
    .await;

    let second = connect(elsewhere.http()).await.unwrap();
    let context = second
        .default_context(&soon(), ContextOptions::default())
        .await
        .unwrap();
    let fresh = context.new_page(&soon()).await.unwrap();
    goto(&fresh, &site.url("/status/200")).await;
    second.close(&soon()).await.unwrap();
}

#[testkit::test(chromium)]
async fn an_endpoint_without_listener_fails() {
    for endpoint in ["http://127.0.0.1:9", "ws://127.0.0.1:9/devtools/browser/x"] {
        let error = connect(endpoint.to_owned()).await.unwrap_err();
        assert!(matches!(error, Error::ConnectFailed { .. }));
        assert_eq!(error.to_string(), "connect ECONNREFUSED 127.0.0.1:9");
    }
    let error = connect("ftp://127.0.0.1".to_owned()).await.unwrap_err();
    assert!(error.to_string().contains("ws://"), "{error}");
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_killed_browser_fails_every_call_with_a_reason(engine: Engine) {
    with_options(engine, async |options| {
        let options = marked(&options, "killed");
        let site = Site::start().await;
        let browser = Browser::launch(&soon(), &options).await.unwrap();
        let context = browser
            .new_context(&soon(), ContextOptions::default())
            .await
            .unwrap();
        let page = context.new_page(&soon()).await.unwrap();
        goto(&page, &site.url("/status/200")).await;
        let main = page.backend().main_frame();
        let progress = soon();
        let pending = progress.run(
            page.backend()
                .evaluate(&main, "new Promise(() => {})", None),
        );
        let url = site.url("/hang");
        let progress = soon();
        let navigating = page.goto(&progress, &url, LoadState::Loaded);
        let killing = async {
            eventually(async || page.requests().iter().any(|sent| sent.url == url)).await;
            for process in processes(&options.args[0]) {
                kill(process);
            }
        };
        let (pending, navigated, ()) = tokio::join!(pending, navigating, killing);
        let lost =
            |error: &Error| matches!(error, Error::BrowserClosed { .. } | Error::PageClosed {});
        assert!(
            matches!(pending, Err(Error::BrowserClosed { .. })),
            "{pending:?}"
        );
        assert!(navigated.as_ref().is_err_and(lost), "{navigated:?}");
        assert!(browser.closed_reason().is_some());
        eventually(async || page.is_closed()).await;
        assert!(context.pages().is_empty());
        assert!(matches!(
            browser
                .new_context(&soon(), ContextOptions::default())
                .await,
            Err(Error::BrowserClosed { .. })
        ));
    });
}

fn kill(process: u32) {
    let process = rustix::process::Pid::from_raw(process.cast_signed()).unwrap();
    // A helper may have ended.
    let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
}

#[testkit::test(chromium, firefox)]
fn an_unresponsive_browser_times_out_at_the_deadline(engine: Engine) {
    with_options(engine, async |options| {
        let (_folder, program) = script("sleep 1000");
        let options = marked(
            &LaunchOptions {
                executable: program,
                ..options
            },
            "mute",
        );
        let progress = engine::Progress::new(Duration::from_millis(500));
        let error = Browser::launch(&progress, &options).await.unwrap_err();
        let Error::LaunchFailed { reason, .. } = error else {
            panic!("{error:?}");
        };
        let name = engine.name();
        let expected = format!("{name} was started and did not get ready within 500 ms");
        assert!(reason.starts_with(&expected), "{reason}");
        until_exited(&options.args[0]).await;
    });
}

#[testkit::test(chromium, firefox)]
fn a_browser_whose_wrapper_was_killed_is_terminated(engine: Engine) {
    with_options(engine, async |options| {
        let real = options.executable.display().to_string();
        let (_folder, program) = script(&format!("\"{real}\" \"$@\"\necho done"));
        let options = marked(
            &LaunchOptions {
                executable: program.clone(),
                ..options
            },
            "wrapper",
        );
        let _browser = Browser::launch(&soon(), &options).await.unwrap();
        let wrapper = processes(&program.display().to_string());
        assert_eq!(wrapper.len(), 1);
        assert!(processes(&options.args[0]).len() > 1);
        kill(wrapper[0]);
        until_exited(&options.args[0]).await;
    });
}
