//! The supervisor of an app: how a command starts it, and what it does until the app has ended.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::app::App;
use crate::error::{AppError, Taken};
use crate::logs::Logs;
use crate::owners;
use crate::port;
use crate::process_tree::MARK;
use crate::processes::{self, Identity};
use crate::readiness::{Readiness, Ready};
use crate::running::Running;
use crate::state::{AppAddress, Exit, Folder, Phase, State, now};

/// The name of the supervisor's command.
pub const SUPERVISOR: &str = "app-supervisor";

/// The largest number of ports that are tried.
const MAX_PORT_ATTEMPTS: usize = 4;
/// How long an app that failed to start may take to end.
const FAILED_EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long an app must have run to be restarted after a crash, in milliseconds; this prevents a crash loop.
const MIN_UPTIME_MS: i64 = 2000;
/// The interval between checks whether the owners of an app run.
const OWNERS_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How much longer than the app a supervisor may take to report a failed start, including the end of the app.
const START_MARGIN: Duration = Duration::from_secs(8);

type Result<T> = std::result::Result<T, AppError>;

/// The order that a supervisor receives on stdin.
#[derive(Serialize, Deserialize)]
struct StartRequest {
    app: App,
    /// The port of the previous run.
    port: Option<u16>,
}

/// Starts a supervisor, and waits until the app is ready.
pub(crate) async fn start(app: &App, port: Option<u16>) -> Result<State> {
    if app.command.is_empty() {
        return Err(AppError::NoCommand);
    }
    let failed = |source: io::Error| AppError::NoSupervisor(source.to_string());
    let folder = Folder::open(&app.folder).map_err(|e| AppError::no_folder(&app.folder, &e))?;
    let open_error_file = folder
        .open_error_file()
        .map_err(|e| AppError::no_folder(&app.folder, &e))?;
    #[expect(
        clippy::disallowed_methods,
        reason = "a supervisor outlives the command that starts it"
    )]
    let mut command = tokio::process::Command::new(processes::own_program());
    let mut supervisor = command
        .arg(SUPERVISOR)
        .arg(&app.folder)
        .env(MARK, &app.folder)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(open_error_file)
        .spawn()
        .map_err(failed)?;
    let identity = supervisor.id().and_then(Identity::of_child);
    let orders = StartRequest {
        app: app.clone(),
        port,
    };
    let talk = async {
        let mut stdin = supervisor.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        stdin.write_all(&serde_json::to_vec(&orders)?).await?;
        drop(stdin);
        let stdout = supervisor.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).await?;
        io::Result::Ok(line)
    };
    let line = match tokio::time::timeout(app.ready_timeout + START_MARGIN, talk).await {
        Ok(line) => line.map_err(failed)?,
        Err(_) => {
            if let Some(identity) = identity {
                identity.kill();
            }
            return Err(AppError::NoSupervisor("no response".to_owned()));
        }
    };
    match serde_json::from_str(&line) {
        Ok(Ok(state)) => Ok(state),
        Ok(Err(error)) => {
            // The supervisor has reported; when it has exited, no process is left.
            let _ = tokio::time::timeout(START_MARGIN, supervisor.wait()).await;
            Err(error)
        }
        Err(_) => {
            let said = std::fs::read_to_string(app.folder.join("supervisor.log"));
            let said = said.unwrap_or_default();
            Err(AppError::NoSupervisor(format!("it ended. {}", said.trim())))
        }
    }
}

/// Closes inherited file descriptors that the parent left open: another process may wait for their end. Must be called before this process
/// opens files.
pub fn close_inherited_files() {
    let files = std::fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    let numbers: Vec<i32> = files
        .filter_map(|file| file.file_name().to_str()?.parse().ok())
        .collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        #[expect(unsafe_code, reason = "only the system knows what we were given")]
        // SAFETY: nothing in this process uses the descriptor; that of the listing itself is closed already, which is a harmless error.
        unsafe {
            libc::close(number);
        }
    }
}

/// Executes the order on stdin, and returns when the app has ended.
pub async fn supervise() -> Result<()> {
    let mut text = Vec::new();
    let unreadable = |why: String| AppError::NoSupervisor(format!("its orders: {why}"));
    io::stdin()
        .read_to_end(&mut text)
        .map_err(|e| unreadable(e.to_string()))?;
    let StartRequest { app, port } =
        serde_json::from_slice(&text).map_err(|e| unreadable(e.to_string()))?;
    let brought_up = match Supervisor::new(app) {
        Ok(mut supervisor) => {
            let up = supervisor.start_on_free_port(port).await;
            up.map(|(running, state)| (supervisor, running, state))
        }
        Err(error) => Err(error),
    };
    let report = match &brought_up {
        Ok((_, _, state)) => Ok(state),
        Err(error) => Err(error),
    };
    // The client of the command may have exited; the app continues, and can be shut down.
    let line = serde_json::to_string(&report).unwrap_or_default() + "\n";
    let _ = io::stdout().write_all(line.as_bytes());
    if let Ok((mut supervisor, mut running, mut state)) = brought_up {
        while let Some(again) = supervisor.watch(running, state).await {
            (running, state) = again;
        }
    }
    Ok(())
}

struct Supervisor {
    app: App,
    folder: Folder,
    logs: Arc<Logs>,
    us: Identity,
    asked_to_end: [Signal; 3],
    _disk: Signal,
}

/// The result of a start.
enum Outcome {
    Ready(Ready),
    Ended(Exit),
    TimedOut,
    AskedToEnd,
}

impl Supervisor {
    fn new(app: App) -> Result<Self> {
        let failed = |source: io::Error| AppError::NoSupervisor(source.to_string());
        // The signals of the terminal are not for this process.
        rustix::process::setsid().map_err(|error| failed(error.into()))?;
        // Orphans of the app become children of the supervisor, which is notified of their end and reaps them.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        let folder = Folder::open(&app.folder).map_err(|e| AppError::no_folder(&app.folder, &e))?;
        let pattern = match &app.ready_pattern {
            Some(text) => Some(regex::Regex::new(text).map_err(|error| {
                AppError::Usage(format!("--ready-pattern {text} cannot be read: {error}"))
            })?),
            None => None,
        };
        Ok(Self {
            logs: Arc::new(Logs::begin(&folder.logs(), app.log_limit, pattern)),
            us: Identity::of(std::process::id())
                .ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?,
            asked_to_end: [
                signal(SignalKind::terminate()).map_err(failed)?,
                signal(SignalKind::interrupt()).map_err(failed)?,
                signal(SignalKind::hangup()).map_err(failed)?,
            ],
            // A file above the size limit is an ordinary error.
            _disk: signal(SignalKind::from_raw(libc::SIGXFSZ)).map_err(failed)?,
            app,
            folder,
        })
    }

    /// Starts the app, on another port while the port is in use.
    async fn start_on_free_port(&mut self, mut preferred: Option<u16>) -> Result<(Running, State)> {
        let until = Instant::now() + self.app.ready_timeout;
        let mut tried = 0;
        loop {
            tried += 1;
            let port = port::free(preferred.take()).map_err(|e| AppError::NoPort(e.to_string()))?;
            self.logs.forget();
            let mut running = Running::start(&self.app, port, &self.logs)?;
            let mut state = self.begun(&running, port);
            if let Err(source) = self.folder.write(&state) {
                running.end(FAILED_EXIT_TIMEOUT).await;
                return Err(AppError::no_folder(&self.app.folder, &source));
            }
            let (processes, leader) = (running.processes.clone(), running.leader.clone());
            let readiness = Readiness::new(&self.app, &self.logs, &processes, &leader, port);
            let outcome = tokio::select! {
                // An ended app is not ready, even if another process responds on its port.
                biased;
                () = wait_for_signal(&mut self.asked_to_end) => Outcome::AskedToEnd,
                () = wait_for_owners_to_exit(self.app.owners.as_deref()) => Outcome::AskedToEnd,
                exit = running.ended() => Outcome::Ended(exit),
                ready = readiness.wait() => Outcome::Ready(ready),
                () = tokio::time::sleep_until(until.into()) => Outcome::TimedOut,
            };
            let fallback = readiness.fallback();
            let obstacle = readiness.obstacle();
            let error = match outcome {
                Outcome::Ready(Ready::At(place, remark)) => {
                    return Ok((running, self.ready(state, place, remark)));
                }
                Outcome::AskedToEnd => {
                    running.end(self.app.stop_timeout).await;
                    self.record_exit(&mut state, None);
                    return Err(AppError::ShutDown);
                }
                Outcome::Ready(Ready::Taken) => {
                    running.end(FAILED_EXIT_TIMEOUT).await;
                    AppError::PortTaken {
                        tried,
                        taken: Taken::of(port),
                        lines: self.logs.last_lines(),
                    }
                }
                Outcome::Ended(exit) => {
                    running.end(FAILED_EXIT_TIMEOUT).await;
                    let lines = self.logs.last_lines();
                    self.record_exit(&mut state, Some(exit.clone()));
                    let taken = Taken::of(port);
                    if taken.is_some() || reports_port_in_use(&lines) {
                        AppError::PortTaken {
                            tried,
                            taken: taken.or_else(|| Taken::named(&lines)),
                            lines,
                        }
                    } else {
                        AppError::Ended { exit, lines }
                    }
                }
                Outcome::TimedOut => {
                    if let Some(place) = fallback {
                        let remark = Some("Server started, but answers 503".to_owned());
                        return Ok((running, self.ready(state, place, remark)));
                    }
                    running.end(FAILED_EXIT_TIMEOUT).await;
                    AppError::NotReady {
                        waited: self.app.ready_timeout.as_millis(),
                        obstacle,
                        lines: self.logs.last_lines(),
                    }
                }
            };
            // An app that ignores the assigned port would use the same port again.
            let again = match &error {
                AppError::PortTaken { taken, .. } => {
                    tried < MAX_PORT_ATTEMPTS
                        && taken.as_ref().is_none_or(|taken| taken.port == port)
                }
                _ => false,
            };
            if !again || Instant::now() > until {
                self.record_exit(&mut state, None);
                return Err(error);
            }
        }
    }

    /// Waits until the app has ended, or stops it. Restarts a crashed app, if that is configured.
    async fn watch(&mut self, mut running: Running, mut state: State) -> Option<(Running, State)> {
        let exit = tokio::select! {
            biased;
            () = wait_for_signal(&mut self.asked_to_end) => None,
            () = wait_for_owners_to_exit(self.app.owners.as_deref()) => None,
            exit = running.ended() => Some(exit),
        };
        let grace = if exit.is_some() {
            FAILED_EXIT_TIMEOUT
        } else {
            self.app.stop_timeout
        };
        running.end(grace).await;
        let crashed = exit.as_ref().is_some_and(|exit| exit.code != Some(0));
        let lived = now().saturating_sub(state.started);
        if !crashed || !self.app.restart_on_crash || lived < MIN_UPTIME_MS {
            self.record_exit(&mut state, exit);
            return None;
        }
        // Other commands wait until it is ready again.
        state.phase = Phase::Starting;
        self.note(&state);
        let again = self.start_on_free_port(state.port).await;
        let (running, state) = again.ok()?;
        Some((running, state))
    }

    fn begun(&self, running: &Running, port: u16) -> State {
        State {
            phase: Phase::Starting,
            cwd: self.app.cwd.clone(),
            command: self.app.command.clone(),
            supervisor: self.us.clone(),
            app: Some(running.leader.clone()),
            started: now(),
            port: Some(port),
            url: None,
            ready_path: self.app.ready_path.clone(),
            remark: None,
            ended: None,
            exit: None,
            lines: String::new(),
        }
    }

    fn ready(&self, mut state: State, place: AppAddress, remark: Option<String>) -> State {
        state.phase = Phase::Ready;
        state.url = Some(place.url);
        state.port = Some(place.port);
        state.remark = remark;
        self.note(&state);
        state
    }

    fn record_exit(&self, state: &mut State, exit: Option<Exit>) {
        state.phase = Phase::Ended;
        state.ended = Some(now());
        if exit.is_some() {
            state.exit = exit;
            state.lines = self.logs.last_lines();
        }
        self.note(state);
    }

    /// Writes the state. On a full disk it is unchanged; the next command checks what runs.
    fn note(&self, state: &State) {
        if let Err(error) = self.folder.write(state) {
            let _ = writeln!(io::stderr(), "cannot write the state: {error}");
        }
    }
}

async fn wait_for_signal([terminate, interrupt, hangup]: &mut [Signal; 3]) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        _ = hangup.recv() => {}
    }
}

/// Resolves when all owners of the app have ended. Never, for an app without owners.
async fn wait_for_owners_to_exit(owners: Option<&Path>) {
    let Some(owners) = owners else {
        return std::future::pending().await;
    };
    while owners::are_alive(owners) {
        tokio::time::sleep(OWNERS_POLL_INTERVAL).await;
    }
}

/// Returns whether the output of an app reports that its port is in use.
fn reports_port_in_use(lines: &str) -> bool {
    let lines = lines.to_lowercase();
    ["eaddrinuse", "address already in use", "already in use"]
        .iter()
        .any(|words| lines.contains(words))
}
