//! A server that records every received byte, with which tests prove that nothing reaches it, or that something does.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::proxy::acceptor;

/// The recorded bytes of one connection.
const MAX_BYTES: usize = 64 << 10;
/// The recorded connections and datagrams.
const MAX_HITS: usize = 10_000;
/// The number of attempts to find a set of free ports.
const ATTEMPTS: usize = 100;
/// The first byte of a TLS handshake.
const TLS_HANDSHAKE: u8 = 0x16;

/// A server on any number of ports, each for TCP (plain and TLS) and UDP. It responds to HTTP requests with an empty document that any page
/// may read, and to nothing else. It stops when it is dropped.
pub struct Canary {
    shared: Arc<Shared>,
    tls: TlsAcceptor,
    /// The tasks, which end when this is dropped.
    tasks: Mutex<JoinSet<()>>,
}

/// An accepted connection, even without any data, or a datagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The destination address and port.
    pub local: SocketAddr,
    /// The source address and port.
    pub peer: SocketAddr,
    /// The protocol.
    pub protocol: Protocol,
    /// The received bytes so far, decrypted; the first 64 KiB.
    pub bytes: Vec<u8>,
}

/// The protocol of a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Tcp,
    Tls,
    Udp,
}

#[derive(Default)]
struct Shared {
    hits: watch::Sender<Vec<Hit>>,
}

impl Default for Canary {
    fn default() -> Self {
        Self::new()
    }
}

impl Canary {
    /// Creates a server that does not listen yet.
    pub fn new() -> Self {
        Self {
            shared: Arc::default(),
            tls: acceptor(),
            tasks: Mutex::default(),
        }
    }

    /// Listens on one port of all these addresses, with TCP and UDP. Addresses that this machine does not have are skipped, except the
    /// first.
    pub async fn listen(&self, addresses: &[IpAddr]) -> u16 {
        for _ in 0..ATTEMPTS {
            if let Some((port, listeners, sockets)) = bind(addresses).await {
                let mut tasks = self.tasks.lock().expect("not poisoned");
                for listener in listeners {
                    tasks.spawn(accept(listener, self.shared.clone(), self.tls.clone()));
                }
                for socket in sockets {
                    tasks.spawn(receive(socket, self.shared.clone()));
                }
                return port;
            }
        }
        panic!("no port is free on all of {addresses:?}")
    }

    /// Returns all hits so far, in the order of their start.
    pub fn hits(&self) -> Vec<Hit> {
        self.shared.hits.borrow().clone()
    }

    /// Waits until a hit matches; returns whether one did within the limit.
    pub async fn is_hit(&self, limit: Duration, fits: impl Fn(&Hit) -> bool) -> bool {
        let mut hits = self.shared.hits.subscribe();
        let found = hits.wait_for(|hits| hits.iter().any(&fits));
        timeout(limit, found).await.is_ok()
    }
}

impl std::fmt::Display for Hit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = String::from_utf8_lossy(&self.bytes);
        let line = text.lines().next().unwrap_or_default();
        let line: String = line.escape_debug().take(100).collect();
        write!(
            f,
            "{:?} {} from {}: {} bytes `{line}`",
            self.protocol,
            self.local,
            self.peer.ip(),
            self.bytes.len()
        )
    }
}

/// Binds a port on all of the addresses; `None` if the attempted one is not free.
async fn bind(addresses: &[IpAddr]) -> Option<(u16, Vec<TcpListener>, Vec<UdpSocket>)> {
    let (mut port, mut listeners, mut sockets) = (0, Vec::new(), Vec::new());
    for (at, &address) in addresses.iter().enumerate() {
        let listener = match TcpListener::bind((address, port)).await {
            Ok(listener) => listener,
            Err(error) if at > 0 && error.kind() == ErrorKind::AddrNotAvailable => continue,
            Err(error) if error.kind() == ErrorKind::AddrInUse => return None,
            Err(error) => panic!("cannot listen on {address}: {error}"),
        };
        port = listener.local_addr().expect("an address").port();
        sockets.push(UdpSocket::bind((address, port)).await.ok()?);
        listeners.push(listener);
    }
    Some((port, listeners, sockets))
}

async fn receive(socket: UdpSocket, shared: Arc<Shared>) {
    let local = socket.local_addr().expect("an address");
    let mut buffer = vec![0; MAX_BYTES];
    loop {
        // An ICMP error of an earlier datagram does not concern the next one.
        let Ok((length, peer)) = socket.recv_from(&mut buffer).await else {
            continue;
        };
        let hit = shared.begin(local, peer, Protocol::Udp);
        shared.extend(hit, &buffer[..length]);
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, tls: TlsAcceptor) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let (shared, tls) = (shared.clone(), tls.clone());
        connections.spawn(async move {
            // A browser may close a connection at any time.
            let _ = serve(stream, &shared, tls).await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(stream: TcpStream, shared: &Shared, tls: TlsAcceptor) -> std::io::Result<()> {
    let (local, peer) = (stream.local_addr()?, stream.peer_addr()?);
    let hit = shared.begin(local, peer, Protocol::Tcp);
    let mut first = [0];
    if stream.peek(&mut first).await? == 1 && first[0] == TLS_HANDSHAKE {
        shared.change(hit, |hit| hit.protocol = Protocol::Tls);
        return respond(tls.accept(stream).await?, shared, hit).await;
    }
    respond(stream, shared, hit).await
}

/// Records data until the peer has sent everything, and responds to the first request.
async fn respond(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    shared: &Shared,
    hit: Option<usize>,
) -> std::io::Result<()> {
    let (mut head, mut is_answered) = (Vec::new(), false);
    let mut buffer = [0; 4096];
    loop {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        shared.extend(hit, &buffer[..length]);
        if is_answered {
            continue;
        }
        head.extend_from_slice(&buffer[..length]);
        if head.windows(4).any(|end| end == b"\r\n\r\n") {
            is_answered = true;
            let answer = answer(&String::from_utf8_lossy(&head));
            stream.write_all(answer.as_bytes()).await?;
            stream.shutdown().await?;
        }
    }
}

/// Returns the response to a request: an empty body whose type depends on the extension of the path, and the headers that the client
/// requests with `?headers=` and their base64.
fn answer(head: &str) -> String {
    let target = head.split(' ').nth(1).unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let media_type = match path.rsplit_once('.').map_or("", |(_, end)| end) {
        "js" => "text/javascript",
        "css" => "text/css",
        "svg" => "image/svg+xml",
        "vtt" => "text/vtt",
        "json" => "application/json",
        _ => "text/html",
    };
    let headers = query.strip_prefix("headers=").unwrap_or_default();
    let headers = STANDARD.decode(headers).unwrap_or_default();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ncontent-length: 0\r\nconnection: close\r\n\
         access-control-allow-origin: *\r\naccess-control-allow-headers: *\r\n{}\r\n",
        String::from_utf8_lossy(&headers)
    )
}

impl Shared {
    /// Adds a hit; returns its index, unless there are too many.
    fn begin(&self, local: SocketAddr, peer: SocketAddr, protocol: Protocol) -> Option<usize> {
        let mut place = None;
        self.hits.send_modify(|hits| {
            if hits.len() < MAX_HITS {
                place = Some(hits.len());
                hits.push(Hit {
                    local,
                    peer,
                    protocol,
                    bytes: Vec::new(),
                });
            }
        });
        place
    }

    fn extend(&self, place: Option<usize>, bytes: &[u8]) {
        self.change(place, |hit| {
            let room = MAX_BYTES.saturating_sub(hit.bytes.len());
            hit.bytes.extend(bytes.iter().take(room));
        });
    }

    fn change(&self, place: Option<usize>, change: impl FnOnce(&mut Hit)) {
        if let Some(place) = place {
            self.hits.send_modify(|hits| change(&mut hits[place]));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(30);

    async fn started() -> (Canary, SocketAddr) {
        let canary = Canary::new();
        let home = IpAddr::from(Ipv4Addr::LOCALHOST);
        let port = canary.listen(&[home]).await;
        (canary, (home, port).into())
    }

    #[tokio::test]
    async fn a_connection_without_a_byte_is_a_hit() {
        let (canary, address) = started().await;
        assert!(canary.hits().is_empty());
        let stream = TcpStream::connect(address).await.expect("it listens");
        assert!(canary.is_hit(TIMEOUT, |hit| hit.local == address).await);
        assert_eq!(
            canary.hits(),
            [Hit {
                local: address,
                peer: stream.local_addr().expect("an address"),
                protocol: Protocol::Tcp,
                bytes: Vec::new(),
            }]
        );
    }

    #[tokio::test]
    async fn a_request_is_answered_and_its_body_is_recorded_too() {
        let (canary, address) = started().await;
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        let headers = STANDARD.encode("alt-svc: clear\r\n");
        let head = format!("POST /a.js?headers={headers} HTTP/1.1\r\ncontent-length: 4\r\n\r\n");
        stream.write_all(head.as_bytes()).await.expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("answered");
        assert!(answer.contains("text/javascript"), "{answer}");
        assert!(answer.contains("\r\nalt-svc: clear\r\n\r\n"), "{answer}");
        stream.write_all(b"body").await.expect("sent");
        let whole = format!("{head}body").into_bytes();
        assert!(canary.is_hit(TIMEOUT, |hit| hit.bytes == whole).await);
    }

    #[tokio::test]
    async fn a_datagram_is_a_hit() {
        let (canary, address) = started().await;
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a port");
        socket.send_to(b"stun", address).await.expect("sent");
        let fits = |hit: &Hit| (hit.protocol, &*hit.bytes) == (Protocol::Udp, b"stun");
        assert!(canary.is_hit(TIMEOUT, fits).await);
    }

    #[tokio::test]
    async fn what_comes_within_tls_is_recorded_in_clear() {
        let (canary, address) = started().await;
        let asked = tokio::task::spawn_blocking(move || {
            let tls = ureq::tls::TlsConfig::builder()
                .disable_verification(true)
                .build();
            let agent = ureq::Agent::config_builder().tls_config(tls).build();
            agent
                .new_agent()
                .get(format!("https://{address}/inside"))
                .call()
        });
        let answer = asked.await.expect("asking does not panic");
        assert_eq!(answer.expect("an answer").status(), 200);
        let fits = |hit: &Hit| hit.protocol == Protocol::Tls && hit.bytes.starts_with(b"GET /in");
        assert!(canary.is_hit(TIMEOUT, fits).await);
    }

    #[tokio::test]
    async fn a_port_is_the_same_on_all_addresses() {
        let canary = Canary::new();
        let addresses = ["127.0.0.1", "::1", "192.0.2.255"].map(|text| text.parse().expect("one"));
        let port = canary.listen(&addresses).await;
        for address in ["127.0.0.1", "::1"] {
            if TcpStream::connect((address, port)).await.is_ok() {
                let fits = |hit: &Hit| hit.local.ip().to_string() == address;
                assert!(canary.is_hit(TIMEOUT, fits).await, "{address}");
            }
        }
        assert!(!canary.hits().is_empty());
    }
}
