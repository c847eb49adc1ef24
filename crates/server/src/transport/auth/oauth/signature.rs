//! Verification of token signatures with `ring`, which TLS requires anyway.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};

/// Installs `ring` as the provider of `jsonwebtoken`. Signing is not supported.
pub(super) fn install() {
    static RING: CryptoProvider = CryptoProvider {
        signer_factory: |_, _: &EncodingKey| -> Result<Box<dyn JwtSigner>, Error> {
            Err(ErrorKind::UnsupportedAlgorithm.into())
        },
        verifier_factory: verifier,
        key_utils: KeyUtils::new_unimplemented(),
    };
    // Fails only if it is installed already.
    let _ = RING.install_default();
}

/// A public key and its algorithm.
struct Ring {
    algorithm: Algorithm,
    key: DecodingKeyKind,
    check: Check,
}

enum Check {
    Rsa(&'static RsaParameters),
    Other(&'static dyn VerificationAlgorithm),
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    let check = match algorithm {
        Algorithm::RS256 => Check::Rsa(&RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Check::Rsa(&RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Check::Rsa(&RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Check::Rsa(&RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Check::Rsa(&RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => Check::Rsa(&RSA_PSS_2048_8192_SHA512),
        Algorithm::ES256 => Check::Other(&ECDSA_P256_SHA256_FIXED),
        Algorithm::ES384 => Check::Other(&ECDSA_P384_SHA384_FIXED),
        Algorithm::EdDSA => Check::Other(&ED25519),
        // Symmetric algorithms, which prove nothing, and unknown ones.
        _ => return Err(ErrorKind::UnsupportedAlgorithm.into()),
    };
    if key.family() != algorithm.family() {
        return Err(ErrorKind::InvalidAlgorithm.into());
    }
    Ok(Box::new(Ring {
        algorithm: *algorithm,
        key: key.kind().clone(),
        check,
    }))
}

impl JwtVerifier for Ring {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl Verifier<Vec<u8>> for Ring {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let checked = match (&self.check, &self.key) {
            (Check::Rsa(parameters), DecodingKeyKind::RsaModulusExponent { n, e }) => {
                // `ring` requires integers without leading zeros.
                let bare = |number: &[u8]| -> Vec<u8> {
                    number
                        .iter()
                        .copied()
                        .skip_while(|byte| *byte == 0)
                        .collect()
                };
                let key = RsaPublicKeyComponents {
                    n: bare(n),
                    e: bare(e),
                };
                key.verify(parameters, message, signature)
            }
            (Check::Other(algorithm), DecodingKeyKind::SecretOrDer(key)) => {
                UnparsedPublicKey::new(*algorithm, key).verify(message, signature)
            }
            _ => return Err(signature::Error::new()),
        };
        checked.map_err(|_| signature::Error::new())
    }
}
