//! Resources: lists, contents, access, and notifications of changes.

use crate::{fake_launch, fake_server, server};
use serde_json::{Value, json};
use testkit::{Client, HttpServer, Site};

async fn listed(client: &Client) -> Vec<Value> {
    let list = client
        .request("resources/list", json!({}))
        .await
        .expect("as asked for");
    list["resources"].as_array().expect("as asked for").clone()
}

async fn read(client: &Client, uri: &Value) -> Value {
    let read = client
        .request("resources/read", json!({ "uri": uri }))
        .await;
    read.expect("as asked for")["contents"][0].clone()
}

/// Returns the next notification of a changed resource.
async fn updated(client: &Client) -> Value {
    loop {
        let answer = client.next_unmatched().await;
        match answer["method"].as_str() {
            Some("notifications/resources/updated") => return answer,
            Some("notifications/resources/list_changed") => {}
            _ => panic!("{answer}"),
        }
    }
}

/// Returns the first listed URI of that kind.
fn of_kind(list: &[Value], kind: &str) -> Value {
    let prefix = format!("playwright:///{kind}/");
    let mut found = list.iter().filter(|one| {
        one["uri"]
            .as_str()
            .expect("as asked for")
            .starts_with(&prefix)
    });
    found
        .next()
        .unwrap_or_else(|| panic!("no {kind} in {list:?}"))
        .clone()
}

fn as_json(contents: &Value) -> Value {
    assert_eq!(contents["mimeType"], "application/json");
    serde_json::from_str(contents["text"].as_str().expect("as asked for")).expect("as asked for")
}

#[testkit::test(chromium)]
async fn everything_that_is_there_can_be_read() {
    let client = server(&["--caps=pdf"]).await;
    let site = Site::start().await;
    let url = site.add_page("/form.html", "<title>Form</title><h1>A form</h1>");
    // This tool writes no file, which would be a resource.
    client.success("navigate", json!({ "url": url })).await;
    let taken = client.call("screenshot", json!({ "fullPage": true })).await;
    client
        .call("browser_pdf_save", json!({ "filename": "a b/ü.pdf" }))
        .await;
    let list = listed(&client).await;

    let session = as_json(&read(&client, &of_kind(&list, "session")["uri"]).await);
    assert_eq!(session["pages"][0]["url"], url, "{session}");
    let page = of_kind(&list, "page");
    assert_eq!(page["_meta"]["url"], url, "{page}");
    assert_eq!(
        page["_meta"]["viewport"],
        json!({ "width": 1280, "height": 720 }),
        "{page}"
    );
    assert_eq!(as_json(&read(&client, &page["uri"]).await), page["_meta"]);
    assert_eq!(session["pages"][0]["uri"], page["uri"]);

    let element = page["uri"].as_str().unwrap().replace("/page/", "/element/");
    let element = as_json(&read(&client, &json!(format!("{element}/h1"))).await);
    assert_eq!(element["tagName"], "h1", "{element}");
    assert!(
        element["boundingBox"]["width"].as_f64() > Some(0.0),
        "{element}"
    );

    let picture = of_kind(&list, "screenshot");
    let answer = &taken.raw["structuredContent"];
    assert_eq!(
        (&picture["uri"], &picture["_meta"]["width"]),
        (&answer["uri"], &answer["width"])
    );
    assert_eq!(picture["_meta"]["fullPage"], true);
    let picture = read(&client, &picture["uri"]).await;
    assert_eq!(picture["mimeType"], "image/png");
    assert!(picture["blob"].as_str().unwrap().starts_with("iVBOR"));

    let log = of_kind(&list, "network-log");
    assert_eq!(log["_meta"]["errorCount"], 0, "{log}");
    let entries = as_json(&read(&client, &log["uri"]).await);
    assert_eq!(
        (&entries[0]["url"], &entries[0]["status"]),
        (&json!(url), &json!(200))
    );

    let artifact = of_kind(&list, "artifact");
    assert_eq!(artifact["name"], "ü.pdf");
    let artifact = read(&client, &artifact["uri"]).await;
    assert_eq!(artifact["mimeType"], "application/pdf");
    assert!(artifact["blob"].as_str().unwrap().starts_with("JVBER"));
}

#[testkit::test]
async fn missing_resources_are_reported() {
    let client = server(&[]).await;
    for uri in [
        "playwright:///session/unknown",
        "playwright:///page/default/none",
        "playwright:///artifact/default/0/passwd",
        "playwright:///artifact/default/..%2f..%2fetc/passwd",
        "playwright:///artifact/../../../etc/passwd",
        "file:///etc/passwd",
        "",
    ] {
        let read = client
            .request("resources/read", json!({ "uri": uri }))
            .await;
        let error = format!("{:?}", read.expect_err(uri));
        assert!(
            error.contains("-32002") && error.contains("resources/list"),
            "{uri} {error}"
        );
    }
    let templates = client
        .request("resources/templates/list", json!({}))
        .await
        .unwrap();
    assert_eq!(templates["resourceTemplates"].as_array().unwrap().len(), 6);
}

#[testkit::test]
async fn an_element_that_does_not_match_is_not_found_and_no_long_address_is_repeated() {
    let client = fake_server(&[]).await;
    client.navigate("data:text/html,<p>Here").await;
    let page = of_kind(&listed(&client).await, "page")["uri"].clone();
    let element = page.as_str().unwrap().replace("/page/", "/element/");
    let refused = async |method: &str, uri: String| {
        let answer = client.request(method, json!({ "uri": uri })).await;
        format!("{:?}", answer.expect_err(&uri))
    };
    for missing in ["h1", "e999"] {
        let error = refused("resources/read", format!("{element}/{missing}")).await;
        assert!(error.contains("-32002"), "{error}");
    }
    let long = "x".repeat(100_000);
    for uri in [long.clone(), format!("{element}/{long}")] {
        for method in ["resources/read", "resources/subscribe"] {
            let answer = client.request(method, json!({ "uri": uri })).await;
            // A client can subscribe to any element of an open page.
            let Err(error) = answer else { continue };
            let error = format!("{error:?}");
            assert!(error.len() < 2000, "{method} {} bytes", error.len());
        }
    }
    for missing in [
        "page/default/none",
        "session/unknown",
        "artifact/default/9/a",
    ] {
        let uri = format!("playwright:///{missing}");
        let error = refused("resources/subscribe", uri).await;
        assert!(error.contains("-32002"), "{error}");
    }
}

#[testkit::test]
async fn a_client_is_notified_when_the_resource_list_changes() {
    let client = fake_launch(&[]).spawn();
    let hello = client.initialize(json!({})).await;
    assert_eq!(hello["capabilities"]["resources"]["listChanged"], true);
    listed(&client).await;
    client.call("create_session", json!({})).await;
    let answer = client.next_unmatched().await;
    assert_eq!(answer["method"], "notifications/resources/list_changed");
}

#[testkit::test]
async fn only_files_written_by_tools_are_resources() {
    let client = fake_server(&[]).await;
    let written = client.workspace().join("own.txt");
    std::fs::write(&written, "the user's own").unwrap();
    let page = "data:text/html,<script>console.log('said')</script>";
    client.navigate(page).await;
    // Naming a file is not writing it, regardless of the result of the call.
    client
        .call("compare_screenshot", json!({ "baseline": "own.txt" }))
        .await;
    client
        .call("restore_state", json!({ "path": "own.txt" }))
        .await;
    client.call("browser_snapshot", json!({})).await;
    let list = listed(&client).await;
    let named = |name: &str| {
        let name = name.to_owned();
        move |one: &&Value| {
            one["name"]
                .as_str()
                .is_some_and(|answer| answer.contains(&name))
        }
    };
    assert!(!list.iter().any(|one| named("own.txt")(&one)), "{list:?}");
    let log = list.iter().find(named("console-"));
    let log = read(&client, &log.expect("a console log")["uri"]).await;
    assert!(log["text"].as_str().unwrap().contains("said"), "{log}");
}

#[testkit::test]
async fn resources_show_secrets_no_more_than_answers_do() {
    let secrets = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secrets.path(), "TOKEN=open-sesame-42\n").unwrap();
    let path = secrets.path().display().to_string();
    let client = fake_server(&["--secrets", &path]).await;
    let site = Site::start().await;
    let html = "<title>open-sesame-42</title><p title='open-sesame-42'>open-sesame-42</p>";
    let url = site.add_page("/page.html", html);
    let url = format!("{url}?token=open-sesame-42");
    client.navigate(&url).await;
    let list = listed(&client).await;
    let page = of_kind(&list, "page")["uri"].clone();
    let element = page.as_str().unwrap().replace("/page/", "/element/");
    let mut shown = vec![json!(list)];
    for uri in [
        of_kind(&list, "session")["uri"].clone(),
        page,
        of_kind(&list, "network-log")["uri"].clone(),
        json!(format!("{element}/p")),
    ] {
        shown.push(read(&client, &uri).await);
    }
    for answer in shown {
        let answer = answer.to_string();
        assert!(
            !answer.contains("open-sesame") && answer.contains("<secret>TOKEN"),
            "{answer}"
        );
    }
}

#[testkit::test(chromium)]
async fn a_subscriber_is_notified_of_navigations() {
    let client = server(&[]).await;
    client.navigate("data:text/html,one").await;
    let page = of_kind(&listed(&client).await, "page")["uri"].clone();
    client
        .request("resources/subscribe", json!({ "uri": page }))
        .await
        .unwrap();
    client.navigate("data:text/html,two").await;
    let answer = updated(&client).await;
    assert_eq!(answer["params"]["uri"], page);
    client
        .request("resources/unsubscribe", json!({ "uri": page }))
        .await
        .unwrap();
}

#[testkit::test]
async fn a_subscriber_is_notified_of_reloads() {
    let client = fake_server(&[]).await;
    client.navigate("data:text/html,one").await;
    let page = of_kind(&listed(&client).await, "page")["uri"].clone();
    let subscribe = json!({ "uri": page });
    let subscribed = client.request("resources/subscribe", subscribe).await;
    subscribed.unwrap();
    // The same URL and status, but another document.
    client.call("reload", json!({})).await;
    let answer = updated(&client).await;
    assert_eq!(answer["params"]["uri"], page, "{answer}");
}

#[testkit::test]
async fn the_ids_of_sessions_and_pages_are_completed() {
    let client = fake_server(&[]).await;
    let created = client.call("create_session", json!({})).await.raw["structuredContent"].clone();
    let complete = async |name: &str, typed: &str| {
        let reference =
            json!({ "type": "ref/resource", "uri": "playwright:///page/{sessionId}/{pageId}" });
        let argument = json!({ "name": name, "value": typed });
        let asked = json!({ "ref": reference, "argument": argument });
        let answer = client.request("completion/complete", asked).await.unwrap();
        answer["completion"]["values"].clone()
    };
    let id = created["sessionId"].as_str().unwrap();
    assert_eq!(complete("sessionId", &id[..8]).await, json!([id]));
    assert_eq!(complete("pageId", "").await.as_array().unwrap().len(), 1);
    assert_eq!(complete("elementId", "").await, json!([]));
}

#[testkit::test]
async fn a_drop_in_configuration_has_no_resources() {
    let client = server(&["--toolsets=browser"]).await;
    let answer = client.request("resources/list", json!({})).await;
    assert!(format!("{:?}", answer.unwrap_err()).contains("-32601"));
}

#[testkit::test]
async fn files_written_before_roots_are_known_stay_resources() {
    let server = HttpServer::start(fake_launch(&[])).await;
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "roots": {} },
        "clientInfo": { "name": "testkit", "version": "1" },
    });
    let begun = server.rpc("/mcp", &[], "initialize", params).await;
    let id = begun.header("mcp-session-id");
    let headers = [("mcp-session-id", id)];
    // The client receives a request with each of the two calls, and never responds.
    for _ in 0..2 {
        let shot = server.call(Some(id), "browser_take_screenshot", json!({}));
        assert_ne!(shot.await["isError"], true);
    }
    let listed = server.rpc("/mcp", &headers, "resources/list", json!({}));
    let listed = listed.await.json();
    let resources = listed["result"]["resources"].as_array().expect("a list");
    let pictures = resources
        .iter()
        .filter(|one| one["mimeType"] == "image/png");
    let mut names: Vec<_> = pictures.map(|one| one["name"].to_string()).collect();
    names.dedup();
    assert_eq!(names.len(), 2, "{listed}");
}

#[testkit::test]
async fn files_of_one_principal_are_not_readable_by_another() {
    let keys = tempfile::NamedTempFile::new().unwrap();
    let secret = |name: &str| format!("{name}-0123456789abcdef0123456789abcdef");
    std::fs::write(
        keys.path(),
        format!("ann {}\nbob {}\n", secret("ann"), secret("bob")),
    )
    .unwrap();
    let path = keys.path().display().to_string();
    let server = HttpServer::start_guarded(fake_launch(&["--api-keys", &path])).await;
    let ask = async |name: &str, method: &str, params: Value| {
        let bearer = format!("Bearer {}", secret(name));
        server
            .rpc("/message", &[("authorization", &bearer)], method, params)
            .await
            .json()
    };
    let opened = json!({ "name": "create_session", "arguments": {} });
    ask("ann", "tools/call", opened).await;
    let list = async |name: &str| {
        let answer = ask(name, "resources/list", json!({})).await;
        answer["result"]["resources"]
            .as_array()
            .cloned()
            .unwrap_or_else(|| panic!("{answer}"))
    };
    let page = of_kind(&list("ann").await, "page")["uri"].clone();
    assert!(list("bob").await.is_empty());
    let read = ask("bob", "resources/read", json!({ "uri": page })).await;
    assert_eq!(read["error"]["code"], -32002, "{read}");
    // Subscriptions without a connection, or to foreign resources, are rejected.
    let subscribed = ask("ann", "resources/subscribe", json!({ "uri": page })).await;
    let message = subscribed["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("without a session"), "{subscribed}");
    let bearer = format!("Bearer {}", secret("bob"));
    let server = server.with_header("authorization", &bearer);
    let session = server.begin_session().await;
    let id = [("mcp-session-id", &*session)];
    let uri = json!({ "uri": page });
    let subscribed = server.rpc("/mcp", &id, "resources/subscribe", uri).await;
    assert_eq!(subscribed.json()["error"]["code"], -32002, "{subscribed:?}");
}
