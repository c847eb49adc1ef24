//! The costs of a server from its start: time to the first responses, memory, processor time, a complete task, and sessions. Servers run one
//! at a time, because instances of a program share memory pages.

use std::time::Instant;

use futures_util::future::try_join_all;
use serde_json::json;
use testkit::process_stats::Depth;

use super::Round;
use super::answers::tokens;
use super::servers::{Running, Server, View};
use super::steps::TASK;
use super::workloads::METRICS;
use crate::milliseconds;

/// The number of rounds of five operations for the processor time, and their fraction of a hundred operations.
const TURNS: usize = 10;
const HUNDRED: f64 = 2.0;
const OPERATIONS: &str = r##"navigate /form ; see ; click button "Count" #go ; type textbox "Field 1" #f1 = kettle $n ; evaluate document.title"##;
/// The number of sessions that are created one after the other, of idle ones while memory is measured, and of concurrent ones.
const ONE_BY_ONE: usize = 5;
const IDLE: usize = 20;
const AT_ONCE: usize = 50;

/// Measures one round of the selected metrics.
pub(super) async fn measure(round: &mut Round<'_>, server: &Server) {
    for group in ["life", "tasks", "sessions"] {
        let has_sessions = matches!(server.key, "ours" | "floor");
        let mut metrics = METRICS.iter().filter(|metric| metric.group == group);
        let is_selected = metrics.any(|metric| round.plan.wants(metric.key));
        if !is_selected || group == "sessions" && !has_sessions {
            continue;
        }
        eprintln!("  {group} of {}", server.key);
        let server = match (group, server.key) {
            ("sessions", "ours") => {
                &server.with(&["--toolsets", "browser,session", "--max-sessions", "60"])
            }
            _ => server,
        };
        let running = server.start().await;
        let done = match group {
            "life" => measure_life(round, &running).await,
            "tasks" => measure_tasks(round, &running).await,
            _ => measure_sessions(round, &running).await,
        };
        if let Err(why) = done {
            round.fail(server.key, why);
        }
        running.end().await;
    }
}

/// Adds the memory of the idle server and of its browsers.
async fn add_memory(round: &mut Round<'_>, running: &Running, metrics: [&'static str; 2]) {
    if round.begin(metrics[1]) | round.begin(metrics[0]) {
        let memory = running.memory().await;
        round.add(metrics[0], running.key, memory[0]);
        round.add(metrics[1], running.key, memory[1]);
    }
}

async fn measure_life(round: &mut Round<'_>, running: &Running) -> Result<(), String> {
    let (key, view) = (running.key, &mut View::default());
    round.add("spawn", key, running.listed);
    // The baseline has no tools.
    let text = Some(running.tools_text()).filter(|text| !text.is_empty());
    let text = text.filter(|_| round.begin("tokens-tools"));
    if let Some(count) = text.and_then(|text| tokens(&text)) {
        round.add("tokens-tools", key, count as f64);
    }
    if round.begin("memory-idle") {
        round.add("memory-idle", key, running.memory().await[0]);
    }
    round.begin("first-navigate");
    let (spent, _) = running.run(view, "navigate /tiny?1", 1).await?;
    round.add("first-navigate", key, spent);
    running.expect(view, "Tiny 1").await?;
    add_memory(round, running, ["memory-launched", "browser-memory"]).await;
    if round.begin("browser-cpu") | round.begin("cpu") {
        let before = running.stats(Depth::Quick);
        for turn in 1..=TURNS {
            running.run(view, OPERATIONS, turn).await?;
        }
        let after = running.stats(Depth::Quick);
        running.expect(view, "count 1").await?;
        running.expect(view, &format!("kettle {TURNS}")).await?;
        let seconds = |before: f64, after: f64| (after - before) * HUNDRED / 1e3;
        let spent = seconds(before.servers.cpu, after.servers.cpu);
        round.add("cpu", key, spent);
        let spent = seconds(before.browsers.cpu, after.browsers.cpu);
        round.add("browser-cpu", key, spent);
    }
    if round.begin("browser-memory-table") | round.begin("memory-used") {
        let steps = "navigate /table?1".to_owned() + &" ; see".repeat(10);
        running.run(view, &steps, 1).await?;
        add_memory(round, running, ["memory-used", "browser-memory-table"]).await;
    }
    Ok(())
}

/// Measures the task from the spawn of the server, and again.
async fn measure_tasks(round: &mut Round<'_>, running: &Running) -> Result<(), String> {
    let view = &mut View::default();
    let at = TASK.find(" ; navigate /spa").expect("two pages");
    for (n, metric) in [(1, "task-cold"), (2, "task-warm")] {
        round.begin(metric);
        let start = if n == 1 {
            running.start
        } else {
            Instant::now()
        };
        running.run(view, &TASK[..at], n).await?;
        if !view.snapshot.contains(&format!("sent value 1 of {n}.")) {
            return Err("the form was not sent".to_owned());
        }
        running.run(view, &TASK[at + 3..], n).await?;
        round.add(metric, running.key, milliseconds(start));
    }
    Ok(())
}

async fn measure_sessions(round: &mut Round<'_>, running: &Running) -> Result<(), String> {
    let key = running.key;
    round.begin("session");
    // Launches the browser and loads its first page.
    let first = &mut View::default();
    running.run(first, "navigate /tiny?0", 0).await?;
    for n in 0..=ONE_BY_ONE {
        let start = Instant::now();
        let session = create_session(running, "navigate /tiny?$n", n).await?;
        // The first one is a warm-up.
        if n > 0 {
            round.add("session", key, milliseconds(start));
        }
        close_session(running, session, &format!("Tiny {n}")).await?;
    }
    if round.begin("context") | round.begin("session-memory") {
        let before = running.memory().await;
        let mut sessions = Vec::new();
        for n in 0..IDLE {
            sessions.push(create_session(running, "navigate /tiny?$n", n).await?);
        }
        let after = running.memory().await;
        for (nth, metric) in ["session-memory", "context"].into_iter().enumerate() {
            round.add(metric, key, (after[nth] - before[nth]) / IDLE as f64);
        }
        for (n, session) in sessions.into_iter().enumerate() {
            close_session(running, session, &format!("Tiny {n}")).await?;
        }
    }
    if round.begin("sessions") {
        let sessions = (0..AT_ONCE).map(|n| create_session(running, "", n));
        let mut sessions = try_join_all(sessions).await?;
        let start = Instant::now();
        let views = sessions.iter_mut().enumerate();
        try_join_all(views.map(|(n, view)| running.run(view, TASK, n))).await?;
        round.add("sessions", key, milliseconds(start));
        for session in sessions {
            close_session(running, session, "loaded 50 no 1.").await?;
        }
    }
    Ok(())
}

/// Creates a session, and runs steps in it.
async fn create_session(running: &Running, steps: &str, n: usize) -> Result<View, String> {
    let answer = running.call("create_session", json!({})).await?;
    let id = answer.raw["structuredContent"]["sessionId"].as_str();
    let session = Some(id.unwrap_or(&answer.text).to_owned());
    let snapshot = String::new();
    let mut view = View { session, snapshot };
    if !steps.is_empty() {
        running.run(&mut view, steps, n).await?;
    }
    Ok(view)
}

/// Closes a session whose page shows a text.
async fn close_session(running: &Running, mut view: View, text: &str) -> Result<(), String> {
    running.expect(&mut view, text).await?;
    let session = json!({ "sessionId": view.session });
    running.call("close_session", session).await.map(drop)
}
