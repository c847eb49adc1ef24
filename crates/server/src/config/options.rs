//! The table of options. Flags, variables, keys of the configuration file, help, `docs/config.md`, the JSON Schema and
//! `config show` are generated from it.

use engine::{Geolocation, HttpCredentials, Size};
use std::path::PathBuf;

use engine::codegen::Language;

use super::{
    layered::Source,
    secrets::SecretsSource,
    settings::FFMPEG,
    table::{key, no_key, options},
    value::{
        AnswerStyle, Arguments, AuthMode, BlockServiceWorkers, BrowserName, Bytes, CapabilityNames,
        ClientCertificates, ColorScheme, CommaList, CommandLine, ConsoleLevel, Contrast, Count,
        FilePaths, FirefoxPreferences, ForcedColors, Headers, IgnoredArguments, ImageResponses,
        JsonObject, LogDestination, LogFormat, LogLevel, Map, Milliseconds, NamedServers, Number,
        OptionValue, OriginList, Port, Ports, RecordHar, RecordVideo, ReducedMotion, Scripts,
        SessionExpiry, SnapshotMode, StorageStateSource, Switch, ToolRules, ToolsetNames,
        Transport, Unsupported, Viewport,
    },
};

/// The index of the newest builds of Chrome for Testing that are known to be good.
const INDEX: &str = "https://googlechromelabs.github.io/chrome-for-testing/\
    last-known-good-versions-with-downloads.json";
const LATER_RELEASE: &str = "it comes with a later release";

options! {
    "Browser" {
        /// The browser: chromium, chrome, msedge (the latter two also with -beta, -dev, -canary), firefox, or webkit.
        browser: BrowserName, key("browser.browserName").or(&["browser.type"]).everywhere()
            .default("chrome; if that is missing, any browser of the Chromium family");
        /// The channel of the Chromium family. Like `--browser`, for files that have both.
        channel: BrowserName, key("browser.launchOptions.channel");
        /// The executable of the browser. Without it the browser is searched.
        executable_path: PathBuf, key("browser.launchOptions.executablePath").everywhere();
        /// Run without a window.
        headless: bool, key("browser.launchOptions.headless").or(&["browser.headless"]).everywhere()
            .default("false; true on Linux without a display");
        /// Run the browser in its sandbox.
        sandbox: bool, key("browser.launchOptions.chromiumSandbox").everywhere()
            .default("true; false for chromium, chrome-for-testing, or root on Linux");
        /// Additional arguments for the browser.
        args: Arguments, key("browser.launchOptions.args").or(&["browser.args"]);
        /// Default arguments to leave out.
        ignore_default_args: IgnoredArguments, key("browser.launchOptions.ignoreDefaultArgs");
        /// Preferences of Firefox, which override the default ones.
        firefox_user_prefs: FirefoxPreferences, key("browser.launchOptions.firefoxUserPrefs");
        /// Additional environment variables for the browser.
        env: Map, key("browser.launchOptions.env");
        /// How long the browser may take to start.
        launch_timeout: Milliseconds = Milliseconds(30_000), key("browser.launchOptions.timeout");
        /// Start the browser with the server, not with the first call that needs it.
        prelaunch: bool = false, key("browser.prelaunch").flag();
        /// The number of browsers to start with the server and to keep open, for created and isolated sessions.
        min_browsers: Number = Number(0), key("pool.minBrowsers").flag();
        /// The largest number of browsers that sessions share. A new session opens in the one with the fewest.
        max_browsers: Count, key("pool.maxBrowsers").flag()
            .default("1; with --webdriver-endpoint one for each session");
        /// Close a browser of the pool that has had no session for this long. 0: never.
        pool_idle_timeout: Milliseconds, key("pool.idleTimeout").flag()
            .default("0; with --webdriver-endpoint they are closed at once");
        /// Close a browser that no call has used for this long; the next one starts it again. 0: never.
        idle_timeout: Milliseconds, key("browser.idleTimeout").or(&["timeouts.idle"]).everywhere()
            .default("an hour when headless, else never");
        /// Wait this long after each action, so that a user can follow.
        slow_mo: Milliseconds = Milliseconds(0), key("browser.launchOptions.slowMo");
        /// Keep the profile in memory, and give each client its own browser context.
        isolated: bool = false, key("browser.isolated").everywhere();
        /// The opposite of `--isolated`, for files with this key.
        persistent_sessions: bool, key("session.persistentSessions");
        /// Share one default session among all clients of the same name. Over stdio there is only one client.
        shared_browser_context: bool, key("sharedBrowserContext").flag();
        /// The folder of the browser's profile.
        user_data_dir: PathBuf, key("browser.userDataDir").everywhere()
            .default("a folder of its own for each workspace, kept");
        /// The folder of downloads.
        downloads_path: PathBuf,
            key("browser.launchOptions.downloadsPath").or(&["browser.downloadPath"])
            .default("the output folder");
        /// Connect to a running browser instead of starting one: its DevTools address, http or ws.
        cdp_endpoint: String, key("browser.cdpEndpoint").everywhere();
        /// A header to send when connecting, "Name: value"; repeat it for more.
        cdp_header: Headers, key("browser.cdpHeaders").everywhere_but("PLAYWRIGHT_MCP_CDP_HEADERS")
            .many().secret();
        /// How long connecting may take. With `--extension` and without its token the default is 120000, because you have to allow it.
        cdp_timeout: Milliseconds = Milliseconds(30_000), key("browser.cdpTimeout").everywhere();
        /// Use tabs of your own Chrome or Edge, with your logins: its extension asks you which. docs/installation.md describes it.
        extension: bool = false, key("extension").everywhere();
        /// The id of the extension, if it is neither that of `@playwright/mcp` nor Playhouse's own.
        extension_id: String, key("browser.extensionId").flag()
            .default("the one that is installed");
        /// The token of the extension, which replaces your approval. Prefer the environment variable, because other users of the machine can see flags.
        extension_token: String, key("browser.extensionToken").everywhere().secret();
        /// The folder of the profile that has the extension, such as "Profile 1".
        profile_dir_name: String, key("browser.profileDirName").everywhere()
            .default("the last used one that has the extension");
        /// With `--extension`: neither activate the tabs nor focus the window of the browser.
        background: bool = false, key("background").everywhere();
        /// With `--extension`: group the tabs that are used.
        tab_group: bool = true, key("tabGroup").everywhere_but_negated("PLAYWRIGHT_MCP_NO_TAB_GROUP");
        /// Start browsers with a WebDriver server, such as a Selenium Grid: its address, http or https. With ws, connect to a running Firefox.
        webdriver_endpoint: String, key("browser.webdriverEndpoint").everywhere_but("SELENIUM_REMOTE_URL")
            .secret();
        /// A header for the WebDriver server, "Name: value"; repeat it for more.
        webdriver_header: Headers, key("browser.webdriverHeaders").flag().many().secret();
        /// Additional capabilities for the WebDriver server, as a JSON object.
        webdriver_capabilities: JsonObject, key("browser.webdriverCapabilities").flag().secret();
        /// A proxy for all requests, such as "http://proxy:3128" or "socks5://proxy:8080".
        proxy_server: String, key("browser.launchOptions.proxy.server")
            .or(&["browser.contextOptions.proxy.server"]).everywhere();
        /// Hosts that are reached without the proxy, such as ".com,chromium.org".
        proxy_bypass: String, key("browser.launchOptions.proxy.bypass")
            .or(&["browser.contextOptions.proxy.bypass"]).everywhere();
        /// The user name for the proxy.
        proxy_username: String, key("browser.launchOptions.proxy.username")
            .or(&["browser.contextOptions.proxy.username"]);
        /// The password for the proxy.
        proxy_password: String, key("browser.launchOptions.proxy.password")
            .or(&["browser.contextOptions.proxy.password"]).secret();
    }
    "Pages" {
        /// A device to emulate, such as "iPhone 15": viewport, scale, touch, user agent.
        device: String, key("browser.device").everywhere();
        /// Emulate a phone (Pixel 10). Mobile pages are often lighter.
        mobile: bool = false, key("browser.mobile").everywhere();
        /// The size of pages, such as 1280x720.
        viewport_size: Viewport, key("browser.contextOptions.viewport").everywhere()
            .default("1280x720 when headless, else the window's size");
        /// The size of the screen that pages see.
        screen: Size, key("browser.contextOptions.screen");
        /// Device pixels per CSS pixel.
        device_scale_factor: f64, key("browser.contextOptions.deviceScaleFactor");
        /// Use the layout of phones: the meta viewport, and overlay scroll bars.
        is_mobile: bool, key("browser.contextOptions.isMobile");
        /// Emulate a touch screen.
        has_touch: bool, key("browser.contextOptions.hasTouch");
        /// The user agent that pages and servers see.
        user_agent: String, key("browser.contextOptions.userAgent").everywhere();
        /// The language, such as "de-DE".
        locale: String, key("browser.contextOptions.locale");
        /// The time zone, such as "Europe/Berlin".
        timezone_id: String, key("browser.contextOptions.timezoneId");
        /// The value of `prefers-color-scheme`.
        color_scheme: ColorScheme, key("browser.contextOptions.colorScheme");
        /// The value of `prefers-reduced-motion`.
        reduced_motion: ReducedMotion, key("browser.contextOptions.reducedMotion");
        /// The value of `forced-colors`.
        forced_colors: ForcedColors, key("browser.contextOptions.forcedColors");
        /// The value of `prefers-contrast`.
        contrast: Contrast, key("browser.contextOptions.contrast");
        /// The position that pages can read. They still need the permission "geolocation".
        geolocation: Geolocation, key("browser.contextOptions.geolocation");
        /// Permissions to grant, such as "geolocation,clipboard-read".
        grant_permissions: CommaList, key("browser.contextOptions.permissions").everywhere().many();
        /// The credentials for HTTP authentication.
        http_credentials: HttpCredentials, key("browser.contextOptions.httpCredentials").secret();
        /// Headers to send with every request.
        extra_http_headers: Headers, key("browser.contextOptions.extraHTTPHeaders").secret();
        /// Accept broken certificates.
        ignore_https_errors: bool = false,
            key("browser.contextOptions.ignoreHTTPSErrors").everywhere();
        /// A file of certificate authorities (PEM) to trust, beside those of Mozilla.
        ca_cert: PathBuf, key("browser.caCert").flag();
        /// Trust the certificate authorities of the system too, which Chromium and Firefox on Linux do not.
        use_system_ca: bool = false, key("browser.useSystemCa").flag();
        /// Client certificates for servers: a list of `origin`, `certPath` and `keyPath` (PEM).
        client_certificates: ClientCertificates, key("browser.contextOptions.clientCertificates")
            .secret();
        /// Start without network.
        offline: bool, key("browser.contextOptions.offline");
        /// Fail if a selector matches several elements. Playhouse always does, whatever the value.
        strict_selectors: bool, key("browser.contextOptions.strictSelectors");
        /// Run JavaScript of pages.
        java_script_enabled: bool, key("browser.contextOptions.javaScriptEnabled").default("true");
        /// Turn off the Content Security Policy of pages.
        bypass_csp: bool, key("browser.contextOptions.bypassCSP");
        /// Accept downloads.
        accept_downloads: bool, key("browser.contextOptions.acceptDownloads").default("true");
        /// Prevent pages from registering service workers.
        block_service_workers: BlockServiceWorkers,
            key("browser.contextOptions.serviceWorkers").everywhere();
        /// Cookies and storage to start with: a file that browser_storage_state wrote.
        storage_state: StorageStateSource, key("browser.contextOptions.storageState").everywhere();
        /// Record requests to an HTTP archive, which is written when the context closes: `path`, `content` (`embed`, `omit`), `mode` (`full`,
        /// `minimal`), `urlFilter` (a glob).
        record_har: RecordHar, key("browser.contextOptions.recordHar");
        /// A JavaScript file that runs in each page before its own scripts; repeat it for more.
        init_script: Scripts, key("browser.initScript").everywhere().many();
        /// A JavaScript module that is run with each page, `export default async ({ page }) => {…}`; repeat it for more.
        init_page: Scripts, key("browser.initPage").everywhere().many();
    }
    "Network rules" {
        /// Request nothing but these origins or hosts, separated by semicolons.
        allowed_origins: OriginList, key("network.allowedOrigins").everywhere();
        /// Never request these, even if allowed, separated by semicolons.
        blocked_origins: OriginList, key("network.blockedOrigins").everywhere();
    }
    "Security" {
        /// Set all options that make an agent safe on sites where a user is logged in: `playhouse --safe --help` lists them. Needs `--allowed-domains`.
        safe: bool = false, key("safe").flag();
        /// Request nothing but these domains, on any port: example.com, *.example.com (those below it). Adds to `--allowed-origins`.
        allowed_domains: CommaList, key("security.allowedDomains").flag();
        /// Never request these domains, even if allowed. Adds to `--blocked-origins`.
        blocked_domains: CommaList, key("security.blockedDomains").flag();
        /// Connect to no address that is private, of this machine, or of a cloud's metadata service, whichever name resolves to it. An IP address, or localhost, that `--allowed-domains` or `--allowed-origins` names literally is exempt.
        block_private_addresses: bool = false, key("security.blockPrivateAddresses").flag();
        /// Connect to these ports only, such as 80,443.
        allowed_ports: Ports, key("security.allowedPorts").flag();
        /// Schemes that may be opened although they show local files or internal pages of the browser: file, chrome, devtools.
        allowed_schemes: CommaList, key("security.allowedSchemes").flag();
        /// The size of a screenshot, in bytes, above which it is refused.
        max_screenshot_size: Bytes, key("security.maxScreenshotSize").flag().default("no limit");
        /// Offer tools that give files to pages.
        enable_file_upload: bool = true, key("security.enableFileUpload").flag();
        /// Offer tools that run the client's code, in pages or beside them.
        enable_script_evaluation: bool = true, key("security.enableScriptEvaluation").flag();
        /// Deny the permissions that pages request (location, camera, notifications), except those of `--grant-permissions`, without a prompt.
        deny_permissions: bool = false, key("security.denyPermissions").flag();
        /// Keep downloads in a folder `quarantine` of the output folder, mode 0700, with mode 0600 and `.quarantine` behind their names. They are no resources.
        quarantine_downloads: bool = false, key("security.quarantineDownloads").flag();
        /// Allow clients to choose the paths of files. Otherwise no file is read for them, and the server chooses the names of files that tools write.
        client_paths: bool = true, key("files.clientPaths").flag();
        /// Rules of tools and origins that allow calls, deny them, or require the user's approval: a JSON file. docs/security.md describes it.
        policy: PathBuf, key("security.policy").flag();
        /// Record each call in this file: a line of JSON, in a hash chain that `playhouse audit verify` checks. A call that cannot be recorded is refused.
        audit_log: PathBuf, key("security.auditLog").flag();
    }
    "Tools" {
        /// Toolsets: browser, session, e2e (which needs a server of the app under test), or all of them.
        toolsets: ToolsetNames, key("toolsets").flag()
            .default("browser, create_session, list_sessions, close_session; with a server of the app, e2e too");
        /// Capabilities beside the core: config, contexts, network, pdf, performance, storage, testing, vision, devtools, webmcp, audit.
        caps: CapabilityNames, key("capabilities").everywhere();
        /// List the tools that pages register with the WebMCP API.
        webmcp: bool = true, key("webmcp").everywhere();
        /// Single tools to add (+name) or to remove (-name).
        tools: ToolRules, key("tools").flag().dashes();
        /// The same as `--caps vision`.
        vision: bool, no_key().flag().hidden();
    }
    "Users" {
        /// If the client supports elicitation, let the user answer a dialog (confirm, prompt, beforeunload) that the agent did not handle.
        ask_user: bool = false, key("askUser").flag();
    }
    "Prompts" {
        /// A folder of prompts of your own: Markdown files, named as the prompts.
        prompts_dir: PathBuf, key("prompts.dir").flag();
    }
    "Sessions" {
        /// How long after its last call a session expires, and the longest timeout that `create_session` accepts. 0: never.
        session_timeout: Milliseconds = Milliseconds(300_000), key("session.timeout").flag();
        /// The largest number of sessions and named contexts at a time, beside default ones.
        max_sessions: Count = Count(10), key("session.maxSessions").flag();
        /// Whether calls extend the lifetime of their session: sliding, fixed.
        session_expiry: SessionExpiry = SessionExpiry::Sliding, key("session.expiry").flag();
        /// Require `sessionId` in calls of tools that use a page. There is no default session.
        require_session: bool = false, key("session.require").flag();
    }
    "The app under test" {
        /// The command that starts, restarts, checks and stops the server of the app under test, the app's own dev command, or the URL where it runs already: see docs/e2e.md. It adds the tools `e2e_*`.
        server_command: CommandLine, key("serverCommand").everywhere_but("SERVER_COMMAND_PATH");
        /// Several such servers by their names, each an object: command, args, url, cwd, env, readyTimeout, idleTimeout, requires.
        dev_servers: NamedServers, key("devServers").secret();
        /// Stop the server after this long without a call on a session that uses it. 0: never.
        server_idle_timeout: Milliseconds = Milliseconds(600_000), key("serverTimeouts.idle").flag();
        /// How long the command may take to start the server.
        server_start_timeout: Milliseconds = Milliseconds(30_000), key("serverTimeouts.start").flag();
        /// How long the command may take to restart the server.
        server_restart_timeout: Milliseconds = Milliseconds(40_000), key("serverTimeouts.restart").flag();
        /// How long the command may take to report the state of the server.
        server_status_timeout: Milliseconds = Milliseconds(5_000), key("serverTimeouts.status").flag();
        /// How long the command may take to stop the server.
        server_shutdown_timeout: Milliseconds = Milliseconds(15_000), key("serverTimeouts.shutdown").flag();
    }
    "Answers" {
        /// The style of answers in text: compact (the same facts in about a third of the tokens), playwright (as `@playwright/mcp` answers).
        answers: AnswerStyle, key("answers").flag().default("compact; playwright with --toolsets browser alone");
        /// Whether actions answer with a snapshot: full, none.
        snapshot_mode: SnapshotMode = SnapshotMode::Full, key("snapshot.mode").flag();
        /// The largest size of an answer, in tokens (an estimate of o200k); at least 500. A larger snapshot is shown as an outline, whose folds
        /// `browser_snapshot` opens; other answers keep their beginning and their end. The whole is in a file. `maxTokens` of a call has
        /// precedence. 0: 250,000.
        max_answer_tokens: Number, key("maxAnswerTokens").flag().default("6000; 0 with the style playwright");
        /// Whether actions answer with what changed on the page since the last snapshot: on, off. Not with --snapshot-mode none.
        changes: Switch, key("changes").flag().default("on; off with the style playwright");
        /// Add the box of each element to snapshots: [box=x,y,width,height].
        snapshot_boxes: bool = false, key("snapshot.boxes").flag();
        /// The language of the code in answers: typescript, python, java, csharp, none.
        codegen: Language, key("codegen").everywhere().default("none; typescript with --answers playwright");
        /// Whether answers include images: allow, omit, only.
        image_responses: ImageResponses = ImageResponses::Allow, key("imageResponses").everywhere();
        /// How paths are written: relative, absolute.
        file_paths: FilePaths = FilePaths::Relative, key("filePaths").everywhere();
        /// The console messages to keep: error, warning, info, debug. Each includes those before.
        console_level: ConsoleLevel = ConsoleLevel::Info, key("console.level").everywhere();
        /// Mark the content of pages in answers with `<pageN>` and `</pageN>`, N random, and text in it that is not visible with
        /// `[hidden-text]`: on, off.
        content_boundaries: Switch, key("contentBoundaries").flag().default("on; off with the style playwright");
        /// The attribute that getByTestId matches.
        test_id_attribute: String = "data-testid".to_owned(), key("testIdAttribute").everywhere();
    }
    "Files" {
        /// A dotenv file of secrets, which are typed by name and masked wherever their values occur. `NAME__ORIGINS=https://a.org,https://*.b.org` are the only
        /// origins whose documents the secret `NAME` may be typed into.
        secrets: SecretsSource, key("secrets").everywhere_but("PLAYWRIGHT_MCP_SECRETS_FILE")
            .secret();
        /// Parameters of URLs, such as access_token,code, whose values are masked as secrets are: their names in queries and fragments.
        redact_url_params: CommaList, key("redactUrlParams").everywhere();
        /// Do not ask clients for their workspace roots: the workspace is the working directory. For clients that have roots and do not answer.
        ignore_roots: bool = false, key("ignoreRoots").everywhere();
        /// The folder of screenshots, snapshots, logs and downloads. Principals of a server with `--api-keys` or OAuth have folders of their own in it.
        output_dir: PathBuf, key("outputDir").everywhere()
            .default(".playwright-mcp in the workspace; a private folder if that cannot be written");
        /// The size of the output folder, in bytes, above which the oldest files in it that the server named and downloads are deleted after a call. Files that a client named stay. 0: no limit.
        output_max_size: Bytes = Bytes(1024 * 1024 * 1024), key("outputMaxSize").everywhere();
        /// The folder below which each principal of a server with authentication gets a workspace of its own. `workspace=` in the file of API keys names another.
        workspace_root: PathBuf, key("files.workspaceRoot").flag()
            .default(".playwright-mcp/workspaces; with a single `--api-key` its workspace is the folder that the server was started in");
        /// Folders that tools may read files from beside the workspace, also for principals without `browser:admin`. Relative ones lie in the workspace of each principal.
        readable_roots: CommaList, key("files.readableRoots").flag().many();
        /// Keep a journal of all calls: session.md, in a folder of its own below the output folder.
        save_session: bool = false, key("saveSession").flag();
        /// Record a video of each page, of this size, into the output folder.
        save_video: Size, key("saveVideo").flag();
        /// Record a video of each page into the folder `dir`, perhaps with `size`.
        record_video: RecordVideo, key("browser.contextOptions.recordVideo");
        /// Encrypt storage state files with this passphrase, and read those that are encrypted with it. Prefer the environment variable, because other users of the machine can see flags.
        state_key: String, key("files.stateKey").flag().secret();
        /// The ffmpeg for videos. Without one, Chromium encodes them itself.
        ffmpeg: PathBuf = FFMPEG.into(), key("ffmpeg").flag();
        /// Record a trace of each browser context, from its start to its end, in the folder of traces.
        save_trace: bool = false, key("saveTrace").flag();
        /// The folder of traces.
        traces_dir: PathBuf, key("browser.launchOptions.tracesDir").default("`traces` in the output folder");
        /// Read and write any file, not only those in the workspace, and open file: URLs.
        allow_unrestricted_file_access: bool = false, key("allowUnrestrictedFileAccess").everywhere();
    }
    "Timeouts" {
        /// How long an action waits for its element.
        timeout_action: Milliseconds = Milliseconds(5_000), key("timeouts.action").everywhere();
        /// The timeout of actions and navigations, for files with this key.
        default_timeout: Milliseconds, key("session.defaultTimeout");
        /// How long a navigation may take; 30000 with tools of the session toolset where this is not set.
        timeout_navigation: Milliseconds = Milliseconds(60_000),
            key("timeouts.navigation").everywhere();
        /// How long an assertion waits.
        timeout_expect: Milliseconds = Milliseconds(5_000), key("timeouts.expect").flag();
        /// How long to wait, at most, for a page that keeps changing after an action, and for the timers that the action caused. If there are none, there is no wait. 0 records no timers.
        timeout_settle: Milliseconds = Milliseconds(500), key("timeouts.settle").everywhere();
    }
    "Server" {
        /// The configuration file: JSON, or INI with dotted keys.
        config: PathBuf, no_key().everywhere();
        /// The least severe log messages to write: error, warn, info, debug, trace. At trace they contain typed secrets and passwords.
        log_level: LogLevel = LogLevel::Warn, key("logLevel").or(&["logging.level"]).flag();
        /// The format of log messages: text, json (an object on each line).
        log_format: LogFormat = LogFormat::Text, key("logging.format").flag();
        /// A file for log messages, instead of stderr. At 10 MB it is renamed to NAME.1, that to NAME.2; there are three at most.
        log_file: PathBuf, key("logging.file").flag();
        /// Export a trace of each call to this OpenTelemetry collector, with OTLP over HTTP: http://localhost:4318. `OTEL_EXPORTER_OTLP_ENDPOINT` is used too; docs/operation.md describes both.
        otlp_endpoint: String, key("telemetry.otlpEndpoint").flag();
        /// Where log messages are written: stderr, file (that of `--log-file`); stdout means stderr, because stdout carries the protocol.
        log_destination: LogDestination, key("logging.destination");
        /// The transport: stdio, http (on `port`, including WebSocket), websocket (the same as http).
        transport: Transport, key("transport").default("http with a port, else stdio");
        /// Serve the dashboard, on which a user watches the sessions and takes browsers over: at `/dashboard` over HTTP; over stdio for this machine only, at a link that is printed to stderr.
        dashboard: bool, key("dashboard.enabled").flag().default("true over HTTP, false over stdio");
        /// The port of the dashboard over stdio. 0: any that is free.
        dashboard_port: Port, key("dashboard.port").flag().default("0");
        /// End a background server (`playhouse start`) after this long without a command and without an open session. 0: never.
        background_timeout: Milliseconds = Milliseconds(600_000), key("backgroundTimeout").flag();
        /// The name of the server in the handshake with clients.
        name: String = "Playhouse".to_owned(), key("name");
        /// The version of the server in the handshake with clients.
        version: String, key("version").default("that of the program");
    }
    "Serving over HTTP" {
        /// Serve over HTTP on this port: `/mcp`, `/message`, `/sse`, `/ws`. 0: any that is free.
        port: Port, key("server.port").or(&["port"]).everywhere();
        /// The address to listen on; 0.0.0.0 for all.
        host: String = "localhost".to_owned(), key("server.host").everywhere();
        /// Hosts that requests may name, separated by commas, with a port or without one for any port; * for all.
        allowed_hosts: CommaList, key("server.allowedHosts").everywhere().many()
            .default("the address that is listened on");
        /// Web pages that may send requests, by their origin: https://example.com.
        allowed_http_origins: CommaList, key("server.allowedOrigins").flag()
            .default("those of the allowed hosts");
        /// The certificate for TLS with its chain, a PEM file; with `--tls-key`.
        tls_cert: PathBuf, key("server.tlsCert").flag();
        /// The certificate's private key, a PEM file.
        tls_key: PathBuf, key("server.tlsKey").flag();
        /// The largest number of connections at a time.
        max_connections: Count = Count(1024), key("server.maxConnections").flag();
        /// The largest request, in bytes.
        max_request_size: Bytes = Bytes(16 * 1024 * 1024), key("server.maxRequestSize").flag();
        /// The largest number of requests that each client may make in a second, on average. 0: no limit.
        rate_limit: Number = Number(0), key("server.rateLimit").flag();
        /// Close an MCP session without a request or an open stream for this long. Its browser session stays open until it expires. Messages that a client does not receive are kept as long, and a minute at most.
        client_timeout: Milliseconds = Milliseconds(1_800_000), key("server.clientTimeout").flag();
    }
    "Authentication over HTTP" {
        /// How clients authenticate: with an API key (api-key), with an access token of an issuer (oauth), or not at all, on this machine only (none).
        auth: AuthMode, key("server.auth").flag()
            .default("oauth with `--oauth-issuer`, else api-key");
        /// The API key. Prefer PLAYHOUSE_API_KEY, because other users of the machine can see flags. Without a key, one is generated and printed at start.
        api_key: String, key("server.apiKey").flag().secret();
        /// A file of API keys: a name, the key or "sha256:" and its digest, and perhaps scopes, `workspace=FOLDER` and `readable=FOLDER` on each line.
        api_keys: PathBuf, key("server.apiKeys").flag();
        /// A trusted issuer of access tokens, exactly as in its tokens; repeat it for more.
        oauth_issuer: CommaList, key("server.oauth.issuers").flag().many();
        /// The audience that access tokens must have: the URL under which clients reach this server.
        oauth_resource: String, key("server.oauth.resource").flag()
            .default("those of the endpoints, at the address that is listened on");
        /// Allow `--auth none` on addresses that other machines can reach, and do not warn about keys that are sent over a network without TLS.
        insecure: bool = false, key("server.insecure").flag();
    }
    "Installing browsers" {
        /// The index of builds that `playhouse install` downloads from, for mirrors.
        download_index: String = INDEX.to_owned(), key("install.index").flag();
    }
    "Not supported yet" {
        /// A Playwright server to connect to.
        endpoint: Unsupported, key("browser.remoteEndpoint").flag()
            .later("use --cdp-endpoint for a running browser");
        /// A header for the Playwright server.
        remote_header: Unsupported, key("browser.remoteHeaders")
            .everywhere_but("PLAYWRIGHT_MCP_REMOTE_HEADERS").many().hidden().secret()
            .later("use --cdp-endpoint for a running browser");
        /// Open the developer tools.
        devtools: bool, key("browser.launchOptions.devtools").later(LATER_RELEASE);
        /// The base of relative URLs.
        base_url: Unsupported, key("browser.contextOptions.baseURL")
            .later("write addresses in full");
        /// The folder of files that browsers create.
        artifacts_dir: Unsupported, key("browser.launchOptions.artifactsDir")
            .later("use outputDir and browser.launchOptions.downloadsPath");
        /// Whether a signal to the server terminates the browser: it always does.
        handle_signals: Unsupported, key("browser.launchOptions.handleSIGINT")
            .or(&["browser.launchOptions.handleSIGTERM", "browser.launchOptions.handleSIGHUP"])
            .later("a signal ends the server and its browsers");
    }
}
