//! The commands of `playhouse app`: a server command for any dev command.
//!
//! A command only reads the state, sends signals and waits. The app belongs to its supervisor, a process of this program that outlives the
//! command.

use std::time::{Duration, Instant};

use crate::app::{App, Request};
use crate::error::AppError;
use crate::process_tree::ProcessTree;
use crate::processes::Identity;
use crate::protocol::{Answer, Status};
use crate::state::{self, Folder, Phase, State};
use crate::{port, readiness, supervisor};

/// How long a command waits for another one on the same app.
const LOCK_TIMEOUT: Duration = Duration::from_secs(26);
/// How long `--shutdown` waits, before it ends a start that is in progress.
const SHUTDOWN_LOCK_TIMEOUT: Duration = Duration::from_secs(3);
/// The shortest time for an app to become ready after such a wait.
const MIN_START_TIMEOUT: Duration = Duration::from_secs(2);
/// How much longer than the app a supervisor may take to end, because it writes the last output to the logs.
const SUPERVISOR_EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long processes without a supervisor may take to end before they are killed.
const LEFTOVER_EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a port may stay bound after all processes of the app have ended.
const PORT_RELEASE_TIMEOUT: Duration = Duration::from_secs(1);
/// The interval between checks of conditions without notifications.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

impl App {
    /// Executes a command and returns its answer.
    pub async fn answer(&self, request: Request) -> Answer {
        let answered = match Folder::open(&self.folder) {
            Ok(folder) => {
                let app = Self {
                    folder: folder.path().to_owned(),
                    ..self.clone()
                };
                let command = Command { app, folder };
                match request {
                    Request::Start => command.start().await,
                    Request::Restart => command.restart().await,
                    Request::Status => command.status().await,
                    Request::Shutdown => command.shutdown().await,
                }
                .map_err(|error| Answer::error(&error).with_logs(command.folder.logs()))
            }
            Err(source) => Err(Answer::error(&AppError::no_folder(&self.folder, &source))),
        };
        answered.unwrap_or_else(|error| error)
    }
}

type Result<T> = std::result::Result<T, AppError>;

/// A command in progress.
struct Command {
    app: App,
    folder: Folder,
}

impl Command {
    async fn start(&self) -> Result<Answer> {
        let (_turn, waited) = self.acquire_lock(LOCK_TIMEOUT).await?;
        if let Some(state) = self.wait_until_settled().await {
            let message = if state.command == self.app.command {
                "Server is already running"
            } else {
                "Server is already running, with another command; --restart takes this one"
            };
            return Ok(self.present(Status::AlreadyRunning, &state, message));
        }
        self.clear().await?;
        let state = self.begin(waited).await?;
        let message = state.remark.as_deref().unwrap_or("Server started");
        Ok(self.present(Status::Ready, &state, message))
    }

    async fn restart(&self) -> Result<Answer> {
        let (_turn, waited) = self.acquire_lock(LOCK_TIMEOUT).await?;
        let before = self.stop().await?;
        let state = self.begin(waited).await?;
        let message = state.remark.as_deref().unwrap_or("Server restarted");
        let answer = self.present(Status::Restarted, &state, message);
        Ok(match before {
            Some(before) => answer.with_previous(&before),
            None => answer,
        })
    }

    async fn status(&self) -> Result<Answer> {
        let Some(state) = self.running() else {
            let state = self.folder.read();
            // Processes of a killed supervisor still run, unless another command handles them.
            if let Some(state) = &state
                && let Ok(Some(_turn)) = self.folder.lock()
                && !ProcessTree::of(&self.app.folder, Some(state))
                    .members()
                    .is_empty()
            {
                let message = "Server is running, but its supervisor has terminated and nothing is logged: use --restart or --shutdown";
                let answer = self.present(Status::Unhealthy, state, message);
                return Ok(answer.with_uptime(state).with_health(false));
            }
            let message = state.as_ref().map_or_else(
                || "Server is not running".to_owned(),
                |state| format!("Server is not running{}", state.how_it_ended()),
            );
            let answer = Answer::new(Status::Stopped, message).with_health(false);
            let answer = answer.with_logs(self.folder.logs());
            return Ok(match state {
                Some(state) => answer.with_end(&state),
                None => answer,
            });
        };
        let (healthy, message) = match (state.phase, state.address()) {
            (Phase::Ready, Some(place)) => readiness::health(&place, &state.ready_path).await,
            _ => (false, "Server is starting".to_owned()),
        };
        let status = if healthy {
            Status::Running
        } else {
            Status::Unhealthy
        };
        let answer = self.present(status, &state, &message);
        Ok(answer.with_uptime(&state).with_health(healthy))
    }

    async fn shutdown(&self) -> Result<Answer> {
        let _turn = self.lock_for_shutdown().await?;
        Ok(match self.stop().await? {
            Some(before) => Answer::new(Status::Stopped, "Server stopped".to_owned())
                .with_previous(&before)
                .stopped_now()
                .with_uptime(&before),
            None => Answer::new(Status::Stopped, "Server was not running".to_owned()).stopped_now(),
        })
    }

    fn present(&self, status: Status, state: &State, message: &str) -> Answer {
        Answer::new(status, message.to_owned())
            .with_address(state)
            .with_logs(self.folder.logs())
    }

    /// Returns the state of the app, if its supervisor and at least one of its processes run.
    fn running(&self) -> Option<State> {
        let state = self.folder.read()?;
        let supervised = state.supervisor.is_alive();
        (supervised && state.phase != Phase::Ended).then_some(state)
    }

    /// Returns the state of a running app after its start has completed: the command that started it may have ended.
    async fn wait_until_settled(&self) -> Option<State> {
        loop {
            let state = self.running()?;
            if state.phase == Phase::Ready {
                return Some(state);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Starts the app, on its previous port if that is free. `waited` is the part of the caller's time limit that has passed.
    async fn begin(&self, waited: Duration) -> Result<State> {
        let ready_timeout = self.app.ready_timeout;
        let app = App {
            ready_timeout: ready_timeout
                .saturating_sub(waited)
                .max(MIN_START_TIMEOUT.min(ready_timeout)),
            ..self.app.clone()
        };
        let port = self.folder.read().and_then(|state| state.port);
        supervisor::start(&app, port).await
    }

    /// Locks the app against other commands, and returns how long that took.
    async fn acquire_lock(&self, limit: Duration) -> Result<(state::Lock, Duration)> {
        let since = Instant::now();
        loop {
            let lock = self.folder.lock();
            match lock.map_err(|source| AppError::no_folder(&self.app.folder, &source))? {
                Some(lock) => return Ok((lock, since.elapsed())),
                None if since.elapsed() > limit => return Err(AppError::Busy),
                None => tokio::time::sleep(POLL_INTERVAL).await,
            }
        }
    }

    /// Locks the app, and ends a start that is in progress instead of waiting for it.
    async fn lock_for_shutdown(&self) -> Result<state::Lock> {
        let until = Instant::now() + self.app.stop_timeout + SHUTDOWN_LOCK_TIMEOUT;
        loop {
            match self.acquire_lock(POLL_INTERVAL).await {
                Err(AppError::Busy) if Instant::now() < until => {}
                turn => return turn.map(|(lock, _)| lock),
            }
            if let Some(state) = self.running()
                && state.phase == Phase::Starting
            {
                state.supervisor.terminate();
            }
        }
    }

    /// Stops the app through its supervisor if that responds, and returns the state before.
    async fn stop(&self) -> Result<Option<State>> {
        let running = self.running();
        if let Some(state) = &running {
            self.stop_supervised(&state.supervisor).await;
        }
        let before = self.folder.read();
        let left = self.clear().await?;
        let stopped = running.or(before.filter(|_| left));
        if let Some(port) = stopped.as_ref().and_then(|state| state.port) {
            let until = Instant::now() + PORT_RELEASE_TIMEOUT;
            while !port::is_free(port) && Instant::now() < until {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
        Ok(stopped)
    }

    async fn stop_supervised(&self, supervisor: &Identity) {
        supervisor.terminate();
        let gone = async |limit| {
            let until = Instant::now() + limit;
            while supervisor.is_alive() && Instant::now() < until {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
            !supervisor.is_alive()
        };
        if gone(self.app.stop_timeout).await {
            return;
        }
        // The supervisor's timeout is longer than the remaining time; it ends when the processes have ended.
        let processes = ProcessTree::of(&self.app.folder, self.folder.read().as_ref());
        let app = processes.members().into_iter();
        app.filter(|member| member != supervisor)
            .for_each(|member| member.kill());
        if !gone(SUPERVISOR_EXIT_TIMEOUT).await {
            supervisor.kill();
        }
    }

    /// Terminates processes that a killed supervisor left running, and returns whether there were any.
    async fn clear(&self) -> Result<bool> {
        let processes = ProcessTree::of(&self.app.folder, self.folder.read().as_ref());
        if processes.members().is_empty() {
            return Ok(false);
        }
        let left = processes.end(LEFTOVER_EXIT_TIMEOUT).await;
        if left.is_empty() {
            Ok(true)
        } else {
            Err(AppError::NotStopped { pids: left })
        }
    }
}
