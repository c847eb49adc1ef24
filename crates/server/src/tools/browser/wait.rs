//! Waiting.

use super::network::summary;
use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::error::{Error, Problem, Result};
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::javascript;
use engine::codegen::{Argument, Language, Receiver, Statement};
use engine::{Locator, Progress, Target, UrlPattern, WaitFor as Until};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<WaitFor>()];

/// Wait for text to appear or vanish, or for a time.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WaitFor {
    /// Seconds.
    time: Option<f64>,
    /// Text to appear.
    text: Option<String>,
    /// Text to vanish.
    text_gone: Option<String>,
    /// Glob of the page's URL.
    #[schemars(extend("x-addition" = true))]
    url: Option<String>,
    /// Glob of a request since the last action.
    #[schemars(extend("x-addition" = true))]
    request: Option<String>,
    /// Glob of a response since the last action.
    #[schemars(extend("x-addition" = true))]
    response: Option<String>,
}

impl Tool for WaitFor {
    const NAME: &'static str = "browser_wait_for";
    const TITLE: &'static str = "Wait for";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let network = [&self.request, &self.response, &self.url];
        if self.time.is_none()
            && self.text.is_none()
            && self.text_gone.is_none()
            && network.iter().all(|glob| glob.is_none())
        {
            return Err(Error::Arguments {
                reason: "Either time, text or textGone must be provided".into(),
                parameters: &[],
                missing: &["time", "text", "textGone"],
                bare: false,
            });
        }
        let mut waited = String::new();
        let mut is_of_page = false;
        let mut reply = Reply::default();
        if let Some(seconds) = self.time {
            let code = format!("await new Promise(f => setTimeout(f, {seconds} * 1000));");
            let milliseconds = (seconds * 1000.0).round();
            let statement = Statement::new(Receiver::Page, "waitForTimeout").argument(milliseconds);
            reply = reply.and_statements(call.language(), code, [statement]);
            let time = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(MAX_SECONDS);
            let tabs = tab
                .session
                .open_tabs()
                .ok_or(engine::Error::PageClosed {})?;
            call.set_status(format!("waiting {seconds} s"));
            tokio::select! {
                () = tokio::time::sleep(time.min(MAX_SECONDS)) => {}
                gone = tabs.browser_gone() => return Err(gone),
            }
            waited = format!("{seconds} seconds");
        }
        for (text, visible) in [(&self.text_gone, false), (&self.text, true)] {
            let Some(text) = text else { continue };
            let target = format!("getByText({})", javascript::string(text));
            let locator = tab.page.locator(&target)?.first();
            let code = javascript::wait_for_text(text, visible);
            let statement = wait_statement(&locator, visible);
            reply = reply.and_statements(call.language(), code, statement);
            let until = if visible {
                Until::Visible
            } else {
                Until::Hidden
            };
            let progress = call.action();
            locator.wait_for(&progress, until).await?;
            waited.clone_from(text);
        }
        for (glob, event) in [
            (&self.request, NetworkEvent::Request),
            (&self.response, NetworkEvent::Response),
            (&self.url, NetworkEvent::Url),
        ] {
            let Some(glob) = glob else { continue };
            let pattern = UrlPattern::glob(glob).map_err(|message| Error::InvalidArguments {
                tool: Self::NAME,
                problems: vec![Problem {
                    parameter: event.to_string(),
                    message,
                    missing: false,
                }],
            })?;
            let language = call.language();
            let code = javascript::wait_for_network(&event.to_string(), glob);
            reply = reply.and_statements(language, code, event.statement(language, glob));
            if !matches!(event, NetworkEvent::Url) {
                // A test would wait for an event that its action has caused already.
                reply.test_code.pop();
            }
            waited = event.wait(&tab, call, &pattern).await?;
            is_of_page = true;
        }
        let waited = format!("Waited for {waited}");
        let part = match is_of_page {
            true => Part::Page(waited),
            false => Part::Text(waited),
        };
        Ok(reply.and(part).into_test_step().and_snapshot())
    }
}

/// What a call waits for on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
enum NetworkEvent {
    Request,
    Response,
    Url,
}

/// The largest number of other URLs in the error of a wait.
const MAX_OTHERS: usize = 5;

impl NetworkEvent {
    /// Returns the statement that waits. Python and Java have none for a request that is awaited after its action.
    fn statement(self, language: Language, glob: &str) -> Option<Statement> {
        let method = match (self, language) {
            (Self::Url, Language::Python) => "waitForUrl",
            (Self::Url, _) => "waitForURL",
            (Self::Request, Language::Csharp) => "waitForRequest",
            (Self::Response, Language::Csharp) => "waitForResponse",
            (Self::Request | Self::Response, _) => return None,
        };
        Some(Statement::new(Receiver::Page, method).argument(glob))
    }

    /// Waits until an event matches the pattern, and describes it. Requests and responses since the start of the last action count.
    async fn wait(self, tab: &CurrentTab, call: &Call, pattern: &UrlPattern) -> Result<String> {
        let progress = call.navigation();
        progress.log(format!("waiting for a {self} that matches {pattern}"));
        let since = match self {
            Self::Request => tab.tab.requests_before_action(),
            Self::Response => tab.tab.responses_before_action(),
            Self::Url => 0,
        };
        let found = progress
            .run(self.next(tab, &progress, pattern, since))
            .await;
        Ok(found?)
    }

    async fn next(
        self,
        tab: &CurrentTab,
        progress: &Progress,
        pattern: &UrlPattern,
        mut since: u64,
    ) -> engine::Result<String> {
        let page = &tab.page;
        let mut changes = page.changes();
        let (mut at, mut others) = (String::new(), 0);
        loop {
            changes.mark_unchanged();
            let events: Vec<(String, String)> = match self {
                Self::Url => {
                    let url = page.url();
                    let is_new = url != at;
                    at.clone_from(&url);
                    is_new.then(|| (url.clone(), url)).into_iter().collect()
                }
                Self::Request | Self::Response => {
                    let (count, found) = match self {
                        Self::Request => (page.request_count(), page.sent_since(since)),
                        _ => (page.response_count(), page.responded_since(since)),
                    };
                    since = count;
                    found
                        .iter()
                        .map(|request| (request.url.clone(), summary(request)))
                        .collect()
                }
            };
            let urls = events.iter().map(|(url, _)| url.clone()).collect();
            let matched = pattern.are_matched(urls).await?;
            for ((_, text), is_match) in events.into_iter().zip(matched) {
                if is_match {
                    return Ok(text);
                }
                others += 1;
                if others <= MAX_OTHERS {
                    progress.log(format!("another {self}: {text}"));
                }
            }
            if page.dialog().is_some() {
                return Err(engine::Error::DialogOpen {});
            }
            if changes.changed().await.is_err() {
                return Err(engine::Error::PageClosed {});
            }
        }
    }
}

/// The longest pause.
const MAX_SECONDS: Duration = Duration::from_secs(30);

/// Returns the statement that waits until an element is visible or hidden.
fn wait_statement(locator: &Locator, visible: bool) -> Option<Statement> {
    let Target::Selector(selector) = locator.target() else {
        return None;
    };
    let state = Argument::Choice {
        class: "WaitForSelectorState",
        value: if visible { "visible" } else { "hidden" }.to_owned(),
    };
    let receiver = Receiver::Element(selector.clone());
    Some(Statement::new(receiver, "waitFor").option("state", Some(state)))
}
