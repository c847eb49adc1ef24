//! Server commands: `playhouse app` with apps that behave and apps that do not, and the commands of the documentation. After each test
//! nothing that it started runs any more.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::census::{Census, Depth, MARK, fresh_mark};
use testkit::{NotesApp, Processes, command_in_bash, command_in_node, crooked, tls_files};

/// A project with one server command, and the processes that came of it.
struct Project {
    mark: String,
    folder: TempDir,
    command: Vec<String>,
    env: Vec<(String, String)>,
}

/// What a server command printed, and how it ended.
struct Answer {
    json: Value,
    text: String,
    code: i32,
}

impl Project {
    /// With `playhouse app`, these arguments of its own, and these of the app.
    fn new(own: &[&str], app: &[&str]) -> Self {
        let dashes = (!app.is_empty()).then_some("--");
        let words = [env!("CARGO_BIN_EXE_playhouse"), "app"].into_iter();
        let words = words.chain(own.iter().copied()).chain(dashes);
        Self::with_command(
            words
                .chain(app.iter().copied())
                .map(str::to_owned)
                .collect(),
        )
    }

    /// With `playhouse app`, and an app that is crooked in this way.
    fn crooked(own: &[&str], how: &[&str]) -> Option<Self> {
        let script = crooked()?;
        let script = script.to_str().expect("a plain path");
        Some(Self::new(own, &[&["node", script], how].concat()))
    }

    fn with_command(command: Vec<String>) -> Self {
        let (mark, folder) = fresh_mark();
        let state = folder.path().join("state").display().to_string();
        fs::create_dir(folder.path().join("project")).expect("it can be made");
        Self {
            mark,
            folder,
            command,
            env: vec![
                ("XDG_STATE_HOME".to_owned(), state.clone()),
                ("STATE_DIR".to_owned(), state),
            ],
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("project").join(name)
    }

    /// Begins the command with an option at its end.
    fn begin(&self, option: &str) -> Child {
        #[expect(clippy::disallowed_methods, reason = "a test runs what it tests")]
        let mut command = Command::new(&self.command[0]);
        command
            .args(&self.command[1..])
            .args((!option.is_empty()).then_some(option))
            .current_dir(self.path("."))
            .env(MARK, &self.mark)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        command.spawn().expect("it starts")
    }

    fn run(&self, option: &str) -> Answer {
        Answer::of(self.begin(option))
    }

    /// The same, which must succeed.
    fn ok(&self, option: &str) -> Value {
        let answer = self.run(option);
        assert_eq!(answer.code, 0, "{option}: {}", answer.text);
        answer.json
    }

    /// The same, which must fail.
    fn fails(&self, option: &str) -> Value {
        let answer = self.run(option);
        assert_ne!(answer.code, 0, "{option}: {}", answer.text);
        assert_eq!(answer.json["status"], "error", "{}", answer.text);
        assert!(answer.json["message"].is_string(), "{}", answer.text);
        answer.json
    }

    /// The state, as the supervisor has written it.
    fn state_file(&self) -> PathBuf {
        let status = self.ok("--status");
        let log = Path::new(status["logs"]["combined"].as_str().expect("a path"));
        log.with_file_name("state.json")
    }

    fn state(&self) -> Value {
        let text = fs::read(self.state_file()).expect("there is one");
        serde_json::from_slice(&text).expect("JSON")
    }

    fn change_state(&self, change: impl FnOnce(&mut Value)) {
        let (path, mut state) = (self.state_file(), self.state());
        change(&mut state);
        fs::write(path, state.to_string()).expect("it can be written");
    }

    /// Asks for the status until it is this one.
    fn until(&self, status: &str) -> Value {
        let mut now = Value::Null;
        until(&format!("the status is {status}"), || {
            now = self.run("--status").json;
            now["status"] == status
        });
        now
    }

    fn nothing_runs(&self) {
        let pids: Vec<u32> = Census::take(&self.mark, Depth::Quick).pids().collect();
        let lines: Vec<_> = pids
            .iter()
            .map(|&pid| testkit::census::command_line(pid))
            .collect();
        assert!(pids.is_empty(), "{lines:?}");
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        // What a test that fails has left behind is nobody else's business.
        for pid in Census::take(&self.mark, Depth::Quick).pids() {
            kill(u64::from(pid));
        }
    }
}

impl Answer {
    fn of(command: Child) -> Self {
        let output = command.wait_with_output().expect("it ends");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        Self {
            json: serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}")),
            code: output.status.code().expect("it was not killed"),
            text,
        }
    }
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let limit = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < limit, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn pid_of(value: &Value) -> Pid {
    let raw = value.as_i64().expect("a number");
    Pid::from_raw(raw.try_into().expect("a process id")).expect("not 0")
}

/// One that has ended has no program any more, whether or not somebody has taken note.
fn runs(pid: &Value) -> bool {
    let pid = pid.as_u64().expect("a number");
    testkit::census::program(u32::try_from(pid).expect("a process id")).is_some()
}

fn kill(pid: u64) {
    let _ = kill_process(pid_of(&json!(pid)), Signal::KILL);
}

fn get(answer: &Value, path: &str) -> (u16, String) {
    let url = format!("{}{path}", answer["url"].as_str().expect("a URL"));
    let agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .build()
        .new_agent();
    let mut response = agent
        .get(&url)
        .call()
        .unwrap_or_else(|error| panic!("{url}: {error}"));
    let text = response.body_mut().read_to_string().expect("text");
    (response.status().as_u16(), text)
}

fn log(answer: &Value, name: &str) -> String {
    let path = answer["logs"][name].as_str().expect("a path");
    assert!(path.starts_with('/'), "{path}");
    fs::read_to_string(path).expect("it is there")
}

fn names(object: &Value) -> Vec<&str> {
    let object = object.as_object().expect("an object");
    object.keys().map(String::as_str).collect()
}

/// The interface, as every command must keep to it: requirement 2 of S4.
fn keeps_to_the_interface(project: &Project) {
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
    until("the lines are in the logs", || {
        log(&ready, "stdout").contains("to stdout")
            && log(&ready, "stderr").contains("to stderr")
            && log(&ready, "combined").contains("to stdout\n")
            && log(&ready, "combined").contains("to stderr\n")
    });
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
    project.nothing_runs();
    let port = restarted["port"].as_u64().expect("a number");
    let port = u16::try_from(port).expect("a port");
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("the port is free");
    assert_eq!(project.ok("--status")["status"], "stopped");
    assert_eq!(project.ok("--shutdown")["status"], "stopped");
}

#[test]
fn an_app_is_started_checked_restarted_and_stopped() {
    let Some(project) = Project::crooked(&[], &[]) else {
        return;
    };
    keeps_to_the_interface(&project);
}

#[test]
fn the_commands_of_the_documentation_keep_to_the_interface() {
    let Some(script) = crooked() else { return };
    for words in [
        vec!["bash".to_owned(), command_in_bash().display().to_string()],
        vec!["node".to_owned(), command_in_node().display().to_string()],
    ] {
        let mut project = Project::with_command(words);
        let app = |how: &str| ("APP".to_owned(), format!("node {} {how}", script.display()));
        project.env.push(app(""));
        keeps_to_the_interface(&project);
        project.env.push(app("--crash"));
        let failed = project.fails("--start");
        let message = failed["message"].as_str().unwrap_or_default();
        assert!(
            message.contains("cannot read the configuration"),
            "{failed}"
        );
        assert!(failed["error"].is_string(), "{failed}");
        project.nothing_runs();
    }
}

#[test]
fn what_goes_wrong_at_the_start_is_told() {
    let Some(script) = crooked() else { return };
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
        project.nothing_runs();
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

#[test]
fn an_app_that_is_not_where_it_was_told_is_found() {
    for own in [
        &[][..],
        &["--ready-pattern", "listening on (?<url>\\S+)"],
        &["--ready-pattern", "127.0.0.1:(?<port>\\d+)"],
        &["--ready-pattern", "listening"],
    ] {
        let Some(project) = Project::crooked(own, &["--own-port"]) else {
            return;
        };
        let ready = project.ok("--start");
        assert_eq!(get(&ready, "/").0, 200, "{ready}");
        assert_eq!(project.ok("--status")["status"], "running");
        project.ok("--shutdown");
        project.nothing_runs();
    }
}

#[test]
fn an_app_that_takes_only_what_is_encrypted_is_ready_too() {
    if crooked().is_none() {
        return;
    }
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
    project.nothing_runs();
}

#[test]
fn the_port_is_told_in_arguments_and_variables() {
    let Some(script) = crooked() else { return };
    let line = format!("API_PORT= PORT={{port}} exec node {}", script.display());
    let project = Project::new(&["--port-env", "API_PORT"], &[&line]);
    let ready = project.ok("--start");
    assert_eq!(get(&ready, "/").0, 200);
    let message = ready["message"].as_str();
    assert_eq!(message, Some("Server started"));
    project.ok("--shutdown");
    project.nothing_runs();
}

#[test]
fn whatever_an_app_has_started_ends_with_it() {
    for how in [
        &["--grandchild"][..],
        &["--grandchild", "--leave-group"],
        &["--orphan"],
        &["--orphan", "--leave-group"],
        &["--flood", "--ignore-term", "--grandchild", "--leave-group"],
    ] {
        let own = ["--stop-timeout", "300", "--log-limit", "10000"];
        let Some(project) = Project::crooked(&own, how) else {
            return;
        };
        let ready = project.ok("--start");
        assert_eq!(get(&ready, "/").0, 200, "{how:?}");
        assert_eq!(project.ok("--status")["status"], "running", "{how:?}");
        project.ok("--shutdown");
        project.nothing_runs();
    }
}

#[test]
fn what_hides_from_its_supervisor_ends_with_the_app() {
    let Some(script) = crooked() else { return };
    let name = fresh_mark().0;
    // Without a mark, in a session of its own, and nobody's child.
    let hidden = format!("env -i sh -c '(setsid sh -c \": {name}; sleep 1000\" & )'");
    let project = Project::new(&[], &[&format!("{hidden}; exec node {}", script.display())]);
    project.ok("--start");
    let hidden = || Processes::default().and_mentioning(&name).count();
    until("it runs", || hidden() > 0);
    project.ok("--shutdown");
    assert_eq!(hidden(), 0);
    project.nothing_runs();
}

#[test]
fn an_app_has_time_to_end_and_its_last_words_are_kept() {
    let Some(project) = Project::crooked(&[], &["--slow-term", "300"]) else {
        return;
    };
    let ready = project.ok("--start");
    project.ok("--shutdown");
    project.nothing_runs();
    assert!(log(&ready, "stdout").ends_with("closing\nclosed\n"));
}

#[test]
fn an_app_that_prints_without_end_fills_no_disk() {
    let own = ["--log-limit", "100000", "--stop-timeout", "300"];
    let Some(project) = Project::crooked(&own, &["--flood"]) else {
        return;
    };
    let ready = project.ok("--start");
    let path = ready["logs"]["combined"]
        .as_str()
        .expect("a path")
        .to_owned();
    until("the fourth log is full", || {
        Path::new(&format!("{path}.3")).exists()
    });
    assert_eq!(project.ok("--status")["status"], "running");
    project.ok("--shutdown");
    project.nothing_runs();
    let folder = Path::new(&path).parent().expect("it has one");
    for entry in fs::read_dir(folder).expect("it can be listed") {
        let entry = entry.expect("it can be listed");
        let size = entry.metadata().expect("it is there").len();
        assert!(size <= 100_000, "{entry:?} has {size} bytes");
    }
    assert!(!Path::new(&format!("{path}.4")).exists());
}

#[test]
fn a_log_that_cannot_grow_does_not_hold_up_the_app() {
    let Some(script) = crooked() else { return };
    // A file of more than 4096 bytes is refused, as on a full disk.
    let line = format!(
        "ulimit -f 8; exec {} app -- node {} \"$@\"",
        env!("CARGO_BIN_EXE_playhouse"),
        script.display()
    );
    let words = ["sh", "-c", &line, "sh"].map(str::to_owned);
    let project = Project::with_command(words.to_vec());
    let ready = project.ok("--start");
    for number in 0..20 {
        let padding = "x".repeat(400);
        assert_eq!(get(&ready, &format!("/log?line={number}{padding}")).0, 200);
    }
    until("the log is full", || log(&ready, "stdout").len() == 4096);
    assert_eq!(get(&ready, "/").0, 200);
    assert_eq!(project.ok("--status")["status"], "running");
    let restarted = project.ok("--restart");
    assert_eq!(get(&restarted, "/").0, 200);
    project.ok("--shutdown");
    project.nothing_runs();
}

#[test]
fn of_two_starts_at_once_one_starts() {
    let Some(project) = Project::crooked(&[], &["--slow", "300"]) else {
        return;
    };
    let both = [project.begin("--start"), project.begin("--start")].map(Answer::of);
    assert_eq!(both[0].json["pid"], both[1].json["pid"]);
    let mut status = both.map(|answer| answer.json["status"].as_str().map(str::to_owned));
    status.sort();
    assert_eq!(status.map(Option::unwrap), ["already_running", "ready"]);
    project.ok("--shutdown");
    project.nothing_runs();
}

#[test]
fn an_app_keeps_nothing_open_of_whoever_started_it() {
    let Some(script) = crooked() else { return };
    let line = format!(
        "exec 200>open; exec {} app -- node {} \"$@\"",
        env!("CARGO_BIN_EXE_playhouse"),
        script.display()
    );
    let words = ["bash", "-c", &line, "bash"].map(str::to_owned);
    let project = Project::with_command(words.to_vec());
    let ready = project.ok("--start");
    for process in [&project.state()["supervisor"]["pid"], &ready["pid"]] {
        assert!(Path::new(&format!("/proc/{process}/fd/1")).exists());
        assert!(!Path::new(&format!("/proc/{process}/fd/200")).exists());
    }
    project.ok("--shutdown");
    project.nothing_runs();
}

#[test]
fn a_shutdown_ends_a_start_that_is_under_way() {
    let Some(project) = Project::crooked(&[], &["--hang"]) else {
        return;
    };
    let start = project.begin("--start");
    let starting = project.until("unhealthy");
    assert_eq!(starting["message"], "Server is starting");
    project.ok("--shutdown");
    let start = Answer::of(start);
    assert_eq!((start.code, &start.json["error"]), (1, &json!("SHUT_DOWN")));
    project.nothing_runs();
}

#[test]
fn an_app_that_dies_is_told_with_its_last_words() {
    let Some(project) = Project::crooked(&[], &[]) else {
        return;
    };
    let ready = project.ok("--start");
    let agent = ureq::Agent::new_with_defaults();
    let died = agent
        .get(format!("{}/die", ready["url"].as_str().unwrap()))
        .call();
    assert!(died.is_err());
    let stopped = project.until("stopped");
    assert_eq!(stopped["exitCode"], 7);
    let message = stopped["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("it ended with code 7 at ")
            && message.contains("Error: killed by a request"),
        "{message}"
    );
    project.nothing_runs();

    let ready = project.ok("--start");
    kill(ready["pid"].as_u64().expect("a number"));
    let stopped = project.until("stopped");
    assert_eq!(stopped["signal"], 9);
    project.nothing_runs();
    assert_eq!(project.ok("--start")["status"], "ready");
    project.ok("--shutdown");
    project.nothing_runs();
}

#[test]
fn an_app_that_fails_or_hangs_is_unhealthy() {
    let Some(project) = Project::crooked(&[], &["--fail-after", "1"]) else {
        return;
    };
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
    project.nothing_runs();
    let Some(project) = Project::crooked(&[], &["--hang-after", "1"]) else {
        return;
    };
    project.ok("--start");
    let status = project.ok("--status");
    assert_eq!(status["status"], "unhealthy");
    let message = status["message"].as_str().unwrap_or_default();
    assert!(message.contains("does not answer"), "{message}");
    project.ok("--shutdown");
    project.nothing_runs();
}

#[test]
fn a_start_goes_on_when_whoever_asked_for_it_is_killed() {
    let Some(project) = Project::crooked(&[], &["--slow", "500"]) else {
        return;
    };
    let mut start = project.begin("--start");
    let starting = project.until("unhealthy");
    start.kill().expect("it runs");
    start.wait().expect("it ends");
    let ready = project.ok("--start");
    assert_eq!(ready["status"], "already_running");
    assert_eq!(ready["pid"], starting["pid"]);
    project.ok("--shutdown");
    project.nothing_runs();
}

#[test]
fn a_supervisor_that_does_not_react_keeps_nobody() {
    let Some(project) = Project::crooked(&["--stop-timeout", "300"], &[]) else {
        return;
    };
    let ready = project.ok("--start");
    let supervisor = pid_of(&project.state()["supervisor"]["pid"]);
    kill_process(supervisor, Signal::STOP).expect("it is ours");
    assert_eq!(project.ok("--shutdown")["previousPid"], ready["pid"]);
    project.nothing_runs();
}

#[test]
fn an_app_whose_supervisor_was_killed_is_cleared_away() {
    let how = ["--grandchild", "--leave-group"];
    let Some(project) = Project::crooked(&[], &how) else {
        return;
    };
    for option in ["--status", "--shutdown", "--start", "--restart"] {
        let before = project.ok("--start");
        let supervisor = project.state()["supervisor"]["pid"].clone();
        kill(supervisor.as_u64().expect("a number"));
        let answer = project.ok(option);
        match option {
            "--status" => assert_eq!(answer["status"], "stopped"),
            "--shutdown" => assert_eq!(answer["previousPid"], before["pid"]),
            "--restart" => assert_eq!(answer["previousPid"], before["pid"]),
            _ => assert_eq!(answer["status"], "ready"),
        }
        if answer["status"] == "stopped" {
            project.nothing_runs();
        } else {
            assert_ne!(answer["pid"], before["pid"]);
            assert_eq!(get(&answer, "/").0, 200);
        }
        project.ok("--shutdown");
        project.nothing_runs();
    }
}

#[test]
fn a_process_that_has_the_number_of_another_is_left_alone() {
    let Some(project) = Project::crooked(&[], &[]) else {
        return;
    };
    project.ok("--start");
    project.ok("--shutdown");
    #[expect(clippy::disallowed_methods, reason = "a test starts it, and ends it")]
    let mut stranger = Command::new("sleep")
        .arg("1000")
        .spawn()
        .expect("it starts");
    project.change_state(|state| {
        state["phase"] = json!("Ready");
        state["supervisor"]["pid"] = json!(stranger.id());
        state["app"]["pid"] = json!(stranger.id());
    });
    assert_eq!(project.ok("--status")["status"], "stopped");
    assert_eq!(
        project.ok("--shutdown")["message"],
        "Server was not running"
    );
    assert_eq!(project.ok("--start")["status"], "ready");
    project.ok("--shutdown");
    assert_eq!(stranger.try_wait().expect("it is ours"), None);
    stranger.kill().expect("it runs");
    stranger.wait().expect("it ends");
    project.nothing_runs();
}

#[test]
fn a_clock_that_is_set_back_makes_no_uptime_negative() {
    let Some(project) = Project::crooked(&[], &[]) else {
        return;
    };
    project.ok("--start");
    project.change_state(|state| state["started"] = json!(4_102_444_800_000_i64));
    let status = project.ok("--status");
    assert_eq!(
        (&status["status"], &status["uptime"]),
        (&json!("running"), &json!(0))
    );
    assert_eq!(status["startedAt"], "2100-01-01T00:00:00Z");
    assert_eq!(project.ok("--shutdown")["uptime"], 0);
    project.nothing_runs();
}

#[test]
fn a_state_that_cannot_be_read_loses_no_app() {
    let Some(project) = Project::crooked(&[], &[]) else {
        return;
    };
    let ready = project.ok("--start");
    fs::write(project.state_file(), "{\"phase\":").expect("it can be written");
    let again = project.ok("--start");
    assert_eq!(again["status"], "ready");
    assert!(!runs(&ready["pid"]));
    project.ok("--shutdown");
    project.nothing_runs();
}

#[test]
fn a_port_that_somebody_takes_is_left_to_them() {
    let Some(script) = crooked() else { return };
    // Between the choice of the port and the app: us.
    let line = format!(
        "echo $PORT >> ports; while [ ! -e go ]; do sleep 0.02; done; exec node {}",
        script.display()
    );
    let project = Project::new(&[], &[&line]);
    let start = project.begin("--start");
    let mut first = 0;
    until("the app knows its port", || {
        let ports = fs::read_to_string(project.path("ports")).unwrap_or_default();
        first = ports.trim().parse().unwrap_or_default();
        first != 0
    });
    let ours = TcpListener::bind((Ipv4Addr::LOCALHOST, first)).expect("it is free");
    fs::write(project.path("go"), "").expect("it can be written");
    let ready = Answer::of(start);
    assert_eq!(ready.json["status"], "ready", "{}", ready.text);
    assert_ne!(ready.json["port"], first);
    assert_eq!(get(&ready.json, "/").0, 200);
    drop(ours);
    project.ok("--shutdown");
    project.nothing_runs();

    // The port that it had the last time is taken, or the app says that it is.
    let last = ready.json["port"].as_u64().expect("a number");
    let ours = TcpListener::bind((Ipv4Addr::LOCALHOST, u16::try_from(last).expect("a port")));
    assert_ne!(project.ok("--start")["port"], last);
    drop(ours);
    project.ok("--shutdown");
    let marker = project.path("tried");
    let taken = ["--taken", marker.to_str().expect("a plain path")];
    let Some(project) = Project::crooked(&[], &taken) else {
        return;
    };
    assert_eq!(project.ok("--start")["status"], "ready");
    project.ok("--shutdown");
    project.nothing_runs();
}

#[test]
fn vite_and_express_run_side_by_side() {
    let Some(notes) = NotesApp::copy() else {
        return;
    };
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
    // By way of Vite to Express.
    assert_eq!(get(&ready, "/api/notes").0, 401);
    until("the request is in the log", || {
        log(&api_ready, "stdout").contains("GET /api/notes")
    });
    let restarted = web.ok("--restart");
    assert!(get(&restarted, "/src/main.js").1.contains("sign-in"));
    web.ok("--shutdown");
    assert_eq!(api.ok("--status")["status"], "running");
    api.ok("--shutdown");
    web.nothing_runs();
    api.nothing_runs();
}
