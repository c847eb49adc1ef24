//! Endpoints with special behaviour: delays, missing responses, redirects, authentication, echoes.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Path, Query, Request, State};
use axum::http::header::{
    AUTHORIZATION, CONTENT_DISPOSITION, CONTENT_TYPE, LOCATION, SET_COOKIE, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, Sse};
use axum::response::{Html, IntoResponse, Json, Response};
use axum::routing::{any, get};
use futures_util::SinkExt as _;
use futures_util::stream::{self, Stream, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::Shared;

pub(super) fn router() -> Router<Arc<Shared>> {
    Router::new()
        // Browsers request it without a page; a 404 would be an error in every console.
        .route("/favicon.ico", get(StatusCode::NO_CONTENT))
        .route("/delay", any(delay))
        .route("/status/{code}", any(status))
        .route("/redirect", any(redirect))
        .route("/slow", get(slow))
        .route("/never", get(never))
        .route("/hang", any(hang))
        .route("/auth/basic", get(basic_auth))
        .route("/auth/digest", get(digest_auth))
        .route("/headers", any(headers))
        .route("/cookies", get(cookies))
        .route("/cookies/set", get(set_cookies))
        .route("/download", get(download))
        .route("/events", get(events))
        .route("/ws", any(websocket))
        .route("/presence", any(presence))
        .route("/echo", any(echo))
}

#[derive(Deserialize)]
struct Milliseconds {
    #[serde(default)]
    ms: u64,
}

impl Milliseconds {
    async fn pass(&self) {
        tokio::time::sleep(Duration::from_millis(self.ms)).await;
    }
}

/// `/delay?ms=300`: a small page after that delay.
async fn delay(Query(time): Query<Milliseconds>) -> impl IntoResponse {
    time.pass().await;
    Html(format!(
        "<!doctype html><title>Delay</title><p>After {} ms</p>",
        time.ms
    ))
}

/// `/status/404`: that status and a small page; 204 and 304 have no body.
async fn status(Path(code): Path<u16>) -> Response {
    let Ok(code) = StatusCode::from_u16(code) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    if code == StatusCode::NO_CONTENT || code == StatusCode::NOT_MODIFIED {
        return code.into_response();
    }
    (
        code,
        Html(format!(
            "<!doctype html><title>Status</title><h1>{code}</h1>"
        )),
    )
        .into_response()
}

#[derive(Deserialize)]
struct Redirection {
    to: String,
    #[serde(default = "found")]
    code: u16,
    #[serde(default)]
    ms: u64,
}

fn found() -> u16 {
    302
}

/// `/redirect?to=/headers&code=307&ms=50`: a redirect with that status, after that delay.
async fn redirect(Query(wanted): Query<Redirection>) -> Response {
    Milliseconds { ms: wanted.ms }.pass().await;
    let code = StatusCode::from_u16(wanted.code).unwrap_or(StatusCode::FOUND);
    (code, [(LOCATION, wanted.to)]).into_response()
}

#[derive(Deserialize)]
struct Chunks {
    #[serde(default = "three")]
    chunks: usize,
    #[serde(default)]
    ms: u64,
}

fn three() -> usize {
    3
}

/// `/slow?chunks=3&ms=100`: a page whose paragraphs arrive one by one.
async fn slow(Query(wanted): Query<Chunks>) -> Response {
    let head = stream::once(async { "<!doctype html><title>Slow</title>".to_owned() });
    let paragraphs = stream::iter(1..=wanted.chunks).then(move |number| async move {
        Milliseconds { ms: wanted.ms }.pass().await;
        format!("<p>Part {number}</p>\n")
    });
    html_stream(head.chain(paragraphs))
}

/// `/never`: a page whose response never ends, so that `load` never fires.
async fn never() -> Response {
    let head = "<!doctype html><title>Never</title><p>The rest is still to come</p>\n".to_owned();
    html_stream(stream::once(async { head }).chain(stream::pending()))
}

/// `/hang`: accepts the request and never responds.
async fn hang() -> Response {
    std::future::pending().await
}

fn html_stream(parts: impl Stream<Item = String> + Send + 'static) -> Response {
    let body = Body::from_stream(parts.map(Ok::<_, Infallible>));
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], body).into_response()
}

/// `/auth/basic`: requires the user name `user` and the password `secret`.
async fn basic_auth(headers: HeaderMap) -> Response {
    // base64 of `user:secret`
    let given = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    if given == Some("Basic dXNlcjpzZWNyZXQ=") {
        return Html("<!doctype html><title>Inside</title><p>Welcome inside</p>").into_response();
    }
    (
        StatusCode::UNAUTHORIZED,
        [(WWW_AUTHENTICATE, "Basic realm=\"site\"")],
        Html("<!doctype html><title>Outside</title><p>Who are you?</p>"),
    )
        .into_response()
}

/// `/auth/digest`: requires digest authentication, and accepts none.
async fn digest_auth() -> Response {
    (
        StatusCode::UNAUTHORIZED,
        [(
            WWW_AUTHENTICATE,
            "Digest realm=\"site\", nonce=\"1\", qop=\"auth\", algorithm=MD5",
        )],
        Html("<!doctype html><title>Outside</title><p>Who are you?</p>"),
    )
        .into_response()
}

/// `/headers`: the request's headers as a JSON object.
async fn headers(headers: HeaderMap) -> Json<Value> {
    Json(
        header_list(&headers)
            .into_iter()
            .map(|(name, value)| (name, Value::String(value)))
            .collect(),
    )
}

/// `/cookies`: the request's cookies as a JSON object.
async fn cookies(headers: HeaderMap) -> Json<BTreeMap<String, String>> {
    Json(cookie_map(&headers))
}

/// `/cookies/set?taste=sweet`: sets each query parameter as a cookie.
async fn set_cookies(Query(wanted): Query<BTreeMap<String, String>>) -> Response {
    let mut response = Html("<!doctype html><title>Cookies</title><p>Set</p>").into_response();
    for (name, value) in wanted {
        if let Ok(cookie) = format!("{name}={value}; Path=/; SameSite=Lax").parse() {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
    }
    response
}

#[derive(Deserialize)]
struct Download {
    #[serde(default = "download_name")]
    name: String,
    #[serde(default = "download_size")]
    size: usize,
    #[serde(default)]
    ms: u64,
}

fn download_name() -> String {
    "data.txt".to_owned()
}

fn download_size() -> usize {
    16
}

/// `/download?name=data.txt&size=16&ms=50`: an attachment of that name with the letter `x`.
async fn download(Query(wanted): Query<Download>) -> Response {
    Milliseconds { ms: wanted.ms }.pass().await;
    let disposition = format!("attachment; filename=\"{}\"", wanted.name.replace('"', ""));
    (
        [
            (CONTENT_TYPE, "application/octet-stream".to_owned()),
            (CONTENT_DISPOSITION, disposition),
        ],
        "x".repeat(wanted.size),
    )
        .into_response()
}

/// `/events?ms=100`: an endless event stream.
async fn events(Query(time): Query<Milliseconds>) -> impl IntoResponse {
    let pace = time.ms.max(10);
    Sse::new(stream::iter(1_u64..).then(move |number| async move {
        Milliseconds { ms: pace }.pass().await;
        Ok::<_, Infallible>(Event::default().data(format!("tick {number}")))
    }))
}

/// `/ws`: a WebSocket that echoes messages.
async fn websocket(request: Request) -> Response {
    upgrade(request, |mut socket| async move {
        while let Some(Ok(message)) = socket.next().await {
            // The library answers a ping.
            if (message.is_text() || message.is_binary()) && socket.send(message).await.is_err() {
                break;
            }
        }
    })
}

/// `/presence`: a WebSocket that counts as one listener for as long as it is open.
async fn presence(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    upgrade(request, |mut socket| async move {
        shared.listeners.send_modify(|count| *count += 1);
        while let Some(Ok(_)) = socket.next().await {}
        shared.listeners.send_modify(|count| *count -= 1);
    })
}

type WebSocket = WebSocketStream<TokioIo<Upgraded>>;

/// Upgrades the connection of a request to a WebSocket and serves that.
fn upgrade<F: Future<Output = ()> + Send>(
    mut request: Request,
    serve: impl FnOnce(WebSocket) -> F + Send + 'static,
) -> Response {
    let response = match create_response_with_body(&request, Body::empty) {
        Ok(response) => response,
        Err(error) => return (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    };
    let upgrade = hyper::upgrade::on(&mut request);
    #[expect(clippy::disallowed_methods, reason = "it ends with the connection")]
    tokio::spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            let stream = TokioIo::new(upgraded);
            serve(WebSocket::from_raw_socket(stream, Role::Server, None).await).await;
        }
    });
    response
}

/// `/echo`: the request as JSON: the files and fields of a form, or method, headers and body.
async fn echo(request: Request) -> Response {
    let is_form = request
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.starts_with("multipart/form-data"));
    if is_form {
        return match Multipart::from_request(request, &()).await {
            Ok(form) => form_parts(form).await,
            Err(error) => error.into_response(),
        };
    }
    let (parts, body) = request.into_parts();
    let headers: Value = header_list(&parts.headers)
        .into_iter()
        .map(|(name, value)| (name, Value::String(value)))
        .collect();
    match axum::body::to_bytes(body, 64 << 20).await {
        Ok(body) => Json(json!({
            "method": parts.method.as_str(),
            "target": parts.uri.to_string(),
            "headers": headers,
            "body": String::from_utf8_lossy(&body),
        }))
        .into_response(),
        Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}

async fn form_parts(mut form: Multipart) -> Response {
    let (mut files, mut fields) = (Vec::new(), serde_json::Map::new());
    loop {
        let field = match form.next_field().await {
            Ok(Some(field)) => field,
            Ok(None) => return Json(json!({ "files": files, "fields": fields })).into_response(),
            Err(error) => return error.into_response(),
        };
        let name = field.name().unwrap_or_default().to_owned();
        let file = field.file_name().map(str::to_owned);
        let media_type = field.content_type().unwrap_or_default().to_owned();
        let bytes = match field.bytes().await {
            Ok(bytes) => bytes,
            Err(error) => return error.into_response(),
        };
        match file {
            Some(file) => files.push(
                json!({ "field": name, "name": file, "size": bytes.len(), "type": media_type }),
            ),
            None => drop(fields.insert(name, String::from_utf8_lossy(&bytes).into())),
        }
    }
}

pub(super) fn header_list(headers: &HeaderMap) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|(name, value)| {
            (
                name.to_string(),
                String::from_utf8_lossy(value.as_bytes()).into_owned(),
            )
        })
        .collect()
}

pub(super) fn cookie_map(headers: &HeaderMap) -> BTreeMap<String, String> {
    headers
        .get_all("cookie")
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
