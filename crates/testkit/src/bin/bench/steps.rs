//! The steps of the benchmark, and their calls for each set of tools.

use serde_json::{Value, json};

/// A step, the same for all servers.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Navigate(String),
    /// Takes a snapshot of the page.
    Look,
    Click(Target),
    /// Replaces the value of a field.
    Type(Target, String),
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
    /// The `session` toolset of Playhouse.
    Session,
    AgentBrowser,
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
            Self::Playwright | Self::Session | Self::AgentBrowser => "sessionId",
        }
    }

    /// Returns whether there is a tool for the step.
    pub(crate) fn has(self, step: &Step) -> bool {
        match self {
            Self::Playwright | Self::Session => true,
            // Its default tools have none for that.
            Self::AgentBrowser => !matches!(step, Step::Hover(_)),
            Self::Baseline | Self::SettledFloor => !matches!(step, Step::Keys(..) | Step::Hover(_)),
        }
    }

    /// Returns the calls of a step; refs are taken from the last snapshot. The error names the element that it lacks.
    pub(crate) fn calls(self, step: &Step, snapshot: &str) -> Result<Vec<Call>, String> {
        match self {
            Self::Playwright => playwright(step, snapshot),
            Self::Session => Ok(session(step)),
            Self::AgentBrowser => agent_browser(step, snapshot),
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
        Step::Look => ("browser_snapshot", json!({})),
        Step::Click(target) => (
            "browser_click",
            json!({ "element": target.name, "target": find(target)? }),
        ),
        Step::Type(target, text) => (
            "browser_type",
            json!({ "element": target.name, "target": find(target)?, "text": text }),
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
    }])
}

fn session(step: &Step) -> Vec<Call> {
    let fill = |(target, value): &(Target, String)| {
        ("fill", json!({ "selector": target.css, "value": value }))
    };
    vec![match step {
        Step::Navigate(url) => ("navigate", json!({ "url": url })),
        Step::Look => ("browser_snapshot", json!({})),
        Step::Click(target) => ("click", json!({ "selector": target.css })),
        Step::Type(target, text) => fill(&(target.clone(), text.clone())),
        Step::Keys(target, text) => ("type", json!({ "selector": target.css, "text": text })),
        Step::Hover(target) => ("hover", json!({ "selector": target.css })),
        Step::Fill(fields) => return fields.iter().map(fill).collect(),
        Step::Evaluate(expression) => ("evaluate", json!({ "script": expression })),
        Step::Key(key) => ("press", json!({ "key": key })),
        Step::Screenshot => ("screenshot", json!({})),
        Step::Wait(text) => ("browser_wait_for", json!({ "text": text })),
    }]
}

fn agent_browser(step: &Step, snapshot: &str) -> Result<Vec<Call>, String> {
    let find = |target: &Target| reference(target, snapshot).map(|found| format!("@{found}"));
    Ok(vec![match step {
        Step::Navigate(url) => ("agent_browser_open", json!({ "url": url })),
        Step::Look => ("agent_browser_snapshot", json!({})),
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
    }])
}

fn floor(step: &Step) -> Vec<Call> {
    let field = |target: &Target, value: &str| json!({ "selector": target.css, "value": value });
    vec![match step {
        Step::Navigate(url) => ("navigate", json!({ "url": url })),
        Step::Look => ("snapshot", json!({})),
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
        Step::Keys(..) | Step::Hover(_) => return Vec::new(),
    }]
}

/// Returns the ref of the first element of this role and name: `- button "Go" [ref=e4]`.
fn reference(target: &Target, snapshot: &str) -> Result<String, String> {
    let start = format!("{} \"{}\"", target.role, target.name);
    let rest = snapshot.split_once(&start).map(|(_, rest)| rest);
    let line = rest.and_then(|rest| rest.lines().next());
    let mark = line
        .and_then(|line| line.split_once("ref="))
        .map(|(_, mark)| mark);
    let found = mark.and_then(|mark| mark.split([']', ',', ' ']).next());
    found
        .map(str::to_owned)
        .ok_or_else(|| format!("{start} is not in the snapshot"))
}
