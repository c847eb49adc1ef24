//! The server for Windows, under Wine. Chrome is a stand-in, which passes its debugging pipe to a Chromium of this machine.

use std::fs;

use serde_json::json;
use testkit::{Client, HttpServer, Launch, Site, StandIn, launch_under_wine, path_under_wine};

/// Returns the server with a browser, not started.
fn launch(stand_in: &StandIn, args: &[&str]) -> Launch {
    let launch = launch_under_wine(&["--browser", "chrome", "--headless", "--isolated"]);
    stand_in.configure(launch.args(args.iter().copied()))
}

/// Runs a command, and returns whether it succeeded and what it printed on stderr.
async fn run(args: &[&str]) -> (bool, String) {
    let mut client = launch_under_wine(args).spawn();
    let succeeded = client.exit_status().await.success();
    (succeeded, client.stderr())
}

async fn navigate(client: &Client, site: &Site) {
    let page = site.add_page(
        "/",
        "<title>Here</title><button onclick=\"document.title = 'Clicked'\">Go</button>",
    );
    let answer = client
        .call("browser_navigate", json!({ "url": page }))
        .await;
    assert!(answer.text.contains("Page Title: Here"), "{}", answer.text);
}

#[testkit::test(wine)]
async fn the_server_for_windows_speaks_over_stdio_without_a_browser() {
    let client = launch_under_wine(&["--headless"]).start().await;
    let tools = client.request("tools/list", json!({})).await.unwrap();
    let tools = tools["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "browser_navigate"));
    assert!(client.end().await.success());
}

#[testkit::test(wine)]
async fn the_server_for_windows_reports_wrong_configuration() {
    let (succeeded, stderr) = run(&["--no-such-option"]).await;
    assert!(
        !succeeded && stderr.contains("--no-such-option"),
        "{stderr}"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.json");
    fs::write(&file, r#"{ "browser": { "browserNam": "chrome" } }"#).unwrap();
    let (succeeded, stderr) = run(&["--config", &path_under_wine(&file)]).await;
    assert!(!succeeded && stderr.contains("browserNam"), "{stderr}");
}

#[testkit::test(wine)]
async fn the_server_for_windows_refuses_what_needs_unix() {
    let (succeeded, stderr) = run(&["do", "browser_snapshot"]).await;
    assert!(
        !succeeded && stderr.contains("not available on Windows"),
        "{stderr}"
    );
    let client = launch_under_wine(&["--browser", "webkit", "--headless"])
        .start()
        .await;
    let answer = client
        .call("browser_navigate", json!({ "url": "about:blank" }))
        .await;
    let reason = "'webkit' does not exist for this operating system";
    assert!(
        answer.is_error && answer.text.contains(reason),
        "{}",
        answer.text
    );
}

#[testkit::test(wine)]
async fn the_server_for_windows_speaks_over_http() {
    let server = HttpServer::start(launch_under_wine(&["--executable-path", r"C:\no.exe"])).await;
    let session = server.begin_session().await;
    let answer = server
        .call(Some(&session), "browser_tabs", json!({ "action": "new" }))
        .await;
    // There is no program of this name.
    let text = answer["content"][0]["text"].as_str().unwrap_or_default();
    assert!(
        answer["isError"] == true && text.contains("no.exe"),
        "{answer}"
    );
}

#[testkit::test(wine, chromium)]
async fn the_server_for_windows_drives_a_browser_and_ends_its_processes() {
    let (site, stand_in) = (Site::start().await, StandIn::start().await);
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.json");
    fs::write(
        &config,
        r#"{ "browser": { "contextOptions": { "locale": "de-DE" } } }"#,
    )
    .unwrap();
    let config = path_under_wine(&config);
    let client = launch(&stand_in, &["--config", &config]).start().await;
    navigate(&client, &site).await;
    let helper = stand_in.helper().await;
    let answer = client
        .call(
            "browser_click",
            json!({ "element": "Go", "target": "button" }),
        )
        .await;
    assert!(
        answer.text.contains("Page Title: Clicked"),
        "{}",
        answer.text
    );
    let answer = client
        .call(
            "browser_evaluate",
            json!({ "function": "() => navigator.language" }),
        )
        .await;
    assert!(answer.text.contains("de-DE"), "{}", answer.text);
    let answer = client
        .call("browser_take_screenshot", json!({ "filename": "page.png" }))
        .await;
    assert!(!answer.is_error, "{}", answer.text);
    assert!(client.end().await.success());
    helper.ended().await;
}

#[testkit::test(wine, chromium)]
async fn processes_of_the_browser_end_with_a_killed_server_for_windows() {
    let (site, stand_in) = (Site::start().await, StandIn::start().await);
    let mut client = launch(&stand_in, &[]).start().await;
    navigate(&client, &site).await;
    let helper = stand_in.helper().await;
    client.kill().await;
    helper.ended().await;
}
