//! `--safe`: the options that safe mode sets, and those that it excludes.

use std::fmt::Write as _;

use serde_json::Value;

use super::super::{
    error::ConfigError,
    layered::Source,
    options::{OPTIONS, Options},
    secrets::Secrets,
    table::OptionDef,
};

/// An option that safe mode sets.
struct Implied {
    option: &'static str,
    /// The value, in the syntax of an environment variable.
    value: &'static str,
    /// The description in the help of `--safe`.
    effect: &'static str,
}

/// The options that safe mode sets.
const IMPLIED: [Implied; 6] = [
    Implied {
        option: "block_private_addresses",
        value: "true",
        effect: "Pages reach no address that is private, of this machine, or of a cloud's metadata service, unless --allowed-domains names it literally.",
    },
    Implied {
        option: "enable_script_evaluation",
        value: "false",
        effect: "No tool runs code of the client, in pages or beside them, and no javascript: URL is opened.",
    },
    Implied {
        option: "client_paths",
        value: "false",
        effect: "Clients name no files: none is read for them, and what tools write goes to the output folder under names that the server chooses. Files for pages are given inline (upload_file).",
    },
    Implied {
        option: "allow_unrestricted_file_access",
        value: "false",
        effect: "Files outside the workspace are not touched, and no file: URL is opened.",
    },
    Implied {
        option: "quarantine_downloads",
        value: "true",
        effect: "Downloads go to a folder \"quarantine\" with mode 0700, with a suffix that no program opens, and are not listed as resources.",
    },
    Implied {
        option: "deny_permissions",
        value: "true",
        effect: "What pages ask permission for (location, camera, notifications, …) is denied.",
    },
];

/// The options that are an error in safe mode.
const EXCLUDED: [&str; 6] = [
    "allowed_schemes",
    "readable_roots",
    "grant_permissions",
    "cdp_endpoint",
    "extension",
    "webdriver_endpoint",
];

/// The requirement of safe mode about secrets.
const SECRETS: &str =
    "Each secret has to name the origins that it may be typed into (NAME__ORIGINS).";

/// Sets the options of safe mode if it is on. Fails if another option contradicts it or if the allowed domains are missing.
pub(super) fn apply(options: &mut Options) -> Result<(), ConfigError> {
    if options.safe.get() != Some(&true) {
        return Ok(());
    }
    let safe = def("safe");
    let source = options.safe.source().cloned().unwrap_or(Source::Default);
    let contradicts = |other: &OptionDef, by: &Source| ConfigError::NotSafe {
        safe: source_name(safe, &source),
        other: source_name(other, by),
    };
    for Implied { option, value, .. } in &IMPLIED {
        let def = def(option);
        let wanted = Value::Bool(*value == "true");
        match (def.get)(options) {
            Some((value, by)) if value != wanted => return Err(contradicts(def, by)),
            _ => {}
        }
        (def.apply_text)(options, source.clone(), value).expect("it is a switch");
    }
    for option in EXCLUDED {
        let def = def(option);
        match (def.get)(options) {
            None | Some((Value::Bool(false), _)) => {}
            Some((Value::Array(list), _)) if list.is_empty() => {}
            Some((_, by)) => return Err(contradicts(def, by)),
        }
    }
    domains(options, &source_name(safe, &source))
}

/// Fails if safe mode is on and a secret has no origins.
pub(super) fn check_secrets(options: &Options, secrets: &Secrets) -> Result<(), ConfigError> {
    if options.safe.get() != Some(&true) {
        return Ok(());
    }
    let names: Vec<_> = secrets.without_origins().map(str::to_owned).collect();
    match names.is_empty() {
        true => Ok(()),
        false => Err(ConfigError::UnboundSecrets { names }),
    }
}

/// Fails if no domains are allowed, or any domain.
fn domains(options: &Options, safe: &str) -> Result<(), ConfigError> {
    let domains = options.allowed_domains.or_empty().0;
    if domains.is_empty() {
        return Err(ConfigError::NoDomains {
            safe: safe.to_owned(),
        });
    }
    let origins = options.allowed_origins.or_empty().0;
    let is_any = |pattern: &&String| {
        let host = pattern
            .split_once("://")
            .map_or(&***pattern, |(_, host)| host);
        let host = host.split(':').next().unwrap_or_default();
        !host.starts_with('[') && !host.contains(char::is_alphanumeric)
    };
    match domains.iter().chain(&origins).find(is_any) {
        Some(pattern) => Err(ConfigError::AnyDomain {
            safe: safe.to_owned(),
            pattern: pattern.clone(),
        }),
        None => Ok(()),
    }
}

/// The permissions that a preference of Firefox denies without a prompt.
const DENIALS: [&str; 5] = [
    "permissions.default.camera",
    "permissions.default.desktop-notification",
    "permissions.default.geo",
    "permissions.default.microphone",
    "permissions.default.xr",
];

/// Returns the preferences with which Firefox denies requests for permissions.
pub(super) fn denials(deny: bool) -> impl Iterator<Item = (String, Value)> {
    // 2 is `nsIPermissionManager::DENY_ACTION`.
    let denials = DENIALS.into_iter().filter(move |_| deny);
    denials.map(|name| (name.to_owned(), Value::from(2)))
}

/// Returns the text that `playhouse --safe --help` prints.
pub(crate) fn help() -> String {
    let mut text = String::from(
        "--safe is for agents that work on sites where you are logged in. It needs --allowed-domains:\n\n  \
         playhouse --safe --allowed-domains example.com,*.example.com\n\nIt is the same as\n",
    );
    for Implied {
        option,
        value,
        effect,
    } in &IMPLIED
    {
        let flag = def(option).long();
        let no = if *value == "true" { "" } else { "no-" };
        let _ = write!(text, "\n  --{no}{flag}\n      {effect}\n");
    }
    let excluded = EXCLUDED.map(|option| format!("--{}", def(option).long()));
    let _ = write!(
        text,
        "\n{SECRETS}\nWhat contradicts that is refused, wherever it is said; so are {}.\n",
        excluded.join(", ")
    );
    text
}

fn def(name: &str) -> &'static OptionDef {
    let mut options = OPTIONS.iter();
    options
        .find(|def| def.name == name)
        .expect("the table has it")
}

/// Returns the flag, variable or key that set the option.
fn source_name(def: &OptionDef, source: &Source) -> String {
    match source {
        Source::Flag(name) | Source::Environment(name) => name.clone(),
        Source::File(_) | Source::Background | Source::Default => {
            def.keys().next().unwrap_or(def.name).to_owned()
        }
    }
}
