//! Opening pages: the URL for a given text, and the end of a navigation.

use crate::access::urls::Addresses;
use crate::calls::Call;
use crate::error::Result;
use crate::sessions::session::app::App;
use crate::sessions::session::{Session, Tab};
use crate::tools::scope::TabInAnyState;
use engine::{LoadState, NavigationOutcome, Page, Progress, SettleOptions, Watch};
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// How long to wait for the document that a page navigates to immediately.
const REDIRECT_TIMEOUT: Duration = Duration::from_millis(500);

/// The longest wait until a document of the history is loaded. It may never finish loading, but an incomplete page should not be shown if
/// it does.
const BACK_TIMEOUT: Duration = Duration::from_secs(1);

/// How long starting to observe a document may take that a navigation leaves: it may be unresponsive.
const WATCH_TIMEOUT: Duration = Duration::from_millis(200);

/// Until when a navigation is waited for. A loaded document then gets time to show what it fetches first. The navigation fails if an error
/// page of the browser is shown at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Until the document is parsed, and then up to [`Timeouts::load`](crate::config::Timeouts) until it is loaded, as in
    /// `@playwright/mcp`.
    Parsed,
    /// Until a document of the history is committed, and then up to one second until it is loaded.
    Back,
    /// Until the document has this load state. For states before `load`, nothing else is waited for.
    Reached(LoadState),
}

impl Extent {
    fn until(self) -> LoadState {
        match self {
            Self::Parsed => LoadState::DomContentLoaded,
            Self::Back => LoadState::Committed,
            Self::Reached(state) => state,
        }
    }

    /// Waits for the rest of a document that has the state [`Extent::until`], until the deadline of the navigation at most.
    async fn finish(self, session: &Session, page: &Page, progress: &Progress) -> Result<()> {
        let rest = match self {
            Self::Parsed => session.settings().timeouts.load,
            Self::Back => BACK_TIMEOUT,
            Self::Reached(state) if state < LoadState::Loaded => return Ok(()),
            Self::Reached(_) => Duration::ZERO,
        };
        let loading = async {
            if page.wait_for_load(LoadState::Loaded, rest).await {
                page.settle_loaded().await;
            }
        };
        let _ = tokio::time::timeout_at(progress.deadline(), loading).await;
        check_loaded(session, page).await
    }
}

/// Returns an error if a navigation led to no document of the site: the page crashed, or shows an error page.
async fn check_loaded(session: &Session, page: &Page) -> Result<()> {
    page.follow(REDIRECT_TIMEOUT).await;
    if let Some(crashed) = session.open_tabs().and_then(|tabs| tabs.take_crash()) {
        return Err(crashed);
    }
    page.failure_since(0)
        .map_or(Ok(()), |failure| Err(failure.into()))
}

/// Opens a URL in the current tab, whatever modal state is open there. Returns the tab and the outcome; the tab is another one if this one
/// was unresponsive. Returns `None` if a beforeunload dialog is open.
pub(crate) async fn goto(
    tab: &TabInAnyState,
    call: &Call,
    progress: &Progress,
    url: &str,
    extent: Extent,
) -> Result<Option<(Arc<Tab>, NavigationOutcome)>> {
    let watch = match is_in_document(&tab.page.url(), url) {
        true => Some(watch(&tab.page, progress).await),
        false => None,
    };
    let unresponsive = async {
        match tab.session.app() {
            Some(app) => app.becomes_unresponsive(url).await,
            None => std::future::pending().await,
        }
    };
    let result = tokio::select! {
        result = tab.go_to(call, progress, url, extent.until()) => result?,
        error = unresponsive => return Err(error),
    };
    if let Some((shown, outcome)) = &result {
        finish(&tab.session, &shown.page, progress, *outcome, extent).await?;
        if let Some(watch) = watch {
            settle_in_document(&tab.session, watch, extent, progress).await;
        }
    }
    Ok(result)
}

/// Observes the document, which a single-page app changes itself at a navigation within it.
async fn watch(page: &Page, progress: &Progress) -> Watch {
    let watch = tokio::time::timeout(WATCH_TIMEOUT, page.watch(progress)).await;
    watch.unwrap_or_else(|_| page.watch_events())
}

async fn settle_in_document(session: &Session, watch: Watch, extent: Extent, progress: &Progress) {
    let is_brief = matches!(extent, Extent::Reached(state) if state < LoadState::Loaded);
    if !is_brief {
        let limit = session.settings().timeouts.settle;
        let options = SettleOptions {
            changes: limit,
            causes: limit,
            ..SettleOptions::default()
        };
        let settled = watch.settle_in_document(&options);
        let _ = tokio::time::timeout_at(progress.deadline(), settled).await;
    }
}

/// Returns whether the document of the first URL stays when the second is opened.
fn is_in_document(current: &str, url: &str) -> bool {
    match (current.split_once('#'), url.split_once('#')) {
        (Some((current, _)), Some((url, _))) => current == url,
        (None, Some((url, _))) => current == url,
        (_, None) => false,
    }
}

/// Opens a URL in a new tab. Returns false if a beforeunload dialog is open.
pub(crate) async fn open(
    session: &Session,
    tab: &Tab,
    progress: &Progress,
    url: &str,
    extent: Extent,
) -> Result<bool> {
    let Some(outcome) = tab.go_to(progress, url, extent.until()).await? else {
        return Ok(false);
    };
    finish(session, &tab.page, progress, outcome, extent).await?;
    Ok(true)
}

/// Navigates by `delta` entries of the history. Returns false if there is no such entry.
pub(crate) async fn go(
    tab: &TabInAnyState,
    progress: &Progress,
    delta: i32,
    extent: Extent,
) -> Result<bool> {
    let watch = watch(&tab.page, progress).await;
    let has_entry = tab.page.go(progress, delta, extent.until()).await?;
    if has_entry {
        extent.finish(&tab.session, &tab.page, progress).await?;
        settle_in_document(&tab.session, watch, extent, progress).await;
    }
    Ok(has_entry)
}

/// Reloads the page.
pub(crate) async fn reload(
    tab: &TabInAnyState,
    progress: &Progress,
    ignore_cache: bool,
    extent: Extent,
) -> Result<NavigationOutcome> {
    let reload = tab.page.reload(progress, ignore_cache, extent.until());
    let outcome = reload.await?;
    finish(&tab.session, &tab.page, progress, outcome, extent).await?;
    Ok(outcome)
}

async fn finish(
    session: &Session,
    page: &Page,
    progress: &Progress,
    outcome: NavigationOutcome,
    extent: Extent,
) -> Result<()> {
    match outcome {
        NavigationOutcome::Shown => extent.finish(session, page, progress).await,
        NavigationOutcome::Stayed { .. } => Ok(()),
    }
}

/// Returns the URL for a given text. Fails if pages must not open it.
pub(crate) fn permitted(session: &Session, call: &Call, given: &str) -> Result<String> {
    let url = completed_in(session, given);
    Addresses::new(&call.settings).refuse(&url)?;
    Ok(url)
}

/// Returns the URL with a scheme. In a session that tests an app, a path is relative to the app's URL.
pub(crate) fn completed_in(session: &Session, url: &str) -> String {
    let app_url = session
        .app()
        .filter(|_| url.starts_with('/'))
        .and_then(App::url);
    let in_app = app_url.and_then(|app_url| Url::parse(&app_url).ok()?.join(url).ok());
    in_app.map_or_else(|| with_scheme(url), String::from)
}

/// Hosts that serve without TLS: those of dev servers.
const LOCAL_HOSTS: [&str; 4] = ["localhost", "127.0.0.1", "0.0.0.0", "[::1]"];

/// Returns the URL with a scheme. A text without a scheme begins with a host.
fn with_scheme(url: &str) -> String {
    if Url::parse(url).is_ok_and(|parsed| !has_port_without_scheme(url, &parsed)) {
        return url.to_owned();
    }
    if LOCAL_HOSTS.iter().any(|host| url.starts_with(host)) {
        format!("http://{url}")
    } else {
        format!("https://{url}")
    }
}

/// Schemes whose URLs can have a number after the colon that is not a port.
const OPAQUE_SCHEMES: [&str; 7] = [
    "javascript",
    "data",
    "about",
    "blob",
    "mailto",
    "tel",
    "sms",
];

/// Returns whether the parsed scheme is a host with a port: `localhost:8080` parses as a URL of the scheme `localhost`.
fn has_port_without_scheme(url: &str, parsed: &Url) -> bool {
    if OPAQUE_SCHEMES.contains(&parsed.scheme()) {
        return false;
    }
    let rest = &url.trim_start()[parsed.scheme().len()..];
    parsed.cannot_be_a_base()
        && rest
            .trim_start_matches(':')
            .starts_with(|char: char| char.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_without_a_scheme_gets_one() {
        assert_eq!(with_scheme("example.com/a"), "https://example.com/a");
        assert_eq!(with_scheme("localhost:8080/a"), "http://localhost:8080/a");
        assert_eq!(with_scheme("127.0.0.1:80/"), "http://127.0.0.1:80/");
        assert_eq!(with_scheme("[::1]:80"), "http://[::1]:80");
        assert_eq!(with_scheme("example.com:8080"), "https://example.com:8080");
        for whole in [
            "http://localhost:1",
            "about:blank",
            "data:text/html,x",
            "chrome://version",
            "javascript:1",
            "tel:112",
        ] {
            assert_eq!(with_scheme(whole), whole);
        }
    }
}
