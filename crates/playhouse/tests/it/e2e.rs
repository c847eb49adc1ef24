//! The app under test: started by its server command, monitored, restarted and stopped with its session; evidence from page and server; and
//! no remaining processes.

mod commands;
mod dashboard;
mod survival;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::process_stats::{Depth, MARK, ProcessStats, command_line, fresh_mark};
use testkit::{
    CallResult, Client, Launch, NotesApp, Site, broken_command, eventually, misbehaving_app,
};

use crate::faults::kill;
use crate::launch;

const PROGRAM: &str = env!("CARGO_BIN_EXE_playhouse");

/// A project with an app, and all of its processes.
struct Project {
    mark: String,
    folder: TempDir,
}

/// A site with one page, for an app without a server of its own, and a project.
async fn site_and_project() -> (Site, Project) {
    let site = Site::start().await;
    site.add_page("/", "<title>Here</title>");
    (site, Project::new())
}

impl Project {
    fn new() -> Self {
        let (mark, folder) = fresh_mark();
        Self { mark, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn launch(&self, args: &[&str]) -> Launch {
        self.isolate(launch(args))
    }

    /// Gives a server its own leases and logs, and the mark of the project.
    fn isolate(&self, launch: Launch) -> Launch {
        let path = |name| self.path(name).display().to_string();
        launch
            .workspace(self.folder.path())
            .env(MARK, &self.mark)
            .env("XDG_CACHE_HOME", &path("cache"))
            .env("XDG_STATE_HOME", &path("state"))
    }

    /// Starts the server with one app and this command line.
    async fn serve(&self, command: &str, args: &[&str]) -> Client {
        let args = [&["--server-command", command], args].concat();
        self.launch(&args).start().await
    }

    /// Returns the processes of the project, without servers and their browsers.
    fn apps(&self) -> Vec<String> {
        let pids = ProcessStats::take(&self.mark, Depth::Quick);
        let lines = pids.pids().map(|pid| command_line(pid).join(" "));
        lines
            .filter(|line| !line.is_empty())
            .filter(|line| {
                let ours = ["--headless", "chrom", "playhouse-guard"];
                !ours.iter().any(|part| line.contains(part))
            })
            .collect()
    }

    async fn no_app_runs(&self) {
        eventually(async || match self.apps() {
            left if left.is_empty() => Ok(()),
            left => Err(format!("left over: {left:#?}")),
        })
        .await;
    }

    /// A command in shell; `$1` is the option, `$site` the site.
    fn script(&self, site: &Site, script: &str) -> String {
        let path = self.path("server.sh");
        let script = format!("site={}\n{script}", site.base_url());
        fs::write(path, script).expect("it can be written");
        "sh server.sh".to_owned()
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        // Cleans up after a failed test.
        for pid in ProcessStats::take(&self.mark, Depth::Quick).pids() {
            kill_if_there(pid);
        }
    }
}

fn kill_if_there(pid: u32) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid.cast_signed()) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

/// Returns `playhouse app` with an app that misbehaves in this way.
fn misbehaving_app_path(how: &str) -> String {
    let script = misbehaving_app();
    let script = script.display();
    format!("'{PROGRAM}' app --name crooked -- node '{script}' {how}")
}

async fn failed(client: &Client, tool: &str, arguments: Value) -> Value {
    let answer = client.call(tool, arguments).await;
    assert!(answer.is_error, "{tool}: {}", answer.text);
    object(&answer)
}

fn object(answer: &CallResult) -> Value {
    let object = answer.raw.get("structuredContent").cloned();
    object.expect("it answers with an object")
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    let text = value.pointer(pointer).and_then(Value::as_str);
    text.unwrap_or_else(|| panic!("{pointer} in {value:#}"))
}

#[testkit::test(chromium, node)]
async fn an_app_is_started_shown_restarted_and_stopped_with_its_session() {
    let command = misbehaving_app_path("--own-port");
    let project = Project::new();
    let client = project.serve(&command, &[]).await;
    let started = client
        .success("e2e_start", json!({ "url": "/slow?ms=1" }))
        .await;
    let id = text(&started, "/sessionId").to_owned();
    assert_eq!(started["status"], "ready");
    let home = text(&started, "/url").trim_end_matches('/').to_owned();
    assert_eq!(text(&started, "/page/url"), format!("{home}/slow?ms=1"));
    for log in ["stdout", "stderr", "combined"] {
        assert!(Path::new(text(&started, &format!("/logs/{log}"))).is_file());
    }
    // Calls without a session use it; a path is relative to the app, for every tool that navigates.
    assert_eq!(text(&started, "/name"), "app");
    let unnamed = client
        .call("browser_navigate", json!({ "url": "/pid" }))
        .await;
    assert!(
        unnamed.text.contains(&format!("{home}/pid")),
        "{}",
        unnamed.text
    );
    let at = json!({ "url": "/pid", "sessionId": "app" });
    let first = client.success("navigate", at.clone()).await;
    assert_eq!(text(&first, "/url"), format!("{home}/pid"));
    let shown = client.call("browser_navigate", at).await;
    assert!(!shown.is_error, "{}", shown.text);
    let pid = || client.success("get_text", json!({ "selector": "body", "sessionId": id }));
    let before = pid().await;
    // On a new port, the page follows its server.
    let restarted = client.success("e2e_restart", json!({})).await;
    assert_eq!(restarted["previousPid"], started["pid"]);
    assert_ne!(restarted["port"], started["port"]);
    let moved = format!("{}/pid", text(&restarted, "/url").trim_end_matches('/'));
    assert_eq!(text(&restarted, "/page/url"), moved);
    assert_ne!(pid().await, before);
    let status = client.success("e2e_status", json!({})).await;
    assert_eq!(text(&status, "/servers/0/status"), "running");
    assert_eq!(status["servers"][0]["healthy"], true);
    // With two sessions, a call must name one.
    let second = client.success("e2e_start", json!({})).await;
    assert_eq!(text(&second, "/name"), "app-2");
    let unclear = failed(&client, "get_text", json!({ "selector": "body" })).await;
    assert_eq!(unclear["details"]["sessions"], json!(["app", "app-2"]));
    client
        .success("e2e_stop", json!({ "sessionId": "app-2" }))
        .await;
    let stopped = client.success("e2e_stop", json!({ "sessionId": id })).await;
    assert_eq!(text(&stopped, "/servers/0/status"), "stopped");
    project.no_app_runs().await;
    // Then the default session is used again.
    let home = client
        .success("navigate", json!({ "url": "about:blank" }))
        .await;
    assert_eq!(text(&home, "/url"), "about:blank");
    let gone = failed(&client, "navigate", json!({ "url": "/", "sessionId": id })).await;
    assert_eq!(gone["errorCode"], "SESSION_NOT_FOUND");
    assert!(client.end().await.success());
}

#[testkit::test(chromium, node)]
async fn a_failure_shows_the_page_and_the_server() {
    let command = misbehaving_app_path("");
    let project = Project::new();
    let client = project.serve(&command, &[]).await;
    let started = client.success("e2e_start", json!({})).await;
    let id = text(&started, "/sessionId").to_owned();
    let with_id = |mut arguments: Value| {
        arguments["sessionId"] = id.clone().into();
        arguments
    };
    // The tool succeeds, but the app fails.
    let save = with_id(json!({ "selector": "text=Save" }));
    let saved = client.success("click", save).await;
    assert!(
        text(&saved, "/appErrors/first").ends_with("/save 500"),
        "{saved:#}"
    );
    let save = with_id(json!({ "target": "text=Save" }));
    let saved = client.call("browser_click", save).await;
    let events = saved.section("Events").unwrap_or_default();
    assert!(
        events.contains("The app failed") && events.contains("/save 500"),
        "{}",
        saved.text
    );
    // Without a failure, no evidence is added.
    let look = client.call("browser_snapshot", with_id(json!({}))).await;
    assert!(look.section("Events").is_none(), "{}", look.text);

    let throws = "async () => {
        await fetch('/log?line=about%20to%20fail');
        console.error('lost');
        await fetch('/save');
        throw new Error('no');
    }";
    let throws = with_id(json!({ "function": throws }));
    let failure = client.call("browser_evaluate", throws).await;
    assert!(failure.is_error);
    let evidence = failure.section("Evidence").unwrap_or_default();
    for part in [
        "Page URL: ",
        "Screenshot](",
        "playwright:///screenshot/",
        "Console: [ERROR] lost",
        "Failed request: GET ",
        // An error without a failed tool is reported with the next failure, including its stack.
        "Before, with browser_click at ",
        "/save 500. The server logged:\n```\nError: cannot save",
        "    at ",
    ] {
        assert!(evidence.contains(part), "{part} in {}", failure.text);
    }
    let server = failure.section("Server app").unwrap_or_default();
    for part in [
        "running, healthy",
        "about to fail",
        "cannot save",
        "combined.log",
    ] {
        assert!(server.contains(part), "{part} in {}", failure.text);
    }
    let facts = object(&failure);
    assert_eq!(facts["errorCode"], "SCRIPT_FAILED");
    let picture = json!({ "uri": text(&facts, "/evidence/screenshot/uri") });
    let picture = client
        .request("resources/read", picture)
        .await
        .expect("it is a resource");
    assert_eq!(text(&picture, "/contents/0/mimeType"), "image/png");

    let missing = with_id(json!({ "selector": "#nowhere", "timeout": 100 }));
    let missing = failed(&client, "click", missing).await;
    assert_eq!(missing["errorCode"], "ELEMENT_NOT_FOUND");
    let server = &missing["evidence"]["servers"][0];
    assert_eq!(server["status"], "running");
    // Reported errors are not repeated, and a healthy server has only facts that can change.
    assert!(missing["evidence"]["console"].is_null(), "{missing:#}");
    assert!(missing["evidence"]["earlier"].is_null(), "{missing:#}");
    assert!(server["url"].is_null() && server["pid"].is_null());
    assert_eq!(
        server["logs"].as_object().map(serde_json::Map::len),
        Some(1)
    );
    // A server cannot be the cause of an ambiguous selector.
    let ambiguous = with_id(json!({ "selector": "button" }));
    let ambiguous = failed(&client, "click", ambiguous).await;
    assert_eq!(ambiguous["errorCode"], "ELEMENT_AMBIGUOUS");
    assert!(ambiguous["evidence"].is_null(), "{ambiguous:#}");

    // A server that has ended is named as the cause.
    let die = with_id(json!({ "url": "/die" }));
    let died = failed(&client, "navigate", die).await;
    assert_eq!(died["errorCode"], "DEV_SERVER_FAILED", "{died:#}");
    assert_eq!(died["details"]["exitCode"], 7);
    assert!(text(&died, "/details/log").contains("Error"), "{died:#}");
    assert_eq!(
        text(&died, "/details/consequence/errorCode"),
        "NAVIGATION_FAILED"
    );
    let errors = client.success("e2e_errors", json!({})).await;
    let kinds: Vec<_> = errors["errors"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|error| text(error, "/kind"))
        .collect();
    assert_eq!(&kinds[..2], ["request", "request"], "{errors:#}");
    for kind in ["tool", "console", "server"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    // What a server logs may reach its log after the end of the call: then it is part of the next error.
    let logs = [&errors["errors"][0]["log"], &errors["errors"][1]["log"]];
    assert!(
        logs.iter()
            .any(|log| log.to_string().contains("cannot save")),
        "{errors:#}"
    );
    let times: Vec<_> = errors["errors"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|error| text(error, "/time"))
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    // A killed server too.
    let restarted = client.success("e2e_restart", json!({})).await;
    assert_eq!(restarted["page"]["status"], 200, "{restarted:#}");
    kill(u32::try_from(restarted["pid"].as_u64().expect("a pid")).expect("a pid"));
    let at = with_id(json!({ "url": "/count" }));
    let killed = failed(&client, "navigate", at).await;
    assert_eq!(killed["errorCode"], "DEV_SERVER_FAILED", "{killed:#}");
    assert!(text(&killed, "/message").contains("signal 9"), "{killed:#}");
    // The session continues after a restart.
    let restarted = client.success("e2e_restart", json!({})).await;
    assert_eq!(restarted["page"]["status"], 200, "{restarted:#}");
    assert!(client.end().await.success());
    project.no_app_runs().await;
}

#[testkit::test(chromium, node)]
async fn an_app_that_crashes_under_a_watcher_is_the_cause() {
    let script = misbehaving_app();
    let project = Project::new();
    let line = format!("node '{}'; sleep 1000008", script.display());
    let command = format!("'{PROGRAM}' app --name watched -- \"{line}\"");
    let client = project.serve(&command, &[]).await;
    let started = client.success("e2e_start", json!({})).await;
    let die = json!({ "url": "/die", "sessionId": started["sessionId"] });
    let died = failed(&client, "navigate", die).await;
    assert_eq!(died["errorCode"], "DEV_SERVER_FAILED", "{died:#}");
    assert!(text(&died, "/message").contains("nothing listens at "));
    assert!(text(&died, "/details/log").contains("killed by a request"));
    assert!(text(&died, "/suggestion").contains("e2e_restart"));
    // The page was closed with it.
    let click =
        json!({ "selector": "text=Save", "timeout": 100, "sessionId": started["sessionId"] });
    let click = failed(&client, "click", click).await;
    assert_eq!(click["errorCode"], "DEV_SERVER_FAILED", "{click:#}");
    let restarted = client.success("e2e_restart", json!({})).await;
    assert_eq!(restarted["page"]["status"], 200, "{restarted:#}");
    assert!(client.end().await.success());
    project.no_app_runs().await;
}

#[testkit::test(chromium, node)]
#[cfg(target_os = "linux")]
async fn an_app_that_does_not_respond_is_the_cause() {
    let project = Project::new();
    let client = project.serve(&misbehaving_app_path(""), &[]).await;
    let started = client.success("e2e_start", json!({})).await;
    let with_id = |url: &str| json!({ "url": url, "sessionId": started["sessionId"] });
    client.success("navigate", with_id("/hang")).await;
    // The reason was logged before the last call, and no answer has shown it.
    client.success("navigate", with_id("about:blank")).await;
    let hung = failed(&client, "navigate", with_id("/")).await;
    assert_eq!(hung["errorCode"], "DEV_SERVER_FAILED", "{hung:#}");
    assert!(text(&hung, "/message").contains("does not respond"));
    let server = &hung["evidence"]["servers"][0];
    assert_eq!(server["status"], "unhealthy", "{hung:#}");
    assert!(text(server, "/log").contains("the worker has exited"));
    let hung = failed(
        &client,
        "click",
        json!({ "selector": "#nowhere", "timeout": 100, "sessionId": started["sessionId"] }),
    )
    .await;
    assert!(hung["evidence"]["servers"][0]["log"].is_null(), "{hung:#}");
    let restarted = client.success("e2e_restart", json!({})).await;
    assert_eq!(restarted["page"]["status"], 200, "{restarted:#}");
    assert!(client.end().await.success());
    project.no_app_runs().await;
}

#[testkit::test(chromium, node)]
async fn sessions_share_a_server_which_stops_with_the_last_of_them() {
    let command = misbehaving_app_path("");
    let project = Project::new();
    let client = project.serve(&command, &[]).await;
    let first = client.success("e2e_start", json!({})).await;
    let second = client.success("e2e_start", json!({})).await;
    assert_eq!(second["status"], "already_running");
    assert_eq!(second["pid"], first["pid"]);
    // With two sessions, the call is ambiguous.
    let unclear = failed(&client, "e2e_errors", json!({})).await;
    assert_eq!(
        unclear["details"]["sessions"].as_array().map(Vec::len),
        Some(2)
    );
    let stop = |started: &Value| json!({ "sessionId": started["sessionId"] });
    let stopped = client.success("e2e_stop", stop(&first)).await;
    assert_eq!(text(&stopped, "/servers/0/status"), "shared");
    let at = json!({ "url": "/count", "sessionId": second["sessionId"] });
    client.success("navigate", at).await;
    // However the last one ends.
    client.success("close_session", stop(&second)).await;
    project.no_app_runs().await;
}

#[testkit::test(chromium, node)]
async fn an_unused_app_is_stopped() {
    let command = misbehaving_app_path("");
    let project = Project::new();
    let idle = ["--server-idle-timeout", "1500", "--session-expiry", "fixed"];
    let client = project.serve(&command, &idle).await;
    let started = client.success("e2e_start", json!({})).await;
    project.no_app_runs().await;
    let late = json!({ "url": "/", "sessionId": started["sessionId"] });
    let late = failed(&client, "navigate", late).await;
    assert_eq!(late["errorCode"], "SESSION_EXPIRED");
}

#[testkit::test(chromium, node)]
async fn the_app_ends_however_the_server_ends() {
    let command = misbehaving_app_path("");
    let project = Project::new();
    let client = project.serve(&command, &[]).await;
    client.success("e2e_start", json!({})).await;
    assert!(!project.apps().is_empty());
    assert!(client.end().await.success());
    project.no_app_runs().await;

    let mut client = project.serve(&command, &[]).await;
    client.success("e2e_start", json!({})).await;
    client.terminate();
    assert!(client.exit_status().await.success());
    project.no_app_runs().await;

    // A killed server cannot clean up; the app's supervisor detects that.
    let mut client = project.serve(&command, &[]).await;
    client.success("e2e_start", json!({})).await;
    kill(client.pid().expect("it runs"));
    client.exit_status().await;
    project.no_app_runs().await;
}

#[testkit::test(chromium, node)]
async fn an_app_of_two_servers_ends_with_the_second() {
    let command = misbehaving_app_path("");
    let project = Project::new();
    let (first, second) = tokio::join!(project.serve(&command, &[]), project.serve(&command, &[]));
    let (one, two) = tokio::join!(
        first.success("e2e_start", json!({})),
        second.success("e2e_start", json!({})),
    );
    assert_eq!(one["pid"], two["pid"]);
    assert!(first.end().await.success());
    let at = json!({ "url": "/count", "sessionId": two["sessionId"] });
    second.success("navigate", at).await;
    // A new server takes over the leases of a killed one.
    let mut second = second;
    kill(second.pid().expect("it runs"));
    second.exit_status().await;
    let third = project.serve(&command, &[]).await;
    third.success("e2e_start", json!({})).await;
    let stopped = third.success("e2e_stop", json!({})).await;
    assert_eq!(text(&stopped, "/servers/0/status"), "stopped");
    project.no_app_runs().await;
}

#[testkit::test(node)]
async fn a_cancelled_start_leaves_no_process() {
    let command = misbehaving_app_path("--hang");
    let project = Project::new();
    let client = project
        .serve(&command, &["--server-start-timeout", "3000"])
        .await;
    let start = json!({ "name": "e2e_start", "arguments": {} });
    let pending = client.begin("tools/call", start).await;
    eventually(async || !project.apps().is_empty()).await;
    let cancelled = json!({ "requestId": pending.id() });
    client.notify("notifications/cancelled", cancelled).await;
    project.no_app_runs().await;
    assert!(client.end().await.success());
}

#[testkit::test(chromium, node)]
async fn a_failed_shutdown_leaves_no_process() {
    let (site, project) = site_and_project().await;
    let command = project.script(
        &site,
        r#"case $1 in
  --start) setsid sleep 1000005 > app.log 2>&1 &
    echo "{\"status\":\"ready\",\"url\":\"$site\",\"pid\":$!,\"logs\":{\"combined\":\"app.log\"}}" ;;
  --status) echo "{\"status\":\"running\",\"url\":\"$site\",\"pid\":1}" ;;
  *) echo '{"status":"error","message":"out of order"}'; exit 1 ;;
esac"#,
    );
    let client = project.serve(&command, &[]).await;
    client.success("e2e_start", json!({})).await;
    assert!(!project.apps().is_empty());
    let stopped = failed(&client, "e2e_stop", json!({})).await;
    assert_eq!(stopped["errorCode"], "DEV_SERVER_FAILED");
    assert!(text(&stopped, "/message").contains("out of order"));
    project.no_app_runs().await;
    let status = failed(&client, "e2e_errors", json!({})).await;
    assert_eq!(
        status["errorCode"], "SESSION_NOT_FOUND",
        "the session is closed all the same"
    );
}

#[testkit::test(chromium, node)]
async fn an_app_with_two_logs_and_no_combined_one_is_read_from_both() {
    let (site, project) = site_and_project().await;
    let command = project.script(
        &site,
        r#"case $1 in
  --start) setsid sleep 1000006 > /dev/null 2>&1 &
    echo $! > app.pid; echo served > out.log; echo "Error: no table" > err.log
    echo "{\"status\":\"ready\",\"url\":\"$site\",\"pid\":$!,\"logs\":{\"stdout\":\"out.log\",\"stderr\":\"err.log\"}}" ;;
  --status) echo "{\"status\":\"running\",\"url\":\"$site\",\"pid\":$(cat app.pid)}" ;;
  *) kill $(cat app.pid); echo '{"status":"stopped"}' ;;
esac"#,
    );
    let client = project.serve(&command, &[]).await;
    client.success("e2e_start", json!({})).await;
    let logs = client.success("e2e_logs", json!({})).await;
    let both = "[stdout]\nserved\n[stderr]\nError: no table";
    assert_eq!(text(&logs, "/log"), both, "{logs:#}");
    let path = text(&logs, "/path");
    assert!(
        path.contains("out.log, ") && path.ends_with("err.log"),
        "{path}"
    );
    let search = json!({ "search": "table" });
    let logs = client.success("e2e_logs", search).await;
    assert_eq!(text(&logs, "/log"), "[stderr]\nError: no table", "{logs:#}");
    assert_eq!(logs["matches"], 1);
    for (log, line) in [("err.log", "Error: again"), ("out.log", "served again")] {
        let mut file = fs::OpenOptions::new().append(true).open(project.path(log));
        writeln!(file.as_mut().expect("a log"), "{line}").expect("it can be written");
        let pattern = json!({ "pattern": line });
        let waited = client.success("wait_for_server_log", pattern).await;
        assert_eq!(waited["line"], line);
    }
    let refused = failed(&client, "e2e_logs", json!({ "offset": 3 })).await;
    assert_eq!(refused["errorCode"], "INVALID_PARAMETERS", "{refused:#}");
    client.success("e2e_stop", json!({})).await;
}

#[testkit::test(chromium, node)]
async fn a_real_app_with_its_api_is_tested_from_end_to_end() {
    let app = NotesApp::copy();
    let project = Project::new();
    let folder = app.folder().display().to_string();
    let server = |name: &str, script: &str, requires: &[&str]| {
        json!({
            "command": PROGRAM,
            "args": ["app", "--name", name, "--", script],
            "cwd": folder,
            "requires": requires,
        })
    };
    let config = json!({
        "devServers": {
            "api": server("api", "npm run api", &[]),
            "web": server("web", "API_URL=$PLAYHOUSE_URL_API npm run dev", &["api"]),
        },
    });
    let file = project.path("playhouse.json");
    fs::write(&file, config.to_string()).expect("it can be written");
    let file = file.display().to_string();
    let client = project.launch(&["--config", &file]).start().await;
    let started = client.success("e2e_start", json!({})).await;
    let id = text(&started, "/sessionId").to_owned();
    assert_eq!(text(&started, "/servers/0/name"), "api", "{started:#}");
    let page = |mut arguments: Value| {
        arguments["sessionId"] = id.clone().into();
        arguments
    };
    let tree = text(&started, "/snapshot");
    assert!(
        tree.contains("Sign up") || tree.contains("sign up"),
        "{tree}"
    );
    // One server serves the page, another one its data; a change of the source is shown without a reload.
    app.set_title("Remarks");
    let seen = page(json!({ "selector": "text=Remarks" }));
    client.success("wait_for_selector", seen).await;
    for (name, value) in [("name", "grace"), ("password", "hopper")] {
        let selector = format!("input[name={name}]");
        let fill = page(json!({ "selector": selector, "value": value }));
        client.success("fill", fill).await;
    }
    let sign_up = page(json!({ "selector": "text=Sign up" }));
    let signed_up = client.success("click", sign_up).await;
    assert!(signed_up["appErrors"].is_null(), "{signed_up:#}");
    // The cause of its failure is in the log of the other server.
    let export = page(json!({ "selector": "text=Export" }));
    let exported = client.success("click", export).await;
    assert!(
        text(&exported, "/appErrors/first").ends_with(" 500"),
        "{exported:#}"
    );
    let broken = json!({ "server": "api", "stream": "stderr", "sinceLastCall": true });
    // The server writes it after its response.
    eventually(async || {
        let broken = client.success("e2e_logs", broken.clone()).await;
        text(&broken, "/log").contains("    at ")
    })
    .await;
    let api = json!({ "server": "api" });
    assert!(text(&client.success("e2e_logs", api).await, "/path").ends_with(".log"));
    assert!(client.end().await.success());
    project.no_app_runs().await;
}
