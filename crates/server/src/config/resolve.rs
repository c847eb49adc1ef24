//! Resolves options to settings: defaults that depend on the machine, rules between options, and checks.

mod auth;
mod browser;
mod context;
mod files;
mod safe;
mod servers;
mod telemetry;
mod tls;
mod tools;

use std::path::{Path, PathBuf, absolute};
use std::time::Duration;

use engine::codegen::Language;
use engine::{AddressRules, BrowserKind, OriginRules, PageTimeouts, Proxy};
use serde_json::Value;

use super::{
    RecordHar,
    endpoints::{CdpSettings, WebDriverSettings},
    environment::Environment,
    error::ConfigError,
    layered::{Layered, Source},
    options::{OPTIONS, Options},
    paths,
    secrets::{Secrets, SecretsSource},
    settings::{
        AnswerSettings, BrowserSettings, ContextSettings, HttpSettings, LogSettings, NEVER,
        PoolSettings, PromptSettings, SecuritySettings, SessionSettings, Settings, Timeouts,
        ToolSettings,
    },
    show,
    value::{
        AnswerStyle, Bytes, Capability, CommaList, LogDestination, Milliseconds, Number,
        OptionValue, Port, Ports, SnapshotMode, Switch, ToolsetName, ToolsetNames, Transport,
        Viewport,
    },
};

use browser::{
    browser_kind, channel, check_extension, choice, extension, has_extensions, launch_timeout,
    unsandboxed,
};
use context::{VIEWPORT, context, device};

pub(crate) use auth::is_safe_address;
pub(crate) use safe::help as safe_help;

/// The default idle timeout of a headless browser.
const HEADLESS_IDLE_TIMEOUT: Milliseconds = Milliseconds(3_600_000);

/// Sets the defaults that depend on the machine in `options` and returns the settings.
pub(crate) fn resolve(
    options: &mut Options,
    environment: &Environment,
    cwd: &Path,
) -> Result<Settings, ConfigError> {
    refuse_later(options)?;
    apply_combined_options(options);
    safe::apply(options)?;
    let channel = channel(options)?;
    let mut notices = Vec::new();
    let device = device(options, &mut notices)?;
    check(options, cwd)?;
    let protected = files::protected(options, environment, cwd);
    let secrets =
        secrets(options, cwd)?.with_url_parameters(options.redact_url_params.or_empty().0);
    safe::check_secrets(options, &secrets)?;
    defaults(options, environment, channel);
    let capabilities = tools::capabilities(options, &mut notices);
    let sandbox_said = options
        .sandbox
        .source()
        .is_some_and(|source| *source != Source::Default);
    let sandbox = match sandbox_said {
        true => options.sandbox.value(),
        false => unsandboxed(channel).then_some(false),
    };
    let allowed = options.allowed_origins.value().map(|allowed| allowed.0);
    let blocked = options.blocked_origins.or_empty().0;
    let allowed_domains = options.allowed_domains.value().map(|allowed| allowed.0);
    let origins = OriginRules::new(allowed.as_deref(), &blocked).with_domains(
        allowed_domains.as_deref(),
        &options.blocked_domains.or_empty().0,
    );
    let addresses = AddressRules {
        block_private: required(&options.block_private_addresses),
        allowed_ports: options.allowed_ports.value().map(|Ports(ports)| ports),
    };
    let tools = tools::chosen(options);
    // `--toolsets browser` replaces `@playwright/mcp`.
    let is_drop_in = options.toolsets.value() == Some(ToolsetNames(vec![ToolsetName::Browser]));
    let style = options.answers.value().unwrap_or(match is_drop_in {
        true => AnswerStyle::Playwright,
        false => AnswerStyle::Compact,
    });
    // Nothing is added to answers in the style of `@playwright/mcp`, and nothing is left out.
    let is_own_style = style == AnswerStyle::Compact;
    let max_tokens = match (options.max_answer_tokens.value(), is_own_style) {
        (Some(Number(most)), _) => most,
        (None, true) => AnswerSettings::DEFAULT_TOKENS,
        (None, false) => 0,
    };
    let observe_vitals = capabilities.contains(&Capability::Performance);
    let can_throttle = tools::can_throttle(&tools) || observe_vitals;
    let log = log(options, cwd)?;
    let traces = telemetry::traces(options, environment, &mut notices)?;
    let http = http(options, cwd, &mut notices)?;
    check_local_files(options, http.as_ref())?;
    let has_http = http.is_some();
    let extension = extension(options, environment);
    let leases = paths::playhouse_cache(environment).join("servers");
    let dev_servers = servers::servers(options, cwd, &leases)?;
    let tls = tls::tls(options, environment, cwd)?;
    let kind = options.browser.value();
    let kind = kind.map_or(BrowserKind::Chromium, |name| browser_kind(name.0));
    Ok(Settings {
        browser: BrowserSettings {
            kind,
            choice: choice(options, kind, channel, cwd),
            search: paths::search(
                environment,
                required(&options.headless)
                    && !has_extensions(&options.args.or_empty().0)
                    && !required(&options.extension),
            ),
            headless: required(&options.headless),
            display: paths::has_display(environment),
            sandbox,
            args: options.args.or_empty().0,
            ignored_args: options.ignore_default_args.or_empty().0,
            preferences: options
                .firefox_user_prefs
                .or_empty()
                .0
                .into_iter()
                .map(|(name, preference)| (name, preference.into()))
                .chain(safe::denials(required(&options.deny_permissions)))
                .collect(),
            env: options.env.or_empty().0,
            launch_timeout: launch_timeout(options, extension.as_ref()),
            prelaunch: required(&options.prelaunch),
            idle_timeout: options
                .idle_timeout
                .value()
                .filter(|Milliseconds(ms)| *ms > 0)
                .map(Duration::from),
            slow_mo: required(&options.slow_mo).into(),
            isolated: required(&options.isolated),
            cache_dir: paths::playhouse_cache(environment),
            user_data_dir: options.user_data_dir.value().map(|path| cwd.join(path)),
            cdp: options.cdp_endpoint.value().map(|endpoint| CdpSettings {
                profiles: match endpoint.as_str() {
                    engine::AUTO => paths::profiles(environment),
                    _ => Vec::new(),
                },
                endpoint,
                headers: options.cdp_header.or_empty().0,
                timeout: required(&options.cdp_timeout).into(),
            }),
            extension,
            webdriver: options
                .webdriver_endpoint
                .value()
                .map(|endpoint| WebDriverSettings {
                    endpoint,
                    headers: options.webdriver_header.or_empty().0,
                    capabilities: options.webdriver_capabilities.or_empty().0,
                }),
            proxy: proxy(options)?,
            origins: origins.clone(),
            addresses: addresses.clone(),
            ignore_https_errors: required(&options.ignore_https_errors),
            tls: tls.clone(),
            can_throttle,
            confined: false,
        },
        context: ContextSettings {
            options: engine::ContextOptions {
                observe_vitals,
                tls,
                ..context(
                    options,
                    device,
                    origins,
                    addresses,
                    can_throttle,
                    required(&options.timeout_settle).into(),
                )
            },
            fills_window: required(&options.viewport_size) == Viewport::Window,
            accept_downloads: options.accept_downloads.value().unwrap_or(true),
            downloads_dir: options.downloads_path.value().map(|path| cwd.join(path)),
            name: None,
            storage_state: options.storage_state.value(),
            init_scripts: options.init_script.or_empty().0,
            init_pages: options.init_page.or_empty().0,
            record_har: options.record_har.value().map(|har| RecordHar {
                path: cwd.join(&har.path),
                ..har
            }),
        },
        tools: ToolSettings {
            capabilities,
            forbidden: tools::forbidden(options),
            app: !dev_servers.servers.is_empty(),
            require_session: required(&options.require_session),
            webmcp: required(&options.webmcp),
            ignore_roots: required(&options.ignore_roots),
            ..tools
        },
        dev_servers,
        prompts: PromptSettings {
            dir: options.prompts_dir.value().map(|path| cwd.join(path)),
        },
        sessions: SessionSettings {
            timeout: match required(&options.session_timeout) {
                Milliseconds(0) => NEVER,
                timeout => timeout.into(),
            },
            max: required(&options.max_sessions).0,
            shared: options.shared_browser_context.or_empty(),
            expiry: required(&options.session_expiry),
        },
        pool: pool(options)?,
        answers: AnswerSettings {
            style,
            snapshot_mode: required(&options.snapshot_mode),
            max_tokens: AnswerSettings::token_limit(max_tokens),
            has_size: is_own_style || options.max_answer_tokens.value().is_some(),
            changes: is_on(&options.changes, is_own_style)
                && required(&options.snapshot_mode) != SnapshotMode::None,
            snapshot_boxes: required(&options.snapshot_boxes),
            codegen: match (style, configured(&options.codegen)) {
                (AnswerStyle::Compact, None | Some((_, Source::Default))) => Language::None,
                (_, Some((language, _))) => language,
                (AnswerStyle::Playwright, None) => Language::Typescript,
            },
            image_responses: required(&options.image_responses),
            file_paths: required(&options.file_paths),
            console_level: required(&options.console_level),
            test_id_attribute: required(&options.test_id_attribute),
            ask_user: required(&options.ask_user),
            content_boundaries: is_on(&options.content_boundaries, is_own_style),
        },
        files: files::files(options, environment, cwd, protected),
        secrets,
        timeouts: Timeouts {
            action: required(&options.timeout_action).into(),
            navigation: required(&options.timeout_navigation).into(),
            navigation_of_sessions: match configured(&options.timeout_navigation) {
                Some((_, Source::Default)) | None => SESSION_NAVIGATION_TIMEOUT,
                Some((timeout, _)) => timeout.into(),
            },
            expect: required(&options.timeout_expect).into(),
            settle: required(&options.timeout_settle).into(),
            load: LOAD_TIMEOUT / environment.timeout_divisor(),
            page: PageTimeouts {
                response: PageTimeouts::default().response / environment.timeout_divisor(),
            },
        },
        security: SecuritySettings {
            schemes: schemes(options),
            max_screenshot: options
                .max_screenshot_size
                .value()
                .map(|Bytes(bytes)| bytes),
            policy: options.policy.value().map(|path| cwd.join(path)),
            audit_log: options.audit_log.value().map(|path| cwd.join(path)),
        },
        log,
        traces,
        http,
        dashboard: dashboard(options, has_http),
        background_timeout: options
            .background_timeout
            .value()
            .filter(|Milliseconds(ms)| *ms > 0)
            .map(Duration::from),
        server: (
            required(&options.name),
            options
                .version
                .value()
                .unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned()),
        ),
        merged: show::merged(options),
        notices,
    })
}

/// How long a navigation waits for the load event after the document is parsed.
const LOAD_TIMEOUT: Duration = Duration::from_secs(5);

/// The default navigation timeout of tools of the `session` toolset.
const SESSION_NAVIGATION_TIMEOUT: Duration = Duration::from_secs(30);

/// Returns the value of an option that always has one.
fn required<T: OptionValue>(option: &Layered<T>) -> T {
    option
        .value()
        .expect("the table or `defaults` gives it a default")
}

/// Returns whether a switch is on; `usual` if it has no value.
fn is_on(option: &Layered<Switch>, usual: bool) -> bool {
    option.value().map_or(usual, |switch| switch == Switch::On)
}

/// Applies options that set several others, for the values that their layers do not set themselves.
fn apply_combined_options(options: &mut Options) {
    if let Some((persistent, source)) = configured(&options.persistent_sessions) {
        options.isolated.imply(&source, !persistent);
    }
    if let Some((timeout, source)) = configured(&options.default_timeout) {
        options.timeout_action.imply(&source, timeout);
        options.timeout_navigation.imply(&source, timeout);
    }
}

fn configured<T: OptionValue>(option: &Layered<T>) -> Option<(T, Source)> {
    Some((option.value()?, option.source()?.clone()))
}

fn pool(options: &Options) -> Result<PoolSettings, ConfigError> {
    let Number(min) = required(&options.min_browsers);
    // A WebDriver server such as a grid distributes browsers over machines and needs closed sessions back at once.
    let (max, idle) = match options.webdriver_endpoint.get() {
        Some(_) => (usize::MAX, Some(Duration::ZERO)),
        None => (1, None),
    };
    if let Some(count) = options.max_browsers.value()
        && min > count.0
    {
        return Err(ConfigError::TooFewBrowsers { min, max: count.0 });
    }
    let max = options.max_browsers.value().map_or(max, |count| count.0);
    let idle = match options.pool_idle_timeout.value() {
        Some(Milliseconds(ms)) => (ms > 0).then(|| Duration::from_millis(ms)),
        None => idle,
    };
    Ok(PoolSettings {
        min,
        max: max.max(min),
        idle_timeout: idle,
    })
}

/// Returns the upstream proxy of the browser after checking it.
fn proxy(options: &Options) -> Result<Option<Proxy>, ConfigError> {
    let Some(server) = options.proxy_server.value() else {
        return Ok(None);
    };
    let (username, password) = (
        options.proxy_username.value(),
        options.proxy_password.value(),
    );
    Proxy::new(
        &server,
        options.proxy_bypass.value().as_deref(),
        username,
        password,
    )
    .map(Some)
    .map_err(|error| ConfigError::Proxy(error.to_string()))
}

/// Returns the port of the dashboard over stdio, or `None` without a dashboard.
fn dashboard(options: &Options, has_http: bool) -> Option<u16> {
    let is_on = options.dashboard.value().unwrap_or(has_http);
    is_on.then(|| options.dashboard_port.value().map_or(0, |Port(port)| port))
}

fn schemes(options: &Options) -> Vec<String> {
    let schemes = options.allowed_schemes.or_empty().0.into_iter();
    schemes
        .map(|scheme| scheme.trim_end_matches([':', '/']).to_ascii_lowercase())
        .collect()
}

fn http(
    options: &Options,
    cwd: &Path,
    notices: &mut Vec<String>,
) -> Result<Option<HttpSettings>, ConfigError> {
    let port = options.port.value().map(|Port(port)| port);
    let port = match (options.transport.value(), port) {
        (Some(Transport::Http | Transport::Websocket), None) => return Err(ConfigError::NoPort),
        // --port alone on the command line overrides the transport of the file.
        (Some(Transport::Stdio), Some(_))
            if !options
                .transport
                .source()
                .zip(options.port.source())
                .is_some_and(|(transport, port)| transport.is_weaker_than(port)) =>
        {
            None
        }
        (_, port) => port,
    };
    let Some(port) = port else { return Ok(None) };
    let file = |path: PathBuf| cwd.join(path);
    let tls = match (
        options.tls_cert.value().map(file),
        options.tls_key.value().map(file),
    ) {
        (Some(cert), Some(key)) => Some((cert, key)),
        (None, None) => None,
        _ => return Err(ConfigError::HalfTls),
    };
    let list = |list: &Layered<CommaList>| list.value().map(|CommaList(items)| items);
    let Number(rate) = required(&options.rate_limit);
    let host = required(&options.host);
    Ok(Some(HttpSettings {
        auth: auth::auth(options, &host, tls.is_some(), cwd, notices)?,
        host,
        port,
        allowed_hosts: list(&options.allowed_hosts),
        allowed_origins: list(&options.allowed_http_origins),
        tls,
        max_connections: required(&options.max_connections).0,
        max_request: usize::try_from(required(&options.max_request_size).0).unwrap_or(usize::MAX),
        rate: u32::try_from(rate).ok().filter(|rate| *rate > 0),
        client_timeout: required(&options.client_timeout).into(),
    }))
}

/// Fails if several principals could read local files in pages, because a page of one file can embed any other.
fn check_local_files(options: &Options, http: Option<&HttpSettings>) -> Result<(), ConfigError> {
    let shows_files = [
        (
            "--allow-unrestricted-file-access",
            required(&options.allow_unrestricted_file_access),
        ),
        (
            "--allowed-schemes file",
            schemes(options).iter().any(|scheme| scheme == "file"),
        ),
    ];
    let shown = shows_files.into_iter().find(|(_, shows)| *shows);
    match (shown, http) {
        (Some((option, _)), Some(http)) if http.auth.has_named_principals() => {
            Err(ConfigError::ShowsFilesOfOthers { option })
        }
        _ => Ok(()),
    }
}

fn log(options: &Options, cwd: &Path) -> Result<LogSettings, ConfigError> {
    let file = options.log_file.value().map(|path| cwd.join(path));
    let file = match options.log_destination.value() {
        Some(LogDestination::File) if file.is_none() => return Err(ConfigError::NoLogFile),
        // --log-file on the command line overrides the destination of the file.
        Some(LogDestination::Stderr | LogDestination::Stdout)
            if !options
                .log_destination
                .source()
                .zip(options.log_file.source())
                .is_some_and(|(destination, file)| destination.is_weaker_than(file)) =>
        {
            None
        }
        _ => file,
    };
    Ok(LogSettings {
        level: required(&options.log_level),
        format: required(&options.log_format),
        file,
    })
}

fn refuse_later(options: &Options) -> Result<(), ConfigError> {
    for def in OPTIONS {
        let Some(why) = def.spec.later else { continue };
        match (def.get)(options) {
            None | Some((Value::Bool(false) | Value::Null, _)) => {}
            Some((_, source)) => {
                let name = match source {
                    Source::Flag(name) | Source::Environment(name) => name.clone(),
                    Source::File(_) | Source::Background | Source::Default => {
                        def.keys().next().unwrap_or(def.name).to_owned()
                    }
                };
                return Err(ConfigError::NotYet {
                    name,
                    why: why.to_owned(),
                });
            }
        }
    }
    Ok(())
}

fn check(options: &mut Options, cwd: &Path) -> Result<(), ConfigError> {
    if options.webdriver_endpoint.get().is_some() && options.cdp_endpoint.get().is_some() {
        return Err(ConfigError::TwoEndpoints);
    }
    if options.extension.get() == Some(&true) {
        check_extension(options)?;
    }
    if options.user_data_dir.get().is_some() && options.isolated.get() == Some(&true) {
        return Err(ConfigError::ProfileAndIsolated);
    }
    if let Some(path) = options.output_dir.get() {
        let path = absolute(cwd.join(path)).unwrap_or_else(|_| path.clone());
        let path: PathBuf = path.components().collect();
        if path.parent().is_none() {
            return Err(ConfigError::SystemOutputFolder(path));
        }
    }
    options.init_script.map(|scripts| scripts.rebase(cwd));
    for path in options.init_script.or_empty().0 {
        if !path.is_file() {
            return Err(ConfigError::NoInitScript(path));
        }
    }
    options.init_page.map(|modules| modules.rebase(cwd));
    for path in options.init_page.or_empty().0 {
        if !path.is_file() {
            return Err(ConfigError::NoInitPage(path));
        }
    }
    Ok(())
}

/// Reads the secrets, and replaces the option's value by their names.
fn secrets(options: &mut Options, cwd: &Path) -> Result<Secrets, ConfigError> {
    let Some(source) = options.secrets.value() else {
        return Ok(Secrets::default());
    };
    let path = match &source {
        SecretsSource::File(path) => path.clone(),
        SecretsSource::Inline(_) => PathBuf::new(),
    };
    let pairs = source
        .read(cwd)
        .map_err(|error| ConfigError::Secrets { path, error })?;
    let read = SecretsSource::Inline(pairs.clone());
    options.secrets.map(|source| *source = read);
    Secrets::parse(pairs).map_err(|(entry, reason)| ConfigError::SecretOrigins { entry, reason })
}

fn defaults(options: &mut Options, environment: &Environment, channel: Option<&str>) {
    for def in OPTIONS {
        (def.apply_default)(options);
    }
    // Playwright's packages for other languages set this variable.
    let language = environment.get("PW_LANG_NAME");
    if let Some("python" | "java" | "csharp") = language
        && let Ok(language) = Language::parse(language.unwrap_or_default())
    {
        options.codegen.apply(Source::Default, language);
    }
    options
        .headless
        .apply(Source::Default, !paths::has_display(environment));
    let is_anothers = options.cdp_endpoint.get().is_some() || required(&options.extension);
    let is_headless = options.headless.get() == Some(&true) && !is_anothers;
    let viewport = match is_headless {
        true => Viewport::Fixed(VIEWPORT),
        false => Viewport::Window,
    };
    options.viewport_size.apply(Source::Default, viewport);
    let sandbox = !unsandboxed(channel) && !engine::sandbox_unavailable();
    options.sandbox.apply(Source::Default, sandbox);
    if is_headless {
        options
            .idle_timeout
            .apply(Source::Default, HEADLESS_IDLE_TIMEOUT);
    }
}

/// Returns the absolute path of the configuration file, if one was named.
pub(crate) fn file(options: &Options, cwd: &Path) -> Option<PathBuf> {
    options.config.get().map(|path| cwd.join(path))
}
