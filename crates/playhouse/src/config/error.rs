//! What can be wrong with the configuration. Each message is one that a person reads at start.

use std::path::PathBuf;

use super::value::Problem;

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A flag that does not exist.
    #[error("error: unknown option '{flag}'{}", did_you_mean(nearest))]
    UnknownFlag {
        /// As it was written, with its dashes.
        flag: String,
        /// The flag that was perhaps meant.
        nearest: Option<String>,
    },
    /// A word where a command may stand.
    #[error("error: unknown command '{word}'{}", did_you_mean(nearest))]
    UnknownCommand {
        /// As it was written.
        word: String,
        /// The command that was perhaps meant.
        nearest: Option<String>,
    },
    /// A flag without its value.
    #[error("error: option '{flag}' argument missing")]
    MissingValue {
        /// The flag and what should follow it.
        flag: String,
    },
    /// A command line that is wrong in another way.
    #[error("error: {0}")]
    Usage(String),
    /// A value that its option cannot have.
    #[error("{}", invalid(name, text, problem))]
    Invalid {
        /// The flag, variable, or key that has it.
        name: String,
        /// The value.
        text: String,
        /// What is wrong with it.
        problem: Problem,
    },
    /// A key of the configuration file that does not exist.
    #[error("unknown key '{key}' in {}{}", path.display(), did_you_mean(nearest))]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The key, dotted.
        key: String,
        /// The key that was perhaps meant.
        nearest: Option<String>,
    },
    /// A configuration file that cannot be read.
    #[error("cannot read the configuration file {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A configuration file that is neither JSON nor INI.
    #[error("cannot parse the configuration file {}: {reason}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where, and what was expected.
        reason: String,
    },
    /// A rule of `--tools` about a tool that does not exist.
    #[error("unknown tool '{name}' in --tools{}", did_you_mean(nearest))]
    UnknownTool {
        /// As it was written, without its sign.
        name: String,
        /// The tool that was perhaps meant.
        nearest: Option<String>,
    },
    /// An option of a later release.
    #[error("option '{name}' is not supported yet: {why}")]
    NotYet {
        /// The flag, variable, or key that has it.
        name: String,
        /// What to do instead, or what is missing.
        why: String,
    },
    /// Two devices at once.
    #[error("Cannot use --mobile together with --device, pick one.")]
    MobileAndDevice,
    /// A phone that the browser cannot be.
    #[error("--mobile is not supported with the {browser} browser.")]
    NotMobile {
        /// As people call it.
        browser: &'static str,
    },
    /// The browser speaks another protocol.
    #[error("--cdp-endpoint is not supported with the {browser} browser.")]
    NotOverCdp {
        /// As people call it.
        browser: &'static str,
    },
    /// Two browsers that run elsewhere.
    #[error("Cannot use --cdp-endpoint together with --webdriver-endpoint, pick one.")]
    TwoEndpoints,
    /// More browsers to start than there may be.
    #[error(
        "--min-browsers {min} is more than --max-browsers {max}: raise one, or lower the other"
    )]
    TooFewBrowsers {
        /// How many are to run from the start.
        min: usize,
        /// How many there may be.
        max: usize,
    },
    /// A device for a browser that somebody else started.
    #[error("Device emulation is not supported with cdpEndpoint.")]
    DeviceOverCdp,
    /// A profile on disk and in memory.
    #[error("Browser userDataDir is not supported in isolated mode.")]
    ProfileAndIsolated,
    /// The root of the file system as output folder.
    #[error("--output-dir cannot point to a system directory: {}.", _0.display())]
    SystemOutputFolder(PathBuf),
    /// A file of secrets that cannot be read.
    #[error("cannot read the secrets of {}: {error}", path.display())]
    Secrets {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Origins of a secret that are none.
    #[error("{entry} of the secrets is wrong: {reason}")]
    SecretOrigins {
        /// The name of the entry.
        entry: String,
        /// Why.
        reason: String,
    },
    /// Safe mode, and something that it excludes.
    #[error("{safe} and {other} contradict each other: leave one of them out")]
    NotSafe {
        /// What switched safe mode on.
        safe: String,
        /// The flag, variable or key that says otherwise.
        other: String,
    },
    /// Safe mode without domains.
    #[error(
        "{safe} needs --allowed-domains, the domains that pages may reach:\n  playhouse --safe --allowed-domains example.com,*.example.com"
    )]
    NoDomains {
        /// What switched safe mode on.
        safe: String,
    },
    /// Safe mode with all domains.
    #[error(
        "{safe} and \"{pattern}\", which allows any domain, contradict each other: name the domains that pages may reach"
    )]
    AnyDomain {
        /// What switched safe mode on.
        safe: String,
        /// The domain or origin.
        pattern: String,
    },
    /// Safe mode with secrets that may be typed anywhere.
    #[error(
        "--safe needs the origins of each secret, which are missing for {}: add NAME__ORIGINS=https://example.com to the secrets",
        names.join(", ")
    )]
    UnboundSecrets {
        /// Their names.
        names: Vec<String>,
    },
    /// HTTP without a port.
    #[error(
        "transport http needs a port: give --port, or \"port\" in the file (0 for any that is free)"
    )]
    NoPort,
    /// A certificate without its key, or a key alone.
    #[error("--tls-cert and --tls-key belong together: give both or none")]
    HalfTls,
    /// An option for another way to authenticate.
    #[error("{option} has no effect with --auth {mode}: leave one of them out")]
    NotOfThisAuth {
        /// The way that was chosen.
        mode: &'static str,
        /// The option.
        option: &'static str,
    },
    /// A key that everybody has, or nobody can send.
    #[error(
        "--api-key must be visible ASCII characters, as headers have them, without spaces: give such a key, or leave it out to have one made"
    )]
    BadApiKey,
    /// Tokens, but nobody's.
    #[error("--auth oauth needs --oauth-issuer: the URL of the authorization server")]
    NoIssuer,
    /// An issuer that could be anybody.
    #[error(
        "--oauth-issuer {0} must be an https URL without a query (http is allowed for loopback addresses only)"
    )]
    Issuer(String),
    /// A resource that is none.
    #[error("--oauth-resource {0} must be an absolute URL without a fragment")]
    Resource(String),
    /// A browser for everybody on the network.
    #[error(
        "--auth none on {0} would let everybody in who gets there: ask for a key (--auth api-key), listen on localhost, or say --insecure"
    )]
    OpenToAll(String),
    /// A proxy that cannot be one, in words.
    #[error("{0} (--proxy-server, --proxy-bypass, --proxy-username, --proxy-password)")]
    Proxy(String),
    /// Local files in pages, on a server whose principals must not see each other's.
    #[error(
        "{option} has no place on a server with --api-keys or OAuth: pages of local files would show the files of all principals. Leave it out; --readable-roots lists folders that all may read"
    )]
    ShowsFilesOfOthers {
        /// The option.
        option: &'static str,
    },
    /// A server of the app under test that cannot be one.
    #[error("devServers.{name}: {reason}")]
    DevServer {
        /// Its name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Reports to a file that nobody named.
    #[error("logging.destination is \"file\", and logging.file names none.")]
    NoLogFile,
    /// A file for reports that cannot be written.
    #[error("cannot write the log {}: {error}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// An init script that is not there.
    #[error("Init script file does not exist: {}", _0.display())]
    NoInitScript(PathBuf),
    /// An init page that is not there.
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
