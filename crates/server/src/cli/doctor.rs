//! `playhouse doctor`: checks which browsers work, and names the commands that repair the others.

mod checks;
mod launch;
mod webkit;

use std::{fmt::Write as _, io::Write as _, process::ExitCode};

use anstyle::AnsiColor;
use clap::{ArgMatches, Command};
use serde::Serialize;

use super::{platform::Platform, print, syntax::switch, terminal};
use crate::config::{Settings, flags};

pub(super) fn command() -> Command {
    Command::new("doctor")
        .about("Check which browsers work, what is missing, and how to repair it")
        .arg(switch("json").help("Print JSON"))
        .arg(switch("verbose").help("Print how each browser was started, and its log"))
        .args(flags::of_the_server())
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Finding {
    health: Health,
    topic: &'static str,
    text: String,
    /// The command or sentence that repairs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Health {
    /// No problem.
    Good,
    /// Works, with a remark for the user.
    Note,
    /// Does not work.
    Bad,
}

impl Finding {
    fn good(topic: &'static str, text: impl Into<String>) -> Finding {
        Finding {
            health: Health::Good,
            topic,
            text: text.into(),
            remedy: None,
        }
    }

    fn note(topic: &'static str, text: impl Into<String>) -> Finding {
        Finding {
            health: Health::Note,
            ..Finding::good(topic, text)
        }
    }

    fn bad(topic: &'static str, text: impl Into<String>) -> Finding {
        Finding {
            health: Health::Bad,
            ..Finding::good(topic, text)
        }
    }

    fn repaired_by(self, remedy: impl Into<String>) -> Finding {
        Finding {
            remedy: Some(remedy.into()),
            ..self
        }
    }
}

/// Runs the checks; fails if the browser of these settings does not work.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> ExitCode {
    let platform = Platform::here(&settings.browser.search.path);
    let mut findings = vec![Finding::good("playhouse", env!("CARGO_PKG_VERSION"))];
    let progress = terminal::progress("starting browsers");
    let launched = launch::check(settings, &platform, matches.get_flag("verbose")).await;
    drop(progress);
    let works = launched.iter().all(|finding| finding.health != Health::Bad);
    findings.extend(launched);
    findings.extend(checks::machine(settings, &platform).await);
    if matches.get_flag("json") {
        let report = serde_json::json!({ "works": works, "findings": findings });
        print(&format!("{report:#}\n"));
    } else {
        // Colours, if stdout is a terminal and `NO_COLOR` is not set.
        let _ = anstream::stdout().write_all(report(&findings).as_bytes());
    }
    if works {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn report(findings: &[Finding]) -> String {
    let width = findings
        .iter()
        .map(|finding| finding.topic.len())
        .max()
        .unwrap_or_default();
    let mut text = String::new();
    for finding in findings {
        let (mark, colour) = match finding.health {
            Health::Good => ("ok  ", AnsiColor::Green),
            Health::Note => ("note", AnsiColor::Yellow),
            Health::Bad => ("FAIL", AnsiColor::Red),
        };
        let indent = " ".repeat(mark.len() + width + 4);
        let style = colour.on_default();
        let body = finding
            .text
            .trim_end()
            .replace('\n', &format!("\n{indent}"));
        let _ = writeln!(
            text,
            "{style}{mark}{style:#}  {:width$}  {body}",
            finding.topic
        );
        if let Some(remedy) = &finding.remedy {
            let _ = writeln!(text, "{indent}-> {remedy}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_aligned_and_has_remedies() {
        let findings = [
            Finding::good("playhouse", "1.0"),
            Finding::bad("browser", "none\nat all").repaired_by("playhouse install"),
            Finding::note("fonts", "few"),
        ];
        expect_test::expect![[r#"
            ok    playhouse  1.0
            FAIL  browser    none
                             at all
                             -> playhouse install
            note  fonts      few
        "#]]
        .assert_eq(&anstream::adapter::strip_str(&report(&findings)).to_string());
    }
}
