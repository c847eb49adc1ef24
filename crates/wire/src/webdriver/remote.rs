//! The HTTP client of WebDriver, which reuses connections.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use http::{Method, Request, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::session::{Created, Delete, Status};
use super::{Verb, WebDriverCommand};
use crate::error::{ConnectFailure, Error, Result};
use crate::json::decode;
use crate::span::CommandSpan;
use crate::transport::address::{credentials, excerpt, tcp, tls, without_credentials};

/// The longest time that connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// A connection that was idle for longer is not reused: servers close idle connections, and a command that is sent meanwhile is lost.
const MAX_IDLE_TIME: Duration = Duration::from_secs(4);
/// The largest number of idle connections.
const MAX_IDLE_CONNECTIONS: usize = 8;
/// The largest response in bytes. Screenshots of long pages are large.
const MAX_RESPONSE_SIZE: usize = 256 * 1024 * 1024;

/// The name of the protocol in traces and metrics.
const PROTOCOL: &str = "webdriver";

type Sender = SendRequest<Full<Bytes>>;

/// A driver or a grid. Clones share its connections.
#[derive(Clone)]
pub struct RemoteEnd {
    shared: Arc<Shared>,
}

struct Shared {
    /// The URL as it was given, without user name and password.
    endpoint: String,
    secure: bool,
    host: String,
    port: u16,
    /// The value of the `Host` header, `HOST:PORT`.
    authority: HeaderValue,
    /// The common prefix of all paths, without a slash at the end.
    prefix: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    idle: Mutex<Vec<(Sender, Instant)>>,
}

/// A session of a remote end. Clones are the same session, which is not deleted when they are dropped.
#[derive(Clone)]
pub struct WebDriverSession {
    remote: RemoteEnd,
    id: Arc<str>,
}

impl RemoteEnd {
    /// Creates a remote end at `http://host:port/prefix` or `https://…`. `user:password@` becomes an `Authorization` header. `headers` are
    /// sent with every command, and override it.
    ///
    /// Does not connect yet. Fails with [`Error::Connect`] if the URL or a header is not valid.
    pub fn new(url: &str, headers: &[(String, String)]) -> Result<Self> {
        Shared::new(url, headers)
            .map(|shared| Self {
                shared: Arc::new(shared),
            })
            .map_err(|cause| Error::Connect {
                endpoint: without_credentials(url),
                cause,
            })
    }

    /// Returns the URL as it was given, without user name and password.
    pub fn endpoint(&self) -> &str {
        &self.shared.endpoint
    }

    /// Returns the status of the remote end. <https://www.w3.org/TR/webdriver2/#status>
    pub async fn status(&self) -> Result<Status> {
        const NAME: &str = "Status";
        CommandSpan::measure(PROTOCOL, NAME, async {
            let answer = self.perform(NAME, Verb::Get, "status".into(), String::new());
            answer.await?.read(NAME)
        })
        .await
    }

    /// Creates a session. `capabilities` is an object with `alwaysMatch`, `firstMatch` or both.
    /// <https://www.w3.org/TR/webdriver2/#new-session>
    ///
    /// If the call is dropped, the session is deleted as soon as it was created.
    pub async fn new_session(&self, capabilities: &Value) -> Result<(WebDriverSession, Created)> {
        const NAME: &str = "New Session";
        let body = serde_json::json!({ "capabilities": capabilities }).to_string();
        let remote = self.clone();
        let (done, answer) = oneshot::channel();
        spawn(async move {
            let sent = remote
                .shared
                .send_request(NAME, Verb::Post, "session", body)
                .await;
            let made = sent.and_then(|answer| answer.read::<Created>(NAME));
            if let Err(Ok(unclaimed)) = done.send(made) {
                let session = remote.session(&unclaimed.session_id);
                if let Err(error) = session.delete().await {
                    tracing::debug!(%error, "a session without an owner is left behind");
                }
            }
        });
        let created = CommandSpan::measure(PROTOCOL, NAME, async {
            answer.await.unwrap_or_else(|_| Err(runtime_stopped()))
        })
        .await?;
        Ok((self.session(&created.session_id), created))
    }

    /// Returns a handle of a session that exists.
    pub fn session(&self, id: &str) -> WebDriverSession {
        WebDriverSession {
            remote: self.clone(),
            id: id.into(),
        }
    }

    /// Sends a command and reads the response even if the caller is dropped, because a partly read connection cannot be reused.
    async fn perform(
        &self,
        name: &'static str,
        verb: Verb,
        path: String,
        body: String,
    ) -> Result<Answer> {
        let shared = self.shared.clone();
        let (done, answer) = oneshot::channel();
        spawn(async move {
            let answer = shared.send_request(name, verb, &path, body).await;
            // The caller may have been dropped.
            let _ = done.send(answer);
        });
        answer.await.unwrap_or_else(|_| Err(runtime_stopped()))
    }
}

impl WebDriverSession {
    /// Returns the identifier of the session.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the remote end of the session.
    pub fn remote(&self) -> &RemoteEnd {
        &self.remote
    }

    /// Sends a command, even if others are in progress.
    pub async fn call<C: WebDriverCommand>(&self, command: &C) -> Result<C::Response> {
        let mut path = format!("session/{}", self.id);
        let rest = command.path();
        if !rest.is_empty() {
            path.push('/');
            path += &rest;
        }
        CommandSpan::measure(PROTOCOL, C::NAME, async {
            let body = encode(command)?;
            let answer = self.remote.perform(C::NAME, C::VERB, path, body).await?;
            answer.read(C::NAME)
        })
        .await
    }

    /// Deletes the session and its browser, without waiting for commands in progress.
    pub async fn delete(&self) -> Result<()> {
        self.call(&Delete {}).await.map(drop)
    }
}

fn encode<C: WebDriverCommand>(command: &C) -> Result<String> {
    match C::VERB {
        Verb::Post => serde_json::to_string(command).map_err(|error| Error::Shape {
            method: C::NAME,
            message: error.to_string(),
        }),
        Verb::Get | Verb::Delete => Ok(String::new()),
    }
}

/// The response to a command.
struct Answer {
    status: u16,
    body: Bytes,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    value: &'a RawValue,
}

#[derive(Deserialize)]
struct Refusal {
    error: String,
    #[serde(default)]
    message: String,
    /// A string according to the specification; a grid returns a list of objects.
    #[serde(default)]
    stacktrace: Value,
}

impl Answer {
    fn read<T: DeserializeOwned>(&self, method: &'static str) -> Result<T> {
        decode(method, self.value(method)?)
    }

    fn value(&self, method: &'static str) -> Result<&RawValue> {
        let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(&self.body) else {
            return Err(Error::Http {
                method,
                status: self.status,
                body: excerpt(&self.body),
            });
        };
        if self.status == 200 {
            return Ok(envelope.value);
        }
        match decode::<Refusal>(method, envelope.value) {
            Ok(refusal) => Err(Error::Refused {
                method,
                error: refusal.error,
                message: refusal.message,
                stacktrace: match refusal.stacktrace {
                    Value::String(text) => text,
                    Value::Null => String::new(),
                    other => other.to_string(),
                },
            }),
            Err(_) => Err(Error::Http {
                method,
                status: self.status,
                body: excerpt(&self.body),
            }),
        }
    }
}

impl Shared {
    fn new(url: &str, headers: &[(String, String)]) -> Result<Self, ConnectFailure> {
        let endpoint = without_credentials(url);
        let invalid =
            |error: &dyn std::fmt::Display| ConnectFailure::Invalid(format!("{endpoint}: {error}"));
        let uri: Uri = endpoint.parse().map_err(|error| invalid(&error))?;
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(invalid(&"not http:// or https://")),
        };
        let authority = uri.authority().ok_or_else(|| invalid(&"no host"))?;
        let mut all = Vec::new();
        if let Some(credentials) = credentials(url) {
            let encoded = base64::engine::general_purpose::STANDARD.encode(credentials);
            let mut value = HeaderValue::try_from(format!("Basic {encoded}"))
                .map_err(|error| invalid(&error))?;
            value.set_sensitive(true);
            all.push((AUTHORIZATION, value));
        }
        for (name, value) in headers {
            let name = HeaderName::try_from(name).map_err(|error| invalid(&error))?;
            let value = HeaderValue::try_from(value).map_err(|error| invalid(&error))?;
            all.push((name, value));
        }
        let host = authority.host();
        Ok(Self {
            secure,
            host: host.trim_matches(['[', ']']).to_owned(),
            port: authority
                .port_u16()
                .unwrap_or(if secure { 443 } else { 80 }),
            authority: HeaderValue::try_from(authority.as_str())
                .map_err(|error| invalid(&error))?,
            prefix: uri.path().trim_end_matches('/').to_owned(),
            headers: all,
            idle: Mutex::default(),
            endpoint,
        })
    }

    async fn send_request(
        &self,
        method: &'static str,
        verb: Verb,
        path: &str,
        body: String,
    ) -> Result<Answer> {
        let lost = |reason: &dyn std::fmt::Display| Error::Closed {
            reason: format!("{method}: {reason}"),
        };
        let body = Bytes::from(body);
        let request = || self.request(verb, path, body.clone());
        let (mut connection, answer) = loop {
            let kept = self.take_idle();
            let is_kept = kept.is_some();
            let mut connection = match kept {
                Some(connection) => connection,
                None => self.connect().await?,
            };
            let request = request().map_err(|error| Error::Shape {
                method,
                message: error.to_string(),
            })?;
            match connection.try_send_request(request).await {
                Ok(answer) => break (connection, answer),
                // The server closed the idle connection and nothing was sent.
                Err(error) if is_kept && error.message().is_some() => {}
                Err(error) => return Err(lost(&describe_error(error.error()))),
            }
        };
        let status = answer.status().as_u16();
        let body = Limited::new(answer.into_body(), MAX_RESPONSE_SIZE)
            .collect()
            .await
            .map_err(|error| lost(&error))?
            .to_bytes();
        if connection.ready().await.is_ok() {
            self.store_idle(connection);
        }
        Ok(Answer { status, body })
    }

    fn request(
        &self,
        verb: Verb,
        path: &str,
        body: Bytes,
    ) -> Result<Request<Full<Bytes>>, http::Error> {
        let method = match verb {
            Verb::Get => Method::GET,
            Verb::Post => Method::POST,
            Verb::Delete => Method::DELETE,
        };
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}/{path}", self.prefix))
            .header(HOST, self.authority.clone())
            .header(ACCEPT, "application/json");
        if verb == Verb::Post {
            // Grids reject the content type without a character set.
            request = request.header(CONTENT_TYPE, "application/json; charset=utf-8");
        }
        let mut request = request.body(Full::new(body))?;
        for (name, value) in &self.headers {
            request.headers_mut().insert(name, value.clone());
        }
        Ok(request)
    }

    /// Returns an idle connection that is open.
    fn take_idle(&self) -> Option<Sender> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(connection, since)| {
            !connection.is_closed() && since.elapsed() < MAX_IDLE_TIME
        });
        idle.pop().map(|(connection, _)| connection)
    }

    fn store_idle(&self, connection: Sender) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE_CONNECTIONS {
            idle.push((connection, Instant::now()));
        }
    }

    async fn connect(&self) -> Result<Sender> {
        let connected = match tokio::time::timeout(CONNECT_TIMEOUT, self.open()).await {
            Ok(connected) => connected,
            Err(_) => Err(ConnectFailure::Timeout {
                after: CONNECT_TIMEOUT,
            }),
        };
        connected.map_err(|cause| Error::Connect {
            endpoint: self.endpoint.clone(),
            cause,
        })
    }

    async fn open(&self) -> Result<Sender, ConnectFailure> {
        let socket = tcp(&self.host, self.port).await?;
        if !self.secure {
            return begin(socket).await;
        }
        begin(tls(&self.host, socket).await?).await
    }
}

/// Starts HTTP on a socket. The connection is closed when its sender is dropped.
async fn begin<S>(socket: S) -> Result<Sender, ConnectFailure>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = handshake(TokioIo::new(socket))
        .await
        .map_err(|error| ConnectFailure::Handshake(error.to_string()))?;
    spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to a driver broke");
        }
    });
    Ok(sender)
}

/// Returns the message of the innermost cause.
fn describe_error(error: &hyper::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// The runtime was shut down, which ends all tasks.
fn runtime_stopped() -> Error {
    Error::Closed {
        reason: "the client was stopped".into(),
    }
}

/// Spawns a task that ends with its response or its connection.
#[expect(
    clippy::disallowed_methods,
    reason = "a command ends with its answer or its connection"
)]
pub(super) fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    drop(tokio::spawn(task));
}
