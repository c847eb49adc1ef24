//! The certificate with which the egress proxy answers browsers. Its key exists only in the memory of this process.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use std::sync::LazyLock;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// The DER tags: <https://www.itu.int/rec/T-REC-X.690>.
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const UTF8_STRING: u8 = 0x0c;
const UTC_TIME: u8 = 0x17;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
/// The explicit tag of the version.
const VERSION: u8 = 0xa0;
/// `ecPublicKey` with `prime256v1`: <https://www.rfc-editor.org/rfc/rfc5480#section-2.1>.
const P256: [u8; 19] = [
    0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d,
    0x03, 0x01, 0x07,
];
/// `ecdsa-with-SHA256`: <https://www.rfc-editor.org/rfc/rfc5758#section-3.2>.
const ECDSA_WITH_SHA256: [u8; 10] = [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
/// `commonName`.
const COMMON_NAME: [u8; 5] = [0x06, 0x03, 0x55, 0x04, 0x03];
/// The subject, which a browser shows.
const SUBJECT: &[u8] = b"Playhouse, which has verified the server";

static OWN: LazyLock<Generated> = LazyLock::new(Generated::new);

struct Generated {
    certificate: Vec<u8>,
    pkcs8: Vec<u8>,
    public_key_hash: String,
}

/// A certificate and its key.
pub(super) struct OwnCertificate {
    pub(super) certificate: CertificateDer<'static>,
    pub(super) key: PrivateKeyDer<'static>,
}

/// Returns the certificate of this process, which is for no host: browsers accept it as an exception.
pub(super) fn own_certificate() -> OwnCertificate {
    OwnCertificate {
        certificate: CertificateDer::from(OWN.certificate.clone()),
        key: PrivatePkcs8KeyDer::from(OWN.pkcs8.clone()).into(),
    }
}

/// Returns the Base64 of the SHA-256 of the public key (`SubjectPublicKeyInfo`).
pub(crate) fn own_public_key_hash() -> &'static str {
    &OWN.public_key_hash
}

impl Generated {
    fn new() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random);
        let pkcs8 = pkcs8
            .expect("the system has random numbers")
            .as_ref()
            .to_vec();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, &pkcs8, &random);
        let pair = pair.expect("the key was just generated");
        let public_key = [
            value(SEQUENCE, &P256),
            bit_string(pair.public_key().as_ref()),
        ];
        let public_key = value(SEQUENCE, &public_key.concat());
        let common_name = [&COMMON_NAME[..], &value(UTF8_STRING, SUBJECT)].concat();
        let name = value(SEQUENCE, &value(SET, &value(SEQUENCE, &common_name)));
        let algorithm = value(SEQUENCE, &ECDSA_WITH_SHA256);
        let validity = [
            value(UTC_TIME, b"200101000000Z"),
            value(UTC_TIME, b"491231235959Z"),
        ];
        // Two processes must not have certificates with one serial number and one name.
        let serial = [&[0x01][..], &digest(&SHA256, &public_key).as_ref()[..15]].concat();
        let content = [
            value(VERSION, &value(INTEGER, &[2])),
            value(INTEGER, &serial),
            algorithm.clone(),
            name.clone(),
            value(SEQUENCE, &validity.concat()),
            name,
            public_key.clone(),
        ];
        let content = value(SEQUENCE, &content.concat());
        let signature = pair.sign(&random, &content);
        let signature = signature.expect("the system has random numbers");
        let signed = [content, algorithm, bit_string(signature.as_ref())];
        Self {
            certificate: value(SEQUENCE, &signed.concat()),
            pkcs8,
            public_key_hash: BASE64_STANDARD.encode(digest(&SHA256, &public_key)),
        }
    }
}

/// Encodes a value that is shorter than 64 KiB.
fn value(tag: u8, content: &[u8]) -> Vec<u8> {
    let [.., high, low] = content.len().to_be_bytes();
    let mut der = vec![tag];
    match (high, low) {
        (0, ..0x80) => der.push(low),
        (0, _) => der.extend([0x81, low]),
        _ => der.extend([0x82, high, low]),
    }
    der.extend(content);
    der
}

fn bit_string(content: &[u8]) -> Vec<u8> {
    value(BIT_STRING, &[&[0], content].concat())
}
