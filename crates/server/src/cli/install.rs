//! `playhouse install`: installs browsers.

mod download;
pub(super) mod plan;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::{Arg, ArgMatches, Command};
use engine::Channel;

use super::{platform::Platform, process, syntax::switch};
use crate::config::{Settings, flags};
use crate::error::nearest::nearest;
use plan::Step;

pub(super) fn command() -> Command {
    Command::new("install")
        .about(
            "Install a browser: chromium (the default), chromium-headless-shell, firefox, webkit, chrome, msedge, …",
        )
        .arg(Arg::new("browsers").value_name("BROWSER").num_args(0..))
        .arg(
            switch("with-deps")
                .help("Also install the libraries and fonts that a download needs (Linux)"),
        )
        .arg(switch("dry-run").help("Print the commands and run none"))
        .args(flags::of_section("Installing browsers"))
}

pub(super) fn run(matches: &ArgMatches, settings: &Settings) -> ExitCode {
    match install(matches, settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr(), "{message}");
            ExitCode::FAILURE
        }
    }
}

fn install(matches: &ArgMatches, settings: &Settings) -> Result<(), String> {
    let names = matches.get_many::<String>("browsers").into_iter().flatten();
    let mut channels = names
        .map(|name| channel(name))
        .collect::<Result<Vec<_>, _>>()?;
    if channels.is_empty() {
        channels.push(Channel::Chromium);
    }
    let platform = Platform::here(&settings.browser.search.path);
    let steps = plan::plan(&channels, matches.get_flag("with-deps"), &platform)
        .map_err(|no_way| no_way.to_string())?;
    let mut out = io::stdout();
    for step in &steps {
        let _ = writeln!(out, "{step}");
        if !matches.get_flag("dry-run") {
            take(step, settings, &platform)?;
        }
    }
    if matches.get_flag("dry-run") {
        return Ok(());
    }
    // Each product by its own name: the headless shell does not count as Chromium here.
    let search = engine::Search {
        headless_shell: false,
        ..settings.browser.search.clone()
    };
    for channel in channels {
        let choice = engine::BrowserChoice::Channel(channel);
        match engine::find(&choice, &search) {
            Ok(found) => {
                let _ = writeln!(
                    out,
                    "{} is installed: {}",
                    channel.name(),
                    found.path.display()
                );
            }
            Err(error) => return Err(format!("all steps succeeded, but {error}")),
        }
    }
    Ok(())
}

fn channel(name: &str) -> Result<Channel, String> {
    name.parse().map_err(|_| {
        let known = [
            "chromium",
            "chromium-headless-shell",
            "chrome",
            "chrome-beta",
            "msedge",
            "firefox",
            "webkit",
        ];
        let question = nearest(name, known).map(|known| format!("\nDid you mean '{known}'?"));
        format!("unknown browser '{name}'{}", question.unwrap_or_default())
    })
}

fn take(step: &Step, settings: &Settings, platform: &Platform) -> Result<(), String> {
    match step {
        Step::Welcome(step) => {
            if let Err(why) = take(step, settings, platform) {
                let _ = writeln!(io::stderr(), "{why}\nIt goes without.");
            }
            Ok(())
        }
        Step::Run { program, args } => run_program(program, args),
        Step::RunWithFile { url, program, args } => {
            let mut package = tempfile::Builder::new()
                .prefix("playhouse-")
                .suffix(".deb")
                .tempfile()
                .map_err(|error| format!("no room for a temporary file: {error}"))?;
            download::fetch(url, package.as_file_mut()).map_err(|error| {
                format!(
                    "{error}\nDownload it by other means, then run: {program} {} FILE",
                    args.join(" ")
                )
            })?;
            let mut args = args.clone();
            args.push(package.path().display().to_string());
            run_program(program, &args)
        }
        Step::Unpack {
            product,
            platform: name,
        } => {
            let index = &settings.files.download_index;
            let unpacked = download::unpack(index, product, name, &settings.files.browsers);
            unpacked.map(drop).map_err(|error| {
                let package = plan::alternative(product, platform);
                let package = package
                    .map(|step| format!(", or run: {step}"))
                    .unwrap_or_default();
                format!("{error}\nTry again, name a mirror with --download-index{package}")
            })
        }
    }
}

fn run_program(program: &str, args: &[String]) -> Result<(), String> {
    let command = format!("{program} {}", args.join(" "));
    match process::run(program, args) {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!(
            "`{command}` failed ({status}); what it printed above says why"
        )),
        Err(_) if program == "sudo" => {
            let command = args.join(" ");
            Err(format!("there is no sudo here; as root, run: {command}"))
        }
        Err(error) => Err(format!("`{command}` cannot be run: {error}")),
    }
}
