//! Parsing scenario files into scenarios and steps, with the positions of the listed differences for rewriting them.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::change::NO_REASON;
use crate::markdown::{Block, Fault, Piece, pieces, resource};
use crate::site::Resource;

/// A scenario file.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) path: PathBuf,
    text: String,
    pub(super) scenarios: Vec<Scenario>,
}

/// A scenario below a `## ` heading: a start of both servers, and calls.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    /// The name, `FILE > TITLE`.
    pub(super) name: String,
    /// The resources of the site, by path; addresses are still placeholders.
    pub(super) resources: Vec<(String, Resource)>,
    /// The files of the workspace: name and content.
    pub(super) files: Vec<(String, String)>,
    pub(super) flags: Flags,
    /// The steps; the first one is the start.
    pub(super) steps: Vec<Step>,
}

/// The arguments of the servers besides those of every scenario. Still with placeholders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) args: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    /// Default flags that this scenario omits.
    pub(super) without: Vec<String>,
    /// The roots of the client.
    pub(super) roots: Vec<String>,
    /// Whether the client uses HTTP instead of stdio.
    pub(super) over_http: bool,
}

/// A step for both servers.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) line: usize,
    /// The source text, to print.
    pub(super) text: String,
    pub(super) request: Request,
    pub(super) listed: Listed,
}

/// The operation of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Start the process and initialize the connection.
    Start,
    /// Call a tool; the arguments still have placeholders.
    Call { tool: String, arguments: String },
    /// Request `tools/list`.
    List,
    /// List the names of the files in the workspace.
    Files,
    /// Read files of the workspace, by a pattern with `*`.
    Read(String),
    /// Close stdin, and report the output and the exit status of the process.
    End,
    /// End the process, and start it again with the same command line.
    Restart,
    /// Disconnect the HTTP client without ending its session, and connect a new one.
    Reconnect,
}

/// The difference that is listed below a step, or the position for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) reason: Option<String>,
    pub(super) lines: String,
    pub(super) range: Range<usize>,
}

impl Document {
    /// Reads and validates a file.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let file = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let scenarios = parse(&file, &text)
            .map_err(|(line, why)| format!("{}:{line}: {why}", path.display()))?;
        Ok(Self {
            path: path.to_owned(),
            text,
            scenarios,
        })
    }

    /// Writes the file with these changes.
    pub(super) fn rewrite(&self, mut edits: Vec<(Range<usize>, String)>) {
        edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        let mut text = self.text.clone();
        for (range, lines) in edits {
            text.replace_range(range, &lines);
        }
        std::fs::write(&self.path, text)
            .unwrap_or_else(|error| panic!("{}: {error}", self.path.display()));
    }
}

fn parse(file: &str, text: &str) -> Result<Vec<Scenario>, Fault> {
    let mut all = Scenario::new("", 1, 0);
    let mut scenarios: Vec<Scenario> = Vec::new();
    for piece in pieces(text)? {
        match piece {
            Piece::Matter { line, .. } => {
                return Err((line, "there is no front matter here".to_owned()));
            }
            Piece::Heading { line, title, end } => {
                let name = format!("{file} > {title}");
                if scenarios.iter().any(|known| known.name == name) {
                    return Err((line, format!("there are two scenarios `{title}`")));
                }
                // Pages and files above the first heading belong to all scenarios.
                let mut scenario = Scenario::new(&name, line, end);
                scenario.resources.clone_from(&all.resources);
                scenario.files.clone_from(&all.files);
                scenarios.push(scenario);
            }
            Piece::Block(block) => match scenarios.last_mut() {
                Some(scenario) => scenario.add(&block)?,
                None if matches!(block.info.split(' ').next(), Some("server" | "call")) => {
                    return Err((
                        block.line,
                        "a scenario begins with a `## ` heading".to_owned(),
                    ));
                }
                None => all.add(&block)?,
            },
        }
    }
    let bare = scenarios
        .iter()
        .find(|scenario| scenario.flags == Flags::default() && scenario.steps.len() == 1);
    if let Some(scenario) = bare {
        return Err((
            scenario.steps[0].line,
            "this scenario asks for nothing".to_owned(),
        ));
    }
    Ok(scenarios)
}

impl Scenario {
    fn new(name: &str, line: usize, heading_end: usize) -> Self {
        let start = Step {
            line,
            text: "start".to_owned(),
            request: Request::Start,
            listed: Listed {
                reason: None,
                lines: String::new(),
                range: heading_end..heading_end,
            },
        };
        Self {
            name: name.to_owned(),
            resources: Vec::new(),
            files: Vec::new(),
            flags: Flags::default(),
            steps: vec![start],
        }
    }

    fn add(&mut self, block: &Block<'_>) -> Result<(), Fault> {
        let fault = |why: String| (block.line, why);
        let (kind, rest) = block.info.split_once(' ').unwrap_or((block.info, ""));
        match kind {
            "server" => self.add_flags(block),
            "call" => self.add_calls(block),
            "file" => {
                let name = rest.trim().strip_prefix("path=");
                let name = name.ok_or_else(|| fault("a file needs path=NAME".to_owned()))?;
                self.files
                    .push((name.to_owned(), format!("{}\n", block.inside)));
                Ok(())
            }
            _ => {
                let page = resource(kind, rest, block.inside).map_err(fault)?;
                self.resources.push(page.ok_or_else(|| {
                    fault(format!("`{kind}` is no block of a scenario; there are html, js, css, json, text, file, server and call"))
                })?);
                Ok(())
            }
        }
    }

    fn add_flags(&mut self, block: &Block<'_>) -> Result<(), Fault> {
        let mut lines = Line::all(block).peekable();
        while let Some(line) = lines.next_if(|line| !line.is_listed()) {
            self.flags
                .add(line.text)
                .map_err(|why| (line.number, why))?;
        }
        self.steps[0].line = block.line;
        self.steps[0].text = format!("start with {}", self.flags.args.join(" "));
        self.steps[0].listed = listed(&mut lines, block.body.end)?;
        match lines.next() {
            Some(line) => Err((line.number, "flags stand before the differences".to_owned())),
            None => Ok(()),
        }
    }

    fn add_calls(&mut self, block: &Block<'_>) -> Result<(), Fault> {
        let mut lines = Line::all(block).peekable();
        while let Some(line) = lines.next() {
            if line.text.trim().is_empty() {
                continue;
            }
            let request = request(line.text).map_err(|why| (line.number, why))?;
            let listed = listed(&mut lines, line.end)?;
            self.steps.push(Step {
                line: line.number,
                text: line.text.to_owned(),
                request,
                listed,
            });
        }
        Ok(())
    }
}

impl Flags {
    fn add(&mut self, line: &str) -> Result<(), String> {
        if line.trim().is_empty() {
            return Ok(());
        }
        if let Some(flag) = line.strip_prefix("without ") {
            self.without.push(flag.trim().to_owned());
        } else if let Some(root) = line.strip_prefix("root ") {
            self.roots.push(root.trim().to_owned());
        } else if line.trim() == "over http" {
            self.over_http = true;
        } else if line.starts_with('-') {
            // The rest is one argument, including spaces.
            self.args.extend(line.splitn(2, ' ').map(str::to_owned));
        } else if !line.contains([' ', '=']) {
            self.args.push(line.to_owned());
        } else if let Some((name, value)) = line.split_once('=') {
            self.env.push((name.to_owned(), value.to_owned()));
        } else {
            return Err(format!(
                "`{line}` is neither `--flag value`, `word`, `NAME=value`, `without --flag`, `root URI` nor `over http`"
            ));
        }
        Ok(())
    }
}

fn request(line: &str) -> Result<Request, String> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    Ok(match word {
        "tools/list" => Request::List,
        "files" => Request::Files,
        "read" => Request::Read(rest.trim().to_owned()),
        "end" => Request::End,
        "restart" => Request::Restart,
        "reconnect" => Request::Reconnect,
        _ => {
            let arguments = if rest.trim().is_empty() { "{}" } else { rest };
            serde_json::from_str::<Value>(arguments)
                .map_err(|error| format!("arguments of {word}: {error}"))?;
            Request::Call {
                tool: word.to_owned(),
                arguments: arguments.to_owned(),
            }
        }
    })
}

/// Parses the subsequent lines `≠ reason`, `- theirs`, `+ ours`; if there are none, `place` is the position for them.
fn listed<'t>(
    lines: &mut std::iter::Peekable<impl Iterator<Item = Line<'t>>>,
    place: usize,
) -> Result<Listed, Fault> {
    let mut found = Listed {
        reason: None,
        lines: String::new(),
        range: place..place,
    };
    if let Some(first) = lines.next_if(Line::is_listed) {
        let reason = first
            .text
            .strip_prefix('≠')
            .map(str::trim)
            .unwrap_or_default();
        if reason.is_empty() {
            return Err((
                first.number,
                format!("a difference begins with `≠ REASON` (or `≠ {NO_REASON}`)"),
            ));
        }
        found.reason = Some(reason.to_owned());
        found.range = first.start..first.end;
    }
    let mut rows = Vec::new();
    while let Some(line) = lines.next_if(|line| line.is_listed() && !line.text.starts_with('≠')) {
        rows.push(line.text);
        found.range.end = line.end;
    }
    found.lines = rows.join("\n");
    Ok(found)
}

struct Line<'t> {
    number: usize,
    text: &'t str,
    start: usize,
    end: usize,
}

impl<'t> Line<'t> {
    fn all(block: &Block<'t>) -> impl Iterator<Item = Self> {
        let mut start = block.body.start;
        (block.line + 1..)
            .zip(block.inside.split('\n'))
            .map(move |(number, text)| {
                let line = Line {
                    number,
                    text: text.trim_end(),
                    start,
                    end: start + text.len() + 1,
                };
                start = line.end;
                line
            })
    }

    /// Returns whether the line belongs to a listed difference: flags begin with two dashes.
    fn is_listed(&self) -> bool {
        self.text.starts_with(['≠', '+'])
            || self.text.starts_with("- ")
            || self.text == "-"
            || self.text == "..."
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
# Clicks

```html path=/
<p>shared</p>
```

## Plain

```server
--codegen python
--user-agent a b
NAME=value
without --isolated
≠ another exit
- exit 1
+ exit 2
```

```call
tools/list
browser_click {\"target\": \"e1\"}
≠ clearer
- a

+ b
browser_close
```
";

    #[test]
    fn a_file_is_scenarios_with_flags_and_steps() {
        let text = FILE.replace("- a\n\n", "- a\n");
        let scenarios = parse("click.md", &text).unwrap();
        let [scenario] = scenarios.as_slice() else {
            panic!("one scenario")
        };
        assert_eq!(scenario.name, "click.md > Plain");
        assert_eq!(scenario.resources.len(), 1);
        assert_eq!(
            scenario.flags.args,
            ["--codegen", "python", "--user-agent", "a b"]
        );
        assert_eq!(scenario.flags.without, ["--isolated"]);
        let requests: Vec<_> = scenario
            .steps
            .iter()
            .map(|step| step.request.clone())
            .collect();
        let call = |tool: &str, arguments: &str| Request::Call {
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
        };
        assert_eq!(
            requests,
            [
                Request::Start,
                Request::List,
                call("browser_click", "{\"target\": \"e1\"}"),
                call("browser_close", "{}")
            ]
        );
        let lists: Vec<_> = scenario
            .steps
            .iter()
            .map(|step| &text[step.listed.range.clone()])
            .collect();
        assert_eq!(
            lists,
            [
                "≠ another exit\n- exit 1\n+ exit 2\n",
                "",
                "≠ clearer\n- a\n+ b\n",
                ""
            ]
        );
        assert_eq!(scenario.steps[2].listed.lines, "- a\n+ b");
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        assert_eq!(parse("f", FILE).unwrap_err().0, 25);
        assert_eq!(
            parse("f", "## A\n```call\nbrowser_click {\n```\n")
                .unwrap_err()
                .0,
            3
        );
        assert_eq!(
            parse("f", "## A\n```call\ntools/list\n- a\n```\n")
                .unwrap_err()
                .0,
            4
        );
        assert!(parse("f", "```call\ntools/list\n```\n").is_err());
        assert!(parse("f", "## A\n").is_err());
        assert!(parse("f", "## A\n```server\ntwo words\n```\n").is_err());
    }
}
