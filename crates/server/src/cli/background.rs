//! The background server of a workspace, which `playhouse do` and `playhouse run` use: `playhouse start`, `ps` and `stop`.

mod client;
mod start;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use clap::{ArgMatches, Command};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::print;
use super::syntax::switch;
use crate::config::{Config, Environment, Settings, flags, runtime_folders};
use crate::error::ErrorClass;
use crate::sessions::unix_ms;
use crate::transport::serve::serve_workspace;
use crate::transport::workspace_socket::{FolderError, RuntimeFolder, ServerInfo, WorkspaceSocket};
pub(super) use client::Connection;

pub(super) const START: &str = "start";
pub(super) const PS: &str = "ps";
pub(super) const STOP: &str = "stop";
/// The command that is the background server.
pub(super) const SERVE: &str = "serve-workspace";

/// How long a server may take to end after a signal before it is killed.
const STOP_TIMEOUT: Duration = Duration::from_secs(40);
/// The same for one that does not respond.
const UNRESPONSIVE_STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// The interval between checks whether a server has ended.
const STOP_INTERVAL: Duration = Duration::from_millis(5);

/// Why a command has no background server to use.
#[derive(Debug, thiserror::Error)]
pub(super) enum BackgroundError {
    /// The folder of sockets cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The socket cannot be used.
    #[error("cannot connect to the background server: {0}")]
    Connect(io::Error),
    /// The server runs another version of the program.
    #[error(
        "the background server of {} has version {version}, and this command {}. `playhouse stop` ends it, and the next command starts a new one",
        workspace.display(), env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// The workspace.
        workspace: PathBuf,
        /// The version of the server.
        version: String,
    },
    /// The command requires other options than those that the server runs with.
    #[error(
        "the background server of {} runs with other options ({differences}). `playhouse stop` ends it, and the next command starts a new one",
        workspace.display()
    )]
    Options {
        /// The workspace.
        workspace: PathBuf,
        /// The options that differ.
        differences: String,
    },
    /// The server did not start.
    #[error("the background server did not start: {0}")]
    Start(String),
    /// The connection ended before the answer.
    #[error(
        "the background server ended before it answered ({0}), so it is unknown whether the call was carried out"
    )]
    Lost(String),
    /// A server could not be ended.
    #[error("the background server (process {pid}) could not be stopped: {reason}")]
    Stop {
        /// The process.
        pid: u32,
        /// The reason.
        reason: String,
    },
}

impl BackgroundError {
    /// Returns the class of the error, from which the exit status follows.
    pub(super) fn class(&self) -> ErrorClass {
        match self {
            Self::Options { .. } => ErrorClass::Usage,
            Self::Folder(_)
            | Self::Connect(_)
            | Self::Version { .. }
            | Self::Start(_)
            | Self::Lost(_)
            | Self::Stop { .. } => ErrorClass::Failure,
        }
    }
}

/// The workspace of a command, and the socket of its server.
pub(super) struct Workspace {
    folder: PathBuf,
    socket: WorkspaceSocket,
    variables: BTreeMap<String, String>,
}

impl Workspace {
    /// Returns the workspace that a folder belongs to: the nearest folder with `.git` in which it lies, otherwise the folder itself.
    pub(super) fn of(environment: &Environment, cwd: &Path) -> Result<Self, BackgroundError> {
        let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let mut above = cwd.ancestors();
        let root = above.find(|folder| folder.join(".git").exists());
        let folder = root.unwrap_or(&cwd).to_owned();
        let runtime = RuntimeFolder::open(&runtime_folders(environment))?;
        Ok(Self {
            socket: runtime.socket_of(&folder),
            folder,
            variables: environment.option_digests(),
        })
    }

    /// Connects to the server, which is started if none runs.
    pub(super) fn connect(&self) -> Result<Connection, BackgroundError> {
        let connection = match self.open()? {
            Some(connection) => connection,
            None => start::start(&self.socket, &self.folder, &[])?,
        };
        self.check(connection.info(), None)?;
        Ok(connection)
    }

    fn open(&self) -> Result<Option<Connection>, BackgroundError> {
        Connection::open(&self.socket).map_err(BackgroundError::Connect)
    }

    /// Checks that a server is of this version and has the options that the environment sets, and these of the command line.
    fn check(
        &self,
        info: &ServerInfo,
        arguments: Option<&[OsString]>,
    ) -> Result<(), BackgroundError> {
        let workspace = self.folder.clone();
        if info.version != env!("CARGO_PKG_VERSION") {
            return Err(BackgroundError::Version {
                workspace,
                version: info.version.clone(),
            });
        }
        let differs =
            |(name, digest): &(&String, &String)| info.variables.get(*name) != Some(*digest);
        let variables = self.variables.iter().filter(differs);
        let mut differences: Vec<_> = variables
            .map(|(name, _)| format!("{name} is not set or differs there"))
            .collect();
        if let Some(arguments) = arguments
            && !info
                .arguments
                .iter()
                .map(OsString::from)
                .eq(arguments.iter().cloned())
        {
            let there = match info.arguments.is_empty() {
                true => "no options".to_owned(),
                false => info.arguments.join(" "),
            };
            differences.push(format!("it was started with {there}"));
        }
        match differences.is_empty() {
            true => Ok(()),
            false => Err(BackgroundError::Options {
                workspace,
                differences: differences.join("; "),
            }),
        }
    }
}

pub(super) fn commands() -> [Command; 4] {
    [
        Command::new(START)
            .about("Start the background server of this workspace with these options")
            .args(flags::of_the_server()),
        Command::new(PS)
            .about("List the background servers of this user")
            .arg(switch("json").help("Print JSON")),
        Command::new(STOP)
            .about("Stop the background server of this workspace, with its browsers")
            .arg(switch("all").help("Stop those of all workspaces")),
        Command::new(SERVE)
            .hide(true)
            .about("Serve the commands of a workspace: what `playhouse start` starts")
            .args(flags::of_the_server()),
    ]
}

/// Runs `playhouse start`. `arguments` are the words after it.
pub(super) fn start(
    matches: &ArgMatches,
    arguments: &[OsString],
    environment: &Environment,
    cwd: &Path,
) -> ExitCode {
    // Errors are reported here rather than by the server.
    let config = match Config::load_background(matches, environment, cwd) {
        Ok(config) => config,
        Err(error) => return fail(&error, ErrorClass::Usage),
    };
    if let Err(problem) = check_settings(&config.settings) {
        return fail(&problem, ErrorClass::Usage);
    }
    let started = || {
        let workspace = Workspace::of(environment, cwd)?;
        let running = workspace.open()?;
        let (connection, verb) = match running {
            Some(connection) => {
                workspace.check(connection.info(), Some(arguments))?;
                (connection, "runs already")
            }
            None => {
                let connection = start::start(&workspace.socket, &workspace.folder, arguments)?;
                // Another command may have started it.
                workspace.check(connection.info(), Some(arguments))?;
                (connection, "started")
            }
        };
        let pid = connection.info().pid;
        Ok(format!(
            "The background server of {} {verb} (process {pid})\n",
            workspace.folder.display()
        ))
    };
    report(started())
}

/// Returns why a background server cannot have these settings.
fn check_settings(settings: &Settings) -> Result<(), &'static str> {
    match settings.http.is_some() {
        true => Err(
            "a background server listens on its socket only; without --port (PLAYHOUSE_PORT) it can start, and `playhouse --port` serves over HTTP",
        ),
        false => Ok(()),
    }
}

/// Runs the background server in a session of its own, so that the signals of the terminal are not for it.
pub(super) fn serve(settings: Settings, environment: &Environment, cwd: &Path) -> ExitCode {
    if let Err(problem) = check_settings(&settings) {
        return fail(&problem, ErrorClass::Usage);
    }
    // Fails only for the leader of a process group, which needs no session of its own.
    let _ = rustix::process::setsid();
    let socket = match RuntimeFolder::open(&runtime_folders(environment)) {
        Ok(folder) => folder.socket_of(cwd),
        Err(error) => return fail(&error, ErrorClass::Failure),
    };
    let arguments = std::env::args_os().skip(2);
    let info = ServerInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        workspace: cwd.to_owned(),
        started_at: unix_ms(SystemTime::now()),
        idle_ms: 0,
        sessions: 0,
        has_sessions: true,
        unresponsive: false,
        arguments: arguments
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        variables: environment.option_digests(),
    };
    super::wait(serve_workspace(settings, socket, info))
}

/// Runs `playhouse ps`.
pub(super) fn list(matches: &ArgMatches, environment: &Environment) -> ExitCode {
    let listed = || {
        let folder = RuntimeFolder::open(&runtime_folders(environment))?;
        let sockets = folder.sockets().into_iter();
        // A socket without a server is that of one that has crashed.
        let servers: Vec<_> = sockets
            .filter_map(|socket| Connection::probe(&socket))
            .collect();
        Ok(match matches.get_flag("json") {
            true => format!("{}\n", json!(servers)),
            false => table(&servers),
        })
    };
    report(listed())
}

/// Formats servers as a table.
fn table(servers: &[ServerInfo]) -> String {
    if servers.is_empty() {
        return "No background servers\n".to_owned();
    }
    let now = unix_ms(SystemTime::now());
    let mut text = format!(
        "{:>8}  {:>8}  {:>8}  {:>8}  WORKSPACE\n",
        "PID", "SESSIONS", "AGE", "IDLE"
    );
    for server in servers {
        if server.unresponsive {
            let _ = writeln!(text, "{:>8}  {:>26}  (does not respond)", server.pid, "");
            continue;
        }
        let age = duration(now.saturating_sub(server.started_at));
        let idle = duration(server.idle_ms);
        let (pid, sessions) = (server.pid, server.sessions);
        let _ = writeln!(
            text,
            "{pid:>8}  {sessions:>8}  {age:>8}  {idle:>8}  {}",
            server.workspace.display()
        );
    }
    text
}

/// Formats milliseconds for users: `59s`, `12m`, `3h05m`.
fn duration(ms: u64) -> String {
    match ms / 1000 {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m", seconds / 60),
        seconds => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Runs `playhouse stop`.
pub(super) fn stop(matches: &ArgMatches, environment: &Environment, cwd: &Path) -> ExitCode {
    let stopped = || {
        let sockets = match matches.get_flag("all") {
            true => RuntimeFolder::open(&runtime_folders(environment))?.sockets(),
            false => vec![Workspace::of(environment, cwd)?.socket],
        };
        let mut text = String::new();
        let mut failure = None;
        for socket in sockets {
            let Some(server) = Connection::probe(&socket) else {
                continue;
            };
            let whose = match server.unresponsive {
                true => format!("process {}, which did not respond,", server.pid),
                false => server.workspace.display().to_string(),
            };
            // One that cannot be stopped keeps no other running.
            match end(&server, &socket) {
                Ok(()) => {
                    let _ = writeln!(text, "The background server of {whose} has stopped");
                }
                Err(error) => failure = Some(error),
            }
        }
        match failure {
            Some(error) => {
                let _ = print(&text);
                Err(error)
            }
            None if text.is_empty() => Ok("No background server runs\n".to_owned()),
            None => Ok(text),
        }
    };
    report(stopped())
}

/// Ends a server that has just been reached, and waits until its process is gone.
fn end(server: &ServerInfo, socket: &WorkspaceSocket) -> Result<(), BackgroundError> {
    let pid = server.pid;
    let failed = |reason: String| BackgroundError::Stop { pid, reason };
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let process = process.ok_or_else(|| failed("it reported no process".to_owned()))?;
    kill_process(process, Signal::TERM).map_err(|error| failed(error.to_string()))?;
    let is_gone = |until: Instant| {
        while Instant::now() < until {
            // Another command may have started the next server already.
            let is_other = || match Connection::open(socket) {
                Ok(Some(other)) => other.info().pid != pid,
                _ => false,
            };
            if socket.lock().ok()?.is_some() || !server.unresponsive && is_other() {
                return Some(());
            }
            thread::sleep(STOP_INTERVAL);
        }
        None
    };
    let limit = match server.unresponsive {
        true => UNRESPONSIVE_STOP_TIMEOUT,
        false => STOP_TIMEOUT,
    };
    if is_gone(Instant::now() + limit).is_some() {
        return Ok(());
    }
    kill_process(process, Signal::KILL).map_err(|error| failed(error.to_string()))?;
    is_gone(Instant::now() + STOP_TIMEOUT).ok_or_else(|| failed("it was killed".to_owned()))
}

fn report(outcome: Result<String, BackgroundError>) -> ExitCode {
    match outcome {
        Ok(text) => print(&text),
        Err(error) => fail(&error, error.class()),
    }
}

/// Prints an error, and returns the exit status of its class.
pub(super) fn fail(error: &dyn std::fmt::Display, class: ErrorClass) -> ExitCode {
    let text = error.to_string();
    let text = text.trim_start_matches("error: ").trim_end();
    let _ = writeln!(io::stderr(), "error: {text}");
    ExitCode::from(class.exit_status())
}
