//! The steps of the benchmark, and their calls for each set of tools.

use serde_json::{Value, json};

/// A step, the same for all servers.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Navigate(String),
    /// Takes a snapshot of the page, unless the answers so far show it.
    Look,
    /// Takes a snapshot of the page.
    Snapshot,
    /// Takes a snapshot of at most so many tokens, where there is an option for that.
    Outline(usize),
    /// As [`Step::Look`], with the texts of the page.
    Read,
    Click(Target),
    /// Replaces the value of a field.
    Type(Target, String),
    /// Replaces the value of a field, and presses Enter.
    Submit(Target, String),
    /// Types into a field, key by key.
    Keys(Target, String),
    Hover(Target),
    Fill(Vec<(Target, String)>),
    /// Evaluates a JavaScript expression.
    Evaluate(String),
    Key(&'static str),
    Screenshot,
    /// Waits until the page shows a text.
    Wait(String),
    /// Runs steps in one call, where there is a tool for that, otherwise one after the other.
    Batch(Vec<Step>),
}

/// An element: by role and name for servers with snapshots, by CSS for the baseline.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) role: &'static str,
    pub(crate) name: String,
    pub(crate) css: String,
}

/// The tools of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vocabulary {
    /// The tools of `@playwright/mcp`, which Playhouse also has.
    Playwright,
    /// Those with compact answers, which show what changed, so that a snapshot is rarely necessary.
    Compact,
    /// The `session` toolset of Playhouse.
    Session,
    AgentBrowser,
    /// The tools of `chrome-devtools-mcp`.
    DevTools,
    Baseline,
    /// The baseline that waits after a click until the page has settled, as Playhouse does.
    SettledFloor,
}

/// A tool and its arguments.
pub(crate) type Call = (&'static str, Value);

impl Vocabulary {
    /// Returns the parameter that selects the session of a call.
    pub(crate) fn session_parameter(self) -> &'static str {
        match self {
            Self::Baseline | Self::SettledFloor => "context",
            Self::Playwright
            | Self::Compact
            | Self::Session
            | Self::AgentBrowser
            | Self::DevTools => "sessionId",
        }
    }

    /// Returns whether there is a tool for the step.
    pub(crate) fn has(self, step: &Step) -> bool {
        match self {
            Self::Playwright | Self::Compact | Self::Session | Self::DevTools => true,
            // Its default tools have none for that.
            Self::AgentBrowser => !matches!(step, Step::Hover(_)),
            Self::Baseline | Self::SettledFloor => !matches!(step, Step::Keys(..) | Step::Hover(_)),
        }
    }

    /// Returns the calls of a step; refs are taken from the last snapshot. The error names the element that it lacks.
    pub(crate) fn calls(self, step: &Step, snapshot: &str) -> Result<Vec<Call>, String> {
        if let Step::Outline(tokens) = step {
            return match self {
                Self::Compact => Ok(vec![("browser_snapshot", json!({ "maxTokens": tokens }))]),
                _ => self.calls(&Step::Snapshot, snapshot),
            };
        }
        if let (Step::Batch(steps), false) = (step, self == Self::Compact) {
            let calls = steps.iter().map(|step| self.calls(step, snapshot));
            return Ok(calls.collect::<Result<Vec<_>, _>>()?.concat());
        }
        match self {
            Self::Playwright | Self::Compact => playwright(step, snapshot),
            Self::Session => Ok(session(step)),
            Self::AgentBrowser => agent_browser(step, snapshot),
            Self::DevTools => dev_tools(step, snapshot),
            Self::Baseline => Ok(floor(step)),
            Self::SettledFloor => Ok(match step {
                Step::Click(target) => {
                    vec![("click-settled", json!({ "selector": target.css }))]
                }
                step => floor(step),
            }),
        }
    }
}

fn playwright(step: &Step, snapshot: &str) -> Result<Vec<Call>, String> {
    let find = |target: &Target| reference(target, snapshot);
    Ok(vec![match step {
        Step::Navigate(url) => ("browser_navigate", json!({ "url": url })),
        Step::Look | Step::Snapshot | Step::Read => ("browser_snapshot", json!({})),
        Step::Click(target) => (
            "browser_click",
            json!({ "element": target.name, "target": find(target)? }),
        ),
        Step::Type(target, text) => (
            "browser_type",
            json!({ "element": target.name, "target": find(target)?, "text": text }),
        ),
        Step::Submit(target, text) => (
            "browser_type",
            json!({ "element": target.name, "target": find(target)?, "text": text, "submit": true }),
        ),
        Step::Keys(target, text) => (
            "browser_type",
            json!({ "element": target.name, "target": find(target)?, "text": text, "slowly": true }),
        ),
        Step::Hover(target) => (
            "browser_hover",
            json!({ "element": target.name, "target": find(target)? }),
        ),
        Step::Fill(fields) => {
            let mut given = Vec::new();
            for (target, value) in fields {
                given.push(json!({ "name": target.name, "type": "textbox", "target": find(target)?, "value": value }));
            }
            ("browser_fill_form", json!({ "fields": given }))
        }
        Step::Evaluate(expression) => (
            "browser_evaluate",
            json!({ "function": format!("() => {expression}") }),
        ),
        Step::Key(key) => ("browser_press_key", json!({ "key": key })),
        Step::Screenshot => ("browser_take_screenshot", json!({ "type": "png" })),
        Step::Wait(text) => ("browser_wait_for", json!({ "text": text })),
        Step::Batch(steps) => {
            let mut given = Vec::new();
            for step in steps {
                let calls = playwright(step, snapshot)?.into_iter();
                given.extend(
                    calls.map(|(tool, arguments)| json!({ "tool": tool, "arguments": arguments })),
                );
            }
            ("browser_batch", json!({ "steps": given }))
        }
        Step::Outline(_) => unreachable!("another step stands for it"),
    }])
}

fn session(step: &Step) -> Vec<Call> {
    let fill = |(target, value): &(Target, String)| {
        ("fill", json!({ "selector": target.css, "value": value }))
    };
    vec![match step {
        Step::Navigate(url) => ("navigate", json!({ "url": url })),
        Step::Look | Step::Snapshot | Step::Read => ("browser_snapshot", json!({})),
        Step::Click(target) => ("click", json!({ "selector": target.css })),
        Step::Type(target, text) => fill(&(target.clone(), text.clone())),
        Step::Keys(target, text) => ("type", json!({ "selector": target.css, "text": text })),
        Step::Hover(target) => ("hover", json!({ "selector": target.css })),
        Step::Fill(fields) => return fields.iter().map(fill).collect(),
        Step::Evaluate(expression) => ("evaluate", json!({ "script": expression })),
        Step::Key(key) => ("press", json!({ "key": key })),
        Step::Screenshot => ("screenshot", json!({})),
        Step::Wait(text) => ("browser_wait_for", json!({ "text": text })),
        Step::Submit(target, text) => {
            return vec![
                fill(&(target.clone(), text.clone())),
                ("press", json!({ "key": "Enter" })),
            ];
        }
        Step::Batch(_) | Step::Outline(_) => unreachable!("other steps stand for it"),
    }]
}

fn dev_tools(step: &Step, snapshot: &str) -> Result<Vec<Call>, String> {
    let find = |target: &Target| reference(target, snapshot);
    let field = |(target, value): &(Target, String)| {
        Ok::<_, String>(json!({ "uid": find(target)?, "value": value }))
    };
    Ok(vec![match step {
        Step::Navigate(url) => ("navigate_page", json!({ "type": "url", "url": url })),
        Step::Look | Step::Snapshot | Step::Read => ("take_snapshot", json!({})),
        Step::Click(target) => ("click", json!({ "uid": find(target)? })),
        Step::Type(target, text) => ("fill", field(&(target.clone(), text.clone()))?),
        Step::Submit(target, text) => {
            let fill = ("fill", field(&(target.clone(), text.clone()))?);
            return Ok(vec![fill, ("press_key", json!({ "key": "Enter" }))]);
        }
        Step::Keys(target, text) => {
            let focus = ("click", json!({ "uid": find(target)? }));
            return Ok(vec![focus, ("type_text", json!({ "text": text }))]);
        }
        Step::Hover(target) => ("hover", json!({ "uid": find(target)? })),
        Step::Fill(fields) => {
            let elements = fields.iter().map(field).collect::<Result<Vec<_>, _>>()?;
            ("fill_form", json!({ "elements": elements }))
        }
        Step::Evaluate(expression) => (
            "evaluate_script",
            json!({ "function": format!("() => {expression}") }),
        ),
        Step::Key(key) => ("press_key", json!({ "key": key })),
        Step::Screenshot => ("take_screenshot", json!({})),
        Step::Wait(text) => ("wait_for", json!({ "text": [text] })),
        Step::Batch(_) | Step::Outline(_) => unreachable!("other steps stand for it"),
    }])
}

fn agent_browser(step: &Step, snapshot: &str) -> Result<Vec<Call>, String> {
    let find = |target: &Target| reference(target, snapshot).map(|found| format!("@{found}"));
    Ok(vec![match step {
        Step::Navigate(url) => ("agent_browser_open", json!({ "url": url })),
        Step::Look | Step::Snapshot => ("agent_browser_snapshot", json!({})),
        // By default, it has controls and headings only.
        Step::Read => (
            "agent_browser_snapshot",
            json!({ "interactive": false, "compact": true }),
        ),
        Step::Click(target) => ("agent_browser_click", json!({ "selector": find(target)? })),
        Step::Type(target, text) => (
            "agent_browser_fill",
            json!({ "selector": find(target)?, "text": text }),
        ),
        Step::Keys(target, text) => (
            "agent_browser_type",
            json!({ "selector": find(target)?, "text": text }),
        ),
        Step::Hover(target) => ("agent_browser_hover", json!({ "selector": find(target)? })),
        Step::Fill(fields) => {
            let each = |(target, text): &(Target, String)| {
                Ok((
                    "agent_browser_fill",
                    json!({ "selector": find(target)?, "text": text }),
                ))
            };
            return fields.iter().map(each).collect();
        }
        Step::Evaluate(expression) => ("agent_browser_eval", json!({ "script": expression })),
        Step::Key(key) => ("agent_browser_press", json!({ "key": key })),
        Step::Screenshot => ("agent_browser_screenshot", json!({})),
        Step::Wait(text) => ("agent_browser_wait_for_text", json!({ "text": text })),
        Step::Submit(target, text) => {
            let fill = json!({ "selector": find(target)?, "text": text });
            return Ok(vec![
                ("agent_browser_fill", fill),
                ("agent_browser_press", json!({ "key": "Enter" })),
            ]);
        }
        Step::Batch(_) | Step::Outline(_) => unreachable!("other steps stand for it"),
    }])
}

fn floor(step: &Step) -> Vec<Call> {
    let field = |target: &Target, value: &str| json!({ "selector": target.css, "value": value });
    vec![match step {
        Step::Navigate(url) => ("navigate", json!({ "url": url })),
        Step::Look | Step::Snapshot | Step::Read => ("snapshot", json!({})),
        Step::Click(target) => ("click", json!({ "selector": target.css })),
        Step::Type(target, text) => ("fill", json!({ "fields": [field(target, text)] })),
        Step::Fill(fields) => {
            let fields: Vec<Value> = fields
                .iter()
                .map(|(target, value)| field(target, value))
                .collect();
            ("fill", json!({ "fields": fields }))
        }
        Step::Evaluate(expression) => ("evaluate", json!({ "expression": expression })),
        Step::Key(key) => ("key", json!({ "key": key })),
        Step::Screenshot => ("screenshot", json!({})),
        Step::Wait(text) => ("wait", json!({ "text": text })),
        Step::Submit(target, text) => {
            return vec![
                ("fill", json!({ "fields": [field(target, text)] })),
                ("key", json!({ "key": "Enter" })),
            ];
        }
        Step::Batch(_) | Step::Outline(_) => unreachable!("other steps stand for it"),
        Step::Keys(..) | Step::Hover(_) => return Vec::new(),
    }]
}

/// Returns the ref of the first element of this role and name, or of the last element of this role without a name if that is empty:
/// `- button "Go" [ref=e4]`, `button "Go" e4`, `uid=1_4 button "Go"`.
fn reference(target: &Target, snapshot: &str) -> Result<String, String> {
    let missing = || format!("{} {:?} is not in the snapshot", target.role, target.name);
    let mut lines = snapshot
        .lines()
        .filter_map(|line| reference_in(line, target.role, &target.name));
    let found = match target.name.is_empty() {
        true => lines.next_back(),
        false => lines.next(),
    };
    found.map(str::to_owned).ok_or_else(missing)
}

fn reference_in<'a>(line: &'a str, role: &str, name: &str) -> Option<&'a str> {
    let mut places = line.match_indices(role);
    let (before, rest) = places.find_map(|(start, _)| {
        let (before, rest) = (&line[..start], &line[start + role.len()..]);
        let is_word = before.is_empty() || before.ends_with(' ');
        let rest = match name.is_empty() {
            true if rest.is_empty() => rest,
            true => rest
                .strip_prefix(' ')
                .filter(|rest| !rest.starts_with('"'))?,
            false => rest.strip_prefix(&format!(" \"{name}\""))?,
        };
        is_word.then_some((before, rest))
    })?;
    if let Some(uid) = before.trim_start().strip_prefix("uid=") {
        return Some(uid.trim_end());
    }
    let mut words = rest.split([' ', '[', ']', ',', ':']);
    words.find_map(|word| {
        let word = word.strip_prefix("ref=").unwrap_or(word);
        let number = word.rsplit_once('e').map(|(_, number)| number);
        let is_ref = number.is_some_and(|it| it.parse::<u32>().is_ok());
        is_ref.then_some(word)
    })
}
