//! `playhouse audit verify`: verifies the hash chain of an audit log.

use std::{
    fs::File,
    io::{self, BufReader, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Arg, ArgMatches, Command, value_parser};

use super::print;
use crate::access::audit::{Intact, Verdict, verify};
use crate::config::ConfigError;

pub(super) const NAME: &str = "audit";

/// The exit status for a log that was changed.
const FLAWED: u8 = 1;
/// The exit status for a log that could not be verified.
const UNCHECKED: u8 = 2;

pub(super) fn command() -> Command {
    Command::new(NAME)
        .about("Audit logs (--audit-log)")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("verify")
                .about("Check that no record of an audit log was changed, removed or moved")
                .long_about(
                    "Check that no record of an audit log was changed, removed or moved.\n\
                    Records that were cut off at the end are noticed only by --expect-hash or --expect-records, \
                    and a log that was written anew only by --expect-hash: keep a hash elsewhere.\n\
                    Exit code: 0 the log is whole, 1 it is not, 2 it could not be checked.",
                )
                .arg(
                    Arg::new("file")
                        .value_name("FILE")
                        .required(true)
                        .value_parser(value_parser!(PathBuf))
                        .help("The audit log"),
                )
                .arg(
                    Arg::new("expect-hash")
                        .long("expect-hash")
                        .value_name("HASH")
                        .help("A hash that was noted before: one of the records must have it"),
                )
                .arg(
                    Arg::new("expect-records")
                        .long("expect-records")
                        .value_name("NUMBER")
                        .value_parser(value_parser!(u64))
                        .help("How many records there must be at least"),
                ),
        )
}

pub(super) fn run(matches: &ArgMatches, cwd: &Path) -> ExitCode {
    let Some(matches) = matches.subcommand_matches("verify") else {
        return UNCHECKED.into();
    };
    let Some(path) = matches.get_one::<PathBuf>("file") else {
        return UNCHECKED.into();
    };
    let expected = Expected {
        hash: matches
            .get_one::<String>("expect-hash")
            .map(|hash| hash.trim().to_ascii_lowercase()),
        records: matches.get_one::<u64>("expect-records").copied(),
    };
    let verdict = File::open(cwd.join(path))
        .and_then(|file| verify(BufReader::new(file), expected.hash.as_deref()));
    match verdict {
        Ok(verdict) => match expected.findings(&verdict) {
            (text, true) => print(&format!("{}: {text}\n", path.display())),
            (text, false) => {
                let _ = writeln!(io::stderr(), "{}: {text}", path.display());
                FLAWED.into()
            }
        },
        Err(error) => {
            let _ = writeln!(
                io::stderr(),
                "cannot read the audit log {}: {error}",
                path.display()
            );
            UNCHECKED.into()
        }
    }
}

/// Reports an error of the command line.
pub(super) fn refuse(error: &ConfigError) -> ExitCode {
    let _ = writeln!(io::stderr(), "{error}");
    UNCHECKED.into()
}

/// The expected count and hash of a log, known from another place.
struct Expected {
    hash: Option<String>,
    records: Option<u64>,
}

impl Expected {
    /// Returns the findings as lines of text, and whether the log is valid.
    fn findings(&self, verdict: &Verdict) -> (String, bool) {
        let Intact {
            records,
            hash,
            unfinished,
            has_expected,
        } = match verdict {
            Verdict::Intact(intact) => intact,
            Verdict::Flawed { line, flaw } => return (format!("line {line}: {flaw}"), false),
        };
        if let (Some(expected), false) = (&self.hash, has_expected) {
            let text = format!(
                "no record has the hash {expected}: records were cut off at the end, or the log was written anew ({records} records, the last hash is {hash})"
            );
            return (text, false);
        }
        if let Some(expected) = self.records.filter(|expected| records < expected) {
            let text = format!(
                "{records} records where {expected} were expected: records were cut off at the end (the last hash is {hash})"
            );
            return (text, false);
        }
        let mut text = format!("OK, {records} records, the last hash is {hash}");
        for line in unfinished {
            text += &format!(
                "\nline {line} is unfinished: a server was killed while it wrote it, as the record behind it says"
            );
        }
        (text, true)
    }
}
