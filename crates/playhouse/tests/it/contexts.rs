//! Named contexts of a session: isolation, proxies, storage, and references to them.

use serde_json::json;
use testkit::{Client, Engine, Proxy, ProxyKind, Site};

use crate::{evaluated, server, server_on, shared};

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

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn contexts_are_isolated_and_refs_name_them(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page(
        "/",
        "<title>Here</title><button onclick=\"window.n = (window.n ?? 0) + 1\">Go</button>",
    );
    site.add(
        "/cached",
        testkit::Resource::new("text/plain", "x").header("cache-control", "max-age=1000"),
    );
    let client = shared(engine, &[]).await;
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

    // A ref of another context uses that one without switching to it.
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

    // The storage state is a file for another context.
    let saved = json!({ "path": "state.json" });
    fine(&client, "browser_context_save_storage", saved).await;
    let restored = json!({ "name": "again", "storageState": "state.json" });
    fine(&client, "browser_context_create", restored).await;
    fine(&client, "browser_navigate", go).await;
    let found = evaluated(&client, LOOK).await;
    assert!(found.starts_with("\"a=1,1,0,"), "{found}");

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

#[testkit::test(chromium)]
async fn invalid_uses_of_contexts_are_reported() {
    let client = shared(Engine::Chromium, &[]).await;
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
            json!({ "name": "a", "proxy": { "server": "" } }),
            "INVALID_PARAMETERS",
        ),
        (
            "browser_context_create",
            json!({ "name": "a", "proxy": { "server": "nonsense://x" } }),
            "INVALID_PARAMETERS",
        ),
        (
            "browser_context_create",
            json!({ "name": "a", "proxy": { "server": "http://x:99999" } }),
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
        let reply = &answer.raw["structuredContent"]["errorCode"];
        assert_eq!(reply, code, "{tool} {arguments}: {}", answer.text);
    }
    // The failed call left nothing.
    let list = client.call("browser_context_list", json!({})).await;
    assert_eq!(
        list.result(),
        "- default: 0 pages\n- uk (active): 1 page, about:blank"
    );
    fine(&client, "browser_close", json!({})).await;
    let list = client.call("browser_context_list", json!({})).await;
    assert_eq!(list.result(), "- default (active): 0 pages");
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn each_context_has_its_own_proxy(engine: Engine) {
    let site = Site::start().await;
    site.add_page("/", "<title>Here</title>");
    let socket = "() => new Promise((done) => { const socket = new WebSocket('/ws'); socket.onopen = () => done('open'); socket.onerror = () => done('closed'); })";
    // The TLS proxy has a self-signed certificate.
    let client = server_on(engine, &["--caps", "contexts", "--ignore-https-errors"]).await;
    let word = Some(("me", "open sesame"));
    let proxies = [
        ("uk", Proxy::start(ProxyKind::Http, word).await),
        ("us", Proxy::start(ProxyKind::Https, word).await),
        ("de", Proxy::start(ProxyKind::Socks5, None).await),
        ("fr", Proxy::start(ProxyKind::Http, None).await),
    ];
    for (name, proxy) in &proxies {
        let mut way = json!({ "server": proxy.address() });
        if matches!(*name, "uk" | "us") {
            way["username"] = "me".into();
            way["password"] = "open sesame".into();
        }
        let create = json!({ "name": name, "proxy": way });
        fine(&client, "browser_context_create", create).await;
        // Only the proxy can resolve the host.
        let host = format!("{name}.test:{}", site.port());
        let url = format!("http://{host}/");
        let shown = fine(&client, "browser_navigate", json!({ "url": url })).await;
        assert!(shown.contains("Page Title: Here"), "{shown}");
        assert_eq!(evaluated(&client, socket).await, "\"open\"");
        let lines = match proxy.address().starts_with("socks") {
            true => [format!("SOCKS {host}"), format!("SOCKS {host}")],
            false => [
                format!("GET {url} HTTP/1.1"),
                format!("CONNECT {host} HTTP/1.1"),
            ],
        };
        let seen = proxy.seen();
        assert!(lines.iter().all(|line| seen.contains(line)), "{seen:?}");
        let list = client.call("browser_context_list", json!({})).await;
        let line = format!(
            "- {name} (active): 1 page, {url}, proxy {}",
            proxy.address()
        );
        assert!(list.result().contains(&line), "{}", list.text);
    }
    for (name, proxy) in &proxies {
        let seen = proxy.seen();
        let own = |line: &String| line.contains(&format!("{name}.test"));
        assert!(seen.iter().all(own), "{name} was asked by others: {seen:?}");
    }
    let back = fine(&client, "browser_context_switch", json!({ "name": "uk" })).await;
    assert!(back.contains("is active"), "{back}");
    assert_eq!(
        evaluated(&client, "() => location.host").await,
        format!("\"uk.test:{}\"", site.port())
    );
}

#[testkit::test(chromium, firefox, webkit)]
async fn a_proxy_without_the_password_blocks_requests(engine: Engine) {
    let site = Site::start().await;
    let proxy = Proxy::http(Some(("me", "open sesame"))).await;
    let client = shared(engine, &[]).await;
    let way = json!({ "server": proxy.address(), "username": "me", "password": "guess" });
    let session = client.call("create_session", json!({ "proxy": way })).await;
    let id = session.raw["structuredContent"]["sessionId"].clone();
    let go = json!({ "sessionId": id, "url": site.url("/") });
    client.call("navigate", go).await;
    assert!(proxy.seen().is_empty() && site.requests().is_empty());
}

#[testkit::test(
    chromium,
    firefox,
    not(webkit = "the browser asks its user for passwords and permissions"),
    nightly(firefox)
)]
async fn contexts_share_no_names_passwords_and_permissions(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Here</title>");
    let door = site.url("/auth/basic");
    let key = door.replacen("http://", "http://user:secret@", 1);
    let ask =
        "() => navigator.permissions.query({ name: 'geolocation' }).then((answer) => answer.state)";
    let grant = "async (page) => page.context().grantPermissions(['geolocation'])";
    let client = shared(engine, &[]).await;
    fine(&client, "browser_navigate", json!({ "url": url })).await;
    for name in ["one", "other"] {
        fine(&client, "browser_context_create", json!({ "name": name })).await;
    }
    // A created context, then the default one.
    for (knows, strangers) in [("one", &["default", "other"][..]), ("default", &["other"])] {
        let go = async |context: &str, url: &str| {
            let switch = json!({ "name": context });
            fine(&client, "browser_context_switch", switch).await;
            let shown = client.call("browser_navigate", json!({ "url": url }));
            shown.await.text
        };
        for url in [&key, &door] {
            let shown = go(knows, url).await;
            assert!(shown.contains("Page Title: Inside"), "{shown}");
        }
        go(knows, &url).await;
        fine(&client, "browser_run_code_unsafe", json!({ "code": grant })).await;
        assert_eq!(evaluated(&client, ask).await, "\"granted\"");
        for stranger in strangers {
            let shown = go(stranger, &door).await;
            assert!(!shown.contains("Inside"), "{stranger} of {knows}: {shown}");
            go(stranger, &url).await;
            assert_ne!(evaluated(&client, ask).await, "\"granted\"");
        }
    }
}

#[testkit::test(chromium)]
async fn every_session_has_contexts_of_its_own_and_they_end_with_it() {
    let client = shared(Engine::Chromium, &[]).await;
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

#[testkit::test]
async fn contexts_are_offered_only_with_their_capability() {
    let client = server(&["--toolsets", "browser"]).await;
    let names: Vec<_> = client
        .list_tools()
        .await
        .into_iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert!(!names.contains(&"browser_context_create".into()));
    let answer = client.call("browser_context_list", json!({})).await;
    assert_eq!(
        answer.raw["structuredContent"]["errorCode"],
        "TOOL_DISABLED"
    );
}
