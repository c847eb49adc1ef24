//! `playhouse app`: a server command for any dev command. It always writes one JSON object to stdout.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use sha2::{Digest, Sha256};

use super::{print, wait};
use crate::config::{ConfigError, Environment, apps_folder};
use supervisor::{
    Answer, App, AppEntry, AppError, Request, SUPERVISOR, close_inherited_files, follow, list,
    owners, supervise,
};

pub(super) const NAME: &str = "app";
const OPTIONS: [&str; 4] = ["start", "restart", "status", "shutdown"];
const FULL: &str = "\
Starts COMMAND as a dev server, or restarts, checks or stops it, and answers with one JSON object: a
server command as --server-command expects it. COMMAND gets a free port in the variable PORT and
by {port} in its arguments. It goes on after this command has ended, until --shutdown.

The last argument of the line, if it is --start, --restart, --status or --shutdown, is always an
option of `playhouse app`, after COMMAND too: callers of a server command put it there.";

pub(super) fn command() -> Command {
    let text = |name: &'static str, value: &'static str, default: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name(value)
            .default_value(default)
    };
    let number = |name, value, default| text(name, value, default).value_parser(value_parser!(u64));
    let option = |name: &'static str| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .overrides_with_all(OPTIONS)
    };
    Command::new(NAME)
        .about("Run a dev server: start, restart, check or stop it, and answer with JSON")
        .long_about(FULL)
        .args([
            option("start").help("Start it, and wait until it answers (the default)"),
            option("restart").help("Stop it, and start it"),
            option("status").help("Say whether it runs and answers"),
            option("shutdown").help("Stop it"),
            Arg::new("list")
                .long("list")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(OPTIONS)
                .help("List all apps of this user"),
            Arg::new("logs")
                .long("logs")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(OPTIONS)
                .help("Print what it has printed"),
            Arg::new("follow")
                .long("follow")
                .short('f')
                .action(ArgAction::SetTrue)
                .requires("logs")
                .help("With --logs: go on with what it prints"),
            Arg::new("restart-on-crash")
                .long("restart-on-crash")
                .action(ArgAction::SetTrue)
                .help("Start it again when it crashes, unless that is in its first two seconds"),
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .help("Answer with JSON in a terminal, too"),
            text("name", "NAME", "app").help("The name of the app, unique in its project"),
            Arg::new("cwd")
                .long("cwd")
                .value_name("DIR")
                .help("Where the project is [default: the current folder]"),
            text("port-env", "VARIABLE", "PORT").help("The environment variable that holds the port"),
            Arg::new("ready-pattern")
                .long("ready-pattern")
                .value_name("REGEX")
                .allow_hyphen_values(true)
                .help("What it prints when it is ready, instead of asking it; a group (?<port>) or (?<url>) says where it is"),
            text("ready-path", "PATH", "/").help("What to ask it for"),
            number("ready-timeout", "MS", "25000").help("How long it may take to be ready"),
            number("stop-timeout", "MS", "10000").help("How long it may take to end before it is killed"),
            number("log-limit", "BYTES", "5000000").help("How large a log becomes before a new one begins; three old ones are kept"),
            // Accepted only to report the replacement.
            Arg::new("port")
                .long("port")
                .value_name("PORT")
                .hide(true),
            Arg::new("command")
                .value_name("COMMAND")
                .num_args(0..)
                .last(true)
                .help("The program and its arguments; a single one with spaces is a line for the shell"),
        ])
}

/// The supervisor of an app, which only `playhouse app` runs.
pub(super) fn supervisor() -> Command {
    Command::new(SUPERVISOR)
        .hide(true)
        .about("Look after an app: what `playhouse app` starts")
        .arg(Arg::new("folder").value_name("FOLDER").required(true))
}

/// Moves an option from the end of the line, where callers of a server command put it, before the `--` that begins the app's arguments.
pub(super) fn move_options_forward(words: &mut Vec<String>) {
    let Some(dashes) = words.iter().position(|word| word == "--") else {
        return;
    };
    let ours = words[..dashes].iter().any(|word| word == NAME);
    let last = words.last().and_then(|word| Request::of_option(word));
    if ours
        && last.is_some()
        && let Some(option) = words.pop()
    {
        words.insert(dashes, option);
    }
}

pub(super) async fn run(matches: &ArgMatches, environment: &Environment, cwd: &Path) -> ExitCode {
    let is_for_people = io::stdout().is_terminal() && !matches.get_flag("json");
    if matches.get_flag("list") {
        let apps = list(&apps_folder(environment));
        return print(&match is_for_people {
            true => table(&apps),
            false => serde_json::to_string(&apps).unwrap_or_default() + "\n",
        });
    }
    let app = match app(matches, environment, cwd) {
        Ok(app) => app,
        Err(error) => return print_answer(&Answer::error(&error), is_for_people),
    };
    if matches.get_flag("logs") {
        return match follow(&app.folder, matches.get_flag("follow"), io::stdout()).await {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let (name, folder) = (&app.name, app.folder.display());
                let _ = writeln!(
                    io::stderr(),
                    "cannot read the log of the app \"{name}\" in {folder}: {error}"
                );
                ExitCode::FAILURE
            }
            _ => ExitCode::SUCCESS,
        };
    }
    print_answer(&app.answer(request(matches)).await, is_for_people)
}

/// Formats apps as a table.
fn table(apps: &[AppEntry]) -> String {
    if apps.is_empty() {
        return "No apps\n".to_owned();
    }
    let line = |app: &AppEntry| {
        let AppEntry { name, status, .. } = app;
        let url = app.url.as_deref().unwrap_or("-");
        format!("{name:<16} {status:<9} {url:<28} {}\n", app.cwd.display())
    };
    apps.iter().map(line).collect()
}

pub(super) fn run_supervisor() -> ExitCode {
    close_inherited_files();
    wait(async {
        match supervise().await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let _ = writeln!(io::stderr(), "{error}");
                ExitCode::FAILURE
            }
        }
    })
}

/// Reports an error of the command line.
pub(super) fn refuse(error: &ConfigError) -> ExitCode {
    let text = error.to_string();
    let text = text.trim_start_matches("error: ").to_owned();
    print_answer(
        &Answer::error(&AppError::Usage(text)),
        io::stdout().is_terminal(),
    )
}

fn print_answer(answer: &Answer, is_for_people: bool) -> ExitCode {
    print(&match is_for_people {
        true => answer.text(),
        false => answer.line(),
    });
    if answer.is_success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn request(matches: &ArgMatches) -> Request {
    let given = OPTIONS.into_iter().find(|name| matches.get_flag(name));
    let option = given.map(|name| format!("--{name}"));
    let request = option.as_deref().and_then(Request::of_option);
    request.unwrap_or(Request::Start)
}

fn app(matches: &ArgMatches, environment: &Environment, cwd: &Path) -> Result<App, AppError> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let number = |name: &str| matches.get_one::<u64>(name).copied().unwrap_or_default();
    if text("port").is_some() {
        let why = "--port is not for an app, which gets a free one: write {port} where its command has one";
        return Err(AppError::Usage(why.to_owned()));
    }
    let name = text("name").unwrap_or_default();
    let plain = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    if !name.starts_with(|char: char| char.is_ascii_alphanumeric()) || !name.chars().all(plain) {
        let why = format!("--name {name}: letters, digits, `-`, `_` and `.` make a name");
        return Err(AppError::Usage(why));
    }
    let cwd = cwd.join(text("cwd").unwrap_or_default());
    let cwd = fs::canonicalize(&cwd)
        .map_err(|error| AppError::Usage(format!("--cwd {}: {error}", cwd.display())))?;
    let ready_path = text("ready-path").unwrap_or_default();
    Ok(App {
        owners: environment.path(owners::FOLDER),
        folder: apps_folder(environment).join(project(&cwd)).join(&name),
        name,
        cwd,
        command: matches
            .get_many::<String>("command")
            .into_iter()
            .flatten()
            .cloned()
            .collect(),
        port_env: text("port-env").unwrap_or_default(),
        ready_pattern: text("ready-pattern"),
        ready_path: format!("/{}", ready_path.trim_start_matches('/')),
        ready_timeout: Duration::from_millis(number("ready-timeout")),
        stop_timeout: Duration::from_millis(number("stop-timeout")),
        restart_on_crash: matches.get_flag("restart-on-crash"),
        log_limit: number("log-limit").max(1),
    })
}

/// Returns the name of a project's folder: its last component for users, and a digest that makes it unique.
fn project(cwd: &Path) -> PathBuf {
    let digest = Sha256::digest(cwd.as_os_str().as_encoded_bytes());
    let digest: String = digest
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let last = cwd.file_name().unwrap_or_default().to_string_lossy();
    PathBuf::from(format!("{last}-{digest}"))
}
