//! Readiness of an app and its address. The app receives a port; one that uses another port is found by its output, or by the ports on
//! which its processes listen.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use ureq::tls::TlsConfig;
use url::Url;

use crate::app::App;
use crate::logs::{Logs, PROBE};
use crate::process_tree::{PortOwner, ProcessTree};
use crate::processes::Identity;
use crate::state::AppAddress;

/// The interval between checks of an app that is not ready.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long the first response may take, because some apps are compiled on the first request.
const FIRST_ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a running app may take to respond; `--status` is limited to five seconds.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
/// How long the rest of a response may take to arrive after its start.
const BODY_TIMEOUT: Duration = Duration::from_secs(1);
/// The largest part of a response that is read, in bytes.
const MAX_BODY_BYTES: u64 = 16 * 1024 * 1024;
/// How long to wait for a better port than one without an HTTP response: a debugger or a hot-reload socket is often open before the page.
const UNEXPECTED_ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// How long an app may take to select another port or to end, if its port is in use.
const PORT_OWNER_TIMEOUT: Duration = Duration::from_secs(3);

/// The result of waiting for readiness.
pub(crate) enum Ready {
    /// The address of the ready app, and a remark.
    At(AppAddress, Option<String>),
    /// Another process uses the port, and the app has no other.
    Taken,
}

/// The response of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reply {
    Http {
        status: u16,
        /// Whether only TLS is accepted.
        encrypted: bool,
    },
    /// Another protocol, or no response in time.
    NotHttp,
}

/// The readiness of an app that was just started.
pub(crate) struct Readiness<'a> {
    app: &'a App,
    logs: &'a Logs,
    processes: &'a ProcessTree,
    leader: &'a Identity,
    port: u16,
    notes: RefCell<Notes>,
}

struct Notes {
    obstacle: String,
    fallback: Option<AppAddress>,
    not_http_since: BTreeMap<u16, Instant>,
    owner_since: Option<Instant>,
}

impl<'a> Readiness<'a> {
    pub(crate) fn new(
        app: &'a App,
        logs: &'a Logs,
        processes: &'a ProcessTree,
        leader: &'a Identity,
        port: u16,
    ) -> Self {
        Self {
            app,
            logs,
            processes,
            leader,
            port,
            notes: RefCell::new(Notes {
                obstacle: format!("nothing listens on port {port}"),
                fallback: None,
                not_http_since: BTreeMap::new(),
                owner_since: None,
            }),
        }
    }

    /// Returns why the app is not ready yet.
    pub(crate) fn obstacle(&self) -> String {
        self.notes.borrow().obstacle.clone()
    }

    /// Returns the address of an unavailable response, if there is no better one.
    pub(crate) fn fallback(&self) -> Option<AppAddress> {
        self.notes.borrow().fallback.clone()
    }

    pub(crate) async fn wait(&self) -> Ready {
        let mut port = self.port;
        if self.logs.has_pattern() {
            self.set_obstacle(
                "its output has not matched the pattern of --ready-pattern".to_owned(),
            );
            let found = self.logs.found().await;
            if let Some(place) = found.url.as_deref().and_then(parse_printed_url) {
                self.wait_until_open(&place).await;
                return Ready::At(place, None);
            }
            port = found.port.unwrap_or(port);
            self.set_obstacle(format!("nothing listens on port {port}"));
            return self.wait_until_listening(port).await;
        }
        loop {
            if let Some(ready) = self.poll().await {
                return ready;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Waits until the printed address is open.
    async fn wait_until_open(&self, place: &AppAddress) {
        self.set_obstacle(format!("nothing listens at {}", place.url));
        while ask(place, "/", ANSWER_TIMEOUT).await.is_none() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Waits until the app listens, on the expected port or, if that stays closed, on another.
    async fn wait_until_listening(&self, port: u16) -> Ready {
        let place = local(port);
        loop {
            if ask(&place, "/", ANSWER_TIMEOUT).await.is_some() {
                return Ready::At(place, None);
            }
            if let Some(&other) = self.processes.ports().first() {
                return Ready::At(local(other), Some(self.elsewhere(other)));
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    async fn poll(&self) -> Option<Ready> {
        let ports = self.processes.ports();
        let owner = if ports.contains(&self.port) {
            PortOwner::Unknown
        } else {
            PortOwner::on(self.port, self.leader)
        };
        let asked = match owner {
            PortOwner::Unknown => true,
            PortOwner::Older => false,
            PortOwner::Younger => self.is_settled(),
        };
        if asked && let Some(ready) = self.probe_assigned_port().await {
            return Some(ready);
        }
        for other in ports.into_iter().filter(|&port| port != self.port) {
            if let Some(place) = self.answers(other).await {
                return Some(Ready::At(place, Some(self.elsewhere(other))));
            }
        }
        (owner == PortOwner::Older && self.is_settled()).then_some(Ready::Taken)
    }

    /// Sends a request to the assigned port.
    async fn probe_assigned_port(&self) -> Option<Ready> {
        match ask(
            &local(self.port),
            &self.app.ready_path,
            FIRST_ANSWER_TIMEOUT,
        )
        .await?
        {
            Reply::Http { status, encrypted } => {
                let place = address_of(self.port, encrypted);
                if status != 503 {
                    return Some(Ready::At(place, None));
                }
                let path = &self.app.ready_path;
                self.set_obstacle(format!("GET {}{path} answers 503", place.url));
                self.notes.borrow_mut().fallback = Some(place);
                None
            }
            Reply::NotHttp => {
                self.set_obstacle(format!("port {} does not answer HTTP", self.port));
                None
            }
        }
    }

    /// Returns the address of the app on another port, if it responds there.
    async fn answers(&self, port: u16) -> Option<AppAddress> {
        let reply = ask(&local(port), &self.app.ready_path, ANSWER_TIMEOUT).await;
        let mut notes = self.notes.borrow_mut();
        let since = *notes
            .not_http_since
            .entry(port)
            .or_insert_with(Instant::now);
        match reply? {
            Reply::Http { status, encrypted } => {
                let is_it =
                    (200..400).contains(&status) || since.elapsed() > UNEXPECTED_ANSWER_TIMEOUT;
                is_it.then(|| address_of(port, encrypted))
            }
            Reply::NotHttp => None,
        }
    }

    /// Returns whether another process has used the port for so long that the app would have reacted.
    fn is_settled(&self) -> bool {
        let mut notes = self.notes.borrow_mut();
        let since = *notes.owner_since.get_or_insert_with(Instant::now);
        since.elapsed() > PORT_OWNER_TIMEOUT
    }

    fn elsewhere(&self, port: u16) -> String {
        let (given, variable) = (self.port, &self.app.port_env);
        format!(
            "Server started; it listens on port {port}, though {variable} said {given}: \
             `{{port}}` in its arguments tells it, too"
        )
    }

    fn set_obstacle(&self, obstacle: String) {
        self.notes.borrow_mut().obstacle = obstacle;
    }
}

/// Returns whether a running app responds, and a sentence about it.
pub(crate) async fn health(place: &AppAddress, path: &str) -> (bool, String) {
    let url = format!("{}{path}", place.url.trim_end_matches('/'));
    match ask(place, path, ANSWER_TIMEOUT).await {
        Some(Reply::Http { status, .. }) if status >= 500 => (
            false,
            format!("Server is running, but answers {status} at {url}"),
        ),
        Some(Reply::Http { .. }) => (true, "Server is running and healthy".to_owned()),
        Some(Reply::NotHttp) => (
            false,
            format!("Server is running, but does not answer at {url}"),
        ),
        None => (
            false,
            format!("Server is running, but nothing listens at {url}"),
        ),
    }
}

/// Returns whether an app responds to a request in time, with any status. An app that refuses the connection does not.
pub async fn responds(url: &str, limit: Duration) -> bool {
    let place = parse_printed_url(url);
    let reply = async { ask(&place?, "/", limit).await };
    matches!(reply.await, Some(Reply::Http { .. }))
}

fn local(port: u16) -> AppAddress {
    address_of(port, false)
}

fn address_of(port: u16, encrypted: bool) -> AppAddress {
    let scheme = if encrypted { "https" } else { "http" };
    AppAddress {
        url: format!("{scheme}://localhost:{port}"),
        port,
    }
}

/// Parses a URL that an app printed, and replaces wildcard addresses.
fn parse_printed_url(printed: &str) -> Option<AppAddress> {
    let mut url = Url::parse(printed).ok()?;
    if matches!(url.host_str(), Some("0.0.0.0" | "[::]")) {
        url.set_host(Some("localhost")).ok()?;
    }
    let port = url.port_or_known_default()?;
    let url = url.as_str().trim_end_matches('/').to_owned();
    Some(AppAddress { url, port })
}

/// Sends a request and reads the complete response. `None`: nothing listens there.
async fn ask(place: &AppAddress, path: &str, limit: Duration) -> Option<Reply> {
    let mut url = Url::parse(&place.url).ok()?.join(path).ok()?;
    url.query_pairs_mut().append_key_only(PROBE);
    let asked = tokio::task::spawn_blocking(move || probe(&url, limit));
    asked.await.unwrap_or(Some(Reply::NotHttp))
}

fn probe(url: &Url, limit: Duration) -> Option<Reply> {
    let until = Instant::now() + limit;
    let host = url.host_str()?;
    let authority = format!("{host}:{}", url.port_or_known_default()?);
    // `localhost` is both, and an app may listen on either.
    let hosts: &[&str] = match host {
        "localhost" => &["127.0.0.1", "[::1]"],
        host => &[host],
    };
    for host in hosts {
        let mut url = url.clone();
        url.set_host(Some(host)).ok()?;
        let mut got = get(&url, &authority, until);
        let open = is_open(&got);
        // Most servers that accept only TLS do not respond at all to HTTP.
        if got.is_err() && open && url.scheme() == "http" {
            url.set_scheme("https").ok()?;
            got = get(&url, &authority, until);
        }
        match got {
            Ok(status) => {
                return Some(Reply::Http {
                    status,
                    encrypted: url.scheme() == "https",
                });
            }
            Err(_) if open => return Some(Reply::NotHttp),
            Err(_) => {}
        }
    }
    None
}

/// Returns whether the connection was accepted.
fn is_open(got: &Result<u16, ureq::Error>) -> bool {
    match got {
        Err(ureq::Error::Io(error)) => !matches!(
            error.kind(),
            io::ErrorKind::ConnectionRefused
                | io::ErrorKind::AddrNotAvailable
                | io::ErrorKind::HostUnreachable
                | io::ErrorKind::NetworkUnreachable
        ),
        Err(ureq::Error::HostNotFound | ureq::Error::ConnectionFailed) => false,
        _ => true,
    }
}

/// Returns the status of the response. A server whose connection is closed early logs an error.
fn get(url: &Url, authority: &str, until: Instant) -> Result<u16, ureq::Error> {
    let left = until.saturating_duration_since(Instant::now());
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(left.max(Duration::from_millis(1))))
        .timeout_recv_body(Some(BODY_TIMEOUT))
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .user_agent("playhouse")
        .accept("text/html, */*")
        // The request has no secrets, and the response is not trusted.
        .tls_config(TlsConfig::builder().disable_verification(true).build())
        .build();
    let mut answer = ureq::Agent::new_with_config(config)
        .get(url.as_str())
        .header("host", authority)
        .header("connection", "close")
        .call()?;
    let body = answer.body_mut().as_reader();
    // An endless response counts too.
    let _ = io::copy(&mut body.take(MAX_BODY_BYTES), &mut io::sink());
    Ok(answer.status().as_u16())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Responds to one connection with these bytes, and returns the request.
    fn serve(answer: &'static [u8]) -> (u16, std::thread::JoinHandle<io::Result<Vec<u8>>>) {
        use std::io::Write as _;
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let served = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept()?;
            let mut request = vec![0; 4096];
            let length = stream.read(&mut request)?;
            request.truncate(length);
            for chunk in answer.chunks(8) {
                stream.write_all(chunk)?;
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(request)
        });
        (port, served)
    }

    #[tokio::test]
    async fn an_answer_is_read_to_its_end_and_the_request_is_marked() {
        const ANSWER: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 240\r\n\r\n\
            012345678901234567890123456789012345678901234567890123456789\
            012345678901234567890123456789012345678901234567890123456789\
            012345678901234567890123456789012345678901234567890123456789\
            012345678901234567890123456789012345678901234567890123456789";
        let (port, served) = serve(ANSWER);
        let reply = ask(&local(port), "/login?next=a", super::ANSWER_TIMEOUT).await;
        assert_eq!(
            reply,
            Some(Reply::Http {
                status: 404,
                encrypted: false
            })
        );
        // A socket that is closed early is an error of the server, which it logs.
        let request = String::from_utf8(served.join().unwrap().unwrap()).unwrap();
        assert!(request.starts_with("GET /login?next=a&playhouse-probe HTTP/1.1\r\n"));
        assert!(
            request
                .to_lowercase()
                .contains(&format!("host: localhost:{port}\r\n"))
        );
    }

    #[tokio::test]
    async fn an_invalid_answer_differs_from_no_answer() {
        let (port, _served) = serve(b"+PONG\r\n");
        let reply = ask(&local(port), "/", super::ANSWER_TIMEOUT).await;
        assert_eq!(reply, Some(Reply::NotHttp));
        // Bound, so that no other process gets the port, and without a listener.
        let bound = tokio::net::TcpSocket::new_v4().unwrap();
        bound.bind(([127, 0, 0, 1], 0).into()).unwrap();
        let port = bound.local_addr().unwrap().port();
        assert_eq!(ask(&local(port), "/", super::ANSWER_TIMEOUT).await, None);
    }

    #[test]
    fn a_printed_url_becomes_one_to_open() {
        let place = |printed| parse_printed_url(printed).map(|place| (place.url, place.port));
        let expected = |url: &str, port| Some((url.to_owned(), port));
        assert_eq!(
            place("http://localhost:5173/"),
            expected("http://localhost:5173", 5173)
        );
        assert_eq!(
            place("http://0.0.0.0:8000/app/"),
            expected("http://localhost:8000/app", 8000)
        );
        assert_eq!(place("https://web.test"), expected("https://web.test", 443));
        assert_eq!(place("localhost"), None);
    }
}
