//! Going to pages.

use super::network::pattern;
use crate::access::principal::Permission;
use crate::calls::Call;
use crate::error::{Error, Result};
use crate::sessions::session::Session;
use crate::tools::scope::{FreeTab, TabInAnyState};
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
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

/// How long a page that has come may take to tell of itself.
const TITLE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long the browser may take to tell of a download that a navigation turned into.
const DOWNLOAD_START_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a download may take whose path is told.
const DOWNLOAD_END_TIMEOUT: Duration = Duration::from_secs(1);

/// Measures what the browser noted of the document that is shown, in ms since its navigation began.
const TIMING: &str = include_str!("navigation.js");

/// Open a URL.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Navigate {
    /// The URL.
    url: String,
    /// How far it must have come; load by default.
    wait_until: Option<Until>,
}

/// How far a page must have come.
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

/// The page that is shown.
#[derive(Serialize, JsonSchema)]
pub(super) struct LoadedPage {
    title: String,
    /// After redirects.
    url: String,
    /// HTTP status; 0 where there was no response.
    status: u16,
    /// In ms.
    timing: Map<String, Value>,
    /// No other page came: 204, or a download.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stayed: bool,
    /// The file that it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    download: Option<DownloadFacts>,
}

/// A download.
#[derive(Serialize, JsonSchema)]
struct DownloadFacts {
    name: String,
    /// Once it is there.
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

    fn goal(&self, session: &Session) -> Option<String> {
        Some(completed_in(session, &self.url))
    }

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Object<LoadedPage>> {
        let url = address(&tab.session, call, self.url)?;
        let extent = Extent::Reached(self.wait_until.unwrap_or(Until::Load).state());
        let visit = PendingNavigation::of(&tab, call)?;
        match navigate::goto(&tab, call, &call.navigation(), &url, extent).await? {
            Some((there, landing)) => visit.into_answer(&there.page, landing).await,
            None => Err(engine::Error::DialogOpen {}.into()),
        }
    }
}

/// The URL to go to for what was given, if pages may be there.
pub(super) fn address(session: &Session, call: &Call, given: String) -> Result<String> {
    let url = completed_in(session, &given);
    // One with a scheme has to be a URL as it was given. What is done to a page is no address.
    let address = if given.contains("://") { &given } else { &url };
    let is_address = Url::parse(address).is_ok_and(|url| url.scheme() != "javascript");
    if !is_address {
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
    let visit = PendingNavigation::of(tab, call)?;
    if !navigate::go(tab, &call.navigation(), delta, LOADED).await? {
        return Err(Error::NoHistory { delta });
    }
    visit.into_answer(&tab.page, NavigationOutcome::Shown).await
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
        let visit = PendingNavigation::of(&tab, call)?;
        let ignore_cache = self.ignore_cache == Some(true);
        let progress = call.navigation();
        let landing = navigate::reload(&tab, &progress, ignore_cache, LOADED).await?;
        visit.into_answer(&tab.page, landing).await
    }
}

/// Wait until the page is loaded.
#[derive(Deserialize, JsonSchema)]
pub(super) struct WaitForLoad {
    /// How far it must have come; load by default.
    state: Option<Until>,
}

/// How far a page has come.
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

/// Where the page is.
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

/// Fails where a dialog holds the page up.
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

/// A page on its way elsewhere.
struct PendingNavigation<'a> {
    tab: &'a TabInAnyState,
    call: &'a Call,
    context: BrowserContext,
    began: Instant,
    /// The last download that there was before.
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

    /// What became of it.
    async fn into_answer(
        self,
        page: &Page,
        landing: NavigationOutcome,
    ) -> Result<Object<LoadedPage>> {
        let (stayed, status) = match landing {
            NavigationOutcome::Shown => (false, page.status().map(|(status, _)| status)),
            NavigationOutcome::Stayed { status } => (true, status),
        };
        let duration = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let download = match status {
            Some(204 | 205) => None,
            _ if stayed => self.download(page).await,
            _ => None,
        };
        // What a page keeps from being asked does not make it any less open.
        let patience = self.call.within(TITLE_TIMEOUT);
        let measured = async {
            match stayed {
                // It would be that of the page that stays.
                true => Ok(None),
                false => page.evaluate(&patience, TIMING).await,
            }
        };
        let (timing, title) = futures_util::future::join(measured, page.title(&patience)).await;
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

    /// The download that it turned into; a short one is waited for.
    async fn download(&self, page: &Page) -> Option<DownloadFacts> {
        let begun = self.awaited(DOWNLOAD_START_TIMEOUT, |download| {
            Some(download.number) > self.downloaded
                && download.page.as_ref().is_none_or(|id| id == page.id())
        });
        let begun = begun.await?;
        let ended = self.awaited(DOWNLOAD_END_TIMEOUT, |download| {
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

    /// The download for which this holds, once there is one.
    async fn awaited(
        &self,
        limit: Duration,
        holds: impl Fn(&Download) -> bool,
    ) -> Option<Download> {
        let mut changes = self.context.changes();
        let waiting = async {
            loop {
                changes.mark_unchanged();
                let mut all = self.context.downloads().into_iter();
                if let Some(download) = all.find(&holds) {
                    return Some(download);
                }
                changes.changed().await.ok()?;
            }
        };
        tokio::time::timeout(limit, waiting).await.ok().flatten()
    }
}
