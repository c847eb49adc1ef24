//! Starting a server.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Client, NoAnswer};

/// A server to start: its command line, environment, working directory, and timeout.
#[derive(Clone, PartialEq)]
pub struct Launch {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(String, String)>,
    workspace: Option<PathBuf>,
    capabilities: Value,
    pub(super) roots: Vec<String>,
    /// The response of the user to any elicitation.
    pub(super) says: Option<Value>,
    pub(super) limit: Duration,
}

/// The server's working directory.
pub(super) enum Workspace {
    Own(TempDir),
    Given(PathBuf),
}

/// Prefixes of variables that configure servers: those of the developer's shell must not affect tests.
const FOREIGN: [&str; 4] = ["PLAYHOUSE_", "PLAYWRIGHT_", "PWMCP_", "PW_"];

impl Launch {
    /// Creates a server without arguments, in a new workspace, with 30 s for each response. A relative program path is relative to the
    /// current folder, not to the workspace. Its answers are those of `@playwright/mcp`, without changes, unless an argument says otherwise.
    pub fn new(program: impl AsRef<Path>) -> Self {
        let program = program.as_ref();
        let is_path = program.components().nth(1).is_some();
        Self {
            program: match std::path::absolute(program) {
                Ok(path) if is_path => path,
                _ => program.to_owned(),
            },
            args: Vec::new(),
            env: vec![
                ("PLAYHOUSE_ANSWERS".to_owned(), "playwright".to_owned()),
                ("PLAYHOUSE_CHANGES".to_owned(), "off".to_owned()),
            ],
            workspace: None,
            capabilities: json!({}),
            roots: Vec::new(),
            says: None,
            limit: Duration::from_secs(30),
        }
    }

    /// Adds arguments.
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Adds an environment variable.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Has the server answer as it does for users.
    pub fn with_default_answers(mut self) -> Self {
        self.env.clear();
        self
    }

    /// Divides timeouts that no option sets, so that tests that reach them are faster.
    pub fn timeout_divisor(self, divisor: u32) -> Self {
        self.env("PLAYHOUSE_TEST_TIMEOUT_DIVISOR", &divisor.to_string())
    }

    /// Sets the working directory, which is not removed afterwards.
    pub fn workspace(mut self, path: impl AsRef<Path>) -> Self {
        self.workspace = Some(path.as_ref().to_owned());
        self
    }

    /// Sets the response of the user to each form.
    pub fn user(mut self, says: Value) -> Self {
        self.capabilities["elicitation"] = json!({});
        self.says = Some(says);
        self
    }

    /// Sets the client's roots (URIs).
    pub fn roots(mut self, uris: &[&str]) -> Self {
        self.capabilities["roots"] = json!({});
        self.roots = uris.iter().map(|&uri| uri.to_owned()).collect();
        self
    }

    /// Sets the timeout of every wait.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Returns whether the two start the same server; the timeout of waits is the client's.
    pub(super) fn starts_same_server(&self, other: &Self) -> bool {
        let limit = self.limit;
        let other = Self {
            limit,
            ..other.clone()
        };
        *self == other
    }

    pub(super) fn has_own_workspace(&self) -> bool {
        self.workspace.is_none()
    }

    /// Returns the capabilities of the client.
    pub(super) fn capabilities(&self) -> Value {
        self.capabilities.clone()
    }

    /// Starts the server and initializes the connection.
    pub async fn start(self) -> Client {
        let capabilities = self.capabilities.clone();
        let client = self.spawn();
        client.initialize(capabilities).await;
        client
    }

    /// Starts the server and initializes the connection, without panicking if that fails.
    pub async fn try_start(self) -> (Client, Result<Value, NoAnswer>) {
        let capabilities = self.capabilities.clone();
        let client = self.spawn();
        let answer = client.try_initialize(capabilities).await;
        (client, answer)
    }

    /// Starts the server without any message.
    pub fn spawn(self) -> Client {
        let workspace = match &self.workspace {
            Some(path) => Workspace::Given(path.clone()),
            None => Workspace::Own(
                tempfile::Builder::new()
                    .prefix("testkit-")
                    .tempdir()
                    .expect("a temporary folder"),
            ),
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "a test starts the server; it dies with its client"
        )]
        let mut command = tokio::process::Command::new(&self.program);
        for (name, _) in std::env::vars()
            .filter(|(name, _)| FOREIGN.iter().any(|prefix| name.starts_with(prefix)))
        {
            command.env_remove(name);
        }
        let child = command
            .args(&self.args)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(workspace.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", self.program.display()));
        Client::adopt(child, self, workspace)
    }
}

impl Workspace {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Own(folder) => folder.path(),
            Self::Given(path) => path,
        }
    }
}
