//! Recovery after a process was killed: the server, its wrapper, a local or a remote browser.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;
use testkit::{Client, Engine, Launch, Processes, RemoteBrowser, Site, eventually};

use crate::launch_on;

const SERVER: &str = env!("CARGO_BIN_EXE_playhouse");
pub(crate) const NOTHING: [PathBuf; 0] = [];
/// Keeps the page busy forever, after a request to the site.
const BUSY: &str = "() => { fetch('/busy').then(() => { for (;;); }); }";

pub(crate) fn kill(process: u32) {
    send(process, Signal::KILL);
}

/// Kills the renderer processes of the server's pages; one may end by itself meanwhile.
pub(crate) fn kill_pages(client: &Client) {
    let all = Processes::from(client.pid().expect("it runs"));
    for renderer in all.mentioning("--type=renderer") {
        let renderer = Pid::from_raw(renderer.cast_signed()).expect("not 0");
        let _ = kill_process(renderer, Signal::KILL);
    }
}

fn send(process: u32, signal: Signal) {
    let process = Pid::from_raw(process.cast_signed()).expect("not 0");
    kill_process(process, signal).expect("it is ours");
}

/// Returns the contents of a folder.
pub(crate) fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("it can be listed");
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

/// Shows a page that keeps its renderer busy forever, and returns the running processes.
async fn with_a_busy_page(client: &Client, site: &Site, temporary: &Path) -> Processes {
    let url = site.add_page("/", "<title>Busy</title>");
    let answer = client.call("browser_navigate", json!({ "url": url })).await;
    assert!(!answer.is_error, "{}", answer.text);
    let busy = json!({ "name": "browser_evaluate", "arguments": { "function": BUSY } });
    let _waits = client.begin("tools/call", busy).await;
    eventually(async || site.requests().iter().any(|sent| sent.target == "/busy")).await;
    let running = Processes::from(client.pid().expect("it runs"))
        .and_mentioning(temporary.to_str().expect("a plain path"));
    assert!(running.count() > 3, "{running:?}");
    running
}

#[testkit::test(chromium, firefox, webkit)]
async fn no_process_of_a_killed_server_remains(engine: Engine) {
    let site = Site::start().await;
    let mut browsers = vec![engine.executable()];
    // The two exit in different ways.
    let full = Path::new("/usr/bin/chromium");
    if engine == Engine::Chromium && full.exists() {
        browsers.push(full.to_owned());
    }
    for browser in browsers {
        let temporary = tempfile::tempdir().expect("a temporary folder");
        let browser = browser.to_str().expect("a plain path");
        let start = || {
            launch_on(engine, &["--executable-path", browser])
                .env("TMPDIR", temporary.path().to_str().expect("a plain path"))
                .start()
        };
        let mut client = start().await;
        let running = with_a_busy_page(&client, &site, temporary.path()).await;
        kill(client.pid().expect("it runs"));
        client.exit_status().await;
        running.gone().await;
        // The next server removes the profile; its last user may still be exiting.
        for _ in 0..20 {
            assert!(start().await.end().await.success());
            if files_in(temporary.path()).is_empty() {
                break;
            }
        }
        assert_eq!(files_in(temporary.path()), NOTHING);
    }
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_server_ends_with_the_wrapper_that_started_it(engine: Engine) {
    let site = Site::start().await;
    let temporary = tempfile::tempdir().expect("a temporary folder");
    // A shell that stays alive, as a package runner does, and passes its stdin on.
    let mut client = Launch::new("/bin/sh")
        .args(["-c", "\"$@\"; echo done >&2", "wrapper", SERVER])
        .args(["--headless", "--isolated"])
        .args(engine.args().iter().copied())
        .env("TMPDIR", temporary.path().to_str().expect("a plain path"))
        .start()
        .await;
    let running = with_a_busy_page(&client, &site, temporary.path()).await;
    assert_eq!(running.mentioning(SERVER).len(), 2);
    kill(client.pid().expect("it runs"));
    client.exit_status().await;
    running.gone().await;
    assert_eq!(files_in(temporary.path()), NOTHING);
}

/// Returns the browsers of a server, without helpers and wrapper scripts.
pub(crate) fn browsers(client: &Client) -> Vec<u32> {
    let all = Processes::from(client.pid().expect("it runs"));
    let helpers = all.mentioning("--type=");
    // A pipe for Chromium, a port for Firefox, a driver for WebKit.
    let mut main = all.mentioning("--remote-debugging-p");
    main.extend(all.mentioning("MiniBrowser --automation"));
    main.retain(|process| !helpers.contains(process));
    let scripts = all.mentioning("/bin/sh");
    main.retain(|process| !scripts.contains(process));
    main
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_browser_crash_fails_the_call_and_the_next_call_has_a_new_browser(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Here</title>");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let profile = folder.path().join("profile");
    // Each round has a new browser, and adds one request.
    let mut all = vec![vec!["--isolated"]];
    // WebKit has no persistent profile.
    if engine != Engine::Webkit {
        let profile = profile.to_str().expect("a plain path");
        all.push(vec!["--user-data-dir", profile]);
    }
    for (rounds, args) in (1..).zip(all) {
        let client = Launch::new(SERVER)
            .args(["--headless"])
            .args(engine.args().iter().copied())
            .args(args)
            .start()
            .await;
        client.navigate(&url).await;
        let running = Processes::from(client.pid().expect("it runs"));
        let waits =
            json!({ "function": "() => fetch('/pending').then(() => new Promise(() => {}))" });
        let waits = json!({ "name": "browser_evaluate", "arguments": waits });
        let pending = client.begin("tools/call", waits).await;
        eventually(async || {
            let requests = site.requests();
            let sent = requests.iter().filter(|sent| sent.target == "/pending");
            sent.count() == rounds
        })
        .await;
        let before = browsers(&client);
        assert_eq!(before.len(), 1);
        kill(before[0]);
        let reply = pending.answer().await.expect("an answer");
        assert_eq!(reply["isError"], true, "{reply}");
        assert_eq!(
            reply["structuredContent"]["errorCode"], "BROWSER_ERROR",
            "{reply}"
        );
        let text = reply["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.contains("has been closed"), "{text}");
        let next = client.call("browser_navigate", json!({ "url": url })).await;
        assert!(!next.is_error, "{}", next.text);
        assert!(next.text.contains("a new one was started"), "{}", next.text);
        let after = browsers(&client);
        assert_eq!(after.len(), 1);
        assert_ne!(before, after);
        assert!(client.end().await.success());
        running.gone().await;
    }
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn an_unresponsive_browser_does_not_delay_shutdown(engine: Engine) {
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let client = launch_on(engine, &[])
        .env("TMPDIR", temporary.path().to_str().expect("a plain path"))
        .start()
        .await;
    client.navigate("about:blank").await;
    let running = Processes::from(client.pid().expect("it runs"));
    send(browsers(&client)[0], Signal::STOP);
    assert!(client.end().await.success());
    running.gone().await;
    assert_eq!(files_in(temporary.path()), NOTHING);
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_stalled_browser_keeps_its_pages(engine: Engine) {
    let site = Site::start().await;
    // A page has a fifth of a second to respond, five times.
    let client = launch_on(engine, &[]).timeout_divisor(5).start().await;
    let one = site.add_page("/", "<title>One</title>");
    client.navigate(&one).await;
    let browser = browsers(&client)[0];
    send(browser, Signal::STOP);
    let goes_on = async {
        tokio::time::sleep(Duration::from_millis(1400)).await;
        send(browser, Signal::CONT);
    };
    let two = json!({ "url": site.add_page("/two", "<title>Two</title>") });
    let (there, ()) = tokio::join!(client.call("browser_navigate", two), goes_on);
    assert!(there.text.contains("Page Title: Two"), "{}", there.text);
    let back = client.call("browser_navigate_back", json!({})).await;
    assert!(back.text.contains("Page Title: One"), "{}", back.text);
    assert!(client.end().await.success());
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_stalled_browser_is_used_when_it_continues(engine: Engine) {
    let site = Site::start().await;
    // A page has a second to load, and another one to be read.
    let options = ["--timeout-action", "1000"];
    let client = launch_on(engine, &options).timeout_divisor(5).start().await;
    client.call("browser_snapshot", json!({})).await;
    let browser = browsers(&client)[0];
    let half = site.add_page("/", "<title>Half</title><p>There</p><img src=/hang>");
    let stands_still = async {
        eventually(async || site.requests().iter().any(|asked| asked.target == "/hang")).await;
        // The browser must be notified, too.
        tokio::time::sleep(Duration::from_secs(1)).await;
        send(browser, Signal::STOP);
        tokio::time::sleep(Duration::from_millis(2300)).await;
        send(browser, Signal::CONT);
    };
    let go = json!({ "url": half });
    let (there, ()) = tokio::join!(client.call("browser_navigate", go), stands_still);
    assert!(there.text.contains("Page Title: Half"), "{}", there.text);
    let shown = there.snapshot().unwrap_or_default();
    assert!(shown.contains("There"), "{}", there.text);
    assert!(client.end().await.success());
}

#[testkit::test(chromium)]
async fn a_lost_remote_browser_is_reported_and_reconnected() {
    let site = Site::start().await;
    let go = json!({ "url": site.add_page("/", "<title>Here</title>") });
    let elsewhere = RemoteBrowser::start().await;
    let port = elsewhere.port();
    let client = Launch::new(SERVER)
        .args(["--cdp-endpoint", &elsewhere.http()])
        .start()
        .await;
    let answer = client.call("browser_navigate", go.clone()).await;
    assert!(!answer.is_error, "{}", answer.text);
    elsewhere.kill().await;
    // The first call may still report the broken connection; then there is nothing to connect to.
    for _ in 0..2 {
        let answer = client.call("browser_navigate", go.clone()).await;
        assert!(answer.is_error, "{}", answer.text);
        assert_eq!(
            answer.raw["structuredContent"]["errorCode"],
            "BROWSER_ERROR"
        );
    }
    let answer = client.call("browser_navigate", go.clone()).await;
    assert!(answer.error().contains("ECONNREFUSED"), "{}", answer.text);
    let mut again = RemoteBrowser::on_port(port).await;
    let answer = client.call("browser_navigate", go).await;
    assert!(!answer.is_error, "{}", answer.text);
    assert!(client.end().await.success());
    // A remote browser is not closed.
    assert!(again.is_running());
}
