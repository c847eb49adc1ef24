//! Errors of the configuration, which are printed on stderr when the server does not start.

use std::path::PathBuf;

use super::value::Problem;

/// Why the configuration is invalid.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// There is no such flag.
    #[error("error: unknown option '{flag}'{}", did_you_mean(nearest))]
    UnknownFlag {
        /// The flag as it was written, with its dashes.
        flag: String,
        /// The flag with the most similar spelling.
        nearest: Option<String>,
    },
    /// There is no such command.
    #[error("error: unknown command '{word}'{}", did_you_mean(nearest))]
    UnknownCommand {
        /// The word as it was written.
        word: String,
        /// The command with the most similar spelling.
        nearest: Option<String>,
    },
    /// A flag has no value.
    #[error("error: option '{flag}' argument missing")]
    MissingValue {
        /// The flag and the placeholder of its value.
        flag: String,
    },
    /// The command line is invalid for another reason, which the text describes.
    #[error("error: {0}")]
    Usage(String),
    /// A value is not valid for its option.
    #[error("{}", invalid(name, text, problem))]
    Invalid {
        /// The flag, variable or key of the option.
        name: String,
        /// The value as it was written.
        text: String,
        /// Why the value is not valid.
        problem: Problem,
    },
    /// An environment variable has the prefix of options, and no option has it.
    #[error("unknown environment variable {name}{}", did_you_mean(nearest))]
    UnknownVariable {
        /// The name of the variable.
        name: String,
        /// The known variable with the most similar name.
        nearest: Option<String>,
    },
    /// The configuration file has a key that no option has.
    #[error("unknown key '{key}' in {}{}", path.display(), did_you_mean(nearest))]
    UnknownKey {
        /// The path of the configuration file.
        path: PathBuf,
        /// The dotted key.
        key: String,
        /// The key with the most similar spelling.
        nearest: Option<String>,
    },
    /// The configuration file cannot be read.
    #[error("cannot read the configuration file {}: {error}", path.display())]
    Unreadable {
        /// The path of the configuration file.
        path: PathBuf,
        /// The error of the file system.
        error: std::io::Error,
    },
    /// The configuration file is neither valid JSON nor valid INI.
    #[error("cannot parse the configuration file {}: {reason}", path.display())]
    Syntax {
        /// The path of the configuration file.
        path: PathBuf,
        /// The position, and what was expected there.
        reason: String,
    },
    /// A rule of `--tools` names a tool that does not exist.
    #[error("unknown tool '{name}' in --tools{}", did_you_mean(nearest))]
    UnknownTool {
        /// The name as it was written, without its sign.
        name: String,
        /// The tool with the most similar spelling.
        nearest: Option<String>,
    },
    /// This release does not support the option.
    #[error("option '{name}' is not supported yet: {why}")]
    NotYet {
        /// The flag, variable or key of the option.
        name: String,
        /// What to do instead, or what is missing.
        why: String,
    },
    /// A certificate cannot be used.
    #[error("{name}: {reason}")]
    Certificate {
        /// The flag or key of the option.
        name: &'static str,
        /// The reason, with the path of the file.
        reason: String,
    },
    /// Both `--mobile` and `--device` are set.
    #[error("Cannot use --mobile together with --device, pick one.")]
    MobileAndDevice,
    /// The browser cannot emulate a phone.
    #[error("--mobile is not supported with the {browser} browser.")]
    NotMobile {
        /// The name of the browser for users.
        browser: &'static str,
    },
    /// The browser does not support CDP.
    #[error("--cdp-endpoint is not supported with the {browser} browser.")]
    NotOverCdp {
        /// The name of the browser for users.
        browser: &'static str,
    },
    /// `--webdriver-endpoint` with WebKit.
    #[error(
        "--webdriver-endpoint is not supported with the WebKit browser, which is driven over a connection of its own that no WebDriver server forwards: use chromium or firefox there, or leave --webdriver-endpoint out."
    )]
    NotOverWebDriver,
    /// `--extension` with a browser that has no such extension.
    #[error("--extension is not supported with the {browser} browser.")]
    NoExtension {
        /// The browser.
        browser: &'static str,
    },
    /// `--extension` with an option that the user's own browser cannot fulfil.
    #[error("Cannot use {option} together with --extension, pick one.")]
    NotWithExtension {
        /// The other option.
        option: String,
    },
    /// Both `--cdp-endpoint` and `--webdriver-endpoint` are set.
    #[error("Cannot use --cdp-endpoint together with --webdriver-endpoint, pick one.")]
    TwoEndpoints,
    /// `--min-browsers` is greater than `--max-browsers`.
    #[error(
        "--min-browsers {min} is more than --max-browsers {max}: raise one, or lower the other"
    )]
    TooFewBrowsers {
        /// The value of `--min-browsers`.
        min: usize,
        /// The value of `--max-browsers`.
        max: usize,
    },
    /// A device cannot be emulated in a browser that Playhouse did not start.
    #[error("Device emulation is not supported with cdpEndpoint.")]
    DeviceOverCdp,
    /// A profile on disk is set in isolated mode, which keeps the profile in memory.
    #[error("Browser userDataDir is not supported in isolated mode.")]
    ProfileAndIsolated,
    /// The output folder is the root of the file system.
    #[error("--output-dir cannot point to a system directory: {}.", _0.display())]
    SystemOutputFolder(PathBuf),
    /// The secrets file cannot be read.
    #[error("cannot read the secrets of {}: {error}", path.display())]
    Secrets {
        /// The path of the secrets file.
        path: PathBuf,
        /// The error of the file system.
        error: std::io::Error,
    },
    /// The origins of a secret are invalid.
    #[error("{entry} of the secrets is wrong: {reason}")]
    SecretOrigins {
        /// The name of the entry.
        entry: String,
        /// Why the origins are invalid.
        reason: String,
    },
    /// An option contradicts safe mode.
    #[error("{safe} and {other} contradict each other: leave one of them out")]
    NotSafe {
        /// The flag, variable or key that turned on safe mode.
        safe: String,
        /// The flag, variable or key that contradicts safe mode.
        other: String,
    },
    /// Safe mode is on without allowed domains.
    #[error(
        "{safe} needs --allowed-domains, the domains that pages may reach:\n  playhouse --safe --allowed-domains example.com,*.example.com"
    )]
    NoDomains {
        /// The flag, variable or key that turned on safe mode.
        safe: String,
    },
    /// Safe mode is on and any domain is allowed.
    #[error(
        "{safe} and \"{pattern}\", which allows any domain, contradict each other: name the domains that pages may reach"
    )]
    AnyDomain {
        /// The flag, variable or key that turned on safe mode.
        safe: String,
        /// The pattern that matches any domain or origin.
        pattern: String,
    },
    /// Safe mode is on and secrets have no origins.
    #[error(
        "--safe needs the origins of each secret, which are missing for {}: add NAME__ORIGINS=https://example.com to the secrets",
        names.join(", ")
    )]
    UnboundSecrets {
        /// The names of the secrets.
        names: Vec<String>,
    },
    /// The transport is HTTP and no port is set.
    #[error(
        "transport http needs a port: give --port, or \"port\" in the file (0 for any that is free)"
    )]
    NoPort,
    /// Only one of the TLS certificate and its key is set.
    #[error("--tls-cert and --tls-key belong together: give both or none")]
    HalfTls,
    /// An option belongs to another mode of authentication.
    #[error("{option} has no effect with --auth {mode}: leave one of them out")]
    NotOfThisAuth {
        /// The mode that was chosen.
        mode: &'static str,
        /// The option.
        option: &'static str,
    },
    /// The API key is empty or cannot be sent in a header.
    #[error(
        "--api-key must be visible ASCII characters, as headers have them, without spaces: give such a key, or leave it out to have one made"
    )]
    BadApiKey,
    /// The mode is OAuth and no issuer is set.
    #[error("--auth oauth needs --oauth-issuer: the URL of the authorization server")]
    NoIssuer,
    /// The issuer is neither an https URL nor an http URL of a loopback address, or it has a query or a fragment.
    #[error(
        "--oauth-issuer {0} must be an https URL without a query (http is allowed for loopback addresses only)"
    )]
    Issuer(String),
    /// The OAuth resource is not a valid URI.
    #[error("--oauth-resource {0} must be an absolute URL without a fragment")]
    Resource(String),
    /// Authentication is off on an address that other machines can reach.
    #[error(
        "--auth none on {0} would let everybody in who gets there: ask for a key (--auth api-key), listen on localhost, or say --insecure"
    )]
    OpenToAll(String),
    /// The upstream proxy is invalid, for the reason in the text.
    #[error("{0} (--proxy-server, --proxy-bypass, --proxy-username, --proxy-password)")]
    Proxy(String),
    /// Pages can show local files on a server with several principals, who must not read each other's files.
    #[error(
        "{option} has no place on a server with --api-keys or OAuth: pages of local files would show the files of all principals. Leave it out; --readable-roots lists folders that all may read"
    )]
    ShowsFilesOfOthers {
        /// The option that allows local files.
        option: &'static str,
    },
    /// A server of the app under test is invalid.
    #[error("devServers.{name}: {reason}")]
    DevServer {
        /// The name of the server.
        name: String,
        /// Why the server is invalid.
        reason: String,
    },
    /// The URL of an option is not one of HTTP.
    #[error("{option} is \"{text}\": expected a URL such as http://localhost:4318")]
    NotHttp {
        /// The flag of the option.
        option: &'static str,
        /// The value of the option.
        text: String,
    },
    /// A variable of OpenTelemetry is invalid.
    #[error("cannot export traces: {0}")]
    Traces(String),
    /// The log destination is a file and no file is set.
    #[error("logging.destination is \"file\", and logging.file names none.")]
    NoLogFile,
    /// The log file cannot be written.
    #[error("cannot write the log {}: {error}", path.display())]
    Log {
        /// The path of the log file.
        path: PathBuf,
        /// The error of the file system.
        error: std::io::Error,
    },
    /// The init script at this path does not exist.
    #[error("Init script file does not exist: {}", _0.display())]
    NoInitScript(PathBuf),
    /// The init page at this path does not exist.
    #[error("Init page file does not exist: {}", _0.display())]
    NoInitPage(PathBuf),
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map(|nearest| format!("\nDid you mean '{nearest}'?"))
        .unwrap_or_default()
}

fn invalid(name: &str, text: &str, problem: &Problem) -> String {
    match problem {
        Problem::NotOneOf(words) => {
            format!(
                "Invalid {name}: {text}. Valid values are: {}",
                words.join(", ")
            )
        }
        Problem::Resolution => format!("Invalid resolution format: use {name}=\"800x600\""),
        Problem::Expected(what) => format!("Invalid {name}: {text}. Expected {what}"),
    }
}
