//! The termination of TLS: the egress proxy itself connects to servers, verifies them with the authorities of the operator, and sends client
//! certificates. The browser gets a certificate of this process ([`own_certificate`]).

use super::Shared;
use super::certificate::{OwnCertificate, own_certificate};
use super::dial::{Failure, Stream};
use super::rules::Destination;
use crate::backend::TlsOptions;
use crate::error::{Error, NetError, Result};
use std::collections::HashMap;
use std::io::{self, Cursor};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{
    AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional_with_sizes,
};
use tokio::time::timeout;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{self, CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::Acceptor;
use tokio_rustls::rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError,
    RootCertStore, ServerConfig, SignatureScheme,
};
use tokio_rustls::{LazyConfigAcceptor, TlsConnector};
use url::{Host, Url};

/// The size of the buffers of a connection, in bytes.
const BUFFER: usize = 16 * 1024;
/// The longest time of a handshake with a server, and the longest time until the browser begins one.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(30);
const FIRST_BYTES_TIMEOUT: Duration = Duration::from_mins(5);
/// The first byte of a TLS connection: <https://www.rfc-editor.org/rfc/rfc8446#section-5.1>.
const TLS_HANDSHAKE: u8 = 0x16;

/// The configuration for the connections of a context.
pub(super) struct Termination {
    to_browser: ServerConfig,
    to_servers: Arc<ClientConfig>,
    /// The configurations with client certificates, by the hosts and ports that get them.
    with_certificates: HashMap<(String, u16), Arc<ClientConfig>>,
}

impl Termination {
    pub(super) fn new(options: &TlsOptions, ignore_https_errors: bool) -> Result<Self> {
        let OwnCertificate { certificate, key } = own_certificate();
        let provider = Arc::new(ring::default_provider());
        let to_browser = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map(|config| config.with_no_client_auth())
            .and_then(|config| config.with_single_cert(vec![certificate], key))
            .map_err(|error| unusable("tls", error))?;
        let mut with_certificates = HashMap::new();
        for certificate in &options.client_certificates {
            let config = client_config(options, ignore_https_errors)?
                .with_client_auth_cert(certificate.chain.clone(), certificate.key.clone_key())
                .map_err(|error| unusable("clientCertificates", error))?;
            let url = Url::parse(&certificate.origin).ok();
            let place = url
                .as_ref()
                .and_then(|url| Some((url.host_str()?.to_owned(), url.port_or_known_default()?)));
            let place = place.ok_or_else(|| unusable("clientCertificates", &certificate.origin))?;
            with_certificates.insert(place, Arc::new(config));
        }
        let to_servers = client_config(options, ignore_https_errors)?.with_no_client_auth();
        Ok(Self {
            to_browser,
            to_servers: Arc::new(to_servers),
            with_certificates,
        })
    }

    /// Forwards a connection of the browser to a server. `first` are bytes that the browser has already sent. A connection without TLS is
    /// forwarded as it is.
    pub(super) async fn relay(
        &self,
        shared: &Shared,
        mut browser: impl AsyncRead + AsyncWrite + Send + Unpin,
        first: Vec<u8>,
        mut server: Stream,
        destination: &Destination,
    ) -> io::Result<()> {
        let mut first = first;
        if first.is_empty() {
            first = vec![0; BUFFER];
            let read = timeout(FIRST_BYTES_TIMEOUT, browser.read(&mut first)).await??;
            first.truncate(read);
        }
        if first.first() != Some(&TLS_HANDSHAKE) {
            server.write_all(&first).await?;
            copy_bidirectional_with_sizes(&mut browser, &mut server, BUFFER, BUFFER).await?;
            return Ok(());
        }
        let (reader, writer) = tokio::io::split(browser);
        let browser = tokio::io::join(Cursor::new(first).chain(reader), writer);
        let hello = LazyConfigAcceptor::new(Acceptor::default(), browser);
        let hello = timeout(HANDSHAKE_TIMEOUT, hello).await??;
        // The server chooses among the protocols of the browser, whose messages are forwarded unchanged.
        let protocols = hello.client_hello().alpn();
        let protocols = protocols.map(|all| all.map(<[u8]>::to_vec).collect());
        let connected = self.connect(server, protocols.unwrap_or_default(), destination);
        let mut server = match timeout(HANDSHAKE_TIMEOUT, connected).await? {
            Ok(server) => server,
            Err(error) => {
                shared.note(destination, Some(&failure_of(&error)));
                return Err(error);
            }
        };
        let mut to_browser = self.to_browser.clone();
        let chosen = server.get_ref().1.alpn_protocol();
        to_browser.alpn_protocols = chosen.map(<[u8]>::to_vec).into_iter().collect();
        let mut browser = hello.into_stream(Arc::new(to_browser)).await?;
        let copied = copy_bidirectional_with_sizes(&mut browser, &mut server, BUFFER, BUFFER).await;
        if let Err(error) = &copied
            && let Some(TlsError::AlertReceived(_)) = tls_error(error)
        {
            // A server may reject a client certificate, or its absence, after the handshake.
            shared.note(destination, Some(&failure_of(error)));
        }
        copied.map(drop)
    }

    async fn connect(
        &self,
        server: Stream,
        protocols: Vec<Vec<u8>>,
        destination: &Destination,
    ) -> io::Result<tokio_rustls::client::TlsStream<Stream>> {
        let place = (destination.host.to_string(), destination.port);
        let config = self
            .with_certificates
            .get(&place)
            .unwrap_or(&self.to_servers);
        let mut config = (**config).clone();
        config.alpn_protocols = protocols;
        let name = match &destination.host {
            Host::Ipv4(address) => ServerName::from(IpAddr::V4(*address)),
            Host::Ipv6(address) => ServerName::from(IpAddr::V6(*address)),
            Host::Domain(name) => ServerName::try_from(name.clone()).map_err(io::Error::other)?,
        };
        TlsConnector::from(Arc::new(config))
            .connect(name, server)
            .await
    }
}

fn unusable(option: &'static str, reason: impl ToString) -> Error {
    Error::InvalidOption {
        option,
        message: reason.to_string(),
    }
}

type Unauthenticated = tokio_rustls::rustls::ConfigBuilder<
    ClientConfig,
    tokio_rustls::rustls::client::WantsClientCert,
>;

/// Returns the configuration for servers: the authorities of Mozilla and those of the operator are trusted.
pub(super) fn client_config(options: &TlsOptions, accept_any: bool) -> Result<Unauthenticated> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable("tls", error))?;
    if accept_any {
        let any = Arc::new(AnyCertificate(provider));
        return Ok(config.dangerous().with_custom_certificate_verifier(any));
    }
    let mut roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    for authority in &options.authorities {
        let added = roots.add(authority.clone());
        added.map_err(|error| unusable("caCert", error))?;
    }
    Ok(config.with_root_certificates(roots))
}

fn tls_error(error: &io::Error) -> Option<&TlsError> {
    error.get_ref()?.downcast_ref()
}

/// Returns the failure of a connection in the words of Chromium.
fn failure_of(error: &io::Error) -> Failure {
    use AlertDescription as Alert;
    let named = |name: &str| NetError::from(name);
    let net_error = match tls_error(error) {
        Some(TlsError::InvalidCertificate(reason)) => match reason {
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => NetError::CertDateInvalid,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                NetError::CertCommonNameInvalid
            }
            _ => NetError::CertAuthorityInvalid,
        },
        Some(TlsError::AlertReceived(
            Alert::CertificateRequired
            | Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateExpired
            | Alert::CertificateRevoked
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::AccessDenied,
        )) => named("net::ERR_BAD_SSL_CLIENT_AUTH_CERT"),
        Some(_) => named("net::ERR_SSL_PROTOCOL_ERROR"),
        None => NetError::ConnectionClosed,
    };
    Failure::new(net_error, error)
}

/// Accepts any certificate, if HTTPS errors are ignored.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

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
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.0.signature_verification_algorithms;
        crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.0.signature_verification_algorithms;
        crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
