//! The site that browsers visit in tests: the example apps, endpoints that behave in every way a
//! test needs, and pages that a test adds itself. Listens on loopback only.

mod endpoints;
mod files;
mod shop;

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request as HttpRequest, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// A running site. It stops listening when it is dropped.
pub struct Site {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// Ends its tasks when dropped.
    _server: JoinSet<()>,
}

/// What a path answers when a test has put it there.
#[derive(Clone, Debug)]
pub struct Resource {
    /// HTTP status, 200 unless said otherwise.
    pub status: u16,
    /// Response headers; a `content-type` is guessed from the path when there is none.
    pub headers: Vec<(String, String)>,
    /// The body, as it goes over the wire.
    pub body: Vec<u8>,
    /// How long the answer is held back.
    pub delay: Duration,
}

/// One request that the site received.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method, upper-case.
    pub method: String,
    /// Path and query as the client sent them.
    pub target: String,
    /// Header names in lower case, in the order of arrival.
    pub headers: Vec<(String, String)>,
}

#[derive(Default)]
struct Shared {
    resources: Mutex<HashMap<String, Resource>>,
    requests: Mutex<Vec<Request>>,
    listeners: watch::Sender<usize>,
    shop: shop::Shop,
}

/// How many requests [`Site::requests`] remembers.
const REMEMBERED: usize = 10_000;

impl Site {
    /// Starts a site on a free loopback port.
    pub async fn start() -> Self {
        Self::start_on(0).await
    }

    /// Starts a site on this loopback port.
    pub async fn start_on(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .await
            .unwrap_or_else(|error| panic!("cannot listen on 127.0.0.1:{port}: {error}"));
        let address = listener
            .local_addr()
            .expect("a bound listener has an address");
        // Small answers in several writes would wait for each other's acknowledgement.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        let shared = Arc::new(Shared::default());
        let router = Router::new()
            .merge(endpoints::router())
            .nest("/shop/api", shop::router())
            .fallback(files::serve)
            .layer(middleware::from_fn_with_state(shared.clone(), added_pages))
            .with_state(shared.clone());
        let mut server = JoinSet::new();
        server.spawn(async move { axum::serve(listener, router).await.unwrap_or_default() });
        Self {
            address,
            shared,
            _server: server,
        }
    }

    /// `http://127.0.0.1:PORT`, without a slash at the end.
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port())
    }

    /// The same site under a name that is another site to browsers: `http://localhost:PORT`.
    pub fn cross_origin_url(&self) -> String {
        format!("http://localhost:{}", self.port())
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The full address of a path such as `/shop/login.html`.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url())
    }

    /// Serves `html` at `path` from now on, whatever stood there before; returns its address.
    pub fn add_page(&self, path: &str, html: &str) -> String {
        self.add(path, Resource::html(html))
    }

    /// Serves `resource` at `path` (without query) from now on; returns its address.
    pub fn add(&self, path: &str, resource: Resource) -> String {
        self.shared
            .resources
            .lock()
            .expect("not poisoned")
            .insert(path.to_owned(), resource);
        self.url(path)
    }

    /// Waits until so many pages hold a WebSocket to `/presence` open. Panics after 30 s.
    pub async fn listeners(&self, count: usize) {
        let mut seen = self.shared.listeners.subscribe();
        let waited = timeout(
            Duration::from_secs(30),
            seen.wait_for(|seen| *seen == count),
        )
        .await
        .is_ok();
        assert!(
            waited,
            "there are {} listeners, not {count}",
            *self.shared.listeners.borrow()
        );
    }

    /// Every request so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().expect("not poisoned").clone()
    }
}

impl Resource {
    /// A page of HTML, in UTF-8.
    pub fn html(html: &str) -> Self {
        Self::new("text/html; charset=utf-8", html)
    }

    /// A body of this media type.
    pub fn new(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            body: body.into(),
            delay: Duration::ZERO,
        }
    }

    /// The same with another status.
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The same with one header more.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same, held back for so long.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

impl Request {
    /// The value of the first header of this (lower-case) name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Notes the request, and answers it when a test has added this path; endpoints and files come after.
async fn added_pages(
    State(shared): State<Arc<Shared>>,
    request: HttpRequest,
    next: Next,
) -> Response {
    shared.note(&request);
    let added = shared
        .resources
        .lock()
        .expect("not poisoned")
        .get(request.uri().path())
        .cloned();
    let Some(resource) = added else {
        return next.run(request).await;
    };
    tokio::time::sleep(resource.delay).await;
    let status = StatusCode::from_u16(resource.status).expect("a test gives a valid status");
    let mut response = (status, resource.body).into_response();
    response.headers_mut().remove("content-type");
    for (name, value) in &resource.headers {
        let name: axum::http::HeaderName = name.parse().expect("a test gives a valid header name");
        response.headers_mut().append(
            name,
            value.parse().expect("a test gives a valid header value"),
        );
    }
    response
}

impl Shared {
    fn note(&self, request: &HttpRequest) {
        let mut requests = self.requests.lock().expect("not poisoned");
        if requests.len() == REMEMBERED {
            requests.remove(0);
        }
        requests.push(Request {
            method: request.method().to_string(),
            target: request.uri().to_string(),
            headers: endpoints::header_list(request.headers()),
        });
    }
}
