//! Going to pages.

use crate::access::principal::Permission;
use crate::access::urls::Addresses;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::error::Result;
use crate::sessions::session::app::App;
use crate::sessions::session::{Session, Tab};
use crate::tools::scope::{CurrentTab, TabInAnyState};
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::Action;
use engine::{LoadState, NavigationOutcome, Progress};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;
use url::Url;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Navigate>(), ToolDef::of::<NavigateBack>()];

/// Open a URL.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Navigate {
    /// The URL.
    url: String,
}

impl Tool for Navigate {
    const NAME: &'static str = "browser_navigate";
    const TITLE: &'static str = "Navigate to a URL";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = TabInAnyState;
    type Output = Reply;

    fn goal(&self, session: &Session) -> Option<String> {
        Some(completed_in(session, &self.url))
    }

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Reply> {
        let url = completed_in(&tab.session, &self.url);
        Addresses::new(&call.settings).refuse(&url)?;
        let progress = call.navigation();
        let gone = tab.go_to(call, &progress, &url, LoadState::DomContentLoaded);
        if let Some((there, landing)) = gone.await? {
            finish_loading(&tab.session, &there, &progress, landing).await?;
        }
        let url = shown(self.url, url);
        Ok(Reply::action(call.language(), &Action::Goto { url }).and_snapshot())
    }
}

/// Go back in the history.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NavigateBack {}

impl Tool for NavigateBack {
    const NAME: &'static str = "browser_navigate_back";
    const TITLE: &'static str = "Go back";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let progress = call.navigation();
        match tab.page.go(&progress, -1, LoadState::Committed).await {
            // The page asks whether to leave it: for the client to answer.
            Ok(gone) => {
                tab.page
                    .wait_for_load(LoadState::Loaded, BACK_TIMEOUT)
                    .await;
                if gone {
                    tab.session.check_loaded(&tab.page).await?;
                }
            }
            Err(engine::Error::DialogOpen {}) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Reply::code("await page.goBack();").and_snapshot())
    }
}

/// How long a document of the history may take to load: it may never be done, but half of it is no page to show.
const BACK_TIMEOUT: Duration = Duration::from_secs(1);

/// Gives a document that is parsed the time to load the rest, as far as the navigation has time left. Fails where that led to none.
pub(super) async fn finish_loading(
    session: &Session,
    tab: &Tab,
    progress: &Progress,
    landing: NavigationOutcome,
) -> Result<()> {
    if landing != NavigationOutcome::Shown {
        return Ok(());
    }
    let loading = async {
        if tab
            .page
            .wait_for_load(LoadState::Loaded, session.settings().timeouts.load)
            .await
        {
            tab.page.settle_loaded().await;
        }
    };
    let _ = tokio::time::timeout_at(progress.deadline(), loading).await;
    session.check_loaded(&tab.page).await
}

/// The URL with a scheme. In a session that tests an app, a path is one of the app.
pub(in crate::tools) fn completed_in(session: &Session, url: &str) -> String {
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

/// The URL that code shows: as given, where that is a URL of any kind.
pub(super) fn shown(given: String, completed: String) -> String {
    if Url::parse(&given).is_ok() {
        given
    } else {
        completed
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
