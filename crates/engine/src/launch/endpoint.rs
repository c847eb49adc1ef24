//! Connecting to a remote Chromium, by a WebSocket URL or by the HTTP URL of its debugging port.

use super::source::Source;
use crate::backend::BrowserBackend;
use crate::backend::cdp::CdpBrowser;
use crate::error::{Error, Result};
use crate::progress::Progress;
use serde::Deserialize;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;

/// The endpoint of a remote Chromium.
#[derive(Debug, Clone)]
pub struct CdpEndpoint {
    /// `ws://…`, `wss://…`, `http(s)://host:port` of a debugging port, or [`AUTO`].
    pub endpoint: String,
    /// The browsers for [`AUTO`]: their names and the folders of their profiles.
    pub profiles: Vec<(String, PathBuf)>,
    /// The headers of the handshake and of the discovery request.
    pub headers: Vec<(String, String)>,
    /// The timeout of each of the two.
    pub timeout: Duration,
}

/// The endpoint that selects the first browser of this user that allows remote debugging.
pub const AUTO: &str = "auto";

/// How long a local port may take to accept a connection.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// The response of `/json/version`. <https://chromedevtools.github.io/devtools-protocol/#get-jsonversion>
#[derive(Deserialize)]
struct Version {
    #[serde(rename = "webSocketDebuggerUrl")]
    web_socket_debugger_url: String,
}

pub(super) async fn connect(
    progress: &Progress,
    options: &CdpEndpoint,
) -> Result<Arc<dyn BrowserBackend>> {
    progress
        .run(async {
            let url = match options.endpoint.split_once("://") {
                None if options.endpoint == AUTO => find_running(options).await?,
                Some(("ws" | "wss", _)) => options.endpoint.clone(),
                Some(("http" | "https", _)) => discover(options).await?,
                _ => {
                    return Err(connect_error(
                        options,
                        "the endpoint must be a ws://, wss://, http:// or https:// URL, or auto"
                            .to_owned(),
                    ));
                }
            };
            let (connection, events) =
                wire::Connection::websocket(&url, &options.headers, options.timeout)
                    .await
                    .map_err(|error| connect_error(options, error.to_string()))?;
            CdpBrowser::start(connection, events, Source::Reached).await
        })
        .await
}

/// Returns the WebSocket of the first running browser that allows remote debugging, according to a file in its profile.
async fn find_running(options: &CdpEndpoint) -> Result<String> {
    for (name, profile) in &options.profiles {
        let Ok(text) = tokio::fs::read_to_string(profile.join("DevToolsActivePort")).await else {
            continue;
        };
        let Some((port, path)) = active_port(&text) else {
            continue;
        };
        // The file outlives its browser.
        let address = (Ipv4Addr::LOCALHOST, port);
        let knocking = tokio::time::timeout(PROBE_TIMEOUT, TcpStream::connect(address));
        if let Ok(Ok(_)) = knocking.await {
            let folder = profile.display();
            tracing::warn!(
                "attaching to {name} on port {port}, which runs with the profile {folder}"
            );
            return Ok(format!("ws://127.0.0.1:{port}{path}"));
        }
    }
    let names: Vec<_> = options.profiles.iter().map(|(name, _)| &**name).collect();
    Err(connect_error(
        options,
        format!(
            "no browser of this user allows remote debugging. Looked for {}. Turn it on in chrome://inspect/#remote-debugging (Chrome 144 and newer), or start the browser with --remote-debugging-port and a --user-data-dir of its own, and name that port",
            names.join(", ")
        ),
    ))
}

/// Parses port and path in a `DevToolsActivePort` file.
fn active_port(text: &str) -> Option<(u16, &str)> {
    let mut lines = text.lines().map(str::trim);
    let port = lines.next()?.parse().ok().filter(|port| *port > 0)?;
    let path = lines.next().filter(|path| path.starts_with('/'))?;
    Some((port, path))
}

/// Returns the discovery URL of a debugging port: below the path of the endpoint, with its query.
fn discovery_url(base: &url::Url) -> url::Url {
    let mut question = base.clone();
    question.set_path(&format!(
        "{}/json/version/",
        base.path().trim_end_matches('/')
    ));
    question.set_fragment(None);
    question
}

/// Requests the WebSocket URL of the debugging port.
async fn discover(options: &CdpEndpoint) -> Result<String> {
    let base = url::Url::parse(&options.endpoint)
        .map_err(|error| connect_error(options, format!("Invalid URL: {error}")))?;
    let question = discovery_url(&base);
    let (headers, timeout) = (options.headers.clone(), options.timeout);
    let asked = question.clone();
    let answer = tokio::task::spawn_blocking(move || {
        let agent = ureq::Agent::new_with_config(
            ureq::Agent::config_builder()
                .timeout_global(Some(timeout))
                // The request is direct, as the WebSocket will be, regardless of the environment.
                .proxy(None)
                .build(),
        );
        let mut request = agent.get(asked.as_str());
        for (name, value) in &headers {
            request = request.header(name, value);
        }
        request.call()?.body_mut().read_to_string()
    })
    .await
    .map_err(|error| connect_error(options, error.to_string()))?;
    let body = answer.map_err(|error| {
        let reason = match error {
            ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                format!(
                    "connect ECONNREFUSED {}:{}",
                    question.host_str().unwrap_or_default(),
                    question.port_or_known_default().unwrap_or_default()
                )
            }
            other => format!("{question}: {other}"),
        };
        connect_error(options, reason)
    })?;
    let version: Version = serde_json::from_str(&body).map_err(|_| {
        connect_error(
            options,
            format!("{question} does not answer like a browser's debugging port"),
        )
    })?;
    reachable(&version.web_socket_debugger_url, &base).ok_or_else(|| {
        connect_error(
            options,
            format!("unusable WebSocket URL {}", version.web_socket_debugger_url),
        )
    })
}

/// Combines the WebSocket path that the browser reports with the address, user name and password of the endpoint.
pub(super) fn reachable(reported: &str, base: &url::Url) -> Option<String> {
    let reported = url::Url::parse(reported).ok()?;
    let scheme = if base.scheme() == "https" {
        "wss"
    } else {
        "ws"
    };
    let port = base
        .port()
        .map(|port| format!(":{port}"))
        .unwrap_or_default();
    let user = match (base.username(), base.password()) {
        ("", None) => String::new(),
        (name, None) => format!("{name}@"),
        (name, Some(password)) => format!("{name}:{password}@"),
    };
    let query = reported
        .query()
        .map(|query| format!("?{query}"))
        .unwrap_or_default();
    Some(format!(
        "{scheme}://{user}{}{port}{}{query}",
        base.host_str()?,
        reported.path()
    ))
}

fn connect_error(options: &CdpEndpoint, reason: String) -> Error {
    Error::ConnectFailed {
        endpoint: options.endpoint.clone(),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_and_a_query_of_the_endpoint_are_kept() {
        for (endpoint, asked) in [
            ("http://h:1", "http://h:1/json/version/"),
            ("http://h:1/", "http://h:1/json/version/"),
            (
                "https://h/base?token=abc",
                "https://h/base/json/version/?token=abc",
            ),
        ] {
            let base = url::Url::parse(endpoint).unwrap();
            assert_eq!(discovery_url(&base).as_str(), asked);
        }
    }

    #[test]
    fn the_active_port_file_has_port_and_path() {
        assert_eq!(
            active_port("9222\n/devtools/browser/abc\n"),
            Some((9222, "/devtools/browser/abc"))
        );
        for text in ["", "0\n/x", "9222", "9222\nx", "many\n/x"] {
            assert_eq!(active_port(text), None, "{text}");
        }
    }

    #[test]
    fn the_discovered_url_keeps_the_endpoint_address() {
        let base = url::Url::parse("https://grid.example:4444/x").unwrap();
        assert_eq!(
            reachable("ws://10.0.0.3:9222/devtools/browser/abc?t=1", &base).unwrap(),
            "wss://grid.example:4444/devtools/browser/abc?t=1"
        );
        let base = url::Url::parse("http://ada:se%40cret@grid.example/wd/hub").unwrap();
        assert_eq!(
            reachable("ws://10.0.0.3:4444/session/1/se/cdp", &base).unwrap(),
            "ws://ada:se%40cret@grid.example/session/1/se/cdp"
        );
    }
}
