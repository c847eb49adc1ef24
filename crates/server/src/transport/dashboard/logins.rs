//! Logins of browsers at the dashboard: a key, a token or a link is exchanged for a random value in a cookie, and another one that only the
//! page has, because a browser sends the cookie to other ports of the host, too.

use crate::access::principal::Principal;
use http::{HeaderMap, HeaderValue, header};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use subtle::ConstantTimeEq as _;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// How long a login is valid, unless the credentials expire before.
const LOGIN_LIFETIME: Duration = Duration::from_secs(12 * 3600);
/// The largest number of logins; the oldest ends for a new one.
const MAX_LOGINS: usize = 64;

/// The logins of a server.
pub(super) struct Logins {
    /// The name of the cookie. A browser sends it to other ports of the host too, so that it contains the port.
    name: String,
    /// Whether the server has TLS, so that browsers send the cookie over TLS only.
    is_secure: bool,
    open: Mutex<Vec<Login>>,
}

/// The scheme of the page in the browser. Behind a proxy with TLS it is not that of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Http,
    Https,
}

/// The login of a browser.
#[derive(Clone)]
pub(super) struct Login {
    value: String,
    /// What the page must send in addition to the cookie.
    page: String,
    pub(super) principal: Principal,
    pub(super) until: SystemTime,
    /// Cancelled when the user logs out, or when the login ends for a new one.
    pub(super) ended: CancellationToken,
}

impl Logins {
    pub(super) fn new(port: u16, is_secure: bool) -> Self {
        Self {
            name: format!("playhouse-dashboard-{port}"),
            is_secure,
            open: Mutex::default(),
        }
    }

    /// Adds a login that ends with the credentials, and returns its cookie for a browser with a page of this scheme, and what only the page
    /// gets.
    pub(super) fn add(
        &self,
        principal: Principal,
        until: Option<SystemTime>,
        scheme: Scheme,
    ) -> (HeaderValue, String) {
        let latest = SystemTime::now() + LOGIN_LIFETIME;
        let page = Uuid::new_v4().simple().to_string();
        let login = Login {
            value: Uuid::new_v4().simple().to_string(),
            page: page.clone(),
            principal,
            until: until.map_or(latest, |until| until.min(latest)),
            ended: CancellationToken::new(),
        };
        let cookie = self.cookie(&login.value, scheme, "");
        let mut open = self.open();
        if open.len() >= MAX_LOGINS {
            open.remove(0).ended.cancel();
        }
        open.push(login);
        (cookie, page)
    }

    /// Returns the login that the cookies name.
    pub(super) fn find(&self, headers: &HeaderMap) -> Option<Login> {
        let value = self.value(headers)?;
        let open = self.open();
        let mut open = open.iter();
        let login = open.find(|login| login.value.as_bytes().ct_eq(value.as_bytes()).into())?;
        Some(login.clone())
    }
}

impl Login {
    /// Whether the request is that of the page, and not only of a browser that has its cookie.
    pub(super) fn is_of_page(&self, page: &str) -> bool {
        self.page.as_bytes().ct_eq(page.as_bytes()).into()
    }
}

impl Logins {
    /// Ends the login that the cookies name with its open dashboards, and returns a cookie that replaces it.
    pub(super) fn remove(&self, headers: &HeaderMap, scheme: Scheme) -> HeaderValue {
        if let Some(login) = self.find(headers) {
            self.open().retain(|other| other.value != login.value);
            login.ended.cancel();
        }
        self.cookie("", scheme, "; Max-Age=0")
    }

    fn value<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let all = headers.get_all(header::COOKIE).into_iter();
        let pairs = all.filter_map(|line| line.to_str().ok());
        let mut pairs = pairs.flat_map(|line| line.split(';'));
        pairs.find_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == self.name).then_some(value)
        })
    }

    /// Returns the cookie. No script can read it, and browsers send it with requests of pages of the same site only.
    fn cookie(&self, value: &str, scheme: Scheme, more: &str) -> HeaderValue {
        let is_secure = self.is_secure || scheme == Scheme::Https;
        let secure = if is_secure { "; Secure" } else { "" };
        let text = format!(
            "{}={value}; Path={}; HttpOnly; SameSite=Strict{secure}{more}",
            self.name,
            super::PATH
        );
        HeaderValue::from_str(&text).expect("a name, digits and attributes are visible ASCII")
    }

    fn open(&self) -> MutexGuard<'_, Vec<Login>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let now = SystemTime::now();
        open.retain(|login| login.until > now);
        open
    }
}

/// The link to the dashboard over stdio. It is valid once; then there is a new one.
pub(super) struct Link {
    /// The address of the dashboard.
    url: String,
    token: Mutex<String>,
}

impl Link {
    /// Creates a link, and prints it to stderr.
    pub(super) fn new(url: String) -> Self {
        let link = Self {
            url,
            token: Mutex::default(),
        };
        link.renew(&mut link.token());
        link
    }

    /// Uses the link if this is its token.
    pub(super) fn redeem(&self, token: &str) -> bool {
        let mut valid = self.token();
        let is_valid = bool::from(valid.as_bytes().ct_eq(token.as_bytes()));
        if is_valid {
            self.renew(&mut valid);
        }
        is_valid
    }

    fn renew(&self, token: &mut String) {
        use std::io::Write as _;
        *token = Uuid::new_v4().simple().to_string();
        let _ = writeln!(
            std::io::stderr(),
            "Dashboard (this link is valid once): {}?token={token}",
            self.url
        );
    }

    fn token(&self) -> MutexGuard<'_, String> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(cookie: &HeaderValue) -> HeaderMap {
        let pair = cookie.to_str().unwrap().split(';').next().unwrap();
        let mut headers = HeaderMap::new();
        let value = HeaderValue::from_str(&format!("other=1; {pair}")).unwrap();
        headers.insert(header::COOKIE, value);
        headers
    }

    #[test]
    fn a_login_ends_with_its_credentials_and_when_the_user_logs_out() {
        let logins = Logins::new(8931, true);
        let ada = Principal::named("key:ada");
        let (cookie, page) = logins.add(ada.clone(), None, Scheme::Http);
        let text = cookie.to_str().unwrap();
        assert!(
            text.contains("; Path=/dashboard; HttpOnly; SameSite=Strict; Secure"),
            "{text}"
        );
        let found = logins.find(&headers(&cookie)).expect("a login");
        assert_eq!(found.principal, ada);
        assert!(found.is_of_page(&page) && !found.is_of_page("") && !text.contains(&page));
        assert!(Logins::new(8931, true).find(&headers(&cookie)).is_none());
        logins.remove(&headers(&cookie), Scheme::Http);
        assert!(found.ended.is_cancelled());
        assert!(logins.find(&headers(&cookie)).is_none());
        let (cookie, _) = logins.add(ada, Some(SystemTime::now()), Scheme::Http);
        assert!(logins.find(&headers(&cookie)).is_none());
    }

    #[test]
    fn the_cookie_of_a_page_with_tls_is_secure() {
        let logins = Logins::new(8931, false);
        for (scheme, is_secure) in [(Scheme::Http, false), (Scheme::Https, true)] {
            let (cookie, _) = logins.add(Principal::named("key:ada"), None, scheme);
            assert_eq!(cookie.to_str().unwrap().contains("; Secure"), is_secure);
        }
    }

    #[test]
    fn the_number_of_logins_is_limited() {
        let logins = Logins::new(1, false);
        let (first, _) = logins.add(Principal::named("a"), None, Scheme::Http);
        let open = logins.find(&headers(&first)).expect("a login");
        for _ in 0..MAX_LOGINS {
            logins.add(Principal::named("b"), None, Scheme::Http);
        }
        assert!(logins.find(&headers(&first)).is_none() && open.ended.is_cancelled());
        assert_eq!(logins.open().len(), MAX_LOGINS);
    }

    #[test]
    fn a_link_is_valid_once() {
        let link = Link::new("http://127.0.0.1:1/dashboard".to_owned());
        let token = link.token().clone();
        assert!(!link.redeem("") && !link.redeem(&token[1..]));
        assert!(link.redeem(&token) && !link.redeem(&token));
        let next = link.token().clone();
        assert!(link.redeem(&next));
    }
}
