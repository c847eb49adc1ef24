//! A browser from a WebDriver remote end: a grid, a driver in another container, or a browser that listens for WebDriver BiDi.

use super::endpoint::reachable;
use super::source::{SessionLease, Source};
use super::{BrowserKind, LaunchOptions, chromium, firefox};
use crate::backend::BrowserBackend;
use crate::backend::bidi::{BidiBrowser, user_prompt_handler};
use crate::backend::cdp::CdpBrowser;
use crate::error::{Error, Result};
use crate::progress::Progress;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use wire::webdriver::session::Created;
use wire::webdriver::{RemoteEnd, WebDriverSession};

/// How long a WebSocket to a remote end may take to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// The intervals between requests for a session: a grid detects a dead node when it sends it a request.
const RETRY_INTERVALS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];

/// Why a remote end provides no WebKit.
const NO_WEBKIT: &str = "a WebDriver server provides Chromium and Firefox only: WebKit is driven over a connection of its own, which no server forwards. Ask for one of these browsers, or use WebKit on this machine without --webdriver-endpoint";

/// The remote end, and the requested browser.
#[derive(Debug, Clone, Default)]
pub struct WebDriverEndpoint {
    /// `http(s)://…` of a WebDriver remote end, with `user:password@` if it requires them; or `ws(s)://…` of a browser with WebDriver BiDi.
    pub endpoint: String,
    /// The headers of every request.
    pub headers: Vec<(String, String)>,
    /// [Capabilities](https://www.w3.org/TR/webdriver2/#capabilities), which override the default ones.
    pub capabilities: Map<String, Value>,
    /// The browser name of the remote end, such as `chrome`, `MicrosoftEdge`, `firefox`.
    pub browser_name: &'static str,
    /// How long creating the session may take.
    pub timeout: Duration,
    /// The launch options that a remote end supports: no program, no profile, no environment.
    pub launch: LaunchOptions,
}

/// Creates a session, and connects to its browser.
pub(super) async fn open(
    progress: &Progress,
    remote: &WebDriverEndpoint,
) -> Result<Arc<dyn BrowserBackend>> {
    if remote.launch.kind == BrowserKind::Webkit {
        return Err(connect_error(remote, NO_WEBKIT.to_owned()));
    }
    let capabilities = remote.launch.kind.remote_capabilities();
    remote.launch.check_network(capabilities)?;
    let opening = async {
        match remote.endpoint.split_once("://") {
            Some(("ws" | "wss", _)) => connect_bidi(remote).await,
            _ => create_session(remote).await,
        }
    };
    progress.run(opening).await
}

/// Connects to a browser that listens for WebDriver BiDi itself.
async fn connect_bidi(remote: &WebDriverEndpoint) -> Result<Arc<dyn BrowserBackend>> {
    if remote.launch.kind != BrowserKind::Firefox {
        return Err(connect_error(
            remote,
            "a ws:// endpoint of WebDriver BiDi belongs to Firefox: choose Firefox, or connect to Chromium over CDP".to_owned(),
        ));
    }
    let url = remote.endpoint.trim_end_matches('/');
    let url = match url::Url::parse(url) {
        // The default path of the specification.
        Ok(parsed) if parsed.path() == "/" => format!("{url}/session"),
        _ => url.to_owned(),
    };
    let (connection, events) = connect_websocket(remote, &url).await?;
    BidiBrowser::start(connection, events, None, Source::Reached, false).await
}

async fn create_session(remote: &WebDriverEndpoint) -> Result<Arc<dyn BrowserBackend>> {
    let refused = |error: wire::Error| connect_error(remote, describe_error(&error));
    let base = url::Url::parse(&remote.endpoint)
        .map_err(|error| connect_error(remote, format!("Invalid URL: {error}")))?;
    let end = RemoteEnd::new(&remote.endpoint, &remote.headers).map_err(refused)?;
    let (session, created) = new_session(&end, remote).await?;
    // From here on, the session is deleted in any case.
    let grant = SessionLease::new(session);
    let given = &created.capabilities;
    let socket = |name: &str| {
        let address = given[name].as_str()?;
        reachable(address, &base)
    };
    match remote.launch.kind {
        BrowserKind::Chromium => {
            let Some(url) = socket("se:cdp") else {
                return Err(connect_error(
                    remote,
                    "the WebDriver end gives no way to DevTools (`se:cdp`): Selenium Grid 4 does; for a browser with an open debugging port use --cdp-endpoint".to_owned(),
                ));
            };
            let (connection, events) = connect_websocket(remote, &url).await?;
            let source = Source::Granted(grant.with_keep_alive(connection.clone()));
            CdpBrowser::start(connection, events, source).await
        }
        BrowserKind::Firefox => {
            let Some(url) = socket("webSocketUrl") else {
                return Err(connect_error(
                    remote,
                    "the WebDriver end gives no WebDriver BiDi (`webSocketUrl`)".to_owned(),
                ));
            };
            let version = given["browserVersion"].as_str().unwrap_or_default();
            let (connection, events) = connect_websocket(remote, &url).await?;
            let source = Source::Granted(grant.with_keep_alive(connection.clone()));
            BidiBrowser::start(connection, events, Some(version.to_owned()), source, false).await
        }
        BrowserKind::Webkit => Err(connect_error(remote, NO_WEBKIT.to_owned())),
    }
}

/// Creates a session, and retries if another node of a grid may succeed.
async fn new_session(
    end: &RemoteEnd,
    remote: &WebDriverEndpoint,
) -> Result<(WebDriverSession, Created)> {
    let asked = json!({ "alwaysMatch": capabilities(remote) });
    let mut pauses = RETRY_INTERVALS.iter();
    let trying = async {
        loop {
            let error = match end.new_session(&asked).await {
                Ok(made) => return Ok(made),
                Err(error) => error,
            };
            let pause = match &error {
                wire::Error::Refused { .. } | wire::Error::Http { .. } => pauses.next(),
                // The remote end is not reachable.
                _ => None,
            };
            let Some(pause) = pause else {
                let name = remote.browser_name;
                let reason = format!("{} (asked for the browser {name})", describe_error(&error));
                return Err(connect_error(remote, reason));
            };
            tracing::debug!(%error, "the WebDriver end made no browser");
            tokio::time::sleep(*pause).await;
        }
    };
    tokio::time::timeout(remote.timeout, trying)
        .await
        .unwrap_or_else(|_| {
            Err(connect_error(
                remote,
                format!(
                    "no browser within {} ms: see that there is one called {}, and room for it",
                    remote.timeout.as_millis(),
                    remote.browser_name,
                ),
            ))
        })
}

/// Returns the requested capabilities.
fn capabilities(remote: &WebDriverEndpoint) -> Map<String, Value> {
    let launch = &LaunchOptions {
        is_confined: remote.launch.is_confined
            || remote.launch.proxy.is_some()
            || !remote.launch.origins.is_empty(),
        ..remote.launch.clone()
    };
    let ours = match launch.kind {
        BrowserKind::Chromium => {
            let name = match remote.browser_name {
                "MicrosoftEdge" => "ms:edgeOptions",
                _ => "goog:chromeOptions",
            };
            json!({
                "browserName": remote.browser_name,
                name: { "args": chromium::switches_under_a_driver(launch) },
            })
        }
        BrowserKind::Firefox => {
            let headless = launch.headless.then_some("-headless".to_owned());
            let args: Vec<String> = headless.into_iter().chain(launch.args.clone()).collect();
            let preferences: Map<_, _> = firefox::preferences(launch).into_iter().collect();
            json!({
                "browserName": remote.browser_name,
                "webSocketUrl": true,
                "unhandledPromptBehavior": user_prompt_handler(),
                "moz:firefoxOptions": { "args": args, "prefs": preferences },
            })
        }
        BrowserKind::Webkit => Value::Null,
    };
    let mut all = match ours {
        Value::Object(all) => all,
        _ => Map::new(),
    };
    merge(&mut all, &remote.capabilities);
    all
}

/// Merges objects and lists; other values are replaced.
fn merge(into: &mut Map<String, Value>, more: &Map<String, Value>) {
    for (name, value) in more {
        match (into.get_mut(name), value) {
            (Some(Value::Object(ours)), Value::Object(theirs)) => merge(ours, theirs),
            (Some(Value::Array(ours)), Value::Array(theirs)) => ours.extend(theirs.iter().cloned()),
            _ => {
                into.insert(name.clone(), value.clone());
            }
        }
    }
}

async fn connect_websocket(
    remote: &WebDriverEndpoint,
    url: &str,
) -> Result<(wire::Connection, wire::EventStream)> {
    wire::Connection::websocket(url, &remote.headers, CONNECT_TIMEOUT)
        .await
        .map_err(|error| connect_error(remote, describe_error(&error)))
}

/// Returns the message of a remote end without its stack trace.
fn describe_error(error: &wire::Error) -> String {
    let text = match error {
        wire::Error::Refused { message, .. } => message.clone(),
        error => error.to_string(),
    };
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    first.unwrap_or_default().to_owned()
}

fn connect_error(remote: &WebDriverEndpoint, reason: String) -> Error {
    let mut endpoint = remote.endpoint.clone();
    if let Ok(mut url) = url::Url::parse(&endpoint) {
        // The URL is shown without credentials.
        let _ = (url.set_username(""), url.set_password(None));
        endpoint = url.to_string();
    }
    Error::ConnectFailed { endpoint, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_session_capabilities(
        kind: BrowserKind,
        browser_name: &'static str,
        capabilities: Value,
    ) -> Value {
        let remote = WebDriverEndpoint {
            browser_name,
            capabilities: capabilities.as_object().cloned().unwrap_or_default(),
            launch: LaunchOptions {
                kind,
                headless: true,
                args: vec!["--mine".to_owned()],
                ..LaunchOptions::default()
            },
            ..WebDriverEndpoint::default()
        };
        Value::Object(super::capabilities(&remote))
    }

    #[test]
    fn user_capabilities_are_merged() {
        let cloud = json!({
            "platformName": "linux",
            "goog:chromeOptions": { "args": ["--theirs"], "binary": "/opt/chrome" },
        });
        let asked = new_session_capabilities(BrowserKind::Chromium, "chrome", cloud);
        assert_eq!(asked["browserName"], "chrome");
        assert_eq!(asked["platformName"], "linux");
        let options = &asked["goog:chromeOptions"];
        assert_eq!(options["binary"], "/opt/chrome");
        let args = options["args"].as_array().unwrap();
        for arg in ["--headless", "--mine", "--theirs"] {
            assert!(args.contains(&json!(arg)), "{arg}");
        }
        // The driver has its own pipe.
        assert!(!args.contains(&json!("--remote-debugging-pipe")));
    }

    #[test]
    fn firefox_is_requested_with_web_socket_url() {
        let asked = new_session_capabilities(BrowserKind::Firefox, "firefox", json!({}));
        assert_eq!(asked["webSocketUrl"], true);
        assert_eq!(
            asked["moz:firefoxOptions"]["args"],
            json!(["-headless", "--mine"])
        );
        assert_eq!(asked["unhandledPromptBehavior"]["default"], "ignore");
    }

    #[test]
    fn a_password_in_the_endpoint_is_in_no_error() {
        let remote = WebDriverEndpoint {
            endpoint: "https://ada:secret@grid.example/wd/hub".to_owned(),
            ..WebDriverEndpoint::default()
        };
        let error = format!("{:?}", connect_error(&remote, "gone".to_owned()));
        assert!(
            error.contains("grid.example/wd/hub") && !error.contains("secret"),
            "{error}"
        );
    }
}
