//! Running a server command, with a timeout and limits of its output. The command's processes are terminated on timeout.

use super::command_group::CommandGroup;
use super::logs::{self, readable};
use super::plain;
use super::process::started_by;
use crate::config::DevServerSettings;
use crate::error::{Error, Result, ServerReport};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use strum::IntoStaticStr;
use supervisor::processes::Identity;
use supervisor::{Answer, Status};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

/// The largest output on stdout, in bytes.
const MAX_STDOUT_BYTES: usize = 1024 * 1024;

/// The size of the end of stderr that is kept, in bytes.
const MAX_STDERR_BYTES: usize = 64 * 1024;

/// The size of an output in an error, in bytes.
const MAX_SHOWN_BYTES: usize = 2000;

/// How long the last output may take to arrive after the command has ended. A server that has inherited it keeps it open.
const FINAL_OUTPUT_TIMEOUT: Duration = Duration::from_millis(200);

/// The verb of a server command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Verb {
    /// Start the server, or report that it runs.
    Start,
    /// Restart the server.
    Restart,
    /// Report its state.
    Status,
    /// Stop the server.
    Shutdown,
}

impl Verb {
    fn limit(self, settings: &DevServerSettings) -> Duration {
        match self {
            Self::Start => settings.start,
            Self::Restart => settings.restart,
            Self::Status => settings.status,
            Self::Shutdown => settings.shutdown,
        }
    }

    /// Returns the statuses of a successful answer.
    fn successes(self) -> &'static [Status] {
        match self {
            Self::Start => &[Status::Ready, Status::AlreadyRunning],
            Self::Restart => &[Status::Restarted, Status::Ready],
            Self::Status => &[Status::Running, Status::Stopped, Status::Unhealthy],
            Self::Shutdown => &[Status::Stopped],
        }
    }
}

/// The answer of the command, and the process that it may have started.
pub(super) struct CommandReply {
    pub(super) answer: Answer,
    pub(super) started: Option<Identity>,
}

/// Runs the command with further environment variables. The error contains the command's mistake and output.
pub(super) async fn ask(
    settings: &DevServerSettings,
    verb: Verb,
    environment: &[(String, String)],
) -> Result<CommandReply> {
    let said = try_ask(settings, verb, environment).await?;
    said.ok_or_else(|| {
        let reason = format!(
            "it is not a server command: it does not support --{}",
            <&str>::from(verb)
        );
        failed(settings, verb, reason, ServerReport::default())
    })
}

/// Runs the command; returns `None` if it turns out to be a plain command, which does not implement the interface. Its processes are then
/// terminated.
pub(super) async fn try_ask(
    settings: &DevServerSettings,
    verb: Verb,
    environment: &[(String, String)],
) -> Result<Option<CommandReply>> {
    let Some(ran) = run(settings, verb, environment).await? else {
        return Ok(None);
    };
    let mut answer = match Answer::read(&ran.stdout, &settings.cwd) {
        Ok(answer) => answer,
        Err(_) if verb == Verb::Start && ran.refuses_option() => return Ok(None),
        Err(wrong) => {
            let code = ended(ran.status);
            return Err(ran.failed(settings, verb, format!("{wrong} ({code})"), None));
        }
    };
    let succeeded = verb.successes().contains(&answer.status);
    let reason = match (ran.status.success(), succeeded) {
        // A request for the status of a server that does not run is no mistake.
        (true, true) => None,
        (false, true) if verb == Verb::Status && answer.status != Status::Running => None,
        (_, false) if answer.status == Status::Error => {
            // A message may end with the last line of the app.
            let words = [answer.error.as_deref(), answer.message.as_deref()];
            let words: Vec<_> = words
                .into_iter()
                .flatten()
                .filter(|text| !text.is_empty())
                .collect();
            Some(match words.is_empty() {
                true => "it answered with the status \"error\" and no message".to_owned(),
                false => words.join(": "),
            })
        }
        (false, true) => Some(format!(
            "it answered with the status \"{}\" and {}: these contradict each other",
            answer.status,
            ended(ran.status)
        )),
        (_, false) => {
            let successes: Vec<_> = verb.successes().iter().map(Status::to_string).collect();
            Some(format!(
                "it answered with the status \"{}\", and should have answered with one of: {}",
                answer.status,
                successes.join(", ")
            ))
        }
    };
    if let Some(reason) = reason {
        return Err(ran.failed(settings, verb, reason, Some(&answer)));
    }
    if matches!(verb, Verb::Start | Verb::Restart) && answer.url.is_none() {
        let reason = "it reported no \"url\"".to_owned();
        return Err(ran.failed(settings, verb, reason, Some(&answer)));
    }
    if answer.message.as_deref() == Some("") {
        answer.message = None;
    }
    let command = ran.command.as_ref();
    let started = command
        .zip(answer.pid)
        .and_then(|(command, pid)| started_by(command, pid));
    Ok(Some(CommandReply { answer, started }))
}

/// The exit status and the output of the command.
struct CommandOutput {
    command: Option<Identity>,
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

impl CommandOutput {
    /// Returns whether the command failed because of the unknown option.
    fn refuses_option(&self) -> bool {
        let names = |text: &str| text.contains("--start");
        !self.status.success() && (names(&self.stdout) || names(&self.stderr))
    }

    fn failed(
        &self,
        settings: &DevServerSettings,
        verb: Verb,
        reason: String,
        answer: Option<&Answer>,
    ) -> Error {
        failed(
            settings,
            verb,
            reason,
            report(&self.stdout, &self.stderr, Some(self.status), answer),
        )
    }
}

pub(super) fn failed(
    settings: &DevServerSettings,
    verb: Verb,
    reason: String,
    report: ServerReport,
) -> Error {
    Error::DevServerFailed {
        server: settings.name.clone(),
        during: verb.into(),
        reason,
        report: Box::new(report),
    }
}

/// Builds the error of a failed server.
fn report(
    stdout: &str,
    stderr: &str,
    status: Option<ExitStatus>,
    answer: Option<&Answer>,
) -> ServerReport {
    let known = answer.cloned().unwrap_or_default();
    // Some commands include the end of the log.
    let is_told = |log: &String| {
        let last = log.lines().last().unwrap_or_default();
        let message = known.message.as_deref().unwrap_or_default();
        !last.is_empty() && message.contains(last)
    };
    let log = known.logs.errors().and_then(last_lines);
    let log = log.filter(|log| !is_told(log));
    ServerReport {
        exit_code: known
            .exit_code
            .or_else(|| status.and_then(|status| status.code())),
        // The error includes the parsed answer already.
        stdout: answer.map_or_else(|| shown(stdout), |_| None),
        stderr: shown(stderr),
        log,
        logs: known.logs.paths(),
        consequence: None,
    }
}

/// Returns the end of a log, for an error.
pub(crate) fn last_lines(path: &Path) -> Option<String> {
    let excerpt = logs::last(path, MAX_SHOWN_BYTES as u64).ok()?;
    Some(excerpt.text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn shown(text: &str) -> Option<String> {
    let text = text.trim();
    let mut from = text.len().saturating_sub(MAX_SHOWN_BYTES);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let cut = if from == 0 { "" } else { "…" };
    (!text.is_empty()).then(|| format!("{cut}{}", &text[from..]))
}

fn ended(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

/// Runs the command until it exits.
#[expect(
    clippy::disallowed_methods,
    reason = "the user's command starts here; it is killed when it does not end in time, it receives a command to stop what it starts"
)]
async fn run(
    settings: &DevServerSettings,
    verb: Verb,
    environment: &[(String, String)],
) -> Result<Option<CommandOutput>> {
    let word: &str = verb.into();
    let (program, arguments) = settings
        .command
        .split_first()
        .unwrap_or((&settings.name, &[]));
    let program = plain::program(program);
    let mut command = Command::new(&program);
    command
        .args(arguments)
        .arg(format!("--{word}"))
        .current_dir(&settings.cwd)
        .envs(settings.env.iter().map(|(name, value)| (name, value)))
        .envs(environment.iter().map(|(name, value)| (name, value)))
        // A credential of Playhouse, which the command must not receive.
        .env_remove("PLAYHOUSE_API_KEY")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let (mut group, outputs) = CommandGroup::start(command).map_err(|error| {
        let reason = format!(
            "{} cannot be started in {}: {error}",
            program.display(),
            settings.cwd.display()
        );
        failed(settings, verb, reason, ServerReport::default())
    })?;
    // The process may have ended already.
    let process = group.id().and_then(Identity::of_child);
    let stdout = OutputCapture::of(outputs.0, MAX_STDOUT_BYTES, Keep::Beginning);
    let stderr = OutputCapture::of(outputs.1, MAX_STDERR_BYTES, Keep::End);
    let limit = verb.limit(settings);
    let ended = tokio::select! {
        ended = group.ended() => ended,
        () = plain::serves_itself(process.as_ref()), if verb == Verb::Start => {
            group.kill().await;
            return Ok(None);
        }
        () = tokio::time::sleep(limit) => {
            group.kill().await;
            return Err(Error::DevServerTimeout {
                server: settings.name.clone(),
                during: verb.into(),
                limit_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
                report: Box::new(report(&stdout.text(), &stderr.text(), None, None)),
            });
        }
        () = stdout.too_long() => {
            group.kill().await;
            let reason = format!("it printed more than {MAX_STDOUT_BYTES} bytes on stdout, where a JSON object belongs");
            return Err(failed(settings, verb, reason, report(&stdout.text(), &stderr.text(), None, None)));
        }
    };
    let status = ended.map_err(|error| {
        let reason = format!("cannot wait for it: {error}");
        failed(settings, verb, reason, ServerReport::default())
    })?;
    let (stdout, stderr) = tokio::join!(stdout.finish(), stderr.finish());
    Ok(Some(CommandOutput {
        command: process,
        status,
        stdout,
        stderr,
    }))
}

/// Which part of a long output is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Beginning,
    End,
}

/// An output that is read as long as a process writes it: writes of a server that inherited it must not fail.
struct OutputCapture(Arc<CaptureState>);

struct CaptureState {
    most: usize,
    keep: Keep,
    bytes: Mutex<Vec<u8>>,
    news: tokio::sync::watch::Sender<Progress>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Progress {
    over: bool,
    too_long: bool,
}

impl OutputCapture {
    fn of(pipe: Option<impl AsyncRead + Unpin + Send + 'static>, most: usize, keep: Keep) -> Self {
        let ear = Arc::new(CaptureState {
            most,
            keep,
            bytes: Mutex::default(),
            news: tokio::sync::watch::Sender::new(Progress::default()),
        });
        let listening = ear.clone();
        task::spawn("output of a server's command", async move {
            if let Some(pipe) = pipe {
                listening.listen(pipe).await;
            }
            listening.news.send_modify(|news| news.over = true);
        })
        .detach();
        Self(ear)
    }

    async fn too_long(&self) {
        let mut news = self.0.news.subscribe();
        if news.wait_for(|news| news.too_long).await.is_err() {
            std::future::pending().await
        }
    }

    async fn finish(self) -> String {
        let mut news = self.0.news.subscribe();
        let over = news.wait_for(|news| news.over);
        let _ = tokio::time::timeout(FINAL_OUTPUT_TIMEOUT, over).await;
        self.text()
    }

    fn text(&self) -> String {
        readable(&self.0.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl CaptureState {
    async fn listen(&self, mut pipe: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; 8 * 1024];
        while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
            let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
            match self.keep {
                Keep::End => {
                    bytes.extend_from_slice(&chunk[..count]);
                    let surplus = bytes.len().saturating_sub(self.most);
                    bytes.drain(..surplus);
                }
                Keep::Beginning => {
                    let room = self.most - bytes.len();
                    bytes.extend_from_slice(&chunk[..count.min(room)]);
                    if count > room {
                        self.news.send_modify(|news| news.too_long = true);
                    }
                }
            }
        }
    }
}
