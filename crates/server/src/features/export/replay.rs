//! The replay of statements in the engine for code of clients.

use super::RecordedStatements;
use crate::calls::Call;
use crate::error::Result;
use crate::sessions::session::Session;
use script::{End, Script};
use serde::Deserialize;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a replay may take.
pub(super) const REPLAY_TIMEOUT: Duration = Duration::from_secs(60);
/// The timeout of derived assertions, in ms. One that needs longer is not stable.
const ASSERTION_TIMEOUT: u32 = 2_000;
/// The matcher that the engine does not have.
const ARIA_SNAPSHOT: &str = ".toMatchAriaSnapshot(";
/// The name of the code in stack traces.
const CODE_NAME: &str = "test.js";

/// The outcome of a replay.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Replay {
    /// The number of statements before the one that failed.
    pub(super) reached: usize,
    /// The indexes of the derived assertions that did not hold.
    pub(super) wrong: Vec<usize>,
    /// The reason of the failure.
    pub(super) error: Option<String>,
    /// The number of statements that were not replayed.
    #[serde(skip)]
    pub(super) skipped: usize,
    #[serde(skip)]
    pub(super) time: Duration,
}

impl Replay {
    /// Returns the outcome of a replay that did not begin.
    pub(super) fn failed(error: String) -> Self {
        Self {
            error: Some(error),
            ..Self::default()
        }
    }
}

/// Runs the statements in the current tab of a session.
pub(super) async fn run(
    session: &Arc<Session>,
    call: &Call,
    recorded: &RecordedStatements,
) -> Result<Replay> {
    let began = Instant::now();
    let page = session.current_tab(call).await?.page.clone();
    let context = session.script_context(call, page)?;
    let (code, skipped) = program(recorded);
    let mut script = Script::function(CODE_NAME.to_owned(), code, context);
    let outcome = tokio::time::timeout(REPLAY_TIMEOUT, script.ended()).await;
    let mut replay = match outcome.map(|outcome| outcome.end) {
        Ok(End::Value(Some(json))) => serde_json::from_str(&json)
            .unwrap_or_else(|error| Replay::failed(format!("no outcome: {error}"))),
        Ok(End::Failed(error)) => Replay::failed(error),
        Ok(End::Dialog) => Replay::failed("A dialog is open that no statement handles.".to_owned()),
        Ok(End::Value(None) | End::Paused) => Replay::failed("The code did not end.".to_owned()),
        Err(_) => Replay::failed(format!(
            "The replay took longer than {} s.",
            REPLAY_TIMEOUT.as_secs()
        )),
    };
    replay.error = replay
        .error
        .map(|error| call.settings.secrets.redacted(error));
    replay.skipped = skipped;
    replay.time = began.elapsed();
    Ok(replay)
}

/// Returns the code of the replay, and the number of statements that it leaves out.
fn program(recorded: &RecordedStatements) -> (String, usize) {
    let values = recorded.variables.pairs().iter();
    let values = values.map(|(name, value)| (name.clone(), value.clone().into()));
    let values: serde_json::Map<String, serde_json::Value> = values.collect();
    let mut skipped = 0;
    let mut steps = String::new();
    for statement in &recorded.statements {
        let code = match &statement.code {
            code if code.contains(ARIA_SNAPSHOT) => {
                skipped += 1;
                String::new()
            }
            code if statement.is_derived => with_timeout(code),
            code => code.clone(),
        };
        let is_derived = statement.is_derived;
        let _ = write!(steps, "[{is_derived}, async () => {{\n{code}\n}}],\n");
    }
    let values = serde_json::Value::Object(values);
    let code = format!(
        "async (page) => {{
const process = {{ env: {values} }};
const wrong = [];
for (const [index, [isDerived, step]] of [
{steps}].entries()) {{
  try {{
    await step();
  }} catch (error) {{
    if (!isDerived) return {{ reached: index, wrong, error: String(error) }};
    wrong.push(index);
  }}
}}
return {{ reached: {}, wrong }};
}}",
        recorded.statements.len()
    );
    (code, skipped)
}

/// Returns an assertion with the timeout of derived ones.
fn with_timeout(code: &str) -> String {
    let Some(call) = code.strip_suffix(");") else {
        return code.to_owned();
    };
    let comma = if call.ends_with('(') { "" } else { ", " };
    format!("{call}{comma}{{ timeout: {ASSERTION_TIMEOUT} }});")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_assertions_have_a_timeout() {
        assert_eq!(
            with_timeout("await expect(a).toBeVisible();"),
            "await expect(a).toBeVisible({ timeout: 2000 });"
        );
        assert_eq!(
            with_timeout("await expect(a).toHaveValue('b');"),
            "await expect(a).toHaveValue('b', { timeout: 2000 });"
        );
    }
}
