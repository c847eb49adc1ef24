//! `playhouse doctor`: what is there, what is missing, and the one command that mends it.

mod checks;
mod launch;
mod webkit;

use std::{fmt::Write as _, process::ExitCode};

use clap::Command;

use super::{platform::Platform, print};
use crate::config::Settings;

pub(super) fn command() -> Command {
    Command::new("doctor").about("Say what is found, what is missing, and how to mend it")
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    health: Health,
    topic: &'static str,
    text: String,
    /// The command, or the sentence, that mends it.
    remedy: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    /// As it should be.
    Good,
    /// Works, but a person may want to know.
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

    fn mended_by(self, remedy: impl Into<String>) -> Finding {
        Finding {
            remedy: Some(remedy.into()),
            ..self
        }
    }
}

/// Fails if no browser works.
pub(super) async fn run(settings: &Settings) -> ExitCode {
    let platform = Platform::here(&settings.browser.search.path);
    let mut findings = vec![Finding::good("playhouse", env!("CARGO_PKG_VERSION"))];
    let launched = launch::check(settings, &platform).await;
    let works = launched.iter().all(|finding| finding.health != Health::Bad);
    findings.extend(launched);
    findings.extend(checks::machine(settings, &platform));
    print(&report(&findings));
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
        let mark = match finding.health {
            Health::Good => "ok  ",
            Health::Note => "note",
            Health::Bad => "FAIL",
        };
        let indent = " ".repeat(mark.len() + width + 4);
        let body = finding
            .text
            .trim_end()
            .replace('\n', &format!("\n{indent}"));
        let _ = writeln!(text, "{mark}  {:width$}  {body}", finding.topic);
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
    fn a_report_lines_up_and_says_what_mends() {
        let findings = [
            Finding::good("playhouse", "1.0"),
            Finding::bad("browser", "none\nat all").mended_by("playhouse install"),
            Finding::note("fonts", "few"),
        ];
        expect_test::expect![[r#"
            ok    playhouse  1.0
            FAIL  browser    none
                             at all
                             -> playhouse install
            note  fonts      few
        "#]]
        .assert_eq(&report(&findings));
    }
}
