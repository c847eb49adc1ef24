//! Both sides of a failure in a session that tests an app: what the page shows and reported, and what the servers are and wrote. Gathered
//! when a tool fails, and kept for `e2e_errors`; a call that goes well costs a look at what came.

use crate::call::Call;
use crate::devserver::{self, Answer, DevServer};
use crate::error::{Error, ErrorCode, Result, ServerReport};
use crate::picture;
use crate::scope::TabInAnyState;
use crate::session::app::{self, App, FailedRequest, Marks, News, Trouble, TroubleKind};
use crate::session::{Session, console_line};
use engine::{MessageKind, Progress, ScreenshotArea, ScreenshotFormat};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// How long a page may take to be drawn that has just failed somebody.
const PATIENCE: Duration = Duration::from_secs(3);

/// The most that is shown of a server's log, in bytes.
const LOG: u64 = 3000;

/// The most messages, and the most requests, that are shown.
const MOST: usize = 10;

/// The most that is shown of a message, in characters.
const LONGEST: usize = 500;

/// What is known of a failure beside the error itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Evidence {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) page_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) screenshot: Option<Shot>,
    /// Errors since the last call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) console: Vec<String>,
    /// Those that failed since the last call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) requests: Vec<FailedRequest>,
    /// The servers, the one that was asked for first.
    pub(crate) servers: Vec<ServerState>,
}

/// A picture of the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Shot {
    pub(crate) path: String,
    pub(crate) uri: String,
}

/// A server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerState {
    pub(crate) name: String,
    /// What the command says; its status is `unknown` if it says nothing.
    #[serde(flatten)]
    pub(crate) answer: Answer,
    /// What it wrote since the last call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) log: String,
    /// Bytes of it that are left out before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) log_left_out: Option<u64>,
}

impl ServerState {
    /// Whether it has ended, by the word of its command.
    fn is_dead(&self) -> bool {
        self.answer.status == "stopped"
    }
}

/// Looks at what came with a call that went well, and notes what went wrong: the first thing that a server is to blame for, and how many
/// those are.
pub(crate) fn of_success(call: &Call, session: &Session, app: &App) -> Option<(String, usize)> {
    let news = news(session, app);
    note(call, session, app, &news, None);
    let servers = news.requests.iter().filter(|failed| failed.is_of_server());
    let first = servers.clone().next()?.to_string();
    Some((first, servers.count()))
}

/// Gathers what is known of a failure, and notes it. The error is another one where a server that ended explains it.
pub(crate) async fn of_failure(
    call: &Call,
    session: &Arc<Session>,
    app: &App,
    error: Error,
) -> (Error, Evidence) {
    let news = news(session, app);
    let marks = app.since_last_call();
    let (shot, servers) = tokio::join!(shot(call, session), states(app, &marks));
    // That its command failed says more than that it does not run.
    let is_of_server = matches!(
        error.code(),
        ErrorCode::DevServerFailed | ErrorCode::DevServerTimeout
    );
    let dead = servers
        .iter()
        .find(|server| server.is_dead() && !is_of_server);
    let kind = match is_of_server || dead.is_some() {
        true => TroubleKind::Server,
        false => TroubleKind::Tool,
    };
    let error = match dead {
        Some(server) => died(server, &error, call),
        None => error,
    };
    let mut console: Vec<_> = news
        .console
        .iter()
        .map(|message| cut(&console_line(message)))
        .collect();
    console.truncate(MOST);
    let mut requests = news.requests.clone();
    requests.truncate(MOST);
    let evidence = Evidence {
        page_url: url(session),
        screenshot: shot,
        console,
        requests,
        servers,
    };
    app.note(Trouble {
        time: app::now(),
        kind,
        tool: call.tool,
        message: cut(&error.to_string()),
        error_code: Some(error.code_of(call.tool).name()),
        page_url: evidence.page_url.clone(),
        screenshot: evidence.screenshot.as_ref().map(|shot| shot.path.clone()),
        log: joined(&evidence.servers),
    });
    note(call, session, app, &news, Some(()));
    (error, evidence)
}

/// Whether a failure may have to do with the page or the app; others are the caller's own, and explain themselves.
pub(crate) fn explains(code: ErrorCode) -> bool {
    match code {
        ErrorCode::ElementNotFound
        | ErrorCode::ElementAmbiguous
        | ErrorCode::StaleRef
        | ErrorCode::ElementNotClickable
        | ErrorCode::ElementNotEditable
        | ErrorCode::ElementNotInteractive
        | ErrorCode::NavigationFailed
        | ErrorCode::NetworkError
        | ErrorCode::Timeout
        | ErrorCode::VerificationFailed
        | ErrorCode::ScriptFailed
        | ErrorCode::BrowserCrashed
        | ErrorCode::BrowserError
        | ErrorCode::DevServerFailed
        | ErrorCode::DevServerTimeout => true,
        ErrorCode::SessionNotFound
        | ErrorCode::SessionExpired
        | ErrorCode::MaxSessionsReached
        | ErrorCode::InvalidParameters
        | ErrorCode::InvalidSelector
        | ErrorCode::InvalidUrl
        | ErrorCode::UrlBlocked
        | ErrorCode::DialogOpen
        | ErrorCode::NotFound
        | ErrorCode::FileAccessDenied
        | ErrorCode::FileError
        | ErrorCode::UnsupportedByBrowser
        | ErrorCode::DevServerNotConfigured
        | ErrorCode::ToolDisabled
        | ErrorCode::InsufficientScope
        | ErrorCode::ResourceExhausted
        | ErrorCode::Cancelled
        | ErrorCode::InternalError => false,
    }
}

/// The state of each server, and what it wrote since.
pub(crate) async fn states(app: &App, marks: &Marks) -> Vec<ServerState> {
    let states = app
        .servers()
        .iter()
        .enumerate()
        .map(async |(index, server)| {
            let answer = state(server).await;
            // Afterwards: a server that dies says so late.
            let (log, left_out) = written(server, marks, index);
            ServerState {
                name: server.name().to_owned(),
                answer,
                log,
                log_left_out: (left_out > 0).then_some(left_out),
            }
        });
    futures_util::future::join_all(states).await
}

/// What the command says, and what is known where it says nothing.
pub(crate) async fn state(server: &DevServer) -> Answer {
    let known = server.known().unwrap_or_default();
    match server.status().await {
        Ok(answer) => Answer {
            // Some commands forget.
            logs: if answer.logs.is_empty() {
                known.logs
            } else {
                answer.logs
            },
            url: answer.url.or(known.url),
            ..answer
        },
        Err(error) => Answer {
            status: if server.is_gone() {
                "stopped"
            } else {
                "unknown"
            }
            .to_owned(),
            message: None,
            error: Some(error.to_string()),
            ..known
        },
    }
}

fn written(server: &DevServer, marks: &Marks, index: usize) -> (String, u64) {
    let logs = server.logs();
    let mark = marks.get(index).copied().unwrap_or_default();
    let since = |path: &Option<std::path::PathBuf>, position| {
        let excerpt = path
            .as_deref()
            .map(|path| devserver::since(path, position, LOG));
        excerpt.and_then(Result::ok).unwrap_or_default()
    };
    let excerpt = match &logs.combined {
        Some(_) => since(&logs.combined, mark.combined),
        None => {
            let mut both = since(&logs.stdout, mark.stdout);
            let errors = since(&logs.stderr, mark.stderr);
            both.text += &errors.text;
            both.left_out += errors.left_out;
            both
        }
    };
    (excerpt.text.trim_end().to_owned(), excerpt.left_out)
}

fn died(server: &ServerState, error: &Error, call: &Call) -> Error {
    let errors = server.answer.logs.errors();
    Error::DevServerFailed {
        server: server.name.clone(),
        during: "call",
        reason: match (server.answer.exit_code, server.answer.signal) {
            (Some(code), _) => format!("it has ended with exit code {code}"),
            (None, Some(signal)) => format!("signal {signal} has ended it"),
            (None, None) => "it does not run any more".to_owned(),
        },
        report: Box::new(ServerReport {
            exit_code: server.answer.exit_code,
            log: errors.and_then(devserver::last_lines),
            consequence: Some(Box::new(error.to_json(call.tool))),
            ..ServerReport::default()
        }),
    }
}

async fn shot(call: &Call, session: &Arc<Session>) -> Option<Shot> {
    let tab = session.open_tabs()?.current()?;
    if tab.page.is_crashed() || tab.page.dialog().is_some() {
        return None;
    }
    let wanted = engine::Screenshot {
        format: ScreenshotFormat::Png,
        quality: None,
        area: ScreenshotArea::Viewport,
        css_scale: true,
        shrink: 1.0,
    };
    let bytes = tab
        .page
        .screenshot(&Progress::new(PATIENCE), &wanted)
        .await
        .ok()?;
    let output = session.output(call).await;
    let file = output.automatic("failure", "png").await.ok()?;
    output.write_bytes(&file, &bytes).await.ok()?;
    let size = picture::size(&bytes).unwrap_or_default();
    let tab = TabInAnyState {
        page: tab.page.clone(),
        tab,
        session: session.clone(),
    };
    let uri = tab.pictured(output, &file, size, false);
    Some(Shot {
        path: file.link,
        uri,
    })
}

fn news(session: &Session, app: &App) -> News {
    let tabs = session
        .open_tabs()
        .map(|tabs| tabs.all())
        .unwrap_or_default();
    app.news(tabs.iter().map(|tab| &tab.page))
}

fn url(session: &Session) -> Option<String> {
    let tab = session.open_tabs()?.current()?;
    Some(tab.page.url())
}

/// Notes what pages had trouble with; the log goes with the first of it, unless a failure has it already.
fn note(call: &Call, session: &Session, app: &App, news: &News, failure: Option<()>) {
    if news.console.is_empty() && news.requests.is_empty() {
        return;
    }
    let marks = app.since_last_call();
    let servers = app.servers().iter().enumerate();
    let mut log = match failure {
        Some(()) => None,
        None => {
            let written = servers.map(|(index, server)| written(server, &marks, index).0);
            let written: Vec<_> = written.filter(|text| !text.is_empty()).collect();
            (!written.is_empty()).then(|| written.join("\n"))
        }
    };
    let requests = news
        .requests
        .iter()
        .map(|failed| (TroubleKind::Request, failed.to_string()));
    let console = news.console.iter().map(|message| {
        let kind = match message.kind {
            MessageKind::PageError => TroubleKind::Page,
            _ => TroubleKind::Console,
        };
        (kind, console_line(message))
    });
    for (kind, message) in requests.chain(console) {
        app.note(Trouble {
            time: app::now(),
            kind,
            tool: call.tool,
            message: cut(&message),
            error_code: None,
            page_url: url(session),
            screenshot: None,
            log: log.take(),
        });
    }
}

fn joined(servers: &[ServerState]) -> Option<String> {
    let logs = servers
        .iter()
        .map(|server| &*server.log)
        .filter(|log| !log.is_empty());
    let logs: Vec<_> = logs.collect();
    (!logs.is_empty()).then(|| logs.join("\n"))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
