//! Named browser contexts: isolated parts of a session with their own cookies, storage, cache and proxy.

use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::config::Capability;
use crate::error::{Error, Problem, Result};
use crate::sessions::session::{DEFAULT_CONTEXT, Session};
use crate::sessions::{ProxyOption, SessionOptions, Visible, check_name};
use crate::tools::scope::WholeSession;
use crate::tools::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<Create>(),
    ToolDef::of::<Switch>(),
    ToolDef::of::<List>(),
    ToolDef::of::<Close>(),
    ToolDef::of::<SaveStorage>(),
];

/// Create an isolated browser context and work in it from now on. Refs of its snapshots begin with its name.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Create {
    /// Its name: letters, digits, - and _.
    name: String,
    /// Proxy of its own.
    proxy: Option<ProxyOption>,
    /// File with cookies and storage to start with.
    storage_state: Option<String>,
}

impl Tool for Create {
    const NAME: &'static str = "browser_context_create";
    const TITLE: &'static str = "Create a browser context";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Contexts);
    type Scope = (WholeSession, Visible);
    type Output = Reply;

    async fn run(
        self,
        (WholeSession(session), sessions): (WholeSession, Visible),
        call: &Call,
    ) -> Result<Reply> {
        check_name(call.tool.name, "name", &self.name)?;
        let storage_state = match &self.storage_state {
            Some(path) => Some(session.files(call).await.storage_state(path).await?),
            None => None,
        };
        let options = SessionOptions {
            proxy: self.proxy,
            storage_state,
            ..SessionOptions::default()
        };
        let settings = options.applied_to_context(session.settings())?;
        let _slot = sessions.context_slot(call)?;
        session.add_context(call, &self.name, settings).await?;
        let name = &self.name;
        Ok(Reply::text(format!("Context \"{name}\" is active")))
    }
}

/// Work in another browser context from now on.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Switch {
    /// Its name; "default" is always there.
    name: String,
}

impl Tool for Switch {
    const NAME: &'static str = "browser_context_switch";
    const TITLE: &'static str = "Switch to a browser context";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Contexts);
    type Scope = WholeSession;
    type Output = Reply;

    async fn run(self, WholeSession(session): WholeSession, _: &Call) -> Result<Reply> {
        session.switch_context(&self.name)?;
        let name = &self.name;
        Ok(Reply::text(format!("Context \"{name}\" is active")).and_snapshot())
    }
}

/// List the browser contexts.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct List {}

impl Tool for List {
    const NAME: &'static str = "browser_context_list";
    const TITLE: &'static str = "List browser contexts";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Contexts);
    type Scope = WholeSession;
    type Output = Reply;

    async fn run(self, WholeSession(session): WholeSession, _: &Call) -> Result<Reply> {
        let (named, active) = session.named_contexts();
        let active = active.as_deref().unwrap_or(DEFAULT_CONTEXT);
        let named = named.iter().map(|(name, context)| (name.as_str(), context));
        let all = std::iter::once((DEFAULT_CONTEXT, &session)).chain(named);
        let lines = all.map(|(name, context)| line(name, context, name == active));
        Ok(Reply::text(lines.collect::<Vec<_>>().join("\n")))
    }
}

/// Returns the line of a context: its name, the number of its pages, the URL of the current one, and the address of its proxy.
fn line(name: &str, context: &Session, is_active: bool) -> String {
    let tabs = context.open_tabs();
    let tabs = tabs.filter(|tabs| tabs.closed_reason().is_none());
    let current = tabs.as_ref().and_then(|tabs| tabs.current());
    let active = if is_active { " (active)" } else { "" };
    let pages = match tabs.map_or(0, |tabs| tabs.all().len()) {
        1 => "1 page".to_owned(),
        pages => format!("{pages} pages"),
    };
    let url = current.map(|tab| format!(", {}", tab.page.url()));
    let settings = context.settings();
    let proxy = settings.context.options.proxy.as_ref();
    let proxy = proxy.or(settings.browser.proxy.as_ref());
    let proxy = proxy.map(|proxy| format!(", proxy {}", proxy.server));
    let (url, proxy) = (url.unwrap_or_default(), proxy.unwrap_or_default());
    format!("- {name}{active}: {pages}{url}{proxy}")
}

/// Close a browser context with its pages; the default one becomes active.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Close {
    /// Its name.
    name: String,
}

impl Tool for Close {
    const NAME: &'static str = "browser_context_close";
    const TITLE: &'static str = "Close a browser context";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Contexts);
    type Scope = WholeSession;
    type Output = Reply;

    async fn run(self, WholeSession(session): WholeSession, call: &Call) -> Result<Reply> {
        if self.name == DEFAULT_CONTEXT {
            return Err(wrong(
                call,
                "name",
                "The default context stays; browser_close closes all",
            ));
        }
        session.close_context(&self.name).await?;
        Ok(Reply::text(format!("Context \"{}\" is closed", self.name)))
    }
}

/// Save the cookies and local storage of a browser context to a file, for browser_context_create.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SaveStorage {
    /// File to write.
    path: String,
    /// Its name; the active one by default.
    name: Option<String>,
}

impl Tool for SaveStorage {
    const NAME: &'static str = "browser_context_save_storage";
    const TITLE: &'static str = "Save the storage of a browser context";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Contexts);
    type Scope = WholeSession;
    type Output = Reply;

    async fn run(self, WholeSession(session): WholeSession, call: &Call) -> Result<Reply> {
        let part = session.context_or_active(self.name.as_deref())?;
        let tabs = part.tabs(call).await?;
        let state = tabs
            .open()
            .context
            .storage_state(&call.navigation())
            .await?;
        let files = session.files(call).await;
        let file = files.writable(&self.path)?;
        let text = task::pretty(state).await;
        files.write_sensitive(&file, text).await?;
        Ok(Reply::default().and(Part::File {
            title: "Storage state".to_owned(),
            link: file.link,
        }))
    }
}

fn wrong(call: &Call, parameter: &str, message: &str) -> Error {
    Error::InvalidArguments {
        tool: call.tool.name,
        problems: vec![Problem {
            parameter: parameter.to_owned(),
            message: message.to_owned(),
            missing: false,
        }],
    }
}
