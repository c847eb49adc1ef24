//! Navigating pages, and waiting for navigations.

use super::network::pattern;
use crate::access::principal::Permission;
use crate::calls::Call;
use crate::error::{Error, Result};
use crate::sessions::session::Session;
use crate::tools::scope::{FreeTab, TabInAnyState};
use crate::tools::tool::{Effect, JudgedPage, Object, Tool, ToolDef};
use crate::tools::verbs::navigate::{self, Extent, completed_in, permitted};
use engine::{
    BrowserContext, Download, DownloadState, LoadState, NavigationOutcome, Page, Progress,
    UrlPattern,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::time::{Duration, Instant};
use url::Url;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<Navigate>(),
    ToolDef::of::<GoBack>(),
    ToolDef::of::<GoForward>(),
    ToolDef::of::<Reload>(),
    ToolDef::of::<WaitForLoad>(),
    ToolDef::of::<WaitForUrl>(),
];

/// The longest wait for the title and the timing of a loaded page.
const TITLE_TIMEOUT: Duration = Duration::from_secs(2);

/// The longest wait for the download that a navigation became.
const DOWNLOAD_START_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest wait for the end of a download, whose path is then part of the answer.
const DOWNLOAD_END_TIMEOUT: Duration = Duration::from_secs(1);

/// A function that measures the loading of the document, in ms since its navigation began.
const TIMING: &str = include_str!("navigation.js");

/// Open a URL.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Navigate {
    /// The URL.
    url: String,
    /// Load state to wait for; load by default.
    wait_until: Option<Until>,
}

/// A load state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Until {
    Load,
    Domcontentloaded,
    Networkidle,
}

impl Until {
    fn state(self) -> LoadState {
        match self {
            Self::Domcontentloaded => LoadState::DomContentLoaded,
            Self::Load => LoadState::Loaded,
            Self::Networkidle => LoadState::NetworkIdle,
        }
    }
}

const LOADED: Extent = Extent::Reached(LoadState::Loaded);

/// The page after the navigation.
#[derive(Serialize, JsonSchema)]
pub(super) struct LoadedPage {
    title: String,
    /// The URL after redirects.
    url: String,
    /// HTTP status; 0 where there was no response.
    status: u16,
    /// The duration of the phases of loading, in ms.
    timing: Map<String, Value>,
    /// Whether the document was not replaced: a 204 response, or a download.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stayed: bool,
    /// The download that the navigation became.
    #[serde(skip_serializing_if = "Option::is_none")]
    download: Option<DownloadFacts>,
}

/// A download.
#[derive(Serialize, JsonSchema)]
struct DownloadFacts {
    name: String,
    /// The path of the file, if the download is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

impl Tool for Navigate {
    const NAME: &'static str = "navigate";
    const TITLE: &'static str = "Navigate";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = TabInAnyState;
    type Output = Object<LoadedPage>;

    fn judged_page(&self, session: &Session) -> JudgedPage {
        JudgedPage::Url(completed_in(session, &self.url))
    }

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Object<LoadedPage>> {
        let url = resolve_url(&tab.session, call, self.url)?;
        let extent = Extent::Reached(self.wait_until.unwrap_or(Until::Load).state());
        let navigation = PendingNavigation::of(&tab, call)?;
        match navigate::goto(&tab, call, &call.navigation(), &url, extent).await? {
            Some((tab_after, outcome)) => navigation.into_answer(&tab_after.page, outcome).await,
            None => Err(engine::Error::DialogOpen {}.into()),
        }
    }
}

/// Returns the URL for a given text. Fails if it is invalid, or if pages must not open it.
pub(super) fn resolve_url(session: &Session, call: &Call, given: String) -> Result<String> {
    let url = completed_in(session, &given);
    // A text with a scheme must be a valid URL as it is. A `javascript:` URL opens no page.
    let candidate = if given.contains("://") { &given } else { &url };
    let is_valid = Url::parse(candidate).is_ok_and(|url| url.scheme() != "javascript");
    if !is_valid {
        return Err(engine::Error::InvalidUrl { url: given }.into());
    }
    permitted(session, call, &given)
}

/// Go back in the history.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GoBack {}

impl Tool for GoBack {
    const NAME: &'static str = "go_back";
    const TITLE: &'static str = "Go back";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = FreeTab;
    type Output = Object<LoadedPage>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<LoadedPage>> {
        go(&tab, call, -1).await
    }
}

/// Go forward in the history.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GoForward {}

impl Tool for GoForward {
    const NAME: &'static str = "go_forward";
    const TITLE: &'static str = "Go forward";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = FreeTab;
    type Output = Object<LoadedPage>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<LoadedPage>> {
        go(&tab, call, 1).await
    }
}

async fn go(tab: &FreeTab, call: &Call, delta: i32) -> Result<Object<LoadedPage>> {
    let navigation = PendingNavigation::of(tab, call)?;
    if !navigate::go(tab, &call.navigation(), delta, LOADED).await? {
        return Err(Error::NoHistory { delta });
    }
    navigation
        .into_answer(&tab.page, NavigationOutcome::Shown)
        .await
}

/// Reload the page.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Reload {
    /// Load everything anew.
    ignore_cache: Option<bool>,
}

impl Tool for Reload {
    const NAME: &'static str = "reload";
    const TITLE: &'static str = "Reload";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = FreeTab;
    type Output = Object<LoadedPage>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<LoadedPage>> {
        let navigation = PendingNavigation::of(&tab, call)?;
        let ignore_cache = self.ignore_cache == Some(true);
        let progress = call.navigation();
        let outcome = navigate::reload(&tab, &progress, ignore_cache, LOADED).await?;
        navigation.into_answer(&tab.page, outcome).await
    }
}

/// Wait until the page is loaded.
#[derive(Deserialize, JsonSchema)]
pub(super) struct WaitForLoad {
    /// Load state to wait for; load by default.
    state: Option<Until>,
}

/// The page with its load state.
#[derive(Serialize, JsonSchema)]
pub(super) struct Loaded {
    state: Until,
}

impl Tool for WaitForLoad {
    const NAME: &'static str = "wait_for_load";
    const TITLE: &'static str = "Wait for load";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = FreeTab;
    type Output = Object<Loaded>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Loaded>> {
        let state = self.state.unwrap_or(Until::Load);
        wait(&tab.page, &call.navigation(), state).await?;
        Ok(Loaded { state }.into())
    }
}

/// Wait until the page is at a URL, and loaded.
#[derive(Deserialize, JsonSchema)]
pub(super) struct WaitForUrl {
    /// Glob (**/orders/*), /regex/, or part of the URL.
    url: String,
}

/// The URL of the page.
#[derive(Serialize, JsonSchema)]
pub(super) struct Reached {
    url: String,
}

impl Tool for WaitForUrl {
    const NAME: &'static str = "wait_for_url";
    const TITLE: &'static str = "Wait for URL";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = FreeTab;
    type Output = Object<Reached>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Reached>> {
        let pattern = pattern(call, "url", &self.url)?;
        let progress = call.navigation();
        progress.log(format!("waiting until the page is at {pattern}"));
        progress
            .run(wait_for_url(&tab.page, &progress, &pattern))
            .await?;
        wait(&tab.page, &progress, Until::Load).await?;
        let url = tab.page.url();
        Ok(Reached { url }.into())
    }
}

/// Waits until the URL of a page matches.
async fn wait_for_url(
    page: &Page,
    progress: &Progress,
    pattern: &UrlPattern,
) -> engine::Result<()> {
    let mut changes = page.changes();
    let mut last = None;
    loop {
        changes.mark_unchanged();
        let url = page.url();
        if last.as_ref() != Some(&url) {
            if pattern.are_matched(vec![url.clone()]).await? == [true] {
                return Ok(());
            }
            progress.log(format!("the page is at {url}"));
            last = Some(url);
        }
        fail_if_dialog_open(page)?;
        if changes.changed().await.is_err() {
            return Err(engine::Error::PageClosed {});
        }
    }
}

/// Fails if a dialog is open, because it blocks the page.
pub(super) fn fail_if_dialog_open(page: &Page) -> engine::Result<()> {
    match page.dialog() {
        Some(_) => Err(engine::Error::DialogOpen {}),
        None => Ok(()),
    }
}

async fn wait(page: &Page, progress: &Progress, until: Until) -> Result<()> {
    let state = until.state();
    progress.log(format!(
        "waiting until the page is loaded as far as {state}"
    ));
    Ok(page.wait_for_load_state(progress, state).await?)
}

/// A navigation that has not ended.
struct PendingNavigation<'a> {
    tab: &'a TabInAnyState,
    call: &'a Call,
    context: BrowserContext,
    began: Instant,
    /// The number of the last download before the navigation.
    downloaded: Option<u64>,
}

impl<'a> PendingNavigation<'a> {
    fn of(tab: &'a TabInAnyState, call: &'a Call) -> Result<Self> {
        let context = tab.context()?;
        Ok(Self {
            tab,
            call,
            began: Instant::now(),
            downloaded: context.downloads().last().map(|last| last.number),
            context,
        })
    }

    /// Returns the answer about a navigation that has ended.
    async fn into_answer(
        self,
        page: &Page,
        outcome: NavigationOutcome,
    ) -> Result<Object<LoadedPage>> {
        let (stayed, status) = match outcome {
            NavigationOutcome::Shown => (false, page.status().map(|(status, _)| status)),
            NavigationOutcome::Stayed { status } => (true, status),
        };
        let duration = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let download = match status {
            Some(204 | 205) => None,
            _ if stayed => self.download(page).await,
            _ => None,
        };
        // An unresponsive page is reported without its title and timing.
        let progress = self.call.within(TITLE_TIMEOUT);
        let measured = async {
            match stayed {
                // The timing would be that of the previous document.
                true => Ok(None),
                false => page.evaluate(&progress, TIMING).await,
            }
        };
        let (timing, title) = futures_util::future::join(measured, page.title(&progress)).await;
        let mut timing = match timing {
            Ok(Some(Value::Object(timing))) => timing,
            _ => Map::new(),
        };
        timing.insert("duration".to_owned(), duration.into());
        Ok(LoadedPage {
            title: title.unwrap_or_default(),
            url: page.url(),
            status: status.unwrap_or(0),
            timing,
            stayed,
            download,
        }
        .into())
    }

    /// Returns the download that the navigation became. A short download is waited for.
    async fn download(&self, page: &Page) -> Option<DownloadFacts> {
        let begun = self.wait_for_download(DOWNLOAD_START_TIMEOUT, |download| {
            Some(download.number) > self.downloaded
                && download.page.as_ref().is_none_or(|id| id == page.id())
        });
        let begun = begun.await?;
        let ended = self.wait_for_download(DOWNLOAD_END_TIMEOUT, |download| {
            download.number == begun.number && download.state != DownloadState::InProgress
        });
        let downloads = self.tab.session.open_tabs()?.downloads();
        let path = match ended.await {
            Some(_) => downloads.path_of(&self.context, begun.number).await,
            None => None,
        };
        downloads.mark_reported(begun.number, path.is_some());
        let output = self.tab.session.output(self.call).await;
        Some(DownloadFacts {
            name: begun.suggested_name,
            path: path.map(|path| output.link(&path)),
        })
    }

    /// Waits for a download that fulfils a condition. Returns `None` after the time limit.
    async fn wait_for_download(
        &self,
        limit: Duration,
        is_match: impl Fn(&Download) -> bool,
    ) -> Option<Download> {
        let mut changes = self.context.changes();
        let waiting = async {
            loop {
                changes.mark_unchanged();
                let mut all = self.context.downloads().into_iter();
                if let Some(download) = all.find(&is_match) {
                    return Some(download);
                }
                changes.changed().await.ok()?;
            }
        };
        tokio::time::timeout(limit, waiting).await.ok().flatten()
    }
}
