//! The end of apps, their supervisors and their commands, which leaves no processes.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::{Signal, kill_process};
use serde_json::json;
use testkit::process_stats::fresh_mark;
use testkit::{Processes, eventually, misbehaving_app};

use super::project::{Answer, Project, get, kill, pid_of, runs};

#[testkit::test(node)]
fn the_process_tree_ends_with_the_app() {
    for how in [
        &["--grandchild"][..],
        &["--grandchild", "--leave-group"],
        &["--orphan"],
        &["--orphan", "--leave-group"],
        &["--flood", "--ignore-term", "--grandchild", "--leave-group"],
    ] {
        let own = ["--stop-timeout", "300", "--log-limit", "10000"];
        let project = Project::misbehaving_app(&own, how);
        let ready = project.ok("--start");
        assert_eq!(get(&ready, "/").0, 200, "{how:?}");
        assert_eq!(project.ok("--status")["status"], "running", "{how:?}");
        project.ok("--shutdown");
        project.assert_no_process_runs();
    }
}

#[testkit::test(node)]
async fn detached_descendants_are_killed_with_the_app() {
    let script = misbehaving_app();
    let name = fresh_mark().0;
    // Without a mark, in a session of its own, and without a parent.
    let hidden = format!("env -i sh -c '(setsid sh -c \": {name}; sleep 1000\" & )'");
    let project = Project::new(&[], &[&format!("{hidden}; exec node {}", script.display())]);
    project.ok("--start");
    let hidden = || Processes::default().and_mentioning(&name).count();
    eventually(async || hidden() > 0).await;
    project.ok("--shutdown");
    assert_eq!(hidden(), 0);
    project.assert_no_process_runs();
}

#[testkit::test(node)]
fn of_two_concurrent_starts_one_succeeds() {
    let project = Project::misbehaving_app(&[], &["--slow", "300"]);
    let both = [project.begin("--start"), project.begin("--start")].map(Answer::of);
    assert_eq!(both[0].json["pid"], both[1].json["pid"]);
    let mut status = both.map(|answer| answer.json["status"].as_str().map(str::to_owned));
    status.sort();
    assert_eq!(status.map(Option::unwrap), ["already_running", "ready"]);
    project.ok("--shutdown");
    project.assert_no_process_runs();
}

#[testkit::test(node)]
fn an_app_inherits_no_open_files() {
    let script = misbehaving_app();
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
    project.assert_no_process_runs();
}

#[testkit::test(node)]
async fn a_shutdown_ends_a_start_that_is_under_way() {
    let project = Project::misbehaving_app(&[], &["--hang"]);
    let start = project.begin("--start");
    let starting = project.until("unhealthy").await;
    assert_eq!(starting["message"], "Server is starting");
    project.ok("--shutdown");
    let start = Answer::of(start);
    assert_eq!((start.code, &start.json["error"]), (1, &json!("SHUT_DOWN")));
    project.assert_no_process_runs();
}

#[testkit::test(node)]
async fn a_start_continues_when_its_command_is_killed() {
    let project = Project::misbehaving_app(&[], &["--slow", "500"]);
    let mut start = project.begin("--start");
    let starting = project.until("unhealthy").await;
    start.kill().expect("it runs");
    start.wait().expect("it ends");
    let ready = project.ok("--start");
    assert_eq!(ready["status"], "already_running");
    assert_eq!(ready["pid"], starting["pid"]);
    project.ok("--shutdown");
    project.assert_no_process_runs();
}

#[testkit::test(node)]
fn an_unresponsive_supervisor_blocks_no_command() {
    let project = Project::misbehaving_app(&["--stop-timeout", "300"], &[]);
    let ready = project.ok("--start");
    let supervisor = pid_of(&project.state()["supervisor"]["pid"]);
    kill_process(supervisor, Signal::STOP).expect("it is ours");
    assert_eq!(project.ok("--shutdown")["previousPid"], ready["pid"]);
    project.assert_no_process_runs();
}

#[testkit::test(node)]
fn an_app_without_supervisor_is_killed() {
    let how = ["--grandchild", "--leave-group"];
    let project = Project::misbehaving_app(&[], &how);
    for option in ["--status", "--shutdown", "--start", "--restart"] {
        let before = project.ok("--start");
        let supervisor = project.state()["supervisor"]["pid"].clone();
        kill(supervisor.as_u64().expect("a number"));
        let answer = project.ok(option);
        match option {
            // A status request ends nothing.
            "--status" => {
                assert_eq!(answer["status"], "unhealthy", "{answer}");
                assert_eq!(answer["pid"], before["pid"]);
                assert!(runs(&before["pid"]));
                assert_eq!(project.ok("--shutdown")["previousPid"], before["pid"]);
            }
            "--shutdown" => assert_eq!(answer["previousPid"], before["pid"]),
            "--restart" => assert_eq!(answer["previousPid"], before["pid"]),
            _ => assert_eq!(answer["status"], "ready"),
        }
        if ["--status", "--shutdown"].contains(&option) {
            project.assert_no_process_runs();
        } else {
            assert_ne!(answer["pid"], before["pid"]);
            assert_eq!(get(&answer, "/").0, 200);
        }
        project.ok("--shutdown");
        project.assert_no_process_runs();
    }
}

#[testkit::test(node)]
fn a_process_with_a_reused_pid_is_not_killed() {
    let project = Project::misbehaving_app(&[], &[]);
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
    project.assert_no_process_runs();
}

#[testkit::test(node)]
fn a_clock_that_is_set_back_makes_no_uptime_negative() {
    let project = Project::misbehaving_app(&[], &[]);
    project.ok("--start");
    project.change_state(|state| state["started"] = json!(4_102_444_800_000_i64));
    let status = project.ok("--status");
    assert_eq!(
        (&status["status"], &status["uptime"]),
        (&json!("running"), &json!(0))
    );
    assert_eq!(status["startedAt"], "2100-01-01T00:00:00Z");
    assert_eq!(project.ok("--shutdown")["uptime"], 0);
    project.assert_no_process_runs();
}

#[testkit::test(node)]
fn a_state_that_cannot_be_read_loses_no_app() {
    let project = Project::misbehaving_app(&[], &[]);
    let ready = project.ok("--start");
    fs::write(project.state_file(), "{\"phase\":").expect("it can be written");
    let again = project.ok("--start");
    assert_eq!(again["status"], "ready");
    assert!(!runs(&ready["pid"]));
    project.ok("--shutdown");
    project.assert_no_process_runs();
}

#[testkit::test(node)]
async fn an_app_that_crashes_is_started_again_if_that_is_wanted() {
    let project = Project::misbehaving_app(&["--restart-on-crash"], &[]);
    let ready = project.ok("--start");
    // An app that crashes at once is not restarted.
    std::thread::sleep(std::time::Duration::from_millis(2100));
    kill(ready["pid"].as_u64().expect("a number"));
    let now = eventually(async || {
        let now = project.run("--status").json;
        (now["status"] == "running" && now["pid"] != ready["pid"]).then_some(now)
    })
    .await;
    assert_eq!(now["port"], ready["port"]);
    assert_eq!(get(&now, "/").0, 200);
    project.ok("--shutdown");
    project.assert_no_process_runs();
}
