//! Creating, closing and listing sessions.

use super::Done;
use super::login::LoginCheck;
use super::network::Throttling;
use crate::access::principal::Permission;
use crate::calls::Call;
use crate::error::{Error, Problem, Result};
use crate::sessions::session::{Session, TITLE_TIMEOUT};
use crate::sessions::{
    self, BrowserOption, Created, EmulationOptions, ProxyOption, SessionName, SessionOptions,
    Visible, unix_ms,
};
use crate::tools::scope::OfServer;
use crate::tools::tool::{Effect, JudgedPage, Object, Tool, ToolDef};
use crate::tools::verbs::navigate::completed_in;
use engine::StorageState;
use futures_util::StreamExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<CreateSession>(),
    ToolDef::of::<CloseSession>(),
    ToolDef::of::<ListSessions>(),
];

/// The number of sessions whose pages are read at the same time.
const MAX_CONCURRENT: usize = 16;

/// Create an isolated session with a page of its own.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreateSession {
    /// A name to use as sessionId.
    name: Option<String>,
    /// The server's, if left out.
    browser: Option<BrowserOption>,
    #[serde(flatten)]
    emulation: EmulationOptions,
    /// Proxy of its own.
    proxy: Option<ProxyOption>,
    /// Cookies and storage: a file's path.
    storage_state: Option<String>,
    /// Or a name given to save_state.
    restore: Option<String>,
    /// Opened to check the login; must not redirect.
    check_url: Option<String>,
    /// Must be shown there instead.
    check_text: Option<String>,
    /// Lifetime in ms after the last call, at most the server's; 0: that.
    #[schemars(range(min = 0, max = 2_592_000_000_u64))]
    timeout: Option<u64>,
}

/// The new session.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreatedSession {
    session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// When the session was created, in Unix ms.
    created_at: u64,
    /// When the session expires, in Unix ms; absent if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
    /// The outcome of the check.
    #[serde(skip_serializing_if = "Option::is_none")]
    login_valid: Option<bool>,
    message: String,
}

impl Tool for CreateSession {
    const NAME: &'static str = "create_session";
    const TITLE: &'static str = "Create session";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const CREATES_SESSIONS: bool = true;
    type Scope = Visible;
    type Output = Object<CreatedSession>;

    fn judged_page(&self, session: &Session) -> JudgedPage {
        let url = self.check_url.as_deref();
        url.map_or(JudgedPage::Current, |url| {
            JudgedPage::Url(completed_in(session, url))
        })
    }

    async fn run(self, sessions: Visible, call: &Call) -> Result<Object<CreatedSession>> {
        let storage_state = self.storage_state(&sessions, call).await?;
        let name = self
            .name
            .map(|name| SessionName::given(call.tool.name, name));
        let max_lifetime = call.settings.sessions.timeout;
        let requested = self.timeout.filter(|ms| *ms > 0).map(Duration::from_millis);
        let options = SessionOptions {
            name: name.transpose()?,
            browser: self.browser,
            emulation: self.emulation,
            proxy: self.proxy,
            storage_state,
            lifetime: requested.map(|requested| requested.min(max_lifetime)),
            expiry: None,
        };
        let created = sessions.create(call, &options).await?;
        let mut message = "Session created".to_owned();
        if requested.is_some_and(|requested| requested > max_lifetime) {
            let lifetime = max_lifetime.as_millis();
            let _ = write!(
                message,
                "; it lives {lifetime} ms, the most that this server allows (--session-timeout)"
            );
        }
        let mut login_valid = None;
        if let Some(url) = self.check_url.as_deref() {
            let text = self.check_text.as_deref();
            let check = LoginCheck { url, text };
            let guard = SessionGuard::new(sessions, &created);
            let failure = check.failure(&created.session, call).await?;
            guard.disarm();
            login_valid = Some(failure.is_none());
            let _ = match failure {
                None => write!(message, "; the login is valid"),
                Some(reason) => write!(
                    message,
                    ", but the login is not valid any more: {reason}. Sign in, and save the state again."
                ),
            };
        }
        Ok(CreatedSession {
            login_valid,
            session_id: created.id.to_string(),
            name: created.name.clone(),
            created_at: unix_ms(created.created_at),
            expires_at: created.expires_at().map(unix_ms),
            message,
        }
        .into())
    }
}

impl CreateSession {
    /// Reads the storage state that the session starts with.
    async fn storage_state(&self, sessions: &Visible, call: &Call) -> Result<Option<StorageState>> {
        let refused = |reason: &'static str,
                       parameters: &'static [&'static str],
                       missing: &'static [&'static str]| {
            Err(Error::Arguments {
                reason: reason.into(),
                parameters,
                missing,
                bare: false,
            })
        };
        if self.check_text.is_some() && self.check_url.is_none() {
            return refused("checkText needs checkUrl", &["checkText"], &["checkUrl"]);
        }
        let name = match (&self.restore, &self.storage_state) {
            (Some(_), Some(_)) => {
                let both = &["restore", "storageState"];
                return refused("Give either restore or storageState", both, &[]);
            }
            (None, None) if self.check_url.is_some() => {
                let missing = &["restore", "storageState"];
                return refused(
                    "checkUrl needs restore or storageState",
                    &["checkUrl"],
                    missing,
                );
            }
            (None, path) => return storage_state(sessions, call, path.as_deref()).await,
            (Some(name), None) => name,
        };
        let files = sessions.default_session().session.files(call).await;
        let saved = files.saved_state(name).await?;
        saved.map(Some).map_err(|names| Error::InvalidArguments {
            tool: call.tool.name,
            problems: vec![Problem {
                parameter: "restore".to_owned(),
                message: match names.is_empty() {
                    true => "No state is saved by a name; save_state does".to_owned(),
                    false => format!("No state has this name. Saved: {}", names.join(", ")),
                },
                missing: false,
            }],
        })
    }
}

/// A guard that closes the new session when it is dropped, unless the session was reported to the client.
pub(in crate::tools) struct SessionGuard {
    sessions: Visible,
    created: Option<Arc<Created>>,
}

impl SessionGuard {
    pub(in crate::tools) fn new(sessions: Visible, created: &Arc<Created>) -> Self {
        let created = Some(created.clone());
        Self { sessions, created }
    }

    /// Keeps the session.
    pub(in crate::tools) fn disarm(mut self) {
        self.created = None;
    }
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        if let Some(created) = self.created.take() {
            self.sessions.discard(created);
        }
    }
}

/// Reads the storage state for a new session from a file. Fails if the caller must not read the file.
pub(in crate::tools) async fn storage_state(
    sessions: &Visible,
    call: &Call,
    path: Option<&str>,
) -> Result<Option<StorageState>> {
    let Some(path) = path else { return Ok(None) };
    let default = sessions.default_session().session;
    let state = default.files(call).await.storage_state(path).await?;
    Ok(Some(state))
}

/// Close a session: its pages, cookies and storage are gone, calls on it are cancelled.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CloseSession {
    /// Its id or name; default is the one of calls that name none.
    session_id: String,
}

impl Tool for CloseSession {
    const NAME: &'static str = "close_session";
    const TITLE: &'static str = "Close session";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = Visible;
    type Output = Object<Done>;

    async fn run(self, sessions: Visible, call: &Call) -> Result<Object<Done>> {
        sessions.close(call, &self.session_id).await?;
        Ok(Done::new("Session closed").into())
    }
}

/// List the sessions, the default one first.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ListSessions {}

/// The sessions.
#[derive(Serialize, JsonSchema)]
pub(super) struct SessionList {
    sessions: Vec<Listed>,
}

/// A session.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Listed {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    id: String,
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
    #[serde(flatten)]
    shown: Shown,
    /// The named contexts, without the default one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contexts: Vec<ListedContext>,
}

/// A named context.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedContext {
    name: String,
    active: bool,
    #[serde(flatten)]
    shown: Shown,
}

/// The state of a browser context.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Shown {
    url: String,
    title: String,
    pages: usize,
    /// Name and version of the browser.
    browser: String,
    /// The number of the browser, from 1. Sessions with the same number share it.
    #[serde(skip_serializing_if = "Option::is_none")]
    browser_id: Option<u64>,
    /// Whether offline mode is on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    offline: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    throttling: Option<Throttling>,
}

/// The kind of a session.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Default,
    Created,
}

impl From<sessions::Kind> for Kind {
    fn from(kind: sessions::Kind) -> Self {
        match kind {
            sessions::Kind::Default => Self::Default,
            sessions::Kind::Created => Self::Created,
        }
    }
}

impl Tool for ListSessions {
    const NAME: &'static str = "list_sessions";
    const TITLE: &'static str = "List sessions";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = (OfServer, Visible);
    type Output = Object<SessionList>;

    async fn run(
        self,
        (_, sessions): (OfServer, Visible),
        call: &Call,
    ) -> Result<Object<SessionList>> {
        let default = sessions.shared_default().filter(|default| {
            let (named, _) = default.named_contexts();
            default.open_tabs().is_some() || !named.is_empty()
        });
        let default = default.map(|default| (default, None));
        let created = sessions.list().into_iter();
        let created = created.map(|created| (created.session.clone(), Some(created)));
        // Read concurrently, so that an unresponsive page delays only its own entry.
        let all = default.into_iter().chain(created);
        let all: Vec<_> = all
            .map(|(session, created)| describe(call, session, created))
            .collect();
        let all = futures_util::stream::iter(all).buffered(MAX_CONCURRENT);
        Ok(SessionList {
            sessions: all.collect().await,
        }
        .into())
    }
}

async fn describe(call: &Call, session: Arc<Session>, created: Option<Arc<Created>>) -> Listed {
    let (named, active) = session.named_contexts();
    let named = named.iter().map(async |(name, context)| ListedContext {
        name: name.clone(),
        active: active.as_ref() == Some(name),
        shown: describe_context(call, context).await,
    });
    let named = futures_util::future::join_all(named);
    let (shown, contexts) =
        futures_util::future::join(describe_context(call, &session), named).await;
    let created = created.as_ref();
    Listed {
        name: created.and_then(|created| created.name.clone()),
        id: session.id().to_owned(),
        kind: created.map_or(Kind::Default, |created| created.kind.into()),
        created_at: created.map(|created| unix_ms(created.created_at)),
        expires_at: created
            .and_then(|created| created.expires_at())
            .map(unix_ms),
        shown,
        contexts,
    }
}

async fn describe_context(call: &Call, session: &Session) -> Shown {
    let tabs = session.open_tabs();
    let current = tabs.as_ref().and_then(|tabs| tabs.current());
    let facts = match current {
        Some(tab) => tab.facts(&call.within(TITLE_TIMEOUT)).await,
        None => crate::answers::reply::PageFacts::default(),
    };
    let context = tabs.as_ref().map(|tabs| &tabs.open().context);
    let throttling = context.map(engine::BrowserContext::throttling);
    Shown {
        offline: context.is_some_and(engine::BrowserContext::is_offline),
        throttling: throttling
            .filter(|throttling| *throttling != engine::Throttling::default())
            .map(Into::into),
        url: facts.url,
        title: facts.title,
        pages: tabs.as_ref().map_or(0, |tabs| tabs.all().len()),
        browser_id: tabs.as_ref().and_then(|tabs| tabs.open().browser_number()),
        browser: tabs.map_or_else(String::new, |tabs| tabs.open().browser.product().to_owned()),
    }
}
