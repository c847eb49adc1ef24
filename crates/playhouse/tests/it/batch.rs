//! Batches: each step is a call with the checks of a call, and no other call comes between the steps.

use serde_json::{Value, json};
use std::fs;
use testkit::{CallResult, Client, Engine, HttpServer, Site};

use crate::{evaluated, fake_launch, fake_server, launch, launch_on, server};

fn step(tool: &str, arguments: Value) -> Value {
    json!({ "tool": tool, "arguments": arguments })
}

fn evaluate(function: &str) -> Value {
    step("browser_evaluate", json!({ "function": function }))
}

async fn batch(client: &Client, steps: &[Value]) -> CallResult {
    client
        .call("browser_batch", json!({ "steps": steps }))
        .await
}

fn code(answer: &CallResult) -> &str {
    let error = &answer.raw["structuredContent"];
    error["errorCode"].as_str().unwrap_or_default()
}

/// Returns tool, decision and result of each record of an audit log.
fn records(log: &std::path::Path) -> Vec<[String; 3]> {
    let text = fs::read_to_string(log).expect("a log");
    let records = text.lines().map(|line| {
        let record: Value = serde_json::from_str(line).expect("a record");
        ["tool", "decision", "result"].map(|name| record[name].as_str().unwrap_or("-").to_owned())
    });
    records.collect()
}

#[testkit::test]
async fn what_can_be_known_is_refused_before_the_first_step() {
    let client = launch(&["--executable-path", "/nowhere/chrome"])
        .args(["--tools=-browser_hover"])
        .start()
        .await;
    for (refused, parameter, reason) in [
        (step("browser_clik", json!({})), "tool", "Did you mean"),
        (
            step("browser_batch", json!({ "steps": [] })),
            "tool",
            "works on the pages",
        ),
        (
            step("create_session", json!({})),
            "tool",
            "works on the pages",
        ),
        (
            step("close_session", json!({ "sessionId": "default" })),
            "tool",
            "works on the pages",
        ),
        (
            step(
                "browser_click",
                json!({ "target": "a", "sessionId": "other" }),
            ),
            "arguments.sessionId",
            "have the session of the batch",
        ),
        (
            evaluate("{{steps.1.result}}"),
            "arguments.function",
            "a step before step 1",
        ),
    ] {
        let answer = batch(&client, &[evaluate("1"), refused.clone()]).await;
        let error = &answer.raw["structuredContent"];
        assert_eq!(error["errorCode"], "INVALID_PARAMETERS", "{error}");
        let problem = &error["details"]["problems"][0];
        assert_eq!(
            problem["parameter"],
            format!("steps[1].{parameter}"),
            "{error}"
        );
        let message = problem["message"].as_str().expect("a message");
        assert!(message.contains(reason), "{message}");
    }
    let hover = step("browser_hover", json!({ "target": "a" }));
    let answer = batch(&client, &[evaluate("1"), hover]).await;
    assert_eq!(code(&answer), "TOOL_DISABLED", "{}", answer.text);
    let shown = "Error: Step 1 (browser_hover) was refused, and no step was carried out: Tool \"browser_hover\" not found";
    assert_eq!(answer.error(), shown);
    for steps in [vec![], vec![evaluate("1"); 51]] {
        let answer = batch(&client, &steps).await;
        assert!(
            answer.error().contains("Expected 1 to 50 steps"),
            "{}",
            answer.text
        );
    }
    // The first step that runs starts the browser.
    let answer = batch(&client, &[evaluate("1")]).await;
    assert_eq!(code(&answer), "BROWSER_ERROR", "{}", answer.text);
}

#[testkit::test]
async fn toolsets_list_the_batch_except_that_of_the_contract() {
    for (toolsets, is_listed) in [
        ("browser", false),
        ("session", true),
        ("browser,session", true),
    ] {
        let client = server(&["--toolsets", toolsets]).await;
        let tools = client.list_tools().await;
        let listed = tools.iter().any(|tool| tool["name"] == "browser_batch");
        assert_eq!(listed, is_listed, "{toolsets}");
    }
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn each_step_is_judged_and_recorded_like_a_call(engine: Engine) {
    let folder = tempfile::tempdir().expect("a folder");
    let (policy, log) = (
        folder.path().join("policy.json"),
        folder.path().join("audit.jsonl"),
    );
    let rules = json!({ "default": "allow", "rules": [
        { "tools": ["browser_evaluate"], "origins": ["http://localhost:*"], "action": "deny" },
    ] });
    fs::write(&policy, rules.to_string()).expect("writable");
    let site = Site::start().await;
    let here = site.add_page("/", "<title>Here</title>");
    let there = site.cross_origin_url() + "/";
    let client = launch_on(engine, &[])
        .args([
            format!("--policy={}", policy.display()),
            format!("--audit-log={}", log.display()),
        ])
        .start()
        .await;
    let title = evaluate("document.title");
    let go = |url: &str| step("browser_navigate", json!({ "url": url }));
    let steps = [go(&here), title.clone(), go(&there), title.clone(), title];
    let answer = batch(&client, &steps).await;
    assert_eq!(code(&answer), "POLICY_DENIED", "{}", answer.text);
    let error = &answer.raw["structuredContent"];
    assert_eq!(error["details"]["step"], 3, "{error}");
    assert_eq!(error["details"]["ran"], 3, "{error}");
    assert_eq!(error["details"]["error"]["denial"], "denied", "{error}");
    assert_eq!(
        answer.result(),
        "- 0 browser_navigate ok\n- 1 browser_evaluate ok: \"Here\"\n- 2 browser_navigate ok\n\
         - 3 browser_evaluate failed: POLICY_DENIED"
    );
    assert!(
        answer.section("Page").expect("a page").contains(&there),
        "{}",
        answer.text
    );
    let recorded = records(&log);
    assert_eq!(
        recorded,
        [
            ["browser_navigate", "allowed", "ok"],
            ["browser_evaluate", "allowed", "ok"],
            ["browser_navigate", "allowed", "ok"],
            ["browser_evaluate", "denied", "POLICY_DENIED"],
            ["browser_batch", "allowed", "POLICY_DENIED"],
        ]
    );
}

#[testkit::test]
async fn no_step_needs_more_than_the_permission_of_the_caller() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(
        folder.path().join("keys.txt"),
        "ada adakey browser:act\neve evekey browser:read\n",
    )
    .expect("writable");
    let launch = fake_launch(&["--caps=storage", "--api-keys", "keys.txt"]);
    let server = HttpServer::start_guarded(launch.workspace(folder.path())).await;
    let call = async |key: &str, steps: &[Value]| {
        let params = json!({ "name": "browser_batch", "arguments": { "steps": steps } });
        let header = [("x-api-key", key)];
        let answer = server.rpc("/message", &header, "tools/call", params).await;
        answer.json()["result"]["structuredContent"].clone()
    };
    let cookies = step("browser_cookie_list", json!({}));
    let refused = call("adakey", &[evaluate("window.n = 1"), cookies]).await;
    assert_eq!(refused["errorCode"], "INSUFFICIENT_SCOPE", "{refused}");
    assert_eq!(refused["details"]["ran"], 0, "{refused}");
    let refused = call("evekey", &[step("browser_snapshot", json!({}))]).await;
    assert_eq!(refused["errorCode"], "INSUFFICIENT_SCOPE", "{refused}");
    let failed = call(
        "adakey",
        &[evaluate("window.n"), evaluate("(() => { throw 1 })()")],
    )
    .await;
    assert_eq!(failed["errorCode"], "SCRIPT_FAILED", "{failed}");
    assert_eq!(failed["details"]["ran"], 1, "{failed}");
}

#[testkit::test]
async fn no_other_call_comes_between_the_steps() {
    let client = fake_server(&[]).await;
    evaluated(&client, "window.n = []").await;
    let push = |what: &str| evaluate(&format!("void n.push('{what}')"));
    let waits = step("browser_wait_for", json!({ "time": 1 }));
    let steps = [push("first"), waits, push("second")];
    let begin = async |tool: &str, arguments: Value| {
        let call = json!({ "name": tool, "arguments": arguments });
        client.begin("tools/call", call).await
    };
    let running = begin("browser_batch", json!({ "steps": steps })).await;
    let other = begin("browser_evaluate", push("other")["arguments"].clone()).await;
    running.answer().await.expect("an answer");
    other.answer().await.expect("an answer");
    let order = evaluated(&client, "n.join()").await;
    assert_eq!(order, "\"first,second,other\"");
}

#[testkit::test]
async fn a_cancelled_batch_stops_and_the_next_call_has_its_turn() {
    let client = fake_launch(&[])
        .limit(std::time::Duration::from_secs(20))
        .start()
        .await;
    let steps = [
        evaluate("window.n = 1"),
        step("browser_wait_for", json!({ "time": 30 })),
        evaluate("window.n = 2"),
    ];
    let call = json!({ "name": "browser_batch", "arguments": { "steps": steps } });
    let running = client.begin("tools/call", call).await;
    let call = json!({ "name": "browser_evaluate", "arguments": { "function": "window.n" } });
    let next = client.begin("tools/call", call).await;
    client
        .notify(
            "notifications/cancelled",
            json!({ "requestId": running.id() }),
        )
        .await;
    let answer = next.answer().await.expect("the next call is answered");
    let text = answer["content"][0]["text"].as_str().unwrap_or_default();
    assert!(!text.contains("### Result\n2"), "{text}");
}

#[testkit::test]
async fn a_client_that_repeats_calls_repeats_no_step() {
    let folder = tempfile::tempdir().expect("a folder");
    let policy = folder.path().join("policy.json");
    let rules = json!({ "default": "allow", "rules": [
        { "tools": ["browser_click"], "action": "ask" },
    ] });
    fs::write(&policy, rules.to_string()).expect("writable");
    let launch = fake_launch(&[]).args([format!("--policy={}", policy.display())]);
    let server = HttpServer::start(launch).await;
    let steps = [
        evaluate("window.n = (window.n ?? 0) + 1"),
        step("browser_click", json!({ "target": "body" })),
    ];
    let params = json!({ "name": "browser_batch", "arguments": { "steps": steps }, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
        "io.modelcontextprotocol/clientInfo": { "name": "testkit", "version": "1" },
    } });
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "browser_batch"),
    ];
    let answer = server
        .rpc("/mcp", &headers, "tools/call", params)
        .await
        .json();
    let error = &answer["result"]["structuredContent"];
    assert_eq!(error["errorCode"], "POLICY_DENIED", "{answer}");
    assert_eq!(
        error["details"]["error"]["denial"], "cannot-ask",
        "{answer}"
    );
}

#[testkit::test]
async fn results_of_steps_contain_no_secret_and_choose_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let (secrets, log) = (
        folder.path().join("secrets.env"),
        folder.path().join("audit.jsonl"),
    );
    fs::write(&secrets, "PASSWORD=hunter22").expect("writable");
    let client = fake_launch(&[])
        .args([
            format!("--secrets={}", secrets.display()),
            format!("--audit-log={}", log.display()),
        ])
        .start()
        .await;
    let site = Site::start().await;
    let field = "<input id=asks type=password onfocus=\"alert('hello')\">";
    let url = site.add_page("/", &format!("<p>PASSWORD</p><input id=out>{field}"));
    let navigate = step("browser_navigate", json!({ "url": url }));
    let show = step(
        "browser_type",
        json!({ "target": "#out", "text": "PASSWORD" }),
    );
    let read = evaluate("document.querySelector('#out').value");
    let copy = evaluate("'{{steps.2.result}}'.length");
    let answer = batch(&client, &[navigate, show, read, copy]).await;
    let shown =
        "- 2 browser_evaluate ok: \"<secret>PASSWORD</secret>\"\n- 3 browser_evaluate ok: 25";
    assert!(answer.result().ends_with(shown), "{}", answer.text);

    // The page does not choose the secret that is typed.
    let read = evaluate("document.querySelector('p').textContent");
    let copy = step(
        "browser_type",
        json!({ "target": "#out", "text": "{{steps.0.result}}" }),
    );
    let answer = batch(&client, &[read, copy]).await;
    assert_eq!(code(&answer), "INVALID_PARAMETERS", "{}", answer.text);

    // A text that a dialog kept from the field may be a password, also if a later step answers the dialog.
    let asks = step(
        "browser_type",
        json!({ "target": "#asks", "text": "hidden-by-a-dialog" }),
    );
    let accept = step("browser_handle_dialog", json!({ "accept": true }));
    batch(&client, &[asks, accept]).await;
    let text = fs::read_to_string(&log).expect("a log");
    assert!(
        text.contains("browser_handle_dialog") && !text.contains("hidden"),
        "{text}"
    );
}
