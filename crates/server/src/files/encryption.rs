//! Storage state files that are encrypted with a passphrase of the operator: ChaCha20-Poly1305 with a key that PBKDF2 derives from it.

use crate::config::StateKey;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::pbkdf2::{PBKDF2_HMAC_SHA256, derive};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::num::NonZeroU32;

/// The work that a guess of the passphrase costs:
/// <https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html#pbkdf2>.
const ITERATIONS: u32 = 600_000;
/// The most of it that a file may demand.
const MAX_ITERATIONS: u32 = 10_000_000;
const SALT_LENGTH: usize = 16;
const KEY_LENGTH: usize = 32;
/// The only version of the format, which is authenticated.
const VERSION: &str = "playhouse-1";

/// An encrypted file. Binary values are in Base64.
#[derive(Serialize, Deserialize)]
struct EncryptedState {
    /// The version of the format.
    encrypted: String,
    iterations: u32,
    salt: String,
    nonce: String,
    data: String,
}

/// Encrypts the text of a storage state. Takes half a second.
pub(super) fn encrypt(text: &str, key: &StateKey) -> Result<String, &'static str> {
    encrypt_with(text, key, ITERATIONS)
}

fn encrypt_with(text: &str, key: &StateKey, iterations: u32) -> Result<String, &'static str> {
    let random = SystemRandom::new();
    let (mut salt, mut nonce) = ([0; SALT_LENGTH], [0; NONCE_LEN]);
    let filled = random
        .fill(&mut salt)
        .and_then(|()| random.fill(&mut nonce));
    filled.map_err(|_| "the system has no random numbers")?;
    let mut data = text.as_bytes().to_vec();
    let sealed = derived(key, &salt, iterations).and_then(|key| {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let sealed = key.seal_in_place_append_tag(nonce, Aad::from(VERSION), &mut data);
        sealed.ok()
    });
    sealed.ok_or("the storage state cannot be encrypted")?;
    let state = EncryptedState {
        encrypted: VERSION.to_owned(),
        iterations,
        salt: BASE64_STANDARD.encode(salt),
        nonce: BASE64_STANDARD.encode(nonce),
        data: BASE64_STANDARD.encode(data),
    };
    Ok(json!(state).to_string())
}

/// Returns the text of a file that may be encrypted.
pub(super) fn decrypt(bytes: Vec<u8>, key: Option<&StateKey>) -> Result<Vec<u8>, &'static str> {
    let Ok(state) = serde_json::from_slice::<EncryptedState>(&bytes) else {
        return Ok(bytes);
    };
    let key = key.ok_or(
        "It is encrypted. Start the server with the same PLAYHOUSE_STATE_KEY as when it was saved.",
    )?;
    let opened = || {
        let [salt, nonce, mut data] = [&state.salt, &state.nonce, &state.data]
            .map(|text| BASE64_STANDARD.decode(text).unwrap_or_default());
        let iterations = state.iterations.min(MAX_ITERATIONS);
        let nonce = Nonce::try_assume_unique_for_key(&nonce).ok()?;
        let key = derived(key, &salt, iterations)?;
        let text = key.open_in_place(nonce, Aad::from(&*state.encrypted), &mut data);
        Some(text.ok()?.to_vec())
    };
    opened().ok_or("It was encrypted with another PLAYHOUSE_STATE_KEY, or was changed.")
}

fn derived(key: &StateKey, salt: &[u8], iterations: u32) -> Option<LessSafeKey> {
    let mut bytes = [0; KEY_LENGTH];
    let iterations = NonZeroU32::new(iterations)?;
    derive(
        PBKDF2_HMAC_SHA256,
        iterations,
        salt,
        key.passphrase().as_bytes(),
        &mut bytes,
    );
    let key = UnboundKey::new(&CHACHA20_POLY1305, &bytes).ok()?;
    Some(LessSafeKey::new(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_passphrase_reads_an_encrypted_state() {
        let key = |text: &str| StateKey::new(text.to_owned());
        let text = r#"{"cookies":[],"origins":[]}"#;
        let file = encrypt_with(text, &key("one"), 1).unwrap().into_bytes();
        assert!(!String::from_utf8_lossy(&file).contains("cookies"));
        let read = |key: Option<&StateKey>| decrypt(file.clone(), key);
        assert_eq!(read(Some(&key("one"))).unwrap(), text.as_bytes());
        assert!(read(Some(&key("other"))).is_err_and(|why| why.contains("another")));
        assert!(read(None).is_err_and(|why| why.contains("PLAYHOUSE_STATE_KEY")));
        let mut changed: EncryptedState = serde_json::from_slice(&file).unwrap();
        changed.encrypted = "playhouse-0".to_owned();
        let changed = serde_json::to_vec(&changed).unwrap();
        assert!(decrypt(changed, Some(&key("one"))).is_err());
    }

    #[test]
    fn a_plain_file_stays_readable() {
        let plain = br#"{"cookies":[]}"#.to_vec();
        let key = StateKey::new("one".to_owned());
        assert_eq!(decrypt(plain.clone(), Some(&key)).unwrap(), plain);
    }
}
