//! Whether an app answers, and where. It is told a port; one that takes another is found by what it says, or by what its processes
//! listen on.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;

use super::App;
use super::logs::Logs;
use super::process::{Family, Stranger};
use super::state::Place;
use crate::processes::Identity;

/// How often an app that is not ready is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How long a first answer may take: some apps are compiled when they are asked for.
const FIRST_ANSWER: Duration = Duration::from_secs(10);
/// How long an app that runs may take to answer, `--status` being limited to five seconds.
const ANSWER: Duration = Duration::from_secs(3);
/// How long a port that answers strangely waits for a better one: a debugger or a hot-reload socket comes before the page.
const STRANGE: Duration = Duration::from_secs(2);
/// How long an app whose port somebody else has may look for another one, or end.
const STRANGER: Duration = Duration::from_secs(3);

/// What comes of waiting.
pub(super) enum Ready {
    /// It answers there; and what is worth saying about it.
    At(Place, Option<String>),
    /// Somebody else has its port, and it has no other.
    Taken,
}

/// What a port answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reply {
    Http(u16),
    /// It takes only what is encrypted.
    Tls,
    /// Something else, or nothing in time.
    Strange,
}

/// An app that has just been started.
pub(super) struct Readiness<'a> {
    app: &'a App,
    logs: &'a Logs,
    family: &'a Family,
    leader: &'a Identity,
    port: u16,
    notes: RefCell<Notes>,
}

struct Notes {
    obstacle: String,
    fallback: Option<Place>,
    strange_since: BTreeMap<u16, Instant>,
    stranger_since: Option<Instant>,
}

impl<'a> Readiness<'a> {
    pub(super) fn new(
        app: &'a App,
        logs: &'a Logs,
        family: &'a Family,
        leader: &'a Identity,
        port: u16,
    ) -> Self {
        Self {
            app,
            logs,
            family,
            leader,
            port,
            notes: RefCell::new(Notes {
                obstacle: format!("nothing listens on port {port}"),
                fallback: None,
                strange_since: BTreeMap::new(),
                stranger_since: None,
            }),
        }
    }

    /// Why it is not ready yet.
    pub(super) fn obstacle(&self) -> String {
        self.notes.borrow().obstacle.clone()
    }

    /// Where it answers that it is not available, if nothing better is to be had.
    pub(super) fn fallback(&self) -> Option<Place> {
        self.notes.borrow().fallback.clone()
    }

    pub(super) async fn wait(&self) -> Ready {
        let mut port = self.port;
        if self.logs.has_pattern() {
            self.hindered("its output has not matched the pattern of --ready-pattern".to_owned());
            let found = self.logs.found().await;
            if let Some(place) = found.url.as_deref().and_then(place_of) {
                self.listened(&place).await;
                return Ready::At(place, None);
            }
            port = found.port.unwrap_or(port);
            self.hindered(format!("nothing listens on port {port}"));
            return self.opened(port).await;
        }
        loop {
            if let Some(ready) = self.look().await {
                return ready;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Waits until a place that it has named is open.
    async fn listened(&self, place: &Place) {
        self.hindered(format!("nothing listens at {}", place.url));
        while ask(place, "/", ANSWER).await.is_none() {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Waits until it listens, on the port that is expected or, if that stays closed, on another.
    async fn opened(&self, port: u16) -> Ready {
        let place = local(port);
        loop {
            if ask(&place, "/", ANSWER).await.is_some() {
                return Ready::At(place, None);
            }
            if let Some(&other) = self.family.ports().first() {
                return Ready::At(local(other), Some(self.elsewhere(other)));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn look(&self) -> Option<Ready> {
        let ports = self.family.ports();
        let stranger = if ports.contains(&self.port) {
            Stranger::Unknown
        } else {
            Stranger::on(self.port, self.leader)
        };
        let asked = match stranger {
            Stranger::Unknown => true,
            Stranger::Older => false,
            Stranger::Younger => self.is_settled(),
        };
        if asked && let Some(ready) = self.told().await {
            return Some(ready);
        }
        for other in ports.into_iter().filter(|&port| port != self.port) {
            if self.answers(other).await {
                return Some(Ready::At(local(other), Some(self.elsewhere(other))));
            }
        }
        (stranger == Stranger::Older && self.is_settled()).then_some(Ready::Taken)
    }

    /// Asks where it was told to listen.
    async fn told(&self) -> Option<Ready> {
        let place = local(self.port);
        match ask(&place, &self.app.ready_path, FIRST_ANSWER).await? {
            Reply::Http(503) => {
                let path = &self.app.ready_path;
                self.hindered(format!("GET {}{path} answers 503", place.url));
                self.notes.borrow_mut().fallback = Some(place);
                None
            }
            Reply::Http(_) => Some(Ready::At(place, None)),
            Reply::Tls => Some(Ready::At(encrypted(self.port), None)),
            Reply::Strange => {
                self.hindered(format!("port {} does not answer HTTP", self.port));
                None
            }
        }
    }

    /// Whether another port than the one it was told is the one.
    async fn answers(&self, port: u16) -> bool {
        let reply = ask(&local(port), &self.app.ready_path, ANSWER).await;
        if matches!(reply, Some(Reply::Http(200..400))) {
            return true;
        }
        let mut notes = self.notes.borrow_mut();
        let since = *notes.strange_since.entry(port).or_insert_with(Instant::now);
        matches!(reply, Some(Reply::Http(_))) && since.elapsed() > STRANGE
    }

    /// Whether a stranger has had its port for so long that the app would have noticed.
    fn is_settled(&self) -> bool {
        let mut notes = self.notes.borrow_mut();
        let since = *notes.stranger_since.get_or_insert_with(Instant::now);
        since.elapsed() > STRANGER
    }

    fn elsewhere(&self, port: u16) -> String {
        let (told, variable) = (self.port, &self.app.port_env);
        format!(
            "Server started; it listens on port {port}, though {variable} said {told}: \
             `{{port}}` in its arguments tells it, too"
        )
    }

    fn hindered(&self, obstacle: String) {
        self.notes.borrow_mut().obstacle = obstacle;
    }
}

/// Whether an app that runs answers, and a sentence about it.
pub(super) async fn health(place: &Place, path: &str) -> (bool, String) {
    let url = format!("{}{path}", place.url.trim_end_matches('/'));
    match ask(place, path, ANSWER).await {
        Some(Reply::Http(status)) if status >= 500 => (
            false,
            format!("Server is running, but answers {status} at {url}"),
        ),
        Some(Reply::Http(_) | Reply::Tls) => (true, "Server is running and healthy".to_owned()),
        Some(Reply::Strange) => (
            false,
            format!("Server is running, but does not answer at {url}"),
        ),
        None => (
            false,
            format!("Server is running, but nothing listens at {url}"),
        ),
    }
}

fn local(port: u16) -> Place {
    Place {
        url: format!("http://localhost:{port}"),
        port,
    }
}

fn encrypted(port: u16) -> Place {
    Place {
        url: format!("https://localhost:{port}"),
        port,
    }
}

/// A URL as apps print it: one that means "any address" is no place to go to.
fn place_of(printed: &str) -> Option<Place> {
    let mut url = Url::parse(printed).ok()?;
    if matches!(url.host_str(), Some("0.0.0.0" | "[::]")) {
        url.set_host(Some("localhost")).ok()?;
    }
    let port = url.port_or_known_default()?;
    let url = url.as_str().trim_end_matches('/').to_owned();
    Some(Place { url, port })
}

/// Asks for a page. `None`: nobody listens.
async fn ask(place: &Place, path: &str, limit: Duration) -> Option<Reply> {
    let url = Url::parse(&place.url).ok()?;
    let host = url.host_str()?.to_owned();
    // `localhost` is both, and an app may listen on either.
    let hosts: &[&str] = match host.as_str() {
        "localhost" => &["127.0.0.1", "::1"],
        host => &[host.trim_matches(['[', ']'])],
    };
    let authority = format!("{host}:{}", place.port);
    for host in hosts {
        let connect = async || TcpStream::connect((*host, place.port)).await.ok();
        let asking = async {
            let reply = get(connect().await?, &authority, path).await;
            Some(match reply {
                // Most servers that take only what is encrypted do not even say so.
                Reply::Strange => greet(connect().await?).await,
                reply => reply,
            })
        };
        match tokio::time::timeout(limit, asking).await {
            Ok(None) => {}
            Ok(reply) => return reply,
            Err(_) => return Some(Reply::Strange),
        }
    }
    None
}

/// <https://www.rfc-editor.org/rfc/rfc9112>
async fn get(mut stream: TcpStream, authority: &str, path: &str) -> Reply {
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {authority}\r\nAccept: text/html, */*\r\nUser-Agent: playhouse\r\nConnection: close\r\n\r\n"
    );
    if stream.write_all(request.as_bytes()).await.is_err() {
        return Reply::Strange;
    }
    let mut head = Vec::new();
    // `HTTP/1.1 200`
    while head.len() < 12 {
        match stream.read_buf(&mut head).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
    }
    reply(&head)
}

/// Begins a handshake, to see whether anything comes of it. <https://www.rfc-editor.org/rfc/rfc5246#section-7.4.1.2>
async fn greet(mut stream: TcpStream) -> Reply {
    let mut hello = vec![0x16, 3, 1, 0, 45, 1, 0, 0, 41, 3, 3];
    // No secret comes of it, so nothing needs to be random.
    hello.extend([0x55; 32]);
    // No session; one cipher, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256; no compression. A server that wants others says so.
    hello.extend([0, 0, 2, 0xc0, 0x2f, 1, 0]);
    let mut head = [0; 2];
    if stream.write_all(&hello).await.is_err() || stream.read_exact(&mut head).await.is_err() {
        return Reply::Strange;
    }
    reply(&head)
}

fn reply(head: &[u8]) -> Reply {
    // A handshake, or an alert: <https://www.rfc-editor.org/rfc/rfc8446#section-5.1>
    if matches!(head, [0x15 | 0x16, 3, ..]) {
        return Reply::Tls;
    }
    let status = head
        .strip_prefix(b"HTTP/1.")
        .and_then(|rest| std::str::from_utf8(rest.get(2..5)?).ok()?.parse().ok());
    status.map_or(Reply::Strange, Reply::Http)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_told_by_its_first_bytes() {
        assert_eq!(reply(b"HTTP/1.1 404 Not Found"), Reply::Http(404));
        assert_eq!(reply(b"HTTP/1.0 200"), Reply::Http(200));
        assert_eq!(reply(b"\x15\x03\x01\x00\x02\x02\x16"), Reply::Tls);
        for strange in [&b""[..], b"HTTP/1.1", b"+PONG\r\n", b"HTTP/1.1 abc"] {
            assert_eq!(reply(strange), Reply::Strange);
        }
    }

    #[test]
    fn a_printed_url_becomes_one_to_open() {
        let place = |printed| place_of(printed).map(|place| (place.url, place.port));
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
