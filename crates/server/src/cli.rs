//! The command line: selecting the command and its settings. `serve` is the command without a name.

#[cfg(unix)]
mod app;
mod arguments;
mod audit;
#[cfg(unix)]
mod background;
#[cfg(unix)]
mod call;
mod completions;
#[cfg(unix)]
mod do_command;
mod doctor;
mod install;
mod installation;
mod log;
mod manual;
mod memory;
mod platform;
mod process;
#[cfg(unix)]
mod run_command;
mod setup;
mod show;
#[cfg(unix)]
mod skill;
mod syntax;
mod terminal;
mod tools;
mod try_command;
mod upgrade;

use std::{
    array, env,
    io::{self, Write},
    path::Path,
    process::ExitCode,
    thread,
    time::Duration,
};

use clap::ArgMatches;
use tokio::runtime::Handle;

use crate::config::{Config, ConfigError, Environment};
#[cfg(unix)]
use crate::error::ErrorClass;
use crate::toolbox::Toolbox;

/// Returns the links of the documentation that add the server to a client, as Markdown.
pub fn client_links() -> String {
    setup::links()
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let cwd = env::current_dir().unwrap_or_else(|_| env::temp_dir());
    let environment = Environment::of_process();
    #[cfg(unix)]
    if env::args_os()
        .nth(1)
        .is_some_and(|word| word == do_command::NAME)
    {
        return do_command::run(env::args_os().skip(2).collect(), &environment, &cwd);
    }
    #[cfg(not(unix))]
    if let Some(name) = env::args_os().nth(1)
        && UNIX_COMMANDS.iter().any(|command| name == *command)
    {
        return refuse(&format_args!(
            "`playhouse {}` is not available on Windows",
            name.display()
        ));
    }
    let matches = match arguments::parse(env::args_os()) {
        Ok(Parsed::Matches(matches)) => matches,
        Ok(Parsed::Text(text)) => return print(&text),
        #[cfg(unix)]
        Err(error) if env::args_os().nth(1).is_some_and(|word| word == app::NAME) => {
            return app::refuse(&error);
        }
        Err(error)
            if env::args_os()
                .nth(1)
                .is_some_and(|word| word == audit::NAME) =>
        {
            return audit::refuse(&error);
        }
        #[cfg(unix)]
        Err(error) if is_background_command() => {
            return background::fail(&error, ErrorClass::Usage);
        }
        Err(error) => return refuse(&error),
    };
    // These commands need no configuration of the server.
    match matches.subcommand() {
        #[cfg(unix)]
        Some((app::NAME, matches)) => return wait(app::run(matches, &environment, &cwd)),
        #[cfg(unix)]
        Some((supervisor::SUPERVISOR, _)) => return app::run_supervisor(),
        #[cfg(unix)]
        Some((name, _)) if BACKGROUND_COMMANDS.contains(&name) && !is_background_command() => {
            let problem = format!(
                "options of the server belong to `playhouse start`, after its name, and not to `playhouse {name}`"
            );
            return background::fail(&problem, ErrorClass::Usage);
        }
        #[cfg(unix)]
        Some((background::START, matches)) => {
            let arguments: Vec<_> = env::args_os().skip(2).collect();
            return background::start(matches, &arguments, &environment, &cwd);
        }
        #[cfg(unix)]
        Some((background::PS, matches)) => return background::list(matches, &environment),
        #[cfg(unix)]
        Some((background::STOP, matches)) => return background::stop(matches, &environment, &cwd),
        #[cfg(unix)]
        Some((run_command::NAME, matches)) => return run_command::run(matches, &environment, &cwd),
        #[cfg(unix)]
        Some((skill::NAME, _)) => return skill::run(),
        Some((setup::NAME, matches)) => return setup::run(matches, &environment, &cwd),
        Some((audit::NAME, matches)) => return audit::run(matches, &cwd),
        Some((completions::NAME, matches)) => return completions::run(matches),
        Some((manual::NAME, _)) => return manual::run(),
        Some((upgrade::NAME, _)) => return upgrade::run(&environment),
        _ => {}
    }
    let config = match matches.subcommand_name() {
        #[cfg(unix)]
        Some(background::SERVE) => {
            supervisor::close_inherited_files();
            Config::load_background(&matches, &environment, &cwd)
        }
        _ => Config::load(&matches, &environment, &cwd),
    };
    match config {
        Ok(config) => match Toolbox::unknown_rule(&config.settings.tools) {
            None => run(&matches, &config, &environment, &cwd),
            Some((name, nearest)) => refuse(&ConfigError::UnknownTool {
                name: name.to_owned(),
                nearest: nearest.map(str::to_owned),
            }),
        },
        Err(error) => refuse(&error),
    }
}

use arguments::Parsed;

/// The commands that use a background server, whose options are set when it is started.
#[cfg(unix)]
const BACKGROUND_COMMANDS: [&str; 5] = [
    do_command::NAME,
    run_command::NAME,
    background::START,
    background::PS,
    background::STOP,
];

/// The commands that need processes and sockets of Unix.
#[cfg(not(unix))]
const UNIX_COMMANDS: [&str; 7] = ["app", "do", "run", "start", "ps", "stop", "skill"];

#[cfg(unix)]
fn is_background_command() -> bool {
    let first = env::args_os().nth(1);
    first.is_some_and(|word| BACKGROUND_COMMANDS.iter().any(|name| word == *name))
}

fn run(matches: &ArgMatches, config: &Config, environment: &Environment, cwd: &Path) -> ExitCode {
    #[cfg(not(unix))]
    let _ = (environment, cwd);
    for notice in &config.settings.notices {
        let _ = writeln!(io::stderr(), "{notice}");
    }
    let is_server = match matches.subcommand_name() {
        #[cfg(unix)]
        Some(name) => name == background::SERVE,
        #[cfg(not(unix))]
        Some(_) => false,
        None => true,
    };
    // Dropped after the server, so that its last spans are exported.
    let _traces = match log::begin(&config.settings, is_server) {
        Ok(traces) => traces,
        Err(error) => return refuse(&error),
    };
    let settings = &config.settings;
    match matches.subcommand() {
        #[cfg(unix)]
        Some((background::SERVE, _)) => background::serve(settings.clone(), environment, cwd),
        Some(("config", matches)) => show::run(matches, config),
        Some(("install", matches)) => install::run(matches, settings),
        Some(("tools", matches)) => tools::run(matches, settings),
        Some(("doctor", matches)) => wait(doctor::run(matches, settings)),
        Some(("try", matches)) => wait(try_command::run(matches, settings)),
        _ if settings.http.is_some() => {
            wait_for_many(crate::transport::serve::serve(settings.clone()))
        }
        _ => {
            terminal::greet();
            wait(crate::transport::serve::serve(settings.clone()))
        }
    }
}

/// Runs a future on one thread: a call is passed between tasks many times, and switching threads each time would cost more than the work.
fn wait(command: impl Future<Output = ExitCode>) -> ExitCode {
    run_on(tokio::runtime::Builder::new_current_thread(), command)
}

/// Runs the server for many clients on several threads, so that one busy thread blocks no others (decision 14).
fn wait_for_many(command: impl Future<Output = ExitCode>) -> ExitCode {
    let mut threads = tokio::runtime::Builder::new_multi_thread();
    threads.worker_threads(THREADS);
    run_on(threads, async {
        keep_awake(Handle::current());
        command.await
    })
}

/// The number of threads that serve clients; one less may be busy at a time.
const THREADS: usize = 4;

/// The longest time without a poll of the network.
const TICK: Duration = Duration::from_millis(20);

/// Wakes another thread of the runtime in intervals. Only one thread at a time waits for the network and for timers, and it is not replaced
/// while its tasks keep it busy.
fn keep_awake(runtime: Handle) {
    // The counter is odd while a thread is parked, and changes with each park and unpark.
    let turns = |runtime: &Handle| -> [u64; THREADS] {
        let metrics = runtime.metrics();
        array::from_fn(|thread| metrics.worker_park_unpark_count(thread))
    };
    thread::spawn(move || {
        let mut before = turns(&runtime);
        loop {
            thread::sleep(TICK);
            let now = turns(&runtime);
            let is_busy = |(now, before): (&u64, &u64)| now == before && now % 2 == 0;
            if now.iter().zip(&before).any(is_busy) {
                drop(runtime.spawn(async {}));
            }
            before = now;
        }
    });
}

fn run_on(
    mut threads: tokio::runtime::Builder,
    command: impl Future<Output = ExitCode>,
) -> ExitCode {
    memory::economize();
    let runtime = threads.enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = writeln!(io::stderr(), "cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(command);
    // A thread may still wait for stdin.
    runtime.shutdown_background();
    code
}

/// Writes to stdout; a closed stdout is not an error.
fn print(text: &str) -> ExitCode {
    let _ = io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

fn refuse(error: &dyn std::fmt::Display) -> ExitCode {
    let _ = writeln!(io::stderr(), "{error}");
    ExitCode::FAILURE
}
