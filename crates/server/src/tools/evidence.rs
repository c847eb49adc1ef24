//! Evidence for the failures of a session that tests an app: the page's state, console and requests, and the state and logs of the servers.
//! It is collected when a tool fails and recorded for `e2e_errors`. After a successful call only new events are recorded.

use crate::answers::evidence::{EarlierError, Evidence, ScreenshotFile, ServerState};
use crate::apps::{self, DevServer, Excerpt, Position};
use crate::calls::Call;
use crate::error::{Error, ErrorCode, ServerReport};
use crate::sessions::session::app::{App, Mark, Marks, NewEvents, SessionError, SessionErrorKind};
use crate::sessions::session::{Session, console_line};
use crate::timestamp::timestamp;
use crate::tools::image_size;
use crate::tools::scope::TabInAnyState;
use engine::{MessageKind, Progress};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::time::SystemTime;
use supervisor::{Answer, Logs, Status};
use tokio::time::Instant;

/// The longest time for a screenshot after a failure.
const SCREENSHOT_TIMEOUT: Duration = Duration::from_secs(3);

/// The longest wait for a server that refuses connections: until it accepts them again, or until its command reports that it has ended.
const SERVER_RECOVERY_TIMEOUT: Duration = Duration::from_secs(2);

/// The time for the output of a server to reach its log. The screenshot is taken meanwhile.
const LOG_DELAY: Duration = Duration::from_millis(100);

const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The longest excerpt of a server's log, in bytes.
const MAX_LOG_BYTES: u64 = 3000;

/// The highest number of console messages, and of requests, in the evidence.
const MAX_ITEMS: usize = 10;

/// The longest message, in characters.
const MAX_MESSAGE_CHARS: usize = 500;

/// Records the errors that occurred since the last call. Returns the first failed request that a server is responsible for, and the number
/// of such requests.
pub(crate) async fn of_success(
    call: &Call,
    session: &Session,
    app: &App,
) -> Option<(String, usize)> {
    let new_events = new_events(call, session, app).await;
    record_events(call, session, app, &new_events, false);
    if let Some(message) = most_important_error(&new_events) {
        app.record_unattributed(call.tool.name, truncated(&message));
    }
    let servers = new_events
        .requests
        .iter()
        .filter(|failed| failed.is_of_server());
    let first = servers.clone().next()?.to_string();
    Some((first, servers.count()))
}

/// Collects and records the evidence for a failure. If a server that is down explains the failure, the returned error is `DevServerFailed`,
/// with the given error as its consequence.
pub(crate) async fn of_failure(
    call: &Call,
    session: &Arc<Session>,
    app: &App,
    error: Error,
) -> (Error, Evidence) {
    let new_events = new_events(call, session, app).await;
    let marks = app.marks_at_last_call();
    let earlier = app.take_unattributed().map(|error| EarlierError {
        log: logs_of(app, |server, index| {
            written_between(server, mark(&error.from, index), mark(&marks, index))
        })
        .unwrap_or_default(),
        time: error.time,
        tool: error.tool,
        message: error.message,
    });
    let (screenshot, mut servers) =
        tokio::join!(take_screenshot(call, session), states(app, &marks));
    // The failure of a server's command is more specific than the fact that the server does not run.
    let is_of_server = matches!(
        error.code(),
        ErrorCode::DevServerFailed | ErrorCode::DevServerTimeout
    );
    let down = servers
        .iter()
        .find(|server| server.is_dead() && !is_of_server);
    let kind = match is_of_server || down.is_some() {
        true => SessionErrorKind::Server,
        false => SessionErrorKind::Tool,
    };
    let error = match down {
        Some(server) => server_exited(server, &error, call),
        None => error,
    };
    let log = joined(&servers);
    // The error already contains the end of this log.
    if let Error::DevServerFailed { server, report, .. } = &error
        && report.log.is_some()
        && let Some(state) = servers.iter_mut().find(|other| other.name == *server)
    {
        state.log.clear();
    }
    let servers = servers.into_iter().map(ServerState::shortened).collect();
    let mut console: Vec<_> = new_events
        .console
        .iter()
        .map(|(_, message)| truncated(&console_line(message)))
        .collect();
    console.truncate(MAX_ITEMS);
    let mut requests = new_events.requests.clone();
    requests.truncate(MAX_ITEMS);
    let evidence = Evidence {
        page_url: url(session),
        screenshot,
        console,
        requests,
        earlier,
        servers,
    };
    app.note(SessionError {
        time: timestamp(SystemTime::now()),
        kind,
        tool: call.tool.name,
        message: truncated(&error.to_string()),
        error_code: Some(call.tool.code_of(&error).name()),
        page_url: evidence.page_url.clone(),
        screenshot: evidence
            .screenshot
            .as_ref()
            .map(|screenshot| screenshot.path.clone()),
        log,
    });
    record_events(call, session, app, &new_events, true);
    (error, evidence)
}

/// Returns whether the app may be the cause of a failure. Other failures have their cause in the arguments of the call or in its client.
pub(crate) async fn explains(app: &App, code: ErrorCode) -> bool {
    match code {
        ErrorCode::ElementNotFound
        | ErrorCode::ElementNotClickable
        | ErrorCode::NavigationFailed
        | ErrorCode::NetworkError
        | ErrorCode::Timeout
        | ErrorCode::VerificationFailed
        | ErrorCode::ScriptFailed
        | ErrorCode::BrowserCrashed
        | ErrorCode::BrowserError
        | ErrorCode::DevServerFailed
        | ErrorCode::DevServerTimeout => true,
        // The call does not match the page, which may be an error page because a server is down.
        ErrorCode::ElementAmbiguous
        | ErrorCode::StaleRef
        | ErrorCode::ElementNotEditable
        | ErrorCode::ElementNotInteractive => {
            let down = app
                .servers()
                .iter()
                .map(|server| server.refuses_connections());
            let down = futures_util::future::join_all(down).await;
            down.contains(&true)
        }
        ErrorCode::SessionNotFound
        | ErrorCode::SessionExpired
        | ErrorCode::MaxSessionsReached
        | ErrorCode::InvalidParameters
        | ErrorCode::InvalidSelector
        | ErrorCode::InvalidUrl
        | ErrorCode::UrlBlocked
        | ErrorCode::SecretNotAllowedHere
        | ErrorCode::DialogOpen
        | ErrorCode::NotFound
        | ErrorCode::TabGone
        | ErrorCode::FileAccessDenied
        | ErrorCode::FileError
        | ErrorCode::UnsupportedByBrowser
        | ErrorCode::FfmpegUnavailable
        | ErrorCode::DevServerNotConfigured
        | ErrorCode::ToolDisabled
        | ErrorCode::InsufficientScope
        | ErrorCode::PolicyDenied
        | ErrorCode::AuditFailed
        | ErrorCode::ResourceExhausted
        | ErrorCode::Cancelled
        | ErrorCode::UserHasControl
        | ErrorCode::InternalError => false,
    }
}

/// Returns the state of each server, and what it logged since the marks. The log of a server that is not well begins after the last lines
/// that an answer showed, because its cause may be older.
async fn states(app: &App, marks: &Marks) -> Vec<ServerState> {
    let shown = app.marks_of_shown_logs();
    let states = app
        .servers()
        .iter()
        .enumerate()
        .map(async |(index, server)| {
            // Lines that the server wrote before its response may still be on their way to the log.
            tokio::time::sleep(LOG_DELAY).await;
            // Read before the status request, which the server may log.
            let before = written(server, mark(marks, index));
            let (answer, refuses) = state_after_recovery(server).await;
            let mut state = ServerState {
                name: server.name().to_owned(),
                answer,
                refuses,
                log: String::new(),
                log_left_out: None,
            };
            let (log, left_out) = match state.is_well() {
                true => before,
                // A server may log the reason of its exit late.
                false => written(server, mark(&shown, index)),
            };
            state.log = log;
            state.log_left_out = (left_out > 0).then_some(left_out);
            state
        });
    let states = futures_util::future::join_all(states).await;
    app.logs_shown();
    states
}

/// Returns what the command of a server reports, and whether the server refuses connections. A server that refuses them is checked again
/// for a short time, because its exit is detected late and a restart is short.
async fn state_after_recovery(server: &DevServer) -> (Answer, bool) {
    let until = Instant::now() + SERVER_RECOVERY_TIMEOUT;
    let mut answer = state(server).await;
    loop {
        if answer.status == Status::Stopped || !server.refuses_connections().await {
            return (answer, false);
        }
        if Instant::now() > until {
            return (answer, true);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
        answer = state(server).await;
    }
}

/// Returns what the command of a server reports. Members that it does not report are taken from its last report.
pub(crate) async fn state(server: &DevServer) -> Answer {
    let last = server.known().unwrap_or_default();
    match server.status().await {
        Ok(answer) => Answer {
            // Some commands do not report the paths of logs each time.
            logs: if answer.logs.is_empty() {
                last.logs
            } else {
                answer.logs
            },
            url: answer.url.or(last.url),
            ..answer
        },
        Err(error) => Answer {
            status: match server.is_gone() {
                true => Status::Stopped,
                false => Status::Unknown,
            },
            message: None,
            error: Some(error.to_string()),
            ..last
        },
    }
}

fn mark(marks: &Marks, index: usize) -> Mark {
    marks.get(index).copied().unwrap_or_default()
}

/// Returns what a server logged since a mark, and the number of bytes that are left out.
fn written(server: &DevServer, since: Mark) -> (String, u64) {
    excerpt(&server.logs(), |path, choose| {
        apps::since(path, choose(&since), MAX_LOG_BYTES)
    })
}

fn written_between(server: &DevServer, from: Mark, to: Mark) -> String {
    let read = |path: &Path, choose: Choose| {
        apps::between(path, choose(&from), choose(&to), MAX_LOG_BYTES)
    };
    excerpt(&server.logs(), read).0
}

type Choose = fn(&Mark) -> Position;

/// Reads an excerpt of both outputs, which are in one log or in two.
fn excerpt(logs: &Logs, read: impl Fn(&Path, Choose) -> std::io::Result<Excerpt>) -> (String, u64) {
    let sources: [(Option<&Path>, Choose); 2] = match logs.combined() {
        Some(combined) => [
            (Some(combined), |mark| mark.combined),
            (None, |mark| mark.stderr),
        ],
        None => [
            (logs.stdout.as_deref(), |mark| mark.stdout),
            (logs.stderr.as_deref(), |mark| mark.stderr),
        ],
    };
    let (mut text, mut left_out) = (String::new(), 0);
    for (path, choose) in sources {
        let part = path.and_then(|path| read(path, choose).ok());
        let part = part.unwrap_or_default();
        text += &part.text;
        left_out += part.left_out;
    }
    (text.trim_end().to_owned(), left_out)
}

/// Returns the non-empty logs of all servers as one text.
fn logs_of(app: &App, of: impl Fn(&DevServer, usize) -> String) -> Option<String> {
    let servers = app.servers().iter().enumerate();
    let logs = servers.map(|(index, server)| of(server, index));
    let logs: Vec<_> = logs.filter(|log| !log.is_empty()).collect();
    (!logs.is_empty()).then(|| logs.join("\n"))
}

fn server_exited(server: &ServerState, error: &Error, call: &Call) -> Error {
    let errors = server.answer.logs.errors();
    Error::DevServerFailed {
        server: server.name.clone(),
        during: "call",
        reason: match (server.answer.exit_code, server.answer.signal) {
            (Some(code), _) => format!("it exited with code {code}"),
            (None, Some(signal)) => format!("it was terminated by signal {signal}"),
            (None, None) if server.refuses => format!(
                "it runs, and nothing listens at {}: its app has crashed under it",
                server.answer.url.as_deref().unwrap_or("its URL")
            ),
            (None, None) => "it is not running any more".to_owned(),
        },
        report: Box::new(ServerReport {
            exit_code: server.answer.exit_code,
            log: errors.and_then(apps::last_lines),
            consequence: Some(Box::new(error.to_json(call.tool.code_of(error)))),
            ..ServerReport::default()
        }),
    }
}

async fn take_screenshot(call: &Call, session: &Arc<Session>) -> Option<ScreenshotFile> {
    let tab = session.open_tabs()?.current()?;
    if tab.page.is_crashed() || tab.page.dialog().is_some() {
        return None;
    }
    let options = engine::Screenshot::default();
    let bytes = tab
        .page
        .screenshot(&Progress::new(SCREENSHOT_TIMEOUT), &options)
        .await
        .ok()?;
    let output = session.output(call).await;
    let file = output.automatic("failure", "png").await.ok()?;
    output.write_bytes(&file, bytes.clone()).await.ok()?;
    let size = image_size::size(&bytes).unwrap_or_default();
    let tab = TabInAnyState {
        page: tab.page.clone(),
        tab,
        session: session.clone(),
    };
    let uri = tab.record_screenshot(output, &file, size, false);
    Some(ScreenshotFile {
        path: file.link,
        uri,
    })
}

/// Returns the new errors of pages. Console errors name the sources of built scripts.
async fn new_events(call: &Call, session: &Session, app: &App) -> NewEvents {
    let tabs = session
        .open_tabs()
        .map(|tabs| tabs.all())
        .unwrap_or_default();
    let mut new_events = app.new_events(tabs.iter().map(|tab| &tab.page));
    for of_page in new_events
        .console
        .chunk_by_mut(|(one, _), (other, _)| one == other)
    {
        let page = of_page[0].0.clone();
        let messages = of_page.iter().map(|(_, message)| message.clone());
        let mapped = page.with_sources(&call.action(), messages.collect()).await;
        for ((_, message), mapped) in of_page.iter_mut().zip(mapped) {
            *message = mapped;
        }
    }
    new_events
}

fn url(session: &Session) -> Option<String> {
    let tab = session.open_tabs()?.current()?;
    Some(tab.page.url())
}

/// Records failed requests and console errors of the pages. The first of them gets the log of the servers, unless a failure already has it.
fn record_events(call: &Call, session: &Session, app: &App, new_events: &NewEvents, has_log: bool) {
    if new_events.console.is_empty() && new_events.requests.is_empty() {
        return;
    }
    let marks = app.marks_at_last_call();
    let mut log = match has_log {
        true => None,
        false => logs_of(app, |server, index| written(server, mark(&marks, index)).0),
    };
    let requests = new_events
        .requests
        .iter()
        .map(|failed| (SessionErrorKind::Request, failed.to_string()));
    let console = new_events.console.iter().map(|(_, message)| {
        let kind = match message.kind {
            MessageKind::PageError => SessionErrorKind::Page,
            _ => SessionErrorKind::Console,
        };
        (kind, console_line(message))
    });
    for (kind, message) in requests.chain(console) {
        app.note(SessionError {
            time: timestamp(SystemTime::now()),
            kind,
            tool: call.tool.name,
            message: truncated(&message),
            error_code: None,
            page_url: url(session),
            screenshot: None,
            log: log.take(),
        });
    }
}

/// Returns the most important error: the first request that a server is responsible for, or else the first console error.
fn most_important_error(new_events: &NewEvents) -> Option<String> {
    let mut requests = new_events.requests.iter();
    let failed = requests.find(|failed| failed.is_of_server());
    let failed = failed.map(ToString::to_string);
    failed.or_else(|| {
        new_events
            .console
            .first()
            .map(|(_, message)| console_line(message))
    })
}

fn joined(servers: &[ServerState]) -> Option<String> {
    let logs = servers
        .iter()
        .map(|server| &*server.log)
        .filter(|log| !log.is_empty());
    let logs: Vec<_> = logs.collect();
    (!logs.is_empty()).then(|| logs.join("\n"))
}

fn truncated(text: &str) -> String {
    match text.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
