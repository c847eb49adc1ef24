//! Small proxies on the loopback interface that record requests, so that a test can verify which proxy a request used.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{ServerConfig, crypto::ring};

/// A running proxy, which stops when this is dropped. Host names that end with `.test` resolve to this machine.
pub struct Proxy {
    scheme: &'static str,
    port: u16,
    seen: Arc<Mutex<Vec<String>>>,
    /// The tasks, which end when this is dropped.
    _tasks: JoinSet<()>,
}

/// The protocol of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyKind {
    /// HTTP.
    Http,
    /// HTTP over TLS with a self-signed certificate, which a browser must be configured to accept.
    Https,
    /// SOCKS 5.
    Socks5,
}

/// The state that connections share.
#[derive(Clone)]
struct Shared {
    seen: Arc<Mutex<Vec<String>>>,
    /// The user name and password.
    credentials: Option<(String, String)>,
}

impl Proxy {
    /// Starts an HTTP proxy, with optional authentication.
    pub async fn http(credentials: Option<(&str, &str)>) -> Self {
        Self::start(ProxyKind::Http, credentials).await
    }

    /// The address from which proxies connect, if the system supports it: a server can thereby distinguish proxied from direct connections.
    pub const SOURCE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

    /// Starts a proxy of that kind, with optional authentication.
    pub async fn start(kind: ProxyKind, credentials: Option<(&str, &str)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Shared {
            seen: Arc::default(),
            credentials: credentials.map(|(name, word)| (name.to_owned(), word.to_owned())),
        };
        let (scheme, tls) = match kind {
            ProxyKind::Http => ("http", None),
            ProxyKind::Https => ("https", Some(acceptor())),
            ProxyKind::Socks5 => ("socks5", None),
        };
        let seen = shared.seen.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (shared, tls) = (shared.clone(), tls.clone());
                connections.spawn(async move {
                    // A browser may close a connection at any time.
                    let _ = match (kind, tls) {
                        (ProxyKind::Socks5, _) => shared.socks(stream).await,
                        (_, None) => shared.http(stream).await,
                        (_, Some(tls)) => match tls.accept(stream).await {
                            Ok(stream) => shared.http(stream).await,
                            Err(error) => Err(error),
                        },
                    };
                });
                while connections.try_join_next().is_some() {}
            }
        });
        Self {
            scheme,
            port,
            seen,
            _tasks: tasks,
        }
    }

    /// Returns the address, such as `socks5://127.0.0.1:1080`.
    pub fn address(&self) -> String {
        format!("{}://127.0.0.1:{}", self.scheme, self.port)
    }

    /// Returns the first lines of the forwarded requests so far, `SOCKS host:port` for a SOCKS proxy.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().expect("not poisoned").clone()
    }
}

pub(crate) fn acceptor() -> TlsAcceptor {
    let certificate = CertificateDer::from_pem_slice(include_bytes!("proxy/certificate.pem"));
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("proxy/key.pem"));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions that there are")
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.expect("a certificate")],
            key.expect("its key"),
        )
        .expect("they fit each other");
    TlsAcceptor::from(Arc::new(config))
}

/// Connects from [`Proxy::SOURCE`]. Host names of tests, and the IPv6 address of this machine, are mapped to its IPv4 address.
async fn connect(target: &str) -> std::io::Result<TcpStream> {
    let (host, port) = target.rsplit_once(':').unwrap_or((target, "80"));
    let name = host.trim_end_matches('.');
    let host = match name.trim_matches(['[', ']']).parse() {
        Ok(IpAddr::V6(address)) if address.is_loopback() => Ipv4Addr::LOCALHOST.to_string(),
        Ok(IpAddr::V6(address)) => address.to_canonical().to_string(),
        Ok(IpAddr::V4(address)) => address.to_string(),
        Err(_) if name.ends_with(".test") || name.ends_with("localhost") => {
            Ipv4Addr::LOCALHOST.to_string()
        }
        Err(_) => host.to_owned(),
    };
    let port: u16 = port.parse().map_err(std::io::Error::other)?;
    let mut last = std::io::ErrorKind::NotFound.into();
    for address in tokio::net::lookup_host((host, port)).await? {
        match connect_to(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

async fn connect_to(address: SocketAddr) -> std::io::Result<TcpStream> {
    if address.is_ipv4() {
        let socket = TcpSocket::new_v4()?;
        // macOS has one loopback address, from which other machines cannot be reached.
        if socket.bind((Proxy::SOURCE, 0).into()).is_ok()
            && let Ok(stream) = socket.connect(address).await
        {
            return Ok(stream);
        }
    }
    TcpStream::connect(address).await
}

impl Shared {
    fn note(&self, line: String) {
        self.seen.lock().expect("not poisoned").push(line);
    }

    /// Handles one request of a connection, then closes it.
    async fn http(&self, mut from: impl AsyncRead + AsyncWrite + Unpin) -> std::io::Result<()> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            if from.read(&mut byte).await? == 0 {
                return Ok(());
            }
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let line = head.lines().next().unwrap_or_default().to_owned();
        let granted = self.credentials.as_ref().is_none_or(|(name, word)| {
            let known = STANDARD.encode(format!("{name}:{word}"));
            let mut headers = head.lines().filter_map(|line| line.split_once(": "));
            headers.any(|(name, value)| {
                name.eq_ignore_ascii_case("proxy-authorization")
                    && value.strip_prefix("Basic ") == Some(&known)
            })
        });
        if !granted {
            from.write_all(
                b"HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"proxy\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            )
            .await?;
            return from.shutdown().await;
        }
        self.note(line.clone());
        let mut words = line.split(' ');
        let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        if method == "CONNECT" {
            let mut to = connect(target).await?;
            from.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await?;
            from.flush().await?;
            copy_bidirectional(&mut from, &mut to).await?;
            return Ok(());
        }
        let rest = target.split_once("://").map_or(target, |(_, rest)| rest);
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let mut to = connect(host).await?;
        let kept = head
            .lines()
            .skip(1)
            .filter(|line| !line.is_empty() && !line.to_ascii_lowercase().starts_with("proxy-"));
        let mut request = format!("{method} /{path} HTTP/1.1\r\nConnection: close\r\n");
        for line in kept.filter(|line| !line.to_ascii_lowercase().starts_with("connection:")) {
            request += line;
            request += "\r\n";
        }
        to.write_all((request + "\r\n").as_bytes()).await?;
        copy_bidirectional(&mut from, &mut to).await?;
        Ok(())
    }

    /// Handles one SOCKS 5 connection. <https://www.rfc-editor.org/rfc/rfc1928>
    async fn socks(&self, mut from: TcpStream) -> std::io::Result<()> {
        let [_version, methods] = read(&mut from).await?;
        let mut offered = vec![0; usize::from(methods)];
        from.read_exact(&mut offered).await?;
        if let Some((name, word)) = &self.credentials {
            if !offered.contains(&2) {
                return from.write_all(&[5, 0xff]).await;
            }
            from.write_all(&[5, 2]).await?;
            // https://www.rfc-editor.org/rfc/rfc1929
            let [_version] = read(&mut from).await?;
            let mut given = Vec::new();
            for _ in 0..2 {
                let [length] = read(&mut from).await?;
                let mut text = vec![0; usize::from(length)];
                from.read_exact(&mut text).await?;
                given.push(text);
            }
            let granted = given == [name.as_bytes(), word.as_bytes()];
            from.write_all(&[1, u8::from(!granted)]).await?;
            if !granted {
                return Ok(());
            }
        } else {
            from.write_all(&[5, 0]).await?;
        }
        let [_version, _command, _reserved, kind] = read(&mut from).await?;
        let host = match kind {
            1 => {
                let bytes: [u8; 4] = read(&mut from).await?;
                std::net::Ipv4Addr::from(bytes).to_string()
            }
            3 => {
                let [length] = read(&mut from).await?;
                let mut name = vec![0; usize::from(length)];
                from.read_exact(&mut name).await?;
                String::from_utf8_lossy(&name).into_owned()
            }
            _ => {
                let bytes: [u8; 16] = read(&mut from).await?;
                format!("[{}]", std::net::Ipv6Addr::from(bytes))
            }
        };
        let port = u16::from_be_bytes(read(&mut from).await?);
        let target = format!("{host}:{port}");
        self.note(format!("SOCKS {target}"));
        let mut to = connect(&target).await?;
        from.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
        copy_bidirectional(&mut from, &mut to).await?;
        Ok(())
    }
}

async fn read<const COUNT: usize>(from: &mut TcpStream) -> std::io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    from.read_exact(&mut bytes).await?;
    Ok(bytes)
}
