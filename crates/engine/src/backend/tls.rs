//! The certificates of the operator: authorities, and certificates for clients.

use crate::error::{Error, Result};
use std::fmt;
use std::sync::Arc;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Certificates with which a context verifies servers, and those that it sends to servers. A context with such options connects through a
/// proxy in this process, which verifies all servers; [`ContextOptions::ignore_https_errors`](super::ContextOptions::ignore_https_errors)
/// turns that off.
#[derive(Clone, Default, PartialEq)]
pub struct TlsOptions {
    pub(crate) authorities: Vec<CertificateDer<'static>>,
    pub(crate) client_certificates: Vec<ClientCertificate>,
}

/// A certificate with its key for servers of one origin.
#[derive(Clone, PartialEq)]
pub(crate) struct ClientCertificate {
    pub(crate) origin: String,
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) key: Arc<PrivateKeyDer<'static>>,
}

impl fmt::Debug for TlsOptions {
    /// Omits the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origins = self.client_certificates.iter().map(|it| &it.origin);
        f.debug_struct("TlsOptions")
            .field("authorities", &self.authorities.len())
            .field("client_certificates", &origins.collect::<Vec<_>>())
            .finish()
    }
}

impl TlsOptions {
    /// Returns whether nothing is added to what a browser does by itself.
    pub fn is_empty(&self) -> bool {
        self.authorities.is_empty() && self.client_certificates.is_empty()
    }

    /// Trusts the authorities of a file in PEM, in addition to those of Mozilla. Fails if it contains no certificate.
    pub fn add_authorities(&mut self, pem: &[u8]) -> Result<()> {
        self.authorities.extend(certificates(pem)?);
        Ok(())
    }

    /// Sends a certificate to the servers of an origin that request one. `chain` and `key` are files in PEM.
    pub fn add_client_certificate(&mut self, origin: &str, chain: &[u8], key: &[u8]) -> Result<()> {
        let key = PrivateKeyDer::from_pem_slice(key).map_err(invalid)?;
        self.client_certificates.push(ClientCertificate {
            origin: origin.to_owned(),
            chain: certificates(chain)?,
            key: Arc::new(key),
        });
        Ok(())
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>> {
    let read: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match read.map_err(invalid)? {
        none if none.is_empty() => Err(invalid("it contains no certificate in PEM")),
        some => Ok(some),
    }
}

fn invalid(reason: impl ToString) -> Error {
    Error::InvalidOption {
        option: "tls",
        message: reason.to_string(),
    }
}
