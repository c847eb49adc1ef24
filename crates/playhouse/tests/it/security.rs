//! Restrictions of the server's settings: domains, schemes, large screenshots, uploads, client code; and the log.

use serde_json::{Value, json};
use std::fs;
use testkit::{Engine, Site, eventually};

use crate::{launch, server, shared};

const EXAMPLE: &str = include_str!("../../../server/src/config/tests/shape.json");

#[testkit::test(chromium)]
async fn a_blocked_domain_gets_no_request_and_the_rule_is_reported() {
    let (site, other) = (Site::start().await, Site::start().await);
    let elsewhere = other.cross_origin_url();
    let url = site.add_page(
        "/",
        &format!("<title>open</title><a href='/redirect?to={elsewhere}/file' download>Get</a><img src={elsewhere}/img>
        <script>window.refused = new Promise(done => new WebSocket('{}/ws').onerror = () => done('refused'))</script>", elsewhere.replace("http", "ws")),
    );
    let client = server(&[
        "--toolsets",
        "browser,session",
        "--allowed-domains",
        "127.0.0.1,*.example.com",
    ])
    .await;
    let arrived = client.call("browser_navigate", json!({ "url": url })).await;
    assert!(
        arrived.text.contains("Page Title: open"),
        "{}",
        arrived.text
    );
    let refused = client
        .call("evaluate", json!({ "script": "window.refused" }))
        .await;
    assert_eq!(refused.raw["structuredContent"]["result"], "refused");
    client.call("browser_click", json!({ "target": "a" })).await;
    let rule = "only 127.0.0.1, *.example.com is allowed";
    for address in [
        format!("{elsewhere}/direct"),
        site.url(&format!("/redirect?to={elsewhere}/redirected")),
    ] {
        let reply =
            client.call("navigate", json!({ "url": address })).await.raw["structuredContent"]
                .clone();
        assert_eq!(reply["errorCode"], "URL_BLOCKED", "{reply}");
        assert_eq!(reply["details"]["rule"], rule, "{reply}");
        let answer = client
            .call("browser_navigate", json!({ "url": address }))
            .await;
        assert!(
            answer.error().contains("net::ERR_BLOCKED_BY_CLIENT at "),
            "{}",
            answer.text
        );
        assert_eq!(answer.raw["structuredContent"]["errorCode"], "URL_BLOCKED");
    }
    client.call("browser_close", json!({})).await;
    assert!(other.requests().is_empty());
}

#[testkit::test(chromium)]
async fn internal_pages_require_the_option() {
    let inside = json!({ "url": "chrome://version" });
    let client = shared(Engine::Chromium, &[]).await;
    let refused = client.call("browser_navigate", inside.clone()).await;
    assert_eq!(
        refused.error(),
        "Error: Access to \"chrome:\" protocol is blocked. Attempted URL: \"chrome://version\""
    );
    assert_eq!(refused.raw["structuredContent"]["errorCode"], "URL_BLOCKED");
    let client = server(&["--allowed-schemes", "chrome"]).await;
    let answer = client.call("browser_navigate", inside).await;
    assert_ne!(
        answer.raw["structuredContent"]["errorCode"], "URL_BLOCKED",
        "{}",
        answer.text
    );
}

#[testkit::test(chromium)]
async fn a_screenshot_may_be_too_large() {
    let client = server(&["--max-screenshot-size", "500"]).await;
    let refused = client.call("browser_take_screenshot", json!({})).await;
    let answer = &refused.raw["structuredContent"];
    assert_eq!(
        (&answer["errorCode"], &answer["details"]["limit"]),
        (&"RESOURCE_EXHAUSTED".into(), &500.into())
    );
    assert_eq!(refused.images.len(), 0);
    let baseline = json!({ "baseline": "now.png", "update": true });
    let refused = client.call("compare_screenshot", baseline).await;
    let answer = &refused.raw["structuredContent"];
    assert_eq!(answer["errorCode"], "RESOURCE_EXHAUSTED", "{answer}");
    assert!(!client.workspace().join("now.png").exists());
}

#[testkit::test(chromium)]
async fn images_above_the_limit_are_not_compared() {
    let client = shared(Engine::Chromium, &[]).await;
    let wide = image::RgbaImage::new(150_000, 1);
    wide.save(client.workspace().join("wide.png"))
        .expect("a picture");
    let baseline = json!({ "baseline": "wide.png" });
    let refused = client.call("compare_screenshot", baseline).await;
    let answer = &refused.raw["structuredContent"];
    assert_eq!(
        (&answer["errorCode"], &answer["details"]["width"]),
        (&"RESOURCE_EXHAUSTED".into(), &150_000.into()),
        "{answer}"
    );
}

#[testkit::test(chromium)]
async fn a_forbidden_tool_is_not_listed_and_its_call_fails() {
    let client = server(&[
        "--toolsets",
        "browser,session",
        "--no-enable-script-evaluation",
        "--enable-file-upload=false",
        "--tools",
        "+browser_evaluate",
    ])
    .await;
    let listed: Vec<_> = client
        .list_tools()
        .await
        .into_iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert!(listed.contains(&"browser_click".into()));
    for tool in [
        "browser_evaluate",
        "browser_run_code_unsafe",
        "evaluate",
        "browser_file_upload",
        "upload_file",
    ] {
        assert!(!listed.contains(&tool.into()), "{tool}");
        let reply = client.call(tool, json!({})).await.raw["structuredContent"].clone();
        assert_eq!(reply["errorCode"], "TOOL_DISABLED", "{reply}");
        let message = reply["message"].as_str().unwrap_or_default();
        assert!(message.contains("--no-enable-"), "{message}");
    }
    let file = client.workspace().join("a.txt");
    fs::write(&file, "a").expect("writable");
    for (tool, arguments) in [
        ("browser_drop", json!({ "target": "body", "paths": [file] })),
        ("browser_navigate", json!({ "url": "javascript:alert(1)" })),
    ] {
        let answer = client.call(tool, arguments).await;
        let code = answer.raw["structuredContent"]["errorCode"].clone();
        assert!(
            code == "TOOL_DISABLED" || code == "URL_BLOCKED",
            "{}",
            answer.text
        );
    }
}

#[testkit::test(chromium)]
async fn the_example_of_the_specification_serves() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("config.json");
    fs::write(&path, EXAMPLE).expect("writable");
    let config = path.display().to_string();
    let args = ["--config", &config];
    let client = testkit::Launch::new(env!("CARGO_BIN_EXE_playhouse"))
        .args(args)
        .spawn();
    let hello = client.initialize(json!({})).await;
    let server = &hello["serverInfo"];
    assert_eq!(
        (&server["name"], &server["version"]),
        (&"playwright-mcp-server".into(), &"1.0.0".into())
    );
    let names: Vec<_> = client
        .list_tools()
        .await
        .into_iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert!(!names.contains(&"browser_evaluate".into()) && names.contains(&"browser_click".into()));
    let answer = client
        .call("browser_navigate", json!({ "url": "http://example.org/" }))
        .await;
    assert_eq!(
        answer.raw["structuredContent"]["errorCode"], "URL_BLOCKED",
        "{}",
        answer.text
    );
}

#[testkit::test(chromium)]
async fn reports_are_objects_in_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("logs/server.log");
    let log = path.display().to_string();
    let client = launch(&[
        "--log-file",
        &log,
        "--log-format",
        "json",
        "--log-level",
        "trace",
    ])
    .start()
    .await;
    client.call("browser_close", json!({})).await;
    client.list_tools().await;
    let stderr = client.stderr();
    client.end().await;
    assert!(stderr.is_empty(), "{stderr}");
    let text = fs::read_to_string(&path).expect("a log");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object"))
        .collect();
    assert!(
        lines
            .iter()
            .all(|line| line["level"].is_string() && line["timestamp"].is_string()),
        "{text}"
    );
    assert!(!lines.is_empty());
    let client = launch(&["--log-file", "/proc/nowhere/x.log"]).spawn();
    assert!(
        client
            .whole_stderr()
            .await
            .starts_with("cannot write the log /proc/nowhere/x.log: ")
    );
}

#[testkit::test(chromium)]
async fn the_browser_is_started_as_its_settings_say() {
    let site = Site::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let downloads = folder.path().join("downloads");
    let config = json!({ "browser": {
        "type": "chromium",
        "headless": true,
        "args": ["--user-agent=Tester/1"],
        "downloadPath": downloads,
    }});
    let path = folder.path().join("config.json");
    fs::write(&path, config.to_string()).expect("writable");
    let path = path.display().to_string();
    let client = server(&["--toolsets", "browser,session", "--config", &path]).await;
    let go = json!({ "url": site.url("/download?name=answer.txt") });
    let answer = client.call("navigate", go).await;
    let answer = &answer.raw["structuredContent"]["download"];
    assert_eq!(answer["name"], "answer.txt", "{answer}");
    let agent = json!({ "script": "navigator.userAgent" });
    let agent = client.call("evaluate", agent).await;
    assert_eq!(agent.raw["structuredContent"]["result"], "Tester/1");
    let file = downloads.join("answer.txt");
    eventually(async || {
        // It is moved there when it is reported.
        client.call("browser_snapshot", json!({})).await;
        file.exists()
    })
    .await;
}
