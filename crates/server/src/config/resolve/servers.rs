//! Resolves the servers of the app under test.

use std::{collections::BTreeMap, path::Path, time::Duration};

use super::required;
use crate::config::{
    error::ConfigError,
    layered::Layered,
    options::Options,
    settings::{DevServerSettings, DevServers},
    value::{CommandLine, Milliseconds, NamedServer},
};

/// The name of the server of `--server-command`.
const DEFAULT_NAME: &str = "app";

/// The longest time for the stop that is a part of a restart.
const RESTART_STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the servers, each after those that it requires. `leases` is the folder of their lease files.
pub(super) fn servers(
    options: &Options,
    cwd: &Path,
    leases: &Path,
) -> Result<DevServers, ConfigError> {
    let mut named = options.dev_servers.value().unwrap_or_default().0;
    if let Some(CommandLine(line)) = options.server_command.value() {
        let only = NamedServer {
            command: line,
            url: None,
            args: None,
            cwd: None,
            env: BTreeMap::new(),
            ready_timeout: None,
            idle_timeout: None,
            requires: Vec::new(),
        };
        if named.insert(DEFAULT_NAME.to_owned(), only).is_some() {
            return Err(invalid(DEFAULT_NAME, "--server-command is called that too"));
        }
    }
    let mut servers = Vec::new();
    for name in named.keys() {
        add(name, &named, options, cwd, &mut Vec::new(), &mut servers)?;
    }
    Ok(DevServers {
        servers,
        leases: leases.to_owned(),
    })
}

fn add(
    name: &str,
    named: &BTreeMap<String, NamedServer>,
    options: &Options,
    cwd: &Path,
    dependents: &mut Vec<String>,
    servers: &mut Vec<DevServerSettings>,
) -> Result<(), ConfigError> {
    if servers.iter().any(|server| server.name == name) {
        return Ok(());
    }
    if dependents.iter().any(|other| other == name) {
        return Err(invalid(name, "it requires itself, by way of others"));
    }
    let Some(server) = named.get(name) else {
        let by = dependents.last().map(String::as_str).unwrap_or_default();
        return Err(invalid(
            by,
            &format!("it requires \"{name}\", which is not there"),
        ));
    };
    dependents.push(name.to_owned());
    for other in &server.requires {
        add(other, named, options, cwd, dependents, servers)?;
    }
    dependents.pop();
    servers.push(resolved(name, server, options, cwd)?);
    Ok(())
}

fn resolved(
    name: &str,
    server: &NamedServer,
    options: &Options,
    cwd: &Path,
) -> Result<DevServerSettings, ConfigError> {
    let folder = cwd.join(server.cwd.as_deref().unwrap_or_default());
    let url = match (&server.url, address(&server.command)) {
        (Some(_), _) if !server.command.is_empty() => {
            return Err(invalid(
                name,
                "it has a command and a url: one of them is enough",
            ));
        }
        (Some(url), _) => match address(url) {
            Some(url) => Some(url),
            None => return Err(invalid(name, "its url must be an http or https URL")),
        },
        (None, url) => url,
    };
    let mut command = match &server.args {
        Some(args) => {
            let program = [server.command.clone()].into_iter();
            program.chain(args.iter().cloned()).collect()
        }
        None => CommandLine(server.command.clone()).words(&folder),
    };
    match command.first_mut() {
        Some(program) if !program.is_empty() => {
            // A bare name is resolved with PATH, any other program relative to the folder of the server.
            let is_path = program.contains(['/', '\\']) || folder.join(&*program).is_file();
            if is_path {
                *program = folder.join(&*program).display().to_string();
            }
        }
        _ if url.is_some() => {}
        _ => return Err(invalid(name, "its command is empty")),
    }
    let limit = |option: &Layered<Milliseconds>, own: Option<u64>| -> Duration {
        own.map_or_else(|| required(option).into(), Duration::from_millis)
    };
    let start = limit(&options.server_start_timeout, server.ready_timeout);
    let restart = match server.ready_timeout {
        Some(_) => start + RESTART_STOP_TIMEOUT,
        None => limit(&options.server_restart_timeout, None),
    };
    let Milliseconds(idle) = required(&options.server_idle_timeout);
    let idle = server.idle_timeout.unwrap_or(idle);
    Ok(DevServerSettings {
        name: name.to_owned(),
        command,
        url,
        cwd: folder,
        env: server.env.clone().into_iter().collect(),
        requires: server.requires.clone(),
        start,
        restart,
        status: limit(&options.server_status_timeout, None),
        shutdown: limit(&options.server_shutdown_timeout, None),
        idle: (idle > 0).then(|| Duration::from_millis(idle)),
    })
}

/// Returns the text if it is the URL of an app that runs already.
fn address(text: &str) -> Option<String> {
    let url = url::Url::parse(text).ok()?;
    let is_address = matches!(url.scheme(), "http" | "https") && url.has_host();
    is_address.then(|| text.trim_end_matches('/').to_owned())
}

fn invalid(name: &str, reason: &str) -> ConfigError {
    ConfigError::DevServer {
        name: name.to_owned(),
        reason: reason.to_owned(),
    }
}
