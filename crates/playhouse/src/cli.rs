//! The command line: which command, with which settings. `serve` is the one without a name.

mod arguments;
mod show;

use std::{
    env,
    io::{self, Write},
    process::ExitCode,
};

use clap::ArgMatches;

use crate::config::{Config, ConfigError, Environment, Settings};

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let cwd = env::current_dir().unwrap_or_else(|_| env::temp_dir());
    let matches = match arguments::parse(env::args_os()) {
        Ok(Parsed::Matches(matches)) => matches,
        Ok(Parsed::Text(text)) => return print(&text),
        Err(error) => return refuse(&error),
    };
    match Config::load(&matches, &Environment::of_process(), &cwd) {
        Ok(config) => run(&matches, &config),
        Err(error) => refuse(&error),
    }
}

use arguments::Parsed;

fn run(matches: &ArgMatches, config: &Config) -> ExitCode {
    for notice in &config.settings.notices {
        let _ = writeln!(io::stderr(), "{notice}");
    }
    match matches.subcommand() {
        Some(("config", matches)) => show::run(matches, config),
        _ => serve(&config.settings),
    }
}

fn serve(_settings: &Settings) -> ExitCode {
    let _ = writeln!(io::stderr(), "the server is not part of this build");
    ExitCode::FAILURE
}

/// Writes to stdout; who does not read it to the end is not an error.
fn print(text: &str) -> ExitCode {
    let _ = io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

fn refuse(error: &ConfigError) -> ExitCode {
    let _ = writeln!(io::stderr(), "{error}");
    ExitCode::FAILURE
}
