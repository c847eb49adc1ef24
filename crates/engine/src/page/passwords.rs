//! Passwords that are secrets: known by fingerprints, so that no password leaves its page to be compared.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

/// What stands for the secret whose value this holds for, if one has such a value.
pub type SecretNames = Arc<dyn Fn(&dyn Fn(&str) -> bool) -> Option<String> + Send + Sync>;

/// How the passwords of a page that are secrets are named.
#[derive(Clone)]
pub(crate) struct Passwords {
    names: SecretNames,
    /// What fingerprints begin with: those of one page say nothing about another.
    pub(crate) salt: u32,
}

impl Passwords {
    pub(super) fn new(names: SecretNames) -> Self {
        let random = RandomState::new().hash_one(());
        Self {
            names,
            salt: u32::try_from(random >> 32).unwrap_or_default(),
        }
    }

    /// What stands for the password of this fingerprint, if it is a secret.
    pub(crate) fn name(&self, print: u32) -> Option<String> {
        (self.names)(&|value| fingerprint(value, self.salt) == print)
    }
}

/// FNV-1a over UTF-16, as `snapshot.ts` has it.
fn fingerprint(text: &str, salt: u32) -> u32 {
    let mix = |hash: u32, unit: u16| (hash ^ u32::from(unit)).wrapping_mul(0x0100_0193);
    text.encode_utf16().fold(salt, mix)
}
