//! The settings that the rest of the server reads. All defaults are set and all rules are checked.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use engine::codegen::Language;
use engine::{
    AddressRules, BrowserChoice, BrowserKind, Channel, ContextOptions, Layout, OriginRules,
    PageTimeouts, Proxy, Search, Size, SnapshotOptions,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::endpoints::{CdpSettings, ExtensionSettings, WebDriverSettings};
use super::secrets::Secrets;
use super::value::{
    AnswerStyle, AuthMode, Capability, ConsoleLevel, FilePaths, ImageResponses, RecordHar,
    SessionExpiry, SnapshotMode, StorageStateSource, ToolRule, ToolsetName,
};

mod log;
mod traces;

pub use log::LogSettings;
pub use traces::TraceSettings;

/// All settings of the server.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Which browser is used, and how it is launched or connected to.
    pub browser: BrowserSettings,
    /// The options of browser contexts.
    pub context: ContextSettings,
    /// Which tools are listed.
    pub tools: ToolSettings,
    /// Which prompts are listed.
    pub prompts: PromptSettings,
    /// The number and the lifetime of sessions.
    pub sessions: SessionSettings,
    /// The servers of the app under test.
    pub dev_servers: DevServers,
    /// The browser pool.
    pub pool: PoolSettings,
    /// The format of answers.
    pub answers: AnswerSettings,
    /// The folders of files, and which files tools may access.
    pub files: FileSettings,
    /// The secrets.
    pub secrets: Secrets,
    /// The timeouts of calls.
    pub timeouts: Timeouts,
    /// The restrictions of clients.
    pub security: SecuritySettings,
    /// What is logged, and where.
    pub log: LogSettings,
    /// Where traces are exported to, if they are.
    pub traces: Option<TraceSettings>,
    /// How clients are served over HTTP; `None` over stdio.
    pub http: Option<HttpSettings>,
    /// The port of the dashboard over stdio, where 0 is any that is free; `None`: no dashboard, over HTTP either.
    pub dashboard: Option<u16>,
    /// How long a background server runs without a command and without an open session; `None`: until it is stopped.
    pub background_timeout: Option<Duration>,
    /// The name and version of the server that clients receive.
    pub server: (String, String),
    /// The settings in the shape of a configuration file with masked secrets, which `browser_get_config` returns.
    pub merged: Value,
    /// Notices for the operator, which are printed to stderr at start, one on each line.
    pub notices: Vec<String>,
}

impl AnswerSettings {
    /// The limit of answers without another one, in tokens: about 1 MB.
    pub(crate) const MAX_TOKENS: usize = 250_000;

    /// The limit of answers in the compact style, in tokens.
    pub(super) const DEFAULT_TOKENS: usize = 6_000;

    /// The smallest limit of answers, in tokens. Less has no room for an outline.
    const MIN_TOKENS: usize = 500;

    /// Returns the limit that an option or a parameter sets.
    pub(crate) fn token_limit(tokens: usize) -> usize {
        match tokens {
            0 => Self::MAX_TOKENS,
            tokens => tokens.clamp(Self::MIN_TOKENS, Self::MAX_TOKENS),
        }
    }
}

/// Which browser is used, and how it is launched or connected to.
#[derive(Debug, Clone, PartialEq)]
pub struct BrowserSettings {
    /// The browser kind.
    pub kind: BrowserKind,
    /// The channel, or the executable.
    pub choice: BrowserChoice,
    /// The folders in which the browser is searched.
    pub search: Search,
    /// Whether the browser runs without a window.
    pub headless: bool,
    /// Whether the machine has a display for windows.
    pub display: bool,
    /// Whether the browser runs in its sandbox; `None`: in its sandbox if that works on the machine.
    pub sandbox: Option<bool>,
    /// Additional arguments of the browser.
    pub args: Vec<String>,
    /// Default arguments that are left out.
    pub ignored_args: Vec<String>,
    /// Preferences of Firefox.
    pub preferences: Vec<(String, serde_json::Value)>,
    /// Additional environment variables of the browser.
    pub env: Vec<(String, String)>,
    /// The longest time that the launch may take.
    pub launch_timeout: Duration,
    /// Whether the browser is launched when the server starts.
    pub prelaunch: bool,
    /// The idle timeout of the browser; `None`: the browser is not closed.
    pub idle_timeout: Option<Duration>,
    /// The pause after each action.
    pub slow_mo: Duration,
    /// Whether each client has an isolated context and nothing is kept on disk.
    pub isolated: bool,
    /// The folder of Playhouse for data that may be deleted at any time.
    pub cache_dir: PathBuf,
    /// The profile folder, if the user chose one.
    pub user_data_dir: Option<PathBuf>,
    /// The running browser to connect to over CDP.
    pub cdp: Option<CdpSettings>,
    /// The extension of the user's own browser, whose tabs are used.
    pub extension: Option<ExtensionSettings>,
    /// The WebDriver server that starts browsers.
    pub webdriver: Option<WebDriverSettings>,
    /// The upstream proxy.
    pub proxy: Option<Proxy>,
    /// The origins that may be requested.
    pub origins: OriginRules,
    /// The IP addresses and ports that may be connected to.
    pub addresses: AddressRules,
    /// Whether invalid certificates of the proxy are accepted.
    pub ignore_https_errors: bool,
    /// The certificates of the default context. Those of other contexts are the same.
    pub tls: engine::TlsOptions,
    /// Whether a tool that throttles the network is listed.
    pub can_throttle: bool,
    /// Whether browser contexts have egress proxies, and the browser must not connect without them.
    pub confined: bool,
}

impl BrowserSettings {
    /// Whether sessions with these and the other settings can share a browser.
    pub(crate) fn is_same_browser(&self, other: &Self) -> bool {
        let same = self.kind == other.kind && self.choice == other.choice;
        same && self.is_confined() == other.is_confined()
    }

    /// Whether the browser must not connect without the egress proxies of its contexts. A browser that runs already cannot be restricted.
    fn is_confined(&self) -> bool {
        let has_rules = !self.origins.is_empty() || !self.addresses.is_empty();
        let needed = self.confined || self.proxy.is_some() || has_rules;
        let runs = self
            .webdriver
            .as_ref()
            .is_some_and(WebDriverSettings::is_one_browser);
        needed && self.cdp.is_none() && self.extension.is_none() && !runs
    }

    /// Returns the settings for the browser of a channel. They are these settings if the channel is the default of their browser kind.
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
            extension: None,
            ..self.clone()
        };
        settings
            .webdriver
            .take_if(|webdriver| webdriver.is_one_browser());
        if !same_family {
            // Arguments and preferences of one browser kind are not valid for another.
            settings.args.clear();
            settings.ignored_args.clear();
        }
        settings
    }
}

/// The settings of a browser context.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextSettings {
    /// The options that do not depend on the browser. The user agent is a template; scripts and downloads are not set yet.
    pub options: ContextOptions,
    /// Whether pages are as large as the window, independently of the viewport of the options.
    pub fills_window: bool,
    /// Whether downloads are accepted.
    pub accept_downloads: bool,
    /// The folder of downloads, if the user chose one.
    pub downloads_dir: Option<PathBuf>,
    /// The name of the context in its session, with which its refs begin; `None` for the default context.
    pub name: Option<String>,
    /// The initial cookies and storage.
    pub storage_state: Option<StorageStateSource>,
    /// The absolute paths of init scripts. The files existed at start.
    pub init_scripts: Vec<PathBuf>,
    /// The absolute paths of modules that run for each tab. The files existed at start.
    pub init_pages: Vec<PathBuf>,
    /// The HTTP archive that is recorded, if any. Its path is absolute.
    pub record_har: Option<RecordHar>,
}

/// Which tools are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolSettings {
    /// The toolsets that are on.
    pub toolsets: Vec<ToolsetName>,
    /// The capabilities that are on, beside the core.
    pub capabilities: Vec<Capability>,
    /// Rules about single tools. The last rule about a tool takes precedence.
    pub rules: Vec<ToolRule>,
    /// The risks that are turned off for all tools, independently of the rules.
    pub forbidden: Vec<Risk>,
    /// Whether there is an app under test that tools can start.
    pub app: bool,
    /// Whether tools that use a session require its identifier.
    pub require_session: bool,
    /// Whether the tools that pages register with the WebMCP API are listed.
    pub webmcp: bool,
    /// Whether clients are not asked for their roots.
    pub ignore_roots: bool,
}

impl ToolSettings {
    /// Whether clients can name a session that another client of the same principal has used.
    pub(crate) fn can_list_sessions(&self) -> bool {
        let rule = self.rules.iter().rfind(|rule| rule.name == LIST_SESSIONS);
        let by_toolset = self.toolsets.contains(&ToolsetName::Session);
        rule.map_or(by_toolset, |rule| rule.allow)
    }
}

/// The tool that lists sessions.
const LIST_SESSIONS: &str = "list_sessions";

/// The tools of the `session` toolset that are on by default, because every `browser_*` tool accepts the sessions that they create.
pub(crate) const DEFAULT_SESSION_TOOLS: [&str; 4] = [
    "create_session",
    LIST_SESSIONS,
    "close_session",
    "browser_batch",
];

/// Which prompts are listed, in addition to the built-in ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptSettings {
    /// The absolute path of the folder with the prompts of the user.
    pub dir: Option<PathBuf>,
}

/// A duration without an end.
pub(crate) const NEVER: Duration = Duration::MAX;

/// The name of ffmpeg in PATH.
pub(crate) const FFMPEG: &str = "ffmpeg";

/// The number and the lifetime of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSettings {
    /// The default and the longest lifetime of a session, from its creation or its last call.
    pub timeout: Duration,
    /// The largest number of sessions and named contexts at a time, without default sessions.
    pub max: usize,
    /// Whether all clients of one name share a default session.
    pub shared: bool,
    /// Whether calls extend the lifetime.
    pub expiry: SessionExpiry,
}

/// The servers of the app under test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DevServers {
    /// The servers, each after those that it requires.
    pub servers: Vec<DevServerSettings>,
    /// The folder of the leases of running servers.
    pub leases: PathBuf,
}

/// A server of the app under test, and the command that controls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevServerSettings {
    /// The name of the server.
    pub name: String,
    /// The program and its arguments; empty if the server runs already.
    pub command: Vec<String>,
    /// The URL of a server that runs already, which is neither started nor stopped.
    pub url: Option<String>,
    /// The absolute path of the working folder.
    pub cwd: PathBuf,
    /// Environment variables, in addition to those of Playhouse.
    pub env: Vec<(String, String)>,
    /// The names of the servers that are started before this one.
    pub requires: Vec<String>,
    /// The longest time that a start may take.
    pub start: Duration,
    /// The longest time that a restart may take.
    pub restart: Duration,
    /// The longest time that reading the status may take.
    pub status: Duration,
    /// The longest time that a shutdown may take.
    pub shutdown: Duration,
    /// The time without a call on a session of the server after which it is stopped; `None`: it is not stopped.
    pub idle: Option<Duration>,
}

impl DevServers {
    /// Returns the longest time that starting or restarting all servers, one after the other, may take.
    pub(crate) fn longest(&self) -> Duration {
        let longest = |server: &DevServerSettings| server.start.max(server.restart);
        self.servers.iter().map(longest).sum()
    }

    /// Returns the longest time that stopping all servers may take.
    pub(crate) fn longest_shutdown(&self) -> Duration {
        let limits = self.servers.iter().map(|server| server.shutdown);
        limits.max().unwrap_or_default()
    }
}

/// The browser pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSettings {
    /// The number of browsers that are launched at start and stay open.
    pub min: usize,
    /// The largest number of browsers; at least 1 and at least `min`.
    pub max: usize,
    /// The time without a session after which a browser is closed; `None`: it is not closed.
    pub idle_timeout: Option<Duration>,
}

/// The restrictions of clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecuritySettings {
    /// The additional URL schemes that may be opened, although they show local files or internal pages of the browser.
    pub schemes: Vec<String>,
    /// The largest size of a screenshot in bytes.
    pub max_screenshot: Option<u64>,
    /// The absolute path of the file with rules about calls.
    pub policy: Option<PathBuf>,
    /// The absolute path of the audit log.
    pub audit_log: Option<PathBuf>,
}

/// A kind of operation that the operator can turn off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Risk {
    /// Running code of the client.
    Evaluation,
    /// Uploading files to pages.
    Upload,
}

impl Risk {
    /// Returns the name of the option that turns off the risk, without `--no-`.
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
    /// How clients authenticate.
    pub auth: AuthSettings,
    /// The host name or IP address to listen on.
    pub host: String,
    /// The port to listen on. With 0, the system selects a free port.
    pub port: u16,
    /// The allowed values of the `Host` header, with or without a port; `*` is any. `None`: only the address that is listened on.
    pub allowed_hosts: Option<Vec<String>>,
    /// The allowed values of the `Origin` header; `None`: the origins of the allowed hosts.
    pub allowed_origins: Option<Vec<String>>,
    /// The paths of the TLS certificate and of its private key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// The largest number of connections at a time.
    pub max_connections: usize,
    /// The largest size of a request in bytes.
    pub max_request: usize,
    /// The largest number of requests for each client in a second; `None`: no limit.
    pub rate: Option<u32>,
    /// The time without a request or an open stream after which an MCP session is closed.
    pub client_timeout: Duration,
}

/// How clients authenticate over HTTP.
#[derive(Clone, PartialEq, Eq)]
pub struct AuthSettings {
    /// The mode of authentication.
    pub mode: AuthMode,
    /// The API key.
    pub key: Option<String>,
    /// The absolute path of the file of API keys.
    pub keys: Option<PathBuf>,
    /// The trusted issuers. They are compared with the `iss` claim byte by byte.
    pub issuers: Vec<String>,
    /// The audience that tokens must have; `None`: the URLs of the endpoints of this server.
    pub resource: Option<String>,
}

impl AuthSettings {
    /// Whether the server can have several principals.
    pub(crate) fn has_named_principals(&self) -> bool {
        match self.mode {
            AuthMode::None => false,
            AuthMode::ApiKey => self.keys.is_some(),
            AuthMode::Oauth => true,
        }
    }
}

/// The API key is left out.
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

/// The format of answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerSettings {
    /// The style of answers in text.
    pub style: AnswerStyle,
    /// Whether answers of actions include a snapshot.
    pub snapshot_mode: SnapshotMode,
    /// The largest size of an answer, in tokens.
    pub max_tokens: usize,
    /// Whether `_meta` of answers has their size.
    pub has_size: bool,
    /// Whether answers of actions list what changed on the page.
    pub changes: bool,
    /// Whether snapshots include bounding boxes.
    pub snapshot_boxes: bool,
    /// The language of generated code.
    pub codegen: Language,
    /// How images are included.
    pub image_responses: ImageResponses,
    /// How paths are written.
    pub file_paths: FilePaths,
    /// The least severe level of console messages that are recorded.
    pub console_level: ConsoleLevel,
    /// The attribute that `getByTestId` matches.
    pub test_id_attribute: String,
    /// Whether the user decides about a dialog that the agent did not handle.
    pub ask_user: bool,
    /// Whether answers mark the content of pages and the text in it that is not visible.
    pub content_boundaries: bool,
}

impl AnswerSettings {
    /// Returns the layout of snapshots.
    pub(crate) fn layout(&self) -> Layout {
        match self.style {
            AnswerStyle::Playwright => Layout::Full,
            AnswerStyle::Compact => Layout::Compact,
        }
    }

    /// Returns the options of snapshots after actions, which are compared with each other.
    pub(crate) fn snapshot_options(&self) -> SnapshotOptions<'static> {
        SnapshotOptions {
            layout: self.layout(),
            boxes: self.snapshot_boxes,
            transients: self.changes,
            incremental: true,
            ..SnapshotOptions::default()
        }
    }
}

/// A passphrase for storage state files.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct StateKey(String);

impl StateKey {
    pub(crate) fn new(passphrase: String) -> Self {
        Self(passphrase)
    }

    pub(crate) fn passphrase(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for StateKey {
    /// Omits the passphrase.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StateKey")
    }
}

/// The folders of files, and which files tools may access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSettings {
    /// The working folder of the server at start.
    pub cwd: PathBuf,
    /// The absolute path of the output folder, if the user chose one; otherwise the output folder is `.playwright-mcp` in the workspace.
    pub output_dir: Option<PathBuf>,
    /// The size of the output folder in bytes above which old files are deleted; `None`: no limit.
    pub output_max_size: Option<u64>,
    /// The absolute path of the folder that contains the workspaces of the principals of an HTTP server, if the user chose one.
    pub workspace_root: Option<PathBuf>,
    /// Folders, beside the workspace, from which files may be read without `browser:admin`. Relative paths are relative to the workspace.
    pub readable: Vec<PathBuf>,
    /// Whether clients may choose the paths of files. Otherwise the server names the files.
    pub client_paths: bool,
    /// The absolute paths of files and folders that no tool may read or write: configuration, keys, secrets, profiles, state.
    pub protected: Vec<PathBuf>,
    /// The passphrase with which storage state files are encrypted; `None`: they are plain.
    pub(crate) state_key: Option<StateKey>,
    /// The user's folder for files of the login session (`XDG_RUNTIME_DIR`).
    pub runtime_dir: Option<PathBuf>,
    /// The folders of the principal of the session; `None` without authentication.
    pub(crate) owner: Option<OwnerFolders>,
    /// Whether downloads are saved in a quarantine folder, with a suffix that no program opens.
    pub quarantine: bool,
    /// Whether a journal of all calls is written.
    pub save_session: bool,
    /// How videos are recorded.
    pub video: VideoSettings,
    /// Whether each browser context is traced from its start to its end.
    pub save_trace: bool,
    /// The folder of traces, if the user chose one.
    pub traces_dir: Option<PathBuf>,
    /// Whether all files may be read and written.
    pub unrestricted: bool,
    /// The folder of persistent profiles.
    pub profiles: PathBuf,
    /// The folder of browsers that Playhouse installed.
    pub browsers: PathBuf,
    /// The URL of the index of browser builds.
    pub download_index: String,
}

/// The recording of videos.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VideoSettings {
    /// The path of ffmpeg, or its name in PATH. [`FFMPEG`] if none is configured.
    pub ffmpeg: PathBuf,
    /// The size of the videos of all pages, which are written to the output folder; `None`: not all pages are recorded.
    pub save: Option<Size>,
    /// The folder of other videos of all pages, and their size.
    pub record: Option<(PathBuf, Option<Size>)>,
}

/// The folders of an authenticated principal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnerFolders {
    /// The absolute path of the workspace. Roots of clients are used only if they are inside of it.
    pub workspace: PathBuf,
    /// The name of the principal's folder in a folder that principals share, such as `--output-dir`; `None` if there is only one principal.
    pub name: Option<String>,
    /// The folders of other principals.
    pub others: Vec<PathBuf>,
}

/// The timeouts of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// The timeout of an action, including the wait for its element.
    pub action: Duration,
    /// The navigation timeout of `browser` tools.
    pub navigation: Duration,
    /// The navigation timeout of `session` and `e2e` tools.
    pub navigation_of_sessions: Duration,
    /// The timeout of an assertion.
    pub expect: Duration,
    /// The longest time to wait for changes after an action.
    pub settle: Duration,
    /// The longest time to wait for the load event after the document is parsed.
    pub load: Duration,
    /// The timeouts for unresponsive pages.
    pub page: PageTimeouts,
}

impl Settings {
    /// Returns the longest time that a call may take: a slow navigation, a slow launch, and a margin.
    pub(crate) fn longest_call(&self) -> Duration {
        let slowest = self.timeouts.navigation.max(self.timeouts.action);
        let starting = self.browser.launch_timeout + self.dev_servers.longest();
        slowest + starting + Duration::from_secs(30)
    }

    /// Whether the server requires authentication and can have several principals.
    pub(crate) fn has_named_principals(&self) -> bool {
        let http = self.http.as_ref();
        http.is_some_and(|http| http.auth.has_named_principals())
    }

    /// Returns a copy for a session, which records runtime secrets of its own.
    pub(crate) fn apart(&self) -> Self {
        let secrets = self.secrets.apart();
        Self {
            secrets,
            ..self.clone()
        }
    }

    /// Returns the profile folder of a workspace.
    pub fn profile_dir(&self, workspace: &Path) -> PathBuf {
        if let Some(chosen) = &self.browser.user_data_dir {
            return chosen.clone();
        }
        let hash = Sha256::digest(workspace.to_string_lossy().as_bytes());
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let channel = match &self.browser.choice {
            BrowserChoice::Channel(channel) => channel.name(),
            BrowserChoice::Any | BrowserChoice::Program(..) => match self.browser.kind {
                BrowserKind::Chromium => "chrome",
                BrowserKind::Firefox => "firefox",
                BrowserKind::Webkit => "webkit",
            },
        };
        self.files
            .profiles
            .join(format!("mcp-{channel}-{}", &hash[..7]))
    }
}
