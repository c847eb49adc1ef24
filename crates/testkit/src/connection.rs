//! A connection to an HTTP server at the level of bytes, for invalid requests and for responses that are not read.

use crate::HttpAnswer;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{WebPkiSupportedAlgorithms, ring};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error as TlsError, SignatureScheme,
};

/// How long the server may take; only a failure takes so long.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A connection, which is closed when this is dropped.
pub struct Connection {
    stream: Box<dyn Stream>,
    /// Received bytes that were not consumed.
    received: Vec<u8>,
}

/// An event of an event stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// The name; empty without one.
    pub event: String,
    /// The id; empty without one.
    pub id: String,
    /// The data.
    pub data: String,
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

impl Connection {
    /// Connects to `host:port`.
    pub async fn open(authority: &str) -> Self {
        let stream = Self::try_open(authority).await;
        stream.unwrap_or_else(|error| panic!("cannot connect to {authority}: {error}"))
    }

    /// Connects to `host:port`; fails if nothing listens.
    pub async fn try_open(authority: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(authority).await?;
        stream.set_nodelay(true)?;
        Ok(Self::over(stream))
    }

    /// Connects to `host:port` with a small receive buffer.
    pub async fn open_narrow(authority: &str) -> Self {
        let narrow = async {
            let address = tokio::net::lookup_host(authority).await?.next();
            let address = address.ok_or(io::ErrorKind::NotFound)?;
            let socket = match address.is_ipv4() {
                true => TcpSocket::new_v4()?,
                false => TcpSocket::new_v6()?,
            };
            socket.set_recv_buffer_size(4096)?;
            socket.connect(address).await
        };
        let stream: io::Result<TcpStream> = narrow.await;
        Self::over(stream.unwrap_or_else(|error| panic!("cannot connect to {authority}: {error}")))
    }

    /// Connects with TLS without verification of the certificate.
    pub async fn open_tls(authority: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(authority).await?;
        let provider = Arc::new(ring::default_provider());
        let any = Arc::new(AnyCertificate(provider.signature_verification_algorithms));
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring knows the usual versions")
            .dangerous()
            .with_custom_certificate_verifier(any)
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").expect("a name");
        let connector = TlsConnector::from(Arc::new(config));
        Ok(Self::over(connector.connect(name, stream).await?))
    }

    fn over(stream: impl Stream + 'static) -> Self {
        Self {
            stream: Box::new(stream),
            received: Vec::new(),
        }
    }

    /// Sends bytes; returns whether the connection is open.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        let sent = timeout(TIMEOUT, self.stream.write_all(bytes.as_ref())).await;
        matches!(sent, Ok(Ok(()))) && self.stream.flush().await.is_ok()
    }

    /// Sends bytes one by one.
    pub async fn send_slowly(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        for byte in bytes.as_ref() {
            if !self.send([*byte]).await {
                return false;
            }
            tokio::task::yield_now().await;
        }
        true
    }

    /// Closes the write side.
    pub async fn finish(&mut self) {
        // The server may have disconnected.
        drop(self.stream.shutdown().await);
    }

    /// Receives data; `false` at the end.
    async fn receive(&mut self) -> bool {
        let read = timeout(TIMEOUT, self.stream.read_buf(&mut self.received)).await;
        match read {
            // A reset is also an end.
            Ok(read) => matches!(read, Ok(1..)),
            Err(_) => panic!(
                "nothing for {TIMEOUT:?} after {:?}",
                String::from_utf8_lossy(&self.received)
            ),
        }
    }

    /// Receives everything until the server closes the connection.
    pub async fn rest(&mut self) -> Vec<u8> {
        while self.receive().await {}
        std::mem::take(&mut self.received)
    }

    /// Receives data up to `end`, which is consumed too; `None` if the connection closes before.
    async fn until(&mut self, end: &[u8]) -> Option<Vec<u8>> {
        loop {
            let found = self
                .received
                .windows(end.len())
                .position(|part| part == end);
            if let Some(at) = found {
                let rest = self.received.split_off(at + end.len());
                let mut before = std::mem::replace(&mut self.received, rest);
                before.truncate(at);
                return Some(before);
            }
            if !self.receive().await {
                return None;
            }
        }
    }

    /// Receives the head of a response; `None` if the connection closes before.
    pub async fn head(&mut self) -> Option<HttpAnswer> {
        let head = self.until(b"\r\n\r\n").await?;
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut lines = head.lines();
        let status = lines.next().unwrap_or_default().split(' ').nth(1);
        let status = status.and_then(|status| status.parse().ok());
        let headers = lines.filter_map(|line| line.split_once(':'));
        Some(HttpAnswer {
            status: status.unwrap_or_else(|| panic!("no answer: {head:?}")),
            headers: headers
                .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
                .collect(),
            body: String::new(),
        })
    }

    /// Receives a response with its body; `None` if the connection closes before.
    pub async fn answer(&mut self) -> Option<HttpAnswer> {
        let mut answer = self.head().await?;
        let body = if answer.header("transfer-encoding") == "chunked" {
            self.chunks().await?
        } else {
            match answer.header("content-length").parse() {
                Ok(length) => self.exactly(length).await?,
                Err(_) => self.rest().await,
            }
        };
        answer.body = String::from_utf8_lossy(&body).into_owned();
        Some(answer)
    }

    async fn exactly(&mut self, length: usize) -> Option<Vec<u8>> {
        while self.received.len() < length {
            if !self.receive().await {
                return None;
            }
        }
        let rest = self.received.split_off(length);
        Some(std::mem::replace(&mut self.received, rest))
    }

    async fn chunks(&mut self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let size = self.until(b"\r\n").await?;
            let size = std::str::from_utf8(&size).ok();
            let size = size.and_then(|size| usize::from_str_radix(size, 16).ok());
            let size = size.expect("the size of a chunk");
            body.extend(self.exactly(size).await?);
            self.exactly(2).await?;
            if size == 0 {
                return Some(body);
            }
        }
    }

    /// Sends an HTTP/1.0 request, whose response has no chunk headers.
    pub async fn ask(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> bool {
        let headers: String = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let length = body.len();
        self.send(format!(
            "{method} {path} HTTP/1.0\r\n{headers}content-length: {length}\r\n\r\n{body}"
        ))
        .await
    }

    /// Receives the next event of an event stream; `None` at its end.
    pub async fn event(&mut self) -> Option<Event> {
        loop {
            let text = self.until(b"\n\n").await?;
            let text = String::from_utf8_lossy(&text);
            let mut event = Event::default();
            for line in text.lines() {
                let (name, value) = line.split_once(':').unwrap_or((line, ""));
                let value = value.strip_prefix(' ').unwrap_or(value);
                match name {
                    "event" => value.clone_into(&mut event.event),
                    "id" => value.clone_into(&mut event.id),
                    "data" => event.data.push_str(value),
                    _ => {}
                }
            }
            // Comments keep the connection alive.
            if event != Event::default() {
                return Some(event);
            }
        }
    }
}

#[derive(Debug)]
struct AnyCertificate(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        tokio_rustls::rustls::crypto::verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.0,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        tokio_rustls::rustls::crypto::verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.0,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
