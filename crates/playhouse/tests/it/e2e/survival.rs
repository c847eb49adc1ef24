//! Lifetimes: sessions survive their servers and browsers, servers survive the pages, and neither outlives its last user.

use std::fs;

use serde_json::{Value, json};
use testkit::{Launch, Site, eventually};

use super::{PROGRAM, Project, failed, site_and_project, text};
use crate::faults::{browsers, kill};

/// A command whose app is an idle process: the site serves its page. It does not restart while the file `broken` exists.
const IDLE_APP: &str = r#"alive() { [ -f "$APP.pid" ] && kill -0 "$(cat "$APP.pid")" 2> /dev/null; }
start() { setsid sleep 1000007 > "$APP.log" 2>&1 & echo $! > "$APP.pid"; }
report() { echo "{\"status\":\"$1\",\"url\":\"$site\",\"pid\":$(cat "$APP.pid"),\"logs\":{\"combined\":\"$APP.log\"}}"; }
case $1 in
  --start) start; report ready ;;
  --restart) alive && kill "$(cat "$APP.pid")"
    [ -f broken ] && { rm "$APP.pid"; echo '{"status":"error","message":"it does not compile"}'; exit 1; }
    start; report restarted ;;
  --status) if alive; then report running; else echo '{"status":"stopped"}'; fi ;;
  *) alive && kill "$(cat "$APP.pid")"; echo '{"status":"stopped"}' ;;
esac"#;

#[testkit::test(chromium, node)]
async fn one_command_is_two_servers_by_its_environment() {
    let (site, project) = site_and_project().await;
    let command = project.script(&site, IDLE_APP);
    let server = |name: &str, requires: &[&str]| json!({ "command": command, "env": { "APP": name }, "requires": requires });
    let config =
        json!({ "devServers": { "api": server("api", &[]), "web": server("web", &["api"]) } });
    let file = project.path("playhouse.json");
    fs::write(&file, config.to_string()).expect("it can be written");
    let file = file.display().to_string();
    let client = project.launch(&["--config", &file]).start().await;
    client.success("e2e_start", json!({})).await;
    assert_eq!(project.apps().len(), 2, "{:#?}", project.apps());
    let stopped = client.success("e2e_stop", json!({})).await;
    for server in 0..2 {
        let status = format!("/servers/{server}/status");
        assert_eq!(text(&stopped, &status), "stopped", "{stopped:#}");
    }
    project.no_app_runs().await;
}

#[testkit::test(chromium, node)]
async fn apps_of_a_killed_server_are_stopped_by_the_next() {
    let (site, project) = site_and_project().await;
    let command = project.script(&site, IDLE_APP);
    let launch = project.launch(&["--server-command", &command]);
    let mut client = launch.env("APP", "app").start().await;
    client.success("e2e_start", json!({})).await;
    kill(client.pid().expect("it runs"));
    client.exit_status().await;
    assert!(!project.apps().is_empty(), "it has no supervisor");
    // Also by a server without an app of its own.
    let next = project.launch(&[]).env("APP", "app").start().await;
    project.no_app_runs().await;
    assert!(next.end().await.success());
}

#[testkit::test(chromium, node)]
async fn a_session_survives_its_server_and_its_browser() {
    let (site, project) = site_and_project().await;
    let command = project.script(&site, IDLE_APP);
    let client = project
        .launch(&["--server-command", &command, "--caps", "contexts"])
        .env("APP", "app")
        .start()
        .await;
    let started = client.success("e2e_start", json!({})).await;
    let with_id = |mut arguments: Value| {
        arguments["sessionId"] = started["sessionId"].clone();
        arguments
    };
    // A failed restart reports the reason and the state, also to a call without a session.
    fs::write(project.path("broken"), "").expect("it can be written");
    for arguments in [json!({}), with_id(json!({}))] {
        let broken = failed(&client, "e2e_restart", arguments).await;
        assert_eq!(broken["errorCode"], "DEV_SERVER_FAILED");
        assert!(
            text(&broken, "/message").contains("it does not compile"),
            "{broken:#}"
        );
        assert_eq!(
            text(&broken, "/evidence/servers/0/status"),
            "stopped",
            "{broken:#}"
        );
    }
    let errors = client.success("e2e_errors", json!({})).await;
    assert_eq!(text(&errors, "/errors/0/kind"), "server", "{errors:#}");
    fs::remove_file(project.path("broken")).expect("it is there");
    let restarted = client.success("e2e_restart", json!({})).await;
    assert_eq!(text(&restarted, "/page/title"), "Here");

    for browser in browsers(&client) {
        kill(browser);
    }
    let crashed = failed(&client, "get_text", with_id(json!({ "selector": "body" }))).await;
    assert_eq!(crashed["errorCode"], "BROWSER_CRASHED", "{crashed:#}");
    assert_eq!(text(&crashed, "/evidence/servers/0/status"), "running");
    let again = client
        .success("navigate", with_id(json!({ "url": "/" })))
        .await;
    assert_eq!(text(&again, "/title"), "Here");

    // A path is relative to the app in all contexts of the session.
    let other = client
        .call(
            "browser_context_create",
            with_id(json!({ "name": "other" })),
        )
        .await;
    assert!(!other.is_error, "{}", other.text);
    let there = client
        .success("navigate", with_id(json!({ "url": "/" })))
        .await;
    assert_eq!(text(&there, "/title"), "Here");

    // Waiting for the log of a server stops when the server has ended.
    let server = restarted["pid"]
        .as_u64()
        .and_then(|pid| pid.try_into().ok());
    kill(server.expect("the PID is reported"));
    let never = json!({ "pattern": "never", "timeout": 600_000 });
    let ended = failed(&client, "wait_for_server_log", never).await;
    assert_eq!(ended["errorCode"], "DEV_SERVER_FAILED", "{ended:#}");
    assert_eq!(text(&ended, "/details/consequence/errorCode"), "TIMEOUT");
    client.success("e2e_stop", json!({})).await;
    project.no_app_runs().await;
}

#[testkit::test(chromium, node)]
async fn pages_are_closed_before_their_server_is_stopped() {
    let site = Site::start().await;
    let project = Project::new();
    let app = r#"const fs = require("fs");
        let open = 0;
        const count = (by) => fs.writeFileSync("open", String((open += by)));
        const server = require("http").createServer((request, response) => {
          if (request.url !== "/live") {
            response.setHeader("content-type", "text/html");
            return response.end("<script>new EventSource('/live')</script>");
          }
          count(1);
          response.on("close", () => count(-1));
          response.writeHead(200, { "content-type": "text/event-stream" });
          response.write(":\n\n");
        });
        server.listen(0, "127.0.0.1", () => fs.writeFileSync("port", String(server.address().port)));"#;
    fs::write(project.path("app.cjs"), app).expect("it can be written");
    let command = project.script(
        &site,
        r#"case $1 in
  --start) setsid node app.cjs > app.log 2>&1 & echo $! > pid
    while [ ! -s port ]; do sleep 0.05; done
    echo "{\"status\":\"ready\",\"url\":\"http://127.0.0.1:$(cat port)\",\"pid\":$(cat pid)}" ;;
  --shutdown) for _ in $(seq 100); do
      [ "$(cat open)" = 0 ] && { kill "$(cat pid)"; echo '{"status":"stopped"}'; exit; }
      sleep 0.05
    done
    kill "$(cat pid)"; echo '{"status":"error","message":"a page is open"}'; exit 1 ;;
esac"#,
    );
    let client = project.serve(&command, &[]).await;
    client.success("e2e_start", json!({})).await;
    let open = project.path("open");
    eventually(async || fs::read_to_string(&open).is_ok_and(|open| open == "1")).await;
    let stopped = client.success("e2e_stop", json!({})).await;
    assert_eq!(text(&stopped, "/servers/0/status"), "stopped");
    project.no_app_runs().await;
}

/// The command of an app is run by another process of the same program.
#[testkit::test(chromium, node)]
async fn a_plain_command_starts_after_the_program_was_removed() {
    let project = Project::new();
    let program = project.path("playhouse");
    fs::copy(PROGRAM, &program).expect("it can be copied");
    let app =
        "require('http').createServer((_, answer) => answer.end('up')).listen(process.env.PORT)";
    fs::write(project.path("app.cjs"), app).expect("it can be written");
    let flags = ["--headless", "--isolated", "--toolsets=all"];
    let command = ["--server-command", "cd . && node app.cjs"];
    let launch = Launch::new(&program).args(flags).args(command);
    let client = project.isolate(launch).start().await;
    fs::remove_file(&program).expect("it is there");
    let started = client.success("e2e_start", json!({})).await;
    assert!(text(&started, "/snapshot").contains("up"), "{started}");
    client.success("e2e_stop", json!({})).await;
    project.no_app_runs().await;
    assert!(client.end().await.success());
}
