//! A project with a server command, for tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::process_stats::{Depth, MARK, ProcessStats, fresh_mark};
use testkit::{eventually, misbehaving_app};

/// A project with one server command, and the processes of the command.
pub(super) struct Project {
    pub(super) mark: String,
    pub(super) folder: TempDir,
    pub(super) command: Vec<String>,
    pub(super) env: Vec<(String, String)>,
}

/// The output and the exit status of a server command.
pub(super) struct Answer {
    pub(super) json: Value,
    pub(super) text: String,
    pub(super) code: i32,
}

impl Project {
    /// Creates a project with `playhouse app`, its arguments, and those of the app.
    pub(super) fn new(own: &[&str], app: &[&str]) -> Self {
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

    /// Creates a project with `playhouse app` and an app that misbehaves in this way.
    pub(super) fn misbehaving_app(own: &[&str], how: &[&str]) -> Self {
        let script = misbehaving_app();
        let script = script.to_str().expect("a plain path");
        Self::new(own, &[&["node", script], how].concat())
    }

    pub(super) fn with_command(command: Vec<String>) -> Self {
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

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("project").join(name)
    }

    /// Starts the command with an option at its end.
    pub(super) fn begin(&self, option: &str) -> Child {
        let option = (!option.is_empty()).then_some(option);
        self.spawn(self.command.iter().map(String::as_str).chain(option))
    }

    fn spawn<'a>(&self, mut words: impl Iterator<Item = &'a str>) -> Child {
        #[expect(clippy::disallowed_methods, reason = "a test runs what it tests")]
        let mut command = Command::new(words.next().expect("a program"));
        command
            .args(words)
            .current_dir(self.path("."))
            .env(MARK, &self.mark)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        command.spawn().expect("it starts")
    }

    /// Starts `playhouse app` with these arguments and no app.
    pub(super) fn begin_bare(&self, arguments: &[&str]) -> Child {
        let own = [env!("CARGO_BIN_EXE_playhouse"), "app"].into_iter();
        self.spawn(own.chain(arguments.iter().copied()))
    }

    pub(super) fn run(&self, option: &str) -> Answer {
        Answer::of(self.begin(option))
    }

    /// Runs the command, which must succeed.
    pub(super) fn ok(&self, option: &str) -> Value {
        let answer = self.run(option);
        assert_eq!(answer.code, 0, "{option}: {}", answer.text);
        answer.json
    }

    /// Runs the command, which must fail.
    pub(super) fn fails(&self, option: &str) -> Value {
        let answer = self.run(option);
        assert_ne!(answer.code, 0, "{option}: {}", answer.text);
        assert_eq!(answer.json["status"], "error", "{}", answer.text);
        assert!(answer.json["message"].is_string(), "{}", answer.text);
        answer.json
    }

    /// Returns the path of the state that the supervisor writes.
    pub(super) fn state_file(&self) -> PathBuf {
        let status = self.ok("--status");
        let log = Path::new(status["logs"]["combined"].as_str().expect("a path"));
        log.with_file_name("state.json")
    }

    pub(super) fn state(&self) -> Value {
        let text = fs::read(self.state_file()).expect("there is one");
        serde_json::from_slice(&text).expect("JSON")
    }

    pub(super) fn change_state(&self, change: impl FnOnce(&mut Value)) {
        let (path, mut state) = (self.state_file(), self.state());
        change(&mut state);
        fs::write(path, state.to_string()).expect("it can be written");
    }

    /// Requests the status until it is this one.
    pub(super) async fn until(&self, status: &str) -> Value {
        eventually(async || {
            let now = self.run("--status").json;
            (now["status"] == status).then_some(now)
        })
        .await
    }

    pub(super) fn assert_no_process_runs(&self) {
        let pids: Vec<u32> = ProcessStats::take(&self.mark, Depth::Quick)
            .pids()
            .collect();
        let lines: Vec<_> = pids
            .iter()
            .map(|&pid| testkit::process_stats::command_line(pid))
            .collect();
        assert!(pids.is_empty(), "{lines:?}");
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        // Cleans up after a failed test.
        for pid in ProcessStats::take(&self.mark, Depth::Quick).pids() {
            kill(u64::from(pid));
        }
    }
}

impl Answer {
    pub(super) fn of(command: Child) -> Self {
        let output = command.wait_with_output().expect("it ends");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        Self {
            json: serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}")),
            code: output.status.code().expect("it was not killed"),
            text,
        }
    }
}

pub(super) fn pid_of(value: &Value) -> Pid {
    let raw = value.as_i64().expect("a number");
    Pid::from_raw(raw.try_into().expect("a process id")).expect("not 0")
}

/// Returns whether the process runs. An ended process has no program any more, even if it was not reaped.
pub(super) fn runs(pid: &Value) -> bool {
    let pid = pid.as_u64().expect("a number");
    testkit::process_stats::program(u32::try_from(pid).expect("a process id")).is_some()
}

/// Kills a process, and waits until it has ended.
pub(super) fn kill(pid: u64) {
    let _ = kill_process(pid_of(&json!(pid)), Signal::KILL);
    let ended = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        !runs(&json!(pid))
    });
    assert!(ended, "the process {pid} was killed and runs");
}

pub(super) fn get(answer: &Value, path: &str) -> (u16, String) {
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

pub(super) fn log(answer: &Value, name: &str) -> String {
    let path = answer["logs"][name].as_str().expect("a path");
    assert!(path.starts_with('/'), "{path}");
    fs::read_to_string(path).expect("it is there")
}

pub(super) fn names(object: &Value) -> Vec<&str> {
    let object = object.as_object().expect("an object");
    object.keys().map(String::as_str).collect()
}
