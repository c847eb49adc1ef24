//! Opening pages: which URL is meant, and when a navigation is over.

use crate::access::urls::Addresses;
use crate::calls::Call;
use crate::error::Result;
use crate::sessions::session::app::App;
use crate::sessions::session::{Session, Tab};
use crate::tools::scope::TabInAnyState;
use engine::{LoadState, NavigationOutcome, Page, Progress};
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// How long a document of the history may take to load: it may never be done, but half of it is no page to show.
const BACK_TIMEOUT: Duration = Duration::from_secs(1);

/// When a navigation is over. A document that is loaded then has time to show what it fetches first. Where the page shows a page of the
/// browser about an error in the end, the navigation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The document is parsed, and has had [`Timeouts::load`](crate::config::Timeouts) to load the rest, as `@playwright/mcp` does it.
    Parsed,
    /// A document of the history is shown, and has had a second to load.
    Back,
    /// The document has come as far as this, or the navigation fails. What is asked for before it is loaded is not waited for.
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

    /// Waits for the rest of a document that has come as far as [`Extent::until`], as far as the navigation has time left.
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
        session.check_loaded(page).await
    }
}

/// Opens a URL in the current tab, whatever is open there. Returns the tab that shows it, which is another one if this one hung; `None` when
/// the page asks whether to leave it.
pub(crate) async fn goto(
    tab: &TabInAnyState,
    call: &Call,
    progress: &Progress,
    url: &str,
    extent: Extent,
) -> Result<Option<(Arc<Tab>, NavigationOutcome)>> {
    let landed = tab.go_to(call, progress, url, extent.until()).await?;
    if let Some((shown, outcome)) = &landed {
        finish(&tab.session, &shown.page, progress, *outcome, extent).await?;
    }
    Ok(landed)
}

/// Opens a URL in a tab that was made for it. Returns false when the page asks whether to leave it.
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

/// Moves in the history by `delta`. Returns false when there is no entry there.
pub(crate) async fn go(
    tab: &TabInAnyState,
    progress: &Progress,
    delta: i32,
    extent: Extent,
) -> Result<bool> {
    let gone = tab.page.go(progress, delta, extent.until()).await?;
    if gone {
        extent.finish(&tab.session, &tab.page, progress).await?;
    }
    Ok(gone)
}

/// Loads the document again.
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

/// The URL that is meant, if pages may be there.
pub(crate) fn permitted(session: &Session, call: &Call, given: &str) -> Result<String> {
    let url = completed_in(session, given);
    Addresses::new(&call.settings).refuse(&url)?;
    Ok(url)
}

/// The URL with a scheme. In a session that tests an app, a path is one of the app.
pub(crate) fn completed_in(session: &Session, url: &str) -> String {
    let home = session
        .app()
        .filter(|_| url.starts_with('/'))
        .and_then(App::url);
    let at_home = home.and_then(|home| Url::parse(&home).ok()?.join(url).ok());
    at_home.map_or_else(|| completed(url), String::from)
}

/// The URL with a scheme: a bare name is a host.
fn completed(url: &str) -> String {
    if Url::parse(url).is_ok_and(|parsed| !names_a_port(url, &parsed)) {
        return url.to_owned();
    }
    if url.starts_with("localhost") {
        format!("http://{url}")
    } else {
        format!("https://{url}")
    }
}

/// Schemes after which a number is no port.
const SCHEMES: [&str; 7] = [
    "javascript",
    "data",
    "about",
    "blob",
    "mailto",
    "tel",
    "sms",
];

/// `localhost:8080` parses as a URL of the scheme `localhost`.
fn names_a_port(url: &str, parsed: &Url) -> bool {
    if SCHEMES.contains(&parsed.scheme()) {
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
        assert_eq!(completed("example.com/a"), "https://example.com/a");
        assert_eq!(completed("localhost:8080/a"), "http://localhost:8080/a");
        assert_eq!(completed("example.com:8080"), "https://example.com:8080");
        for whole in [
            "http://localhost:1",
            "about:blank",
            "data:text/html,x",
            "chrome://version",
            "javascript:1",
            "tel:112",
        ] {
            assert_eq!(completed(whole), whole);
        }
    }
}
