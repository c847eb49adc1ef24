//! The settings: what the rest of the server reads. Every default is in, every rule was checked.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use engine::codegen::Language;
use engine::{
    AddressRules, BrowserChoice, BrowserKind, Channel, ContextOptions, OriginRules, PageTimeouts,
    Proxy, Search,
};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::secrets::Secrets;
use super::value::{
    AuthMode, Capability, ConsoleLevel, FilePaths, ImageResponses, LogFormat, LogLevel,
    SessionExpiry, SnapshotMode, StorageStateSource, ToolRule, ToolsetName,
};

/// What the server was told, complete.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Which browser, and how it is started or reached.
    pub browser: BrowserSettings,
    /// What pages find.
    pub context: ContextSettings,
    /// Which tools there are.
    pub tools: ToolSettings,
    /// Which prompts there are.
    pub prompts: PromptSettings,
    /// How many sessions there are, and for how long.
    pub sessions: SessionSettings,
    /// The servers of the app under test.
    pub dev_servers: DevServers,
    /// The browsers that sessions share.
    pub pool: PoolSettings,
    /// What answers look like.
    pub answers: AnswerSettings,
    /// Where files lie.
    pub files: FileSettings,
    /// What may be typed and not be shown.
    pub secrets: Secrets,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// What clients must not do.
    pub security: SecuritySettings,
    /// What is reported, and where.
    pub log: LogSettings,
    /// How HTTP is served; `None`: over stdio.
    pub http: Option<HttpSettings>,
    /// The name and version that the server tells clients.
    pub server: (String, String),
    /// The settings in the shape of a configuration file, secrets masked: what
    /// `browser_get_config` shows.
    pub merged: Value,
    /// What a person should read on stderr at start, a line each.
    pub notices: Vec<String>,
}

/// Which browser, and how it is started or reached.
#[derive(Debug, Clone, PartialEq)]
pub struct BrowserSettings {
    /// Its family.
    pub kind: BrowserKind,
    /// Which one.
    pub choice: BrowserChoice,
    /// Where to look for it.
    pub search: Search,
    /// Without a window.
    pub headless: bool,
    /// Whether there is a display that a window could open on.
    pub display: bool,
    /// With or without the browser's sandbox; `None`: with it, where it works.
    pub sandbox: Option<bool>,
    /// Further arguments.
    pub args: Vec<String>,
    /// Our own arguments that the browser does not get.
    pub ignored_args: Vec<String>,
    /// Preferences, if it is a Firefox.
    pub preferences: Vec<(String, serde_json::Value)>,
    /// Further environment variables.
    pub env: Vec<(String, String)>,
    /// How long it may take to start.
    pub launch_timeout: Duration,
    /// Start it with the server.
    pub prelaunch: bool,
    /// How long it may go unused; `None` for ever.
    pub idle_timeout: Option<Duration>,
    /// The pause after each action.
    pub slow_mo: Duration,
    /// Keep nothing on disk; a context for each client.
    pub isolated: bool,
    /// The profile, when somebody chose its folder.
    pub user_data_dir: Option<PathBuf>,
    /// A running browser to use instead of starting one.
    pub cdp: Option<CdpSettings>,
    /// Who makes browsers instead of starting them here.
    pub webdriver: Option<WebDriverSettings>,
    /// The way to the network.
    pub proxy: Option<Proxy>,
    /// What may be requested.
    pub origins: OriginRules,
    /// Which addresses and ports may be connected to.
    pub addresses: AddressRules,
    /// Any certificate of the proxy is accepted.
    pub ignore_https_errors: bool,
    /// There is a tool that throttles the network.
    pub can_throttle: bool,
    /// Contexts of the browser have proxies of their own, past which it may not connect.
    pub confined: bool,
}

impl BrowserSettings {
    /// Whether a session of these settings can be in a browser of those.
    pub(crate) fn is_same_browser(&self, other: &Self) -> bool {
        let same = self.kind == other.kind && self.choice == other.choice;
        same && self.is_confined() == other.is_confined()
    }

    /// Whether the browser may not connect past the proxies of its contexts. One that runs already is as it is.
    fn is_confined(&self) -> bool {
        let has_rules = !self.origins.is_empty() || !self.addresses.is_empty();
        let needed = self.confined || self.proxy.is_some() || has_rules;
        let runs = self
            .webdriver
            .as_ref()
            .is_some_and(WebDriverSettings::is_one_browser);
        needed && self.cdp.is_none() && !runs
    }

    /// The settings for another browser; these, if the channel is of their family and stands for the whole of it.
    #[must_use]
    pub(crate) fn of_channel(&self, channel: Channel) -> Self {
        let choice = BrowserChoice::Channel(channel);
        let same_family = self.kind == channel.kind();
        if self.choice == choice || (same_family && channel.is_default_channel()) {
            return self.clone();
        }
        let mut settings = Self {
            kind: channel.kind(),
            choice,
            cdp: None,
            ..self.clone()
        };
        settings
            .webdriver
            .take_if(|webdriver| webdriver.is_one_browser());
        if !same_family {
            // They are words of the other family.
            settings.args.clear();
            settings.ignored_args.clear();
        }
        settings
    }
}

/// A running browser to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CdpSettings {
    /// Its address, `http`, `https`, `ws` or `wss`; or `auto`.
    pub endpoint: String,
    /// The profiles in which `auto` looks for a browser that runs, by the browser's name.
    pub profiles: Vec<(String, PathBuf)>,
    /// Headers to send when connecting.
    pub headers: Vec<(String, String)>,
    /// How long connecting may take.
    pub timeout: Duration,
}

/// A WebDriver end.
#[derive(Debug, Clone, PartialEq)]
pub struct WebDriverSettings {
    /// Its address, `http`, `https`, `ws` or `wss`.
    pub endpoint: String,
    /// Headers to send with every request.
    pub headers: Vec<(String, String)>,
    /// What else to ask for.
    pub capabilities: Map<String, Value>,
}

impl WebDriverSettings {
    /// Whether it is a browser that listens, not somebody who makes them.
    pub(crate) fn is_one_browser(&self) -> bool {
        self.endpoint.starts_with("ws")
    }
}

/// What pages find: the options of their browser context.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextSettings {
    /// What is known before the browser is: the user agent is a template, and there are no scripts and downloads yet.
    pub options: ContextOptions,
    /// Pages are as large as the window, whatever the viewport of the options is.
    pub fills_window: bool,
    /// Downloads are accepted.
    pub accept_downloads: bool,
    /// Where they go, when somebody chose.
    pub downloads_dir: Option<PathBuf>,
    /// Its name among those of its session; `None` for the default one. Refs begin with it.
    pub name: Option<String>,
    /// Cookies and storage at first.
    pub storage_state: Option<StorageStateSource>,
    /// Scripts for each page, absolute paths; they existed at start.
    pub init_scripts: Vec<PathBuf>,
    /// Modules that run for each tab, absolute paths; they existed at start.
    pub init_pages: Vec<PathBuf>,
}

/// Which tools there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolSettings {
    /// The families that are on.
    pub toolsets: Vec<ToolsetName>,
    /// The capabilities that are on, beside the core.
    pub capabilities: Vec<Capability>,
    /// Rules about single tools; the last one about a tool counts.
    pub rules: Vec<ToolRule>,
    /// What no tool may do, whatever the rules say.
    pub forbidden: Vec<Risk>,
    /// There is an app under test, which tools can start.
    pub app: bool,
    /// Tools that work on a session must name it.
    pub require_session: bool,
}

/// Tools of the `session` toolset that are on by default: every `browser_*` tool takes the session that they make.
pub(crate) const DEFAULT_SESSION_TOOLS: [&str; 3] =
    ["create_session", "list_sessions", "close_session"];

/// Which prompts there are, beside those of the house.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptSettings {
    /// The folder of the user's own, absolute.
    pub dir: Option<PathBuf>,
}

/// A time that does not come.
pub(crate) const NEVER: Duration = Duration::MAX;

/// How many sessions there are, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSettings {
    /// How long one lives, and may ask to live: from its creation, or from its last call.
    pub timeout: Duration,
    /// How many there may be at once with their named contexts, beside default ones.
    pub max: usize,
    /// All clients of one name share a default session.
    pub shared: bool,
    /// Which of the two.
    pub expiry: SessionExpiry,
}

/// The servers of the app under test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DevServers {
    /// Each after those that it requires.
    pub servers: Vec<DevServerSettings>,
    /// Where it is noted that we have them running.
    pub leases: PathBuf,
}

/// One of them, by the command that starts, restarts, asks after and stops it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevServerSettings {
    /// What it is called.
    pub name: String,
    /// The program and its arguments; at least the program, unless it runs already.
    pub command: Vec<String>,
    /// Where it runs already: it is used, and neither started nor stopped.
    pub url: Option<String>,
    /// The folder that it is started in, absolute.
    pub cwd: PathBuf,
    /// Environment variables beside our own.
    pub env: Vec<(String, String)>,
    /// Servers that are started before it.
    pub requires: Vec<String>,
    /// How long it may take to start.
    pub start: Duration,
    /// To restart.
    pub restart: Duration,
    /// To tell its state.
    pub status: Duration,
    /// To stop.
    pub shutdown: Duration,
    /// How long no call may come on a session that uses it; `None` for ever.
    pub idle: Option<Duration>,
}

impl DevServers {
    /// The longest that it may take to start or restart them all.
    pub(crate) fn longest(&self) -> Duration {
        let longest = |server: &DevServerSettings| server.start.max(server.restart);
        self.servers.iter().map(longest).sum()
    }

    /// The longest that it may take to stop them all, each by itself.
    pub(crate) fn longest_shutdown(&self) -> Duration {
        let limits = self.servers.iter().map(|server| server.shutdown);
        limits.max().unwrap_or_default()
    }
}

/// The browsers that sessions share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSettings {
    /// How many run from the start, and stay.
    pub min: usize,
    /// How many there may be; at least one, and no fewer than `min`.
    pub max: usize,
    /// How long one may have no session; `None` for ever.
    pub idle_timeout: Option<Duration>,
}

/// What clients must not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecuritySettings {
    /// Schemes of addresses that may be opened though they show local files or the browser's insides.
    pub schemes: Vec<String>,
    /// The size of a screenshot in bytes above which it is refused.
    pub max_screenshot: Option<u64>,
    /// The file of rules about calls, absolute.
    pub policy: Option<PathBuf>,
    /// The file in which each call is recorded, absolute.
    pub audit_log: Option<PathBuf>,
}

/// What all tools may be forbidden to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Risk {
    /// Run code of the client.
    Evaluation,
    /// Give files to pages.
    Upload,
}

impl Risk {
    /// The switch that forbids it, without its `--no-`.
    pub(crate) fn switch(self) -> &'static str {
        match self {
            Self::Evaluation => "enable-script-evaluation",
            Self::Upload => "enable-file-upload",
        }
    }
}

/// How clients are served over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpSettings {
    /// Who may connect.
    pub auth: AuthSettings,
    /// The address to listen on, a name or a number.
    pub host: String,
    /// The port; 0 is any that is free.
    pub port: u16,
    /// Hosts that requests may name, with or without a port; `None`: the one that is listened on. `*` is any.
    pub allowed_hosts: Option<Vec<String>>,
    /// Origins of web pages that may ask; `None`: those of the allowed hosts.
    pub allowed_origins: Option<Vec<String>>,
    /// The files of the certificate and of its key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// How many connections there may be.
    pub max_connections: usize,
    /// The largest request in bytes.
    pub max_request: usize,
    /// Requests a second for each client; `None`: any number.
    pub rate: Option<u32>,
    /// How long an MCP session lives that nobody listens to or asks.
    pub client_timeout: Duration,
}

/// Who may connect over HTTP.
#[derive(Clone, PartialEq, Eq)]
pub struct AuthSettings {
    /// In which way they show who they are.
    pub mode: AuthMode,
    /// The API key.
    pub key: Option<String>,
    /// The file of API keys with names, absolute.
    pub keys: Option<PathBuf>,
    /// Whose tokens are good, letter for letter as the tokens say it.
    pub issuers: Vec<String>,
    /// What tokens must be for; `None`: our own endpoints.
    pub resource: Option<String>,
}

impl AuthSettings {
    /// Whether there may be several principals.
    pub(crate) fn has_named_principals(&self) -> bool {
        match self.mode {
            AuthMode::None => false,
            AuthMode::ApiKey => self.keys.is_some(),
            AuthMode::Oauth => true,
        }
    }
}

/// Without the key.
impl std::fmt::Debug for AuthSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuthSettings")
            .field("mode", &self.mode)
            .field("keys", &self.keys)
            .field("issuers", &self.issuers)
            .field("resource", &self.resource)
            .finish_non_exhaustive()
    }
}

/// What is reported, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// How much.
    pub level: LogLevel,
    /// How it is written.
    pub format: LogFormat,
    /// The file, absolute; `None`: on stderr.
    pub file: Option<PathBuf>,
}

/// What answers look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerSettings {
    /// Whether actions answer with a snapshot.
    pub snapshot_mode: SnapshotMode,
    /// Whether snapshots have boxes.
    pub snapshot_boxes: bool,
    /// The language of code.
    pub codegen: Language,
    /// What becomes of images.
    pub image_responses: ImageResponses,
    /// How paths are written.
    pub file_paths: FilePaths,
    /// The console messages that are kept.
    pub console_level: ConsoleLevel,
    /// The attribute of `getByTestId`.
    pub test_id_attribute: String,
    /// A dialog that the agent passes by is put to the user.
    pub ask_user: bool,
    /// What pages say is marked in answers, and what people cannot see of it.
    pub content_boundaries: bool,
}

/// Where files lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSettings {
    /// The folder the server was started in.
    pub cwd: PathBuf,
    /// The output folder, absolute, when somebody chose it; else `.playwright-mcp` in the workspace.
    pub output_dir: Option<PathBuf>,
    /// The size of the output folder above which old files are deleted, in bytes; `None`: there is no limit.
    pub output_max_size: Option<u64>,
    /// The folder below which each principal of an HTTP server has its workspace, absolute, when somebody chose it.
    pub workspace_root: Option<PathBuf>,
    /// Folders that files may be read from without `browser:admin`, and beside the workspace. Relative ones lie in the workspace.
    pub readable: Vec<PathBuf>,
    /// Clients may name files to read and write; without it they get those that the server names.
    pub client_paths: bool,
    /// Files and folders that no tool reads or writes, absolute: configuration, keys, secrets, profiles, state.
    pub protected: Vec<PathBuf>,
    /// The user's folder for files that last as long as the login (`XDG_RUNTIME_DIR`).
    pub runtime_dir: Option<PathBuf>,
    /// The folders of the principal that the session belongs to; `None` where nobody is asked who they are.
    pub(crate) owner: Option<OwnerFolders>,
    /// Downloads are kept apart, under names that no program opens.
    pub quarantine: bool,
    /// Keep a journal of all calls.
    pub save_session: bool,
    /// Any file may be read and written.
    pub unrestricted: bool,
    /// Where profiles are kept between runs.
    pub profiles: PathBuf,
    /// Where browsers that we installed lie.
    pub browsers: PathBuf,
    /// The index of builds to download.
    pub download_index: String,
}

/// The folders of a principal that has authenticated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnerFolders {
    /// Its workspace, absolute. Folders that its clients name count if they lie below it.
    pub workspace: PathBuf,
    /// The name of its folder in a folder that principals share, such as `--output-dir`; `None` if there are no others.
    pub name: Option<String>,
    /// Folders of other principals.
    pub others: Vec<PathBuf>,
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// An action, with the wait for its element.
    pub action: Duration,
    /// A navigation, with tools that answer as those of `@playwright/mcp` do.
    pub navigation: Duration,
    /// The same with tools that answer with an object.
    pub navigation_of_sessions: Duration,
    /// An assertion.
    pub expect: Duration,
    /// The watch for consequences of an action that shows none.
    pub settle: Duration,
    /// The rest of a document that is parsed.
    pub load: Duration,
    /// Pages that do not answer.
    pub page: PageTimeouts,
}

impl Settings {
    /// The longest that any call may take: a slow navigation, a slow start, and a margin.
    pub(crate) fn longest_call(&self) -> Duration {
        let slowest = self.timeouts.navigation.max(self.timeouts.action);
        let starting = self.browser.launch_timeout + self.dev_servers.longest();
        slowest + starting + Duration::from_secs(30)
    }

    /// Whether clients have to say who they are, and several may.
    pub(crate) fn has_named_principals(&self) -> bool {
        let http = self.http.as_ref();
        http.is_some_and(|http| http.auth.has_named_principals())
    }

    /// The same for a session that learns secrets of its own.
    pub(crate) fn apart(&self) -> Self {
        let secrets = self.secrets.apart();
        Self {
            secrets,
            ..self.clone()
        }
    }

    /// The folder of the profile that belongs to a workspace.
    pub fn profile_dir(&self, workspace: &Path) -> PathBuf {
        if let Some(chosen) = &self.browser.user_data_dir {
            return chosen.clone();
        }
        let hash = Sha256::digest(workspace.to_string_lossy().as_bytes());
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let channel = match &self.browser.choice {
            BrowserChoice::Channel(channel) => channel.name(),
            BrowserChoice::Any | BrowserChoice::Program(_) => match self.browser.kind {
                BrowserKind::Chromium => "chrome",
                BrowserKind::Firefox => "firefox",
                BrowserKind::Webkit => "webkit",
                BrowserKind::Safari => "safari",
            },
        };
        self.files
            .profiles
            .join(format!("mcp-{channel}-{}", &hash[..7]))
    }
}
