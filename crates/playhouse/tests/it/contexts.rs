//! Named contexts of a session: apart from each other, each with its own proxy and storage, and named by refs.

use serde_json::json;
use std::sync::Arc;
use testkit::{Client, Site, browser_is_there};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::{evaluated, server};

async fn fine(client: &Client, tool: &str, arguments: serde_json::Value) -> String {
    let answer = client.call(tool, arguments).await;
    assert!(!answer.is_error, "{}", answer.text);
    answer.text
}

const STORE: &str =
    "async () => { document.cookie = 'a=1; max-age=1000'; localStorage.a = 1; sessionStorage.a = 1;
    await new Promise((done) => { indexedDB.open('a').onsuccess = done; });
    await (await caches.open('a')).put('/a', new Response('a')); }";
const LOOK: &str = "async () => [document.cookie, localStorage.length, sessionStorage.length,
    (await indexedDB.databases()).length, (await caches.keys()).length].join()";

#[tokio::test]
async fn contexts_share_nothing_and_refs_say_which() {
    if !browser_is_there() {
        return;
    }
    let site = Site::start().await;
    let url = site.add_page(
        "/",
        "<title>Here</title><button onclick=\"window.n = (window.n ?? 0) + 1\">Go</button>",
    );
    site.add(
        "/cached",
        testkit::Resource::new("text/plain", "x").header("cache-control", "max-age=1000"),
    );
    let client = server(&["--caps", "contexts,storage"]).await;
    let go = json!({ "url": url });
    fine(&client, "browser_navigate", go.clone()).await;
    evaluated(&client, STORE).await;
    evaluated(&client, "() => fetch('/cached').then(r => r.text())").await;
    let created = fine(
        &client,
        "browser_context_create",
        json!({ "name": "clean" }),
    )
    .await;
    assert!(created.contains("Context \"clean\" is active"), "{created}");
    let snapshot = client.call("browser_navigate", go.clone()).await;
    let tree = snapshot.snapshot().expect("a snapshot");
    assert!(tree.contains("[ref=clean:e2]"), "{tree}");
    assert_eq!(evaluated(&client, LOOK).await, "\",0,0,0,0\"");
    let before = site.requests().len();
    evaluated(&client, "() => fetch('/cached').then(r => r.text())").await;
    assert_eq!(site.requests().len(), before + 1, "the cache is its own");
    fine(&client, "browser_click", json!({ "target": "clean:e2" })).await;

    // A ref of another context is for that one, and does not switch to it.
    fine(
        &client,
        "browser_context_switch",
        json!({ "name": "default" }),
    )
    .await;
    assert_eq!(evaluated(&client, LOOK).await, "\"a=1,1,1,1,1\"");
    let clicked = json!({ "target": "clean:e2" });
    let clicked = client.call("browser_click", clicked).await;
    let tree = clicked.snapshot().expect("a snapshot");
    assert!(
        tree.contains("[ref=clean:e2]") && !tree.contains("[ref=e2]"),
        "it is that of the page which was clicked: {tree}"
    );
    let text = "() => window.n ?? 0";
    assert_eq!(evaluated(&client, text).await, "0");
    let other = json!({ "function": "(e) => 'n=' + window.n", "target": "clean:e2" });
    assert!(
        fine(&client, "browser_evaluate", other)
            .await
            .contains("\"n=2\"")
    );
    fine(&client, "browser_click", json!({ "target": "default:e2" })).await;
    assert_eq!(evaluated(&client, text).await, "1");

    // Its storage is a file for another one.
    let saved = json!({ "path": "state.json" });
    fine(&client, "browser_context_save_storage", saved).await;
    let restored = json!({ "name": "again", "storageState": "state.json" });
    fine(&client, "browser_context_create", restored).await;
    fine(&client, "browser_navigate", go).await;
    assert!(evaluated(&client, LOOK).await.starts_with("\"a=1,1,0,"));

    let list = client.call("browser_context_list", json!({})).await;
    assert_eq!(
        list.result(),
        format!(
            "- default: 1 page, {url}\n- clean: 1 page, {url}\n- again (active): 1 page, {url}"
        )
    );
    fine(&client, "browser_context_close", json!({ "name": "again" })).await;
    fine(&client, "browser_context_close", json!({ "name": "clean" })).await;
    let list = client.call("browser_context_list", json!({})).await;
    assert_eq!(list.result(), format!("- default (active): 1 page, {url}"));
    assert_eq!(evaluated(&client, text).await, "1");
}

#[tokio::test]
async fn what_cannot_be_done_with_contexts_is_told() {
    if !browser_is_there() {
        return;
    }
    let client = server(&["--caps", "contexts"]).await;
    fine(&client, "browser_context_create", json!({ "name": "uk" })).await;
    for (tool, arguments, code) in [
        (
            "browser_context_create",
            json!({ "name": "uk" }),
            "INVALID_PARAMETERS",
        ),
        (
            "browser_context_create",
            json!({ "name": "default" }),
            "INVALID_PARAMETERS",
        ),
        (
            "browser_context_create",
            json!({ "name": "a b" }),
            "INVALID_PARAMETERS",
        ),
        ("browser_context_create", json!({}), "INVALID_PARAMETERS"),
        (
            "browser_context_create",
            json!({ "name": "a", "storageState": "/etc/x.json" }),
            "FILE_ACCESS_DENIED",
        ),
        (
            "browser_context_create",
            json!({ "name": "a", "storageState": "none.json" }),
            "FILE_ERROR",
        ),
        (
            "browser_context_create",
            json!({ "name": "a", "proxy": { "server": "socks5://x:1", "username": "u" } }),
            "INVALID_PARAMETERS",
        ),
        (
            "browser_context_close",
            json!({ "name": "default" }),
            "INVALID_PARAMETERS",
        ),
        (
            "browser_context_close",
            json!({ "name": "nowhere" }),
            "NOT_FOUND",
        ),
        (
            "browser_context_switch",
            json!({ "name": "nowhere" }),
            "NOT_FOUND",
        ),
        (
            "browser_click",
            json!({ "target": "nowhere:e1" }),
            "NOT_FOUND",
        ),
        (
            "browser_drag",
            json!({ "startTarget": "uk:e1", "endTarget": "default:e1" }),
            "INVALID_PARAMETERS",
        ),
        ("browser_click", json!({ "target": "uk:e99" }), "STALE_REF"),
    ] {
        let answer = client.call(tool, arguments.clone()).await;
        let told = &answer.raw["structuredContent"]["errorCode"];
        assert_eq!(told, code, "{tool} {arguments}: {}", answer.text);
    }
    // What failed left nothing.
    let list = client.call("browser_context_list", json!({})).await;
    assert_eq!(
        list.result(),
        "- default: 0 pages\n- uk (active): 1 page, about:blank"
    );
    fine(&client, "browser_close", json!({})).await;
    let list = client.call("browser_context_list", json!({})).await;
    assert_eq!(list.result(), "- default (active): 0 pages");
}

/// A proxy that answers every request itself, for who tells its password.
async fn proxy(name: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let listener = Arc::new(listener);
    engine::spawn("proxy", async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            engine::spawn("connection", async move {
                let mut head = Vec::new();
                while stream.read_buf(&mut head).await.is_ok_and(|read| read > 0) {
                    if !head.ends_with(b"\r\n\r\n") {
                        continue;
                    }
                    let text = String::from_utf8_lossy(&head).to_lowercase();
                    let answer = match text.contains("proxy-authorization: basic") {
                        true => format!("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n<title>{name}</title>", name.len() + 15),
                        false => "HTTP/1.1 407 Auth\r\nproxy-authenticate: Basic realm=x\r\ncontent-length: 0\r\n\r\n".to_owned(),
                    };
                    head.clear();
                    if stream.write_all(answer.as_bytes()).await.is_err() {
                        return;
                    }
                }
            })
            .detach();
        }
    })
    .detach();
    port
}

#[tokio::test]
async fn each_context_goes_its_own_way_to_the_network() {
    if !browser_is_there() {
        return;
    }
    let client = server(&["--caps", "contexts"]).await;
    for name in ["uk", "us"] {
        let port = proxy(name).await;
        let proxy = json!({ "server": format!("http://127.0.0.1:{port}"), "username": "u", "password": "p" });
        fine(
            &client,
            "browser_context_create",
            json!({ "name": name, "proxy": proxy }),
        )
        .await;
        let shown = fine(
            &client,
            "browser_navigate",
            json!({ "url": "http://shop.test/" }),
        )
        .await;
        assert!(shown.contains(&format!("Page Title: {name}")), "{shown}");
        let list = client.call("browser_context_list", json!({})).await;
        let line =
            format!("- {name} (active): 1 page, http://shop.test/, proxy http://127.0.0.1:{port}");
        assert!(list.result().contains(&line), "{}", list.text);
    }
    let back = fine(&client, "browser_context_switch", json!({ "name": "uk" })).await;
    assert!(back.contains("is active"), "{back}");
    assert_eq!(evaluated(&client, "() => document.title").await, "\"uk\"");
}

#[tokio::test]
async fn every_session_has_contexts_of_its_own_and_they_end_with_it() {
    if !browser_is_there() {
        return;
    }
    let client = server(&["--toolsets", "browser,session"]).await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let answer = client.call("create_session", json!({})).await;
        let id = answer.raw["structuredContent"]["sessionId"].clone();
        fine(
            &client,
            "browser_context_create",
            json!({ "sessionId": id, "name": "mine" }),
        )
        .await;
        ids.push(id);
    }
    let found = json!({ "sessionId": ids[0], "selector": "body" });
    let found = client.call("find_element", found).await;
    let reference = found.raw["structuredContent"]["ref"]
        .as_str()
        .unwrap_or_default();
    assert!(reference.starts_with("mine:"), "{}", found.text);
    let text = json!({ "sessionId": ids[0], "selector": reference });
    fine(&client, "get_text", text).await;
    let list = client.call("browser_context_list", json!({})).await;
    assert_eq!(list.result(), "- default (active): 0 pages");
    fine(&client, "close_session", json!({ "sessionId": ids[0] })).await;
    let list = client
        .call("browser_context_list", json!({ "sessionId": ids[1] }))
        .await;
    assert!(
        list.result().contains("- mine (active): 1 page"),
        "{}",
        list.text
    );
}

#[tokio::test]
async fn where_contexts_are_not_asked_for_they_are_not_offered() {
    let client = server(&["--toolsets", "browser"]).await;
    let names: Vec<_> = client
        .list_tools()
        .await
        .into_iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert!(!names.contains(&"browser_context_create".into()));
    let told = client.call("browser_context_list", json!({})).await;
    assert_eq!(told.raw["structuredContent"]["errorCode"], "TOOL_DISABLED");
}
