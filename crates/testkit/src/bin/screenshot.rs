//! `screenshot FILE`: writes a screenshot of the dashboard, in which an agent buys something in the example shop. The server is the
//! `playhouse` beside this program.

use serde_json::{Value, json};
use std::path::PathBuf;
use testkit::{HttpServer, Launch, Site, eventually};

#[tokio::main]
async fn main() {
    let path = std::env::args().nth(1).expect("the path of the screenshot");
    let site = Site::start().await;
    let server = HttpServer::start(launch().args(["--content-boundaries", "off"])).await;
    for (session, path) in [
        ("kitchen", "/shop/index.html"),
        ("invoices", "/shop/login.html"),
    ] {
        server
            .call(None, "create_session", json!({ "name": session }))
            .await;
        let navigate = json!({ "sessionId": session, "url": site.url(path) });
        server.call(None, "browser_navigate", navigate).await;
    }
    let call = async |tool: &str, mut arguments: Value| {
        arguments["sessionId"] = json!("kitchen");
        server.call(None, tool, arguments).await;
    };
    call("fill", json!({ "selector": "#query", "value": "kettle" })).await;
    call("browser_snapshot", json!({})).await;
    call(
        "click",
        json!({ "selector": "text=Toaster", "timeout": 500 }),
    )
    .await;
    call("fill", json!({ "selector": "#query", "value": "" })).await;
    call(
        "click",
        json!({ "selector": "#products li:first-child button" }),
    )
    .await;

    let user = launch()
        .args(["--viewport-size", "1360x820", "--caps", "vision"])
        .start()
        .await;
    let dashboard = format!("{}/dashboard", server.url());
    user.success("navigate", json!({ "url": dashboard })).await;
    user.success(
        "click",
        json!({ "selector": "#sessions li:first-child button" }),
    )
    .await;
    let is_complete = "() => document.querySelectorAll('#calls li').length > 5 \
        && document.querySelector('#screen').getContext('2d').getImageData(5, 5, 1, 1).data[3] > 0 \
        && document.querySelectorAll('#requests li').length > 1";
    eventually(async || {
        let answer = user
            .call("browser_evaluate", json!({ "function": is_complete }))
            .await;
        answer.section("Result") == Some("true")
    })
    .await;
    user.success(
        "click",
        json!({ "selector": "#calls li:nth-child(3) summary" }),
    )
    .await;
    let taken = json!({ "filename": "dashboard.png", "type": "png" });
    let answer = user.call("browser_take_screenshot", taken).await;
    let file = answer.linked_file(&answer.text);
    let file = file.unwrap_or_else(|| panic!("{}", answer.text));
    std::fs::copy(file, path).expect("the screenshot can be copied");
}

/// Returns the server that was built with this program, not started.
fn launch() -> Launch {
    let program: PathBuf = std::env::current_exe().expect("a program has a path");
    Launch::new(program.with_file_name("playhouse")).args([
        "--headless",
        "--isolated",
        "--toolsets=all",
    ])
}
