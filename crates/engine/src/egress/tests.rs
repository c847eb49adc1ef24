//! The egress proxy between a test client and local servers.

mod rules;
mod upstreams;

use super::{Egress, EgressOptions};
use crate::addresses::AddressRules;
use crate::backend::{Proxy, Throttling};
use crate::error::NetError;
use crate::origins::OriginRules;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A server that handles connections with a function, and records received heads.
struct Server {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    connections: Arc<Mutex<usize>>,
    _tasks: JoinSet<()>,
}

impl Server {
    /// Starts a server that responds with the path; to `/big` with 64 MiB; switches protocols and echoes; echoes a body.
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (heads, connections) = (Arc::<Mutex<Vec<_>>>::default(), Arc::<Mutex<_>>::default());
        let (noted, counted) = (heads.clone(), connections.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut serving = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                *counted.lock().expect("not poisoned") += 1;
                serving.spawn(serve(stream, noted.clone()));
            }
        });
        Self {
            address,
            heads,
            connections,
            _tasks: tasks,
        }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("not poisoned").clone()
    }

    fn connections(&self) -> usize {
        *self.connections.lock().expect("not poisoned")
    }
}

const BIG: usize = 64 << 20;

async fn serve(mut stream: TcpStream, heads: Arc<Mutex<Vec<String>>>) {
    while let Some(head) = read_head(&mut stream).await {
        heads.lock().expect("not poisoned").push(head.clone());
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let length = header(&head, "content-length").and_then(|length| length.parse().ok());
        let answer = match path.as_str() {
            "/socket" => {
                let switching = "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
                stream.write_all(switching.as_bytes()).await.expect("open");
                let mut bytes = [0; 1024];
                while let Ok(count @ 1..) = stream.read(&mut bytes).await {
                    stream.write_all(&bytes[..count]).await.expect("open");
                }
                return;
            }
            "/big" => {
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {BIG}\r\n\r\n");
                stream.write_all(head.as_bytes()).await.expect("open");
                let part = vec![b'x'; 1 << 16];
                for _ in 0..BIG / part.len() {
                    if stream.write_all(&part).await.is_err() {
                        return;
                    }
                }
                continue;
            }
            "/close" => return,
            "/trailer" => "HTTP/1.1 200 OK\r\nX-Odd-CASE: 1\r\nTransfer-Encoding: chunked\r\nKeep-Alive: timeout=5\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\n\r\n3\r\nabc\r\n0\r\n\r\n".to_owned(),
            "/until-close" => {
                let answer = "HTTP/1.0 200 OK\r\n\r\nto the end";
                stream.write_all(answer.as_bytes()).await.expect("open");
                return;
            }
            _ => {
                let mut body = vec![0; length.unwrap_or(0)];
                stream.read_exact(&mut body).await.expect("a body");
                let body = format!("{path} {}", String::from_utf8_lossy(&body));
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
            }
        };
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Reads the head of a message; `None` at the end.
async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8_lossy(&head).into_owned())
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        key.eq_ignore_ascii_case(name).then_some(value)
    })
}

/// A client in the role of a browser.
struct Client {
    stream: TcpStream,
}

impl Client {
    async fn connect(egress: &Egress) -> Self {
        Self {
            stream: TcpStream::connect(egress.address())
                .await
                .expect("it listens"),
        }
    }

    /// Sends a request and reads the head of the response; `None`: the connection was closed without one.
    async fn send(&mut self, method: &str, target: &str, headers: &str) -> Option<String> {
        let request = format!("{method} {target} HTTP/1.1\r\nHost: x\r\n{headers}\r\n");
        self.stream.write_all(request.as_bytes()).await.ok()?;
        read_head(&mut self.stream).await
    }

    async fn body(&mut self, length: usize) -> String {
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await.expect("a body");
        String::from_utf8_lossy(&body).into_owned()
    }

    /// Requests a document and reads it.
    async fn get(&mut self, url: &str) -> Option<String> {
        let head = self.send("GET", url, "").await?;
        let length = header(&head, "content-length")?.parse().expect("a number");
        Some(self.body(length).await)
    }

    async fn is_closed(&mut self) -> bool {
        matches!(self.stream.read(&mut [0]).await, Ok(0) | Err(_))
    }
}

/// Returns an address without a listener, while the socket is held.
fn dead_address() -> (tokio::net::TcpSocket, String) {
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a port");
    let address = socket.local_addr().expect("an address").to_string();
    (socket, address)
}

async fn start(options: EgressOptions) -> Egress {
    Egress::start(options).await.expect("a port")
}

/// Sends a request over a new connection.
async fn get(egress: &Egress, url: &str) -> Option<String> {
    Client::connect(egress).await.get(url).await
}

#[tokio::test]
async fn requests_are_forwarded_over_one_connection() {
    let server = Server::start().await;
    let egress = start(EgressOptions::default()).await;
    let mut client = Client::connect(&egress).await;
    let url = |path: &str| format!("http://{}{path}", server.address);
    assert_eq!(client.get(&url("/a?b=c")).await.as_deref(), Some("/a?b=c "));
    let headers = "X-Odd-CASE: 1\r\nProxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nContent-Length: 5\r\n\r\nhello";
    let head = client.send("POST", &url("/b"), headers).await;
    let length = header(&head.expect("an answer"), "content-length").map(str::to_owned);
    assert_eq!(length.as_deref(), Some("8"));
    assert_eq!(client.body(8).await, "/b hello");
    let head = client
        .send("HEAD", &url("/c"), "")
        .await
        .expect("an answer");
    assert_eq!(header(&head, "content-length"), Some("3"), "{head}");
    assert_eq!(server.connections(), 1);
    let [_, head, _] = server.heads().try_into().expect("three requests");
    assert!(head.starts_with("POST /b HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("X-Odd-CASE: 1\r\n"), "{head}");
    assert_eq!(
        header(&head, "host"),
        Some(server.address.to_string().as_str())
    );
    for name in [
        "x-hop",
        "connection",
        "proxy-connection",
        "proxy-authorization",
    ] {
        assert_eq!(header(&head, name), None, "{head}");
    }
}

#[tokio::test]
async fn responses_of_every_length_are_forwarded() {
    let server = Server::start().await;
    let egress = start(EgressOptions::default()).await;
    let mut client = Client::connect(&egress).await;
    let url = |path: &str| format!("http://{}{path}", server.address);
    let head = client
        .send("GET", &url("/trailer"), "")
        .await
        .expect("an answer");
    assert!(head.contains("X-Odd-CASE: 1\r\n"), "{head}");
    assert!(header(&head, "keep-alive").is_none() && header(&head, "x-hop").is_none());
    assert_eq!(client.body(13).await, "3\r\nabc\r\n0\r\n\r\n");
    let head = client
        .send("GET", &url("/until-close"), "")
        .await
        .expect("an answer");
    assert_eq!(
        header(&head, "transfer-encoding"),
        Some("chunked"),
        "{head}"
    );
    assert_eq!(client.body(20).await, "A\r\nto the end\r\n0\r\n\r\n");
    let head = client
        .send("GET", &url("/big"), "")
        .await
        .expect("an answer");
    assert!(head.starts_with("HTTP/1.1 200"));
    let (mut left, mut bytes) = (BIG, vec![0; 1 << 16]);
    while left > 0 {
        let count = client.stream.read(&mut bytes).await.expect("open");
        assert!(count > 0, "{left} bytes are missing");
        left -= count;
    }
    assert_eq!(client.get(&url("/again")).await.as_deref(), Some("/again "));
}

#[tokio::test]
async fn a_server_that_closes_is_connected_to_again() {
    let server = Server::start().await;
    let egress = start(EgressOptions::default()).await;
    let mut client = Client::connect(&egress).await;
    let url = |path: &str| format!("http://{}{path}", server.address);
    client
        .send("GET", &url("/until-close"), "")
        .await
        .expect("an answer");
    client.body(20).await;
    assert_eq!(client.get(&url("/a")).await.as_deref(), Some("/a "));
    assert_eq!(client.get(&url("/close")).await, None);
    assert_eq!(
        egress.failure(&url("/close")),
        Some(NetError::EmptyResponse)
    );
}

#[tokio::test]
async fn a_tunnel_carries_any_protocol() {
    let server = Server::start().await;
    let egress = start(EgressOptions::default()).await;
    let mut client = Client::connect(&egress).await;
    let head = client
        .send("CONNECT", &server.address.to_string(), "")
        .await;
    assert!(head.expect("an answer").starts_with("HTTP/1.1 200"));
    assert_eq!(client.get("/inside").await.as_deref(), Some("/inside "));
}

#[tokio::test]
async fn a_web_socket_is_opened_in_absolute_form_and_in_a_tunnel() {
    let server = Server::start().await;
    let egress = start(EgressOptions::default()).await;
    let url = format!("ws://{}/socket", server.address);
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
    let mut direct = Client::connect(&egress).await;
    let mut tunnel = Client::connect(&egress).await;
    let authority = server.address.to_string();
    tunnel
        .send("CONNECT", &authority, "")
        .await
        .expect("an answer");
    for (client, target) in [(&mut direct, url.as_str()), (&mut tunnel, "/socket")] {
        let head = client
            .send("GET", target, upgrade)
            .await
            .expect("an answer");
        assert!(head.starts_with("HTTP/1.1 101"), "{head}");
        assert_eq!(header(&head, "upgrade"), Some("websocket"));
        client.stream.write_all(b"echo").await.expect("open");
        assert_eq!(client.body(4).await, "echo");
    }
    for head in server.heads() {
        assert!(head.starts_with("GET /socket HTTP/1.1\r\n"), "{head}");
        assert_eq!(header(&head, "upgrade"), Some("websocket"));
    }
}

#[tokio::test]
async fn requests_that_are_not_for_a_proxy_get_an_error_response() {
    let egress = start(EgressOptions::default()).await;
    for (method, target) in [
        ("GET", "/"),
        ("GET", "ftp://a.org/"),
        ("CONNECT", "a.org:0"),
    ] {
        let head = Client::connect(&egress)
            .await
            .send(method, target, "")
            .await;
        assert!(
            head.expect("an answer").starts_with("HTTP/1.1 400"),
            "{target}"
        );
    }
    let own = format!("http://{}/", egress.address());
    assert_eq!(get(&egress, &own).await, None);
    let rule = egress.refusal(&own).expect("a rule");
    assert_eq!(rule, "it is the proxy of the browser context itself");
}

#[tokio::test]
async fn unreachable_destinations_have_a_net_error() {
    let egress = start(EgressOptions::default()).await;
    let (_held, dead) = dead_address();
    let url = format!("http://{dead}/");
    assert_eq!(get(&egress, &url).await, None);
    assert_eq!(egress.failure(&url), Some(NetError::ConnectionRefused));
    assert_eq!(egress.refusal(&url), None);
    let head = Client::connect(&egress)
        .await
        .send("CONNECT", &dead, "")
        .await;
    assert!(head.expect("an answer").starts_with("HTTP/1.1 502"));
    let url = "http://no-such-host.invalid/";
    assert_eq!(get(&egress, url).await, None);
    assert_eq!(egress.failure(url), Some(NetError::NameNotResolved));
}

#[tokio::test]
async fn offline_mode_closes_connections_and_refuses_new_ones() {
    let server = Server::start().await;
    let egress = start(EgressOptions::default()).await;
    let url = format!("http://{}/", server.address);
    let (mut idle, mut tunnel) = (
        Client::connect(&egress).await,
        Client::connect(&egress).await,
    );
    idle.get(&url).await.expect("an answer");
    let authority = server.address.to_string();
    tunnel
        .send("CONNECT", &authority, "")
        .await
        .expect("an answer");
    egress.set_offline(true);
    assert!(idle.is_closed().await && tunnel.is_closed().await);
    assert_eq!(get(&egress, &url).await, None);
    assert_eq!(egress.failure(&url), Some(NetError::InternetDisconnected));
    egress.set_offline(false);
    assert!(get(&egress, &url).await.is_some());
    let offline = EgressOptions {
        offline: true,
        ..EgressOptions::default()
    };
    assert_eq!(get(&start(offline).await, &url).await, None);
}

#[tokio::test]
async fn dropping_the_egress_closes_all_connections() {
    let server = Server::start().await;
    let egress = start(EgressOptions::default()).await;
    let (mut idle, mut tunnel) = (
        Client::connect(&egress).await,
        Client::connect(&egress).await,
    );
    idle.get(&format!("http://{}/", server.address))
        .await
        .expect("an answer");
    let authority = server.address.to_string();
    tunnel
        .send("CONNECT", &authority, "")
        .await
        .expect("an answer");
    let (address, shared) = (egress.address(), Arc::downgrade(&egress.shared));
    drop(egress);
    assert!(idle.is_closed().await && tunnel.is_closed().await);
    while shared.upgrade().is_some() {
        tokio::task::yield_now().await;
    }
    assert!(TcpStream::connect(address).await.is_err());
}
