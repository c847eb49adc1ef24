//! The flags and default tools of the other server that no scenario covers.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use regress::Regex;

use super::scenario::{Request, Scenario};
use crate::client::Launch;

/// The flags and tools of the other server, and those that scenarios use.
#[derive(Debug, Default)]
pub struct Coverage {
    flags: BTreeSet<String>,
    tools: BTreeSet<String>,
    played_flags: BTreeSet<String>,
    played_tools: BTreeSet<String>,
    /// Flags that scenarios cannot use, each with the reason.
    omitted: Vec<(String, String)>,
}

impl Coverage {
    /// Reads the flags and tools from the server. `file` lists the flags that scenarios cannot use, in lines of the form ``- `--flag`:
    /// reason``.
    pub(super) async fn of(theirs: &[String], file: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        let (program, args) = theirs.split_first().expect("a command names a program");
        let launch = || Launch::new(program).args(args);
        let mut help = launch().args(["--help"]).spawn();
        help.exit_status().await;
        let help = help.stray_lines().join("\n");
        let client = launch().start().await;
        let tools = client.list_tools().await;
        client.end().await;
        Ok(Self {
            flags: flags_of(&help),
            tools: tools
                .iter()
                .filter_map(|tool| Some(tool["name"].as_str()?.to_owned()))
                .collect(),
            // Both servers get these in every scenario.
            played_flags: theirs.iter().filter_map(|arg| flag(arg)).collect(),
            played_tools: BTreeSet::new(),
            omitted: text.lines().filter_map(omitted).collect(),
        })
    }

    /// Adds the flags and tools of a scenario.
    pub(super) fn add(&mut self, scenario: &Scenario) {
        let flags = &scenario.flags;
        self.played_flags
            .extend(flags.args.iter().filter_map(|arg| flag(arg)));
        let variables = flags.env.iter().filter_map(|(name, _)| {
            let name = name.strip_prefix("PLAYWRIGHT_MCP_")?;
            Some(format!("--{}", name.to_lowercase().replace('_', "-")))
        });
        self.played_flags.extend(variables);
        for step in &scenario.steps {
            if let Request::Call { tool, .. } = &step.request {
                self.played_tools.insert(tool.clone());
            }
        }
    }

    /// Returns the flags and tools that are neither covered nor excluded, or both.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for tool in self.tools.difference(&self.played_tools) {
            faults.push(format!("{tool}: no scenario calls it"));
        }
        for flag in self.flags.difference(&self.played_flags) {
            if !self.omitted.iter().any(|(name, _)| name == flag) {
                faults.push(format!(
                    "{flag}: no scenario starts with it, and unplayed.md does not say why"
                ));
            }
        }
        for (flag, _) in &self.omitted {
            if self.played_flags.contains(flag) {
                faults.push(format!("{flag}: unplayed.md lists it, but it is played"));
            }
        }
        faults
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let played: Vec<_> = self
            .flags
            .intersection(&self.played_flags)
            .map(String::as_str)
            .collect();
        let tools = self.tools.intersection(&self.played_tools).count();
        writeln!(f, "{tools} of {} default tools called", self.tools.len())?;
        writeln!(
            f,
            "{} of {} flags played: {}",
            played.len(),
            self.flags.len(),
            played.join(" ")
        )?;
        for (flag, why) in &self.omitted {
            writeln!(f, "not played: {flag}: {why}")?;
        }
        Ok(())
    }
}

/// `--flag=value` → `--flag`.
fn flag(arg: &str) -> Option<String> {
    let name = arg.split('=').next().unwrap_or(arg);
    name.starts_with("--").then(|| name.to_owned())
}

/// Returns the flags that begin a line of a help text, without those of every program.
fn flags_of(help: &str) -> BTreeSet<String> {
    let option = Regex::new(r"^ +(?:-\w, )?(--[a-z-]+)").expect("a valid pattern");
    help.lines()
        .filter_map(|line| {
            let found = option.find(line)?;
            Some(line[found.group(1)?].to_owned())
        })
        .filter(|flag| flag != "--help")
        .collect()
}

fn omitted(line: &str) -> Option<(String, String)> {
    let (flag, why) = line.strip_prefix("- `")?.split_once("`: ")?;
    Some((flag.to_owned(), why.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_help_text_names_flags_at_the_beginning_of_its_lines() {
        let help = "Options:\n  -V, --version    print it\n  --caps <caps>    see\n                   --other too\n  -h, --help  this\n";
        let found = flags_of(&help.replace("                   --other", "  text --other"));
        assert_eq!(found, names(&["--caps", "--version"]));
    }

    #[test]
    fn what_is_not_played_needs_a_reason() {
        let coverage = Coverage {
            flags: names(&["--a", "--b", "--c"]),
            tools: names(&["one", "two"]),
            played_flags: names(&["--a"]),
            played_tools: names(&["one"]),
            omitted: [omitted("- `--a`: why"), omitted("- `--b`: it needs a port")]
                .into_iter()
                .flatten()
                .collect(),
        };
        let faults = coverage.faults();
        assert_eq!(faults.len(), 3, "{faults:?}");
        assert!(faults[0].starts_with("two: ") && faults[1].starts_with("--c: "));
        assert!(faults[2].starts_with("--a: "));
    }
}
