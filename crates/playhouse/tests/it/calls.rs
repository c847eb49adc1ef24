//! The order, cancellation and rejection of calls.

use serde_json::{Value, json};
use testkit::{Engine, Site, eventually};

use crate::{fake_launch, fake_server, launch, server, shared};

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

#[testkit::test]
async fn calls_that_are_sent_at_once_run_in_their_order() {
    let client = fake_server(&[]).await;
    client
        .call("browser_evaluate", json!({ "function": "window.n = []" }))
        .await;
    let mut pending = Vec::new();
    for number in 0..30 {
        let push = json!({ "function": format!("void n.push({number})") });
        let call = call("browser_evaluate", push);
        pending.push(client.begin("tools/call", call).await);
    }
    for answer in pending {
        answer.answer().await.expect("each is answered");
    }
    let seen = client
        .call("browser_evaluate", json!({ "function": "n.join()" }))
        .await;
    let numbers: Vec<_> = (0..30).map(|number| number.to_string()).collect();
    assert_eq!(seen.result(), format!("\"{}\"", numbers.join(",")));
}

#[testkit::test]
async fn a_cancelled_call_stops_and_the_next_one_has_its_turn() {
    let client = fake_launch(&[])
        .limit(std::time::Duration::from_secs(20))
        .start()
        .await;
    client.navigate("about:blank").await;
    let waits = client
        .begin(
            "tools/call",
            call("browser_wait_for", json!({ "time": 30 })),
        )
        .await;
    let next = client
        .begin(
            "tools/call",
            call("browser_evaluate", json!({ "function": "1 + 1" })),
        )
        .await;
    client
        .notify(
            "notifications/cancelled",
            json!({ "requestId": waits.id() }),
        )
        .await;
    // The limit is shorter than the wait: a result means that the wait ended.
    let answer = next.answer().await.expect("the next call is answered");
    let text = answer["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("### Result\n2"), "{text}");
}

#[testkit::test]
async fn a_second_request_with_an_id_that_is_under_way_is_refused() {
    let client = server(&[]).await;
    client.navigate("about:blank").await;
    let waits = client
        .begin(
            "tools/call",
            call("browser_wait_for", json!({ "time": 30 })),
        )
        .await;
    let twin = json!({ "jsonrpc": "2.0", "id": waits.id(), "method": "ping" });
    client.send_line(&twin.to_string()).await;
    let refusal = waits.answer().await.expect_err("refused");
    assert!(format!("{refusal:?}").contains("-32600"), "{refusal:?}");
}

#[testkit::test]
async fn arguments_are_checked_before_anything_starts() {
    let client = launch(&["--executable-path", "/nowhere/chrome"])
        .start()
        .await;
    let answer = client
        .call(
            "browser_click",
            json!({ "target": 1, "button": "x", "modifiers": ["Foo"] }),
        )
        .await;
    assert_eq!(
        answer.error(),
        "Invalid arguments for tool \"browser_click\":\n\
         ✖ Invalid input: expected string, received number\n  → at target\n\
         ✖ Invalid option: expected one of \"left\"|\"right\"|\"middle\"\n  → at button\n\
         ✖ Invalid option: expected one of \"Alt\"|\"Control\"|\"ControlOrMeta\"|\"Meta\"|\"Shift\"\n  → at modifiers[0]"
    );
    let error = &answer.raw["structuredContent"];
    assert_eq!(error["errorCode"], "INVALID_PARAMETERS");
    assert_eq!(error["details"]["problems"][0]["parameter"], "target");
}

#[testkit::test]
async fn unknown_parameters_are_refused_and_by_the_drop_in_ignored() {
    let arguments = json!({ "action": "list", "isolatedcontext": "red" });
    let client = fake_server(&["--answers=compact"]).await;
    let answer = client.call("browser_tabs", arguments.clone()).await;
    let reason = "Unknown parameter, did you mean \"isolatedContext\"?";
    assert!(answer.error().contains(reason), "{}", answer.text);
    let client = fake_server(&["--toolsets=browser"]).await;
    let answer = client.call("browser_tabs", arguments).await;
    assert!(!answer.is_error, "{}", answer.text);
}

#[testkit::test]
async fn a_success_contains_only_its_content_and_in_compact_answers_its_size() {
    for (args, meta) in [
        (&["--answers=playwright"][..], Value::Null),
        (
            &["--answers=playwright", "--max-answer-tokens=6000"],
            json!({ "playhouse/tokens": 34 }),
        ),
        (&["--answers=compact"], json!({ "playhouse/tokens": 14 })),
    ] {
        let client = fake_server(args).await;
        let evaluate = json!({ "function": "1" });
        let answer = client.call("browser_evaluate", evaluate).await;
        assert_eq!(answer.raw["_meta"], meta, "{args:?}");
        let keys = answer.raw.as_object().expect("a result").keys();
        let others: Vec<_> = keys.filter(|key| *key != "_meta").collect();
        assert_eq!(others, ["content"], "{args:?}");
    }
}

#[testkit::test]
async fn nothing_is_left_out_of_the_answers_of_playwright() {
    let script = json!({ "function": "() => 'word '.repeat(20000)" });
    for (args, is_whole) in [
        (&["--toolsets=browser"][..], true),
        (&["--answers=playwright"], true),
        (&["--answers=playwright", "--max-answer-tokens=6000"], false),
        (&["--answers=compact"], false),
    ] {
        let client = fake_server(args).await;
        let answer = client.call("browser_evaluate", script.clone()).await;
        assert_eq!(!answer.text.contains("### Left out"), is_whole, "{args:?}");
    }
}

#[testkit::test]
async fn a_disabled_tool_is_not_listed_and_its_error_names_the_option() {
    let client = launch(&["--tools", "-browser_evaluate"]).start().await;
    let names: Vec<_> = client.list_tools().await;
    assert!(!names.iter().any(|tool| tool["name"] == "browser_evaluate"));
    let answer = client.call("browser_pdf_save", json!({})).await;
    assert_eq!(answer.error(), "Tool \"browser_pdf_save\" not found");
    let error = &answer.raw["structuredContent"];
    assert_eq!(error["errorCode"], "TOOL_DISABLED");
    assert_eq!(error["suggestion"], "Start the server with --caps pdf.");
    let answer = client
        .call("browser_evaluate", json!({ "function": "1" }))
        .await;
    assert_eq!(
        answer.raw["structuredContent"]["errorCode"],
        "TOOL_DISABLED"
    );
}

#[testkit::test]
async fn capabilities_and_single_tools_can_be_added() {
    let client = launch(&["--caps", "pdf", "--tools", "+browser_cookie_list"])
        .start()
        .await;
    let tools = client.list_tools().await;
    let has = |name: &str| tools.iter().any(|tool| tool["name"] == name);
    assert!(has("browser_pdf_save") && has("browser_cookie_list"));
    assert!(!has("browser_cookie_set") && !has("browser_mouse_down"));
}

#[testkit::test(chromium)]
async fn a_dialog_must_be_handled_first() {
    let (site, client) = (Site::start().await, server(&[]).await);
    let url = site.add_page(
        "/",
        "<title>T</title><button onclick=\"document.title = prompt('Name?', 'x')\">Ask</button>",
    );
    client.navigate(&url).await;
    let open =
        "- [\"prompt\" dialog with message \"Name?\"]: can be handled by browser_handle_dialog";
    let answer = client
        .call("browser_click", json!({ "target": "button" }))
        .await;
    assert_eq!(answer.section("Modal state"), Some(open));
    for (tool, arguments) in [
        ("browser_snapshot", json!({})),
        ("browser_file_upload", json!({})),
    ] {
        let refused = client.call(tool, arguments).await;
        assert!(refused.is_error);
        assert_eq!(refused.section("Modal state"), Some(open));
        assert_eq!(refused.raw["structuredContent"]["errorCode"], "DIALOG_OPEN");
    }
    let answer = client
        .call(
            "browser_handle_dialog",
            json!({ "accept": true, "promptText": "Ada" }),
        )
        .await;
    assert!(answer.text.contains("- Page Title: Ada"), "{}", answer.text);
    let none = client
        .call("browser_handle_dialog", json!({ "accept": true }))
        .await;
    assert_eq!(
        none.error(),
        "Error: The tool \"browser_handle_dialog\" can only be used when there is related modal state present."
    );
}

#[testkit::test(chromium)]
async fn navigating_dismisses_an_open_dialog() {
    let (site, client) = (Site::start().await, server(&[]).await);
    let asks = site.add_page("/asks", "<button onclick=\"alert('Hi')\">Ask</button>");
    let next = site.add_page("/next", "<title>Next</title>");
    client.navigate(&asks).await;
    client
        .call("browser_click", json!({ "target": "button" }))
        .await;
    let answer = client
        .call("browser_navigate", json!({ "url": next }))
        .await;
    assert!(
        answer.text.contains("- Page Title: Next"),
        "{}",
        answer.text
    );
    assert_eq!(answer.section("Modal state"), None);
}

#[testkit::test]
async fn a_dialog_that_blocks_a_call_is_shown_to_the_user() {
    const ASKING: &str =
        "data:text/html,<button onclick=\"document.title=prompt('Name?','anonymous')\">Go</button>";
    let says = json!({ "answer": "accept", "text": "Ada" });
    let client = fake_launch(&["--ask-user"]).user(says).start().await;
    client.navigate(ASKING).await;
    client
        .call("browser_click", json!({ "target": "button" }))
        .await;
    let reply = client.call("get_page_metadata", json!({})).await;
    assert!(reply.text.contains("\"title\":\"Ada\""), "{}", reply.text);
    // A client without elicitation makes no decision.
    for client in [
        fake_server(&["--ask-user"]).await,
        fake_launch(&[]).user(json!({})).start().await,
    ] {
        client.navigate(ASKING).await;
        client
            .call("browser_click", json!({ "target": "button" }))
            .await;
        let reply = client.call("get_page_metadata", json!({})).await;
        assert!(reply.text.contains("DIALOG_OPEN"), "{}", reply.text);
    }
}

#[testkit::test]
async fn progress_notifications_contain_what_a_call_waits_for() {
    let client = fake_server(&["--timeout-action", "60000"]).await;
    let url = "data:text/html,<button disabled>Go</button>";
    client.navigate(url).await;
    let heard = async |token: &str, wanted: &str| loop {
        let answer = client.next_unmatched().await;
        let (progress, message) = (&answer["params"], &answer["params"]["message"]);
        if progress["progressToken"] != token {
            continue;
        }
        let message = message.as_str().expect("a message");
        if message.contains(wanted) {
            return message.to_owned();
        }
    };
    let call = |token: &str, tool: &str| {
        let arguments = json!({ "target": "button" });
        json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": token } })
    };
    let click = client
        .begin("tools/call", call("click", "browser_click"))
        .await;
    let answer = heard("click", "attempting click action: element is not enabled").await;
    assert!(answer.starts_with("browser_click: "), "{answer}");
    let hover = client
        .begin("tools/call", call("hover", "browser_hover"))
        .await;
    heard("hover", "an earlier call on the same session").await;
    drop((click, hover));
}

/// A page that sends each event of a key or of a button.
const SENDS_INPUT: &str = "<body style='height: 100vh'><script>
    for (const type of ['keydown', 'keyup', 'mousedown', 'mouseup'])
        addEventListener(type, ({ key = 'button' }) => fetch(`/${type}-${key}`));
</script>";

#[testkit::test(chromium, firefox, webkit)]
async fn code_that_is_cancelled_releases_what_it_has_pressed(engine: Engine) {
    let site = Site::start().await;
    let client = shared(engine, &[]).await;
    client.navigate(&site.add_page("/", SENDS_INPUT)).await;
    let holds = "async (page) => {
        await page.mouse.move(50, 50);
        await page.mouse.down();
        await page.keyboard.down('Shift');
        await page.keyboard.down('a');
        await page.waitForTimeout(60_000);
    }";
    let running = client
        .begin(
            "tools/call",
            call("browser_run_code_unsafe", json!({ "code": holds })),
        )
        .await;
    let has_sent = async |event: &str| {
        let requests = site.requests();
        let mut targets = requests.iter().map(|request| request.target.as_str());
        targets.any(|target| target.eq_ignore_ascii_case(event))
    };
    eventually(async || has_sent("/keydown-a").await).await;
    client
        .notify(
            "notifications/cancelled",
            json!({ "requestId": running.id() }),
        )
        .await;
    for event in ["/keyup-a", "/keyup-shift", "/mouseup-button"] {
        eventually(async || has_sent(event).await).await;
    }
    let press = json!({ "key": "b" });
    client.call("browser_press_key", press).await;
    eventually(async || {
        let requests = site.requests();
        requests
            .iter()
            .any(|request| request.target == "/keydown-b")
    })
    .await;
}
