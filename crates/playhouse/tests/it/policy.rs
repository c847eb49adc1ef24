//! The policy of the operator: allowed and denied calls, confirmation by the user, and the reports of decisions.

use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use testkit::{Client, Engine, HttpServer, Launch, NoAnswer, Site};

use crate::cli::run;
use crate::{fake_launch, launch, launch_on};

const HERE: &str = "http://127.0.0.1:*";

/// A policy file, and an audit log.
struct Policy {
    folder: tempfile::TempDir,
}

impl Policy {
    fn new(policy: &Value) -> Self {
        Self::of_text(&policy.to_string())
    }

    fn of_text(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("policy.json"), text).expect("writable");
        Self { folder }
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("audit.jsonl")
    }

    fn flags(&self) -> [String; 2] {
        let policy = self.folder.path().join("policy.json");
        [
            format!("--policy={}", policy.display()),
            format!("--audit-log={}", self.log().display()),
        ]
    }

    fn launch(&self) -> Launch {
        fake_launch(&[]).args(self.flags())
    }

    /// Returns tool, decision and result of each recorded call.
    fn decisions(&self) -> Vec<[String; 3]> {
        let text = fs::read_to_string(self.log()).expect("a log");
        let records = text.lines().map(|line| {
            let record: Value = serde_json::from_str(line).expect("a record");
            ["tool", "decision", "result"]
                .map(|name| record[name].as_str().unwrap_or("-").to_owned())
        });
        records.collect()
    }
}

async fn listed(client: &Client) -> Vec<String> {
    let tools = client.list_tools().await.into_iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_call_is_judged_by_the_page_that_it_acts_on(engine: Engine) {
    let policy = Policy::new(&json!({ "default": "deny", "rules": [
        { "tools": ["get_text", "navigate"], "action": "allow" },
        { "id": "home", "tools": ["evaluate", "go_*"], "origins": [HERE], "action": "allow" },
        { "tools": ["evaluate"], "origins": ["*"], "action": "deny", "reason": "not elsewhere" },
    ] }));
    let site = Site::start().await;
    let here = site.add_page("/here", "<title>here</title><p>here</p>");
    let there = site.cross_origin_url() + "/slow";
    site.add_page("/slow", "<title>there</title><p>there</p>");
    let client = launch_on(engine, &[]).args(policy.flags()).start().await;
    let title = json!({ "name": "evaluate", "arguments": { "script": "document.title" } });
    client.success("navigate", json!({ "url": here })).await;
    let reply = client.object("evaluate", title["arguments"].clone()).await;
    assert_eq!(reply["result"], "here", "{reply}");
    // When the second call arrives, the page is still one where it is allowed.
    let go = json!({ "name": "navigate", "arguments": { "url": there } });
    let gone = client.begin("tools/call", go).await;
    let queued = client.begin("tools/call", title.clone()).await;
    assert!(gone.answer().await.expect("an answer")["isError"] != true);
    let refused = queued.answer().await.expect("an answer");
    let reply = &refused["structuredContent"];
    assert_eq!(reply["errorCode"], "POLICY_DENIED", "{refused}");
    let details = &reply["details"];
    assert_eq!(details["rule"], "rule 3 (line 1)", "{reply}");
    assert_eq!(details["denial"], "denied", "{reply}");
    let origin = details["origin"].as_str().expect("an origin");
    assert!(origin.starts_with("http://localhost:"), "{reply}");
    let message = reply["message"].as_str().expect("a message");
    assert!(
        message.starts_with("\"evaluate\" on http://localhost:")
            && message
                .ends_with("is denied by rule 3 (line 1) of the server's policy: not elsewhere"),
        "{message}"
    );
    // Also in the other direction.
    let home = json!({ "name": "navigate", "arguments": { "url": here } });
    let gone = client.begin("tools/call", home).await;
    let queued = client.begin("tools/call", title).await;
    gone.answer().await.expect("an answer");
    let reply = queued.answer().await.expect("an answer");
    assert_eq!(reply["structuredContent"]["result"], "here", "{reply}");
    // Reading needs no rule about origins, and calls without a rule are denied.
    client.success("get_text", json!({ "selector": "p" })).await;
    let reply = client.object("click", json!({ "selector": "p" })).await;
    assert_eq!(reply["details"]["rule"], "the default", "{reply}");
    let decisions = policy.decisions();
    let of = |tool: &str| {
        let decisions = decisions.iter().filter(|[name, ..]| name == tool);
        let decisions: Vec<_> = decisions
            .map(|[_, decision, _]| decision.as_str())
            .collect();
        decisions.join(" ")
    };
    assert_eq!(of("evaluate"), "allowed denied allowed");
    assert_eq!(of("click"), "denied");
    let last = decisions.last().expect("a record");
    assert_eq!(last[2], "POLICY_DENIED");
}

#[testkit::test]
async fn navigations_are_judged_by_where_they_lead() {
    let policy = Policy::new(&json!({ "default": "allow", "rules": [
        { "tools": ["browser_navigate", "navigate", "new_page", "browser_tabs"], "origins": [HERE], "action": "allow" },
        { "tools": ["browser_navigate", "navigate", "new_page", "browser_tabs"], "origins": ["*"], "action": "deny" },
        { "tools": ["browser_evaluate"], "origins": [HERE], "action": "deny" },
    ] }));
    let site = Site::start().await;
    let here = site.add_page("/", "<title>here</title>");
    let there = site.cross_origin_url() + "/there";
    let client = policy.launch().start().await;
    for (tool, with) in [
        ("browser_navigate", json!({})),
        ("navigate", json!({})),
        ("new_page", json!({})),
        ("browser_tabs", json!({ "action": "new" })),
    ] {
        let call = async |url: &str| {
            let mut arguments = with.clone();
            arguments["url"] = url.into();
            let answer = client.call(tool, arguments).await;
            answer.raw["structuredContent"]["errorCode"].clone()
        };
        assert_eq!(call(&here).await, Value::Null, "{tool}");
        assert_eq!(call(&there).await, "POLICY_DENIED", "{tool}");
        // A URL as users write it.
        let bare = there.trim_start_matches("http://");
        assert_eq!(call(bare).await, "POLICY_DENIED", "{tool}");
        // An action on the page does not change its origin.
        let code = call("javascript:document.title='x'").await;
        assert!(code != "POLICY_DENIED", "{tool}: {code}");
    }
    client.success("navigate", json!({ "url": here })).await;
    let denied = json!({ "function": "document.title" });
    let answer = client.call("browser_evaluate", denied).await;
    assert_eq!(
        answer.raw["structuredContent"]["errorCode"], "POLICY_DENIED",
        "{}",
        answer.text
    );
    let asked = site.requests();
    assert!(
        asked
            .iter()
            .all(|request| !format!("{request:?}").contains("/there")),
        "{asked:?}"
    );
}

#[testkit::test(chromium)]
async fn answers_show_no_page_on_which_the_tool_is_denied() {
    let policy = Policy::new(&json!({ "default": "allow", "rules": [
        { "tools": ["browser_batch"], "action": "allow" },
        { "origins": ["http://localhost:*"], "tools": ["browser_navigate"], "action": "allow" },
        { "origins": ["http://localhost:*"], "action": "deny" },
    ] }));
    let site = Site::start().await;
    let here = site.add_page("/here", "<title>here</title><p>open</p>");
    let there = site.cross_origin_url() + "/there";
    site.add_page("/there", "<title>private title</title><p>private text</p>");
    let link = site.add_page(
        "/link",
        &format!("<title>link</title><a href='{there}'>Go</a>"),
    );
    for style in ["compact", "playwright"] {
        let style = format!("--answers={style}");
        let client = launch(&[&style]).args(policy.flags()).start().await;
        let call = async |tool: &str, arguments: Value| {
            let answer = client.call(tool, arguments).await;
            let code = answer.raw["structuredContent"]["errorCode"].clone();
            (code, answer.raw.to_string())
        };
        call("browser_navigate", json!({ "url": here })).await;
        let open = json!({ "action": "new" });
        call("browser_tabs", open).await;
        let (code, shown) = call("browser_navigate", json!({ "url": there })).await;
        assert!(code.is_null() && shown.contains("private title"), "{shown}");
        // The denied page is current, and the others can be used.
        for (tool, arguments) in [
            ("browser_tabs", json!({ "action": "list" })),
            ("browser_tabs", json!({ "action": "select", "index": 0 })),
            ("list_pages", json!({})),
            ("select_page", json!({ "index": 0 })),
        ] {
            let (code, shown) = call(tool, arguments.clone()).await;
            assert!(code.is_null(), "{tool} {arguments}: {shown}");
            assert!(!shown.contains("private t"), "{tool} {arguments}: {shown}");
        }
        for (tool, arguments) in [
            ("browser_tabs", json!({ "action": "select", "index": 1 })),
            ("browser_tabs", json!({ "action": "close", "index": 1 })),
            ("select_page", json!({ "index": 1 })),
            ("close_page", json!({ "index": 1 })),
        ] {
            let (code, shown) = call(tool, arguments.clone()).await;
            assert_eq!(code, "POLICY_DENIED", "{tool} {arguments}: {shown}");
            assert!(!shown.contains("private t"), "{tool} {arguments}: {shown}");
        }
        // What leads there shows nothing of it.
        let steps = json!({ "steps": [
            { "tool": "browser_navigate", "arguments": { "url": there } },
            { "tool": "browser_click", "arguments": { "target": "p" } },
        ] });
        let (code, shown) = call("browser_batch", steps).await;
        assert_eq!(code, "POLICY_DENIED", "{shown}");
        assert!(!shown.contains("private t"), "{shown}");
        call("browser_navigate", json!({ "url": link })).await;
        let (code, shown) = call("browser_click", json!({ "target": "a" })).await;
        assert!(code.is_null() && !shown.contains("private t"), "{shown}");
        assert!(shown.contains("The page is not shown"), "{shown}");
        client.end().await;
    }
}

#[testkit::test]
async fn a_tool_denied_everywhere_is_not_listed_and_starts_no_browser() {
    let policy = Policy::new(&json!({ "default": "deny", "rules": [
        { "tools": ["browser_navigate"], "origins": ["https://example.com"], "action": "allow" },
        { "tools": ["read-only", "list_*"], "action": "allow" },
    ] }));
    let client = policy.launch().start().await;
    let names = listed(&client).await;
    let has = |name: &str| names.iter().any(|known| known == name);
    assert!(has("browser_navigate") && has("browser_snapshot") && has("list_sessions"));
    assert!(!has("browser_click") && !has("create_session") && !has("evaluate"));
    // The command that lists the tools lists the same.
    let [flag, _] = policy.flags();
    let printed = run(&["tools", "--json", "--toolsets=all", &flag]);
    let printed: Value = serde_json::from_slice(&printed.stdout).expect("JSON");
    let printed = printed.as_array().expect("a list").iter();
    let printed: Vec<_> = printed.map(|tool| &tool["name"]).collect();
    assert_eq!(printed, names.iter().collect::<Vec<_>>());
    let printed = run(&["tools", "--toolsets=all", &flag]).stdout;
    let printed = String::from_utf8(printed).expect("UTF-8");
    assert!(
        printed.contains(&format!("\n{} tools, ", names.len())),
        "{printed}"
    );
    assert!(!printed.contains("browser_click"), "{printed}");
    let answer = client.call("browser_click", json!({ "target": "a" })).await;
    let refused = &answer.raw["structuredContent"];
    assert_eq!(refused["errorCode"], "POLICY_DENIED", "{refused}");
    assert!(refused["details"].get("origin").is_none(), "{refused}");
    let sessions = client.success("list_sessions", json!({})).await;
    assert!(!sessions.to_string().contains("url"), "{sessions}");
}

/// A client of a server that requires confirmation of clicks and typing, on a page with a button, and the site of the page.
async fn asking(policy: &Policy, user: Option<Value>) -> (Client, Site) {
    let site = Site::start().await;
    let page = "<button onclick='clicks.textContent += 1'>Go</button><input><p id=clicks>0</p>";
    let url = site.add_page("/", page);
    let secrets = policy.folder.path().join("secrets.env");
    fs::write(&secrets, "PASSWORD=hunter22hunter22").expect("writable");
    let launch = policy
        .launch()
        .args([format!("--secrets={}", secrets.display())]);
    let launch = match user {
        Some(says) => launch.user(says),
        None => launch,
    };
    let client = launch.start().await;
    client.success("navigate", json!({ "url": url })).await;
    (client, site)
}

fn ask_policy() -> Policy {
    Policy::new(&json!({ "default": "allow", "rules": [
        { "id": "care", "tools": ["click", "fill"], "action": "ask", "reason": "it may cost money" },
    ] }))
}

async fn clicks(client: &Client) -> Value {
    let text = client
        .success("get_text", json!({ "selector": "#clicks" }))
        .await;
    text["text"].clone()
}

#[testkit::test]
async fn the_user_allows_once_for_the_session_or_denies() {
    let click = json!({ "selector": "button" });
    let policy = ask_policy();
    let (client, _site) = asking(&policy, Some(json!({ "answer": "once" }))).await;
    client.success("click", click.clone()).await;
    client.success("click", click.clone()).await;
    let typing =
        json!({ "selector": "input", "value": "hunter22hunter22 ".to_owned() + &"x".repeat(2000) });
    client.success("fill", typing).await;
    assert_eq!(clicks(&client).await, "011");
    let asked = client.elicitations();
    assert_eq!(asked.len(), 3, "{asked:?}");
    let message = asked[0]["message"].as_str().expect("a message");
    assert!(
        message.contains("(click) on http://127.0.0.1:"),
        "{message}"
    );
    assert!(message.contains("{\"selector\":\"button\"}"), "{message}");
    assert!(message.contains("rule 1 \"care\" (line 1)"), "{message}");
    assert!(message.contains("it may cost money"), "{message}");
    let message = asked[2]["message"].as_str().expect("a message");
    assert!(
        message.contains("<secret>PASSWORD</secret>") && !message.contains("hunter22"),
        "{message}"
    );
    assert!(message.len() < 1000, "{message}");

    let policy = ask_policy();
    let (client, site) = asking(&policy, Some(json!({ "answer": "session" }))).await;
    let elsewhere = site.cross_origin_url() + "/";
    for _ in 0..3 {
        client.success("click", click.clone()).await;
    }
    assert_eq!(client.elicitations().len(), 1);
    // Another tool, another site and another session need another confirmation.
    client
        .success("fill", json!({ "selector": "input", "value": "x" }))
        .await;
    assert_eq!(client.elicitations().len(), 2);
    client
        .success("navigate", json!({ "url": elsewhere }))
        .await;
    client.success("click", click.clone()).await;
    assert_eq!(client.elicitations().len(), 3);
    let session = client.create_session(json!({})).await;
    let there = json!({ "url": elsewhere, "sessionId": session });
    client.success("navigate", there).await;
    let there = json!({ "selector": "button", "sessionId": session });
    client.success("click", there).await;
    assert_eq!(client.elicitations().len(), 4);
    let decisions = policy.decisions();
    let clicked = decisions.iter().filter(|[tool, ..]| tool == "click");
    assert!(
        clicked
            .clone()
            .all(|[_, decision, _]| decision == "approved-for-session")
    );

    for (user, denial) in [
        (Some(json!({ "answer": "decline" })), "declined"),
        // An invalid response.
        (Some(json!({})), "declined"),
        (None, "cannot-ask"),
    ] {
        let policy = ask_policy();
        let (client, _site) = asking(&policy, user).await;
        let reply = client.object("click", click.clone()).await;
        assert_eq!(reply["errorCode"], "POLICY_DENIED", "{reply}");
        assert_eq!(reply["details"]["denial"], denial, "{reply}");
        assert_eq!(clicks(&client).await, "0");
        let decisions = policy.decisions();
        let click = decisions.iter().find(|[tool, ..]| tool == "click");
        assert_eq!(click.expect("a record")[1], denial);
    }
}

#[testkit::test]
async fn a_client_of_2026_repeats_the_call_with_the_decision() {
    let policy = ask_policy();
    let site = Site::start().await;
    let page = "<button onclick='clicks.textContent += 1'>Go</button><p id=clicks>0</p>";
    let url = site.add_page("/", page);
    let server = HttpServer::start(policy.launch()).await;
    let call = async |tool: &str, arguments: Value, again: Value| {
        let mut params = json!({ "name": tool, "arguments": arguments, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
            "io.modelcontextprotocol/clientInfo": { "name": "testkit", "version": "1" },
        } });
        for (name, value) in again.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", tool),
        ];
        let answer = server.rpc("/mcp", &headers, "tools/call", params).await;
        answer.json()["result"].clone()
    };
    let none = json!({});
    call("navigate", json!({ "url": url }), none.clone()).await;
    let click = json!({ "selector": "button" });
    let asked = call("click", click.clone(), none.clone()).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let schema = &asked["inputRequests"]["user"]["params"]["requestedSchema"];
    let answers = &schema["properties"]["answer"]["enum"];
    assert_eq!(*answers, json!(["once", "session", "decline"]), "{asked}");
    let again = |answer: &str| {
        json!({ "requestState": asked["requestState"], "inputResponses": {
            "user": { "action": "accept", "content": { "answer": answer } },
        } })
    };
    let text = async || {
        let reply = call("get_text", json!({ "selector": "#clicks" }), none.clone()).await;
        reply["structuredContent"]["text"].clone()
    };
    let reply = call("click", click.clone(), again("decline")).await;
    assert_eq!(
        reply["structuredContent"]["errorCode"], "POLICY_DENIED",
        "{reply}"
    );
    assert_eq!(text().await, "0");
    // The confirmation of one call does not apply to another.
    let other = json!({ "selector": "p" });
    let still = call("click", other, again("once")).await;
    assert_eq!(still["resultType"], "input_required", "{still}");
    let reply = call("click", click.clone(), again("once")).await;
    assert_eq!(reply["structuredContent"]["success"], true, "{reply}");
    assert_eq!(text().await, "01");
    let results: Vec<_> = policy
        .decisions()
        .into_iter()
        .filter(|[tool, ..]| tool == "click")
        .map(|[_, decision, result]| format!("{decision} {result}"))
        .collect();
    assert_eq!(
        results,
        [
            "asked input_required",
            "declined POLICY_DENIED",
            "asked input_required",
            "approved ok"
        ]
    );
}

#[testkit::test]
async fn resources_are_read_by_the_same_rules() {
    let policy = Policy::new(&json!({ "default": "allow", "rules": [
        { "tools": ["resources/read"], "origins": [HERE], "action": "deny" },
    ] }));
    let site = Site::start().await;
    let here = site.add_page("/", "<title>here</title>");
    let there = site.cross_origin_url() + "/";
    let client = policy.launch().start().await;
    let read = async || {
        let list = client
            .request("resources/list", json!({}))
            .await
            .expect("a list");
        let list = list["resources"].as_array().expect("a list").clone();
        let page = list.iter().find(|resource| {
            let uri = resource["uri"].as_str().unwrap_or_default();
            uri.starts_with("playwright:///page/")
        });
        let uri = page.expect("a page")["uri"].clone();
        client
            .request("resources/read", json!({ "uri": uri }))
            .await
    };
    client.success("navigate", json!({ "url": there })).await;
    read().await.expect("a page");
    client.success("navigate", json!({ "url": here })).await;
    let Err(NoAnswer::Refused { data, message, .. }) = read().await else {
        panic!("it was read");
    };
    assert_eq!(data["errorCode"], "POLICY_DENIED", "{message}");
    assert!(message.contains("rule 1 (line 1)"), "{message}");
    let last = policy.decisions().pop().expect("a record");
    assert_eq!(last[1], "denied");
}

#[testkit::test]
async fn an_invalid_policy_is_reported_with_its_line_at_start() {
    for (text, reason) in [
        (
            "{\n \"rules\": [\n  { \"tools\": [\"browser_clik\"], \"action\": \"deny\" } ] }",
            ", line 3: unknown tool \"browser_clik\". Did you mean \"browser_click\"?",
        ),
        (
            "{\n \"defaults\": \"deny\" }",
            ", line 2: unknown key \"defaults\". Did you mean \"default\"?",
        ),
        ("{\n\n \"default\": deny }", ", line 3: "),
    ] {
        let policy = Policy::of_text(text);
        let answer = policy.launch().spawn().whole_stderr().await;
        assert!(
            answer.starts_with("error: the policy ") && answer.contains(reason),
            "{answer}"
        );
    }
    let answer = launch(&["--policy=/nowhere/policy.json"]).spawn();
    let answer = answer.whole_stderr().await;
    assert!(
        answer.contains("cannot read the policy /nowhere/policy.json"),
        "{answer}"
    );
}
