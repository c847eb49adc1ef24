//! Effects of each call: the journal, the size limit of the output folder, the idle timeout of the browser, and the browser that is
//! launched in advance.

use serde_json::{Value, json};
use std::fs;
use testkit::Site;

use crate::{fake_server, launch, server};

#[testkit::test]
async fn the_session_log_contains_each_call_and_its_answer() {
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Tea</title><h1>Green</h1>");
    let client = fake_server(&["--save-session"]).await;
    client.navigate(&url).await;
    client.call("browser_snapshot", json!({})).await;
    client.call("browser_take_screenshot", json!({})).await;
    client
        .call("browser_click", json!({ "target": "#none" }))
        .await;

    let output = client.workspace().join(".playwright-mcp");
    let folders = fs::read_dir(&output).expect("an output folder").flatten();
    let folder = folders
        .map(|entry| entry.path())
        .find(|path| path.is_dir() && path.to_string_lossy().contains("session-"))
        .expect("a folder of the session");
    let stderr = client.stderr();
    assert!(
        stderr.contains(&format!("Session: {}", folder.display())),
        "{stderr}"
    );
    let journal = fs::read_to_string(folder.join("session.md")).expect("a journal");
    let calls: Vec<(&str, Value, Value)> = journal
        .split("\n### Tool call: ")
        .skip(1)
        .map(|call| {
            let (tool, rest) = call.split_once("\n- Args\n```json\n").expect("arguments");
            let (args, result) = rest
                .split_once("\n```\n- Result\n```json\n")
                .expect("a result");
            let json = |text: &str| serde_json::from_str(text).expect("JSON");
            (
                tool,
                json(args),
                json(result.trim_end().trim_end_matches("```")),
            )
        })
        .collect();
    let tools: Vec<_> = calls.iter().map(|(tool, ..)| *tool).collect();
    assert_eq!(
        tools,
        [
            "browser_navigate",
            "browser_snapshot",
            "browser_take_screenshot",
            "browser_click"
        ]
    );
    assert_eq!(calls[0].1, json!({ "url": url }));
    assert_eq!(calls[0].2["code"], format!("await page.goto('{url}');"));
    // The text of the file, not its name.
    let heading = "- heading \"Green\" [level=1] [ref=e2]";
    assert_eq!(calls[0].2["snapshot"], heading);
    assert_eq!(calls[1].2["inlineSnapshot"], heading);
    assert_eq!(
        calls[2].2["attachments"],
        json!([{ "type": "image", "mimeType": "image/png" }])
    );
    assert_eq!(calls[3].2["isError"], true);
    assert_eq!(
        calls[3].2["error"],
        "Error: \"#none\" does not match any elements."
    );
}

#[testkit::test]
async fn old_files_go_when_the_output_folder_is_full_and_those_of_the_call_stay() {
    let client = fake_server(&["--output-max-size", "1"]).await;
    let output = client.workspace().join(".playwright-mcp");
    let mut last = None;
    let named = json!({ "filename": ".playwright-mcp/kept.yml" });
    client.call("browser_snapshot", named).await;
    for _ in 0..3 {
        let answer = client.call("browser_take_screenshot", json!({})).await;
        assert!(output.join("kept.yml").is_file(), "the client named it");
        let file = answer.linked_file(answer.result()).expect("a file");
        let there: Vec<_> = fs::read_dir(&output)
            .expect("an output folder")
            .flatten()
            .filter(|entry| entry.path().is_file())
            .map(|entry| entry.file_name())
            .filter(|name| name != ".gitignore" && name != "kept.yml")
            .collect();
        assert_eq!(there, [file.file_name().expect("a name")]);
        assert_ne!(last.replace(file.clone()), Some(file));
    }
}

#[testkit::test(chromium)]
async fn an_idle_browser_is_closed_and_restarted() {
    let site = Site::start().await;
    let url = site.add_page(
        "/",
        "<script>new WebSocket(`ws://${location.host}/presence`)</script>",
    );
    let client = server(&["--idle-timeout", "500"]).await;
    client.navigate(&url).await;
    site.listeners(1).await;
    site.listeners(0).await;
    let answer = client
        .call("browser_evaluate", json!({ "function": "location.href" }))
        .await;
    assert_eq!(answer.result(), "\"about:blank\"");
    assert!(!answer.text.contains("was gone"), "{}", answer.text);
}

#[testkit::test(chromium)]
async fn a_browser_can_be_there_before_the_first_call() {
    let client = launch(&["--prelaunch", "--log-level", "debug"])
        .start()
        .await;
    while !client.stderr().contains("prelaunch started=Ok(())") {
        client.request("ping", json!({})).await.expect("an answer");
    }
    let answer = client
        .call("browser_tabs", json!({ "action": "list" }))
        .await;
    assert!(!answer.is_error, "{}", answer.text);
}
