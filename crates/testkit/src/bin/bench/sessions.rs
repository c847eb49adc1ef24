//! The costs of sessions: Playhouse and bare commands, which also create a browser context for each.

use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use serde_json::json;
use testkit::Site;
use testkit::process_stats::Depth;

use crate::cold::task;
use crate::plan::Plan;
use crate::samples::Samples;
use crate::servers::{Running, Server};
use crate::steps::{Step, Vocabulary};

/// The number of concurrent sessions.
const AT_ONCE: usize = 50;
/// The number of sessions that are created one after the other, and of idle ones while memory is measured.
const ONE_BY_ONE: usize = 5;
const IDLE: usize = 20;
/// How long the server is idle before its memory is measured.
const REST: Duration = Duration::from_millis(500);
const MEGABYTE: f64 = 1024.0 * 1024.0;

/// Measures one round of the selected metrics on the servers that have sessions.
pub(crate) async fn measure(
    plan: &Plan,
    site: &Site,
    browser: &Path,
    servers: &[Server],
    round: usize,
    samples: &mut Samples,
) {
    if !plan.wants_any(&["session", "sessions", "session-memory"]) {
        return;
    }
    for server in servers {
        let args: &[&str] = match server.key {
            "ours" => &["--toolsets", "browser,session", "--max-sessions", "60"],
            "floor" => &[],
            _ => continue,
        };
        eprintln!("  sessions of {}", server.key);
        let mut running = server.with(args).start(browser).await;
        let sitting = Sitting {
            plan,
            site,
            server: server.key,
            round,
        };
        if let Err((metric, why)) = sitting.measure(&mut running, samples).await {
            samples.fail(metric, server.key, why);
        }
        running.end().await;
    }
}

struct Sitting<'a> {
    plan: &'a Plan,
    site: &'a Site,
    server: &'static str,
    round: usize,
}

impl Sitting<'_> {
    async fn measure(
        &self,
        running: &mut Running,
        samples: &mut Samples,
    ) -> Result<(), (&'static str, String)> {
        let failed = |metric| move |why| (metric, why);
        let mut add = |metric: &'static str, value: f64| {
            if self.plan.wants(metric) {
                samples.add(metric, self.server, self.round, value);
            }
        };
        // Launches the browser and loads its first page.
        let warm = Step::Navigate(self.site.url("/tiny?0"));
        running.step(&warm).await.map_err(failed("session"))?;
        for n in 0..=ONE_BY_ONE {
            let took = self.one(running, n).await.map_err(failed("session"))?;
            // The first one is a warm-up.
            if n > 0 {
                add("session", took.as_secs_f64() * 1e3);
            }
        }
        if running.vocabulary != Vocabulary::Baseline {
            let grown = self.idle(running).await;
            let grown = grown.map_err(failed("session-memory"))?;
            add("session-memory", grown / MEGABYTE);
        }
        let took = self.many(running).await.map_err(failed("sessions"))?;
        add("sessions", took.as_secs_f64() * 1e3);
        Ok(())
    }

    /// Measures a session from its creation to its first page.
    async fn one(&self, running: &Running, n: usize) -> Result<Duration, String> {
        let start = Instant::now();
        let session = open(running).await?;
        let go = Step::Navigate(self.site.url(&format!("/tiny?{n}")));
        let mut snapshot = String::new();
        running.step_in(Some(&session), &mut snapshot, &go).await?;
        let took = start.elapsed();
        shows(running, &session, &format!("Tiny {n}")).await?;
        close(running, &session).await?;
        Ok(took)
    }

    /// Returns the memory of the server for each idle session with a page, in bytes.
    async fn idle(&self, running: &Running) -> Result<f64, String> {
        let memory = async || {
            tokio::time::sleep(REST).await;
            running.stats(Depth::Memory).servers.memory as f64
        };
        let before = memory().await;
        let mut sessions = Vec::new();
        for n in 0..IDLE {
            let session = open(running).await?;
            let go = Step::Navigate(self.site.url(&format!("/tiny?{n}")));
            running
                .step_in(Some(&session), &mut String::new(), &go)
                .await?;
            sessions.push(session);
        }
        let after = memory().await;
        for session in &sessions {
            close(running, session).await?;
        }
        Ok((after - before) / IDLE as f64)
    }

    /// Measures the task in many concurrent sessions.
    async fn many(&self, running: &Running) -> Result<Duration, String> {
        let sessions = try_join_all((0..AT_ONCE).map(|_| open(running))).await?;
        let start = Instant::now();
        try_join_all(sessions.iter().enumerate().map(async |(n, session)| {
            let mut snapshot = String::new();
            for step in task(self.site, n) {
                running.step_in(Some(session), &mut snapshot, &step).await?;
            }
            Ok::<_, String>(())
        }))
        .await?;
        let took = start.elapsed();
        for session in &sessions {
            shows(running, session, "loaded 50 no 1.").await?;
            close(running, session).await?;
        }
        Ok(took)
    }
}

async fn open(running: &Running) -> Result<String, String> {
    let (tool, text) = match running.vocabulary {
        Vocabulary::Baseline | Vocabulary::SettledFloor => ("open", true),
        _ => ("create_session", false),
    };
    let answer = running.call(tool, json!({})).await?;
    if text {
        return Ok(answer.text);
    }
    let id = answer.raw["structuredContent"]["sessionId"].as_str();
    id.map(str::to_owned)
        .ok_or_else(|| format!("no session in {}", answer.text))
}

async fn close(running: &Running, session: &str) -> Result<(), String> {
    let tool = match running.vocabulary {
        Vocabulary::Baseline | Vocabulary::SettledFloor => "close",
        _ => "close_session",
    };
    let mut arguments = json!({});
    arguments[running.vocabulary.session_parameter()] = session.into();
    running.call(tool, arguments).await.map(drop)
}

async fn shows(running: &Running, session: &str, mark: &str) -> Result<(), String> {
    let mut snapshot = String::new();
    running
        .step_in(Some(session), &mut snapshot, &Step::Look)
        .await?;
    match snapshot.contains(mark) {
        true => Ok(()),
        false => Err(format!("the page does not show {mark:?}")),
    }
}
