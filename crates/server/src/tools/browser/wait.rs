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
use engine::{BrowserContext, Download, DownloadState, Locator, Progress, Target, UrlPattern};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<WaitFor>()];

/// Wait for text to appear or vanish, whichever happens first, or for a time.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WaitFor {
    /// Seconds, at most 30; with anything else, the timeout.
    time: Option<f64>,
    /// Text to appear, also as the value of a field.
    text: Option<String>,
    /// Text to vanish.
    text_gone: Option<String>,
    /// Texts of which one is to appear.
    #[schemars(extend("x-addition" = true))]
    texts: Option<Vec<String>>,
    /// Glob of the page's URL.
    #[schemars(extend("x-addition" = true))]
    url: Option<String>,
    /// Glob of a request since the last action.
    #[schemars(extend("x-addition" = true))]
    request: Option<String>,
    /// Glob of a response since the last action.
    #[schemars(extend("x-addition" = true))]
    response: Option<String>,
    /// The end of a download since the last action.
    #[schemars(extend("x-addition" = true))]
    download: Option<bool>,
}

impl Tool for WaitFor {
    const NAME: &'static str = "browser_wait_for";
    const TITLE: &'static str = "Wait for";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let network = [
            (&self.request, NetworkEvent::Request),
            (&self.response, NetworkEvent::Response),
            (&self.url, NetworkEvent::Url),
        ];
        let has_download = self.download == Some(true);
        let has_event = network.iter().any(|(glob, _)| glob.is_some()) || has_download;
        let texts = self.text.iter().chain(self.texts.iter().flatten());
        let shown: Vec<&str> = texts.map(|it| &**it).collect();
        let has_text = !shown.is_empty() || self.text_gone.is_some();
        if self.time.is_none() && !has_text && !has_event {
            return Err(Error::Arguments {
                reason: "Either time, text or textGone must be provided".into(),
                parameters: &[],
                missing: &["time", "text", "textGone"],
                bare: false,
            });
        }
        let mut reply = Reply::default();
        let mut waited = Part::Text(String::new());
        let limit = self.time.map(|seconds| {
            let limit = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(MAX_TIME);
            limit.min(MAX_TIME)
        });
        if let (Some(requested), Some(time)) = (self.time, limit)
            && !has_text
            && !has_event
        {
            let seconds = requested.min(MAX_TIME.as_secs_f64());
            let code = format!("await new Promise(f => setTimeout(f, {seconds} * 1000));");
            let milliseconds = (seconds * 1000.0).round();
            let statement = Statement::new(Receiver::Page, "waitForTimeout").argument(milliseconds);
            reply = reply.and_statements(call.language(), code, [statement]);
            sleep(&tab, call, seconds, time).await?;
            let most = MAX_TIME.as_secs();
            waited = Part::Text(match requested > seconds {
                true => format!("{seconds} seconds (requested {requested}, maximum is {most})"),
                false => format!("{seconds} seconds"),
            });
        }
        if has_text {
            let progress = limit.map_or_else(|| call.action(), |limit| call.within(limit));
            let gone: Vec<&str> = self.text_gone.as_deref().into_iter().collect();
            let text = tab.page.wait_for_text(&progress, &shown, &gone).await?;
            let visible = shown.contains(&text);
            let target = format!("getByText({})", javascript::string(text));
            let locator = tab.page.locator(&target)?.first();
            let code = javascript::wait_for_text(text, visible);
            let statement = wait_statement(&locator, visible);
            reply = reply.and_statements(call.language(), code, statement);
            waited = Part::Text(text.to_owned());
        }
        for (glob, event) in network {
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
            let progress = limit.map_or_else(|| call.navigation(), |limit| call.within(limit));
            waited = Part::Page(event.wait(&tab, &progress, &pattern).await?);
        }
        if has_download {
            let progress = limit.map_or_else(|| call.navigation(), |limit| call.within(limit));
            waited = Part::Page(wait_for_download(&tab, call, &progress).await?);
            let statement = download_statement(call.language());
            let code = "await page.waitForEvent('download');";
            reply = reply.and_statements(call.language(), code, statement);
            // A test would wait for an event that its action has caused already.
            reply.test_code.pop();
        }
        if let Part::Text(text) | Part::Page(text) = &mut waited {
            text.insert_str(0, "Waited for ");
        }
        Ok(reply.and(waited).into_test_step().and_snapshot())
    }
}

/// Waits for a time, or until the browser ends.
async fn sleep(tab: &CurrentTab, call: &Call, seconds: f64, time: Duration) -> Result<()> {
    let tabs = tab.session.open_tabs();
    let tabs = tabs.ok_or(engine::Error::PageClosed {})?;
    call.set_status(format!("waiting {seconds} s"));
    tokio::select! {
        () = tokio::time::sleep(time) => Ok(()),
        gone = tabs.browser_gone() => Err(gone),
    }
}

/// Waits until the first download since the start of the last action has ended, and describes it.
async fn wait_for_download(tab: &CurrentTab, call: &Call, progress: &Progress) -> Result<String> {
    progress.log("waiting for a download");
    let tabs = tab.session.open_tabs();
    let downloads = tabs.ok_or(engine::Error::PageClosed {})?.downloads();
    let context = tab.context()?;
    let ending = ended_download(tab, &context, progress, downloads.before_action());
    let Download {
        number,
        suggested_name: name,
        state,
        ..
    } = progress.run(ending).await?;
    let path = downloads.path_of(&context, number).await;
    let Some(path) = path else {
        let reason = match state {
            DownloadState::Failed(reason) => reason,
            _ => "its file cannot be moved to the folder of downloads".to_owned(),
        };
        return Err(Error::File {
            reason: format!("Download of file {name} failed: {reason}"),
            path: name,
        });
    };
    // The answer need not repeat it.
    downloads.mark_reported(number, true);
    let output = tab.session.output(call).await;
    let quarantined = if output.has_quarantine() {
        " (quarantined)"
    } else {
        ""
    };
    let link = output.link(&path);
    Ok(format!("download of {name} to \"{link}\"{quarantined}"))
}

/// Waits until the first download with this number or a later one has ended.
async fn ended_download(
    tab: &CurrentTab,
    context: &BrowserContext,
    progress: &Progress,
    first: u64,
) -> engine::Result<Download> {
    let (mut changes, mut events) = (context.changes(), tab.page.changes());
    let mut is_logged = false;
    loop {
        changes.mark_unchanged();
        events.mark_unchanged();
        let mut downloads = context.downloads().into_iter();
        if let Some(download) = downloads.find(|download| download.number >= first) {
            if download.state != DownloadState::InProgress {
                return Ok(download);
            }
            if !is_logged {
                progress.log(format!("downloading {}", download.suggested_name));
                is_logged = true;
            }
        }
        if tab.page.dialog().is_some() {
            return Err(engine::Error::DialogOpen {});
        }
        let changed = tokio::select! {
            changed = changes.changed() => changed,
            changed = events.changed() => changed,
        };
        if changed.is_err() {
            return Err(engine::Error::PageClosed {});
        }
    }
}

/// Returns the statement that waits for a download. Python and Java have none for one that its action has caused already.
fn download_statement(language: Language) -> Option<Statement> {
    let is_csharp = language == Language::Csharp;
    is_csharp.then(|| Statement::new(Receiver::Page, "waitForDownload"))
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
    async fn wait(
        self,
        tab: &CurrentTab,
        progress: &Progress,
        pattern: &UrlPattern,
    ) -> Result<String> {
        progress.log(format!("waiting for a {self} that matches {pattern}"));
        let since = match self {
            Self::Request => tab.tab.requests_before_action(),
            Self::Response => tab.tab.responses_before_action(),
            Self::Url => 0,
        };
        let found = progress.run(self.next(tab, progress, pattern, since)).await;
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

/// The longest time.
const MAX_TIME: Duration = Duration::from_secs(30);

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
