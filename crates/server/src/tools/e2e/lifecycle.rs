//! Starting, restarting and stopping the servers of an app, and their state.

use super::{E2eSession, E2eSessionInTurn, E2eSessionToClose};
use crate::access::principal::Permission;
use crate::apps::{self, DevServer, Reason, StopOutcome};
use crate::calls::Call;
use crate::config::NEVER;
use crate::error::{Error, Result, ServerReport};
use crate::sessions::session::Session;
use crate::sessions::session::app::App;
use crate::sessions::{
    BrowserOption, EmulationOptions, SessionName, SessionOptions, Visible, is_name, unix_ms,
};
use crate::tools::evidence;
use crate::tools::scope::TabInAnyState;
use crate::tools::session::{SessionGuard, storage_state};
use crate::tools::tool::{Effect, Object, Reach, Scope, Tool, ToolDef};
use engine::{LoadState, SnapshotOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use supervisor::{Answer, Logs, Status};
use url::Url;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<E2eStart>(),
    ToolDef::of::<E2eStop>(),
    ToolDef::of::<E2eStatus>(),
    ToolDef::of::<E2eRestart>(),
];

/// The longest wait for the title of a page.
const TITLE_TIMEOUT: Duration = Duration::from_secs(2);

/// Start the app's server and open the app in its own session. Calls that name no session are for it until `e2e_stop`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct E2eStart {
    /// Its name; needed where there are several.
    server: Option<String>,
    /// Path to open; / by default.
    url: Option<String>,
    /// The server's, if left out.
    browser: Option<BrowserOption>,
    #[serde(flatten)]
    emulation: EmulationOptions,
    /// Cookies and storage: a file's path.
    storage_state: Option<String>,
}

/// A started app, and the session that tests it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Started {
    session_id: String,
    /// To use as sessionId.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Unix time in ms; each call moves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
    /// ready, or `already_running`.
    #[schemars(with = "String")]
    status: Status,
    /// The URL of the server.
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(skip_serializing_if = "Logs::is_empty")]
    logs: Logs,
    page: Shown,
    /// The accessibility tree of the page, with refs.
    snapshot: String,
    /// The servers that this server requires.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    servers: Vec<NamedServer>,
    /// The end of the server's log, if the status of the page is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<String>,
}

/// The document that a page shows.
#[derive(Serialize, JsonSchema)]
struct Shown {
    url: String,
    title: String,
    /// HTTP status; 0 where there was no response.
    status: u16,
}

/// A server and the report of its command.
#[derive(Serialize, JsonSchema)]
struct NamedServer {
    name: String,
    #[serde(flatten)]
    answer: Answer,
}

impl Tool for E2eStart {
    const NAME: &'static str = "e2e_start";
    const TITLE: &'static str = "Start the app";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const CREATES_SESSIONS: bool = true;
    type Scope = Visible;
    type Output = Object<Started>;

    async fn run(self, sessions: Visible, call: &Call) -> Result<Object<Started>> {
        // Other sessions do not wait until the app is up.
        call.skip_turn();
        let server = sessions.dev_servers().find(self.server.as_deref())?;
        let storage_state = storage_state(&sessions, call, self.storage_state.as_deref()).await?;
        call.set_status(format!(
            "waiting for the server {} to be ready",
            server.name()
        ));
        let app = App::new(server.begin().await?);
        call.clear_status();
        let name = match is_name(server.name()) {
            true => server.name(),
            false => "app",
        };
        let options = SessionOptions {
            name: Some(SessionName::Proposed(name.to_owned())),
            browser: self.browser,
            emulation: self.emulation,
            storage_state,
            lifetime: Some(server.idle().unwrap_or(NEVER)),
            expiry: Some(crate::config::SessionExpiry::Sliding),
            ..SessionOptions::default()
        };
        let created = sessions.create(call, &options).await?;
        created.session.set_app(app);
        let guard = SessionGuard::new(sessions, &created);
        let known = server.known().unwrap_or_default();
        let page = open_app(call, &created.session, &server, self.url.as_deref()).await?;
        let tab = created.session.current_tab(call).await?;
        let full = SnapshotOptions {
            layout: call.settings.answers.layout(),
            max_tokens: Some(call.max_snapshot_tokens(&tab.page.url())),
            ..SnapshotOptions::default()
        };
        let snapshot = tab.page.snapshot(&call.action(), &full).await?;
        let snapshot = snapshot.outline.unwrap_or(snapshot.text);
        let app = created.session.app();
        let others = app.into_iter().flat_map(|app| &app.servers()[1..]);
        let others = others.map(|other| NamedServer {
            name: other.name().to_owned(),
            answer: other.known().unwrap_or_default(),
        });
        let log = match page.status {
            400.. => known.logs.errors().and_then(apps::last_lines),
            _ => None,
        };
        if let Some(app) = app {
            app.call_ended();
        }
        guard.disarm();
        Ok(Started {
            session_id: created.id.to_string(),
            name: created.name.clone(),
            expires_at: created.expires_at().map(unix_ms),
            status: known.status,
            url: known.url.unwrap_or_default(),
            port: known.port,
            pid: known.pid,
            logs: known.logs,
            page,
            snapshot,
            servers: others.collect(),
            log,
        }
        .into())
    }
}

/// Opens a path of the app. If it cannot be opened, the error is a failure of the server.
async fn open_app(
    call: &Call,
    session: &Arc<Session>,
    server: &DevServer,
    path: Option<&str>,
) -> Result<Shown> {
    let url = app_url(server, path)?;
    let shown = navigate(call, session, &url).await;
    match shown {
        Err(Error::Engine(engine::Error::NavigationFailed { reason, .. })) => {
            let answer = evidence::state(server).await;
            Err(Error::DevServerFailed {
                server: server.name().to_owned(),
                during: "start",
                reason: format!("{url} cannot be opened: {reason}"),
                report: Box::new(ServerReport {
                    exit_code: answer.exit_code,
                    log: answer.logs.errors().and_then(apps::last_lines),
                    logs: answer.logs.paths(),
                    ..ServerReport::default()
                }),
            })
        }
        shown => shown,
    }
}

async fn navigate(call: &Call, session: &Arc<Session>, url: &Url) -> Result<Shown> {
    let tab = session.current_tab(call).await?;
    let in_tab = TabInAnyState {
        page: tab.page.clone(),
        tab,
        session: session.clone(),
    };
    match in_tab
        .go_to(call, &call.navigation(), url.as_str(), LoadState::Loaded)
        .await?
    {
        Some((tab, _)) => Ok(Shown {
            title: tab.facts(&call.within(TITLE_TIMEOUT)).await.title,
            url: tab.page.url(),
            status: tab.page.status().map_or(0, |(status, _)| status),
        }),
        None => Err(engine::Error::DialogOpen {}.into()),
    }
}

/// Returns the URL of a path of the app. Absolute URLs are returned unchanged.
fn app_url(server: &DevServer, path: Option<&str>) -> Result<Url> {
    let base = server
        .known()
        .and_then(|known| known.url)
        .unwrap_or_default();
    let invalid = || engine::Error::InvalidUrl {
        url: path.unwrap_or(&base).to_owned(),
    };
    let base = Url::parse(&base).map_err(|_| invalid())?;
    let url = base.join(path.unwrap_or_default()).map_err(|_| invalid())?;
    match matches!(url.scheme(), "http" | "https") {
        true => Ok(url),
        false => Err(invalid().into()),
    }
}

/// Close the session, and stop the app's server unless others use it.
#[derive(Deserialize, JsonSchema)]
pub(super) struct E2eStop {}

/// The state of the servers after the session.
#[derive(Serialize, JsonSchema)]
pub(super) struct Stopped {
    servers: Vec<StoppedServer>,
    message: String,
}

/// A server that the session does not use any more.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StoppedServer {
    name: String,
    #[serde(flatten)]
    answer: Answer,
}

impl Tool for E2eStop {
    const NAME: &'static str = "e2e_stop";
    const TITLE: &'static str = "Stop the app";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const WAITS: bool = false;
    type Scope = (E2eSessionToClose, Visible);
    type Output = Object<Stopped>;

    async fn run(
        self,
        (E2eSessionToClose(session), sessions): (E2eSessionToClose, Visible),
        _: &Call,
    ) -> Result<Object<Stopped>> {
        let departure = session.app().begin_release();
        // The pages are closed first, because a server may wait until its last connection is closed. The client may disconnect meanwhile.
        let created = session.0.created.clone();
        let outcomes = task::run_to_completion("stopping the app", async move {
            sessions.end(&created).await;
            departure.done(Reason::Asked).await
        });
        let outcomes = outcomes.await.unwrap_or_default();
        let mut servers = Vec::new();
        for (server, outcome) in outcomes {
            let with_status = |status| Answer {
                status,
                ..Answer::default()
            };
            servers.push(StoppedServer {
                name: server.name().to_owned(),
                answer: match outcome? {
                    StopOutcome::Stopped(answer) => *answer,
                    StopOutcome::Shared => with_status(Status::Other("shared".to_owned())),
                    StopOutcome::Running => with_status(Status::Running),
                },
            });
        }
        let stopped = servers
            .iter()
            .all(|server| server.answer.status == Status::Stopped);
        let message = match stopped {
            true => "Session closed, server stopped",
            false => "Session closed; others use the server",
        };
        Ok(Stopped {
            servers,
            message: message.to_owned(),
        }
        .into())
    }
}

/// Show the state of the app's servers.
#[derive(Deserialize, JsonSchema)]
pub(super) struct E2eStatus {}

/// The state of the servers.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct State {
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    servers: Vec<NamedServer>,
    /// The number of errors so far; see `e2e_errors`.
    errors: usize,
}

/// The servers of the session that tests an app, or all servers if there is no such session.
pub(super) struct Servers {
    session: Option<E2eSession>,
    all: Vec<Arc<DevServer>>,
}

impl Scope for Servers {
    const CAN_BE_STEP: bool = false;

    async fn enter(call: &Call, reach: &Reach) -> Result<Self> {
        call.skip_turn();
        let all = reach.sessions.dev_servers().all().to_vec();
        match reach.sessions.e2e(&reach.session) {
            Ok(session) => {
                let session = E2eSession(session);
                Ok(Self {
                    all: session.app().servers().to_vec(),
                    session: Some(session),
                })
            }
            // The state can be requested before there is a session.
            Err(Error::NoE2eSession { sessions }) if sessions.is_empty() => {
                Ok(Self { session: None, all })
            }
            Err(error) => Err(error),
        }
    }
}

impl Tool for E2eStatus {
    const NAME: &'static str = "e2e_status";
    const TITLE: &'static str = "State of the app";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const WAITS: bool = false;
    type Scope = Servers;
    type Output = Object<State>;

    async fn run(self, servers: Servers, _: &Call) -> Result<Object<State>> {
        let named_servers = servers.all.iter().map(async |server| NamedServer {
            name: server.name().to_owned(),
            answer: evidence::state(server).await,
        });
        let named_servers = futures_util::future::join_all(named_servers).await;
        let session = servers.session.as_ref();
        Ok(State {
            session_id: session.map(|session| session.session().id().to_owned()),
            servers: named_servers,
            errors: session.map_or(0, |session| {
                let (errors, left_out) = session.app().errors();
                errors.len() + left_out
            }),
        }
        .into())
    }
}

/// Restart the app's server and reload the page.
#[derive(Deserialize, JsonSchema)]
pub(super) struct E2eRestart {
    /// Its name; the one that was started by default.
    server: Option<String>,
}

/// A restarted server.
#[derive(Serialize, JsonSchema)]
pub(super) struct Restarted {
    #[serde(flatten)]
    answer: Answer,
    /// The document that the page shows after the restart.
    page: Shown,
}

impl Tool for E2eRestart {
    const NAME: &'static str = "e2e_restart";
    const TITLE: &'static str = "Restart the app";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = E2eSessionInTurn;
    type Output = Object<Restarted>;

    async fn run(
        self,
        E2eSessionInTurn(session): E2eSessionInTurn,
        call: &Call,
    ) -> Result<Object<Restarted>> {
        let servers = session.app().servers();
        let server = find_server(servers, self.server.as_deref())?;
        let part = session.session().part(call)?;
        let tab = part.current_tab(call).await?;
        let before = tab.page.url();
        let main = &servers[0];
        let app_url_of = |server: &DevServer| server.known().and_then(|known| known.url);
        let (url, main_url) = (app_url_of(server), app_url_of(main));
        call.set_status(format!(
            "waiting for the server {} to be ready",
            server.name()
        ));
        let answer = server.restart().await?;
        if !Arc::ptr_eq(server, main) && answer.url != url {
            // The main server got the URL of the other one when it was started.
            main.restart().await?;
        }
        let at = moved_url(&before, main_url.as_deref(), app_url_of(main).as_deref());
        let page = match at {
            Some(url) => navigate(call, &part, &url).await?,
            None => open_app(call, &part, main, None).await?,
        };
        session.app().call_ended();
        Ok(Restarted { answer, page }.into())
    }
}

/// Returns the server with the name, or the first server.
pub(super) fn find_server<'a>(
    servers: &'a [Arc<DevServer>],
    name: Option<&str>,
) -> Result<&'a Arc<DevServer>> {
    let Some(name) = name else {
        return Ok(&servers[0]);
    };
    let found = servers.iter().find(|server| server.name() == name);
    found.ok_or_else(|| Error::DevServerNotConfigured {
        server: Some(name.to_owned()),
        servers: servers
            .iter()
            .map(|server| server.name().to_owned())
            .collect(),
    })
}

/// Returns the URL of a page after its server has moved from one origin to another. Returns `None` if the page has no HTTP URL.
fn moved_url(page: &str, from: Option<&str>, to: Option<&str>) -> Option<Url> {
    let is_http = |url: &Url| matches!(url.scheme(), "http" | "https");
    let parsed = |url: &str| Url::parse(url).ok().filter(is_http);
    let mut page = parsed(page)?;
    let (Some(from), Some(to)) = (from.and_then(parsed), to.and_then(parsed)) else {
        return Some(page);
    };
    if page.origin() == from.origin() {
        page.set_scheme(to.scheme()).ok()?;
        page.set_host(to.host_str()).ok()?;
        page.set_port(to.port()).ok()?;
    }
    Some(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_moves_with_its_server() {
        let moved_url = |page| {
            let url = moved_url(
                page,
                Some("http://localhost:1/"),
                Some("http://localhost:2"),
            );
            url.map(String::from)
        };
        assert_eq!(
            moved_url("http://localhost:1/a?b#c").as_deref(),
            Some("http://localhost:2/a?b#c")
        );
        assert_eq!(
            moved_url("http://localhost:3/a").as_deref(),
            Some("http://localhost:3/a")
        );
        assert_eq!(moved_url("about:blank"), None);
        assert_eq!(moved_url("chrome-error://chromewebdata/"), None);
    }
}
