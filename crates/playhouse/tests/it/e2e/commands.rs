//! Selecting the server command of an app, and errors of invalid ones.

use super::*;

#[testkit::test(node)]
async fn without_a_command_there_are_no_tools_for_an_app() {
    let client = launch(&[]).start().await;
    let tools = client.list_tools().await;
    let names: Vec<_> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert!(
        names.contains(&"create_session") && !names.contains(&"e2e_start"),
        "{names:?}"
    );
    let refused = failed(&client, "e2e_start", json!({})).await;
    assert_eq!(refused["errorCode"], "DEV_SERVER_NOT_CONFIGURED");
    assert!(text(&refused, "/suggestion").contains("--server-command"));
}

#[testkit::test(node)]
async fn errors_of_a_server_command_are_reported() {
    let site = Site::start().await;
    let project = Project::new();
    // The browser is invalid on purpose: none of them gets so far.
    for (mode, code, reply) in [
        ("error", "DEV_SERVER_FAILED", "the app ended with code 1"),
        ("silent", "DEV_SERVER_FAILED", "printed nothing on stdout"),
        ("no-json", "DEV_SERVER_FAILED", "printed no JSON object"),
        ("no-json-fails", "DEV_SERVER_FAILED", "exit code 127"),
        ("cut-off", "DEV_SERVER_FAILED", "printed no JSON object"),
        ("no-url", "DEV_SERVER_FAILED", "reported no \"url\""),
        (
            "no-status",
            "DEV_SERVER_FAILED",
            "no JSON object with a \"status\"",
        ),
        (
            "wrong-types",
            "DEV_SERVER_FAILED",
            "\"port\" is \"the usual\"",
        ),
        ("wrong-port", "DEV_SERVER_FAILED", "\"port\" is 70000"),
        ("wrong-url", "DEV_SERVER_FAILED", "\"url\" is \"not a url\""),
        (
            "wrong-status",
            "DEV_SERVER_FAILED",
            "one of: ready, already_running",
        ),
        (
            "other-status",
            "DEV_SERVER_FAILED",
            "the status \"stopped\"",
        ),
        (
            "dead-port@--start",
            "DEV_SERVER_FAILED",
            "nothing listens on http://127.0.0.1:1",
        ),
        (
            "ready-fails",
            "DEV_SERVER_FAILED",
            "exit code 1: these contradict each other",
        ),
        (
            "error-succeeds",
            "DEV_SERVER_FAILED",
            "it failed, says the text",
        ),
        ("binary", "DEV_SERVER_FAILED", "printed no JSON object"),
        ("endless", "DEV_SERVER_FAILED", "printed more than"),
        (
            "endless-stderr@--start",
            "DEV_SERVER_TIMEOUT",
            "did not answer --start within 1000 ms",
        ),
        (
            "never@--start",
            "DEV_SERVER_TIMEOUT",
            "did not answer --start within 1000 ms",
        ),
        (
            "never-stubborn@--start",
            "DEV_SERVER_TIMEOUT",
            "did not answer --start",
        ),
        ("killed", "DEV_SERVER_FAILED", "signal: 9"),
    ] {
        let command = format!(
            "'{}' {mode} {}",
            broken_command().display(),
            site.base_url()
        );
        let limits = [
            "--server-start-timeout=1000",
            "--server-shutdown-timeout=1000",
        ];
        let client = project.serve(&command, &limits).await;
        let error = failed(&client, "e2e_start", json!({})).await;
        assert_eq!(text(&error, "/errorCode"), code, "{mode}: {error:#}");
        assert!(
            text(&error, "/message").contains(reply),
            "{mode}: {error:#}"
        );
        assert!(error["suggestion"].is_string());
        if mode.starts_with("never@") {
            assert_eq!(text(&error, "/details/stderr"), "waiting for the database");
        }
        assert!(client.end().await.success());
        // Neither the command nor its processes continue to run.
        project.no_app_runs().await;
    }
}

#[testkit::test(chromium, node)]
async fn unusual_answers_of_a_server_command_are_accepted() {
    let site = Site::start().await;
    site.add_page("/", "<title>Odd</title>");
    let project = Project::new();
    for (mode, status) in [
        ("chatty", "ready"),
        ("pretty", "ready"),
        ("extra-fields", "ready"),
        ("no-message", "ready"),
        ("no-logs", "ready"),
        ("warning", "ready"),
        ("two", "ready"),
        ("byte-order-mark", "ready"),
        ("already", "already_running"),
        ("held-open@--start", "ready"),
    ] {
        let command = format!(
            "'{}' {mode} {}",
            broken_command().display(),
            site.base_url()
        );
        let client = project.serve(&command, &[]).await;
        let started = client.success("e2e_start", json!({})).await;
        assert_eq!(text(&started, "/status"), status, "{mode}");
        assert_eq!(text(&started, "/page/title"), "Odd", "{mode}");
        assert!(client.end().await.success());
    }
}

#[testkit::test(node)]
async fn the_environment_configures_the_start_of_an_app() {
    let site = Site::start().await;
    site.add_page("/", "<title>Here</title>");
    let project = Project::new();
    // A path with a space is one word.
    let path = project.path("my server.sh");
    let answers = r#"#!/bin/sh
case $1 in --start) sleep 1000006 ;; --status) echo '{"status":"stopped"}' ;; *) echo '{"status":"stopped"}' ;; esac"#;
    fs::write(&path, answers).expect("it can be written");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&path, executable).expect("it is ours");
    let path = path.display().to_string();
    let launch = project.launch(&[]).env("SERVER_COMMAND_PATH", &path);
    let launch = launch.env("PLAYHOUSE_SERVER_START_TIMEOUT", "300");
    let client = launch.start().await;
    let status = client.success("e2e_status", json!({})).await;
    assert_eq!(text(&status, "/servers/0/status"), "stopped");
    let late = failed(&client, "e2e_start", json!({})).await;
    assert_eq!(late["errorCode"], "DEV_SERVER_TIMEOUT");
    assert_eq!(late["details"]["limitMs"], 300);
    project.no_app_runs().await;
}

#[testkit::test(chromium, node)]
async fn a_command_that_is_the_app_itself_is_run_all_the_same() {
    let script = misbehaving_app();
    let script = format!("node '{}'", script.display());
    // One is known by its name, the other by its behaviour.
    for command in ["npm run dev", &script] {
        let project = Project::new();
        let package = json!({ "scripts": { "dev": script } });
        fs::write(project.path("package.json"), package.to_string()).expect("it can be written");
        let client = project.serve(command, &[]).await;
        let started = client.success("e2e_start", json!({})).await;
        assert_eq!(text(&started, "/page/title"), "Crooked", "{started:#}");
        let stopped = client.success("e2e_stop", json!({})).await;
        assert_eq!(text(&stopped, "/servers/0/status"), "stopped");
        project.no_app_runs().await;
        assert!(client.end().await.success());
    }
}

#[testkit::test(chromium, node)]
async fn an_app_that_starts_holds_up_no_other_session() {
    let (site, project) = site_and_project().await;
    let command = project.script(
        &site,
        r#"case $1 in
  --start) while [ ! -e go ]; do sleep 0.05; done; echo "{\"status\":\"ready\",\"url\":\"$site\"}" ;;
  *) echo '{"status":"stopped"}' ;;
esac"#,
    );
    let client = project.serve(&command, &[]).await;
    let start = json!({ "name": "e2e_start", "arguments": {} });
    let starting = client.begin("tools/call", start).await;
    let shown = client
        .call("browser_navigate", json!({ "url": site.base_url() }))
        .await;
    assert!(!shown.is_error, "{}", shown.text);
    // The app waits for this file.
    fs::write(project.path("go"), "").expect("it can be written");
    let started = starting.answer().await.expect("an answer");
    assert_ne!(started["isError"], true, "{started:#}");
}

#[testkit::test(chromium, node)]
async fn a_running_app_is_used_and_not_stopped() {
    let (site, project) = site_and_project().await;
    let config = json!({ "devServers": { "web": { "url": site.base_url() } } });
    let file = project.path("playhouse.json");
    fs::write(&file, config.to_string()).expect("it can be written");
    let file = file.display().to_string();
    let client = project.launch(&["--config", &file]).start().await;
    let started = client.success("e2e_start", json!({})).await;
    assert_eq!(text(&started, "/status"), "already_running");
    assert_eq!(text(&started, "/page/title"), "Here");
    let status = client.success("e2e_status", json!({})).await;
    assert_eq!(text(&status, "/servers/0/status"), "running");
    let refused = failed(&client, "e2e_restart", json!({})).await;
    assert!(
        text(&refused, "/message").contains("restart it where it runs"),
        "{refused:#}"
    );
    let stopped = client.success("e2e_stop", json!({})).await;
    assert_eq!(
        text(&stopped, "/servers/0/status"),
        "running",
        "{stopped:#}"
    );
    assert!(client.end().await.success());
    let nowhere = project.launch(&["--server-command", "http://127.0.0.1:1"]);
    let client = nowhere.start().await;
    let refused = failed(&client, "e2e_start", json!({})).await;
    assert!(
        text(&refused, "/message").contains("nothing listens on http://127.0.0.1:1"),
        "{refused:#}"
    );
}
