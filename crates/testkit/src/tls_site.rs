//! A site over TLS whose certificate is from an authority that only a test knows, and which may demand a client certificate of that authority.

use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::server::{NoClientAuth, WebPkiClientVerifier};
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

/// The title of the page for a client without a certificate.
pub const NO_CERTIFICATE: &str = "Nobody";
/// The title of the page for a client with the certificate.
pub const WITH_CERTIFICATE: &str = "Ada";

/// Whether a site asks its clients for a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientCertificates {
    /// It does not.
    None,
    /// It asks for one, and accepts clients without one.
    Requested,
    /// It rejects clients without one.
    Required,
}

/// A running site for `localhost`, which stops when this is dropped. Each page has the name of the client as its title.
pub struct TlsSite {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
    /// The tasks, which end when this is dropped.
    _tasks: JoinSet<()>,
}

impl TlsSite {
    /// Starts a site on a free port.
    pub async fn start(certificates: ClientCertificates) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let mut tasks = JoinSet::new();
        tasks.spawn(serve(listener, acceptor(certificates), requests.clone()));
        Self {
            port,
            requests,
            _tasks: tasks,
        }
    }

    /// Returns the origin.
    pub fn origin(&self) -> String {
        format!("https://localhost:{}", self.port)
    }

    /// Returns the origin with the address, for which the certificate is not valid.
    pub fn other_origin(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// Returns the request lines so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("not poisoned").clone()
    }

    /// Returns the file of the authority, and those of the client's certificate and its key.
    pub fn files() -> [PathBuf; 3] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tls_site");
        ["authority.pem", "client.pem", "client-key.pem"].map(|name| folder.join(name))
    }
}

fn acceptor(certificates: ClientCertificates) -> TlsAcceptor {
    let read = |pem: &[u8]| CertificateDer::from_pem_slice(pem).expect("a certificate");
    let provider = Arc::new(ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots
        .add(read(include_bytes!("tls_site/authority.pem")))
        .expect("an authority");
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    let verifier = match certificates {
        ClientCertificates::None => Arc::new(NoClientAuth),
        ClientCertificates::Requested => {
            let verifier = verifier.allow_unauthenticated().build();
            verifier.expect("a verifier")
        }
        ClientCertificates::Required => verifier.build().expect("a verifier"),
    };
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls_site/server-key.pem"));
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions that there are")
        .with_client_cert_verifier(verifier)
        .with_single_cert(
            vec![read(include_bytes!("tls_site/server.pem"))],
            key.expect("its key"),
        )
        .expect("they fit each other");
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

async fn serve(listener: TcpListener, tls: TlsAcceptor, requests: Arc<Mutex<Vec<String>>>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let (tls, requests) = (tls.clone(), requests.clone());
        connections.spawn(async move {
            // A browser that does not trust the site closes the connection.
            let _ = answer(stream, tls, &requests).await;
        });
    }
}

async fn answer(
    stream: TcpStream,
    tls: TlsAcceptor,
    requests: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut stream = tls.accept(stream).await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let line = head.lines().next().unwrap_or_default().to_owned();
    requests.lock().expect("not poisoned").push(line);
    let title = match stream.get_ref().1.peer_certificates() {
        Some(_) => WITH_CERTIFICATE,
        None => NO_CERTIFICATE,
    };
    let html = format!(
        "<!doctype html><title>{title}</title><p>secure: <script>document.write(isSecureContext)</script>"
    );
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{html}",
        html.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}
