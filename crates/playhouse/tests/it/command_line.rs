//! The commands that use the background server of a workspace: `do`, `run`, `start`, `ps` and `stop`.

mod shell;
mod skill;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use testkit::{Processes, Site, eventually};

use crate::held_page;
use shell::Shell;

#[testkit::test(chromium)]
async fn commands_share_the_session_of_their_workspace() {
    let site = Site::start().await;
    let url = site.add_page(
        "/",
        "<title>Shop</title><button onclick=\"this.textContent = 'Bought'\">Buy</button>",
    );
    let shell = Shell::new();
    assert!(
        shell
            .ok(&["do", "open", &url])
            .contains("- Page Title: Shop")
    );
    let snapshot = shell.ok(&["do", "snapshot"]);
    let button = snapshot
        .lines()
        .find(|line| line.contains("button \"Buy\""));
    let button = button
        .and_then(|line| line.split(' ').next_back())
        .expect("a ref");
    shell.ok(&["do", "click", button]);
    assert!(
        shell
            .ok(&["do", "eval", "document.body.innerText"])
            .contains("Bought")
    );
    // A session of another name has pages of its own.
    let other = shell.ok(&["do", "--session", "other", "eval", "location.href"]);
    assert!(other.contains("about:blank"), "{other}");
    let other = shell.ok(&["do", "eval", "location.href", "--session=other"]);
    assert!(other.contains("about:blank"), "{other}");
    assert!(shell.ok(&["do", "eval", "location.href"]).contains(&url));
    let listed = shell.json(&["do", "list-sessions", "--json"]);
    let names = listed["sessions"].as_array().expect("a list").iter();
    let names: Vec<_> = names
        .filter_map(|session| session["name"].as_str())
        .collect();
    assert_eq!(names, ["other"], "{listed}");
    let image = shell.ok(&["do", "screenshot"]);
    let image = image
        .split("](")
        .nth(1)
        .and_then(|rest| rest.split(')').next());
    let image = image.expect("a path");
    assert!(
        image.starts_with('/') && fs::metadata(image).is_ok(),
        "{image}"
    );
    let servers = shell.json(&["ps", "--json"]);
    assert_eq!(servers.as_array().map(Vec::len), Some(1), "{servers}");
    assert_eq!(servers[0]["sessions"], 2, "{servers}");
}

#[testkit::test]
async fn two_commands_that_create_a_session_use_the_same_one() {
    let shell = Shell::fake();
    shell.ok(&["start"]);
    let both = [(); 2].map(|()| shell.begin(&["do", "--session", "new", "eval", "1 + 1"]));
    for command in both {
        let output = command.wait_with_output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
    }
    let listed = shell.json(&["do", "list-sessions", "--json"]);
    assert_eq!(
        listed["sessions"].as_array().map(Vec::len),
        Some(1),
        "{listed}"
    );
}

#[testkit::test]
fn concurrent_commands_start_one_server() {
    let shell = Shell::new();
    let commands = [(); 4].map(|()| shell.begin(&["do", "list-sessions"]));
    for command in commands {
        let output = command.wait_with_output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
    }
    let servers = shell.json(&["ps", "--json"]);
    assert_eq!(servers.as_array().map(Vec::len), Some(1), "{servers}");
}

#[testkit::test]
fn each_workspace_has_a_server_and_its_subfolders_use_it() {
    let mut shell = Shell::new();
    let first = shell.pid();
    fs::create_dir_all(shell.workspace.join(".git")).expect("writable");
    fs::create_dir_all(shell.workspace.join("src/deep")).expect("writable");
    shell.workspace.push("src/deep");
    assert_eq!(shell.pid(), first);
    let other = shell.folder.path().join("other");
    fs::create_dir(&other).expect("writable");
    shell.workspace = other;
    assert_ne!(shell.pid(), first);
    let servers = shell.json(&["ps", "--json"]);
    assert_eq!(servers.as_array().map(Vec::len), Some(2), "{servers}");
    let table = shell.ok(&["ps"]);
    assert!(
        table.contains("WORKSPACE") && table.contains(&first.to_string()),
        "{table}"
    );
}

#[testkit::test]
async fn a_killed_server_is_replaced() {
    let shell = Shell::new();
    let first = shell.pid();
    let processes = Processes::from(first);
    let pid = Pid::from_raw(first.cast_signed()).expect("not 0");
    kill_process(pid, Signal::KILL).expect("it is ours");
    processes.gone().await;
    // The socket remains without a listener.
    assert_eq!(shell.json(&["ps", "--json"]), json!([]));
    assert_ne!(shell.pid(), first);
}

#[testkit::test]
async fn a_call_whose_server_is_killed_fails() {
    let shell = Shell::new();
    let first = shell.pid();
    let call = shell.begin(&["do", "wait-for", "--time", "60"]);
    eventually(async || shell.json(&["ps", "--json"])[0]["idleMs"] == 0).await;
    let pid = Pid::from_raw(first.cast_signed()).expect("not 0");
    kill_process(pid, Signal::KILL).expect("it is ours");
    let output = call.wait_with_output().expect("it runs");
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        printed.contains("unknown whether the call was carried out"),
        "{printed}"
    );
}

#[testkit::test]
async fn an_unused_server_ends() {
    let mut shell = Shell::new();
    shell
        .env
        .push(("PLAYHOUSE_BACKGROUND_TIMEOUT", "200".to_owned()));
    let processes = Processes::from(shell.pid());
    processes.gone().await;
    let left: Vec<_> = shell.files("sock");
    assert!(left.is_empty(), "{left:?}");
}

#[testkit::test]
async fn a_server_with_a_session_does_not_end() {
    let mut shell = Shell::fake();
    shell
        .env
        .push(("PLAYHOUSE_BACKGROUND_TIMEOUT", "100".to_owned()));
    shell
        .env
        .push(("PLAYHOUSE_SESSION_TIMEOUT", "0".to_owned()));
    shell.ok(&["do", "--session", "lasting", "eval", "window.mark = 5"]);
    eventually(async || {
        let idle = shell.json(&["ps", "--json"])[0]["idleMs"].as_u64();
        idle.is_some_and(|idle| idle > 500)
    })
    .await;
    let mark = shell.ok(&["do", "--session", "lasting", "eval", "window.mark"]);
    assert!(mark.contains('5'), "{mark}");
    let processes = Processes::from(shell.pid());
    shell.ok(&["do", "close-session", "lasting"]);
    processes.gone().await;
}

#[testkit::test(chromium)]
async fn stop_leaves_no_process() {
    let shell = Shell::new();
    shell.ok(&["do", "open", "about:blank"]);
    let processes = Processes::from(shell.pid());
    assert!(processes.count() > 1, "{processes:?}");
    let printed = shell.ok(&["stop"]);
    assert!(printed.contains("has stopped"), "{printed}");
    // Its own process is gone at once, those of the browser soon after.
    assert!(shell.files("sock").is_empty());
    processes.gone().await;
    assert_eq!(shell.ok(&["stop"]), "No background server runs\n");
}

#[testkit::test]
async fn a_server_that_hangs_is_listed_and_stopped_with_the_others() {
    let mut shell = Shell::fake();
    let hanging = shell.pid();
    let own = std::mem::replace(&mut shell.workspace, shell.folder.path().join("other"));
    fs::create_dir(&shell.workspace).expect("writable");
    let other = shell.pid();
    let processes = [hanging, other].map(Processes::from);
    let stopped = Pid::from_raw(hanging.cast_signed()).expect("not 0");
    kill_process(stopped, Signal::STOP).expect("it is ours");
    let listed = shell.json(&["ps", "--json"]);
    let mut servers: Vec<_> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|server| (server["pid"].as_u64(), server["unresponsive"] == true))
        .collect();
    servers.sort_unstable_by_key(|(_, unresponsive)| *unresponsive);
    let pid = |pid: u32| Some(u64::from(pid));
    assert_eq!(servers, [(pid(other), false), (pid(hanging), true)]);
    assert!(shell.ok(&["ps"]).contains("(does not respond)"));
    let printed = shell.ok(&["stop", "--all"]);
    assert_eq!(printed.matches("has stopped").count(), 2, "{printed}");
    for processes in processes {
        processes.gone().await;
    }
    shell.workspace = own;
    assert_ne!(shell.pid(), hanging, "the next command starts another one");
}

#[testkit::test]
fn only_this_user_can_reach_the_server() {
    let shell = Shell::new();
    shell.pid();
    let folder = shell.runtime.join("playhouse");
    let mode = |path: &std::path::Path| fs::metadata(path).expect("there").mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for extension in ["sock", "lock", "log"] {
        let files = shell.files(extension);
        assert_eq!(files.len(), 1, "{files:?}");
        assert_eq!(mode(&files[0]), 0o600, "{files:?}");
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("ours");
    let (code, _, printed) = shell.run(&["do", "list-sessions"]);
    assert_eq!(code, 5);
    assert!(printed.contains("is open to other users"), "{printed}");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("ours");
}

#[testkit::test]
async fn the_exit_status_is_that_of_the_error_class() {
    let shell = Shell::fake();
    shell.ok(&["do", "open", "about:blank"]);
    for (words, status, message) in [
        (&["do", "clik", "e5"][..], 2, "Did you mean 'click'?"),
        (&["do", "click"], 2, "missing argument <TARGET>"),
        (&["do", "click", "e99"], 1, "Take a new snapshot"),
        (&["do", "click", "css=[["], 2, "css selector"),
        (
            &["do", "wait-for-url", "**/never", "--timeout", "50"],
            3,
            "50",
        ),
        (&["do", "pdf"], 4, "--caps pdf"),
        (&["do", "open", "file:///etc/passwd"], 4, "file:"),
        (&["run", "missing.jsonl"], 2, "missing.jsonl"),
        (&["stop", "--everything"], 2, "--everything"),
        (&["--headless", "do", "click"], 2, "playhouse start"),
    ] {
        let (code, out, printed) = shell.run(words);
        assert_eq!(code, status, "{words:?}: {printed}");
        assert!(printed.contains(message), "{words:?}: {printed}");
        assert_eq!(out, "", "{words:?}");
    }
    let (code, out, printed) = shell.run(&["do", "click", "e99", "--json"]);
    let error: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, printed.as_str()), (1, ""));
    assert_eq!(error["success"], false, "{error}");
    assert_eq!(error["errorCode"], "STALE_REF", "{error}");
    let answer = shell.json(&["do", "eval", "1 + 1", "--json"]);
    assert_eq!(answer["success"], true, "{answer}");
    assert!(
        answer["text"]
            .as_str()
            .is_some_and(|text| text.contains('2')),
        "{answer}"
    );
}

#[testkit::test]
fn a_browser_that_cannot_start_is_a_failure() {
    let mut shell = Shell::new();
    shell
        .env
        .push(("PLAYHOUSE_EXECUTABLE_PATH", "/nowhere/browser".to_owned()));
    let (code, _, printed) = shell.run(&["do", "open", "about:blank"]);
    assert_eq!(code, 5, "{printed}");
    assert!(printed.contains("/nowhere/browser"), "{printed}");
}

#[testkit::test]
async fn a_script_runs_until_its_first_failure() {
    let shell = Shell::fake();
    let lines = "
        # A comment.
        open about:blank
        [\"eval\", \"1 + 1\"]
        {\"tool\": \"browser_evaluate\", \"arguments\": {\"function\": \"() => 3\"}}
        click e99
        eval 4
    ";
    let results = |out: &str| {
        let steps = out
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        let step = |step: serde_json::Value| (step["step"].as_u64(), step["success"] == true);
        steps.map(step).collect::<Vec<_>>()
    };
    let first = [
        (Some(1), true),
        (Some(2), true),
        (Some(3), true),
        (Some(4), false),
    ];
    let (code, out, _) = shell.run_with(&["run", "-", "--json"], lines);
    assert_eq!((code, results(&out)), (1, first.to_vec()));
    let file = shell.workspace.join("steps.jsonl");
    fs::write(&file, lines).expect("writable");
    let (code, out, _) = shell.run(&["run", "steps.jsonl", "--json", "--keep-going"]);
    let all = [&first[..], &[(Some(5), true)]].concat();
    assert_eq!((code, results(&out)), (1, all));
    let (code, out, printed) = shell.run_with(
        &["run", "-", "--session", "script"],
        "eval 'location.href'\nclik",
    );
    assert_eq!(code, 2, "{printed}");
    assert!(out.contains("about:blank"), "{out}");
    assert!(
        printed.starts_with("step 2: error: unknown command 'clik'"),
        "{printed}"
    );
}

#[testkit::test]
async fn texts_come_from_files_and_stdin() {
    let site = Site::start().await;
    let url = site.add_page("/", "<textarea id=note></textarea>");
    let shell = Shell::fake();
    shell.ok(&["do", "open", &url]);
    let value = || shell.ok(&["do", "eval", "document.querySelector('#note').value"]);
    fs::write(shell.workspace.join("note.txt"), "from a file\n").expect("writable");
    shell.ok(&["do", "fill", "#note", "@note.txt"]);
    assert!(value().contains("\"from a file\""), "{}", value());
    let (code, _, printed) = shell.run_with(&["do", "fill", "#note", "-"], "from stdin\n");
    assert_eq!(code, 0, "{printed}");
    assert!(value().contains("\"from stdin\""), "{}", value());
}

#[testkit::test]
fn options_that_the_server_does_not_have_are_an_error() {
    let mut shell = Shell::new();
    let printed = shell.ok(&["start", "--snapshot-mode", "none"]);
    assert!(printed.contains("started"), "{printed}");
    let printed = shell.ok(&["start", "--snapshot-mode", "none"]);
    assert!(printed.contains("runs already"), "{printed}");
    // Commands without options of their own use it as it is.
    shell.ok(&["do", "list-sessions"]);
    let (code, _, printed) = shell.run(&["start", "--snapshot-mode", "full"]);
    assert_eq!(code, 2);
    assert!(
        printed.contains("it was started with --snapshot-mode none"),
        "{printed}"
    );
    shell.env.push(("PLAYHOUSE_CAPS", "pdf".to_owned()));
    let (code, _, printed) = shell.run(&["do", "list-sessions"]);
    assert_eq!(code, 2);
    assert!(
        printed.contains("PLAYHOUSE_CAPS") && printed.contains("playhouse stop"),
        "{printed}"
    );
    shell.ok(&["stop"]);
    shell.ok(&["do", "list-sessions"]);
}

#[testkit::test]
fn a_failed_start_is_reported_with_its_reason() {
    let mut shell = Shell::new();
    let (code, _, printed) = shell.run(&["start", "--snapshot-mode", "half"]);
    assert_eq!(code, 2);
    assert!(printed.contains("snapshot-mode"), "{printed}");
    let (code, _, printed) = shell.run(&["start", "--port", "0"]);
    assert_eq!(code, 2);
    assert!(printed.contains("listens on its socket only"), "{printed}");
    shell
        .env
        .push(("PLAYHOUSE_SNAPSHOT_MODE", "half".to_owned()));
    let (code, _, printed) = shell.run(&["do", "list-sessions"]);
    assert_eq!(code, 5);
    assert!(
        printed.contains("did not start") && printed.contains("PLAYHOUSE_SNAPSHOT_MODE"),
        "{printed}"
    );
}

#[testkit::test]
fn a_server_of_another_version_is_not_used() {
    let shell = Shell::new();
    shell.pid();
    let socket = shell.files("sock").remove(0);
    shell.ok(&["stop"]);
    let listener = UnixListener::bind(&socket).expect("the path is free");
    let older = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a command connects");
        let params = json!({ "version": "0.0.1", "pid": 1 });
        let greeting = json!({ "jsonrpc": "2.0", "method": "notifications/playhouse/server", "params": params });
        writeln!(stream, "{greeting}").expect("it reads");
        let mut heard = String::new();
        BufReader::new(stream)
            .read_line(&mut heard)
            .expect("it ends");
        heard
    });
    let (code, _, printed) = shell.run(&["do", "list-sessions"]);
    assert_eq!(code, 5);
    assert!(
        printed.contains("has version 0.0.1") && printed.contains("playhouse stop"),
        "{printed}"
    );
    assert_eq!(older.join().expect("it ends"), "", "no call was made");
}

#[testkit::test]
async fn an_interrupted_command_cancels_its_call() {
    let site = Site::start().await;
    let url = held_page(&site);
    let shell = Shell::fake();
    shell.ok(&["do", "open", &url]);
    let endless = "async () => { for (;;) { await fetch('/gate'); await new Promise(done => setTimeout(done, 50)); } }";
    let call = shell.begin(&["do", "eval", endless]);
    eventually(async || {
        site.requests()
            .iter()
            .any(|request| request.target == "/gate")
    })
    .await;
    let pid = Pid::from_raw(call.id().cast_signed()).expect("not 0");
    kill_process(pid, Signal::INT).expect("it is ours");
    let output = call.wait_with_output().expect("it runs");
    assert_eq!(output.status.code(), None, "{output:?}");
    // The session is free for the next call.
    let calls = || shell.json(&["ps", "--json"])[0]["idleMs"].as_u64();
    eventually(async || calls().is_some_and(|idle| idle > 0)).await;
    assert!(shell.ok(&["do", "eval", "1 + 1"]).contains('2'));
}

#[testkit::test]
fn help_lists_the_commands_and_describes_each() {
    let shell = Shell::new();
    let list = shell.ok(&["do", "--help"]);
    assert!(
        list.contains("click TARGET") && list.contains("(open, goto)"),
        "{list}"
    );
    let click = shell.ok(&["do", "click", "--help"]);
    for part in [
        "Click an element",
        "<TARGET>",
        "--double-click",
        "--button",
        "[possible values: left,",
    ] {
        assert!(click.contains(part), "{click}");
    }
    assert!(shell.files("sock").is_empty(), "help starts no server");
    let script = shell.ok(&["completions", "bash"]);
    assert!(script.contains("dialog-accept") && script.contains("--double-click"));
}

#[testkit::test]
fn the_server_inherits_no_open_files() {
    let shell = Shell::new();
    let program = env!("CARGO_BIN_EXE_playhouse");
    let line = format!("exec 9>inherited; {program} do list-sessions");
    let mut command = shell.program("sh");
    // With inherited pipes, this would wait for the end of the server.
    let output = command.args(["-c", &line]).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let files = fs::read_dir(format!("/proc/{}/fd", shell.pid())).expect("it runs");
    let files = files
        .flatten()
        .filter_map(|file| fs::read_link(file.path()).ok());
    let inherited: Vec<_> = files.filter(|file| file.ends_with("inherited")).collect();
    assert!(inherited.is_empty(), "{inherited:?}");
}
