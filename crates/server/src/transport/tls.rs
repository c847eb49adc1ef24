//! The server's TLS certificate and its key.

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// Why TLS is not available.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    /// A file is missing or invalid.
    #[error("cannot read {} as PEM: {reason}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error.
        reason: String,
    },
    /// The certificate and the key do not match, or are too weak.
    #[error("the certificate and its key cannot be used: {0}")]
    Unfit(#[from] rustls::Error),
}

/// Reads a certificate with its chain, and its key.
pub(crate) fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, TlsError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |error: rustls::pki_types::pem::Error| TlsError::File {
            path,
            reason: error.to_string(),
        }
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(unreadable(certificate))?;
    if chain.is_empty() {
        return Err(TlsError::File {
            path: certificate.to_owned(),
            reason: "it contains no certificate".to_owned(),
        });
    }
    let key = PrivateKeyDer::from_pem_file(key).map_err(unreadable(key))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
