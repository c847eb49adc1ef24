//! The servers of the app under test: starting them with the configured commands, counting the sessions that use them, and stopping them
//! with the last one.

mod command;
mod command_group;
mod lease;
mod logs;
mod plain;
mod process;
mod responsiveness;

use crate::config::{DevServerSettings, DevServers as Settings};
use crate::error::{Error, Result, ServerReport};
use command::{CommandReply, Verb};
use lease::{Lease, LeaseFolder};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use supervisor::processes::Identity;
use supervisor::{Answer, Logs, Status, owners};
use tokio::time::Instant;

pub(crate) use command::last_lines;
pub(crate) use logs::{Excerpt, Position, between, end, last, page, since};

/// How long a server that reports that it is ready may take to accept a connection.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(5);

const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long to wait for another process that starts or stops a server, before a check whether a server was left running.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);

/// All configured servers.
pub(crate) struct DevServers {
    leases: PathBuf,
    all: Vec<Arc<DevServer>>,
}

/// A configured server.
pub(crate) struct DevServer {
    settings: DevServerSettings,
    /// The settings in effect: the configured command, or `playhouse app` around a plain command.
    effective_settings: Mutex<Arc<DevServerSettings>>,
    register: LeaseFolder,
    /// The required servers, in the order in which they are started.
    required: Vec<Arc<DevServer>>,
    /// Locked while the command starts or stops the server.
    state: tokio::sync::Mutex<State>,
    /// The last answer of the command since the last start.
    known: Mutex<Option<Answer>>,
}

#[derive(Default)]
struct State {
    users: usize,
    lease: Option<Lease>,
    /// The server ran before Playhouse started it, and no Playhouse had started it.
    foreign: bool,
    /// Playhouse is shutting down: no server is started any more.
    closed: bool,
}

/// What happened to a server that a session no longer uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StopOutcome {
    /// The server was stopped; this is the answer of the command.
    Stopped(Box<Answer>),
    /// Other sessions use it.
    Shared,
    /// The server ran before and continues to run.
    Running,
}

/// Why a session no longer uses a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// A call requested that it be stopped.
    Asked,
    /// The session ended for another reason.
    Over,
}

impl DevServers {
    /// Creates the servers without starting them.
    pub(crate) fn new(settings: &Settings) -> Self {
        let mut all: Vec<Arc<DevServer>> = Vec::new();
        for settings_of_one in &settings.servers {
            // The settings are in that order.
            let required = |name: &String| all.iter().find(|other| other.name() == name).cloned();
            let direct: Vec<_> = settings_of_one
                .requires
                .iter()
                .filter_map(required)
                .collect();
            let mut required: Vec<Arc<DevServer>> = Vec::new();
            for other in direct
                .iter()
                .flat_map(|server| server.required.iter().chain([server]))
            {
                if !required.iter().any(|known| known.name() == other.name()) {
                    required.push(other.clone());
                }
            }
            all.push(Arc::new(DevServer {
                settings: settings_of_one.clone(),
                effective_settings: Mutex::new(Arc::new(
                    match plain::is_known(&settings_of_one.command) {
                        true => plain::wrapped(settings_of_one),
                        false => settings_of_one.clone(),
                    },
                )),
                register: LeaseFolder::of(settings_of_one, &settings.leases),
                required,
                state: tokio::sync::Mutex::default(),
                known: Mutex::default(),
            }));
        }
        Self {
            leases: settings.leases.clone(),
            all,
        }
    }

    /// Returns the server of that name; without a name, the only one that no other requires.
    pub(crate) fn find(&self, name: Option<&str>) -> Result<Arc<DevServer>> {
        let is_required = |server: &Arc<DevServer>| {
            let mut others = self.all.iter().flat_map(|other| &other.required);
            others.any(|other| Arc::ptr_eq(other, server))
        };
        let mut fitting = self.all.iter().filter(|server| match name {
            Some(name) => server.name() == name,
            None => !is_required(server),
        });
        match (fitting.next(), fitting.next()) {
            (Some(server), None) => Ok(server.clone()),
            _ => Err(Error::DevServerNotConfigured {
                server: name.map(str::to_owned),
                servers: self
                    .all
                    .iter()
                    .map(|server| server.name().to_owned())
                    .collect(),
            }),
        }
    }

    /// Returns all servers, each after those that it requires.
    pub(crate) fn all(&self) -> &[Arc<DevServer>] {
        &self.all
    }

    /// Stops the servers that killed Playhouse processes had left running.
    pub(crate) fn stop_leftovers(&self) {
        let leases = self.leases.clone();
        task::spawn("clearing up servers", async move {
            for register in LeaseFolder::all(&leases) {
                let alone = register.lock_exclusive(LOCK_TIMEOUT).await;
                let (is_shared, left) = register.other_users(&alone, None);
                let note = left.iter().find_map(|left| left.note.as_ref());
                if let Some(note) = note.filter(|_| !is_shared) {
                    let settings = note.settings();
                    tracing::info!(server = settings.name, "stopping what was left running");
                    if let Err(error) = stopped(&settings, note.process.as_ref()).await {
                        tracing::warn!(%error, "what was left running cannot be stopped");
                    }
                }
                left.into_iter().for_each(lease::StaleLease::remove_file);
            }
        })
        .detach();
    }

    /// Stops the servers that Playhouse started, also those that sessions still use.
    pub(crate) async fn close(&self) {
        // Servers that require others are stopped first.
        for server in self.all.iter().rev() {
            let mut state = server.state.lock().await;
            state.users = 0;
            state.closed = true;
            if let Err(error) = server.stop_unless_shared(&mut state, Reason::Over).await {
                tracing::warn!(%error, "a server cannot be stopped");
            }
        }
    }
}

/// A reference to a running server, which is released when dropped.
pub(crate) struct Use {
    pub(crate) server: Arc<DevServer>,
    given_back: bool,
}

impl Use {
    /// Releases the reference: the last one stops the server.
    pub(crate) async fn give_back(mut self, reason: Reason) -> Result<StopOutcome> {
        self.given_back = true;
        let server = self.server.clone();
        to_the_end(async move { server.release(reason).await }).await
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        if !self.given_back {
            let server = self.server.clone();
            task::spawn("stopping server", async move {
                if let Err(error) = server.release(Reason::Over).await {
                    tracing::warn!(%error, "a server cannot be stopped");
                }
            })
            .detach();
        }
    }
}

impl DevServer {
    /// Returns the name of the server.
    pub(crate) fn name(&self) -> &str {
        &self.settings.name
    }

    /// Returns the idle timeout of sessions that use the server.
    pub(crate) fn idle(&self) -> Option<Duration> {
        self.settings.idle
    }

    /// Returns the answer of the last start.
    pub(crate) fn known(&self) -> Option<Answer> {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns the known log files of the server.
    pub(crate) fn logs(&self) -> Logs {
        self.known().map(|known| known.logs).unwrap_or_default()
    }

    /// Starts the server and those that it requires, if they do not run, and returns a reference to each, its own first. If the caller is
    /// cancelled, the start is completed and the servers are stopped.
    pub(crate) async fn begin(self: &Arc<Self>) -> Result<Vec<Use>> {
        let mut uses = Vec::new();
        for server in self.required.iter().chain([self]) {
            let server = server.clone();
            uses.push(to_the_end(async move { server.started().await }).await?);
        }
        uses.reverse();
        Ok(uses)
    }

    /// Returns the state that the command reports.
    pub(crate) async fn status(&self) -> Result<Answer> {
        if let Some(external_answer) = self.external_answer() {
            return Ok(match is_open(&external_answer, Duration::ZERO).await {
                true => Answer {
                    status: Status::Running,
                    ..external_answer
                },
                false => Answer {
                    status: Status::Stopped,
                    ..external_answer
                },
            });
        }
        let before = self.known();
        let said = command::ask(
            &self.effective_settings(),
            Verb::Status,
            &self.environment(),
        )
        .await?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Another process may have restarted the server, in which case the known answer is outdated.
        if let Some(known) = known.as_mut()
            && before.as_ref() == Some(known)
            && said.answer.url.is_some()
            && matches!(said.answer.status, Status::Running | Status::Unhealthy)
        {
            known.update_address(&said.answer);
        }
        Ok(said.answer)
    }

    /// Restarts the server; returns when it accepts connections.
    pub(crate) async fn restart(self: &Arc<Self>) -> Result<Answer> {
        let server = self.clone();
        to_the_end(async move {
            let mut state = server.state.lock().await;
            if server.external_answer().is_some() {
                let reason = "it was not started by this server: restart it where it runs";
                let report = ServerReport::default();
                return Err(command::failed(
                    &server.settings,
                    Verb::Restart,
                    reason.to_owned(),
                    report,
                ));
            }
            // Without a lease, no Playhouse would stop the server.
            if state.lease.is_none() {
                return Err(server.stopped_error(Verb::Restart));
            }
            let _alone = server
                .register
                .lock_exclusive(server.settings.restart)
                .await;
            let answer = server.start_and_wait(&mut state, Verb::Restart).await?;
            Ok(answer)
        })
        .await
    }

    /// Returns whether the server's process has ended, as far as that is known without running the command.
    pub(crate) fn is_gone(&self) -> bool {
        // While the server is started or stopped, this is unknown.
        let Ok(state) = self.state.try_lock() else {
            return false;
        };
        let process = state.lease.as_ref().and_then(Lease::process);
        process.is_some_and(|process| !process.is_alive())
    }

    /// Returns whether the server's port refuses connections.
    pub(crate) async fn refuses_connections(&self) -> bool {
        match self.known() {
            Some(known) => !is_open(&known, POLL_INTERVAL).await,
            None => false,
        }
    }

    async fn started(self: Arc<Self>) -> Result<Use> {
        let mut state = self.state.lock().await;
        if state.closed {
            return Err(self.stopped_error(Verb::Start));
        }
        let alone = self.register.lock_exclusive(self.settings.start).await;
        let ours = state.lease.is_some() || self.settings.url.is_some();
        if !ours {
            let (is_shared, left) = self.register.other_users(&alone, None);
            // The lease is taken before the start, because Playhouse may be killed in between.
            state.lease = Some(self.register.take(&self.effective_settings(), &alone));
            state.foreign = !is_shared && left.is_empty();
            left.into_iter().for_each(lease::StaleLease::remove_file);
            self.set_known(None);
        }
        match self.start_and_wait(&mut state, Verb::Start).await {
            Ok(answer) => {
                state.foreign &= answer.status == Status::AlreadyRunning;
                state.users += 1;
                Ok(Use {
                    server: self.clone(),
                    given_back: false,
                })
            }
            Err(error) => {
                if state.users == 0 {
                    // A failed start may have started a process, unless the server ran before.
                    let ran = |known: Answer| known.status == Status::AlreadyRunning;
                    state.foreign &= self.known().is_some_and(ran);
                    drop(alone);
                    let stopped = self.stop_unless_shared(&mut state, Reason::Over).await;
                    tracing::debug!(?stopped, "after a start that failed");
                }
                Err(error)
            }
        }
    }

    /// Runs the command to start or restart the server, and waits until the server listens.
    async fn start_and_wait(&self, state: &mut State, verb: Verb) -> Result<Answer> {
        let CommandReply { answer, started } = self.run_start_command(state, verb).await?;
        // A server that ran before keeps its process.
        if let Some(lease) = &mut state.lease
            && answer.status != Status::AlreadyRunning
        {
            lease.set_process(started);
        }
        self.set_known(Some(answer.clone()));
        match is_open(&answer, LISTEN_TIMEOUT).await {
            true => Ok(answer),
            false => {
                let url = answer.url.as_deref().unwrap_or_default();
                let reason = format!(
                    "it answered with the status \"{}\", but nothing listens on {url}",
                    answer.status
                );
                let log = answer.logs.errors().and_then(last_lines);
                let report = ServerReport {
                    exit_code: answer.exit_code,
                    log,
                    logs: answer.logs.paths(),
                    ..ServerReport::default()
                };
                Err(command::failed(&self.settings, verb, reason, report))
            }
        }
    }

    /// Runs the command to start or restart the server. A plain command is run by `playhouse app` from then on.
    async fn run_start_command(&self, state: &mut State, verb: Verb) -> Result<CommandReply> {
        if let Some(answer) = self.external_answer() {
            return Ok(CommandReply {
                answer,
                started: None,
            });
        }
        let mut environment = self.environment();
        let owners = state.lease.as_ref().and_then(Lease::folder);
        let owners = owners.map(|folder| folder.display().to_string());
        environment.extend(owners.map(|folder| (owners::FOLDER.to_owned(), folder)));
        if let Some(said) = command::try_ask(&self.effective_settings(), verb, &environment).await?
        {
            return Ok(said);
        }
        let wrapped = Arc::new(plain::wrapped(&self.settings));
        tracing::info!(
            server = self.name(),
            "its command is run by `playhouse app`"
        );
        if let Some(lease) = &mut state.lease {
            lease.set_command(&wrapped);
        }
        *self
            .effective_settings
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = wrapped.clone();
        command::ask(&wrapped, verb, &environment).await
    }

    /// Returns the answer for an app that runs already.
    fn external_answer(&self) -> Option<Answer> {
        Some(Answer::of_url(self.settings.url.as_deref()?))
    }

    fn effective_settings(&self) -> Arc<DevServerSettings> {
        let effective_settings = self.effective_settings.lock();
        effective_settings
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn stopped_error(&self, verb: Verb) -> Error {
        let reason = "it was stopped meanwhile and is not in use".to_owned();
        command::failed(&self.settings, verb, reason, ServerReport::default())
    }

    async fn release(&self, reason: Reason) -> Result<StopOutcome> {
        let mut state = self.state.lock().await;
        // All servers may have been stopped meanwhile.
        state.users = state.users.saturating_sub(1);
        match state.users {
            0 => self.stop_unless_shared(&mut state, reason).await,
            _ => Ok(StopOutcome::Shared),
        }
    }

    /// Stops the server, unless another server uses it.
    async fn stop_unless_shared(&self, state: &mut State, reason: Reason) -> Result<StopOutcome> {
        if self.settings.url.is_some() {
            self.set_known(None);
            return Ok(StopOutcome::Running);
        }
        let Some(lease) = state.lease.take() else {
            return Ok(StopOutcome::Shared);
        };
        let alone = self.register.lock_exclusive(self.settings.shutdown).await;
        let (is_shared, left) = self.register.other_users(&alone, Some(&lease));
        if is_shared {
            lease.release(&alone);
            return Ok(StopOutcome::Shared);
        }
        if state.foreign && reason == Reason::Over {
            lease.release(&alone);
            return Ok(StopOutcome::Running);
        }
        // The lease is kept until the server is stopped, because Playhouse may be killed in between.
        let answer = stopped(&self.effective_settings(), lease.process()).await;
        lease.release(&alone);
        left.into_iter().for_each(lease::StaleLease::remove_file);
        self.set_known(None);
        Ok(StopOutcome::Stopped(Box::new(answer?)))
    }

    fn set_known(&self, answer: Option<Answer>) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = answer;
    }

    /// Returns the environment variables with the URLs of the required servers.
    fn environment(&self) -> Vec<(String, String)> {
        let variable = |server: &Arc<Self>| {
            let name = server.name().to_ascii_uppercase().replace('-', "_");
            Some((format!("PLAYHOUSE_URL_{name}"), server.known()?.url?))
        };
        self.required.iter().filter_map(variable).collect()
    }
}

/// Runs the command to stop the server. If that fails, the server's process is terminated, if it is identified with certainty.
async fn stopped(settings: &DevServerSettings, process: Option<&Identity>) -> Result<Answer> {
    let answer = command::ask(settings, Verb::Shutdown, &[]).await;
    let answer = answer.map(|said| said.answer);
    match process {
        Some(process) if process.is_alive() => {
            // The command may report the end a little early.
            let gone = process::end(process).await;
            tracing::warn!(
                gone,
                server = settings.name,
                "the server outlived its shutdown"
            );
            answer
        }
        _ => answer,
    }
}

/// Returns whether the URL accepts connections, now or within the limit.
async fn is_open(answer: &Answer, limit: Duration) -> bool {
    let url = answer.url.as_deref();
    let url = url.and_then(|url| url::Url::parse(url).ok());
    let Some((url, port)) = url.and_then(|url| Some((url.clone(), url.port_or_known_default()?)))
    else {
        return false;
    };
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let until = Instant::now() + limit;
    loop {
        let connected = tokio::net::TcpStream::connect((host, port));
        match tokio::time::timeout(LISTEN_TIMEOUT, connected).await {
            Ok(Ok(_)) => return true,
            Ok(Err(_)) if Instant::now() < until => tokio::time::sleep(POLL_INTERVAL).await,
            _ => return false,
        }
    }
}

/// Completes the future even if the caller is cancelled.
async fn to_the_end<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let done = task::run_to_completion("server of the app", work).await;
    done.unwrap_or_else(|| {
        Err(Error::Internal {
            tool: "e2e",
            reason: "a task panicked".to_owned(),
        })
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_server_is_started_during_shutdown() {
        let folder = tempfile::tempdir().unwrap();
        let limit = Duration::from_secs(10);
        let settings = DevServerSettings {
            name: "web".into(),
            command: ["sh", "-c", "touch asked", "sh"]
                .map(str::to_owned)
                .to_vec(),
            url: None,
            cwd: folder.path().to_owned(),
            env: Vec::new(),
            requires: Vec::new(),
            start: limit,
            restart: limit,
            status: limit,
            shutdown: limit,
            idle: None,
        };
        let servers = DevServers::new(&Settings {
            servers: vec![settings],
            leases: folder.path().join("leases"),
        });
        let server = servers.find(None).unwrap();
        assert!(server.restart().await.is_err(), "it has no user");
        servers.close().await;
        assert!(server.begin().await.is_err());
        assert!(!folder.path().join("asked").exists());
    }
}
