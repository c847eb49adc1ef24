//! Values and steps that only the user provides: elicited in each way that clients support, and invisible to the agent.

use crate::{fake_launch, fake_server, launch};
use serde_json::{Value, json};
use testkit::{Connection, HttpAnswer, HttpServer, Site};

const CODE: &str = "734112";
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const BOTH: &str = "application/json, text/event-stream";
const FIELD: &str =
    "<title>Login</title><label>Code <input id=code autocomplete=one-time-code></label>";

/// Requests a page as a user's browser does, without a key.
async fn send_form(method: &str, url: &str, body: &str) -> HttpAnswer {
    let (authority, path) = url
        .split_once("://")
        .and_then(|(_, rest)| Some(rest.split_at(rest.find('/')?)))
        .unwrap_or_else(|| panic!("{url}"));
    let mut connection = Connection::open(authority).await;
    let headers = [("host", authority), FORM];
    connection.ask(method, path, &headers, body).await;
    connection.answer().await.expect("an answer")
}

fn wanted() -> Value {
    json!({ "request": "Type the <b>code</b> of your bank", "selector": "#code" })
}

/// Makes a call as clients of 2026-07-28 do; `again` is the data of the previous result.
async fn modern(server: &HttpServer, tool: &str, arguments: Value, again: Value) -> Value {
    let mut params = json!({ "name": tool, "arguments": arguments, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {}, "url": {} } },
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
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["result"].clone()
}

#[testkit::test(chromium)]
async fn user_input_is_typed_into_the_page_and_not_reported() {
    let site = Site::start().await;
    let login = site.add_page("/login.html", FIELD);
    let server = HttpServer::start_guarded(launch(&["--api-key=mysecretkey"])).await;
    let server = server.with_header("x-api-key", "mysecretkey");
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "elicitation": { "url": {} } },
        "clientInfo": { "name": "testkit", "version": "1" },
    });
    let begun = server.rpc("/mcp", &[], "initialize", hello).await;
    let session = begun.header("mcp-session-id").to_owned();
    let call = async |tool: &str, arguments: Value| {
        let answer = server.call(Some(&session), tool, arguments).await;
        answer.to_string()
    };
    call("navigate", json!({ "url": login })).await;

    let headers = [
        ("host", server.authority()),
        ("content-type", "application/json"),
        ("accept", BOTH),
        ("x-api-key", "mysecretkey"),
        ("mcp-session-id", &*session),
    ];
    let post = async |message: &Value| {
        let mut connection = server.connection().await;
        let body = message.to_string();
        connection.ask("POST", "/mcp", &headers, &body).await;
        connection.head().await.expect("an answer");
        connection
    };
    let asked = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {
        "name": "hand_over", "arguments": wanted(),
    } });
    let mut stream = post(&asked).await;
    let mut next = async || loop {
        let event = stream.event().await.expect("the stream goes on");
        if !event.data.is_empty() {
            return serde_json::from_str::<Value>(&event.data).expect("JSON");
        }
    };
    let question = next().await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    assert_eq!(question["params"]["mode"], "url", "{question}");
    let url = question["params"]["url"]
        .as_str()
        .expect("a URL")
        .to_owned();
    assert!(
        url.starts_with(&format!("{}/handover/", server.url())),
        "{url}"
    );
    let said = json!({
        "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept" },
    });
    post(&said).await;

    let page = send_form("GET", &url, "").await;
    let origin = site.url("");
    assert!(
        page.body.contains("Type the &lt;b&gt;code&lt;/b&gt;"),
        "{page:?}"
    );
    assert!(page.body.contains(origin.trim_end_matches('/')), "{page:?}");
    assert!(
        page.header("content-security-policy")
            .contains("default-src 'none'")
    );
    let other = format!("{}/handover/{}", server.url(), "0".repeat(32));
    for url in [&*other, &format!("{}/handover/x", server.url())] {
        assert_eq!(send_form("GET", url, "").await.status, 404, "{url}");
    }
    // An empty text is no response.
    assert_eq!(send_form("POST", &url, "text=").await.status, 200);
    let thanks = send_form("POST", &url, &format!("text={CODE}")).await;
    assert!(thanks.body.contains("Thank you"), "{thanks:?}");
    assert_eq!(send_form("POST", &url, "text=666666").await.status, 404);

    let answer = next().await;
    let reply = &answer["result"]["structuredContent"];
    assert_eq!(
        (&reply["success"], &reply["done"]),
        (&json!(true), &json!(true)),
        "{answer}"
    );
    assert!(!answer.to_string().contains(CODE), "{answer}");
    let count = json!({ "script": "document.querySelector('#code').value.length" });
    assert!(call("evaluate", count).await.contains("\"result\":6"));
    let value = json!({ "script": "document.querySelector('#code').value" });
    for shown in [
        call("browser_snapshot", json!({})).await,
        call("evaluate", value).await,
        call("get_value", json!({ "selector": "#code" })).await,
    ] {
        assert!(
            !shown.contains(CODE) && shown.contains("TYPED_BY_USER"),
            "{shown}"
        );
    }
}

#[testkit::test]
async fn a_client_without_elicitation_gets_a_suggestion() {
    let site = Site::start().await;
    let login = site.add_page("/login.html", FIELD);
    let client = fake_server(&["--timeout-action=1000"]).await;
    client.navigate(&login).await;
    let answer = client.call("hand_over", wanted()).await;
    let answer = answer.raw["structuredContent"].clone();
    assert_eq!(answer["done"], false, "{answer}");
    let url = answer["url"].as_str().expect("a URL").to_owned();
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    // A page of another site, also under a name that it resolves to this machine.
    let (authority, path) = url
        .strip_prefix("http://")
        .and_then(|rest| Some(rest.split_at(rest.find('/')?)))
        .expect("a path");
    for foreign in [
        ("host", "rebound.example"),
        ("origin", "http://evil.example"),
        ("origin", "null"),
    ] {
        let mut headers = vec![FORM];
        if foreign.0 != "host" {
            headers.push(("host", authority));
        }
        headers.push(foreign);
        let mut connection = Connection::open(authority).await;
        connection.ask("POST", path, &headers, "text=stolen").await;
        let answer = connection.answer().await.expect("an answer");
        assert_eq!(answer.status, 403, "{foreign:?}: {answer:?}");
    }
    // The agent passes it to the user, and repeats the call.
    let again = client.call("hand_over", wanted());
    let typed = format!("text={CODE}");
    let (answer, page) = tokio::join!(again, send_form("POST", &url, &typed));
    assert_eq!(page.status, 200, "{page:?}");
    assert!(answer.text.contains("\"done\":true"), "{}", answer.text);
    // The user is not asked for a value that cannot be typed.
    let nowhere = json!({ "request": "Type", "selector": "#none" });
    let refused = client.call("hand_over", nowhere).await;
    assert!(
        refused.text.contains("ELEMENT_NOT_FOUND"),
        "{}",
        refused.text
    );
    let deed = json!({ "request": "Approve the login on your phone" });
    let answer = client.call("hand_over", deed.clone()).await;
    assert!(answer.text.contains("Tell them"), "{}", answer.text);

    // With form elicitation only, the user gets the URL, and can confirm a step.
    let client = fake_launch(&[]).user(json!({})).start().await;
    client.navigate(&login).await;
    let answer = client.call("hand_over", deed).await;
    assert!(answer.text.contains("\"done\":true"), "{}", answer.text);
    let mut brief = wanted();
    brief["timeout"] = 1.into();
    let answer = client.call("hand_over", brief).await;
    assert!(answer.text.contains("nothing yet"), "{}", answer.text);
}

#[testkit::test]
async fn a_client_of_2026_repeats_the_call_with_the_elicitation_result() {
    let site = Site::start().await;
    let server = HttpServer::start(fake_launch(&["--ask-user"])).await;
    let call = async |tool: &str, arguments: Value, again: Value| {
        modern(&server, tool, arguments, again).await
    };
    let none = json!({});
    let login = json!({ "url": site.add_page("/login.html", FIELD) });
    call("navigate", login, none.clone()).await;
    let asked = call("hand_over", wanted(), none.clone()).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["user"];
    assert_eq!(question["method"], "elicitation/create", "{asked}");
    let url = question["params"]["url"].as_str().expect("a URL");
    let again = |response: Value| json!({ "requestState": asked["requestState"], "inputResponses": { "user": response } });
    let accepted = again(json!({ "action": "accept" }));
    let typed = format!("text={CODE}");
    let (reply, page) = tokio::join!(
        call("hand_over", wanted(), accepted),
        send_form("POST", url, &typed)
    );
    assert_eq!(page.status, 200, "{page:?}");
    assert_eq!(reply["structuredContent"]["done"], true, "{reply}");
    let asked = call("hand_over", wanted(), none.clone()).await;
    let state = &asked["requestState"];
    let declined = json!({
        "requestState": state, "inputResponses": { "user": { "action": "decline" } },
    });
    let reply = call("hand_over", wanted(), declined).await;
    assert_eq!(reply["structuredContent"]["message"], "The user declined");

    let asking = site.add_page(
        "/ask.html",
        "<button onclick=\"document.title = prompt('Name?', 'anonymous')\">Go</button>",
    );
    call("navigate", json!({ "url": asking }), none.clone()).await;
    call("click", json!({ "selector": "button" }), none.clone()).await;
    let asked = call("get_page_metadata", none.clone(), none.clone()).await;
    let params = &asked["inputRequests"]["user"]["params"];
    assert_eq!(
        params["requestedSchema"]["properties"]["text"]["default"], "anonymous",
        "{asked}"
    );
    // The response to another elicitation does not count.
    let said =
        json!({ "user": { "action": "accept", "content": { "answer": "accept", "text": "Ada" } } });
    let other = json!({ "requestState": state, "inputResponses": said });
    let still = call("get_page_metadata", none.clone(), other).await;
    assert_eq!(still["resultType"], "input_required", "{still}");
    let again = json!({ "requestState": asked["requestState"], "inputResponses": said });
    let reply = call("get_page_metadata", none.clone(), again).await;
    assert_eq!(reply["structuredContent"]["title"], "Ada", "{reply}");
}
