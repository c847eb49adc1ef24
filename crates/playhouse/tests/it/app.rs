//! Server commands: `playhouse app` with correct and misbehaving apps, and the commands of the documentation. After each test, none of its
//! processes runs.

mod logs;
mod project;
mod termination;

use std::fs;
use std::net::{Ipv4Addr, TcpListener};

use serde_json::json;
use testkit::{NotesApp, command_in_bash, command_in_node, eventually, misbehaving_app, tls_files};

use project::{Answer, Project, get, log, names, runs};

/// Checks the interface that every server command must implement: requirement 2 of S4.
async fn keeps_to_the_interface(project: &Project) {
    let stopped = project.ok("--status");
    assert_eq!(stopped["status"], "stopped");
    let ready = project.ok("");
    assert_eq!(ready["status"], "ready");
    let fields = [
        "status",
        "url",
        "port",
        "pid",
        "startedAt",
        "logs",
        "message",
    ];
    assert_eq!(names(&ready), fields);
    assert_eq!(ready["url"], format!("http://localhost:{}", ready["port"]));
    assert_eq!(names(&ready["logs"]), ["stdout", "stderr", "combined"]);
    assert_eq!(get(&ready, "/").0, 200);
    get(&ready, "/log?line=to+stdout");
    get(&ready, "/log?line=to+stderr&stream=stderr");
    eventually(async || {
        log(&ready, "stdout").contains("to stdout")
            && log(&ready, "stderr").contains("to stderr")
            && log(&ready, "combined").contains("to stdout\n")
            && log(&ready, "combined").contains("to stderr\n")
    })
    .await;
    assert!(!log(&ready, "stdout").contains("to stderr"));

    let again = project.ok("--start");
    assert_eq!(again["status"], "already_running");
    assert_eq!(
        (&again["pid"], &again["port"]),
        (&ready["pid"], &ready["port"])
    );

    let running = project.ok("--status");
    let fields = [
        "status",
        "url",
        "port",
        "pid",
        "startedAt",
        "uptime",
        "healthy",
        "logs",
        "message",
    ];
    assert_eq!(names(&running), fields);
    assert_eq!(
        (&running["status"], &running["healthy"]),
        (&json!("running"), &json!(true))
    );
    assert_eq!(running["startedAt"], ready["startedAt"]);
    assert!(running["uptime"].is_u64());

    let restarted = project.ok("--restart");
    assert_eq!(restarted["status"], "restarted");
    assert_ne!(restarted["pid"], ready["pid"]);
    assert_eq!(restarted["previousPid"], ready["pid"]);
    assert_eq!(restarted["previousPort"], ready["port"]);
    assert_eq!(get(&restarted, "/").0, 200);
    assert!(!runs(&ready["pid"]));

    let stopped = project.ok("--shutdown");
    let fields = [
        "status",
        "previousPid",
        "previousPort",
        "stoppedAt",
        "uptime",
        "message",
    ];
    assert_eq!(names(&stopped), fields);
    assert_eq!(stopped["status"], "stopped");
    assert_eq!(stopped["previousPid"], restarted["pid"]);
    project.assert_no_process_runs();
    let port = restarted["port"].as_u64().expect("a number");
    let port = u16::try_from(port).expect("a port");
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("the port is free");
    assert_eq!(project.ok("--status")["status"], "stopped");
    assert_eq!(project.ok("--shutdown")["status"], "stopped");
}

#[testkit::test(node)]
async fn an_app_is_started_checked_restarted_and_stopped() {
    let project = Project::misbehaving_app(&[], &[]);
    keeps_to_the_interface(&project).await;
}

#[testkit::test(node)]
async fn the_commands_of_the_documentation_keep_to_the_interface() {
    let script = misbehaving_app();
    for words in [
        vec!["bash".to_owned(), command_in_bash().display().to_string()],
        vec!["node".to_owned(), command_in_node().display().to_string()],
    ] {
        let mut project = Project::with_command(words);
        let app = |how: &str| ("APP".to_owned(), format!("node {} {how}", script.display()));
        project.env.push(app(""));
        keeps_to_the_interface(&project).await;
        project.env.push(app("--crash"));
        let failed = project.fails("--start");
        let message = failed["message"].as_str().unwrap_or_default();
        assert!(
            message.contains("cannot read the configuration"),
            "{failed}"
        );
        assert!(failed["error"].is_string(), "{failed}");
        project.assert_no_process_runs();
    }
}

#[testkit::test(node)]
fn start_errors_are_reported() {
    let script = misbehaving_app();
    let script = script.to_str().expect("a plain path");
    let crash = ["node", script, "--crash"];
    let hang = ["node", script, "--hang"];
    for (own, app, error, said) in [
        (
            &[][..],
            &crash[..],
            "START_FAILED",
            "ended with code 3 before it was ready. Its last output:\nError: cannot read the configuration\n    at ",
        ),
        (
            &[],
            &["node", script, "--exit-0"],
            "START_FAILED",
            "ended with code 0 before it was ready. Its last output:\nnothing to do",
        ),
        (
            &[],
            &["no-such-program"],
            "START_FAILED",
            "cannot start `no-such-program` in ",
        ),
        (
            &["--ready-timeout", "1500"],
            &hang,
            "START_TIMEOUT",
            "nothing listens on port ",
        ),
        (
            &["--ready-timeout", "1500", "--ready-pattern", "done in \\d+"],
            &hang,
            "START_TIMEOUT",
            "has not matched the pattern",
        ),
        (
            &["--ready-pattern", "("],
            &hang,
            "USAGE",
            "--ready-pattern (",
        ),
        (&[], &[], "USAGE", "playhouse app -- npm run dev"),
        (&["--port", "3000"], &crash, "USAGE", "write {port}"),
        (&["--nmae", "x"], &crash, "USAGE", "unknown option '--nmae'"),
        (&["--cwd", "/nowhere"], &crash, "USAGE", "--cwd /nowhere: "),
    ] {
        let project = Project::new(own, app);
        let failed = project.fails("--start");
        assert_eq!(failed["error"], error, "{failed}");
        let message = failed["message"].as_str().unwrap_or_default();
        assert!(message.contains(said), "{failed}");
        project.assert_no_process_runs();
    }
    let project = Project::new(&[], &crash);
    project.fails("--start");
    let after = project.ok("--status");
    assert_eq!(
        (&after["status"], &after["exitCode"]),
        (&json!("stopped"), &json!(3))
    );
    assert!(log(&after, "stderr").contains("cannot read the configuration"));
    assert_eq!(log(&after, "stdout"), "starting\n");
}

#[testkit::test(node)]
fn an_app_on_another_port_is_found() {
    for own in [
        &[][..],
        &["--ready-pattern", "listening on (?<url>\\S+)"],
        &["--ready-pattern", "127.0.0.1:(?<port>\\d+)"],
        &["--ready-pattern", "listening"],
    ] {
        let project = Project::misbehaving_app(own, &["--own-port"]);
        let ready = project.ok("--start");
        assert_eq!(get(&ready, "/").0, 200, "{ready}");
        assert_eq!(project.ok("--status")["status"], "running");
        project.ok("--shutdown");
        project.assert_no_process_runs();
    }
}

#[testkit::test(node)]
fn an_https_app_becomes_ready() {
    let (certificate, key) = tls_files();
    let script = format!(
        "const read = require('fs').readFileSync; \
         const options = {{ cert: read('{}'), key: read('{}') }}; \
         require('https').createServer(options, (_, answer) => answer.end('hi')).listen(process.env.PORT);",
        certificate.display(),
        key.display()
    );
    let project = Project::new(&[], &["node", "-e", &script]);
    let ready = project.ok("--start");
    assert_eq!(ready["url"], format!("https://localhost:{}", ready["port"]));
    assert_eq!(project.ok("--status")["status"], "running");
    project.ok("--shutdown");
    project.assert_no_process_runs();
}

#[testkit::test(node)]
fn the_port_is_passed_in_arguments_and_variables() {
    let script = misbehaving_app();
    let line = format!("API_PORT= PORT={{port}} exec node {}", script.display());
    let project = Project::new(&["--port-env", "API_PORT"], &[&line]);
    let ready = project.ok("--start");
    assert_eq!(get(&ready, "/").0, 200);
    let message = ready["message"].as_str();
    assert_eq!(message, Some("Server started"));
    project.ok("--shutdown");
    project.assert_no_process_runs();
}

#[testkit::test(node)]
fn an_app_that_fails_or_hangs_is_unhealthy() {
    let project = Project::misbehaving_app(&[], &["--fail-after", "1"]);
    project.ok("--start");
    let status = project.ok("--status");
    assert_eq!(
        (&status["status"], &status["healthy"]),
        (&json!("unhealthy"), &json!(false))
    );
    let message = status["message"].as_str().unwrap_or_default();
    assert!(message.contains("answers 500"), "{message}");
    assert_eq!(project.ok("--restart")["status"], "restarted");
    project.ok("--shutdown");
    project.assert_no_process_runs();
    let project = Project::misbehaving_app(&[], &["--hang-after", "1"]);
    project.ok("--start");
    let status = project.ok("--status");
    assert_eq!(status["status"], "unhealthy");
    let message = status["message"].as_str().unwrap_or_default();
    assert!(message.contains("does not answer"), "{message}");
    project.ok("--shutdown");
    project.assert_no_process_runs();
}

#[testkit::test(node)]
async fn an_occupied_port_is_not_used() {
    let script = misbehaving_app();
    // The test itself takes the port between its selection and the start of the app.
    let line = format!(
        "echo $PORT >> ports; while [ ! -e go ]; do sleep 0.02; done; exec node {}",
        script.display()
    );
    let project = Project::new(&[], &[&line]);
    let start = project.begin("--start");
    let first: u16 = eventually(async || {
        let ports = fs::read_to_string(project.path("ports")).ok()?;
        ports.trim().parse().ok()
    })
    .await;
    let ours = TcpListener::bind((Ipv4Addr::LOCALHOST, first)).expect("it is free");
    fs::write(project.path("go"), "").expect("it can be written");
    let ready = Answer::of(start);
    assert_eq!(ready.json["status"], "ready", "{}", ready.text);
    assert_ne!(ready.json["port"], first);
    assert_eq!(get(&ready.json, "/").0, 200);
    drop(ours);
    project.ok("--shutdown");
    project.assert_no_process_runs();

    // The previous port is in use, or the app reports that it is.
    let last = ready.json["port"].as_u64().expect("a number");
    let ours = TcpListener::bind((Ipv4Addr::LOCALHOST, u16::try_from(last).expect("a port")));
    assert_ne!(project.ok("--start")["port"], last);
    drop(ours);
    project.ok("--shutdown");
    let marker = project.path("tried");
    let taken = ["--taken", marker.to_str().expect("a plain path")];
    let project = Project::misbehaving_app(&[], &taken);
    assert_eq!(project.ok("--start")["status"], "ready");
    project.ok("--shutdown");
    project.assert_no_process_runs();
}

#[testkit::test(node)]
fn the_owner_of_an_occupied_port_is_named() {
    let ours = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a port");
    let port = ours.local_addr().expect("it is bound").port();
    let script = format!("require('http').createServer().listen({port}, '0.0.0.0')");
    let project = Project::new(&[], &["node", "-e", &script]);
    let failed = project.fails("--start");
    assert_eq!(failed["error"], "NO_PORT", "{failed}");
    let message = failed["message"].as_str().unwrap_or_default();
    assert!(
        message.starts_with(&format!("port {port} is in use by ")),
        "{message}"
    );
    assert!(
        message.contains(&format!("(pid {})", std::process::id())),
        "{message}"
    );
    // Another port would change nothing, so the app is started once, and its error is reported once.
    assert_eq!(message.matches("Error: listen").count(), 1, "{message}");
    assert_eq!(log(&failed, "stderr").matches("Error: listen").count(), 1);
    project.assert_no_process_runs();
}

#[testkit::test(node)]
async fn probes_are_not_in_the_log_of_the_app() {
    // A response that is not read to its end is an error of such a server.
    let script = "require('http').createServer((request, answer) => {
        console.log(request.method + ' ' + request.url);
        answer.on('close', () => answer.writableFinished || console.error('cut off'));
        answer.end('x'.repeat(4e6));
    }).listen(process.env.PORT)";
    let project = Project::new(&["--ready-path", "/login?next=/"], &["node", "-e", script]);
    let ready = project.ok("--start");
    for _ in 0..3 {
        assert_eq!(project.ok("--status")["status"], "running");
    }
    get(&ready, "/orders");
    eventually(async || log(&ready, "combined").contains("GET /orders\n")).await;
    project.ok("--shutdown");
    for name in ["stdout", "combined"] {
        assert_eq!(log(&ready, name), "GET /orders\n");
    }
    project.assert_no_process_runs();
}

#[testkit::test(node)]
async fn vite_and_express_run_side_by_side() {
    let notes = NotesApp::copy();
    let cwd = notes.folder().to_str().expect("a plain path").to_owned();
    let api = Project::new(&["--name", "api", "--cwd", &cwd], &["npm", "run", "api"]);
    let api_ready = api.ok("--start");
    let web = ["--name", "web", "--cwd", &cwd];
    let mut web = Project::new(&web, &["npm", "run", "dev", "--", "--port", "{port}"]);
    let api_url = api_ready["url"].as_str().expect("a URL").to_owned();
    web.env.push(("API_URL".to_owned(), api_url));
    let ready = web.ok("--start");
    assert_eq!(ready["message"], "Server started");
    assert!(get(&ready, "/").1.contains("/@vite/client"));
    // Through Vite to Express.
    assert_eq!(get(&ready, "/api/notes").0, 401);
    eventually(async || log(&api_ready, "stdout").contains("GET /api/notes")).await;
    let restarted = web.ok("--restart");
    assert!(get(&restarted, "/src/main.js").1.contains("sign-in"));
    web.ok("--shutdown");
    assert_eq!(api.ok("--status")["status"], "running");
    api.ok("--shutdown");
    web.assert_no_process_runs();
    api.assert_no_process_runs();
}
