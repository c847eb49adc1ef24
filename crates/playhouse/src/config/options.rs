//! The table of options: each is said once, here. Flags, variables, keys of the configuration
//! file, help, `docs/config.md`, the JSON schema and `config show` follow from it.

use engine::{Geolocation, HttpCredentials, Size};
use std::path::PathBuf;

use engine::codegen::Language;

use super::{
    layered::Source,
    secrets::SecretsSource,
    table::{key, no_key, options},
    value::{
        Arguments, AuthMode, BlockServiceWorkers, BrowserName, Bytes, CapabilityNames, ColorScheme,
        CommaList, CommandLine, ConsoleLevel, Contrast, Count, FilePaths, FirefoxPreferences,
        ForcedColors, Headers, IgnoredArguments, ImageResponses, JsonObject, LogDestination,
        LogFormat, LogLevel, Map, Milliseconds, NamedServers, Number, OptionValue, OriginList,
        Port, Ports, ReducedMotion, Scripts, SessionExpiry, SnapshotMode, StorageStateSource,
        Switch, ToolRules, ToolsetNames, Transport, Unsupported, Viewport,
    },
};

/// The newest good builds of Chrome for Testing.
const INDEX: &str = "https://googlechromelabs.github.io/chrome-for-testing/\
    last-known-good-versions-with-downloads.json";
const FIDELITY: &str = "it comes with a later release";

options! {
    "Browser" {
        /// The browser: chromium, chrome, msedge (the latter two also with -beta, -dev, -canary), firefox, webkit, or safari (macOS, untested).
        browser: BrowserName, key("browser.browserName").or(&["browser.type"]).everywhere()
            .default("chrome; if that is missing, any browser of the Chromium family");
        /// The channel of the Chromium family. Like `--browser`, for files that have both.
        channel: BrowserName, key("browser.launchOptions.channel");
        /// The browser's program, instead of looking for one.
        executable_path: PathBuf, key("browser.launchOptions.executablePath").everywhere();
        /// Run without a window.
        headless: bool, key("browser.launchOptions.headless").or(&["browser.headless"]).everywhere()
            .default("false; true on Linux without a display");
        /// Keep the browser's sandbox.
        sandbox: bool, key("browser.launchOptions.chromiumSandbox").everywhere()
            .default("true; false for chromium, chrome-for-testing, or root on Linux");
        /// Further arguments for the browser.
        args: Arguments, key("browser.launchOptions.args").or(&["browser.args"]);
        /// Those of our own arguments that the browser does not get.
        ignore_default_args: IgnoredArguments, key("browser.launchOptions.ignoreDefaultArgs");
        /// Preferences of a Firefox, over our own; other browsers have none.
        firefox_user_prefs: FirefoxPreferences, key("browser.launchOptions.firefoxUserPrefs");
        /// Environment variables for the browser, beside our own.
        env: Map, key("browser.launchOptions.env");
        /// How long the browser may take to start.
        launch_timeout: Milliseconds = Milliseconds(30_000), key("browser.launchOptions.timeout");
        /// Start the browser with the server, not with the first call that needs it.
        prelaunch: bool = false, key("browser.prelaunch").flag();
        /// Browsers that run from the start, and stay. They are for created sessions and isolated ones.
        min_browsers: Number = Number(0), key("pool.minBrowsers").flag();
        /// How many browsers sessions are spread over; each goes to the one with the fewest.
        max_browsers: Count, key("pool.maxBrowsers").flag()
            .default("1; with --webdriver-endpoint one for each session");
        /// Close a browser of the pool that has had no session for this long. 0: never.
        pool_idle_timeout: Milliseconds, key("pool.idleTimeout").flag()
            .default("0; with --webdriver-endpoint they are closed at once");
        /// Close a browser that no call has used for this long; the next one starts it again. 0: never.
        idle_timeout: Milliseconds, key("browser.idleTimeout").or(&["timeouts.idle"]).everywhere()
            .default("an hour when headless, else never");
        /// Wait this long after each action, so that people can follow.
        slow_mo: Milliseconds = Milliseconds(0), key("browser.launchOptions.slowMo");
        /// Keep the profile in memory, and give each client its own browser context.
        isolated: bool = false, key("browser.isolated").everywhere();
        /// The opposite of `--isolated`, for files that say it so.
        persistent_sessions: bool, key("session.persistentSessions");
        /// One default session for all clients of the same name. Over stdio there is one client, so this is always so.
        shared_browser_context: bool, key("sharedBrowserContext").flag();
        /// The folder of the browser's profile.
        user_data_dir: PathBuf, key("browser.userDataDir").everywhere()
            .default("a folder of its own for each workspace, kept");
        /// Where downloads go.
        downloads_path: PathBuf,
            key("browser.launchOptions.downloadsPath").or(&["browser.downloadPath"])
            .default("the output folder");
        /// Connect to a running browser instead of starting one: its DevTools address, http or ws.
        cdp_endpoint: String, key("browser.cdpEndpoint").everywhere();
        /// A header to send when connecting, "Name: value"; repeat it for more.
        cdp_header: Headers, key("browser.cdpHeaders").everywhere_but("PLAYWRIGHT_MCP_CDP_HEADERS")
            .many().secret();
        /// How long connecting may take.
        cdp_timeout: Milliseconds = Milliseconds(30_000), key("browser.cdpTimeout").everywhere();
        /// Have browsers made by a WebDriver end, such as a Selenium Grid: its address, http or https. Or ws: one Firefox that listens.
        webdriver_endpoint: String, key("browser.webdriverEndpoint").everywhere_but("SELENIUM_REMOTE_URL")
            .secret();
        /// A header for the WebDriver end, "Name: value"; repeat it for more.
        webdriver_header: Headers, key("browser.webdriverHeaders").flag().many().secret();
        /// What else to ask the WebDriver end for: capabilities, as a JSON object.
        webdriver_capabilities: JsonObject, key("browser.webdriverCapabilities").flag().secret();
        /// A proxy for all requests, such as "http://proxy:3128" or "socks5://proxy:8080".
        proxy_server: String, key("browser.launchOptions.proxy.server")
            .or(&["browser.contextOptions.proxy.server"]).everywhere();
        /// Hosts that are reached without the proxy, such as ".com,chromium.org".
        proxy_bypass: String, key("browser.launchOptions.proxy.bypass")
            .or(&["browser.contextOptions.proxy.bypass"]).everywhere();
        /// The user name that the proxy asks for.
        proxy_username: String, key("browser.launchOptions.proxy.username")
            .or(&["browser.contextOptions.proxy.username"]);
        /// The password that the proxy asks for.
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
        /// The size of the screen that pages are told.
        screen: Size, key("browser.contextOptions.screen");
        /// Device pixels per CSS pixel.
        device_scale_factor: f64, key("browser.contextOptions.deviceScaleFactor");
        /// Lay pages out as phones do: with the meta viewport, and overlay scroll bars.
        is_mobile: bool, key("browser.contextOptions.isMobile");
        /// Have a touch screen.
        has_touch: bool, key("browser.contextOptions.hasTouch");
        /// The user agent that pages and servers are told.
        user_agent: String, key("browser.contextOptions.userAgent").everywhere();
        /// The language, such as "de-DE".
        locale: String, key("browser.contextOptions.locale");
        /// The time zone, such as "Europe/Berlin".
        timezone_id: String, key("browser.contextOptions.timezoneId");
        /// What `prefers-color-scheme` says.
        color_scheme: ColorScheme, key("browser.contextOptions.colorScheme");
        /// What `prefers-reduced-motion` says.
        reduced_motion: ReducedMotion, key("browser.contextOptions.reducedMotion");
        /// What `forced-colors` says.
        forced_colors: ForcedColors, key("browser.contextOptions.forcedColors");
        /// What `prefers-contrast` says.
        contrast: Contrast, key("browser.contextOptions.contrast");
        /// Where pages think they are. They still need the permission "geolocation".
        geolocation: Geolocation, key("browser.contextOptions.geolocation");
        /// Permissions to grant, such as "geolocation,clipboard-read".
        grant_permissions: CommaList, key("browser.contextOptions.permissions").everywhere().many();
        /// The answer to HTTP authentication.
        http_credentials: HttpCredentials, key("browser.contextOptions.httpCredentials").secret();
        /// Headers that every request carries.
        extra_http_headers: Headers, key("browser.contextOptions.extraHTTPHeaders").secret();
        /// Accept broken certificates.
        ignore_https_errors: bool = false,
            key("browser.contextOptions.ignoreHTTPSErrors").everywhere();
        /// Start without network.
        offline: bool, key("browser.contextOptions.offline");
        /// Refuse selectors that match twice. Always so here, whatever this says.
        strict_selectors: bool, key("browser.contextOptions.strictSelectors");
        /// Run JavaScript of pages.
        java_script_enabled: bool, key("browser.contextOptions.javaScriptEnabled").default("true");
        /// Switch off the Content Security Policy of pages.
        bypass_csp: bool, key("browser.contextOptions.bypassCSP");
        /// Accept downloads.
        accept_downloads: bool, key("browser.contextOptions.acceptDownloads").default("true");
        /// Do not let pages register service workers.
        block_service_workers: BlockServiceWorkers,
            key("browser.contextOptions.serviceWorkers").everywhere();
        /// Cookies and storage to start with: a file that browser_storage_state wrote.
        storage_state: StorageStateSource, key("browser.contextOptions.storageState").everywhere();
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
        /// Everything that makes an agent safe on sites where somebody is logged in: `playhouse --safe --help` lists it. Needs `--allowed-domains`.
        safe: bool = false, key("safe").flag();
        /// Request nothing but these domains, on any port: example.com, *.example.com (those below it). Adds to `--allowed-origins`.
        allowed_domains: CommaList, key("security.allowedDomains").flag();
        /// Never request these domains, even if allowed. Adds to `--blocked-origins`.
        blocked_domains: CommaList, key("security.blockedDomains").flag();
        /// Connect to no address that is private, of this machine, or of a cloud's metadata service, whichever name leads there. Exempt is an IP address, or localhost, that `--allowed-domains` or `--allowed-origins` names literally.
        block_private_addresses: bool = false, key("security.blockPrivateAddresses").flag();
        /// Connect to these ports only, such as 80,443.
        allowed_ports: Ports, key("security.allowedPorts").flag();
        /// Schemes that may be opened though they show local files or the browser's insides: file, chrome, devtools.
        allowed_schemes: CommaList, key("security.allowedSchemes").flag();
        /// The size of a screenshot, in bytes, above which it is refused.
        max_screenshot_size: Bytes, key("security.maxScreenshotSize").flag().default("no limit");
        /// Offer tools that give files to pages.
        enable_file_upload: bool = true, key("security.enableFileUpload").flag();
        /// Offer tools that run the client's code, in pages or beside them.
        enable_script_evaluation: bool = true, key("security.enableScriptEvaluation").flag();
        /// Deny what pages ask permission for (location, camera, notifications), but for `--grant-permissions`, instead of asking anybody.
        deny_permissions: bool = false, key("security.denyPermissions").flag();
        /// Keep downloads in a folder `quarantine` of the output folder, mode 0700, with mode 0600 and `.quarantine` behind their names. They are no resources.
        quarantine_downloads: bool = false, key("security.quarantineDownloads").flag();
        /// Let clients name files to read and to write. Without it they get those that the server names.
        client_paths: bool = true, key("files.clientPaths").flag();
        /// Rules of tools and origins that allow calls, deny them, or have the user asked: a JSON file. docs/security.md describes it.
        policy: PathBuf, key("security.policy").flag();
        /// Record each call in this file: a line of JSON, in a hash chain that `playhouse audit verify` checks. A call that cannot be recorded is refused.
        audit_log: PathBuf, key("security.auditLog").flag();
    }
    "Tools" {
        /// Families of tools: browser, session, e2e (which needs a server of the app under test), or all of them.
        toolsets: ToolsetNames, key("toolsets").flag()
            .default("browser, create_session, list_sessions, close_session; with a server of the app, e2e too");
        /// Capabilities beside the core: config, contexts, network, pdf, storage, testing, vision, devtools.
        caps: CapabilityNames, key("capabilities").everywhere();
        /// Single tools to add (+name) or to take away (-name).
        tools: ToolRules, key("tools").flag().dashes();
        /// The same as `--caps vision`.
        vision: bool, no_key().flag().hidden();
    }
    "Users" {
        /// Ask the user, where the client can, about a dialog that the agent passes by: a confirmation, a prompt, a page that wants to stay.
        ask_user: bool = false, key("askUser").flag();
    }
    "Prompts" {
        /// A folder of prompts of your own: Markdown files, named as the prompts.
        prompts_dir: PathBuf, key("prompts.dir").flag();
    }
    "Sessions" {
        /// How long a session lives after its last call, and the most that `create_session` may ask for. 0: for ever.
        session_timeout: Milliseconds = Milliseconds(300_000), key("session.timeout").flag();
        /// How many sessions and named contexts there may be at once, beside default ones.
        max_sessions: Count = Count(10), key("session.maxSessions").flag();
        /// Whether calls prolong the life of their session: sliding, fixed.
        session_expiry: SessionExpiry = SessionExpiry::Sliding, key("session.expiry").flag();
        /// Tools that work on a page must be told the session; there is no default one.
        require_session: bool = false, key("session.require").flag();
    }
    "The app under test" {
        /// The command that starts, restarts, asks after and stops the server of the app under test, the app's own dev command, or the URL where it runs already: docs/e2e.md says how. With it come the tools `e2e_*`.
        server_command: CommandLine, key("serverCommand").everywhere_but("SERVER_COMMAND_PATH");
        /// Several such servers by their names, each an object: command, args, url, cwd, env, readyTimeout, idleTimeout, requires.
        dev_servers: NamedServers, key("devServers").secret();
        /// Stop the server after this long without a call on a session that uses it. 0: never.
        server_idle_timeout: Milliseconds = Milliseconds(600_000), key("serverTimeouts.idle").flag();
        /// How long the command may take to start the server.
        server_start_timeout: Milliseconds = Milliseconds(30_000), key("serverTimeouts.start").flag();
        /// How long it may take to restart it.
        server_restart_timeout: Milliseconds = Milliseconds(40_000), key("serverTimeouts.restart").flag();
        /// How long it may take to tell its state.
        server_status_timeout: Milliseconds = Milliseconds(5_000), key("serverTimeouts.status").flag();
        /// How long it may take to stop it.
        server_shutdown_timeout: Milliseconds = Milliseconds(15_000), key("serverTimeouts.shutdown").flag();
    }
    "Answers" {
        /// Whether actions answer with a snapshot: full, none.
        snapshot_mode: SnapshotMode = SnapshotMode::Full, key("snapshot.mode").flag();
        /// Add the box of each element to snapshots: [box=x,y,width,height].
        snapshot_boxes: bool = false, key("snapshot.boxes").flag();
        /// The language of the code in answers: typescript, python, java, csharp, none.
        codegen: Language = Language::Typescript, key("codegen").everywhere();
        /// What becomes of images: allow, omit, only.
        image_responses: ImageResponses = ImageResponses::Allow, key("imageResponses").everywhere();
        /// How paths are written: relative, absolute.
        file_paths: FilePaths = FilePaths::Relative, key("filePaths").everywhere();
        /// The console messages to keep: error, warning, info, debug. Each includes those before.
        console_level: ConsoleLevel = ConsoleLevel::Info, key("console.level").everywhere();
        /// Mark what pages say in answers, between `<page-content NONCE>` and `</page-content NONCE>`, and with `[hidden-text]` what people
        /// cannot see of it: on, off.
        content_boundaries: Switch, key("contentBoundaries").flag().default("on; off with --toolsets browser alone");
        /// The attribute that getByTestId looks at.
        test_id_attribute: String = "data-testid".to_owned(), key("testIdAttribute").everywhere();
    }
    "Files" {
        /// A dotenv file of secrets: typed by name, and shown nowhere by value. `NAME__ORIGINS=https://a.org,https://*.b.org` are the only
        /// origins whose documents the secret `NAME` may be typed into.
        secrets: SecretsSource, key("secrets").everywhere_but("PLAYWRIGHT_MCP_SECRETS_FILE")
            .secret();
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
        /// Read and write any file, and open file: addresses; not just below the workspace.
        allow_unrestricted_file_access: bool = false, key("allowUnrestrictedFileAccess").everywhere();
    }
    "Timeouts" {
        /// How long an action waits for its element.
        timeout_action: Milliseconds = Milliseconds(5_000), key("timeouts.action").everywhere();
        /// Both, for files that say it in one.
        default_timeout: Milliseconds, key("session.defaultTimeout");
        /// How long a navigation may take; 30000 with tools of the session toolset where this is not set.
        timeout_navigation: Milliseconds = Milliseconds(60_000),
            key("timeouts.navigation").everywhere();
        /// How long an assertion waits.
        timeout_expect: Milliseconds = Milliseconds(5_000), key("timeouts.expect").flag();
        /// How long to wait, at most, for a page that goes on changing after an action. One that does not is never waited for.
        timeout_settle: Milliseconds = Milliseconds(500), key("timeouts.settle").everywhere();
    }
    "Server" {
        /// The configuration file: JSON, or INI with dotted keys.
        config: PathBuf, no_key().everywhere();
        /// What to report: error, warn, info, debug, trace.
        log_level: LogLevel = LogLevel::Warn, key("logLevel").or(&["logging.level"]).flag();
        /// How reports are written: text, json (an object a line).
        log_format: LogFormat = LogFormat::Text, key("logging.format").flag();
        /// A file to report to instead of stderr. At 10 MB it is renamed to NAME.1, that to NAME.2; there are three at most.
        log_file: PathBuf, key("logging.file").flag();
        /// Where reports go: stderr, file (that of `--log-file`); stdout means stderr, as stdout belongs to the protocol.
        log_destination: LogDestination, key("logging.destination");
        /// How clients are served: stdio, http (at `port`, WebSockets included), websocket (the same).
        transport: Transport, key("transport").default("http with a port, else stdio");
        /// The name that the server tells clients.
        name: String = "Playhouse".to_owned(), key("name");
        /// The version that the server tells clients.
        version: String, key("version").default("that of the program");
    }
    "Serving over HTTP" {
        /// Serve over HTTP on this port: `/mcp`, `/message`, `/sse`, `/ws`. 0: any that is free.
        port: Port, key("server.port").or(&["port"]).everywhere();
        /// The address to listen on; 0.0.0.0 for all.
        host: String = "localhost".to_owned(), key("server.host").everywhere();
        /// Hosts that requests may name, separated by commas, with a port or for any; * for all.
        allowed_hosts: CommaList, key("server.allowedHosts").everywhere().many()
            .default("the address that is listened on");
        /// Web pages that may ask, by their origin: https://example.com.
        allowed_http_origins: CommaList, key("server.allowedOrigins").flag()
            .default("those of the allowed hosts");
        /// The certificate for TLS with its chain, a PEM file; with `--tls-key`.
        tls_cert: PathBuf, key("server.tlsCert").flag();
        /// The certificate's private key, a PEM file.
        tls_key: PathBuf, key("server.tlsKey").flag();
        /// How many connections there may be at a time.
        max_connections: Count = Count(1024), key("server.maxConnections").flag();
        /// The largest request, in bytes.
        max_request_size: Bytes = Bytes(16 * 1024 * 1024), key("server.maxRequestSize").flag();
        /// How many requests a second each client may make, in the long run. 0: any number.
        rate_limit: Number = Number(0), key("server.rateLimit").flag();
        /// Forget an MCP session without a request or an open stream for this long. Its browser session lives on until it expires. What was sent waits as long for a client that does not take it, and a minute at most.
        client_timeout: Milliseconds = Milliseconds(1_800_000), key("server.clientTimeout").flag();
    }
    "Who may connect over HTTP" {
        /// Who may connect: who has an API key (api-key), who has a token of an issuer (oauth), anybody on this machine (none).
        auth: AuthMode, key("server.auth").flag()
            .default("oauth with `--oauth-issuer`, else api-key");
        /// The API key. Better as PLAYHOUSE_API_KEY: others see flags. Without any, one is made and printed at start.
        api_key: String, key("server.apiKey").flag().secret();
        /// A file of API keys: a name, the key or "sha256:" and its digest, and perhaps scopes, `workspace=FOLDER` and `readable=FOLDER` on each line.
        api_keys: PathBuf, key("server.apiKeys").flag();
        /// An issuer of access tokens that is trusted, as its tokens say it; repeat it for more.
        oauth_issuer: CommaList, key("server.oauth.issuers").flag().many();
        /// The URI that access tokens must be for, which is our address as clients know it.
        oauth_resource: String, key("server.oauth.resource").flag()
            .default("those of the endpoints, at the address that is listened on");
        /// Let `--auth none` be reached from other machines, and say nothing of keys that cross a network in clear.
        insecure: bool = false, key("server.insecure").flag();
    }
    "Installing browsers" {
        /// The index of builds that `playhouse install` downloads from, for mirrors.
        download_index: String = INDEX.to_owned(), key("install.index").flag();
    }
    "Not supported yet" {
        /// Connect to a browser through Playwright's browser extension.
        extension: bool, key("extension").everywhere()
            .later("use --cdp-endpoint for a running browser");
        /// The profile to use with the extension.
        profile_dir_name: Unsupported, key("browser.profileDirName").everywhere()
            .later("use --cdp-endpoint for a running browser");
        /// A Playwright server to connect to.
        endpoint: Unsupported, key("browser.remoteEndpoint").flag()
            .later("use --cdp-endpoint for a running browser");
        /// A header for the Playwright server.
        remote_header: Unsupported, key("browser.remoteHeaders")
            .everywhere_but("PLAYWRIGHT_MCP_REMOTE_HEADERS").many().hidden().secret()
            .later("use --cdp-endpoint for a running browser");
        /// Tools that pages offer by themselves.
        webmcp: bool, key("webmcp").flag().hidden().later(FIDELITY);
        /// The folder of traces.
        traces_dir: Unsupported, key("browser.launchOptions.tracesDir").later(FIDELITY);
        /// Open the developer tools.
        devtools: bool, key("browser.launchOptions.devtools").later(FIDELITY);
        /// Certificates to show to servers.
        client_certificates: Unsupported, key("browser.contextOptions.clientCertificates")
            .secret().later(FIDELITY);
        /// What relative addresses are relative to.
        base_url: Unsupported, key("browser.contextOptions.baseURL")
            .later("write addresses in full");
        /// Record requests.
        record_har: Unsupported, key("browser.contextOptions.recordHar").later(FIDELITY);
        /// Record videos.
        record_video: Unsupported, key("browser.contextOptions.recordVideo").or(&["saveVideo"]).later(FIDELITY);
        /// Record traces, as older files of `@playwright/mcp` ask for.
        save_trace: bool, key("saveTrace").later(FIDELITY);
        /// The folder of files that browsers make by themselves.
        artifacts_dir: Unsupported, key("browser.launchOptions.artifactsDir")
            .later("use outputDir and browser.launchOptions.downloadsPath");
        /// Whether a signal to the server terminates the browser: it always does.
        handle_signals: Unsupported, key("browser.launchOptions.handleSIGINT")
            .or(&["browser.launchOptions.handleSIGTERM", "browser.launchOptions.handleSIGHUP"])
            .later("a signal ends the server and its browsers");
    }
}
