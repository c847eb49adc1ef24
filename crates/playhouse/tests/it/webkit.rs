//! WebKit: a browser for each session and a virtual display, none of which may remain.

use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use testkit::{Client, Engine, Processes, Site, eventually};

use crate::faults::{NOTHING, files_in, kill};
use crate::{launch, server};

const WEBKIT: [&str; 2] = ["--browser", "webkit"];

fn processes(client: &Client) -> Processes {
    Processes::from(client.pid().expect("it runs"))
}

/// A server that shows a page of a new site.
async fn on_a_page() -> (Site, String, Client) {
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Here</title>");
    let client = server(&WEBKIT).await;
    shown(&client, &url).await;
    (site, url, client)
}

async fn shown(client: &Client, url: &str) {
    let answer = client.call("browser_navigate", json!({ "url": url })).await;
    assert!(!answer.is_error, "{}", answer.text);
}

#[testkit::test(webkit)]
async fn no_webkit_process_remains_of_a_killed_server() {
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Here</title>");
    let mut client = launch(&WEBKIT).start().await;
    shown(&client, &url).await;
    let running = processes(&client);
    for part in ["MiniBrowser", "WebKitWebProcess", "Xvfb"] {
        assert!(!running.mentioning(part).is_empty(), "{part}: {running:?}");
    }
    kill(client.pid().expect("it runs"));
    client.exit_status().await;
    running.gone().await;
}

#[testkit::test(webkit)]
async fn a_webkit_crash_affects_only_its_session() {
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Here</title><p>here</p>");
    let client = server(&["--browser", "webkit", "--toolsets", "session"]).await;
    let browsers = || processes(&client).mentioning("MiniBrowser");
    let mut sessions = Vec::new();
    for _ in 0..2 {
        let before = browsers();
        let id = client.create_session(json!({})).await;
        let go = json!({ "sessionId": id, "url": url });
        client.success("navigate", go).await;
        let mark = json!({ "sessionId": id, "script": "window.mark = 'kept'" });
        client.success("evaluate", mark).await;
        let mut own = browsers();
        own.retain(|browser| !before.contains(browser));
        sessions.push((id, own));
    }
    let [(dies, own), (lives, others)] = &sessions[..] else {
        panic!("two sessions");
    };
    assert!(!own.is_empty() && !others.is_empty(), "{sessions:?}");
    for browser in own {
        kill(*browser);
    }
    let text = json!({ "sessionId": dies, "selector": "p" });
    let answer = client.object("get_text", text.clone()).await;
    assert_eq!(answer["errorCode"], "BROWSER_CRASHED", "{answer}");
    assert_eq!(answer["retryable"], true, "{answer}");
    assert_eq!(answer["details"]["lostPages"], json!([url]), "{answer}");
    let mark = json!({ "sessionId": lives, "script": "window.mark" });
    let kept = client.object("evaluate", mark.clone()).await;
    assert_eq!(kept["result"], "kept", "{kept}");
    // The session that lost its browser gets another one, and the other one keeps its own.
    let go = json!({ "sessionId": dies, "url": url });
    let again = client.object("navigate", go).await;
    assert_eq!(again["title"], "Here", "{again}");
    assert_eq!(client.object("get_text", text).await["success"], true);
    let kept = client.object("evaluate", mark).await;
    assert_eq!(kept["result"], "kept", "{kept}");
    assert!(others.iter().all(|browser| browsers().contains(browser)));
    let running = processes(&client);
    for (id, _) in &sessions {
        let close = json!({ "sessionId": id });
        client.success("close_session", close).await;
    }
    assert!(client.end().await.success());
    running.gone().await;
}

#[testkit::test(webkit)]
async fn no_webkit_process_remains_after_shutdown() {
    let (_site, _, client) = on_a_page().await;
    let running = processes(&client);
    assert!(client.end().await.success());
    running.gone().await;
}

#[testkit::test(webkit, nightly)]
async fn a_webkit_that_does_not_get_ready_is_restarted() {
    let browser = Engine::Webkit.executable();
    tokio::join!(
        starts_although_one_stands_still(&browser, "MiniBrowser"),
        starts_although_one_stands_still(&browser, "Xvfb"),
    );
}

/// Asserts that a session starts although this program hangs once, and that an existing session keeps its programs.
async fn starts_although_one_stands_still(browser: &Path, name: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let script = folder.path().join(name);
    let stuck = folder.path().join("stuck");
    let is_browser = browser.ends_with(name);
    let real = if is_browser { browser } else { Path::new(name) };
    #[expect(clippy::disallowed_methods, reason = "ours comes before the real ones")]
    let path = std::env::var("PATH").expect("there is one");
    // It is the first of its name in the path, before the real one.
    let text = format!(
        "#!/bin/sh\nrm '{}' 2>/dev/null && exec sleep 1000\nPATH='{path}'\nexec '{}' \"$@\"\n",
        stuck.display(),
        real.display()
    );
    write_program(&script, &text);
    let program = if is_browser { &script } else { browser };
    let program = program.to_str().expect("a plain path");
    let path = format!("{}:{path}", folder.path().display());
    let client = launch(&["--toolsets", "session", "--executable-path", program])
        .args(WEBKIT)
        .env("PATH", &path)
        .env("TMPDIR", temporary.path().to_str().expect("a plain path"))
        .start()
        .await;
    let mut sessions = Vec::new();
    // The second session uses the display of the first.
    for stands_still in [true, name != "Xvfb"] {
        if stands_still {
            std::fs::write(&stuck, "").expect("writable");
        }
        sessions.push(client.create_session(json!({})).await);
        assert!(!stuck.exists(), "{name} stood still");
    }
    for id in sessions {
        let sum = json!({ "sessionId": id, "script": "1 + 1" });
        assert_eq!(client.success("evaluate", sum).await["result"], 2);
    }
    let running = processes(&client);
    assert_eq!(running.mentioning("sleep 1000"), [0_u32; 0]);
    assert!(client.end().await.success());
    running.gone().await;
    assert_eq!(files_in(temporary.path()), NOTHING);
}

fn write_program(path: &Path, script: &str) {
    std::fs::write(path, script).expect("writable");
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("it is ours");
}

#[testkit::test(webkit, nightly)]
async fn a_webkit_without_the_feature_that_keeps_scroll_bars_still_starts_all_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = folder.path().join("MiniBrowser");
    let refused = folder.path().join("refused");
    // The output of WebKitGTK 2.50 for an unknown feature.
    let text = format!(
        "#!/bin/sh
case \"$*\" in
*MockScrollbarsController*)
  echo refused >> '{}'
  echo \"Cannot parse arguments: Feature 'MockScrollbarsController' is not available\" >&2
  exit 1;;
esac
exec '{}' \"$@\"
",
        refused.display(),
        Engine::Webkit.executable().display(),
    );
    write_program(&script, &text);
    let program = script.to_str().expect("a plain path");
    let client = launch(&["--toolsets", "session", "--executable-path", program])
        .args(WEBKIT)
        .start()
        .await;
    let mut asked = Vec::new();
    for _ in 0..2 {
        let id = client.create_session(json!({})).await;
        let sum = json!({ "sessionId": id, "script": "1 + 1" });
        assert_eq!(client.success("evaluate", sum).await["result"], 2);
        asked.push(std::fs::read_to_string(&refused).expect("it was asked for at first"));
    }
    assert_eq!(asked[0], asked[1], "asked for no more");
    assert!(client.end().await.success());
}

/// Such a document has lost the listeners that report its navigations.
const REOPENED: &str = "() => {
  document.open();
  document.write('<title>Other</title><p>other</p>');
  document.close();
  setTimeout(() => { location.hash = 'later'; fetch('/moved'); }, 500);
}";

#[testkit::test(webkit)]
async fn a_snapshot_reports_a_url_without_navigation_event() {
    let (site, url, client) = on_a_page().await;
    let reopened = json!({ "function": REOPENED });
    client.call("browser_evaluate", reopened).await;
    eventually(async || site.requests().iter().any(|sent| sent.target == "/moved")).await;
    let snapshot = client.call("browser_snapshot", json!({})).await;
    let moved = format!("Page URL: {url}#later");
    assert!(snapshot.text.contains(&moved), "{}", snapshot.text);
    assert!(client.end().await.success());
}
