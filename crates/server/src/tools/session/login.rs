//! The check whether the login of a restored storage state is still valid.

use crate::calls::Call;
use crate::error::{Error, Result};
use crate::sessions::session::Session;
use crate::tools::scope::TabInAnyState;
use crate::tools::verbs::navigate::{Extent, goto, permitted};
use engine::LoadState;
use std::sync::Arc;
use url::Url;

/// How a login is checked.
pub(super) struct LoginCheck<'a> {
    /// The URL of a page that only a signed-in user is shown.
    pub(super) url: &'a str,
    /// The text that the page, or another one to which it redirects, shows. Without it, the page must not redirect.
    pub(super) text: Option<&'a str>,
}

impl LoginCheck<'_> {
    /// Opens the page. Returns why the login is not valid, or `None` if it is. Fails if the page cannot be opened.
    pub(super) async fn failure(
        &self,
        session: &Arc<Session>,
        call: &Call,
    ) -> Result<Option<String>> {
        let url = permitted(session, call, self.url)?;
        let tab = session.current_tab(call).await?;
        let tab = TabInAnyState {
            page: tab.page.clone(),
            tab,
            session: session.clone(),
        };
        let extent = Extent::Reached(LoadState::Loaded);
        let Some((tab, _)) = goto(&tab, call, &call.navigation(), &url, extent).await? else {
            return Err(engine::Error::DialogOpen {}.into());
        };
        let page = &tab.page;
        let shown = page.url();
        if let Some((status, _)) = page.status().filter(|(status, _)| *status >= 400) {
            return Ok(Some(format!("{shown} answers with status {status}")));
        }
        let Some(text) = self.text else {
            let is_reached = is_same_page(&shown, &url);
            return Ok((!is_reached).then(|| format!("{url} leads to {shown}")));
        };
        match page.wait_for_text(&call.action(), &[text], &[]).await {
            Ok(_) => Ok(None),
            Err(engine::Error::Timeout { .. }) => {
                let shown = page.url();
                Ok(Some(format!("{shown} does not show \"{text}\"")))
            }
            Err(error) => Err(Error::from(error)),
        }
    }
}

/// Returns whether a redirect from one URL to the other is one that sites make for all users: to HTTPS, to or from `www`, to another
/// query, or to a path with or without a slash at its end. A fragment that is a route of a single-page app must stay.
fn is_same_page(one: &str, other: &str) -> bool {
    let page = |url: &str| {
        let url = Url::parse(url).ok()?;
        let host = url.host_str()?;
        let host = host.strip_prefix("www.").unwrap_or(host);
        let path = url.path().trim_end_matches('/');
        let route = url.fragment().filter(|it| it.starts_with(['/', '!']));
        let route = route.map(str::to_owned);
        Some((host.to_owned(), url.port(), path.to_owned(), route))
    };
    one == other || page(one).is_some_and(|one| page(other) == Some(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_for_all_users_stays_on_the_page() {
        let account = "http://shop.example/account";
        for same in [
            account,
            "https://www.shop.example/account/?lang=de#top",
            "https://shop.example/account",
        ] {
            assert!(is_same_page(same, account), "{same}");
        }
        for other in [
            "http://shop.example/login?next=/account",
            "http://login.example/account",
            "http://shop.example:81/account",
            "http://shop.example/account#/login",
            "about:blank",
        ] {
            assert!(!is_same_page(other, account), "{other}");
        }
    }
}
