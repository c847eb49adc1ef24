//! Reaching a Chromium that runs elsewhere, by a WebSocket URL or by the HTTP address of its debugging port.

use super::source::Source;
use crate::backend::BrowserBackend;
use crate::backend::cdp::CdpBrowser;
use crate::error::{Error, Result};
use crate::progress::Progress;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

/// Where a Chromium listens that runs elsewhere.
#[derive(Debug, Clone)]
pub struct CdpEndpoint {
    /// `ws://…`, `wss://…`, or `http(s)://host:port` of a debugging port.
    pub endpoint: String,
    /// Headers of the handshake and of the question before it.
    pub headers: Vec<(String, String)>,
    /// How long each of the two may take.
    pub timeout: Duration,
}

/// What `/json/version` answers. <https://chromedevtools.github.io/devtools-protocol/#get-jsonversion>
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
                Some(("ws" | "wss", _)) => options.endpoint.clone(),
                Some(("http" | "https", _)) => discover(options).await?,
                _ => {
                    return Err(failed(
                        options,
                        "the endpoint must be a ws://, wss://, http:// or https:// URL".to_owned(),
                    ));
                }
            };
            let (connection, events) =
                wire::Connection::websocket(&url, &options.headers, options.timeout)
                    .await
                    .map_err(|error| failed(options, error.to_string()))?;
            CdpBrowser::start(connection, events, Source::Reached).await
        })
        .await
}

/// Asks the debugging port for its WebSocket.
async fn discover(options: &CdpEndpoint) -> Result<String> {
    let base = url::Url::parse(&options.endpoint)
        .map_err(|error| failed(options, format!("Invalid URL: {error}")))?;
    let question = base
        .join("/json/version")
        .map_err(|error| failed(options, format!("Invalid URL: {error}")))?;
    let (headers, timeout) = (options.headers.clone(), options.timeout);
    let asked = question.clone();
    let answer = tokio::task::spawn_blocking(move || {
        let agent = ureq::Agent::new_with_config(
            ureq::Agent::config_builder()
                .timeout_global(Some(timeout))
                // The endpoint is asked as the WebSocket will be: directly, whatever the environment says.
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
    .map_err(|error| failed(options, error.to_string()))?;
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
        failed(options, reason)
    })?;
    let version: Version = serde_json::from_str(&body).map_err(|_| {
        failed(
            options,
            format!("{question} does not answer like a browser's debugging port"),
        )
    })?;
    reachable(&version.web_socket_debugger_url, &base).ok_or_else(|| {
        failed(
            options,
            format!("unusable WebSocket URL {}", version.web_socket_debugger_url),
        )
    })
}

/// The browser tells the address as it sees itself; we keep the one that led us to it, with its user name and password.
pub(super) fn reachable(told: &str, base: &url::Url) -> Option<String> {
    let told = url::Url::parse(told).ok()?;
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
    let query = told
        .query()
        .map(|query| format!("?{query}"))
        .unwrap_or_default();
    Some(format!(
        "{scheme}://{user}{}{port}{}{query}",
        base.host_str()?,
        told.path()
    ))
}

fn failed(options: &CdpEndpoint, reason: String) -> Error {
    Error::ConnectFailed {
        endpoint: options.endpoint.clone(),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_that_led_us_there_is_kept() {
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
