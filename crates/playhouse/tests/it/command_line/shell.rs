//! A shell in a workspace with a runtime folder of its own, whose background servers end with the test.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::FAKE_BROWSER;

pub(super) struct Shell {
    pub(super) folder: TempDir,
    /// The folder in which commands are run.
    pub(super) workspace: PathBuf,
    /// The folder that is `XDG_RUNTIME_DIR`.
    pub(super) runtime: PathBuf,
    /// The program of commands.
    program: PathBuf,
    /// Further environment variables.
    pub(super) env: Vec<(&'static str, String)>,
}

impl Shell {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (workspace, runtime) = (folder.path().join("project"), folder.path().join("run"));
        fs::create_dir(&workspace).expect("writable");
        let mut private = fs::DirBuilder::new();
        private.mode(0o700).create(&runtime).expect("writable");
        Self {
            workspace: workspace.canonicalize().expect("it exists"),
            folder,
            runtime,
            program: env!("CARGO_BIN_EXE_playhouse").into(),
            env: vec![
                ("PLAYHOUSE_ISOLATED", "true".to_owned()),
                ("PLAYHOUSE_CONTENT_BOUNDARIES", "off".to_owned()),
            ],
        }
    }

    /// Returns a shell whose commands use a fake browser.
    pub(super) fn fake() -> Self {
        let mut shell = Self::new();
        shell.program = std::env::current_exe().expect("the path of this program");
        shell.env.push((FAKE_BROWSER, "1".to_owned()));
        shell
    }

    /// Returns a command, not started.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.program(&self.program);
        command.args(words);
        command
    }

    /// Returns a program in this shell, not started.
    #[expect(
        clippy::disallowed_methods,
        reason = "a test runs the program that it tests"
    )]
    pub(super) fn program(&self, path: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(path);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with("PLAYHOUSE_") || name.starts_with("PLAYWRIGHT_MCP_") {
                command.env_remove(name);
            }
        }
        command
            .current_dir(&self.workspace)
            .env("XDG_RUNTIME_DIR", &self.runtime)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Starts a command.
    pub(super) fn begin(&self, words: &[&str]) -> Child {
        let mut command = self.command(words);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("it starts")
    }

    /// Returns the exit status of a command, what it prints, and its errors.
    pub(super) fn run(&self, words: &[&str]) -> (i32, String, String) {
        parts(self.command(words).output().expect("it runs"))
    }

    /// The same with a text on stdin.
    pub(super) fn run_with(&self, words: &[&str], input: &str) -> (i32, String, String) {
        let mut command = self.command(words);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let mut stdin = child.stdin.take().expect("it is piped");
        // A command that fails does not read to the end.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        parts(child.wait_with_output().expect("it runs"))
    }

    /// Returns what a command prints, which must succeed.
    pub(super) fn ok(&self, words: &[&str]) -> String {
        let (code, out, printed) = self.run(words);
        assert_eq!(code, 0, "{words:?}: {out}{printed}");
        out
    }

    /// The same as JSON.
    pub(super) fn json(&self, words: &[&str]) -> Value {
        serde_json::from_str(&self.ok(words)).expect("JSON")
    }

    /// Returns the process of the background server, which is started if none runs.
    pub(super) fn pid(&self) -> u32 {
        let printed = self.ok(&["start"]);
        let pid = printed.split("(process ").nth(1);
        let pid = pid.and_then(|rest| rest.split(')').next()?.parse().ok());
        pid.expect("the process is reported")
    }

    /// Returns the files of servers with this extension.
    pub(super) fn files(&self, extension: &str) -> Vec<PathBuf> {
        let files = fs::read_dir(self.runtime.join("playhouse"));
        let paths = files
            .into_iter()
            .flatten()
            .flatten()
            .map(|file| file.path());
        let is_wanted = |path: &PathBuf| path.extension().is_some_and(|found| found == extension);
        paths.filter(is_wanted).collect()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.command(&["stop", "--all"]).output();
    }
}

fn parts(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (
        output.status.code().unwrap_or(-1),
        text(output.stdout),
        text(output.stderr),
    )
}
