//! Writing a Playwright test of what the session did.

use super::replay::{self, REPLAY_TIMEOUT, Replay};
use super::test_file::TestFile;
use super::{RecordedStatements, Statements};
use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::config::Capability;
use crate::error::{Error, Result};
use crate::sessions::session::Session;
use crate::sessions::{SessionOptions, Visible};
use crate::tools::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<ExportTest>()];

/// Write a Playwright test of what this session did, and replay it in a fresh context.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExportTest {
    /// File to write.
    filename: Option<String>,
    /// Title of the test.
    name: Option<String>,
}

impl Tool for ExportTest {
    const NAME: &'static str = "browser_export_test";
    const TITLE: &'static str = "Export a Playwright test";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Testing);
    const EXTRA_TIME: Duration = REPLAY_TIMEOUT;
    type Scope = (Arc<Session>, Visible);
    type Output = Reply;

    async fn run(self, (session, sessions): (Arc<Session>, Visible), call: &Call) -> Result<Reply> {
        let mut recorded = session.feature::<Statements>().recorded();
        if recorded.statements.is_empty() {
            return Err(Error::NotInProgress {
                reason: "The session has no statements to export: navigate and act on a page first.",
            });
        }
        let files = session.files(call).await;
        // Fails before the replay if the file must not be written.
        let named = self.filename.as_deref();
        let named = named.map(|name| files.writable(name)).transpose()?;
        let _slot = sessions.context_slot(call)?;
        let replay = replayed(&session, call, &recorded).await;
        let dropped = remove_unverified(&mut recorded, &replay);
        let name = self.name.unwrap_or_else(|| title(&recorded));
        let test = TestFile::new(&name, &recorded);
        let report = report(&replay, &recorded, &test, dropped);
        let file = match named {
            Some(file) => file,
            None => files.automatic("test", "spec.ts").await?,
        };
        files.write(&file, test.text).await?;
        Ok(report.and(Part::File {
            title: "Test".to_owned(),
            link: file.link,
        }))
    }
}

/// Replays the statements in a fresh browser context, which is closed afterwards.
async fn replayed(session: &Session, call: &Call, recorded: &RecordedStatements) -> Replay {
    call.set_status("replaying the test");
    let replay = async {
        let mut settings = SessionOptions::default().applied_to_context(session.settings())?;
        settings.context.name = Some("replay".to_owned());
        let context = session.open_context(call, settings).await?;
        let replay = match context.session() {
            Some(fresh) => replay::run(fresh, call, recorded).await,
            None => Err(engine::Error::PageClosed {}.into()),
        };
        context.close().await;
        replay
    };
    let replay: Result<Replay> = replay.await;
    call.clear_status();
    replay.unwrap_or_else(|error| Replay::failed(format!("The replay did not begin: {error}")))
}

/// Removes the derived assertions that did not hold in the replay, or that it did not reach. Returns the number of those that did not hold.
fn remove_unverified(recorded: &mut RecordedStatements, replay: &Replay) -> usize {
    let mut index = 0;
    recorded.statements.retain(|statement| {
        let is_verified = index < replay.reached && !replay.wrong.contains(&index);
        index += 1;
        is_verified || !statement.is_derived
    });
    replay.wrong.len()
}

/// Returns the title of a test without one: the host of its first URL.
fn title(recorded: &RecordedStatements) -> String {
    let first = recorded.statements.first();
    let host = first.and_then(|it| it.code.split_once("://")?.1.split(['/', '\'']).next());
    match host.filter(|host| !host.is_empty()) {
        Some(host) => format!("session on {host}"),
        None => "session".to_owned(),
    }
}

/// Returns the answer: the result of the replay, and what the test does not have.
fn report(
    replay: &Replay,
    recorded: &RecordedStatements,
    test: &TestFile,
    dropped: usize,
) -> Reply {
    let steps = recorded.statements.len();
    let seconds = replay.time.as_secs_f64();
    let reply = match &replay.error {
        None => Reply::text(format!(
            "Replayed in a fresh browser context: {steps} of {steps} steps passed in {seconds:.1} s"
        )),
        Some(error) => {
            let passed = replay.reached.saturating_sub(dropped);
            let line = test.lines.get(passed).copied().unwrap_or_default();
            let failed = format!(
                "The replay in a fresh browser context failed at step {} of {steps} (line {line}), after {seconds:.1} s:",
                passed + 1
            );
            // The error can contain texts of the page.
            Reply::text(failed)
                .and(Part::Page(error.clone()))
                .and_text("If the application keeps state on its server, reset that before the test. The test has no cookies of the session: log in with calls.")
        }
    };
    let counts = [
        (
            "Left out because they did not hold in the replay: assertions",
            dropped,
        ),
        (
            "Left out because they were too old or too long: statements",
            recorded.left_out,
        ),
        (
            "Not replayed, for Playwright only: toMatchAriaSnapshot",
            replay.skipped,
        ),
    ];
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    let reply = counts.fold(reply, |reply, (what, count)| {
        reply.and_text(format!("{what}: {count}"))
    });
    let names: Vec<_> = recorded.variables.names().collect();
    match names.is_empty() {
        true => reply,
        false => reply.and_text(format!(
            "The test needs the environment variables {}",
            names.join(", ")
        )),
    }
}
