//! The server: its settings, the enabled tools, and what runs for its clients. It implements the features of MCP, without the protocol.

mod admission;
mod call;
pub(crate) mod dispatch;
mod document_tools;
pub(crate) mod instructions;
mod nearest;
pub(crate) mod prompts;
pub(crate) mod request;
pub(crate) mod resources;
mod steps;

use crate::access::audit::{AuditLog, OpenError};
use crate::access::policy::{self, Policy};
use crate::access::principal::{Permission, Principal};
use crate::apps::DevServers;
use crate::calls::handover::Handovers;
use crate::config::{AnswerStyle, Settings, ToolsetName};
use crate::error::Error;
use crate::features;
use crate::sessions::browsers::Browsers;
use crate::sessions::{Caller, OwnedSession, Sessions, Visible};
use crate::telemetry::METRICS;
use crate::telemetry::metrics::HealthStats;
use crate::toolbox::{self, Lookup, Toolbox};
use crate::tools::tool::ToolDef;
use prompts::Prompts;
use resources::Resources;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Loaded on the first request, because most clients never request prompts and startup must not wait for them.
type LazyPrompts = LazyLock<Prompts, Box<dyn FnOnce() -> Prompts + Send>>;

/// The state that outlives a call.
pub(crate) struct Server {
    settings: Arc<Settings>,
    toolbox: Toolbox,
    prompts: Option<LazyPrompts>,
    sessions: Arc<Sessions>,
    browsers: Arc<Browsers>,
    dev_servers: Arc<DevServers>,
    handovers: Arc<Handovers>,
    audit: Option<Arc<AuditLog>>,
    policy: Option<Arc<Policy>>,
    under_way: TaskTracker,
    stop: CancellationToken,
}

/// Why the server cannot be created with these settings.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// A prompt file of the user is invalid.
    #[error(transparent)]
    Prompts(#[from] prompts::LoadError),
    /// The policy cannot be read.
    #[error(transparent)]
    Policy(#[from] policy::LoadError),
    /// The audit log cannot be used.
    #[error(transparent)]
    Audit(#[from] OpenError),
}

impl Server {
    /// Creates a server. Fails if a prompt file or the policy is invalid, or the audit log cannot be used.
    pub(crate) fn new(settings: Settings) -> Result<Self, StartError> {
        LazyLock::force(&METRICS);
        let settings = Arc::new(settings);
        let policy = toolbox::policy(&settings)?.map(Arc::new);
        let audit = settings.security.audit_log.as_deref();
        let audit = audit.map(AuditLog::open).transpose()?.map(Arc::new);
        let browsers = Arc::new(Browsers::new(settings.clone()));
        let dev_servers = Arc::new(DevServers::new(&settings.dev_servers));
        let sessions = Sessions::new(
            settings.clone(),
            browsers.clone(),
            dev_servers.clone(),
            features::of_session,
        );
        let toolbox = Toolbox::new(&settings.tools);
        let prompts = prompts(&settings, &toolbox)?;
        Ok(Self {
            toolbox,
            prompts,
            sessions: Arc::new(sessions),
            browsers,
            dev_servers,
            settings,
            handovers: Arc::default(),
            audit,
            policy,
            under_way: TaskTracker::new(),
            stop: CancellationToken::new(),
        })
    }

    /// Launches the browsers of the pool, and stops servers of the app that killed Playhouse processes left running.
    pub(crate) fn begin(&self) {
        self.browsers.fill();
        self.dev_servers.stop_leftovers();
    }

    /// Returns how long closing may take in addition to browsers and clients.
    pub(crate) fn closing(&self) -> Duration {
        self.settings.dev_servers.longest_shutdown()
    }

    /// Returns the enabled tools.
    pub(crate) fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    /// Returns the tools that clients see.
    pub(crate) fn shown_tools(&self) -> impl Iterator<Item = &'static ToolDef> {
        self.toolbox.shown(self.policy.as_deref())
    }

    /// Returns whether clients see exactly what `@playwright/mcp` shows.
    pub(crate) fn is_drop_in(&self) -> bool {
        is_drop_in(&self.settings)
    }

    /// Returns whether clients are asked for their roots.
    pub(crate) fn asks_for_roots(&self) -> bool {
        !self.settings.tools.ignore_roots
    }

    /// Returns whether errors contain the identifier of their request. Those of `@playwright/mcp` do not.
    pub(crate) fn shows_request_ids(&self) -> bool {
        self.settings.answers.style == AnswerStyle::Compact
    }

    /// Returns whether answers contain their size.
    pub(crate) fn shows_sizes(&self) -> bool {
        self.settings.answers.has_size
    }

    /// Returns the instructions for agents.
    pub(crate) fn instructions(&self) -> String {
        instructions::text(&self.toolbox, &self.settings.answers)
    }

    /// Returns the permission that a caller of that tool needs.
    pub(crate) fn permission_for(&self, tool: &str) -> Permission {
        match self.toolbox.find(tool) {
            Lookup::On(tool) => tool.permission,
            Lookup::Off(_) | Lookup::Unknown(_) => Permission::Read,
        }
    }

    /// Returns the prompts, if any are offered.
    pub(crate) fn prompts(&self) -> Option<&Prompts> {
        self.prompts.as_deref()
    }

    /// Returns the resources of a caller.
    pub(crate) fn resources(&self, caller: Caller) -> Resources {
        Resources::new(Visible::new(self.sessions.clone(), caller))
    }

    /// Returns the sessions of a principal, without prolonging them.
    pub(crate) fn owned_sessions(&self, owner: &Principal) -> Vec<OwnedSession> {
        self.sessions.owned_by(owner)
    }

    /// Returns the session of a principal with that id, without prolonging it.
    pub(crate) fn owned_session(&self, owner: &Principal, id: &str) -> Result<OwnedSession, Error> {
        self.sessions.owned(owner, id)
    }

    /// Closes a session of a principal.
    pub(crate) async fn close_session(&self, owner: &Principal, id: &str) -> Result<(), Error> {
        self.sessions.close_owned(owner, id).await
    }

    /// Returns whether the dashboard is served.
    pub(crate) fn has_dashboard(&self) -> bool {
        self.settings.dashboard.is_some()
    }

    /// Returns the port of the dashboard over stdio, if there is a dashboard.
    pub(crate) fn dashboard_port(&self) -> Option<u16> {
        self.settings.dashboard
    }

    /// Returns the open requests to users to type a value.
    pub(crate) fn handovers(&self) -> &Arc<Handovers> {
        &self.handovers
    }

    /// Returns the name and version of the server.
    pub(crate) fn name_and_version(&self) -> (String, String) {
        self.settings.server.clone()
    }

    /// Creates a caller that is identified by its principal alone.
    pub(crate) fn caller(&self, principal: Principal) -> Caller {
        self.sessions.caller(principal)
    }

    /// Creates a caller for a connected client, which disconnects when the last clone is dropped.
    pub(crate) fn connected_caller(
        &self,
        principal: Principal,
        has_ended: Arc<AtomicBool>,
    ) -> Caller {
        self.sessions.connected_caller(principal, has_ended)
    }

    /// Returns whether the caller has sessions beside the server's default one.
    #[cfg(unix)]
    pub(crate) fn has_sessions(&self, caller: &Caller) -> bool {
        let visible = Visible::new(self.sessions.clone(), caller.clone());
        !visible.list().is_empty()
    }

    /// Resolves when no call is in progress; no more are accepted.
    pub(crate) async fn finished(&self) {
        self.under_way.close();
        self.under_way.wait().await;
    }

    /// Returns the current numbers of browsers and sessions.
    pub(crate) fn health_stats(&self) -> HealthStats {
        HealthStats {
            browsers: self.browsers.len(),
            sessions: self.sessions.len(),
            busy_sessions: self.sessions.busy(),
            uptime: METRICS.uptime(),
        }
    }

    /// Returns the metrics in the text format of OpenMetrics.
    pub(crate) fn metrics(&self, mcp_sessions: usize) -> String {
        METRICS.text(self.health_stats(), mcp_sessions)
    }

    /// Cancels all calls that are in progress.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Resolves when [`Self::stop`] was called.
    pub(crate) async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// Closes everything that the server started.
    pub(crate) async fn close(&self) {
        self.stop();
        // Closed before the browsers, which end quickly.
        let apps = self.dev_servers.close();
        let browsers = async {
            self.sessions.close_all().await;
            self.browsers.close().await;
        };
        tokio::join!(apps, browsers);
    }
}

/// With the `browser` toolset alone, clients see exactly what `@playwright/mcp` shows.
fn is_drop_in(settings: &Settings) -> bool {
    let toolsets = &settings.tools.toolsets;
    toolsets.iter().all(|name| *name == ToolsetName::Browser)
}

/// Returns the prompts; `None` if clients expect none, unless the user has prompt files.
fn prompts(
    settings: &Arc<Settings>,
    toolbox: &Toolbox,
) -> Result<Option<LazyPrompts>, prompts::LoadError> {
    let has_own = settings.prompts.dir.is_some();
    if !has_own && is_drop_in(settings) {
        return Ok(None);
    }
    let settings = settings.clone();
    let tools: Vec<_> = toolbox.iter().map(|tool| tool.name).collect();
    let load = move || {
        let Settings { tools: on, .. } = &*settings;
        let tools = tools.into_iter();
        Prompts::load(&settings.prompts, &on.toolsets, tools, &settings.secrets)
    };
    Ok(Some(LazyLock::new(match has_own {
        // Errors are reported at startup.
        true => {
            let prompts = load()?;
            Box::new(move || prompts)
        }
        false => Box::new(move || load().expect("the prompts of the house are in order")),
    })))
}
