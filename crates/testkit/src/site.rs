//! The fixture site: the example apps, endpoints with special behaviour, and pages that a test adds. It listens on the loopback interface
//! only.

mod endpoints;
mod files;
mod shop;

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
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

/// A running site, which stops when this is dropped.
pub struct Site {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// The tasks, which end when this is dropped.
    _server: JoinSet<()>,
}

/// The response of a path that a test has added.
#[derive(Clone, Debug)]
pub struct Resource {
    /// The HTTP status, by default 200.
    pub status: u16,
    /// The response headers; a missing `content-type` is derived from the path.
    pub headers: Vec<(String, String)>,
    /// The body as it is sent.
    pub body: Vec<u8>,
    /// The delay of the response.
    pub delay: Duration,
}

/// A request that the site received.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method, upper-case.
    pub method: String,
    /// Path and query as sent by the client.
    pub target: String,
    /// Header names in lower case, in the order of arrival.
    pub headers: Vec<(String, String)>,
}

#[derive(Default)]
struct Shared {
    resources: Mutex<HashMap<String, Resource>>,
    /// Path prefixes such as `/todo/`, and the folders whose files they serve.
    folders: Mutex<Vec<(String, PathBuf)>>,
    requests: Mutex<Vec<Request>>,
    listeners: watch::Sender<usize>,
    shop: shop::Shop,
}

/// The largest number of requests in [`Site::requests`].
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
        // Small responses in several writes would wait for acknowledgements.
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

    /// Returns `http://127.0.0.1:PORT`, without a slash at the end.
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port())
    }

    /// Returns the URL of the site under a host name that browsers treat as another site: `http://localhost:PORT`.
    pub fn cross_origin_url(&self) -> String {
        format!("http://localhost:{}", self.port())
    }

    /// Returns the port on which the site listens.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns the URL of a path such as `/shop/login.html`.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url())
    }

    /// Serves `html` at `path` from now on, and replaces the previous resource; returns its URL.
    pub fn add_page(&self, path: &str, html: &str) -> String {
        self.add(path, Resource::html(html))
    }

    /// Serves `resource` at `path` (without query) from now on; returns its URL.
    pub fn add(&self, path: &str, resource: Resource) -> String {
        self.shared
            .resources
            .lock()
            .expect("not poisoned")
            .insert(path.to_owned(), resource);
        self.url(path)
    }

    /// Serves the files of a folder below `prefix`, such as `/todo/`, from now on; returns its URL.
    pub fn add_folder(&self, prefix: &str, folder: impl AsRef<Path>) -> String {
        let mut folders = self.shared.folders.lock().expect("not poisoned");
        folders.push((prefix.to_owned(), folder.as_ref().to_owned()));
        self.url(prefix)
    }

    /// Waits until so many pages have an open WebSocket to `/presence`. Panics after 30 s.
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

    /// Returns every request so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().expect("not poisoned").clone()
    }
}

impl Resource {
    /// Creates an HTML page in UTF-8.
    pub fn html(html: &str) -> Self {
        Self::new("text/html; charset=utf-8", html)
    }

    /// Creates a body of this media type.
    pub fn new(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            body: body.into(),
            delay: Duration::ZERO,
        }
    }

    /// Sets the status.
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the delay of the response.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

impl Request {
    /// Returns the value of the first header of this (lower-case) name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Records the request, and responds if a test has added the path; endpoints and files have a lower priority.
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
    /// Returns the file of a path in the folder that was added for it, or in the examples.
    fn file(&self, path: &str) -> Option<PathBuf> {
        let folders = self.folders.lock().expect("not poisoned");
        let added = folders
            .iter()
            .find_map(|(prefix, folder)| Some((folder.as_path(), path.strip_prefix(prefix)?)));
        let (folder, rest) = added.unwrap_or((Path::new(files::EXAMPLES), path));
        files::below(folder, rest)
    }

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
