//! Parsing spec files into cases and steps, with the positions of the replies for rewriting them.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::part::Part;
use crate::markdown::{Block, Fault, Piece, pieces, resource};
use crate::site::Resource;

/// A spec file.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) setup: Setup,
    pub(super) cases: Vec<Case>,
}

/// The server settings in the front matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Setup {
    /// Command-line arguments besides those of every spec.
    pub(super) args: Vec<String>,
    /// Whether each case gets a new browser instead of a new tab.
    pub(super) own_browser: bool,
    /// Whether the numbers of refs do not matter.
    pub(super) any_refs: bool,
}

/// A case below a `## ` heading.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) title: String,
    /// The path of the page that is opened first.
    pub(super) start: Option<String>,
    /// The resources of the site, by path; addresses are still placeholders.
    pub(super) resources: Vec<(String, Resource)>,
    /// The files of the workspace: name and content.
    pub(super) files: Vec<(String, String)>,
    pub(super) steps: Vec<Step>,
}

/// A call and the expected parts of its answer.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) line: usize,
    pub(super) tool: String,
    /// The arguments, still with placeholders.
    pub(super) arguments: String,
    pub(super) replies: Vec<Expected>,
}

/// A `reply` block.
#[derive(Debug)]
pub(super) struct Expected {
    pub(super) line: usize,
    pub(super) part: Part,
    pub(super) text: String,
    /// The range of the block in the file, including fences.
    pub(super) block: Range<usize>,
    pub(super) info: String,
}

impl Document {
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(path, &text)
    }

    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, String> {
        let (setup, cases) =
            parse(text).map_err(|(line, why)| format!("{}:{line}: {why}", path.display()))?;
        Ok(Self {
            path: path.to_owned(),
            text: text.to_owned(),
            setup,
            cases,
        })
    }
}

fn parse(text: &str) -> Result<(Setup, Vec<Case>), Fault> {
    let mut setup = Setup::default();
    let mut cases: Vec<Case> = Vec::new();
    for piece in pieces(text)? {
        match piece {
            Piece::Matter { line, name, value } => {
                setup.set(name, value).map_err(|why| (line, why))?
            }
            Piece::Heading { line, title, .. } => {
                if cases.iter().any(|case| case.title == title) {
                    return Err((line, format!("there are two cases `{title}`")));
                }
                cases.push(Case::new(title));
            }
            Piece::Block(block) => {
                let line = block.line;
                let case = cases
                    .last_mut()
                    .ok_or((line, "a block before the first `## ` heading".to_owned()))?;
                case.add(block).map_err(|why| (line, why))?;
            }
        }
    }
    Ok((setup, cases))
}

impl Setup {
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "caps" => self.args.push(format!("--caps={}", value.replace(' ', ""))),
            "args" => {
                let words = shlex::split(value).ok_or("`args` has a quote without its end")?;
                self.args.extend(words);
            }
            "isolation" if value == "browser" => self.own_browser = true,
            "isolation" if value == "tab" => self.own_browser = false,
            "refs" if value == "any" => self.any_refs = true,
            _ => {
                return Err(format!(
                    "`{name}: {value}` is not known; there are caps, args, isolation (tab or browser), and refs (any)"
                ));
            }
        }
        Ok(())
    }
}

impl Case {
    fn new(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            start: None,
            resources: Vec::new(),
            files: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// Returns the tools that the case calls.
    pub(super) fn tools(&self) -> BTreeSet<String> {
        self.steps.iter().map(|step| step.tool.clone()).collect()
    }

    fn add(&mut self, block: Block<'_>) -> Result<(), String> {
        let (kind, rest) = block.info.split_once(' ').unwrap_or((block.info, ""));
        match kind {
            "call" => self.steps.extend(calls(block.inside, block.line)?),
            "reply" => {
                let step = self
                    .steps
                    .last_mut()
                    .ok_or("a reply before the first call")?;
                step.replies.push(Expected {
                    line: block.line,
                    part: Part::named(rest.trim())?,
                    text: block.inside.to_owned(),
                    block: block.range,
                    info: block.info.to_owned(),
                });
            }
            "file" => {
                let name = rest
                    .trim()
                    .strip_prefix("path=")
                    .ok_or("a file needs path=NAME")?;
                self.files.push((name.to_owned(), block.inside.to_owned()));
            }
            _ => {
                let (path, resource) = resource(kind, rest, block.inside)?.ok_or_else(|| {
                    format!("`{kind}` is no block of a spec; there are html, js, css, json, text, file, call and reply")
                })?;
                if kind == "html" && self.start.is_none() {
                    self.start = Some(path.clone());
                }
                self.resources.push((path, resource));
            }
        }
        Ok(())
    }
}

/// Parses calls `tool {json}`; the JSON is optional and may span several lines.
fn calls(text: &str, line: usize) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    for (below, row) in (1..).zip(text.lines()) {
        let starts_a_call = row.starts_with(|first: char| first.is_ascii_lowercase());
        match steps.last_mut() {
            _ if starts_a_call => {
                let (tool, arguments) = row.split_once(' ').unwrap_or((row, ""));
                steps.push(Step {
                    line: line + below,
                    tool: tool.to_owned(),
                    arguments: arguments.to_owned(),
                    replies: Vec::new(),
                });
            }
            Some(step) => {
                step.arguments.push('\n');
                step.arguments.push_str(row);
            }
            None if row.trim().is_empty() => {}
            None => return Err(format!("`{row}`: a call begins with the name of a tool")),
        }
    }
    for step in &mut steps {
        if step.arguments.trim().is_empty() {
            step.arguments = "{}".to_owned();
        }
        serde_json::from_str::<Value>(&step.arguments)
            .map_err(|error| format!("arguments of {}: {error}", step.tool))?;
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::markdown::fenced;

    const SPEC: &str = "\
---
caps: testing, vision
isolation: browser
---
# Title

## First

Prose.

```html path=/a delay=20
<p>one</p>
```

```call
browser_find
browser_click {
  \"target\": \"e2\"
}
```

````reply
```js
x
```
````

```reply result
```
";

    #[test]
    fn a_spec_is_setup_cases_steps_and_replies() {
        let (setup, cases) = parse(SPEC).unwrap();
        assert_eq!(
            setup,
            Setup {
                args: vec!["--caps=testing,vision".to_owned()],
                own_browser: true,
                any_refs: false
            }
        );
        let [case] = cases.as_slice() else {
            panic!("one case")
        };
        assert_eq!(case.start.as_deref(), Some("/a"));
        assert_eq!(case.resources[0].1.delay, Duration::from_millis(20));
        let tools: Vec<_> = case
            .steps
            .iter()
            .map(|step| (step.line, step.tool.as_str(), step.replies.len()))
            .collect();
        assert_eq!(tools, [(16, "browser_find", 0), (17, "browser_click", 2)]);
        assert_eq!(case.steps[1].replies[0].text, "```js\nx\n```");
        assert_eq!(case.steps[1].replies[1].text, "");
    }

    #[test]
    fn a_block_is_written_as_it_was_read() {
        let (_, cases) = parse(SPEC).unwrap();
        for reply in &cases[0].steps[1].replies {
            assert_eq!(fenced(&reply.info, &reply.text), SPEC[reply.block.clone()]);
        }
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        let fault = |text: &str| parse(text).unwrap_err();
        assert_eq!(fault("## A\n```call\nbrowser_click {\n```\n").0, 2);
        assert_eq!(
            fault("## A\n```reply\n```\n").1,
            "a reply before the first call"
        );
        assert_eq!(fault("## A\n\n```html\n").1, "this block is never closed");
        assert_eq!(
            fault("## A\n## A\n"),
            (2, "there are two cases `A`".to_owned())
        );
        assert!(
            fault("## A\n```yaml\n```\n")
                .1
                .contains("no block of a spec")
        );
        assert!(fault("---\ncap: x\n---\n").1.contains("is not known"));
    }
}
