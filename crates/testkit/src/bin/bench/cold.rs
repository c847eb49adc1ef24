//! The costs of a server from its start: time to the first responses, memory, processor time, and a complete task. Servers run one at a
//! time, because instances of a program share memory pages.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use testkit::Site;
use testkit::process_stats::{Depth, ProcessStats};

use crate::plan::Plan;
use crate::samples::Samples;
use crate::servers::{Running, Server};
use crate::steps::Step;
use crate::warm::{button, field, fill};
use crate::{contexts, tokens};

/// How long a server is idle before its memory is measured.
const REST: Duration = Duration::from_millis(500);
/// The number of rounds of five operations for the processor time, and their fraction of a hundred operations.
const TURNS: usize = 10;
const HUNDRED: f64 = 2.0;
const MEGABYTE: f64 = 1024.0 * 1024.0;

/// The measurement of one server in one round on one browser.
pub(crate) struct Cold<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) site: &'a Site,
    pub(crate) browser: &'a Path,
    pub(crate) server: &'a Server,
    pub(crate) round: usize,
    pub(crate) samples: &'a mut Samples,
}

impl Cold<'_> {
    /// Measures the selected metrics.
    pub(crate) async fn measure(&mut self) {
        if self.plan.wants_any(&[
            "spawn",
            "first-navigate",
            "memory",
            "cpu",
            "browser",
            "context",
            "tokens-tools",
        ]) {
            eprintln!("  life of {}", self.server.key);
            let mut running = self.server.start(self.browser).await;
            let spent = running.listed.as_secs_f64() * 1e3;
            self.add("spawn", spent);
            self.add_tokens("tokens-tools", &tools_text(&running));
            if let Err((metric, why)) = self.life(&mut running).await {
                self.samples.fail(metric, self.server.key, why);
            }
            running.end().await;
        }
        if self
            .plan
            .wants_any(&["task-cold", "task-warm", "tokens-task"])
        {
            eprintln!("  task of {}", self.server.key);
            let mut running = self.server.start(self.browser).await;
            if let Err(why) = self.tasks(&mut running).await {
                self.samples.fail("task-warm", self.server.key, why);
            }
            running.end().await;
        }
    }

    fn add(&mut self, metric: &'static str, value: f64) {
        if self.plan.wants(metric) {
            self.samples.add(metric, self.server.key, self.round, value);
        }
    }

    fn add_tokens(&mut self, metric: &'static str, text: &str) {
        if self.plan.wants(metric)
            && !text.is_empty()
            && let Some(count) = tokens::count(text)
        {
            self.add(metric, count);
        }
    }

    async fn rest(&self, running: &Running) -> ProcessStats {
        tokio::time::sleep(REST).await;
        running.stats(Depth::Memory)
    }

    async fn life(&mut self, running: &mut Running) -> Result<(), (&'static str, String)> {
        if self.plan.wants("memory-idle") {
            let stats = self.rest(running).await;
            self.add("memory-idle", stats.servers.memory as f64 / MEGABYTE);
        }
        let failed = |metric| move |why| (metric, why);
        let tiny = Step::Navigate(self.site.url("/tiny?1"));
        let first = running
            .step(&tiny)
            .await
            .map_err(failed("first-navigate"))?;
        running
            .shows(&["Tiny 1".to_owned()])
            .await
            .map_err(failed("first-navigate"))?;
        self.add("first-navigate", first.took.as_secs_f64() * 1e3);
        if self.plan.wants_any(&["memory-launched", "browser-memory"]) {
            let stats = self.rest(running).await;
            self.add("memory-launched", stats.servers.memory as f64 / MEGABYTE);
            self.add("browser-memory", stats.browsers.memory as f64 / MEGABYTE);
        }
        // The variant without settling launches the browser with the same switches.
        if self.plan.wants("context") && matches!(self.server.key, "pw" | "ours") {
            let limit = Duration::from_secs(60);
            let measured = tokio::time::timeout(limit, contexts::memory(running)).await;
            match measured.unwrap_or_else(|_| Err(format!("nothing within {limit:?}"))) {
                Ok(bytes) => self.add("context", bytes / MEGABYTE),
                Err(why) => self.samples.fail("context", self.server.key, why),
            }
        }
        if self.plan.wants("cpu") {
            self.work(running).await.map_err(failed("cpu"))?;
        }
        if self
            .plan
            .wants_any(&["memory-used", "browser-memory-table"])
        {
            let failed = failed("memory-used");
            running
                .step(&Step::Navigate(self.site.url("/table?1")))
                .await
                .map_err(failed)?;
            for _ in 0..10 {
                running.step(&Step::Look).await.map_err(failed)?;
            }
            let stats = self.rest(running).await;
            self.add("memory-used", stats.servers.memory as f64 / MEGABYTE);
            self.add(
                "browser-memory-table",
                stats.browsers.memory as f64 / MEGABYTE,
            );
        }
        Ok(())
    }

    /// Runs operations on the form page, and measures the processor time of a hundred of them for server and browser.
    async fn work(&mut self, running: &mut Running) -> Result<(), String> {
        let before = running.stats(Depth::Quick);
        for turn in 1..=TURNS {
            running
                .step(&Step::Navigate(self.site.url("/form")))
                .await?;
            running.step(&Step::Look).await?;
            running.step(&Step::Click(button("Count", "#go"))).await?;
            running
                .step(&Step::Type(field(1), format!("kettle {turn}")))
                .await?;
            running
                .step(&Step::Evaluate("document.title".to_owned()))
                .await?;
        }
        let after = running.stats(Depth::Quick);
        running
            .shows(&["count 1".to_owned(), format!("kettle {TURNS}")])
            .await?;
        let spent = |before: f64, after: f64| (after - before) * HUNDRED / 1e3;
        self.add("cpu", spent(before.servers.cpu, after.servers.cpu));
        self.add(
            "browser-cpu",
            spent(before.browsers.cpu, after.browsers.cpu),
        );
        Ok(())
    }

    /// Measures the task from the spawn of the server, and again.
    async fn tasks(&mut self, running: &mut Running) -> Result<(), String> {
        let texts = self.task(running, 1).await?;
        self.add("task-cold", running.started.elapsed().as_secs_f64() * 1e3);
        self.add_tokens("tokens-task", &texts);
        let start = std::time::Instant::now();
        self.task(running, 2).await?;
        self.add("task-warm", start.elapsed().as_secs_f64() * 1e3);
        Ok(())
    }

    /// Runs the ten steps; returns the answers.
    async fn task(&self, running: &mut Running, n: usize) -> Result<String, String> {
        let mut texts = String::new();
        for (number, step) in task(self.site, n).iter().enumerate() {
            for answer in running.step(step).await?.answers {
                texts += &answer.text;
                texts.push('\n');
            }
            let sent = format!("sent value 1 of {n}.");
            if number == 5 && !running.snapshot.contains(&sent) {
                return Err(format!("the page does not show {sent:?}"));
            }
        }
        Ok(texts)
    }
}

/// Returns ten steps of an agent; each depends on the result of the one before.
pub(crate) fn task(site: &Site, n: usize) -> [Step; 10] {
    [
        Step::Navigate(site.url(&format!("/form?{n}"))),
        Step::Look,
        Step::Type(field(1), format!("kettle {n}")),
        fill(5, n),
        Step::Click(button("Send", "#send")),
        Step::Look,
        Step::Navigate(site.url("/spa")),
        Step::Look,
        Step::Click(button("Load 50", "#b50")),
        Step::Wait("loaded 50 no 1.".to_owned()),
    ]
}

/// Returns the tool list as a model sees it: without annotations and schema dialect, which are for clients.
pub(crate) fn tools_text(running: &Running) -> String {
    let shown = running.tools.iter().map(|tool| {
        let mut tool = tool.clone();
        if let Some(tool) = tool.as_object_mut() {
            tool.shift_remove("annotations");
            if let Some(schema) = tool.get_mut("inputSchema").and_then(Value::as_object_mut) {
                schema.shift_remove("$schema");
            }
        }
        tool.to_string()
    });
    shown.collect::<Vec<_>>().join("\n")
}
