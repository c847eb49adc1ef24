//! Reads the certificates that the options name.

use std::fs;
use std::path::{Path, PathBuf};

use engine::TlsOptions;
use url::Url;

use super::required;
use crate::config::{
    environment::Environment,
    error::ConfigError,
    options::Options,
    value::{ClientCertificate, ClientCertificates},
};

const CA_CERT: &str = "--ca-cert";
const USE_SYSTEM_CA: &str = "--use-system-ca";
const CLIENT_CERTIFICATES: &str = "browser.contextOptions.clientCertificates";

/// The files with the certificate authorities of Linux distributions and BSDs.
const SYSTEM_FILES: [&str; 6] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/usr/local/share/certs/ca-root-nss.crt",
];

/// Returns the certificates with which servers are verified, and those that they get.
pub(super) fn tls(
    options: &Options,
    environment: &Environment,
    cwd: &Path,
) -> Result<TlsOptions, ConfigError> {
    let mut tls = TlsOptions::default();
    if let Some(path) = options.ca_cert.value() {
        add_authorities(&mut tls, CA_CERT, &cwd.join(path))?;
    }
    if required(&options.use_system_ca) {
        let own = environment.path("SSL_CERT_FILE");
        let known = SYSTEM_FILES.iter().map(PathBuf::from);
        let mut files = own.into_iter().chain(known);
        let file = files.find(|path| path.is_file()).ok_or_else(|| {
            let files = SYSTEM_FILES.join(", ");
            refused(
                USE_SYSTEM_CA,
                format!("the system has no file of certificate authorities at SSL_CERT_FILE or {files}: export them to a file, and name it with {CA_CERT}"),
            )
        })?;
        add_authorities(&mut tls, USE_SYSTEM_CA, &file)?;
    }
    for certificate in options.client_certificates.or_empty().0 {
        add_client_certificate(&mut tls, &certificate, cwd)?;
    }
    Ok(tls)
}

/// Returns the files of keys, which no tool may access.
pub(super) fn key_files(options: &Options) -> impl Iterator<Item = PathBuf> + use<> {
    let ClientCertificates(all) = options.client_certificates.or_empty();
    all.into_iter()
        .flat_map(|certificate| [certificate.key_path, certificate.pfx_path])
        .flatten()
}

fn add_authorities(
    tls: &mut TlsOptions,
    name: &'static str,
    path: &Path,
) -> Result<(), ConfigError> {
    let added = tls.add_authorities(&read(name, path)?);
    added.map_err(|error| refused(name, format!("{}: {error}", path.display())))
}

fn add_client_certificate(
    tls: &mut TlsOptions,
    certificate: &ClientCertificate,
    cwd: &Path,
) -> Result<(), ConfigError> {
    let ClientCertificate {
        origin,
        cert_path,
        key_path,
        pfx_path,
        passphrase,
    } = certificate;
    let refused = |reason: &str| refused(CLIENT_CERTIFICATES, format!("{origin}: {reason}"));
    if pfx_path.is_some() {
        return Err(refused(
            "pfxPath is not supported: convert the file with `openssl pkcs12 -in FILE -nodes -out both.pem`, and name both.pem as certPath and keyPath",
        ));
    }
    if passphrase.is_some() {
        return Err(refused(
            "passphrase is not supported: decrypt the key with `openssl pkey -in FILE -out key.pem`, and name key.pem as keyPath",
        ));
    }
    let is_origin = Url::parse(origin).is_ok_and(|url| {
        url.scheme() == "https"
            && url.origin().ascii_serialization() == origin.trim_end_matches('/')
    });
    if !is_origin {
        return Err(refused(
            "the origin must be one with https, such as https://example.com:8443",
        ));
    }
    let (Some(chain), Some(key)) = (cert_path, key_path) else {
        return Err(refused("certPath and keyPath are required"));
    };
    let (chain, key) = (cwd.join(chain), cwd.join(key));
    let added = tls.add_client_certificate(
        origin,
        &read(CLIENT_CERTIFICATES, &chain)?,
        &read(CLIENT_CERTIFICATES, &key)?,
    );
    added.map_err(|error| {
        let (chain, key) = (chain.display(), key.display());
        refused(&format!("{chain} and {key} cannot be used: {error}"))
    })
}

fn read(name: &'static str, path: &Path) -> Result<Vec<u8>, ConfigError> {
    fs::read(path)
        .map_err(|error| refused(name, format!("cannot read {}: {error}", path.display())))
}

fn refused(name: &'static str, reason: String) -> ConfigError {
    ConfigError::Certificate { name, reason }
}
