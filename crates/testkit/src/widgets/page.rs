//! One page in the browsers of three servers: ours in both styles, and `@playwright/mcp`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{CallResult, Client, Launch};
use crate::engine::Engine;
use crate::prerequisites::playwright_mcp;
use crate::site::Site;
use crate::snapshot::Node;
use crate::tasks::{Server, Task};

use super::judge::{Judgement, Peer, PeerElement, Report};
use super::lines::{Lines, Style};

/// The timeout of a call. A busy machine needs seconds for a page of megabytes.
const TIMEOUT: Duration = Duration::from_secs(60);
/// All of a page is in the viewport, so that a pointer reaches it.
const VIEWPORT: &str = "1280x1600";

/// The servers, and the site with the pages.
pub(super) struct Browsers {
    compact: Client,
    playwright: Client,
    peer: Client,
    /// A server with its defaults, for tasks.
    agent: Client,
    url: String,
    _site: Site,
}

impl Browsers {
    pub(super) async fn start(program: &Path, engine: Engine) -> Self {
        let site = Site::start().await;
        let url = site.add_folder("/widgets/", super::folder());
        let ours = |style: Style| {
            let flags = [
                "--headless",
                "--isolated",
                "--max-answer-tokens",
                "0",
                "--viewport-size",
                VIEWPORT,
            ];
            let launch = Launch::new(program)
                .args(flags)
                .args(["--answers", style.name()]);
            launch.args(engine.args().iter().copied()).limit(TIMEOUT)
        };
        let browser = format!(
            "--executable-path={}",
            Engine::Chromium.executable().display()
        );
        let cli = playwright_mcp();
        let flags = [
            "--headless",
            "--isolated",
            "--no-sandbox",
            "--viewport-size",
            VIEWPORT,
            &browser,
        ];
        let peer = Launch::new("node")
            .args([cli.as_os_str()])
            .args(flags)
            .limit(TIMEOUT);
        let agent = Launch::new(program).args([
            "--headless",
            "--isolated",
            "--answers",
            "compact",
            "--changes",
            "on",
        ]);
        let agent = agent.args(engine.args().iter().copied()).limit(TIMEOUT);
        let (compact, playwright, peer, agent) = tokio::join!(
            ours(Style::Compact).start(),
            ours(Style::Playwright).start(),
            peer.start(),
            agent.start()
        );
        fs::write(agent.workspace().join("upload.txt"), "a file")
            .expect("the workspace can be written");
        Self {
            compact,
            playwright,
            peer,
            agent,
            url,
            _site: site,
        }
    }

    /// Judges both styles on a page, and does its task.
    ///
    /// # Errors
    /// The answer that prevents it.
    pub(super) async fn judge(&self, name: &str, task: Option<&Task>) -> Result<Judgement, String> {
        let url = format!("{}{name}.html", self.url);
        let peer = self.read_peer(&url).await?;
        let mut judgement = Judgement::default();
        for (style, client) in [
            (Style::Compact, &self.compact),
            (Style::Playwright, &self.playwright),
        ] {
            let lines = open(client, &url, style).await?;
            for shown in lines.shown() {
                let Node {
                    role,
                    name,
                    reference,
                    ..
                } = shown.node;
                let function = format!("element => ({REGISTER})(element, {})", json!(reference));
                let arguments = json!({ "target": reference, "function": function });
                if succeed(client, "browser_evaluate", arguments)
                    .await
                    .is_err()
                {
                    let name = name.as_deref().unwrap_or_default();
                    let refused = format!("{}: ref refused: {role} {name:?}", style.name());
                    judgement.differences.insert(refused);
                }
            }
            let paths: Vec<_> = peer.elements.iter().map(|element| &element.path).collect();
            let function = format!("() => judge.report({})", json!(paths));
            let report = evaluate(client, &function).await?;
            let report: Report = serde_json::from_value(report).map_err(|it| it.to_string())?;
            judgement.compare(style, &lines, &report, &peer);
        }
        if let Some(task) = task {
            let opened = succeed(&self.agent, "browser_navigate", json!({ "url": url })).await?;
            judgement.add_task(
                task.perform(&self.agent, Server::Playhouse, Some(opened.text), &url)
                    .await,
            );
        }
        Ok(judgement)
    }

    /// Returns what the peer shows, with the path of each element.
    async fn read_peer(&self, url: &str) -> Result<Peer, String> {
        let lines = open(&self.peer, url, Style::Playwright).await?;
        // Each of its calls takes half a second.
        let code = format!(
            "async page => {{
  for (const ref of {}) await page.locator('aria-ref=' + ref).evaluate({REGISTER}, ref);
}}",
            json!(refs(&lines))
        );
        succeed(
            &self.peer,
            "browser_run_code_unsafe",
            json!({ "code": code }),
        )
        .await?;
        let paths = evaluate(&self.peer, "() => judge.paths()").await?;
        let elements = lines.shown().filter_map(|shown| {
            let path = paths[shown.node.reference.as_deref()?].as_str()?;
            Some(PeerElement {
                node: shown.node.clone(),
                content: shown.content(),
                path: path.to_owned(),
            })
        });
        Ok(Peer {
            elements: elements.collect(),
        })
    }
}

/// Stores the element of a ref in the page, where the judge compares it with what it found itself.
const REGISTER: &str =
    "(element, ref) => { element.ownerDocument.defaultView.top.judge.add(ref, element); }";

fn refs(lines: &Lines) -> Vec<String> {
    let shown = lines.shown();
    shown
        .filter_map(|shown| shown.node.reference.clone())
        .collect()
}

/// Opens a page, waits until it stops changing, and returns its snapshot.
async fn open(client: &Client, url: &str, style: Style) -> Result<Lines, String> {
    succeed(client, "browser_navigate", json!({ "url": url })).await?;
    let settle = json!({ "function": "() => judge.settle()" });
    succeed(client, "browser_evaluate", settle).await?;
    let answer = succeed(client, "browser_snapshot", json!({})).await?;
    let snapshot = answer
        .snapshot()
        .ok_or_else(|| format!("no snapshot: {}", answer.text))?;
    Ok(Lines::read(&snapshot, style))
}

async fn evaluate(client: &Client, function: &str) -> Result<Value, String> {
    let arguments = json!({ "function": function });
    let answer = succeed(client, "browser_evaluate", arguments).await?;
    serde_json::from_str(answer.result()).map_err(|error| format!("{error}: {}", answer.text))
}

async fn succeed(client: &Client, tool: &str, arguments: Value) -> Result<CallResult, String> {
    let answer = client.try_call(tool, arguments).await;
    let answer = answer.map_err(|why| format!("{tool}: {why}"))?;
    match answer.is_error {
        true => Err(format!("{tool}: {}", answer.text)),
        false => Ok(answer),
    }
}
