//! Browsers of a Selenium Grid: several engines through one hub, released when they are no longer needed, and the loss of a node.

use serde_json::json;
use testkit::{Client, Grid, Site};

use crate::launch;

const PAGE: &str = "<title>Here</title><button onclick=\"document.title = 'There'\">Go</button>
    <input type=file>";

/// Uploads a file to the page, which is read after its local copy was removed: so it was copied to the machine of the browser.
async fn gives_a_file(client: &Client, session: &str) {
    let path = client.workspace().join("letter.txt");
    std::fs::write(&path, "Dear all").expect("the workspace can be written");
    let upload = json!({ "sessionId": session, "selector": "input", "files": ["letter.txt"] });
    client.success("upload_file", upload).await;
    std::fs::remove_file(path).expect("it is still there");
    let script = "(async () => { const [file] = document.querySelector('input').files;
        return file.name + ': ' + await file.text(); })()";
    let read = json!({ "sessionId": session, "script": script });
    let read = client.success("evaluate", read).await;
    assert_eq!(read["result"], "letter.txt: Dear all");
}

/// Starts a server that uses browsers of that grid.
async fn server(grid: &Grid, args: &[&str]) -> Client {
    let endpoint = grid.endpoint();
    launch(&[
        "--webdriver-endpoint",
        &endpoint,
        "--toolsets",
        "browser,session",
    ])
    // The grid runs as the user of the tests, which may be root.
    .args(["--no-sandbox"])
    .args(args.iter().copied())
    .start()
    .await
}

#[testkit::test(chromium, grid)]
async fn grid_browsers_are_used_like_local_ones_and_released() {
    let grid = Grid::start(1).await;
    let site = Site::start().await;
    let url = site.add_page("/", PAGE);
    let client = server(&grid, &[]).await;
    // Another server shares the grid.
    let other = server(&grid, &[]).await;
    let theirs = other.create_session(json!({ "browser": "chromium" })).await;
    let mut ours = Vec::new();
    for (browser, product) in [("chromium", "Chrome"), ("firefox", "Firefox")] {
        let id = client.create_session(json!({ "browser": browser })).await;
        let navigate = json!({ "sessionId": id, "url": url });
        client.success("browser_navigate", navigate).await;
        let click = json!({ "sessionId": id, "element": "Go", "target": "e2" });
        let clicked = client.call("browser_click", click).await;
        assert!(clicked.text.contains("There"), "{}", clicked.text);
        let list = client.success("list_sessions", json!({})).await;
        let listed = &list["sessions"][ours.len()]["browser"];
        assert!(
            listed.as_str().is_some_and(|name| name.contains(product)),
            "{list}"
        );
        gives_a_file(&client, &id).await;
        ours.push(id);
    }
    assert_eq!(grid.sessions().await, [3]);
    // There is no slot for a third Chromium, and no node has a fourth browser.
    let unknown = client
        .call("create_session", json!({ "browser": "msedge" }))
        .await;
    assert!(
        unknown.is_error && unknown.text.contains("MicrosoftEdge"),
        "{}",
        unknown.text
    );
    client
        .success("close_session", json!({ "sessionId": ours[0] }))
        .await;
    grid.until_sessions(2).await;
    client.end().await;
    grid.until_sessions(1).await;
    let script = json!({ "sessionId": theirs, "script": "1 + 1" });
    assert_eq!(other.success("evaluate", script).await["result"], 2);
}

#[testkit::test(chromium, grid)]
async fn a_lost_node_affects_only_its_own_browsers() {
    let mut grid = Grid::start(2).await;
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Here</title>");
    let client = server(&grid, &[]).await;
    let mut sessions = Vec::new();
    let mut machines = Vec::new();
    let mut before = grid.sessions().await;
    for _ in 0..2 {
        let id = client
            .create_session(json!({ "browser": "chromium" }))
            .await;
        let navigate = json!({ "sessionId": id, "url": url });
        client.success("navigate", navigate).await;
        let now = grid.sessions().await;
        machines.extend((0..2).find(|&node| now[node] > before[node]));
        before = now;
        sessions.push(id);
    }
    // Each uses another node.
    assert_ne!(machines[0], machines[1]);
    grid.kill_node(machines[0]);
    let ask = |id: &String| json!({ "sessionId": id, "script": "document.title" });
    let lost = client.call("evaluate", ask(&sessions[0])).await;
    assert!(lost.is_error, "{}", lost.text);
    let code = lost.raw["structuredContent"]["errorCode"].clone();
    assert_eq!(code, "BROWSER_CRASHED", "{}", lost.text);
    assert_eq!(
        client.success("evaluate", ask(&sessions[1])).await["result"],
        "Here"
    );
    grid.until_noticed().await;
    // The next call gets another browser, on an existing node.
    let navigate = json!({ "sessionId": sessions[0], "url": url });
    client.success("navigate", navigate).await;
    assert_eq!(grid.sessions().await, [2]);
}

#[testkit::test]
async fn an_address_without_a_grid_fails_at_once() {
    let port = testkit::unused_port();
    let endpoint = format!("http://ada:secret@127.0.0.1:{port}/wd/hub");
    let client = launch(&["--webdriver-endpoint", &endpoint]).start().await;
    let url = json!({ "url": "about:blank" });
    let refused = client.call("browser_navigate", url).await;
    assert!(refused.is_error);
    assert!(refused.text.contains(&port.to_string()), "{}", refused.text);
    assert!(!refused.text.contains("secret"), "{}", refused.text);
}
