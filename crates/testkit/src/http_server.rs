//! The built server over HTTP: started on a free port, with requests of a plain HTTP client.

use crate::{Client, Connection, Launch, eventually};
use serde_json::{Value, json};
use std::process::ExitStatus;
use std::time::Duration;

/// How long a response may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A listening server, which ends when this is dropped.
pub struct HttpServer {
    process: Client,
    url: String,
    headers: Vec<(String, String)>,
}

/// A response.
#[derive(Debug, Clone)]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl HttpAnswer {
    /// Returns a header's value; empty without the header.
    pub fn header(&self, name: &str) -> &str {
        let header = self.headers.iter().find(|(one, _)| one == name);
        header.map_or("", |(_, value)| value)
    }

    /// Returns the body as JSON; of an event stream, the last event with data.
    pub fn json(&self) -> Value {
        let text = match self.header("content-type").starts_with("text/event-stream") {
            true => {
                let data = self
                    .body
                    .lines()
                    .filter_map(|line| line.strip_prefix("data:"));
                data.map(str::trim).rfind(|data| !data.is_empty())
            }
            false => Some(&*self.body),
        };
        serde_json::from_str(text.unwrap_or_default())
            .unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }
}

/// The server does not end with its stdin.
#[cfg(unix)]
impl Drop for HttpServer {
    fn drop(&mut self) {
        self.process.terminate();
    }
}

impl HttpServer {
    /// Starts the server on a free port, without authentication.
    pub async fn start(launch: Launch) -> Self {
        Self::start_guarded(launch.args(["--auth", "none"])).await
    }

    /// Starts the server on a free port, with the authentication of its arguments.
    pub async fn start_guarded(launch: Launch) -> Self {
        let process = launch.args(["--port", "0"]).spawn();
        let stderr = process.stderr_with("SSE transport").await;
        let url = stderr
            .lines()
            .find_map(|line| line.strip_prefix("Listening on "));
        let url = url.expect("it says where it listens").to_owned();
        Self {
            process,
            url,
            headers: Vec::new(),
        }
    }

    /// Adds this header to each later request.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns the URL without a path.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns host and port.
    pub fn authority(&self) -> &str {
        self.url.split_once("://").expect("a URL").1
    }

    /// Returns the URL of the WebSocket transport.
    pub fn web_socket(&self) -> String {
        format!("{}/ws", self.url.replacen("http", "ws", 1))
    }

    /// Opens a connection at the level of bytes.
    pub async fn connection(&self) -> Connection {
        Connection::open(self.authority()).await
    }

    /// Returns the process.
    pub fn process(&mut self) -> &mut Client {
        &mut self.process
    }

    /// Sends SIGTERM to the server, as a service manager does.
    #[cfg(unix)]
    pub fn terminate(&self) {
        self.process.terminate();
    }

    /// Waits until the server has exited on its own.
    pub async fn exit_status(&mut self) -> ExitStatus {
        self.process.exit_status().await
    }

    /// Sends a request, with a body if `body` is not empty.
    pub async fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> HttpAnswer {
        let own = self.headers.iter().map(|(name, value)| (&**name, &**value));
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url));
        for (name, value) in own.chain(headers.iter().copied()) {
            request = request.header(name, value);
        }
        let request = request.body(body.to_owned()).expect("a request");
        let asked = tokio::task::spawn_blocking(move || {
            let agent = ureq::Agent::config_builder()
                .http_status_as_error(false)
                .allow_non_standard_methods(true)
                .timeout_global(Some(TIMEOUT))
                .build()
                .new_agent();
            let mut answer = agent.run(request).expect("an answer");
            let headers = answer.headers().iter().map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                (name.as_str().to_owned(), value)
            });
            HttpAnswer {
                status: answer.status().as_u16(),
                headers: headers.collect(),
                body: answer.body_mut().read_to_string().expect("a whole body"),
            }
        });
        asked.await.expect("asking does not panic")
    }

    /// Returns the value of a metric without labels.
    pub async fn metric(&self, name: &str) -> u64 {
        let metrics = self.ask("GET", "/metrics", &[], "").await;
        let line = metrics.body.lines().find_map(|line| {
            let value = line.strip_prefix("playhouse_")?.strip_prefix(name)?;
            value.trim().parse().ok()
        });
        line.unwrap_or_else(|| panic!("no {name} in {metrics:?}"))
    }

    /// Waits until a metric has that value.
    pub async fn metric_is(&self, name: &str, value: u64) {
        eventually(async || match self.metric(name).await {
            now if now == value => Ok(()),
            now => Err(format!("{name} is {now} and not {value}")),
        })
        .await;
    }

    /// Sends a JSON-RPC request to an endpoint as clients of Streamable HTTP do.
    pub async fn rpc(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        method: &str,
        params: Value,
    ) -> HttpAnswer {
        let both = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let headers: Vec<_> = both.iter().chain(headers).copied().collect();
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.ask("POST", path, &headers, &message.to_string()).await
    }

    /// Begins an MCP session at `/mcp`; returns its id.
    pub async fn begin_session(&self) -> String {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "testkit", "version": "1" },
        });
        let answer = self.rpc("/mcp", &[], "initialize", params).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let id = answer.header("mcp-session-id").to_owned();
        let headers = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-session-id", &*id),
        ];
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let answer = self.ask("POST", "/mcp", &headers, ready).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        id
    }

    /// Calls a tool in an MCP session, or without one at `/message`; returns its result.
    pub async fn call(&self, session: Option<&str>, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = match session {
            Some(id) => {
                self.rpc("/mcp", &[("mcp-session-id", id)], "tools/call", params)
                    .await
            }
            None => self.rpc("/message", &[], "tools/call", params).await,
        };
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["result"].clone()
    }

    /// Opens a URL with `browser_navigate`. Panics with the whole answer if it is an error.
    pub async fn navigate(&self, session: Option<&str>, url: &str) -> Value {
        let answer = self
            .call(session, "browser_navigate", json!({ "url": url }))
            .await;
        assert_ne!(answer["isError"], true, "browser_navigate {url}: {answer}");
        answer
    }
}
