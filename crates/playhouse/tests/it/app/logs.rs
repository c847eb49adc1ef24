//! The logs of apps: complete, limited in size, and harmless for the app.

use std::fs;
use std::path::Path;

use testkit::{eventually, misbehaving_app};

use super::project::{Answer, Project, get, kill, log};

#[testkit::test(node)]
fn an_app_has_a_grace_period_and_its_last_output_is_logged() {
    let project = Project::misbehaving_app(&[], &["--slow-term", "300"]);
    let ready = project.ok("--start");
    project.ok("--shutdown");
    project.assert_no_process_runs();
    assert!(log(&ready, "stdout").ends_with("closing\nclosed\n"));
}

#[testkit::test(node)]
async fn an_app_that_prints_without_end_fills_no_disk() {
    let own = ["--log-limit", "100000", "--stop-timeout", "300"];
    let project = Project::misbehaving_app(&own, &["--flood"]);
    let ready = project.ok("--start");
    let path = ready["logs"]["combined"]
        .as_str()
        .expect("a path")
        .to_owned();
    eventually(async || Path::new(&format!("{path}.3")).exists()).await;
    assert_eq!(project.ok("--status")["status"], "running");
    project.ok("--shutdown");
    project.assert_no_process_runs();
    let folder = Path::new(&path).parent().expect("it has one");
    for entry in fs::read_dir(folder).expect("it can be listed") {
        let entry = entry.expect("it can be listed");
        let size = entry.metadata().expect("it is there").len();
        assert!(size <= 100_000, "{entry:?} has {size} bytes");
    }
    assert!(!Path::new(&format!("{path}.4")).exists());
}

#[testkit::test(node)]
async fn a_log_that_cannot_grow_does_not_hold_up_the_app() {
    let script = misbehaving_app();
    // A file of more than 4096 bytes is rejected, as on a full disk.
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
    eventually(async || log(&ready, "stdout").len() == 4096).await;
    assert_eq!(get(&ready, "/").0, 200);
    assert_eq!(project.ok("--status")["status"], "running");
    let restarted = project.ok("--restart");
    assert_eq!(get(&restarted, "/").0, 200);
    project.ok("--shutdown");
    project.assert_no_process_runs();
}

#[testkit::test(node)]
async fn a_crashed_app_is_reported_with_its_last_output() {
    let project = Project::misbehaving_app(&[], &[]);
    let ready = project.ok("--start");
    let agent = ureq::Agent::new_with_defaults();
    let died = agent
        .get(format!("{}/die", ready["url"].as_str().unwrap()))
        .call();
    assert!(died.is_err());
    let stopped = project.until("stopped").await;
    assert_eq!(stopped["exitCode"], 7);
    let message = stopped["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("it ended with code 7 at ")
            && message.contains("Error: killed by a request"),
        "{message}"
    );
    project.assert_no_process_runs();

    let ready = project.ok("--start");
    kill(ready["pid"].as_u64().expect("a number"));
    let stopped = project.until("stopped").await;
    assert_eq!(stopped["signal"], 9);
    project.assert_no_process_runs();
    assert_eq!(project.ok("--start")["status"], "ready");
    project.ok("--shutdown");
    project.assert_no_process_runs();
}

#[testkit::test(node)]
fn apps_are_listed_and_their_logs_are_followed() {
    use std::io::{BufRead, BufReader};
    let project = Project::misbehaving_app(&[], &[]);
    let ready = project.ok("--start");
    let listed = Answer::of(project.begin_bare(&["--list"])).json;
    let app = &listed[0];
    assert_eq!(
        (&app["name"], &app["status"]),
        (&"app".into(), &"running".into())
    );
    assert_eq!(app["url"], ready["url"], "{listed}");
    let cwd = app["cwd"].as_str().expect("a path");
    assert!(cwd.ends_with("/project"), "{listed}");
    let mut followed = project.begin_bare(&["--logs", "-f"]);
    let mut lines = BufReader::new(followed.stdout.take().expect("it is ours")).lines();
    let mut next = || lines.next().expect("a line").expect("text");
    assert!(next().starts_with("listening on "));
    get(&ready, "/log?line=more");
    assert_eq!(next(), "more");
    followed.kill().expect("it runs");
    followed.wait().expect("it ends");
    project.ok("--shutdown");
    let listed = Answer::of(project.begin_bare(&["--list"])).json;
    assert_eq!(listed[0]["status"], "stopped");
    project.assert_no_process_runs();
}
