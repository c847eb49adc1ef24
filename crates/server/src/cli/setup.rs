//! `playhouse setup`: adds the server to the configuration of an MCP client.

mod clients;
mod entry;
mod file;
mod link;

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use clap::{Arg, ArgMatches, Command, builder::PossibleValuesParser};

use super::{installation::Installation, print, syntax::switch};
use crate::config::{Environment, home};
use clients::{CLIENTS, Client};
use entry::Entry;
use link::LINKS;
pub(super) use link::markdown as links;

pub(super) const NAME: &str = "setup";

pub(super) fn command() -> Command {
    let names = CLIENTS.iter().map(|client| client.name);
    let mut linked = LINKS.map(|(name, ..)| name);
    linked.sort_unstable();
    let mut names: Vec<_> = names.chain(linked).collect();
    names.sort_unstable();
    names.dedup();
    let with_links = linked.join(", ");
    Command::new(NAME)
        .about("Add Playhouse to the configuration of an MCP client, and print what changes")
        .arg(
            Arg::new("client")
                .value_name("CLIENT")
                .required(true)
                .value_parser(PossibleValuesParser::new(names)),
        )
        .arg(
            Arg::new("http")
                .long("http")
                .value_name("URL")
                .help("Connect to a running server, such as http://localhost:8931/mcp, instead of starting one; its key is read from PLAYHOUSE_API_KEY"),
        )
        .arg(
            Arg::new("name")
                .long("name")
                .value_name("NAME")
                .default_value("playhouse")
                .help("The name of the server in the client"),
        )
        .arg(switch("dry-run").help("Print the configuration and write nothing"))
        .arg(
            switch("link")
                .conflicts_with("http")
                .help(format!("Print a link that adds the server with one click, and write nothing ({with_links})")),
        )
        .arg(
            Arg::new("args")
                .value_name("ARGS")
                .num_args(0..)
                .last(true)
                .conflicts_with("http")
                .help("Arguments for the server [default: --headless]"),
        )
}

pub(super) fn run(matches: &ArgMatches, environment: &Environment, cwd: &Path) -> ExitCode {
    match set_up(matches, environment, cwd) {
        Ok(report) => print(&report),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Changes the file, and returns the message about the change.
fn set_up(matches: &ArgMatches, environment: &Environment, cwd: &Path) -> Result<String, String> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let wanted = text("client").unwrap_or_default();
    let name = text("name").unwrap_or_default();
    let entry = match text("http") {
        Some(url) => Entry::Http { url: checked(url)? },
        None => {
            let args = matches.get_many::<String>("args");
            let args = args.map_or_else(
                || vec!["--headless".to_owned()],
                |args| args.cloned().collect(),
            );
            match Installation::of_this(environment) {
                // The program is in a cache.
                Installation::Npx => Entry::npx(args),
                _ => Entry::Stdio {
                    command: program(environment)?,
                    args,
                },
            }
        }
    };
    let client = CLIENTS.iter().find(|client| client.name == wanted);
    if matches.get_flag("link") {
        let link = link::link(&wanted, &name, &entry);
        return link.map(|link| link + "\n").ok_or_else(|| {
            format!("{wanted} has no links; `playhouse setup {wanted}` writes its configuration")
        });
    }
    let client: &Client = client.ok_or_else(|| {
        format!("the configuration of {wanted} is not written; `playhouse setup {wanted} --link` prints a link")
    })?;
    let path = client.path(cwd, &home(environment));
    let before = file::read(&path)?;
    let after = client.add(&before, &name, &entry).map_err(|why| {
        format!(
            "{} cannot be changed: {why}; correct it, or add this by hand:\n{}",
            path.display(),
            client.entry_only(&name, &entry)
        )
    })?;
    let shown = client.entry_only(&name, &entry);
    let report = if after == before {
        format!("{} has this already:\n{shown}", path.display())
    } else if matches.get_flag("dry-run") {
        format!("{} would get:\n{shown}", path.display())
    } else {
        file::write(&path, &after)?;
        format!("Added to {}:\n{shown}\n{}", path.display(), client.next)
    };
    Ok(report.trim_end().to_owned() + "\n")
}

fn checked(url: String) -> Result<String, String> {
    match url::Url::parse(&url) {
        Ok(parsed) if matches!(parsed.scheme(), "http" | "https") => Ok(url),
        _ => Err(format!(
            "--http {url}: not an http or https URL; for example http://localhost:8931/mcp"
        )),
    }
}

/// Returns the command with which a client starts this program: its name if PATH finds it, otherwise its path.
fn program(environment: &Environment) -> Result<String, String> {
    let own = std::env::current_exe()
        .map_err(|error| format!("the path of this program is unknown: {error}"))?;
    let path = environment.get("PATH").unwrap_or_default();
    let name = format!("playhouse{}", std::env::consts::EXE_SUFFIX);
    let found = std::env::split_paths(path)
        .map(|folder| folder.join(&name))
        .find(|path| path.is_file());
    let is_this = |found: &std::path::PathBuf| found.canonicalize().ok() == own.canonicalize().ok();
    Ok(match found.as_ref().is_some_and(is_this) {
        true => "playhouse".to_owned(),
        false => own.display().to_string(),
    })
}
