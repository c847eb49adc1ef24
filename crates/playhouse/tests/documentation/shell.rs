//! A shell with the built program, in a folder of its own.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tempfile::TempDir;

use crate::root;

/// A folder with a home, a project, and the program in PATH. Servers and apps that commands leave behind end with it.
pub(crate) struct Shell {
    folder: TempDir,
    /// Texts of documents, and what stands for them here.
    replacements: Vec<(String, String)>,
}

impl Shell {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let mut private = fs::DirBuilder::new();
        private.mode(0o700).create(path("run")).expect("writable");
        for name in ["bin", "home"] {
            fs::create_dir(path(name)).expect("writable");
        }
        symlink(env!("CARGO_BIN_EXE_playhouse"), path("bin/playhouse")).expect("writable");
        let project = root().join("crates/playhouse/tests/documentation/project");
        copy(&project, &path("project"));
        // A project that `npm create` would have created.
        copy(&project, &path("project/my-app"));
        Self {
            replacements: vec![("8931".to_owned(), testkit::unused_port().to_string())],
            folder,
        }
    }

    /// Replaces a text of documents in scripts.
    pub(crate) fn replace(mut self, text: &str, replacement: &str) -> Self {
        self.replacements
            .push((text.to_owned(), replacement.to_owned()));
        self
    }

    /// Returns the folder in which commands run.
    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Writes a file into the project and returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.project().join(name);
        fs::write(&path, text).expect("writable");
        path
    }

    /// Returns a text of a document with the replacements.
    pub(crate) fn local(&self, text: &str) -> String {
        let replacements = self.replacements.iter();
        replacements.fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a test runs the program that it tests"
    )]
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        let bin = self.folder.path().join("bin");
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if ["PLAYHOUSE_", "PLAYWRIGHT_", "XDG_"]
                .iter()
                .any(|prefix| name.starts_with(prefix))
            {
                command.env_remove(name);
            }
        }
        command
            .current_dir(self.project())
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("HOME", self.folder.path().join("home"))
            .env("XDG_RUNTIME_DIR", self.folder.path().join("run"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program with these words and variables. Returns what it prints, or its errors.
    pub(crate) fn playhouse(
        &self,
        words: &[&str],
        variables: &[(String, String)],
    ) -> Result<String, String> {
        let mut command = self.command("playhouse");
        let command = command.args(words.iter().map(|word| self.local(word)));
        let command = command.envs(variables.iter().cloned());
        printed(&command.output().expect("it runs"))
    }

    /// Runs a script that must succeed. Processes that it leaves behind are killed.
    pub(crate) fn run(&self, script: &str) -> Result<String, String> {
        let mut command = self.command("bash");
        let script = self.local(script);
        let command = command.args(["-eu", "-o", "pipefail", "-c", &script]);
        let errors = self.file(".errors", "");
        let error_file = fs::File::create(&errors).expect("writable");
        let output_path = self.file(".output", "");
        let output_file = fs::File::create(&output_path).expect("writable");
        // Files, not pipes: processes in the background keep them open.
        let command = command.stdout(output_file).stderr(error_file);
        let mut child = command.process_group(0).spawn().expect("it starts");
        let group = Pid::from_raw(child.id().cast_signed()).expect("not 0");
        let status = child.wait().expect("it runs");
        let _ = kill_process_group(group, Signal::TERM);
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        match status.success() {
            true => Ok(read(&output_path)),
            false => Err(format!("{status}: {}{}", read(&output_path), read(&errors))),
        }
    }

    /// Stops the servers and apps that commands have left behind.
    fn stop(&self) -> Result<(), String> {
        self.playhouse(&["stop", "--all"], &[])?;
        let apps = self.playhouse(&["app", "--list", "--json"], &[])?;
        let apps: Vec<Value> = serde_json::from_str(&apps).map_err(|error| error.to_string())?;
        for app in &apps {
            let text = |key: &str| app[key].as_str().unwrap_or_default();
            let (name, folder) = (text("name"), text("cwd"));
            self.playhouse(&["app", "--name", name, "--cwd", folder, "--shutdown"], &[])?;
        }
        Ok(())
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let stopped = self.stop();
        // A second panic would hide the first one.
        if !std::thread::panicking() {
            stopped.expect("what commands left behind is stopped");
        }
    }
}

fn printed(output: &Output) -> Result<String, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stdout) + text(&output.stderr).trim()),
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("writable");
    for entry in fs::read_dir(from).expect("it can be read") {
        let path = entry.expect("it can be read").path();
        let target = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(fs::copy(&path, &target).expect("writable")),
        }
    }
}
