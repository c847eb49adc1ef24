//! Scripts of tool calls. A line is the title of a part (`# Title`), a call (`tool {"argument": …}`, with `! ` before it if it returns an
//! error), or, indented, a text that its answer or the snapshot that it links contains (`not …`: does not contain).

use serde_json::Value;
use testkit::{CallResult, Client};

/// A call of a script.
pub(crate) struct Call<'a> {
    /// The title of the part that begins here.
    pub(crate) part: Option<&'a str>,
    pub(crate) tool: &'a str,
    arguments: &'a str,
    is_error: bool,
    expected: Vec<&'a str>,
}

/// What `$NAME` stands for in calls and expected texts. `$SESSION` is the session that an answer has named last, and `$ref(button Sign in)`
/// the ref of that element in the last snapshot.
#[derive(Clone, Default)]
pub(crate) struct State {
    variables: Vec<(&'static str, String)>,
    snapshot: String,
}

/// Parses a script.
pub(crate) fn parse(text: &str) -> Vec<Call<'_>> {
    let mut calls: Vec<Call<'_>> = Vec::new();
    let mut part = None;
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(title) = line.strip_prefix("# ") {
            part = Some(title);
        } else if let (Some(expected), Some(call)) = (line.strip_prefix("  "), calls.last_mut()) {
            call.expected.push(expected);
        } else {
            let call = line.trim_start_matches("! ").split_once(' ');
            let (tool, arguments) = call.expect("a tool and its arguments");
            calls.push(Call {
                part: part.take(),
                tool,
                arguments,
                is_error: line.starts_with("! "),
                expected: Vec::new(),
            });
        }
    }
    calls
}

/// Makes the calls of a script one after the other. The error is the first that is not as expected.
pub(crate) async fn run(client: &Client, script: &str, state: &mut State) -> Result<(), String> {
    for call in parse(script) {
        let answer = client.try_call(call.tool, call.arguments(state)).await;
        let answer = answer.map_err(|why| format!("{}: {why}", call.tool))?;
        if let Some(fault) = call.faults(state, &answer).into_iter().next() {
            return Err(fault);
        }
    }
    Ok(())
}

impl Call<'_> {
    pub(crate) fn arguments(&self, state: &State) -> Value {
        let text = state.insert(self.arguments);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"))
    }

    /// Updates the state, and returns what is not as expected.
    pub(crate) fn faults(&self, state: &mut State, answer: &CallResult) -> Vec<String> {
        if let Some(session) = answer.raw["structuredContent"]["sessionId"].as_str() {
            state.set("$SESSION", session);
        }
        state.snapshot = answer.snapshot().unwrap_or_default();
        let shown = format!("{}\n{}", answer.text, state.snapshot);
        let mut faults = Vec::new();
        if answer.is_error != self.is_error {
            faults.push("another result".to_owned());
        }
        for expected in &self.expected {
            let text = state.insert(expected.trim_start_matches("not "));
            if shown.contains(&text) == expected.starts_with("not ") {
                faults.push(format!("`{expected}`"));
            }
        }
        let fault = |what| {
            format!(
                "{} {}: expected {what}, not\n{shown}",
                self.tool, self.arguments
            )
        };
        faults.into_iter().map(fault).collect()
    }
}

impl State {
    pub(crate) fn new(variables: &[(&'static str, &str)]) -> Self {
        let mut state = Self::default();
        variables
            .iter()
            .for_each(|(name, value)| state.set(name, value));
        state
    }

    fn set(&mut self, name: &'static str, value: &str) {
        self.variables.retain(|(known, _)| *known != name);
        self.variables.push((name, value.to_owned()));
    }

    /// Returns a text with the values of its variables.
    pub(crate) fn insert(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, value) in &self.variables {
            text = text.replace(name, value);
        }
        let Some((before, rest)) = text.split_once("$ref(") else {
            return text;
        };
        let (target, after) = rest.split_once(')').expect("a parenthesis");
        let (role, name) = target.split_once(' ').expect("a role and a name");
        let found = find_ref(&self.snapshot, role, name).unwrap_or_else(|why| why);
        format!("{before}{found}{after}")
    }
}

/// Returns the ref of the first element of this role and name, or of the last element of this role without a name if that is empty, in a
/// snapshot of any server: `- button "Go" [ref=e4]`, `button "Go" e4`, `uid=1_4 button "Go"`.
pub(crate) fn find_ref(snapshot: &str, role: &str, name: &str) -> Result<String, String> {
    let mut refs = snapshot.lines().filter_map(|line| ref_in(line, role, name));
    let found = match name {
        "" => refs.next_back(),
        _ => refs.next(),
    };
    let missing = || format!("{role} {name:?} is not in the snapshot");
    found.map(str::to_owned).ok_or_else(missing)
}

fn ref_in<'a>(line: &'a str, role: &str, name: &str) -> Option<&'a str> {
    let (before, rest) = line.match_indices(role).find_map(|(start, _)| {
        let (before, rest) = (&line[..start], &line[start + role.len()..]);
        let rest = match name {
            "" if rest.is_empty() => rest,
            "" if rest.starts_with(" \"") => return None,
            "" => rest.strip_prefix(' ')?,
            name => rest.strip_prefix(&format!(" \"{name}\""))?,
        };
        (before.is_empty() || before.ends_with(' ')).then_some((before, rest))
    })?;
    if let Some(uid) = before.trim_start().strip_prefix("uid=") {
        return Some(uid.trim_end());
    }
    rest.split([' ', '[', ']', ',', ':']).find_map(|word| {
        let word = word.strip_prefix("ref=").unwrap_or(word);
        let number = word.rsplit_once('e').map(|(_, number)| number);
        number?.parse::<u32>().is_ok().then_some(word)
    })
}
