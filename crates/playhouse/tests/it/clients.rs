//! Third-party clients over each transport: the official SDKs, and the Inspector.

use crate::launch;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::path::Path;
use testkit::{HttpServer, clients};

/// Returns the output of a client as JSON.
pub(crate) async fn output_of<A: AsRef<OsStr>>(program: &Path, args: &[A]) -> Value {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test runs a client of another project and waits for it"
    )]
    let output = tokio::process::Command::new(program)
        .args(args)
        .kill_on_drop(true)
        .output()
        .await
        .expect("the client runs");
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| {
        let errors = String::from_utf8_lossy(&output.stderr);
        panic!("{error}\n{text}\n{errors}")
    })
}

/// Returns each transport with its address or command line; `args` are those of the server.
fn ways(server: &HttpServer, args: &[&str]) -> Vec<Vec<String>> {
    let web_socket = server.url().replace("http", "ws");
    let program = env!("CARGO_BIN_EXE_playhouse");
    [
        vec!["http".to_owned(), format!("{}/mcp", server.url())],
        vec!["sse".to_owned(), format!("{}/sse", server.url())],
        vec!["ws".to_owned(), format!("{web_socket}/ws")],
        [
            "stdio",
            program,
            "--headless",
            "--isolated",
            "--toolsets=all",
        ]
        .iter()
        .chain(args)
        .map(|arg| (*arg).to_owned())
        .collect(),
    ]
    .to_vec()
}

/// All tools, and an app that cannot be started.
const FAILING: [&str; 4] = ["--caps", crate::CAPABILITIES, "--server-command", "false"];

/// Checks that the caller got code, message and details of the error of each tool.
fn assert_errors(errors: &Value, context: &str) {
    let errors = errors.as_object().expect("an error for each tool");
    assert!(errors.len() > 120, "{context}: {}", errors.len());
    for (tool, error) in errors {
        let (code, fact, word) = match tool.as_str() {
            "e2e_start" => (
                "DEV_SERVER_FAILED",
                json!({ "server": "app" }),
                "exit code 1",
            ),
            _ => ("INVALID_PARAMETERS", json!({ "tool": tool }), "maxTokens"),
        };
        assert_eq!(error["isError"], true, "{context} {tool} {error}");
        assert_eq!(error["errorCode"], code, "{context} {tool} {error}");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains(word), "{context} {tool} {error}");
        for (name, value) in fact.as_object().into_iter().flatten() {
            assert_eq!(&error["details"][name], value, "{context} {tool} {error}");
        }
    }
}

#[testkit::test(chromium, clients)]
async fn the_typescript_sdk_shows_its_key_over_http_and_sse() {
    let clients = clients();
    let server = HttpServer::start_guarded(launch(&["--api-key", "mysecretkey"])).await;
    let script = clients.folder.join("client.mjs").display().to_string();
    for (kind, path) in [("http", "/mcp"), ("sse", "/sse")] {
        let url = format!("{}{path}", server.url());
        let output = output_of(&clients.node, &[&script, kind, &url, "mysecretkey"]).await;
        assert_eq!(output["title"], "from the SDK", "{kind} {output}");
    }
}

#[testkit::test(chromium, clients)]
async fn the_typescript_sdk_does_its_work_over_each_transport() {
    let clients = clients();
    let server = HttpServer::start(launch(&[])).await;
    let script = clients.folder.join("client.mjs").display().to_string();
    for way in ways(&server, &[]) {
        let args: Vec<_> = [script.clone()].into_iter().chain(way).collect();
        let output = output_of(&clients.node, &args).await;
        assert_eq!(output["server"], "Playhouse", "{args:?} {output}");
        assert_eq!(output["title"], "from the SDK", "{args:?} {output}");
        assert_eq!(output["after"], "from the SDK", "{args:?} {output}");
        assert_eq!(output["abort"], "aborted", "{args:?} {output}");
        assert_eq!(output["unknown"], -32601, "{args:?} {output}");
        assert_eq!(output["prompt"], 1, "{args:?} {output}");
        assert!(output["tools"].as_u64() > Some(60), "{args:?} {output}");
        assert!(output["ticks"].as_u64() > Some(0), "{args:?} {output}");
    }
}

#[testkit::test(chromium, clients)]
async fn the_python_sdk_does_its_work_over_each_transport() {
    let clients = clients();
    let server = HttpServer::start(launch(&FAILING)).await;
    let script = clients.folder.join("client.py").display().to_string();
    // This client has no WebSockets.
    let ways = ways(&server, &FAILING).into_iter();
    for way in ways.filter(|way| way[0] != "ws") {
        let args: Vec<_> = [script.clone()].into_iter().chain(way).collect();
        let output = output_of(&clients.python, &args).await;
        assert_eq!(output["server"], "Playhouse", "{args:?} {output}");
        assert_eq!(output["title"], "from Python", "{args:?} {output}");
        assert!(output["tools"].as_u64() > Some(60), "{args:?} {output}");
        assert!(output["ticks"].as_u64() > Some(0), "{args:?} {output}");
        assert!(output["prompts"].as_u64() > Some(4), "{args:?} {output}");
        assert_errors(&output["errors"], &args[1]);
    }
}

#[testkit::test(clients)]
async fn the_error_of_each_tool_reaches_callers_of_the_typescript_sdks() {
    let clients = clients();
    let server = HttpServer::start(launch(&FAILING)).await;
    let script = clients.folder.join("errors.mjs").display().to_string();
    // The packages of version 1 and of version 2, which has no WebSockets.
    for (sdk, without) in [("sdk", ""), ("client", "ws")] {
        let ways = ways(&server, &FAILING).into_iter();
        for way in ways.filter(|way| way[0] != without) {
            let transport = way[0].clone();
            let args = [script.clone(), sdk.to_owned()];
            let args: Vec<_> = args.into_iter().chain(way).collect();
            let errors = output_of(&clients.node, &args).await;
            assert_errors(&errors, &format!("{sdk} {transport}"));
        }
    }
}

#[testkit::test(chromium, clients)]
async fn the_inspector_reports_no_problem_of_the_tools() {
    let clients = clients();
    let server = HttpServer::start(launch(&[])).await;
    let inspector = clients.folder.join("node_modules/.bin/mcp-inspector");
    let url = format!("{}/mcp", server.url());
    let inspector = inspector.display().to_string();
    let args = [
        &*inspector,
        "--cli",
        &url,
        "--method",
        "tools/list",
        "--strict",
    ];
    let listed = output_of(&clients.node, &args).await;
    let names: Vec<_> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert!(
        names.contains(&&json!("browser_navigate")) && names.contains(&&json!("navigate")),
        "{names:?}"
    );
}
